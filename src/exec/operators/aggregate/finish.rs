//! Makes rows of groups: states become columns, over which the program over groups runs.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::hir::{Aggregation, Expr, ExprKind, Statement, Transform};
use crate::analysis::types::Kind;
use crate::exec::aggregate::{Accumulator, Extent, Finished, GroupFault};
use crate::exec::batch::{Batch, Carried, Column, KeptOrigins, Origin};
use crate::exec::eval::{self, Constants, Transformed};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::varint;
use crate::plan::physical::AggregateOperator;

use super::super::operands::{columns_of, reads_column};
use super::held::Held;
use super::layout::{FirstRow, GroupLayout, Record, accumulators};
use super::stretch::Stretch;

/// Makes rows of groups. Shared by all workers.
pub(crate) struct Finish<'p> {
    aggregation: &'p Aggregation,
    layout: GroupLayout,
    results: eval::Transform,
    /// For each aggregate, the emit that reads it first.
    fields: Vec<Option<Arc<str>>>,
    /// An accumulator for each aggregate, without groups.
    empty: Vec<Accumulator>,
    /// Whether some of them keep lists.
    has_lists: bool,
    /// For each aggregate, how many copies of its result there are as texts before a row of it is written.
    copies: Vec<u64>,
    /// The aggregate, as a position among the makers of rows.
    maker: u32,
    /// Whether something below has to tell its rows apart.
    keeps_identity: bool,
}

/// Groups to make rows of.
#[derive(Clone, Copy)]
pub(crate) enum GroupsOf<'a, 'p> {
    /// Those in memory, from a number on.
    Held(&'a Held<'p>, u32),
    /// Read from disk.
    Records(&'a [&'a [u8]]),
    /// Those of a stretch, from a number on.
    Stretch(&'a Stretch, u32),
}

/// What making a row of a group takes, in bytes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Cost {
    /// While it is made.
    pub column: u64,
    /// Until it is written.
    pub text: u64,
    /// What it is made from, where that was read from disk.
    pub record: u64,
    /// The aggregate that takes most of it.
    pub aggregate: Option<usize>,
}

impl Cost {
    /// What making a row of a group takes, given how large the result of each aggregate is, and how many copies of it there
    /// are as texts.
    pub(super) fn of(extents: impl Iterator<Item = Extent>, copies: &[u64]) -> Self {
        let (mut cost, mut most) = (Self::default(), 0);
        for (aggregate, (extent, copies)) in extents.zip(copies).enumerate() {
            cost.column += extent.column;
            cost.text += copies * extent.text;
            if extent.column > most {
                (most, cost.aggregate) = (extent.column, Some(aggregate));
            }
        }
        cost
    }

    /// All of it.
    pub fn all(self) -> u64 {
        self.column + self.text + self.record
    }
}

/// What groups came to.
pub(crate) struct FinishedGroups {
    /// One row for each: the key, then what the aggregates gave.
    pub groups: Batch,
    /// The groups for which an aggregate has no result, ascending.
    pub faults: Vec<Fault>,
}

impl<'p> Finish<'p> {
    /// Prepares the program over groups. `names_rows` is what the buffer was made with, `maker` the aggregate's position
    /// among the makers of rows.
    pub fn new(spec: &'p AggregateOperator, constants: Arc<Constants>, names_rows: bool, maker: u32) -> Self {
        let aggregation = &spec.aggregation;
        let read_by = |position: usize| {
            aggregation.results.statements.iter().find_map(|statement| match statement {
                Statement::Emit { slot, value } if reads_column(value, position) => {
                    Some(Arc::from(aggregation.results.emits[*slot].name.as_str()))
                }
                _ => None,
            })
        };
        let columns = aggregation.key..aggregation.key + aggregation.aggregates.len();
        let empty = accumulators(aggregation);
        Self {
            aggregation,
            layout: GroupLayout::new(aggregation, names_rows, Arc::clone(&constants)),
            results: eval::Transform::new(&aggregation.results, &spec.stored, constants),
            fields: columns.map(read_by).collect(),
            copies: copies(aggregation),
            has_lists: empty.iter().any(Accumulator::keeps_all),
            empty,
            maker,
            keeps_identity: spec.rest.as_ref().is_some_and(|rest| rest.identity),
        }
    }

    /// Whether it matters where the rows of groups come from.
    pub fn has_origins(&self) -> bool {
        self.keeps_identity || self.layout.names_rows
    }

    /// Where the rows of some groups come from, the first of which is number `first`.
    pub fn origins(&self, groups: GroupsOf<'_, '_>, first: u64, count: usize) -> KeptOrigins {
        let rows: Vec<FirstRow> = match groups {
            _ if !self.layout.names_rows => vec![FirstRow::default(); count],
            GroupsOf::Held(held, start) => held.first_rows(start..start + count as u32).collect(),
            GroupsOf::Stretch(stretch, start) => stretch.first_rows(start..start + count as u32).to_vec(),
            GroupsOf::Records(records) => records.iter().map(|record| self.layout.read(record).first_row).collect(),
        };
        KeptOrigins {
            sources: vec![self.maker; count],
            files: rows.iter().map(|first| first.file).collect(),
            file_rows: rows.iter().map(|first| first.row).collect(),
            source_rows: (first + 1..).take(count).collect(),
            ends: Vec::new(),
        }
    }

    /// Whether something below has to tell its rows apart.
    pub fn keeps_identity(&self) -> bool {
        self.keeps_identity
    }

