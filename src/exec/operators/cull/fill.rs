//! What the finisher does: numbers groups, adds to aggregates, and in the end decides.

use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::Failure;
use crate::exec::aggregate::{Accumulator, Finished, GroupFault, RowOrder};
use crate::exec::batch::{Batch, Bitmap, Carried, Column, Origin, Positions};
use crate::exec::eval::{Constants, Rules};
use crate::exec::keys::{GroupTable, OrderKeys};
use crate::exec::memory::{Charge, Exceeded};
use crate::exec::rest::{Codec, Place, Rows};
use crate::exec::value::Value;
use crate::plan::physical::{CullOperator, Operator};

use super::super::buffer::{Buffer, BufferContext, Collected, Full, Seal};
use super::collect::{Decisive, Part};
use super::order::{self, Culled};
use super::text;

/// A cull while it is filled.
pub(super) struct Group<'p> {
    pub spec: &'p CullOperator,
    pub operator: &'p Operator,
    pub constants: Arc<Constants>,
    pub codec: Arc<Codec>,
    pub rules: Rules,
    pub rows: Rows,
    pub blocks: Vec<Block>,
    pub rows_charge: Charge<'p>,
    pub table: GroupTable<'p>,
    pub firsts: Firsts,
    pub accumulators: Vec<Accumulator>,
    pub decisions: Charge<'p>,
}

/// The rows of a chunk, as they came.
pub(super) struct Block {
    /// The group of each.
    pub groups: Box<[u32]>,
    /// What they are ordered by within their group, a piece for each batch.
    pub order: Vec<OrderKeys>,
}

impl Block {
    fn cost(&self) -> u64 {
        let rows = self.groups.len() * size_of::<u32>();
        (size_of::<Self>() + rows) as u64 + self.order.iter().map(OrderKeys::cost).sum::<u64>()
    }
}

impl<'p> Buffer<'p> for Group<'p> {
    fn take(&mut self, _: usize, collected: &mut Collected) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut order = Vec::new();
        for batch in collected.take_part::<Part>() {
            self.admit(&batch, &mut groups).map_err(|exceeded| self.undecided(&exceeded))?;
            order.extend(batch.order);
        }
        let block = Block { groups: groups.into(), order };
        let bytes = Rows::cost(&collected.packed) + block.cost();
        let charged = self.rows_charge.take(bytes);
        // The rows are there already; a message about all rows counts them, too.
        self.rows.push(std::mem::take(&mut collected.packed), block.groups.len());
        self.blocks.push(block);
        charged.map_err(|exceeded| self.does_not_fit(&exceeded))
    }

    fn seal(mut self: Box<Self>, _: Seal) -> Result<Full<'p>, Failure> {
        let order = match self.spec.cull.order_by.is_empty() {
            false => Some(self.order()?),
            true => None,
        };
        let removed = self.decide(order.as_ref())?;
        let places = self.rows.len() * size_of::<Place>() as u64;
        // An order that was asked for is made from a list of all places.
        let listed = if order.is_some() { places } else { 0 };
        self.rows_charge.take(places + listed).map_err(|exceeded| self.does_not_fit(&exceeded))?;
        let ports = match &order {
            Some(order) => order.ports(&self.rows, &removed),
            None => order::by_arrival(&self.rows, &self.blocks, &removed),
        };
        self.rows_charge.give_back(listed);
        self.rows_charge.give_back(self.blocks.iter().map(Block::cost).sum());
        self.rows_charge.give_back(order.map_or(0, |order| order.cost()));
        Ok(Full::resident(Culled { rows: self.rows, ports, _charge: self.rows_charge }))
    }
}

