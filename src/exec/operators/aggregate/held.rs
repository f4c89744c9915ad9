//! The groups in memory: their keys and states.

use std::borrow::Cow;
use std::ops::Range;

use crate::analysis::hir::Aggregation;
use crate::exec::aggregate::{Accumulator, Extent, Finished};
use crate::exec::batch::Column;
use crate::exec::keys::{Arena, GroupTable, KeyHasher};
use crate::exec::memory::{Arbitrator, Charge, Exceeded, Segments};
use crate::exec::varint;

use super::collect::Piece;
use super::finish::Cost;
use super::layout::{FirstRow, GroupLayout, Record, accumulators, put_state};
use super::record_room::{RecordRoom, list_bytes};

/// Groups, numbered as they were first seen, with their states. Every byte is reserved before it is taken.
pub(crate) struct Held<'p> {
    table: GroupTable<'p>,
    /// How many groups have states. The table may have more when rows could not be admitted.
    count: u32,
    /// What the keys don't tell.
    firsts: Arena,
    /// For each group, where that is; empty where keys tell all.
    first_places: Segments<u64>,
    /// For each group that was loaded, when it was first seen.
    seen: Segments<u64>,
    /// For each group, its first row and that row's file; empty where they aren't asked for.
    first_rows: Segments<u64>,
    first_files: Segments<u32>,
    /// Hashes the keys of records.
    hasher: KeyHasher,
    accumulators: Vec<Accumulator>,
    /// What all but the table takes.
    charge: Charge<'p>,
    /// What of it is for a record.
    record_room: RecordRoom,
    /// The group of each row that is being admitted.
    groups: Vec<u32>,
}

/// There is no memory for groups.
#[derive(Debug)]
pub(in crate::exec::operators) struct NoRoom {
    /// What there is.
    pub exceeded: Exceeded,
    /// The aggregate whose states asked for most; none where it was keys.
    pub aggregate: Option<usize>,
}

impl From<Exceeded> for NoRoom {
    fn from(exceeded: Exceeded) -> Self {
        Self { exceeded, aggregate: None }
    }
}

impl<'p> Held<'p> {
    /// No groups, charged to a consumer.
    pub fn new(aggregation: &Aggregation, arbitrator: &'p Arbitrator, consumer: usize) -> Self {
        Self {
            table: GroupTable::new(Charge::new(arbitrator, consumer)),
            count: 0,
            firsts: Arena::default(),
            first_places: Segments::default(),
            seen: Segments::default(),
            first_rows: Segments::default(),
            first_files: Segments::default(),
            hasher: KeyHasher::default(),
            accumulators: accumulators(aggregation),
            charge: Charge::new(arbitrator, consumer),
            record_room: RecordRoom::new(arbitrator.limit()),
            groups: Vec::new(),
        }
    }

    /// Forgets all groups and gives back what they took.
    pub fn clear(&mut self, aggregation: &Aggregation) {
        self.table.clear();
        self.count = 0;
        self.firsts = Arena::default();
        self.first_places = Segments::default();
        self.seen = Segments::default();
        self.first_rows = Segments::default();
        self.first_files = Segments::default();
        self.accumulators = accumulators(aggregation);
        self.record_room.clear();
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
        self.count as usize
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.count == 0
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
        self.table.keys(groups)
    }

    /// What the keys of some groups don't tell; nothing where they tell all.
    pub fn firsts(&self, groups: Range<u32>) -> impl Iterator<Item = &[u8]> {
        told(&self.first_places, groups).map(|place| self.firsts.get(place))
    }

    /// The first rows of some groups; nothing where they aren't asked for.
    pub(super) fn first_rows(&self, groups: Range<u32>) -> impl Iterator<Item = FirstRow> {
        let files = told(&self.first_files, groups.clone());
        told(&self.first_rows, groups).zip(files).map(|(row, file)| FirstRow { row, file })
    }

