//! What is done when all rows are there: the rules are asked about each group.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::aggregate::{Accumulator, Extent, Finished, RowOrder};
use crate::exec::batch::{Batch, Bitmap, Carried, Column, Origin, Positions, RowId};
use crate::exec::dlq::LetterRow;
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::keys::OrderKeys;
use crate::exec::memory::{Segments, Strings};
use crate::exec::{Failure, NamedRow};

use super::super::grouped::{GroupOrder, Grown, Refused};
use super::super::lost::{Cause, Told};
use super::super::{fault_text, operands};
use super::fill::Culling;
use super::kept::grown;
use super::stage;

/// The ports of a cull.
const KEPT: u8 = 0;
const REMOVED: u8 = super::REMOVED as u8;
const FAILED: u8 = 2;

/// How many groups the rules are asked about at once.
const AT_ONCE: usize = 1 << 16;
/// The share of the memory limit that what aggregates come to for these may take, if it is of more than one group.
const SHARE: u64 = 16;

/// Some groups that the rules are asked about at once.
struct DecidedTogether {
    /// Where they end.
    end: usize,
    /// What the results of aggregates take for them.
    bytes: u64,
    /// The aggregate of which one takes most.
    largest: Option<usize>,
}

/// The rows that aggregates have seen, by group, and what orders them there.
#[derive(Default)]
pub(super) struct Ordered {
    groups: Segments<u32>,
    keys: Strings,
}

impl Ordered {
    /// The most that adding some rows of a batch takes, in bytes.
    pub fn growth(&self, keys: &OrderKeys, rows: &Range<usize>) -> u64 {
        let bytes = rows.clone().map(|row| keys.key(row).len()).sum();
        self.groups.bound(self.groups.len() + rows.len()) + self.keys.bound(rows.len(), bytes) - self.bytes()
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.groups.bytes() + self.keys.bytes()
    }

    /// Adds some rows of a batch, with their groups, in the order the aggregates see them.
    pub fn add(&mut self, groups: &[u32], keys: &OrderKeys, rows: Range<usize>) {
        groups.iter().for_each(|group| self.groups.push(*group));
        rows.for_each(|row| {
            self.keys.push(|bytes| bytes.extend_from_slice(keys.key(row)));
        });
    }

    fn rows(&self) -> u64 {
        self.groups.len() as u64
    }

    fn order(&self, count: usize) -> GroupOrder {
        let keys: Vec<&[u8]> = self.keys.iter().collect();
        GroupOrder::new(self.groups.range(0..self.groups.len() as u32).copied(), &keys, count)
    }
}

/// Why a group can't be decided on.
struct GroupFailure {
    /// The rule that failed, or that reads an aggregate without a result.
    rule: String,
    message: String,
    value: Option<String>,
    told: Told,
}

