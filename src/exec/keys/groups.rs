//! Groups of rows with equal keys, numbered as they are first seen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{Arena, Keys};
use crate::exec::memory::{Charge, Exceeded, Segments};

/// Hashes keys: made by workers, long before the table is asked. Nothing that a run gives depends on hashes.
#[derive(Clone, Debug, Default)]
pub struct KeyHasher(RandomState);

impl KeyHasher {
    /// The hash of every key.
    pub fn hash(&self, keys: &Keys) -> Vec<u64> {
        (0..keys.len()).map(|row| self.0.hash_one(keys.key(row))).collect()
    }
}

/// The groups seen so far. Every byte is reserved before it is taken.
#[derive(Debug)]
pub struct GroupTable<'p> {
    table: HashTable<u32>,
    groups: Segments<Group>,
    keys: Arena,
    /// How many groups the table has room for.
    room: usize,
    charge: Charge<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Group {
    hash: u64,
    key: u64,
}

/// Fewest groups that there is room for.
const FEWEST: usize = 14;

impl<'p> GroupTable<'p> {
    /// No groups, charged to the consumer of `charge`.
    pub fn new(charge: Charge<'p>) -> Self {
        Self { table: HashTable::new(), groups: Segments::default(), keys: Arena::default(), room: 0, charge }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The most that is taken for so many more groups, in bytes, but for their keys.
    pub fn growth(&self, groups: usize) -> u64 {
        let count = self.groups.len() + groups;
        let table = if count > self.room { table_bytes(count.max(2 * self.room)) } else { 0 };
        table + self.groups.bound(count) - self.groups.bytes()
    }

    /// The key of a group.
    pub fn key(&self, group: u32) -> &[u8] {
        self.keys.get(self.groups.get(group).key)
    }

    /// What is held, in bytes.
    pub fn held(&self) -> u64 {
        self.charge.held()
    }

    /// Appends the group of each row; a key that is new begins a group. `hashes` are those of the keys, always by the
    /// same hasher.
    pub fn admit(&mut self, keys: &Keys, hashes: &[u64], groups: &mut Vec<u32>) -> Result<(), Exceeded> {
        self.admit_rows(keys, hashes, 0..hashes.len(), groups)
    }

    /// The same for some of the rows.
    pub fn admit_rows(
        &mut self,
        keys: &Keys,
        hashes: &[u64],
        rows: Range<usize>,
        groups: &mut Vec<u32>,
    ) -> Result<(), Exceeded> {
        groups.reserve(rows.len());
        for row in rows {
            groups.push(self.admit_one(keys.key(row), hashes[row])?);
        }
        Ok(())
    }

    /// The group of one key; one that is new begins a group, whose number is the [`len`](Self::len) from before.
    pub fn admit_one(&mut self, key: &[u8], hash: u64) -> Result<u32, Exceeded> {
        let known = |group: &u32| {
            let Group { hash: other, key: place } = *self.groups.get(*group);
            other == hash && self.keys.get(place) == key
        };
        match self.table.find(hash, known) {
            Some(group) => Ok(*group),
            None => self.begin(key, hash),
        }
    }

    /// Forgets all groups, and tells each of them before: its number, and its key in two parts, a checksum of the key and
    /// the key itself. They come in the order of what these parts are together. That order is as good as any other, and
    /// finding it takes no memory.
    pub fn drain<E>(&mut self, mut tell: impl FnMut(u32, [&[u8]; 2]) -> Result<(), E>) -> Result<(), E> {
        (self.table, self.room) = (HashTable::new(), 0);
        let (mut groups, keys) = (std::mem::take(&mut self.groups), std::mem::take(&mut self.keys));
        let parts = |group: &Group| (group.hash >> 32, keys.get(group.key));
        let mut number = 0;
        for piece in groups.pieces_mut() {
            for group in &mut *piece {
                let checksum = crc32fast::hash(keys.get(group.key));
                group.hash = u64::from(checksum) << 32 | number;
                number += 1;
            }
            piece.sort_unstable_by(|left, right| parts(left).cmp(&parts(right)));
        }
        // The piece with the first group is on top.
        let mut heap: BinaryHeap<_> = groups
            .pieces_mut()
            .filter_map(|piece| piece.split_first())
            .map(|(group, rest)| Reverse((parts(group), group, rest)))
            .collect();
        while let Some(Reverse(((checksum, key), group, rest))) = heap.pop() {
            tell(group.hash as u32, [&(checksum as u32).to_be_bytes(), key])?;
            heap.extend(rest.split_first().map(|(group, rest)| Reverse((parts(group), group, rest))));
        }
        self.charge.give_back(self.charge.held());
        Ok(())
    }

    /// Drops what only finding groups needs: from now on they are only looked at.
    pub fn complete(&mut self) {
        self.table = HashTable::new();
        self.charge.give_back(table_bytes(self.room));
        self.room = 0;
    }

    /// Forgets the groups from number `count` on.
    pub fn truncate(&mut self, count: usize) {
        for group in count as u32..self.groups.len() as u32 {
            let found = self.table.find_entry(self.groups.get(group).hash, |other| *other == group);
            if let Ok(entry) = found {
                entry.remove();
            }
        }
        self.groups.truncate(count);
    }

    fn begin(&mut self, key: &[u8], hash: u64) -> Result<u32, Exceeded> {
        if self.groups.len() == self.room {
            self.grow()?;
        }
        let (held, bound) = (self.groups.bytes(), self.groups.bound(self.groups.len() + 1));
        let more = bound - held + self.keys.needs(key).unwrap_or(0) as u64;
        if more > 0 {
            self.charge.take(more)?;
        }
        let group = u32::try_from(self.groups.len()).expect("2^32 groups take more memory than machines have");
        self.groups.push(Group { hash, key: self.keys.push(key) });
        if bound > held {
            self.charge.give_back(bound - self.groups.bytes());
        }
        let all = &self.groups;
        self.table.insert_unique(hash, group, |group| all.get(*group).hash);
        Ok(group)
    }

    /// Doubles the room of the table. While groups move, both the old and the new one are held.
    fn grow(&mut self) -> Result<(), Exceeded> {
        let room = (2 * self.room).max(FEWEST);
        self.charge.take(table_bytes(room))?;
        let all = &self.groups;
        self.table.reserve(room - all.len(), |group| all.get(*group).hash);
        self.charge.give_back(table_bytes(self.room));
        self.room = room;
        Ok(())
    }
}

/// Bytes of a table with room for `room` groups: an id and a control byte for each slot, at most 7 of 8 of them filled.
fn table_bytes(room: usize) -> u64 {
    if room == 0 {
        return 0;
    }
    let slots = (room * 8).div_ceil(7).next_power_of_two();
    (slots * (size_of::<u32>() + 1)) as u64
}
