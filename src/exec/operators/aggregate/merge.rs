//! Merges groups that were put on disk several times, and puts them back into the order in which they were first seen.

use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::aggregate::Accumulator;
use crate::exec::memory::{Charge, Exceeded};
use crate::exec::spill::{Merge, MergeError, Sorter};
use crate::plan::physical::{AggregateOperator, Operator};

use super::super::buffer::{BufferContext, Full};
use super::super::read_back::ReadBack;
use super::fill::does_not_fit;
use super::layout::{GroupLayout, accumulators};

/// Bytes of the checksum of a key.
const CHECKSUM: usize = size_of::<u32>();

/// Merges the records of one group after the other.
pub(super) struct Merging<'p> {
    spec: &'p AggregateOperator,
    operator: &'p Operator,
    layout: Arc<GroupLayout>,
    /// Takes the merged groups.
    sorter: Sorter<'p>,
    /// What the group at hand takes.
    charge: Charge<'p>,
    /// Its key, as a record begins with it.
    key: Vec<u8>,
    /// Its record; if there are several, the first without the states.
    record: Vec<u8>,
    /// Its states, if there are several records.
    accumulators: Vec<Accumulator>,
    is_merged: bool,
    /// Whether there is a group at hand.
    has_begun: bool,
}

impl<'p> Merging<'p> {
    /// Nothing merged yet.
    pub fn new(
        spec: &'p AggregateOperator,
        operator: &'p Operator,
        layout: Arc<GroupLayout>,
        sorter: Sorter<'p>,
        charge: Charge<'p>,
    ) -> Self {
        let (key, record, accumulators) = (Vec::new(), Vec::new(), accumulators(&spec.aggregation));
        Self { spec, operator, layout, sorter, charge, key, record, accumulators, is_merged: false, has_begun: false }
    }

    /// The groups of some runs, which come by a checksum and the key behind it, and for each key in the order in which they were put on disk.
    pub fn in_order(mut self, mut runs: Merge<'p>) -> Result<Full<'p>, Failure> {
        while let Some((sorted_by, record)) = runs.next()? {
            let key = &sorted_by[CHECKSUM..];
            if self.has_begun && GroupLayout::split_key(&self.key).0 == key {
                self.add(record)?;
            } else {
                self.end()?;
                self.begin(key, record)?;
            }
        }
        self.end()?;
        drop(runs);
        let Self { operator, sorter, .. } = self;
        let in_order = sorter.sorted().map_err(|error| BufferContext::not_read_back(operator, error))?;
        Ok(ReadBack::merged(in_order))
    }

    fn begin(&mut self, key: &[u8], record: &[u8]) -> Result<(), Failure> {
        self.key.clear();
        GroupLayout::write_key(key, &mut self.key);
        self.reserve((key.len() + record.len()) as u64)?;
        self.record.extend_from_slice(record);
        self.has_begun = true;
        Ok(())
    }

    /// Adds a further record of the group at hand.
    fn add(&mut self, record: &[u8]) -> Result<(), Failure> {
        let layout = Arc::clone(&self.layout);
        if !self.is_merged {
            let first = std::mem::take(&mut self.record);
            let states = layout.read(&first).states;
            self.merge(states)?;
            self.record.extend_from_slice(&first[..first.len() - states.len()]);
            self.is_merged = true;
        }
        self.merge(layout.read(record).states)
    }

    /// Adds states to those of the group at hand.
    fn merge(&mut self, mut states: &[u8]) -> Result<(), Failure> {
        for position in 0..self.accumulators.len() {
            let accumulator = &self.accumulators[position];
            let (before, bound) = (accumulator.bytes(), accumulator.merge_bound(1, states));
            self.reserve(bound - before)?;
            let accumulator = &mut self.accumulators[position];
            accumulator.grow(1);
            accumulator.merge(0, &mut states);
            let after = accumulator.bytes();
            self.charge.give_back(bound.saturating_sub(after));
        }
        Ok(())
    }

    /// Hands on the group at hand, if there is one.
    fn end(&mut self) -> Result<(), Failure> {
        if !self.has_begun {
            return Ok(());
        }
        if self.is_merged {
            // As bytes states take less.
            self.reserve(self.accumulators.iter().map(Accumulator::bytes).sum())?;
            let states = std::mem::replace(&mut self.accumulators, accumulators(&self.spec.aggregation));
            states.iter().for_each(|accumulator| accumulator.encode(0, &mut self.record));
        }
        let seen = self.layout.read(&self.record).seen.to_be_bytes();
        let pushed = self.sorter.push_parts(&seen, &[&self.key, &self.record]);
        pushed.map_err(|error| match error {
            MergeError::Exceeded(exceeded) | MergeError::Giant { exceeded, .. } => self.does_not_fit(&exceeded),
            MergeError::Failed(failure) => failure,
        })?;
        self.record.clear();
        self.charge.give_back(self.charge.held());
        (self.has_begun, self.is_merged) = (false, false);
        Ok(())
    }

    /// Reserves memory for the group at hand. Where there is not enough, merged groups make room.
    fn reserve(&mut self, bytes: u64) -> Result<(), Failure> {
        if self.charge.take(bytes).is_ok() {
            return Ok(());
        }
        self.sorter.release()?;
        self.charge.take(bytes).map_err(|exceeded| self.does_not_fit(&exceeded))
    }

    fn does_not_fit(&self, exceeded: &Exceeded) -> Failure {
        does_not_fit(self.spec, self.operator, GroupLayout::split_key(&self.key).0, exceeded)
    }
}