    /// What some of these groups come to.
    pub fn finish(&self, groups: GroupsOf<'_, '_>, range: Range<usize>, origin: Origin) -> FinishedGroups {
        let rows = range.len();
        let within = |start: u32| start + range.start as u32..start + range.end as u32;
        let (mut columns, finished, first) = match groups {
            GroupsOf::Held(held, start) => {
                let (keys, firsts) = (held.keys(within(start)), held.firsts(within(start)));
                (self.layout.key_columns(keys, firsts), held.finish(within(start)), within(start).start)
            }
            GroupsOf::Stretch(stretch, start) => {
                let (keys, firsts) = (stretch.keys(within(start)), stretch.firsts(within(start)));
                (self.layout.key_columns(keys, firsts), stretch.finish(within(start)), within(start).start)
            }
            GroupsOf::Records(records) => {
                let (columns, finished) = self.of_records(&records[range]);
                (columns, finished, 0)
            }
        };
        let faults = self.faults(&finished, first);
        columns.extend(finished.into_iter().map(|finished| Some(finished.column)));
        FinishedGroups { groups: Batch { rows, columns, carried: Carried::default(), origin }, faults }
    }

    /// Runs the program over groups. Its failures are failures of a group.
    pub fn results(&self, groups: &Batch) -> Transformed {
        let mut done = self.results.run(groups);
        done.faults.iter_mut().for_each(|fault| fault.kind = FaultKind::GroupFailed);
        done
    }

    fn of_records(&self, records: &[&[u8]]) -> (Vec<Option<Column>>, Vec<Finished>) {
        let records: Vec<Record<'_>> = records.iter().map(|record| self.layout.read(record)).collect();
        let (keys, firsts) = (records.iter().map(|record| record.key), records.iter().map(|record| record.firsts));
        let columns = self.layout.key_columns(keys, firsts);
        let mut rest: Vec<&[u8]> = records.iter().map(|record| record.states).collect();
        let finish = |accumulator: Accumulator| {
            let states: Vec<&[u8]> = rest.iter_mut().map(varint::take_part).collect();
            accumulator.finish_states(&states)
        };
        (columns, accumulators(self.aggregation).into_iter().map(finish).collect())
    }

    /// Whether rows of groups may be large.
    pub fn may_be_large(&self) -> bool {
        self.empty.iter().any(Accumulator::may_be_large)
    }

    /// What making a row of a group takes, where that may be much.
    pub fn cost(&self, groups: GroupsOf<'_, '_>, group: usize) -> Cost {
        match groups {
            GroupsOf::Held(held, start) => self.cost_of(held.extents(start + group as u32)),
            GroupsOf::Stretch(stretch, start) => self.cost_of(stretch.extents(start + group as u32)),
            GroupsOf::Records(records) if !self.has_lists => {
                let record = records[group].len() as u64;
                // What is kept as a text is no larger than that.
                let text = self.copies.iter().max().map_or(0, |copies| copies * record);
                Cost { column: record, text, record, aggregate: self.empty.iter().position(Accumulator::may_be_large) }
            }
            GroupsOf::Records(records) => {
                let mut states = self.layout.read(records[group]).states;
                let extents =
                    self.empty.iter().map(|accumulator| accumulator.extent_of(varint::take_part(&mut states)));
                Cost { record: records[group].len() as u64, ..self.cost_of(extents) }
            }
        }
    }

    /// The same, given how large the result of each aggregate is.
    pub fn cost_of(&self, extents: impl Iterator<Item = Extent>) -> Cost {
        Cost::of(extents, &self.copies)
    }

    /// The key of a group.
    pub fn key<'g>(&self, groups: GroupsOf<'g, '_>, group: usize) -> &'g [u8] {
        match groups {
            GroupsOf::Held(held, start) => held.key(start + group as u32),
            GroupsOf::Stretch(stretch, start) => stretch.key(start + group as u32),
            GroupsOf::Records(records) => GroupLayout::key_of(records[group]),
        }
    }

    /// For each group that fails, what the first aggregate says that has no result. The first group is number `first`.
    fn faults(&self, finished: &[Finished], first: u32) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        for (position, finished) in finished.iter().enumerate() {
            let fault = |fault: &GroupFault| Fault {
                row: (fault.group - first) as usize,
                kind: FaultKind::GroupFailed,
                field: self.fields[position].clone(),
                value: None,
                message: fault.message.clone(),
                span: self.aggregation.aggregates[position].span,
                other: None,
            };
            faults.extend(finished.faults.iter().map(fault));
        }
        // Stable: of a group, the first aggregate stays in front.
        faults.sort_by_key(|fault| fault.row);
        faults.dedup_by_key(|fault| fault.row);
        faults
    }
}

/// For each aggregate, how many texts are made of what it came to.
pub(super) fn copies(aggregation: &Aggregation) -> Vec<u64> {
    let columns = aggregation.key..aggregation.key + aggregation.aggregates.len();
    columns.map(|column| copies_of(&aggregation.results, column)).collect()
}

/// How many texts are made of what an aggregate came to, which is a column of groups: one that is written for each emit of
/// it, and one that is computed where the emit is something else. A number or a date takes next to nothing.
fn copies_of(results: &Transform, column: usize) -> u64 {
    let of_emit = |statement: &Statement| match statement {
        Statement::Emit { value, .. } if reads(value, results, column) => match (&value.kind, &value.ty.kind) {
            (ExprKind::Column(_), _) => 1,
            (_, Kind::String | Kind::Array(_) | Kind::Map | Kind::Any) => 2,
            _ => 0,
        },
        _ => 0,
    };
    results.statements.iter().map(of_emit).sum()
}

/// Whether an expression reads a column, also by way of lets and emits.
fn reads(expression: &Expr, results: &Transform, column: usize) -> bool {
    columns_of(expression, Some(results)).contains(&column)
}
