//! What the finisher does: keeps groups and their states, in memory or on disk.

use std::ops::Range;
use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::keys::equality;
use crate::exec::memory::{Arbitrator, Charge, Exceeded};
use crate::exec::spill::{Disk, Sorter, Spilled};
use crate::plan::physical::{AggregateOperator, Operator};

use super::super::buffer::{Buffer, BufferContext, Collected, Full, Seal};
use super::super::group_name::group_name;
use super::super::read_back::ReadBack;
use super::collect::{Part, Piece};
use super::held::Held;
use super::layout::GroupLayout;
use super::merge::Merging;

/// An aggregate while it is filled.
pub(super) struct Groups<'p> {
    spec: &'p AggregateOperator,
    operator: &'p Operator,
    layout: Arc<GroupLayout>,
    arbitrator: &'p Arbitrator,
    disk: &'p Disk<'p>,
    consumer: usize,
    held: Held<'p>,
    spilled: Spilled<'p>,
    /// How often all groups were put on disk.
    times: u32,
}

impl<'p> Groups<'p> {
    pub fn new(spec: &'p AggregateOperator, layout: Arc<GroupLayout>, context: &BufferContext<'p>) -> Self {
        let consumer = spec.rest.as_ref().expect("an aggregate that hashes says how its groups rest").consumer;
        Self {
            spec,
            operator: context.operator,
            layout,
            arbitrator: context.arbitrator,
            disk: context.disk,
            consumer,
            held: Held::new(&spec.aggregation, context.arbitrator, consumer),
            spilled: Spilled::new(context.disk, consumer),
            times: 0,
        }
    }
}

impl<'p> Buffer<'p> for Groups<'p> {
    fn take(&mut self, _: usize, collected: &mut Collected) -> Result<(), Failure> {
        collected.take_part::<Part>().iter().try_for_each(|piece| self.admit(piece, 0..piece.rows))
    }

    fn spillable(&self) -> u64 {
        if self.held.is_empty() { 0 } else { self.held.bytes() }
    }

    fn spill(&mut self, _: u64) -> Result<(), Failure> {
        self.spill_all()
    }

    fn seal(mut self: Box<Self>, Seal { most_resident, .. }: Seal) -> Result<Full<'p>, Failure> {
        if self.spec.aggregation.key == 0 && self.held.is_empty() && self.spilled.is_empty() {
            let begun = self.held.begin_whole(&self.layout);
            begun.map_err(|exceeded| does_not_fit(self.spec, self.operator, &[], &exceeded))?;
        }
        if !self.spilled.is_empty() {
            self.spill_all()?;
            return self.merge(most_resident);
        }
        self.held.complete();
        match self.held.bytes() <= most_resident {
            true => Ok(Full::Groups(Box::new(self.held))),
            false => self.write_in_order(),
        }
    }
}

impl<'p> Groups<'p> {
    /// Adds rows, of which there may be too many to be added at once.
    fn admit(&mut self, piece: &Piece, rows: Range<usize>) -> Result<(), Failure> {
        let mut waiting = vec![rows];
        while let Some(rows) = waiting.pop() {
            let admitted = self.held.admit(&self.layout, piece, rows.clone());
            let Err(exceeded) = admitted else { continue };
            if !self.held.is_empty() {
                self.spill_all()?;
                waiting.push(rows);
            } else if rows.len() > 1 {
                self.held.clear(&self.spec.aggregation);
                let middle = rows.start + rows.len() / 2;
                waiting.extend([middle..rows.end, rows.start..middle]);
            } else {
                return Err(does_not_fit(self.spec, self.operator, piece.keys.key(rows.start), &exceeded));
            }
        }
        Ok(())
    }

    /// Makes a run of all groups, and forgets them.
    fn spill_all(&mut self) -> Result<(), Failure> {
        let Self { spec, layout, held, spilled, times, .. } = self;
        spilled.write(|writer| {
            held.drain(&spec.aggregation, layout, *times, |key, record| writer.push_parts(&key, record))
        })?;
        self.times += 1;
        Ok(())
    }

    /// Puts groups on disk that never were there, in the order in which they are to be read.
    fn write_in_order(self: Box<Self>) -> Result<Full<'p>, Failure> {
        let Self { operator, layout, held, mut spilled, .. } = *self;
        let mut record = Vec::new();
        spilled.write(|writer| {
            (0..held.len() as u32).try_for_each(|group| {
                record.clear();
                held.encode(&layout, group, &mut record);
                writer.push(&[], &record)
            })
        })?;
        let charge = held.into_charge();
        ReadBack::of(spilled, charge).map_err(|error| BufferContext::not_read_back(operator, error))
    }

    /// Merges the runs.
    fn merge(self: Box<Self>, most_resident: u64) -> Result<Full<'p>, Failure> {
        let Self { spec, operator, layout, held, spilled, arbitrator, disk, consumer, .. } = *self;
        drop(held);
        let charge = || Charge::new(arbitrator, consumer);
        // Not all of the memory is for reading: a group is to be merged, and merged groups are to be sorted.
        let mut room = charge();
        room.take(arbitrator.limit() / 2).or_else(|_| room.take(arbitrator.limit() / 8)).unwrap_or_default();
        let runs = spilled.merge(charge()).map_err(|error| BufferContext::not_read_back(operator, error))?;
        drop(room);
        let sorter = Sorter::new(disk, consumer, charge()).at_most(most_resident);
        Merging::new(spec, operator, layout, sorter, charge()).in_order(runs)
    }
}

/// E310 for a group whose state alone is too much.
pub(super) fn does_not_fit(spec: &AggregateOperator, operator: &Operator, key: &[u8], exceeded: &Exceeded) -> Failure {
    let aggregation = &spec.aggregation;
    let columns = aggregation.grouped.columns[..aggregation.key].iter().map(|column| column.name.as_str());
    let group = group_name(columns, equality::values(key));
    let detail = format!("the state of one group [{group}] does not fit");
    BufferContext::does_not_fit(operator, &detail, exceeded)
}
