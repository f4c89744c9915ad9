//! What a cull decides on. It is kept for each group until all rows are there, and can't go to disk.

use std::borrow::Cow;
use std::ops::Range;

use crate::analysis::hir::{Aggregate, AggregateFunction};
use crate::exec::aggregate::Accumulator;
use crate::exec::batch::{Column, RowId};
use crate::exec::memory::{Charge, Segments};
use crate::plan::physical::CullOperator;

use super::super::buffer::Others;
use super::super::grouped::{FailedGroups, Grown, Refused, Store};
use super::collect::Decisive;
use super::decide::Ordered;
use super::firsts::Firsts;

/// What is decided on, by group, but for the keys of the groups and the reasons why they failed.
pub(super) struct Kept<'p> {
    pub spec: &'p CullOperator,
    pub firsts: Firsts,
    pub accumulators: Vec<Accumulator>,
    /// For each group, the row that dead letters begin with if it fails, by source and row; not kept where none can fail.
    pub starts: Option<Segments<RowId>>,
    /// The order of rows, if it is part of what is decided on.
    pub ordered: Option<Ordered>,
}

/// Some rows of a batch.
pub(super) struct Piece<'b> {
    pub batch: &'b Decisive,
    pub rows: Range<usize>,
    /// For each aggregate, its arguments in these rows.
    pub arguments: Cow<'b, [Vec<Column>]>,
}

/// The groups of the rows of a piece.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'g> {
    /// For each row, its group.
    pub groups: &'g [u32],
    /// How many groups there were before.
    pub before: usize,
    /// How many there are now.
    pub count: usize,
}

/// Where what is kept has its memory from.
pub(super) struct Room<'a, 'p> {
    pub store: &'a mut Store<'p>,
    pub charge: &'a mut Charge<'p>,
    /// Whether all that the piece may take is reserved in advance. Else each step reserves the most that it may take.
    pub is_reserved: bool,
    pub others: Others<'a>,
}

impl<'b> Piece<'b> {
    /// Some rows of a batch.
    pub fn of(batch: &'b Decisive, rows: Range<usize>) -> Self {
        Self { batch, arguments: batch.arguments(&rows), rows }
    }

    /// What noting why rows failed takes, in bytes.
    pub fn failing(&self) -> u64 {
        self.batch.failures(&self.rows).iter().map(|(_, cause)| FailedGroups::cost(cause)).sum()
    }
}

impl Kept<'_> {
    /// The most that adding a piece takes, in bytes, if its rows begin `new` groups behind the `known` ones.
    pub fn growth(&self, piece: &Piece<'_>, known: usize, new: usize) -> u64 {
        let (Piece { batch, rows, arguments }, count) = (piece, known + new);
        let firsts = self.firsts.growth(&batch.firsts, rows.clone(), new);
        let starts = self.starts.as_ref().map_or(0, |starts| starts.bound(count) - starts.bytes());
        let states = self.accumulators.iter().zip(arguments.iter());
        let states: u64 = states.map(|(accumulator, args)| accumulator.bound(count, args) - accumulator.bytes()).sum();
        let order = self.ordered.as_ref().zip(batch.order.as_ref());
        firsts + starts + states + order.map_or(0, |(ordered, keys)| ordered.growth(keys, rows))
    }

    /// Adds the rows of a piece.
    pub fn add(&mut self, piece: &Piece<'_>, numbered: Numbered<'_>, room: &mut Room<'_, '_>) -> Result<(), Refused> {
        let (Piece { batch, rows, arguments }, Numbered { groups, before, count }) = (piece, numbered);
        let fresh = new_groups(groups, before).map(|at| rows.start + at);
        let growth = |firsts: &Firsts| firsts.growth(&batch.firsts, rows.clone(), count - before);
        let add = |firsts: &mut Firsts| fresh.for_each(|row| firsts.add(&batch.firsts, row));
        room.grow(&mut self.firsts, Grown::Keys, (Firsts::bytes, growth), add)?;
        if let Some(starts) = &mut self.starts {
            let growth = |starts: &Segments<RowId>| starts.bound(count) - starts.bytes();
            let add = |starts: &mut Segments<RowId>| note_starts(starts, piece, groups);
            room.grow(starts, Grown::Keys, (Segments::bytes, growth), add)?;
        }
        for (position, (accumulator, args)) in self.accumulators.iter_mut().zip(arguments.iter()).enumerate() {
            let growth = |accumulator: &Accumulator| accumulator.bound(count, args) - accumulator.bytes();
            let add = |accumulator: &mut Accumulator| accumulator.update(groups, count, args);
            let grown = grown(&self.spec.cull.aggregates[position]);
            room.grow(accumulator, grown, (Accumulator::bytes, growth), add)?;
        }
        if let (Some(ordered), Some(keys)) = (&mut self.ordered, &batch.order) {
            let growth = |ordered: &Ordered| ordered.growth(keys, rows);
            let add = |ordered: &mut Ordered| ordered.add(groups, keys, rows.clone());
            room.grow(ordered, Grown::Order, (Ordered::bytes, growth), add)?;
        }
        Ok(())
    }
}

impl Room<'_, '_> {
    /// Lets a part of what is kept grow: what it holds, and the most by which it grows, are told in bytes.
    fn grow<T>(
        &mut self,
        part: &mut T,
        grown: Grown,
        (bytes, growth): (impl Fn(&T) -> u64, impl FnOnce(&T) -> u64),
        add: impl FnOnce(&mut T),
    ) -> Result<(), Refused> {
        let most = bytes(part) + if self.is_reserved { 0 } else { growth(part) };
        self.store.reserve(self.charge, most - bytes(part), grown, self.others)?;
        add(part);
        let held = bytes(part);
        self.charge.give_back(most.saturating_sub(held));
        self.store.reserve(self.charge, held.saturating_sub(most), grown, self.others)
    }
}

/// Notes the rows that groups begin with.
fn note_starts(starts: &mut Segments<RowId>, Piece { batch, rows, .. }: &Piece<'_>, groups: &[u32]) {
    for (row, group) in (rows.start..).zip(groups) {
        let place = |row: &RowId| (row.source, row.source_row);
        let is_new = *group as usize == starts.len();
        if is_new || (batch.origin.source_of(row), batch.origin.source_row(row)) < place(starts.get(*group)) {
            let id = batch.origin.row_id(row);
            if is_new { starts.push(id) } else { *starts.get_mut(*group) = id }
        }
    }
}

/// What the states of an aggregate are called.
pub(super) fn grown(Aggregate { function, span, .. }: &Aggregate) -> Grown {
    Grown::Aggregate { name: function.name(), span: *span, keeps_all: *function == AggregateFunction::Collect }
}

/// The positions of the rows that begin a group, from group `before` on.
fn new_groups(groups: &[u32], before: usize) -> impl Iterator<Item = usize> + '_ {
    let mut next = before as u32;
    groups.iter().enumerate().filter_map(move |(row, group)| {
        let is_first = *group == next;
        next += u32::from(is_first);
        is_first.then_some(row)
    })
}
