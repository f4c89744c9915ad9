//! The groups in memory: their keys and states.

use std::borrow::Cow;
use std::ops::Range;

use crate::analysis::hir::Aggregation;
use crate::exec::aggregate::{Accumulator, Finished};
use crate::exec::batch::Column;
use crate::exec::keys::{Arena, GroupTable};
use crate::exec::memory::{Arbitrator, Charge, Exceeded};

use super::collect::Piece;
use super::layout::{GroupLayout, accumulators};

/// Groups, numbered as they were first seen, with their states. Every byte is reserved before it is taken.
pub(crate) struct Held<'p> {
    table: GroupTable<'p>,
    /// What the keys don't tell.
    firsts: Arena,
    /// For each group, where that is; empty where keys tell all.
    first_places: Vec<u64>,
    /// For each group, the number of its first row; empty where it isn't asked for.
    first_rows: Vec<u64>,
    accumulators: Vec<Accumulator>,
    /// What all but the table takes.
    charge: Charge<'p>,
    /// The group of each row that is being admitted.
    groups: Vec<u32>,
}

impl<'p> Held<'p> {
    /// No groups, charged to a consumer.
    pub fn new(aggregation: &Aggregation, arbitrator: &'p Arbitrator, consumer: usize) -> Self {
        Self {
            table: GroupTable::new(Charge::new(arbitrator, consumer)),
            firsts: Arena::default(),
            first_places: Vec::new(),
            first_rows: Vec::new(),
            accumulators: accumulators(aggregation),
            charge: Charge::new(arbitrator, consumer),
            groups: Vec::new(),
        }
    }

    /// Forgets all but the keys of groups, and gives back what that took.
    fn forget_states(&mut self, aggregation: &Aggregation) {
        self.firsts = Arena::default();
        self.first_places = Vec::new();
        self.first_rows = Vec::new();
        self.accumulators = accumulators(aggregation);
        self.charge.give_back(self.charge.held());
    }

