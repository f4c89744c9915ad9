//! What the finisher does: numbers groups and adds to aggregates.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::hir::{Aggregate, AggregateFunction};
use crate::exec::Failure;
use crate::exec::aggregate::Accumulator;
use crate::exec::batch::RowId;
use crate::exec::dlq::LetterRow;
use crate::exec::eval::Rules;
use crate::exec::memory::{Charge, Segments};
use crate::plan::physical::{CullOperator, Operator};

use super::super::buffer::{Buffer, Collected, Full, Others, Seal};
use super::super::grouped::{FailedGroups, GroupNames, Grown, Outcome, Pieces, Refused, Store};
use super::collect::{Decisive, Part};
use super::decide::Ordered;
use super::firsts::{Firsts, text_bytes};

/// A cull while it is filled.
pub(super) struct Culling<'p> {
    pub spec: &'p CullOperator,
    pub operator: &'p Operator,
    pub rules: Rules,
    /// For each aggregate, the first rule that reads it.
    pub reading_rules: Vec<Arc<str>>,
    pub names: GroupNames<'p>,
    pub store: Store<'p>,
    pub firsts: Firsts,
    pub accumulators: Vec<Accumulator>,
    /// For each group, the row that dead letters begin with if it fails, by source and row; not kept where none can fail.
    pub starts: Option<Segments<RowId>>,
    /// The order of rows, if it is part of what is decided on.
    pub ordered: Option<Ordered>,
    pub failed: FailedGroups<'p>,
    pub decisions: Charge<'p>,
}

impl<'p> Buffer<'p> for Culling<'p> {
    fn take(&mut self, collected: &mut Collected, others: Others<'_>) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut keys = Vec::new();
        for batch in collected.take_part::<Part>() {
            let admitted = self.admit(&batch, &mut groups, others);
            admitted.map_err(|refused| refused.failure(&self.names, self.store.table.len()))?;
            keys.extend(batch.order);
        }
        self.store.add(std::mem::take(&mut collected.packed), &collected.chunk.offsets, groups, keys)
    }

    fn headroom(&self, rows: usize) -> u64 {
        self.store.headroom(rows)
    }

    fn spillable(&self) -> u64 {
        self.store.spillable()
    }

    fn spill(&mut self, wanted: u64) -> Result<(), Failure> {
        self.store.spill(wanted)
    }

    fn sealing(&self) -> u64 {
        self.deciding()
    }

    fn seal(mut self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure> {
        self.store.table.complete();
        self.store.check_sizes(&self.names)?;
        let decided = self.decide();
        let ports = decided.map_err(|refused| refused.failure(&self.names, self.store.table.len()))?;
        if let Some(failure) = self.first_failure() {
            return Err(failure);
        }
        let Self { operator, store, mut failed, accumulators, firsts, starts, ordered, mut decisions, .. } = *self;
        if let Some(starts) = starts {
            failed.begin_with(|group| *starts.get(group));
        }
        drop((accumulators, firsts, ordered));
        decisions.give_back(decisions.held() - ports.len() as u64);
        let outcome = Outcome { ports, plan_ports: 2, marked: false, failed, _charge: decisions };
        store.seal(seal, operator, outcome)
    }
}

impl<'p> Culling<'p> {
    /// Appends the groups of a batch's rows, and adds its arguments to the aggregates.
    fn admit(&mut self, batch: &Decisive, groups: &mut Vec<u32>, others: Others<'_>) -> Result<(), Refused> {
        let Decisive { keys, hashes, .. } = batch;
        let mut pieces = Pieces::of(hashes.len());
        while let Some(rows) =
            pieces.next(|rows| self.store.fits(keys, hashes, rows, |groups| self.growth(batch, rows, groups)))
        {
            self.admit_piece(batch, rows, groups, others)?;
        }
        Ok(())
    }

    /// The most that is taken for some rows that begin so many groups, but for the groups themselves, in bytes.
    fn growth(&self, batch: &Decisive, rows: &Range<usize>, groups: usize) -> u64 {
        let (count, arguments) = (self.store.table.len() + groups, batch.arguments(rows));
        let states = self.accumulators.iter().zip(arguments.iter());
        let states: u64 = states.map(|(accumulator, args)| accumulator.bound(count, args) - accumulator.bytes()).sum();
        let starts = self.starts.as_ref().map_or(0, |starts| starts.bound(count) - starts.bytes());
        let firsts = starts + self.firsts.growth(groups) + text_bytes(&batch.firsts, rows.clone());
        let order = self.ordered.as_ref().zip(batch.order.as_ref());
        states
            + firsts
            + order.map_or(0, |(ordered, keys)| ordered.growth(keys, rows))
            + batch.failures(rows).iter().map(|(_, cause)| FailedGroups::cost(cause)).sum::<u64>()
    }

