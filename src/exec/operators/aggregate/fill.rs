//! What the finisher does: keeps groups and their states, in memory or on disk.

use std::sync::Arc;

use crate::analysis::hir::Aggregate;
use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::keys::equality;
use crate::exec::memory::{Arbitrator, Exceeded, give_back_freed_memory};
use crate::exec::spill::{Disk, Spilled};
use crate::plan::physical::{AggregateOperator, Operator};

use super::super::buffer::{Buffer, BufferContext, Collected, Full, Others, Seal};
use super::super::group_name::group_name;
use super::super::grouped::Pieces;
use super::super::read_back::ReadBack;
use super::collect::{Part, Piece};
use super::finish::copies;
use super::held::{Held, NoRoom};
use super::layout::GroupLayout;
use super::parts::{Loading, Parts};

/// An aggregate while it is filled.
pub(super) struct Groups<'p> {
    spec: &'p AggregateOperator,
    operator: &'p Operator,
    layout: Arc<GroupLayout>,
    arbitrator: &'p Arbitrator,
    disk: &'p Disk<'p>,
    consumer: usize,
    held: Held<'p>,
    parts: Parts<'p>,
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
            parts: Parts::new(context.disk, consumer, 0),
            times: 0,
        }
    }
}

impl<'p> Buffer<'p> for Groups<'p> {
    fn take(&mut self, collected: &mut Collected, others: Others<'_>) -> Result<(), Failure> {
        collected.take_part::<Part>().iter().try_for_each(|piece| self.admit(piece, others))
    }

    fn spillable(&self) -> u64 {
        if self.held.is_empty() { 0 } else { self.held.bytes() }
    }

    fn spill(&mut self, _: u64) -> Result<(), Failure> {
        self.spill_all()
    }

    fn seal(mut self: Box<Self>, Seal { most_resident, .. }: Seal) -> Result<Full<'p>, Failure> {
        if self.spec.aggregation.key == 0 && self.held.is_empty() && self.parts.is_empty() {
            let begun = self.held.begin_whole(&self.layout);
            begun.map_err(|exceeded| does_not_fit(self.spec, self.operator, &[], &exceeded.into()))?;
        }
        if !self.parts.is_empty() {
            self.spill_all()?;
            return self.load();
        }
        self.held.complete();
        match self.held.bytes() <= most_resident && self.held.leaves_room(&copies(&self.spec.aggregation)) {
            true => {
                self.held.stay();
                Ok(Full::Groups(Box::new(self.held)))
            }
            false => self.write_in_order(),
        }
    }
}

impl<'p> Groups<'p> {
    /// Adds the rows of a piece.
    fn admit(&mut self, piece: &Piece, others: Others<'_>) -> Result<(), Failure> {
        let mut pieces = Pieces::of(piece.rows);
        while let Some(rows) = pieces.next(|rows| self.held.fits(&self.layout, piece, rows)) {
            if rows.len() == 1 {
                self.admit_row(piece, rows.start, others)?;
            } else if self.held.admit(&self.layout, piece, rows.clone()).is_err() {
                // Another worker took the room meanwhile.
                self.forget()?;
                pieces.divide(rows);
            }
        }
        Ok(())
    }

    /// Adds a row, for which all groups go to disk if there is no room, and then what others hold.
    fn admit_row(&mut self, piece: &Piece, row: usize, others: Others<'_>) -> Result<(), Failure> {
        let rows = || row..row + 1;
        if self.held.admit(&self.layout, piece, rows()).is_ok() {
            return Ok(());
        }
        if !self.held.is_empty() {
            self.spill_all()?;
            if self.held.admit(&self.layout, piece, rows()).is_ok() {
                return Ok(());
            }
        }
        self.held.clear(&self.spec.aggregation);
        others()?;
        let admitted = self.held.admit(&self.layout, piece, rows());
        admitted.map_err(|no_room| does_not_fit(self.spec, self.operator, piece.keys.key(row), &no_room))
    }

    /// Forgets all groups: those that have states go to disk.
    fn forget(&mut self) -> Result<(), Failure> {
        match self.held.is_empty() {
            true => self.held.clear(&self.spec.aggregation),
            false => self.spill_all()?,
        }
        Ok(())
    }

    /// Puts all groups on disk, and forgets them.
    fn spill_all(&mut self) -> Result<(), Failure> {
        self.parts.add(&self.held, &self.layout, self.times)?;
        self.held.clear(&self.spec.aggregation);
        give_back_freed_memory();
        self.times += 1;
        Ok(())
    }

    /// Puts groups on disk that never were there, in the order in which they are to be read.
    fn write_in_order(self: Box<Self>) -> Result<Full<'p>, Failure> {
        let Self { operator, layout, held, disk, consumer, .. } = *self;
        let (mut spilled, mut record) = (Spilled::new(disk, consumer), Vec::new());
        spilled.write(|writer| {
            (0..).zip(held.keys(0..held.len() as u32)).try_for_each(|(group, key)| {
                record.clear();
                held.encode(&layout, 0, (group, key), &mut record);
                writer.push(&[], &record)
            })
        })?;
        let charge = held.into_charge();
        ReadBack::of(spilled, charge).map_err(|error| BufferContext::not_read_back(operator, error))
    }

    /// Merges what is on disk.
    fn load(self: Box<Self>) -> Result<Full<'p>, Failure> {
        let Self { spec, operator, layout, held, parts, arbitrator, disk, consumer, .. } = *self;
        drop(held);
        Loading { spec, operator, layout, arbitrator, disk, consumer }.in_order(parts)
    }
}

/// E310 for the group with this key, of whose row more was made than its lists.
pub(in crate::exec::operators) fn row_does_not_fit(
    spec: &AggregateOperator,
    operator: &Operator,
    key: &[u8],
    exceeded: &Exceeded,
) -> Failure {
    let detail = format!("the row of one group [{}] does not fit", name_of(spec, key));
    BufferContext::does_not_fit(operator, &detail, exceeded, "what it is written as")
}

/// What the key of a group says: `day="monday"`.
fn name_of(spec: &AggregateOperator, key: &[u8]) -> String {
    let aggregation = &spec.aggregation;
    let columns = aggregation.grouped.columns[..aggregation.key].iter().map(|column| column.name.as_str());
    group_name(columns, equality::values(key))
}

/// E310 for a group whose state alone is too much.
pub(in crate::exec::operators) fn does_not_fit(
    spec: &AggregateOperator,
    operator: &Operator,
    key: &[u8],
    no_room: &NoRoom,
) -> Failure {
    let NoRoom { exceeded, aggregate } = no_room;
    let detail = format!("the state of one group [{}] does not fit", name_of(spec, key));
    let aggregates = &spec.aggregation.aggregates;
    let Some(Aggregate { function, span, .. }) = aggregate.map(|position| &aggregates[position]) else {
        return BufferContext::does_not_fit(operator, &detail, exceeded, "its key");
    };
    let who = format!("`{}`", function.name());
    let mut failure = BufferContext::does_not_fit(operator, &detail, exceeded, &who);
    let label = |diagnostic: Diagnostic| diagnostic.label(*span, "there is no room for what this takes");
    failure.diagnostic = failure.diagnostic.map(|diagnostic| Box::new(label(*diagnostic)));
    failure
}