    /// Forgets all groups; gives the charge, which holds nothing.
    pub fn into_charge(self) -> Charge<'p> {
        let mut charge = self.charge;
        charge.give_back(charge.held());
        charge
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.table.held() + self.charge.held()
    }

    /// The key of a group.
    pub fn key(&self, group: u32) -> &[u8] {
        self.table.key(group)
    }

    /// The keys of some groups.
    pub fn keys(&self, groups: Range<u32>) -> impl ExactSizeIterator<Item = &[u8]> {
        groups.map(|group| self.table.key(group))
    }

    /// What the keys of some groups don't tell; nothing where they tell all.
    pub fn firsts(&self, groups: Range<u32>) -> impl Iterator<Item = &[u8]> {
        let places = self.first_places.get(groups.start as usize..groups.end as usize).unwrap_or_default();
        places.iter().map(|place| self.firsts.get(*place))
    }

    /// The numbers of the first rows of some groups, or nothing.
    pub fn first_rows(&self, groups: Range<u32>) -> &[u64] {
        self.first_rows.get(groups.start as usize..groups.end as usize).unwrap_or_default()
    }

    /// The results of each aggregate for some groups.
    pub fn finish(&self, groups: Range<u32>) -> Vec<Finished> {
        self.accumulators.iter().map(|accumulator| accumulator.finish(groups.clone(), None)).collect()
    }

    /// Forgets all groups, and tells the record of each of them before, behind its key in two parts, in an order that
    /// depends on the keys alone. `times` is how often that was done before.
    pub(super) fn drain<E>(
        &mut self,
        aggregation: &Aggregation,
        layout: &GroupLayout,
        times: u32,
        mut tell: impl FnMut([&[u8]; 2], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { table, firsts, first_places, first_rows, accumulators, .. } = self;
        let states = States { firsts, first_places, first_rows, accumulators };
        let mut record = Vec::new();
        table.drain(|group, key| {
            record.clear();
            states.encode(layout, times, group, &mut record);
            tell(key, &record)
        })?;
        self.forget_states(aggregation);
        Ok(())
    }

    /// Appends the record of a group that was never forgotten, its key in front.
    pub(super) fn encode(&self, layout: &GroupLayout, group: u32, out: &mut Vec<u8>) {
        let Self { firsts, first_places, first_rows, accumulators, .. } = self;
        GroupLayout::write_key(self.key(group), out);
        States { firsts, first_places, first_rows, accumulators }.encode(layout, 0, group, out);
    }

    /// Makes the group that an aggregate over the whole input has, even without rows.
    pub(super) fn begin_whole(&mut self, layout: &GroupLayout) -> Result<(), Exceeded> {
        let bound: u64 = self.accumulators.iter().map(|accumulator| accumulator.merge_bound(1, &[])).sum();
        self.charge.take(bound + 2 * size_of::<u64>() as u64)?;
        self.table.admit_one(&[], 0)?;
        if layout.names_rows {
            self.first_rows.push(0);
        }
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.grow(1));
        Ok(())
    }

    /// Drops what only the admission of rows needs.
    pub fn complete(&mut self) {
        self.table.complete();
    }

    /// Adds some rows of a piece, all or none of them.
    pub(super) fn admit(&mut self, layout: &GroupLayout, piece: &Piece, rows: Range<usize>) -> Result<(), Exceeded> {
        let before = self.len();
        let admitted = self.number(layout, piece, rows.clone()).and_then(|()| self.add(piece, rows));
        if admitted.is_err() {
            self.table.truncate(before);
            self.first_places.truncate(before);
            self.first_rows.truncate(before);
        }
        admitted
    }

    /// Finds or begins the group of each row.
    fn number(&mut self, layout: &GroupLayout, piece: &Piece, rows: Range<usize>) -> Result<(), Exceeded> {
        let before = self.len();
        self.groups.clear();
        self.table.admit_rows(&piece.keys, &piece.hashes, rows.clone(), &mut self.groups)?;
        let new = self.len() - before;
        if new == 0 || !layout.has_firsts() && !layout.names_rows {
            return Ok(());
        }
        if layout.has_firsts() {
            reserve(&mut self.first_places, new, &mut self.charge)?;
        }
        if layout.names_rows {
            reserve(&mut self.first_rows, new, &mut self.charge)?;
        }
        let mut next = before as u32;
        for (row, group) in rows.zip(&self.groups) {
            if *group != next {
                continue;
            }
            next += 1;
            if layout.names_rows {
                self.first_rows.push(piece.origin.file_row(row));
            }
            if layout.has_firsts() {
                let first = piece.firsts.row(row);
                if let Some(bytes) = self.firsts.needs(first) {
                    self.charge.take(bytes as u64)?;
                }
                self.first_places.push(self.firsts.push(first));
            }
        }
        Ok(())
    }

    /// Adds to the states of the groups that the rows were found to have.
    fn add(&mut self, piece: &Piece, rows: Range<usize>) -> Result<(), Exceeded> {
        let (count, arguments) = (self.len(), piece.arguments(rows));
        let pairs = || self.accumulators.iter().zip(arguments.iter());
        let before: u64 = pairs().map(|(accumulator, _)| accumulator.bytes()).sum();
        let bound: u64 = pairs().map(|(accumulator, args)| accumulator.bound(count, args)).sum();
        // All at once: if there is not enough for one of them, none must have changed.
        self.charge.take(bound - before)?;
        for (accumulator, args) in self.accumulators.iter_mut().zip(arguments.iter()) {
            accumulator.update(&self.groups, count, args);
        }
        let after: u64 = self.accumulators.iter().map(Accumulator::bytes).sum();
        self.charge.give_back(bound.saturating_sub(after));
        Ok(())
    }
}

/// What is kept of groups besides their keys.
struct States<'h> {
    firsts: &'h Arena,
    first_places: &'h [u64],
    first_rows: &'h [u64],
    accumulators: &'h [Accumulator],
}

impl States<'_> {
    /// Appends the record of a group, its key aside.
    fn encode(&self, layout: &GroupLayout, times: u32, group: u32, out: &mut Vec<u8>) {
        let seen = u64::from(times) << 32 | u64::from(group);
        let first_row = self.first_rows.get(group as usize).copied().unwrap_or_default();
        let first = self.first_places.get(group as usize).map_or(&[][..], |place| self.firsts.get(*place));
        layout.write_head(seen, first_row, first, out);
        self.accumulators.iter().for_each(|accumulator| accumulator.encode(group, out));
    }
}

/// Makes room in a list for `new` more. While it moves both the old and the new one are held.
fn reserve(list: &mut Vec<u64>, new: usize, charge: &mut Charge<'_>) -> Result<(), Exceeded> {
    const FEWEST: usize = 16;
    let bytes = |count: usize| (count * size_of::<u64>()) as u64;
    let (old, wanted) = (list.capacity(), list.len() + new);
    if wanted <= old {
        return Ok(());
    }
    let room = wanted.max(2 * old).max(FEWEST);
    charge.take(bytes(room))?;
    list.reserve_exact(room - list.len());
    charge.give_back(bytes(old));
    Ok(())
}

impl Piece {
    /// For each aggregate, its arguments in some rows.
    fn arguments(&self, rows: Range<usize>) -> Cow<'_, [Vec<Column>]> {
        if rows.len() == self.rows {
            return Cow::Borrowed(&self.arguments);
        }
        let rows: Vec<u32> = rows.map(|row| row as u32).collect();
        self.arguments.iter().map(|args| args.iter().map(|column| column.take(&rows)).collect()).collect()
    }
}