impl Group<'_> {
    /// Appends the groups of a batch's rows, and adds its arguments to the aggregates.
    fn admit(&mut self, batch: &Decisive, groups: &mut Vec<u32>) -> Result<(), Exceeded> {
        let (first, before) = (groups.len(), self.table.len());
        self.table.admit(&batch.keys, &batch.hashes, groups)?;
        let (groups, count) = (&groups[first..], self.table.len());
        if count > before {
            self.decisions.take(self.firsts.cost(&batch.firsts, groups, before))?;
            self.firsts.add(&batch.firsts, groups, before);
        }
        for (accumulator, args) in self.accumulators.iter_mut().zip(&batch.arguments) {
            let (held, bound) = (accumulator.bytes(), accumulator.bound(count, args));
            self.decisions.take(bound - held)?;
            accumulator.update(groups, count, args);
            self.decisions.give_back(bound.saturating_sub(accumulator.bytes()));
        }
        Ok(())
    }

    /// The rows by group, in the order that `order_by` and arrival give them.
    fn order(&mut self) -> Result<order::Order, Failure> {
        let bytes = order::Order::most_bytes(self.rows.len(), self.table.len());
        self.rows_charge.take(bytes).map_err(|exceeded| self.does_not_fit(&exceeded))?;
        let order = order::Order::new(&self.blocks, self.table.len());
        self.rows_charge.give_back(bytes - order.cost());
        Ok(order)
    }

    /// The groups that a rule removes.
    fn decide(&mut self, order: Option<&order::Order>) -> Result<Bitmap, Failure> {
        let groups = self.table.len();
        let order = order.map(|order| RowOrder { rows: &order.rows, ends: &order.ends });
        let mut columns = self.firsts.columns(self.spec);
        let mut failed: Option<(GroupFault, usize)> = None;
        for (position, accumulator) in std::mem::take(&mut self.accumulators).into_iter().enumerate() {
            let Finished { column, faults } = accumulator.finish(0..groups as u32, order);
            columns.push(Some(column));
            for fault in faults {
                if failed.as_ref().is_none_or(|(first, _)| fault.group < first.group) {
                    failed = Some((fault, position));
                }
            }
        }
        if let Some((GroupFault { group, message }, aggregate)) = failed {
            return Err(self.failed(group, &message, self.spec.cull.aggregates[aggregate].span, None));
        }
        let (removed, faults) = self.rules.decide(&one_row_a_group(groups, columns));
        match faults.first() {
            Some(fault) => Err(self.failed(fault.row as u32, &fault.message, fault.span, fault.field.as_deref())),
            None => Ok(removed),
        }
    }

    /// A group that can't be decided on.
    fn failed(&self, group: u32, message: &str, span: Span, rule: Option<&str>) -> Failure {
        let (name, shown) = (&self.operator.name, text::group(self.spec, self.table.key(group)));
        let diagnostic = Diagnostic::error(Code::E392, format!("cull `{name}`: group [{shown}]: {message}"));
        let (place, help) = match rule {
            Some(rule) => (format!("in rule `{rule}`"), "guard the expression: without a decision a group has no port"),
            None => ("computed for each group".into(), "let it add floats (`to_float()`), which have a larger range"),
        };
        let diagnostic = diagnostic.label(span, place);
        let diagnostic = match self.first_row(group) {
            Some(note) => diagnostic.note(note),
            None => diagnostic,
        };
        Failure::new(diagnostic.help(help), 3)
    }

    /// Where the first row of a group came from, if that is known.
    fn first_row(&self, group: u32) -> Option<String> {
        let mut blocks = self.blocks.iter().enumerate();
        let place = blocks.find_map(|(chunk, block)| {
            let row = block.groups.iter().position(|other| *other == group)?;
            self.rows.chunk_places(chunk as u32).nth(row)
        })?;
        let origins = self.codec.origins(&[self.rows.row(place)])?;
        let file = &self.constants.source_files[origins.sources[0] as usize][origins.files[0] as usize];
        Some(format!("its first row is row {} of {file}", origins.file_rows[0]))
    }

    /// The rows don't fit.
    fn does_not_fit(&self, exceeded: &Exceeded) -> Failure {
        let (rows, groups) = (self.rows.len(), self.table.len());
        let detail = match self.largest() {
            Some((group, _)) if groups == 1 => {
                format!("one Cull correlation group [{group}] does not fit: {rows} rows so far")
            }
            Some((group, bytes)) => format!(
                "rows of all groups: {rows} rows of {groups} groups so far, of which [{group}] is the largest with \
                 {bytes} bytes"
            ),
            None => format!("rows of all groups: {rows} rows so far"),
        };
        BufferContext::does_not_fit(self.operator, &detail, exceeded)
    }

    /// The name and the bytes of the group whose rows are the largest so far; the first of several.
    fn largest(&self) -> Option<(String, u64)> {
        let mut bytes = vec![0_u64; self.table.len()];
        for (chunk, block) in self.blocks.iter().enumerate() {
            for (group, place) in block.groups.iter().zip(self.rows.chunk_places(chunk as u32)) {
                bytes[*group as usize] += self.rows.row(place).len() as u64;
            }
        }
        let (group, bytes) = bytes.into_iter().enumerate().rev().max_by_key(|(_, bytes)| *bytes)?;
        Some((text::group(self.spec, self.table.key(group as u32)), bytes))
    }

    fn undecided(&self, exceeded: &Exceeded) -> Failure {
        BufferContext::does_not_fit(self.operator, "Cull drop-decision aggregate state", exceeded)
    }
}

