//! What is done when all rows are there: the rules are asked about each group.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::Failure;
use crate::exec::aggregate::{Accumulator, Finished, RowOrder};
use crate::exec::batch::{Batch, Bitmap, Carried, Column, Origin, Positions};
use crate::exec::dlq::LetterRow;
use crate::exec::fault::FaultKind;
use crate::exec::keys::OrderKeys;
use crate::exec::memory::{Segments, Strings};

use super::super::grouped::{GroupOrder, Grown, Refused};
use super::super::lost::Cause;
use super::fill::Culling;
use super::stage;

/// The ports of a cull.
const KEPT: u8 = 0;
const REMOVED: u8 = super::REMOVED as u8;
const FAILED: u8 = 2;

/// How many groups the rules are asked about at once.
const AT_ONCE: usize = 1 << 16;

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

/// Why a cull ends the run.
pub(super) enum Undecided {
    /// Something can't be kept.
    Refused(Refused),
    /// A group can't be decided on.
    Group(u32, GroupFailure),
}

impl From<Refused> for Undecided {
    fn from(refused: Refused) -> Self {
        Undecided::Refused(refused)
    }
}

/// Why a group can't be decided on.
pub(super) struct GroupFailure {
    rule: String,
    /// Whether the rule itself failed; else it was an aggregate that it reads.
    in_rule: bool,
    message: String,
    value: Option<String>,
    span: Span,
}

impl Culling<'_> {
    /// What deciding takes at once, in bytes.
    pub fn deciding(&self) -> u64 {
        let count = self.store.table.len();
        let order = self.ordered.as_ref().map_or(0, |ordered| GroupOrder::most_bytes(ordered.rows(), count));
        let lists: u64 = self.accumulators.iter().map(Accumulator::finish_bound).sum();
        order + lists + count as u64
    }

    /// The port of each group.
    pub fn decide(&mut self) -> Result<Vec<u8>, Undecided> {
        let count = self.store.table.len();
        let order = self.order(count)?;
        self.reserve(count as u64)?;
        let lists: u64 = self.accumulators.iter().map(Accumulator::finish_bound).sum();
        self.reserve(lists)?;
        let mut ports = Vec::with_capacity(count);
        for start in (0..count).step_by(AT_ONCE) {
            let groups = start as u32..count.min(start + AT_ONCE) as u32;
            let (removed, failures) = self.ask(groups.clone(), order.as_ref());
            for (group, failure) in failures {
                if !self.spec.shows_groups {
                    return Err(Undecided::Group(group, failure));
                }
                self.fail(group, failure)?;
            }
            ports.extend(groups.map(|group| match removed.value(group as usize - start) {
                _ if self.failed.contains(group) => FAILED,
                true => REMOVED,
                false => KEPT,
            }));
        }
        self.decisions.give_back(lists);
        Ok(ports)
    }

    /// The rows by group, in the order that is asked for, if an aggregate shows that.
    fn order(&mut self, count: usize) -> Result<Option<GroupOrder>, Refused> {
        let bytes = self.ordered.as_ref().map_or(0, |ordered| GroupOrder::most_bytes(ordered.rows(), count));
        self.reserve(bytes)?;
        let order = self.ordered.as_ref().map(|ordered| ordered.order(count));
        self.decisions.give_back(bytes - order.as_ref().map_or(0, GroupOrder::cost));
        Ok(order)
    }

    /// Which of some groups a rule removes, and those that can't be decided on.
    fn ask(&self, groups: Range<u32>, order: Option<&GroupOrder>) -> (Bitmap, BTreeMap<u32, GroupFailure>) {
        let order = order.map(|order| RowOrder { rows: &order.rows, ends: &order.ends });
        let mut columns = self.firsts.columns(self.spec, groups.clone());
        let mut failures = BTreeMap::new();
        for (position, accumulator) in self.accumulators.iter().enumerate() {
            let Finished { column, faults } = accumulator.finish(groups.clone(), order);
            columns.push(Some(column));
            for fault in faults {
                failures.entry(fault.group).or_insert_with(|| GroupFailure {
                    rule: self.reading_rules[position].to_string(),
                    in_rule: false,
                    message: fault.message,
                    value: None,
                    span: self.spec.cull.aggregates[position].span,
                });
            }
        }
        let (removed, faults) = self.rules.decide(&one_row_a_group(groups.len(), columns));
        for fault in faults {
            failures.entry(groups.start + fault.row as u32).or_insert_with(|| GroupFailure {
                rule: fault.field.as_deref().unwrap_or_default().to_string(),
                in_rule: true,
                message: fault.message,
                value: fault.value,
                span: fault.span,
            });
        }
        (removed, failures)
    }

    /// Notes that a group can't be decided on.
    fn fail(&mut self, group: u32, failure: GroupFailure) -> Result<(), Refused> {
        let GroupFailure { rule, message, value, .. } = failure;
        let stage = stage(self.operator.node(), &rule);
        let cause = Cause { stage, kind: FaultKind::GroupFailed, field: None, value, message, row: 0 };
        let cause = self.names.in_group(self.store.table.key(group), cause);
        self.failed.add(&mut self.store, group, LetterRow::NONE, &cause, &mut || Ok(()))
    }

    /// Reserves memory for what is done once all rows are in. Others have made room by then.
    fn reserve(&mut self, bytes: u64) -> Result<(), Refused> {
        self.store.reserve(&mut self.decisions, bytes, Grown::Decisions, &mut || Ok(()))
    }

    /// The failure that ends the run.
    pub fn undecided(self, undecided: Undecided) -> Failure {
        let (group, failure) = match undecided {
            Undecided::Refused(refused) => return refused.failure(&self.names, self.store.table.len()),
            Undecided::Group(group, failure) => (group, failure),
        };
        let (name, shown) = (self.operator.node(), self.names.name(self.store.table.key(group)));
        let GroupFailure { rule, in_rule, message, span, .. } = failure;
        let (place, mend) = match in_rule {
            true => (format!("in rule `{rule}`"), "guard the expression"),
            false => (
                "computed for each group".into(),
                "let it add smaller numbers, or floats (`to_float()`), which reach further",
            ),
        };
        let message = format!("cull `{name}`: group [{shown}]: {message}");
        let diagnostic = Diagnostic::error(Code::E392, message).label(span, place);
        let origins = self.store.first_row(group).and_then(|row| self.codec.origins(&[&row]));
        let diagnostic = match origins {
            Some(origins) => {
                let place = super::place(&self.constants, origins.sources[0], origins.files[0], origins.file_rows[0]);
                diagnostic.note(format!("its first row is {place}"))
            }
            None => diagnostic,
        };
        Failure::new(
            diagnostic.help(format!("{mend}, or set `strategy: continue` to make such groups dead letters")),
            3,
        )
    }
}

/// What the rules read.
fn one_row_a_group(rows: usize, columns: Vec<Option<Column>>) -> Batch {
    let positions = Positions::From(0);
    let origin = Origin { source: 0, file: 0, block_row: 1, block_source_row: 1, positions, kept: None };
    Batch { rows, columns, carried: Carried::default(), origin }
}