    fn admit_piece(
        &mut self,
        batch: &Decisive,
        rows: Range<usize>,
        groups: &mut Vec<u32>,
        others: Others<'_>,
    ) -> Result<(), Refused> {
        let (first, before) = (groups.len(), self.store.table.len());
        self.store.number(&batch.keys, &batch.hashes, rows.clone(), groups, others)?;
        let (groups, count) = (&groups[first..], self.store.table.len());
        self.begin_groups(batch, rows.start, groups, before, others)?;
        self.note_starts(batch, rows.start, groups, others)?;
        let arguments = batch.arguments(&rows);
        for (position, args) in arguments.iter().enumerate() {
            let (held, bound) = (self.accumulators[position].bytes(), self.accumulators[position].bound(count, args));
            let grown = grown(&self.spec.cull.aggregates[position]);
            self.store.reserve(&mut self.decisions, bound - held, grown, others)?;
            let accumulator = &mut self.accumulators[position];
            accumulator.update(groups, count, args);
            self.decisions.give_back(bound.saturating_sub(accumulator.bytes()));
        }
        if let (Some(ordered), Some(keys)) = (&mut self.ordered, &batch.order) {
            let most = ordered.growth(keys, &rows);
            self.store.reserve(&mut self.decisions, most, Grown::Order, others)?;
            let before = ordered.bytes();
            ordered.add(groups, keys, rows.clone());
            self.decisions.give_back(most.saturating_sub(ordered.bytes() - before));
        }
        for (row, cause) in batch.failures(&rows) {
            let group = groups[row - rows.start];
            self.failed.add(&mut self.store, group, LetterRow::NONE, cause, others)?;
        }
        Ok(())
    }

    /// Keeps what rules read of the key for the groups from number `before` on. `groups` are those of the rows from `start`
    /// on.
    fn begin_groups(
        &mut self,
        batch: &Decisive,
        start: usize,
        groups: &[u32],
        before: usize,
        others: Others<'_>,
    ) -> Result<(), Refused> {
        let fresh = new_groups(groups, before).map(|at| start + at);
        let texts = text_bytes(&batch.firsts, fresh.clone());
        let (held, growth) = (self.firsts.bytes(), self.firsts.growth(self.store.table.len() - before));
        self.store.reserve(&mut self.decisions, growth + texts, Grown::Keys, others)?;
        fresh.for_each(|row| self.firsts.add(&batch.firsts, row));
        self.decisions.give_back(growth - (self.firsts.bytes() - held));
        Ok(())
    }

    /// Notes the rows that groups begin with. `groups` are those of the rows from `start` on.
    fn note_starts(
        &mut self,
        batch: &Decisive,
        start: usize,
        groups: &[u32],
        others: Others<'_>,
    ) -> Result<(), Refused> {
        let (Some(starts), count) = (&mut self.starts, self.store.table.len()) else { return Ok(()) };
        let (held, bound) = (starts.bytes(), starts.bound(count));
        self.store.reserve(&mut self.decisions, bound - held, Grown::Keys, others)?;
        for (row, group) in (start..).zip(groups) {
            let place = |row: &RowId| (row.source, row.source_row);
            let is_new = *group as usize == starts.len();
            if is_new || (batch.origin.source_of(row), batch.origin.source_row(row)) < place(starts.get(*group)) {
                let id = batch.origin.row_id(row);
                if is_new { starts.push(id) } else { *starts.get_mut(*group) = id }
            }
        }
        self.decisions.give_back(bound - starts.bytes());
        Ok(())
    }
}

/// What the states of an aggregate are called.
fn grown(Aggregate { function, span, .. }: &Aggregate) -> Grown {
    Grown::Aggregate { name: function.name(), span: *span, keeps_all: *function == AggregateFunction::Collect }
}

/// The positions of the rows that begin a group, from group `before` on.
fn new_groups(groups: &[u32], before: usize) -> impl Iterator<Item = usize> + Clone + '_ {
    let mut next = before as u32;
    groups.iter().enumerate().filter_map(move |(row, group)| {
        let is_first = *group == next;
        next += u32::from(is_first);
        is_first.then_some(row)
    })
}
