//! Groups of rows with equal keys, numbered as they are first seen.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{Arena, Keys};
use crate::exec::memory::{Charge, Exceeded};

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
    groups: Vec<Group>,
    keys: Arena,
    charge: Charge<'p>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    hash: u64,
    key: u64,
}

/// Fewest groups that there is room for.
const FEWEST: usize = 14;

impl<'p> GroupTable<'p> {
    /// No groups, charged to the consumer of `charge`.
    pub fn new(charge: Charge<'p>) -> Self {
        Self { table: HashTable::new(), groups: Vec::new(), keys: Arena::default(), charge }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many groups there is room for before the table grows.
    pub fn room(&self) -> usize {
        self.groups.capacity()
    }

    /// The key of a group.
    pub fn key(&self, group: u32) -> &[u8] {
        self.keys.get(self.groups[group as usize].key)
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
            let Group { hash: other, key: place } = self.groups[*group as usize];
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
        self.table = HashTable::new();
        let (mut groups, keys) = (std::mem::take(&mut self.groups), std::mem::take(&mut self.keys));
        for (number, group) in groups.iter_mut().enumerate() {
            let checksum = crc32fast::hash(keys.get(group.key));
            group.hash = u64::from(checksum) << 32 | number as u64;
        }
        let parts = |group: &Group| (group.hash >> 32, keys.get(group.key));
        groups.sort_unstable_by(|left, right| parts(left).cmp(&parts(right)));
        for group in &groups {
            let (checksum, key) = parts(group);
            tell(group.hash as u32, [&(checksum as u32).to_be_bytes(), key])?;
        }
        self.charge.give_back(self.charge.held());
        Ok(())
    }

    /// Drops what only finding groups needs: from now on they are only looked at.
    pub fn complete(&mut self) {
        self.table = HashTable::new();
        self.charge.give_back(table_bytes(self.groups.capacity()));
    }

    /// Forgets the groups from number `count` on.
    pub fn truncate(&mut self, count: usize) {
        let all = &self.groups;
        for group in count..all.len() {
            let found = self.table.find_entry(all[group].hash, |other| *other as usize == group);
            if let Ok(entry) = found {
                entry.remove();
            }
        }
        self.groups.truncate(count);
    }

    fn begin(&mut self, key: &[u8], hash: u64) -> Result<u32, Exceeded> {
        if self.groups.len() == self.groups.capacity() {
            self.grow()?;
        }
        if let Some(bytes) = self.keys.needs(key) {
            self.charge.take(bytes as u64)?;
        }
        let group = u32::try_from(self.groups.len()).expect("2^32 groups take more memory than machines have");
        self.groups.push(Group { hash, key: self.keys.push(key) });
        let all = &self.groups;
        self.table.insert_unique(hash, group, |group| all[*group as usize].hash);
        Ok(group)
    }

    /// Doubles the room. While groups move, both the old and the new tables are held.
    fn grow(&mut self) -> Result<(), Exceeded> {
        let (old, room) = (self.groups.capacity(), (2 * self.groups.len()).max(FEWEST));
        self.charge.take(bytes(room))?;
        self.groups.reserve_exact(room - self.groups.len());
        let all = &self.groups;
        self.table.reserve(room - all.len(), |group| all[*group as usize].hash);
        self.charge.give_back(bytes(old));
        Ok(())
    }
}

/// Bytes of the table and the list of `room` groups: an id and a control byte for each slot, at most 7 of 8 of them
/// filled.
fn bytes(room: usize) -> u64 {
    table_bytes(room) + (room * size_of::<Group>()) as u64
}

fn table_bytes(room: usize) -> u64 {
    if room == 0 {
        return 0;
    }
    let slots = (room * 8).div_ceil(7).next_power_of_two();
    (slots * (size_of::<u32>() + 1)) as u64
}
