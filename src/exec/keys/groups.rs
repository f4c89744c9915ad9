//! Groups of rows with equal keys, numbered as they are first seen.
//!
//! The table is one list of slots. A slot holds 32 bits of a hash and where the record of a key is; the hash times the
//! number of slots says where a key belongs, and the first free slot from there on takes it. So slots stand in the order
//! of their hashes, nearly, and a larger list is filled from front to back. Most of what finding a group takes is waiting
//! for memory; so a few rows are looked up at once: first the slots of all, then the records.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::Keys;
use super::records::{Records, Spot};
use crate::exec::memory::{Charge, Exceeded};

/// Hashes keys: made by workers, long before the table is asked. Nothing that a run gives depends on hashes.
#[derive(Clone, Debug, Default)]
pub struct KeyHasher(RandomState);

impl KeyHasher {
    /// The hash of every key.
    pub fn hash(&self, keys: &Keys) -> Vec<u64> {
        (0..keys.len()).map(|row| self.hash_one(keys.key(row))).collect()
    }

    /// The hash of one key.
    pub fn hash_one(&self, key: &[u8]) -> u64 {
        self.0.hash_one(key)
    }
}

/// The groups seen so far. Every byte is reserved before it is taken.
#[derive(Debug)]
pub struct GroupTable<'p> {
    slots: Vec<Slot>,
    records: Records,
    /// Where the records of groups 0, [`EVERY`], 2 × [`EVERY`], … are.
    index: Vec<Spot>,
    count: u32,
    charge: Charge<'p>,
}

/// A place for a key: the hash, then the spot of its record; 0 if it is free.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Slot(u64);

/// Fewest slots.
const FEWEST: usize = 16;
/// Records are walked from every so manieth.
const EVERY: u32 = 32;
/// How many rows are looked up at once.
const AT_ONCE: usize = 32;

impl Slot {
    const FREE: Self = Self(0);

    fn new(hash: u32, spot: Spot) -> Self {
        Self(u64::from(hash) << 32 | u64::from(spot.to_bits()))
    }

    fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn spot(self) -> Spot {
        Spot::from_bits(self.0 as u32)
    }
}

