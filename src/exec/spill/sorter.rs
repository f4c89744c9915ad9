//! Puts records that come in any order into the order of their keys.

use super::disk::Disk;
use super::{Merge, MergeError, Record, RunWriter, Spilled, prefix};
use crate::exec::Failure;
use crate::exec::memory::Charge;

/// Takes records in any order and gives them back in the order of their keys; equal keys as they came. It fills what
/// memory there is below the soft threshold, and writes a run whenever that is full.
pub struct Sorter<'p> {
    spilled: Spilled<'p>,
    charge: Charge<'p>,
    /// Keys and payloads, one behind the other.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Most bytes to hold.
    most: u64,
}

/// Records in memory, in order.
pub(super) struct Held {
    bytes: Vec<u8>,
    entries: std::vec::IntoIter<Entry>,
}

/// A record in memory. They order as the records are to come.
#[derive(Clone, Copy)]
struct Entry {
    /// The first bytes of its key as a number, which decides most comparisons.
    prefix: u64,
    start: usize,
    key_end: usize,
    end: usize,
}

/// Fewest bytes and entries that there is room for.
const FEWEST: (usize, usize) = (4096, 64);

impl<'p> Sorter<'p> {
    /// No records yet. What is held is charged to `charge`; what is written counts as spilled by `consumer`.
    pub fn new(disk: &'p Disk<'p>, consumer: usize, charge: Charge<'p>) -> Self {
        Self { spilled: Spilled::new(disk, consumer), charge, bytes: Vec::new(), entries: Vec::new(), most: u64::MAX }
    }

    /// One that holds at most so many bytes, but for a few records, however much memory there is.
    pub fn at_most(self, bytes: u64) -> Self {
        Self { most: bytes, ..self }
    }

    /// Adds a record. Exceeds the memory limit only if there is no room for this one alone.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), MergeError> {
        self.push_parts(key, &[payload])
    }

    /// The same for a payload that is these parts one behind the other.
    pub fn push_parts(&mut self, key: &[u8], payload: &[&[u8]]) -> Result<(), MergeError> {
        let wanted = key.len() + payload.iter().map(|part| part.len()).sum::<usize>();
        if !self.has_room(wanted) && !self.grow(wanted) {
            self.write_run()?;
            self.make_room(wanted)?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        payload.iter().for_each(|part| self.bytes.extend_from_slice(part));
        let entry =
            Entry { prefix: (prefix(key) >> 64) as u64, start, key_end: start + key.len(), end: start + wanted };
        self.entries.push(entry);
        Ok(())
    }

    /// Writes what is held, and gives back the memory that it took.
    pub fn release(&mut self) -> Result<(), Failure> {
        self.write_run()?;
        (self.bytes, self.entries) = (Vec::new(), Vec::new());
        self.charge.give_back(self.charge.held());
        Ok(())
    }

    /// All records in order.
    pub fn merge(mut self) -> Result<Merge<'p>, MergeError> {
        self.release()?;
        self.spilled.merge(self.charge)
    }

    /// All records in order, without a detour over the disk if none were written there. What is held stays charged until
    /// they are read.
    pub fn sorted(mut self) -> Result<Merge<'p>, MergeError> {
        if !self.spilled.is_empty() {
            return self.merge();
        }
        self.sort();
        let Self { spilled, charge, bytes, entries, .. } = self;
        Ok(Merge::of_held(spilled.disk, Held { bytes, entries: entries.into_iter() }, charge))
    }

    fn has_room(&self, wanted: usize) -> bool {
        self.bytes.capacity() - self.bytes.len() >= wanted && self.entries.len() < self.entries.capacity()
    }

    /// Doubles the room, if memory is not tight. While records move, both the old and the new room are held.
    fn grow(&mut self, wanted: usize) -> bool {
        let room = ((self.bytes.len() + wanted).max(2 * self.bytes.capacity()), 2 * self.entries.capacity());
        let room = (room.0.max(FEWEST.0), room.1.max(FEWEST.1));
        let taken = cost(room) <= self.most && self.charge.take_below_soft(cost(room));
        if taken {
            self.resize(room);
        }
        taken
    }

    /// Makes room for one record where there is none; for a few, if that is possible.
    fn make_room(&mut self, wanted: usize) -> Result<(), MergeError> {
        if !self.has_room(wanted) {
            let few = (wanted.max(FEWEST.0), FEWEST.1);
            if self.entries.capacity() == 0 && self.charge.take(cost(few)).is_ok() {
                self.resize(few);
                return Ok(());
            }
            let room = (wanted.max(self.bytes.capacity()), self.entries.capacity().max(1));
            let frame = self.spilled.disk.frame() as u64;
            let refused = |exceeded| MergeError::new(wanted as u64, frame, exceeded);
            self.charge.take(cost(room)).map_err(refused)?;
            self.resize(room);
        }
        Ok(())
    }

    fn resize(&mut self, (bytes, entries): (usize, usize)) {
        let before = cost((self.bytes.capacity(), self.entries.capacity()));
        self.bytes.reserve_exact(bytes - self.bytes.len());
        self.entries.reserve_exact(entries - self.entries.len());
        self.charge.give_back(before);
    }

    fn write_run(&mut self) -> Result<(), Failure> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.sort();
        let Self { spilled, bytes, entries, .. } = self;
        let fill = |writer: &mut RunWriter<'p>| {
            entries.iter().try_for_each(|entry| writer.push(entry.key(bytes), entry.payload(bytes)))
        };
        spilled.write(fill)?;
        bytes.clear();
        entries.clear();
        Ok(())
    }

    fn sort(&mut self) {
        let Self { bytes, entries, .. } = self;
        entries.sort_unstable_by(|left, right| {
            let by_prefix = left.prefix.cmp(&right.prefix);
            by_prefix.then_with(|| left.key(bytes).cmp(right.key(bytes))).then(left.start.cmp(&right.start))
        });
    }
}

impl Entry {
    fn key<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start..self.key_end]
    }

    fn payload<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.key_end..self.end]
    }
}

impl Held {
    /// The next record: key and payload.
    pub fn next(&mut self) -> Option<Record<'_>> {
        let entry = self.entries.next()?;
        Some((entry.key(&self.bytes), entry.payload(&self.bytes)))
    }
}

/// Room for so many bytes and entries, in bytes.
fn cost((bytes, entries): (usize, usize)) -> u64 {
    (bytes + entries * size_of::<Entry>()) as u64
}