impl Culling<'_> {
    /// What deciding takes at once, in bytes.
    pub fn deciding(&self) -> u64 {
        let count = self.store.table.len();
        let order = self.kept.ordered.as_ref().map_or(0, |ordered| GroupOrder::most_bytes(ordered.rows(), count));
        let (mut start, mut most) = (0, 0);
        while start < count {
            let together = self.decided_together(start);
            (start, most) = (together.end, most.max(together.bytes));
        }
        order + most + count as u64
    }

    /// The port of each group.
    pub fn decide(&mut self) -> Result<Vec<u8>, Refused> {
        let count = self.store.table.len();
        let order = self.order(count)?;
        self.reserve(count as u64, Grown::Decisions)?;
        let mut ports = Vec::with_capacity(count);
        while ports.len() < count {
            let start = ports.len();
            let DecidedTogether { end, bytes, largest } = self.decided_together(start);
            let grown = largest.map_or(Grown::Decisions, |aggregate| grown(&self.spec.cull.aggregates[aggregate]));
            self.reserve(bytes, grown)?;
            let groups = start as u32..end as u32;
            let (removed, failures) = self.ask(groups.clone(), order.as_ref());
            for (group, failure) in failures {
                self.fail(group, failure)?;
            }
            ports.extend(groups.map(|group| match removed.value(group as usize - start) {
                _ if self.failed.contains(group) => FAILED,
                true => REMOVED,
                false => KEPT,
            }));
            self.decisions.give_back(bytes);
        }
        Ok(ports)
    }

    /// The groups from one on that the rules are asked about at once: a few, where what aggregates come to is large.
    fn decided_together(&self, start: usize) -> DecidedTogether {
        let (count, enough) = (self.store.table.len(), self.store.limit() / SHARE);
        if !self.kept.accumulators.iter().any(Accumulator::may_be_large) {
            return DecidedTogether { end: count.min(start + AT_ONCE), bytes: 0, largest: None };
        }
        let mut together = DecidedTogether { end: start, bytes: 0, largest: None };
        let mut most = 0;
        while together.end < count.min(start + AT_ONCE) && (together.end == start || together.bytes < enough) {
            for (aggregate, accumulator) in self.kept.accumulators.iter().enumerate() {
                let Extent { column, text } = accumulator.extent(together.end as u32);
                // A rule may make a text of it.
                together.bytes += column + text;
                if column > most {
                    (most, together.largest) = (column, Some(aggregate));
                }
            }
            together.end += 1;
        }
        together
    }

    /// The rows by group, in the order that is asked for, if an aggregate shows that.
    fn order(&mut self, count: usize) -> Result<Option<GroupOrder>, Refused> {
        let bytes = self.kept.ordered.as_ref().map_or(0, |ordered| GroupOrder::most_bytes(ordered.rows(), count));
        self.reserve(bytes, Grown::Order)?;
        let order = self.kept.ordered.as_ref().map(|ordered| ordered.order(count));
        self.decisions.give_back(bytes - order.as_ref().map_or(0, GroupOrder::cost));
        Ok(order)
    }

    /// Which of some groups a rule removes, and those that can't be decided on.
    fn ask(&self, groups: Range<u32>, order: Option<&GroupOrder>) -> (Bitmap, BTreeMap<u32, GroupFailure>) {
        let order = order.map(|order| RowOrder { rows: &order.rows, ends: &order.ends });
        let mut columns = self.kept.firsts.columns(self.spec, groups.clone());
        let mut failures = BTreeMap::new();
        for (position, accumulator) in self.kept.accumulators.iter().enumerate() {
            let Finished { column, faults } = accumulator.finish(groups.clone(), order);
            columns.push(Some(column));
            let span = self.spec.cull.aggregates[position].span;
            for fault in faults {
                failures.entry(fault.group).or_insert_with(|| self.without_result(position, span, fault.message));
            }
        }
        let groups_batch = one_row_a_group(groups.len(), columns);
        let (removed, faults) = self.rules.decide(&groups_batch);
        for fault in faults {
            let group = groups.start + fault.row as u32;
            failures.entry(group).or_insert_with(|| self.undecided(&groups_batch, &fault));
        }
        (removed, failures)
    }

    /// The failure of a group for which an aggregate has no result.
    fn without_result(&self, aggregate: usize, span: Span, message: String) -> GroupFailure {
        let told = Told {
            span,
            label: format!("computed for each group of cull `{}`", self.operator.node()),
            operands: String::new(),
            mend: "let it add smaller numbers, or floats (`to_float()`), which reach further".to_owned(),
        };
        GroupFailure { rule: self.reading_rules[aggregate].to_string(), message, value: None, told }
    }

    /// The failure of a group for which a rule can't be computed.
    fn undecided(&self, groups: &Batch, fault: &Fault) -> GroupFailure {
        let rule = fault.field.as_deref().unwrap_or_default().to_string();
        let told = Told {
            span: fault.span,
            label: format!("in rule `{rule}` of cull `{}`", self.operator.node()),
            operands: operands::of_group(self.spec, groups, fault),
            mend: fault_text::guard(&fault.message),
        };
        GroupFailure { rule, message: fault.message.clone(), value: fault.value.clone(), told }
    }

    /// Notes that a group can't be decided on.
    fn fail(&mut self, group: u32, failure: GroupFailure) -> Result<(), Refused> {
        let GroupFailure { rule, message, value, told } = failure;
        let (stage, kind) = (stage(self.operator.node(), &rule), FaultKind::GroupFailed);
        let told = (!self.spec.shows_groups).then_some(told);
        let cause = Cause { stage, kind, field: None, value, message, row: 0, at: None, told };
        let cause = self.names.in_group(self.store.table.key(group), cause);
        self.failed.add(&mut self.store, group, LetterRow::NONE, &cause.to_bytes(), &mut || Ok(()))
    }

    /// Reserves memory for what is done once all rows are in. Others have made room by then.
    fn reserve(&mut self, bytes: u64, grown: Grown) -> Result<(), Refused> {
        self.store.reserve(&mut self.decisions, bytes, grown, &mut || Ok(()))
    }

    /// The failure that ends the run where a failed group does: of the one whose dead letters would come first.
    pub fn first_failure(&self) -> Option<Failure> {
        if self.spec.shows_groups {
            return None;
        }
        let start = |group: u32| self.kept.starts.as_ref().map(|starts| *starts.get(group));
        let place = |group: &u32| start(*group).map(|row| (row.source, row.source_row));
        let group = self.failed.groups().min_by_key(place)?;
        let Cause { message, at, told, .. } = self.failed.cause(group).as_ref().clone();
        let Told { span, label, operands, mend } = told.expect("what ends a run is told of");
        let is_other = |row: &RowId| at.as_ref().is_none_or(|at| at.row != *row);
        let begins = start(group).filter(is_other).map(|row| NamedRow { row, begins_group: true, line: None });
        let failed = at.as_ref().map(|at| NamedRow { row: at.row, begins_group: false, line: None });
        let number = failed.as_ref().or(begins.as_ref()).map_or(0, |named| named.row.file_row);
        let mut diagnostic = Diagnostic::error(Code::E392, format!("row {number}: {message}")).label(span, label);
        if !operands.is_empty() {
            diagnostic = diagnostic.note(format!("with {operands}"));
        }
        let help = format!("{mend}, or set `strategy: continue` to make such groups dead letters");
        let rows = failed.into_iter().chain(begins);
        Some(rows.fold(Failure::new(diagnostic.help(help), 3), Failure::about))
    }
}

/// What the rules read.
fn one_row_a_group(rows: usize, columns: Vec<Option<Column>>) -> Batch {
    let positions = Positions::From(0);
    let origin = Origin { source: 0, file: 0, block_row: 1, block_source_row: 1, positions, kept: None };
    Batch { rows, columns, carried: Carried::default(), origin }
}