    /// The results of each aggregate for some groups.
    pub fn finish(&self, groups: Range<u32>) -> Vec<Finished> {
        self.accumulators.iter().map(|accumulator| accumulator.finish(groups.clone(), None)).collect()
    }

    fn may_be_large(&self) -> bool {
        self.accumulators.iter().any(Accumulator::may_be_large)
    }

    /// How large the result of each aggregate is for a group.
    pub(super) fn extents(&self, group: u32) -> impl Iterator<Item = Extent> {
        self.accumulators.iter().map(move |accumulator| accumulator.extent(group))
    }

    /// Whether there is room to make a row of each group, one at a time, where they are; or else no more of it if they were
    /// read from disk, where the record of a group is there twice while its row is made. `copies` says how many texts are
    /// made of what each aggregate comes to.
    pub(super) fn leaves_room(&self, copies: &[u64]) -> bool {
        if !self.may_be_large() {
            return true;
        }
        let costs = (0..self.len() as u32).map(|group| Cost::of(self.extents(group), copies).all());
        let for_record = self.record_room.reserved();
        self.charge.has_room(costs.max().unwrap_or(0).saturating_sub(for_record))
            || self.bytes() - for_record <= 2 * self.record_room.largest()
    }

    /// Notes that the groups stay in memory until rows are made of them.
    pub(super) fn stay(&mut self) {
        self.record_room.give_back(&mut self.charge);
    }

    /// Where the groups from one on end whose results take up to so many bytes together: at most so many, at least one.
    pub fn portion(&self, start: u64, most: u64, bytes: u64) -> u64 {
        let end = (start + most).min(self.len() as u64);
        if !self.may_be_large() {
            return end;
        }
        let (mut next, mut taken) = (start, 0);
        while next < end {
            taken += self.extents(next as u32).map(|extent| extent.column).sum::<u64>();
            if taken > bytes && next > start {
                break;
            }
            next += 1;
        }
        next
    }

    /// When a group that was loaded was first seen.
    pub(super) fn seen(&self, group: u32) -> u64 {
        *self.seen.get(group)
    }

    /// Appends the record of a group, given its key. `times` is how often groups were forgotten before, if this one was
    /// not loaded.
    pub(super) fn encode(&self, layout: &GroupLayout, times: u32, (group, key): (u32, &[u8]), out: &mut Vec<u8>) {
        let head = Record {
            key,
            seen: told(&self.seen, group..group + 1).next().unwrap_or(u64::from(times) << 32 | u64::from(group)),
            first_row: self.first_rows(group..group + 1).next().unwrap_or_default(),
            firsts: self.firsts(group..group + 1).next().unwrap_or_default(),
            states: &[],
        };
        layout.write_head(&head, out);
        self.accumulators.iter().for_each(|accumulator| put_state(accumulator, group, out));
    }

    /// Adds a record: to the group with its key, behind what that has, or as a new group. If there is no room, all groups
    /// have to be forgotten before more is added.
    pub(super) fn admit_record(&mut self, layout: &GroupLayout, record: &[u8]) -> Result<(), NoRoom> {
        let Record { key, seen, first_row, firsts, mut states } = layout.read(record);
        let group = self.table.admit_one(key, self.hasher.hash_one(key))?;
        let count = self.table.len();
        if group >= self.count {
            self.seen.grow_charged(count, &mut self.charge)?;
            *self.seen.get_mut(group) = seen;
            self.note_first(layout, group, first_row, firsts)?;
        }
        let more = self.reserve_record(states)?;
        let mut parts = states;
        let bounds = self.accumulators.iter().map(|accumulator| {
            let part = varint::take_part(&mut parts);
            (accumulator.bytes(), accumulator.merge_bound(count, part))
        });
        let reserved = reserve_states(&mut self.charge, bounds)?;
        for accumulator in &mut self.accumulators {
            accumulator.grow(count);
            accumulator.merge(group, &mut varint::take_part(&mut states));
        }
        self.give_back_unused(reserved);
        if more > 0 {
            self.record_room.settle(&self.accumulators, &[group], &mut self.charge);
        }
        self.count = count as u32;
        Ok(())
    }