/// What the rules read.
fn one_row_a_group(rows: usize, columns: Vec<Option<Column>>) -> Batch {
    let positions = Positions::From(0);
    let origin = Origin { source: 0, file: 0, block_row: 1, block_source_row: 1, positions, kept: None };
    Batch { rows, columns, carried: Carried::default(), origin }
}

/// The values that a group's first row has in the partition columns that rules read.
pub(super) struct Firsts {
    /// Positions among the partition columns.
    positions: Vec<usize>,
    values: Vec<Vec<Value>>,
}

impl Firsts {
    /// Nothing yet for these partition columns.
    pub fn new(positions: Vec<usize>) -> Self {
        Self { values: positions.iter().map(|_| Vec::new()).collect(), positions }
    }

    /// What adding the groups of a batch from number `before` on takes at most, in bytes.
    fn cost(&self, columns: &[Column], groups: &[u32], before: usize) -> u64 {
        let fresh = || new_groups(groups, before);
        let text = |column: &Column| match column {
            Column::String(a) => fresh().map(|row| a.value(row).len() as u64).sum(),
            _ => 0,
        };
        // Values move to twice the room when they fill it.
        columns.iter().map(|column| 3 * (fresh().count() * size_of::<Value>()) as u64 + text(column)).sum()
    }

    fn add(&mut self, columns: &[Column], groups: &[u32], before: usize) {
        for (values, column) in self.values.iter_mut().zip(columns) {
            values.extend(new_groups(groups, before).map(|row| column.value(row)));
        }
    }

    /// The partition columns of all groups; those that no rule reads are absent.
    fn columns(&mut self, spec: &CullOperator) -> Vec<Option<Column>> {
        let mut columns: Vec<Option<Column>> = spec.cull.partition_by.iter().map(|_| None).collect();
        for (position, values) in self.positions.iter().zip(&mut self.values) {
            let column = &spec.schema.columns[spec.cull.partition_by[*position]];
            columns[*position] = Some(Column::from_values(&column.ty.kind, &std::mem::take(values)));
        }
        columns
    }
}

/// The rows that begin a group, from group `before` on.
fn new_groups(groups: &[u32], before: usize) -> impl Iterator<Item = usize> + '_ {
    let mut next = before as u32;
    groups.iter().enumerate().filter_map(move |(row, group)| {
        let is_first = *group == next;
        next += u32::from(is_first);
        is_first.then_some(row)
    })
}