/// The part of a hash that the table goes by: all bits of it count.
fn short(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Where a key with this hash belongs among so many slots.
fn home(hash: u32, slots: usize) -> usize {
    ((u64::from(hash) * slots as u64) >> 32) as usize
}

impl<'p> GroupTable<'p> {
    /// No groups, charged to the consumer of `charge`.
    pub fn new(charge: Charge<'p>) -> Self {
        Self { slots: Vec::new(), records: Records::default(), index: Vec::new(), count: 0, charge }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The most that is taken for so many more groups, in bytes, but for their keys.
    pub fn growth(&self, groups: usize) -> u64 {
        let count = self.len() + groups;
        let (mut before, mut slots) = (self.slots.len(), self.slots.len());
        while room(slots) < count {
            (before, slots) = (slots, larger(slots));
        }
        // While slots move both lists are held.
        let list = if slots > self.slots.len() { slot_bytes(slots) + slot_bytes(before) } else { slot_bytes(before) };
        let index = 2 * (count / EVERY as usize + 4) * size_of::<Spot>();
        list - slot_bytes(self.slots.len()) + index as u64
    }

    /// The same with their keys, of so many bytes in all.
    pub fn growth_with_keys(&self, groups: usize, keys: usize) -> u64 {
        self.growth(groups) + self.records.growth(groups, keys)
    }

    /// How many of some rows have a key that no group has, and the bytes of these keys.
    pub fn unknown(&self, keys: &Keys, hashes: &[u64], rows: Range<usize>) -> (usize, usize) {
        let unknown = rows.filter(|row| self.find(keys.key(*row), short(hashes[*row])).is_none());
        unknown.fold((0, 0), |(count, bytes), row| (count + 1, bytes + keys.key(row).len()))
    }

    /// What is held, in bytes.
    pub fn held(&self) -> u64 {
        self.charge.held()
    }

    /// The key of a group. For many of them [`keys`](Self::keys) is faster.
    pub fn key(&self, group: u32) -> &[u8] {
        self.records.key(self.spot(group))
    }

    /// The keys of some groups, in order.
    pub fn keys(&self, groups: Range<u32>) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut next = (!groups.is_empty()).then(|| self.spot(groups.start));
        groups.map(move |_| {
            let spot = next.expect("it is one of several");
            next = self.records.next(spot);
            self.records.key(spot)
        })
    }

    fn spot(&self, group: u32) -> Spot {
        let first = self.index[(group / EVERY) as usize];
        (0..group % EVERY).fold(first, |spot, _| self.records.next(spot).expect("there is a record for each group"))
    }

    /// Appends the group of each of some rows; a key that is new begins a group. `hashes` are those of all keys, always by
    /// the same hasher.
    pub fn admit_rows(
        &mut self,
        keys: &Keys,
        hashes: &[u64],
        rows: Range<usize>,
        groups: &mut Vec<u32>,
    ) -> Result<(), Exceeded> {
        groups.reserve(rows.len());
        for start in rows.clone().step_by(AT_ONCE) {
            let rows = start..rows.end.min(start + AT_ONCE);
            let likely = self.likely(&hashes[rows.clone()]);
            for (row, (spot, group)) in rows.zip(likely) {
                let key = keys.key(row);
                let is_known = spot.is_some_and(|spot| self.records.key(spot) == key);
                groups.push(if is_known { group } else { self.admit_one(key, hashes[row])? });
            }
        }
        Ok(())
    }

    /// For each of some hashes, the record that its key has in the simplest case, and the group.
    fn likely(&self, hashes: &[u64]) -> [(Option<Spot>, u32); AT_ONCE] {
        let mut slots = [Slot::FREE; AT_ONCE];
        if !self.slots.is_empty() {
            for (slot, hash) in slots.iter_mut().zip(hashes) {
                let hash = short(*hash);
                let found = self.slots[home(hash, self.slots.len())];
                *slot = if found.hash() == hash { found } else { Slot::FREE };
            }
        }
        slots.map(|slot| match slot {
            Slot::FREE => (None, 0),
            slot => (Some(slot.spot()), self.records.number(slot.spot())),
        })
    }

    /// The group of one key; one that is new begins a group, whose number is the [`len`](Self::len) from before.
    pub fn admit_one(&mut self, key: &[u8], hash: u64) -> Result<u32, Exceeded> {
        let hash = short(hash);
        if let Some(group) = self.find(key, hash) {
            return Ok(group);
        }
        if self.len() >= room(self.slots.len()) {
            self.grow()?;
        }
        self.begin(key, hash)
    }

    fn find(&self, key: &[u8], hash: u32) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = home(hash, self.slots.len());
        loop {
            let slot = self.slots[place];
            if slot == Slot::FREE {
                return None;
            }
            if slot.hash() == hash && self.records.key(slot.spot()) == key {
                return Some(self.records.number(slot.spot()));
            }
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
    }

    fn begin(&mut self, key: &[u8], hash: u32) -> Result<u32, Exceeded> {
        if let Some(bytes) = self.records.needs(key) {
            self.charge.take(bytes as u64)?;
        }
        if self.index.len() == self.index.capacity() && self.count.is_multiple_of(EVERY) {
            self.grow_index()?;
        }
        let Some(spot) = self.records.push(self.count, key) else {
            // Tens of gigabytes of keys.
            return Err(self.charge.take(u64::MAX).expect_err("no limit leaves room for so much"));
        };
        if self.count.is_multiple_of(EVERY) {
            self.index.push(spot);
        }
        insert(&mut self.slots, Slot::new(hash, spot));
        self.count += 1;
        Ok(self.count - 1)
    }

    /// Makes the list of slots larger by half. While they move both lists are held.
    fn grow(&mut self) -> Result<(), Exceeded> {
        let (old, room) = (self.slots.len(), larger(self.slots.len()));
        self.charge.take(slot_bytes(room))?;
        self.resize(room);
        self.charge.give_back(slot_bytes(old));
        Ok(())
    }

    fn resize(&mut self, room: usize) {
        let before = std::mem::replace(&mut self.slots, vec![Slot::FREE; room]);
        before.into_iter().filter(|slot| *slot != Slot::FREE).for_each(|slot| insert(&mut self.slots, slot));
    }

    fn grow_index(&mut self) -> Result<(), Exceeded> {
        const FEWEST: usize = 4;
        let bytes = |count: usize| (count * size_of::<Spot>()) as u64;
        let (old, room) = (self.index.capacity(), (2 * self.index.capacity()).max(FEWEST));
        self.charge.take(bytes(room))?;
        self.index.reserve_exact(room - self.index.len());
        self.charge.give_back(bytes(old));
        Ok(())
    }

    /// Forgets all groups, and tells each of them before: its number, and its key in two parts, a checksum of the key and
    /// the key itself. They come in the order of what these parts are together. That order is as good as any other, and
    /// finding it takes no memory.
    pub fn drain<E>(&mut self, mut tell: impl FnMut(u32, [&[u8]; 2]) -> Result<(), E>) -> Result<(), E> {
        let (mut slots, records) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.records));
        // There are more slots than records, so the list holds all of them.
        slots.clear();
        slots.extend(records.spots().map(|spot| Slot::new(crc32fast::hash(records.key(spot)), spot)));
        let parts = |slot: &Slot| (slot.hash(), records.key(slot.spot()));
        slots.sort_unstable_by(|left, right| parts(left).cmp(&parts(right)));
        for slot in &slots {
            let (checksum, key) = parts(slot);
            tell(records.number(slot.spot()), [&checksum.to_be_bytes(), key])?;
        }
        drop((slots, records));
        self.clear();
        Ok(())
    }

    /// Drops what only finding groups needs: from now on they are only looked at.
    pub fn complete(&mut self) {
        let slots = std::mem::take(&mut self.slots);
        self.charge.give_back(slot_bytes(slots.len()));
    }

    /// Forgets all groups and gives back what they took.
    pub fn clear(&mut self) {
        (self.slots, self.records, self.index, self.count) = (Vec::new(), Records::default(), Vec::new(), 0);
        self.charge.give_back(self.charge.held());
    }
}

/// Puts a key into the first free slot from where it belongs. There is one.
fn insert(slots: &mut [Slot], slot: Slot) {
    let mut place = home(slot.hash(), slots.len());
    while slots[place] != Slot::FREE {
        place = if place + 1 == slots.len() { 0 } else { place + 1 };
    }
    slots[place] = slot;
}

/// For how many groups so many slots are enough.
fn room(slots: usize) -> usize {
    slots / 4 * 3
}

/// The next larger list of slots: by half.
fn larger(slots: usize) -> usize {
    (slots + slots / 2).max(FEWEST)
}

fn slot_bytes(slots: usize) -> u64 {
    (slots * size_of::<Slot>()) as u64
}
