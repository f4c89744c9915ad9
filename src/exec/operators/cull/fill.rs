//! What the finisher does: numbers groups and adds to aggregates.

use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::aggregate::Accumulator;
use crate::exec::dlq::LetterRow;
use crate::exec::eval::{Constants, Rules};
use crate::exec::memory::Charge;
use crate::exec::rest::Codec;
use crate::plan::physical::{CullOperator, Operator};

use super::super::buffer::{Buffer, Collected, Full, Seal};
use super::super::grouped::{FailedGroups, GroupNames, Outcome, Refused, Store};
use super::collect::{Decisive, Part};
use super::decide::Ordered;
use super::firsts::Firsts;

/// A cull while it is filled.
pub(super) struct Culling<'p> {
    pub spec: &'p CullOperator,
    pub operator: &'p Operator,
    pub constants: Arc<Constants>,
    pub codec: Arc<Codec>,
    pub rules: Rules,
    /// For each aggregate, the first rule that reads it.
    pub reading_rules: Vec<Arc<str>>,
    pub names: GroupNames<'p>,
    pub store: Store<'p>,
    pub firsts: Firsts,
    pub accumulators: Vec<Accumulator>,
    /// The order of rows, if it is part of what is decided on.
    pub ordered: Option<Ordered>,
    pub failed: FailedGroups<'p>,
    pub decisions: Charge<'p>,
}

impl<'p> Buffer<'p> for Culling<'p> {
    fn take(&mut self, collected: &mut Collected) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut keys = Vec::new();
        for batch in collected.take_part::<Part>() {
            self.admit(&batch, &mut groups).map_err(|refused| refused.failure(&self.names))?;
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

    fn seal(mut self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure> {
        self.store.table.complete();
        self.store.check_sizes(&self.names)?;
        let ports = match self.decide() {
            Ok(ports) => ports,
            Err(undecided) => return Err(self.undecided(undecided)),
        };
        let Self { operator, store, failed, accumulators, firsts, ordered, mut decisions, .. } = *self;
        drop((accumulators, firsts, ordered));
        decisions.give_back(decisions.held() - ports.len() as u64);
        let outcome = Outcome { ports, plan_ports: 2, marked: false, failed, _charge: decisions };
        store.seal(seal, operator, outcome)
    }
}

impl Culling<'_> {
    /// Appends the groups of a batch's rows, and adds its arguments to the aggregates.
    fn admit(&mut self, batch: &Decisive, groups: &mut Vec<u32>) -> Result<(), Refused> {
        let (first, before) = (groups.len(), self.store.table.len());
        self.store.number(&batch.keys, &batch.hashes, groups)?;
        let (groups, count) = (&groups[first..], self.store.table.len());
        if count > before {
            self.store.reserve(&mut self.decisions, self.firsts.cost(&batch.firsts, groups, before))?;
            self.firsts.add(&batch.firsts, groups, before);
        }
        for (accumulator, args) in self.accumulators.iter_mut().zip(&batch.arguments) {
            let (held, bound) = (accumulator.bytes(), accumulator.bound(count, args));
            self.store.reserve(&mut self.decisions, bound - held)?;
            accumulator.update(groups, count, args);
            self.decisions.give_back(bound.saturating_sub(accumulator.bytes()));
        }
        if let (Some(ordered), Some(keys)) = (&mut self.ordered, &batch.order) {
            self.store.reserve(&mut self.decisions, Ordered::cost(groups, keys))?;
            ordered.add(groups, keys);
        }
        for (row, cause) in &batch.failures {
            let group = groups[*row];
            let cause = self.names.in_group(self.store.table.key(group), cause.clone());
            self.failed.add(&mut self.store, group, LetterRow::NONE, &cause)?;
        }
        Ok(())
    }
}