    /// Reserves what these states add to a group's record, if that may be large. Gives the bytes of their lists.
    fn reserve_record(&mut self, mut states: &[u8]) -> Result<u64, NoRoom> {
        if !self.accumulators.iter().any(Accumulator::keeps_all) {
            return Ok(0);
        }
        let text = |accumulator: &Accumulator| accumulator.extent_of(varint::take_part(&mut states)).text;
        self.record_room.take(self.accumulators.iter().map(text), &mut self.charge)
    }

    /// Keeps what has to be known of a new group's first row.
    fn note_first(&mut self, layout: &GroupLayout, group: u32, first: FirstRow, firsts: &[u8]) -> Result<(), Exceeded> {
        if layout.names_rows {
            self.first_rows.grow_charged(group as usize + 1, &mut self.charge)?;
            self.first_files.grow_charged(group as usize + 1, &mut self.charge)?;
            *self.first_rows.get_mut(group) = first.row;
            *self.first_files.get_mut(group) = first.file;
        }
        if layout.has_firsts() {
            self.first_places.grow_charged(group as usize + 1, &mut self.charge)?;
            if let Some(bytes) = self.firsts.needs(firsts) {
                self.charge.take(bytes as u64)?;
            }
            *self.first_places.get_mut(group) = self.firsts.push(firsts);
        }
        Ok(())
    }

    /// Makes the group that an aggregate over the whole input has, even without rows.
    pub(super) fn begin_whole(&mut self, layout: &GroupLayout) -> Result<(), Exceeded> {
        let bound: u64 = self.accumulators.iter().map(|accumulator| accumulator.merge_bound(1, &[])).sum();
        self.charge.take(bound + self.first_rows.bound(1) + self.first_files.bound(1))?;
        self.table.admit_one(&[], 0)?;
        if layout.names_rows {
            self.first_rows.grow(1);
            self.first_files.grow(1);
        }
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.grow(1));
        self.count = 1;
        Ok(())
    }

    /// Drops what only the admission of rows needs.
    pub fn complete(&mut self) {
        self.table.complete();
    }

    /// Whether some rows of a piece are sure to fit.
    pub(super) fn fits(&self, layout: &GroupLayout, piece: &Piece, rows: &Range<usize>) -> bool {
        let firsts = if layout.has_firsts() { piece.firsts_bytes(rows) } else { 0 };
        let arguments = picked(&piece.arguments, piece.rows, rows);
        let fits = |groups: usize, bytes: usize| {
            let count = self.table.len() + groups;
            let states = self.accumulators.iter().zip(arguments.iter());
            let states: u64 =
                states.map(|(accumulator, args)| accumulator.bound(count, args) - accumulator.bytes()).sum();
            let record = self.record_room.growth(list_bytes(&self.accumulators, &arguments).sum());
            let rows = match layout.names_rows {
                true => growth(&self.first_rows, count) + growth(&self.first_files, count),
                false => 0,
            };
            let firsts = match layout.has_firsts() {
                true => growth(&self.first_places, count) + self.firsts.growth(groups, firsts),
                false => 0,
            };
            self.charge.has_room(self.table.growth_with_keys(groups, bytes) + states + record + rows + firsts)
        };
        if fits(rows.len(), piece.keys.bytes(rows.clone())) {
            return true;
        }
        let (groups, bytes) = self.table.unknown(&piece.keys, &piece.hashes, rows.clone());
        fits(groups, bytes)
    }

    /// Adds some rows of a piece. If it fails all groups have to be drained or cleared before more is added.
    pub(super) fn admit(&mut self, layout: &GroupLayout, piece: &Piece, rows: Range<usize>) -> Result<(), NoRoom> {
        self.number(layout, piece, rows.clone())?;
        self.add(piece, &rows)?;
        self.count = self.table.len() as u32;
        Ok(())
    }

    /// Finds or begins the group of each row.
    fn number(&mut self, layout: &GroupLayout, piece: &Piece, rows: Range<usize>) -> Result<(), Exceeded> {
        let before = self.len();
        self.groups.clear();
        self.table.admit_rows(&piece.keys, &piece.hashes, rows.clone(), &mut self.groups)?;
        let new = self.table.len() - before;
        if new == 0 || !layout.has_firsts() && !layout.names_rows {
            return Ok(());
        }
        let mut next = before as u32;
        for (at, row) in rows.enumerate() {
            if self.groups[at] != next {
                continue;
            }
            let firsts = if layout.has_firsts() { piece.firsts.row(row) } else { &[] };
            self.note_first(layout, next, layout.first_row(&piece.origin, row), firsts)?;
            next += 1;
        }
        Ok(())
    }

    /// Adds to the states of the groups that the rows were found to have.
    fn add(&mut self, piece: &Piece, rows: &Range<usize>) -> Result<(), NoRoom> {
        let (count, arguments) = (self.table.len(), picked(&piece.arguments, piece.rows, rows));
        let more = self.record_room.take(list_bytes(&self.accumulators, &arguments), &mut self.charge)?;
        let pairs = self.accumulators.iter().zip(arguments.iter());
        let bounds = pairs.map(|(accumulator, args)| (accumulator.bytes(), accumulator.bound(count, args)));
        let reserved = reserve_states(&mut self.charge, bounds)?;
        for (accumulator, args) in self.accumulators.iter_mut().zip(arguments.iter()) {
            accumulator.update(&self.groups, count, args);
        }
        self.give_back_unused(reserved);
        if more > 0 {
            self.record_room.settle(&self.accumulators, &self.groups, &mut self.charge);
        }
        Ok(())
    }

    /// Gives back what was reserved for states but isn't held now.
    fn give_back_unused(&mut self, reserved: u64) {
        let after: u64 = self.accumulators.iter().map(Accumulator::bytes).sum();
        self.charge.give_back(reserved.saturating_sub(after));
    }
}

/// Reserves what states take at most, given what each aggregate holds and what it may hold then: all at once, since if
/// there is not enough for one of them, none must have changed. Gives what they may hold together.
fn reserve_states(charge: &mut Charge<'_>, states: impl Iterator<Item = (u64, u64)>) -> Result<u64, NoRoom> {
    let (mut held, mut bound, mut largest) = (0, 0, (0, None));
    for (aggregate, (before, most)) in states.enumerate() {
        (held, bound) = (held + before, bound + most);
        largest = largest.max((most.saturating_sub(before), Some(aggregate)));
    }
    let taken = charge.take(bound.saturating_sub(held));
    taken.map(|()| bound).map_err(|exceeded| NoRoom { exceeded, aggregate: largest.1 })
}

/// What a list has for some groups; nothing if it isn't kept.
fn told<T: Copy>(list: &Segments<T>, groups: Range<u32>) -> impl Iterator<Item = T> {
    let groups = if list.is_empty() { 0..0 } else { groups };
    list.range(groups).copied()
}

/// The most that making a list longer takes, in bytes.
fn growth<T>(list: &Segments<T>, count: usize) -> u64 {
    list.bound(count) - list.bytes()
}

impl Piece {
    /// The bytes of what the keys of some rows don't tell.
    fn firsts_bytes(&self, rows: &Range<usize>) -> usize {
        rows.clone().map(|row| self.firsts.row(row).len()).sum()
    }
}

/// For each aggregate, its arguments in some of `all` rows.
pub(in crate::exec::operators) fn picked<'a>(
    arguments: &'a [Vec<Column>],
    all: usize,
    rows: &Range<usize>,
) -> Cow<'a, [Vec<Column>]> {
    if rows.len() == all {
        return Cow::Borrowed(arguments);
    }
    let rows: Vec<u32> = rows.clone().map(|row| row as u32).collect();
    arguments.iter().map(|args| args.iter().map(|column| column.take(&rows)).collect()).collect()
}
