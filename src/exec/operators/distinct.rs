//! Keeps the first row of each key, on disk as far as what is kept doesn't fit the memory limit.
//!
//! Workers turn a batch into resting rows and their keys with hashes; a row whose key another one of its batch has is left
//! out at once. The finisher asks a table for each key, block after block, so that the first row in input order wins, and
//! keeps the rows that are first as they come.
//!
//! When memory is tight the rows go to disk first, as they came: the table still knows all keys. If that is not enough the
//! keys go, too, each with the number of its row, and the table begins anew, so it may keep another row for a key that is
//! on disk. In the end the keys are merged. The first record of each key, which has the lowest number, is that of the
//! first row; the numbers of the others are put in order, and their rows are left out while all are read back.

use std::sync::Arc;

use hashbrown::HashTable;

use crate::diagnostics::Span;
use crate::exec::Failure;
use crate::exec::batch::{Batch, Bitmap, Column};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::keys::{GroupTable, KeyHasher, Keys, NoKey};
use crate::exec::memory::{Arbitrator, Charge, Exceeded};
use crate::exec::rest::{Chunk, Codec, Rows, picked};
use crate::exec::spill::{Disk, Merge, MergeError, Sorter, Spilled};
use crate::plan::physical::{DistinctOperator, Operator};

use super::buffer::{
    Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Full, Others, Portion, Scan, Seal,
};
use super::park::Parked;
use super::read_back::ReadBack;

/// A distinct's two sides.
pub(super) fn new<'p>(
    spec: &DistinctOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let collector = DistinctCollector {
        key: spec.key.clone(),
        names: spec.key.iter().map(|column| spec.schema.columns[*column].name.clone()).collect(),
        key_spans: spec.key_spans.clone(),
        hasher: KeyHasher::default(),
        codec: Arc::clone(&context.codec),
    };
    let room = Room { arbitrator: context.arbitrator, disk: context.disk, consumer: spec.rest.consumer };
    let buffer = Distinct {
        operator: context.operator,
        room,
        seen: GroupTable::new(room.charge()),
        forgotten: 0,
        rows: Rows::default(),
        charge: room.charge(),
        spilled_keys: room.spilled(),
        spilled_rows: room.spilled(),
    };
    (Arc::new(collector), Box::new(buffer))
}

/// Where a distinct has its memory from, and its place on disk.
#[derive(Clone, Copy)]
struct Room<'p> {
    arbitrator: &'p Arbitrator,
    disk: &'p Disk<'p>,
    consumer: usize,
}

impl<'p> Room<'p> {
    fn charge(self) -> Charge<'p> {
        Charge::new(self.arbitrator, self.consumer)
    }

    fn spilled(self) -> Spilled<'p> {
        Spilled::new(self.disk, self.consumer)
    }
}

/// The side that workers share.
struct DistinctCollector {
    key: Vec<usize>,
    /// The names of these columns.
    names: Vec<String>,
    /// Where the columns of the key are named.
    key_spans: Vec<Span>,
    hasher: KeyHasher,
    codec: Arc<Codec>,
}

/// What a block gives besides its rows: one entry a batch.
type Part = Vec<Candidates>;

/// The rows of a batch that may be the first with their key.
struct Candidates {
    keys: Keys,
    hashes: Vec<u64>,
    /// The positions of these rows among `keys`, ascending.
    rows: Vec<u32>,
}

impl Collector for DistinctCollector {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let stored = |column: &usize| batch.columns[*column].clone().expect("pruning keeps the columns of a key");
        let columns: Vec<Column> = self.key.iter().map(stored).collect();
        let (keys, refused) = Keys::encode(&columns, &Bitmap::new_set(batch.rows));
        let hashes = self.hasher.hash(&keys);
        let rows = first_rows(&keys, &hashes, &refused);
        let encoded = match rows.len() == batch.rows {
            true => self.codec.encode(batch, &mut out.chunk),
            false => self.codec.encode(&batch.take(&rows), &mut out.chunk),
        };
        encoded.map_err(|error| CollectError::Unwritable(error).at(|row| rows[row] as usize))?;
        out.part::<Part>().push(Candidates { keys, hashes, rows });
        Ok(Admitted { faults: refused.iter().map(|no_key| self.unkeyed(no_key)).collect(), ..Admitted::default() })
    }
}

impl DistinctCollector {
    fn unkeyed(&self, no_key: &NoKey) -> Fault {
        let (name, span) = (&self.names[no_key.column], self.key_spans[no_key.column]);
        let message = format!("type mismatch: expected a distinct key in `{name}`, got {}", no_key.phrase());
        Fault { row: no_key.row, kind: FaultKind::TypeError, field: None, value: None, message, span, other: None }
    }
}

/// The rows of a batch that are the first with their key there.
fn first_rows(keys: &Keys, hashes: &[u64], refused: &[NoKey]) -> Vec<u32> {
    let mut refused = refused.iter().map(|no_key| no_key.row).peekable();
    let mut seen: HashTable<u32> = HashTable::with_capacity(keys.len());
    let is_first = |row: &u32| {
        let (at, hash) = (*row as usize, hashes[*row as usize]);
        let is_same = |other: &u32| hashes[*other as usize] == hash && keys.key(*other as usize) == keys.key(at);
        if refused.next_if_eq(&at).is_some() || seen.find(hash, is_same).is_some() {
            return false;
        }
        seen.insert_unique(hash, *row, |other| hashes[*other as usize]);
        true
    };
    (0..keys.len() as u32).filter(is_first).collect()
}

/// A distinct while it is filled.
struct Distinct<'p> {
    operator: &'p Operator,
    room: Room<'p>,
    /// The keys of the last rows that were kept, in their order.
    seen: GroupTable<'p>,
    /// How many rows were kept before those.
    forgotten: u64,
    /// The rows that were kept, but for those on disk.
    rows: Rows,
    /// What `rows` takes.
    charge: Charge<'p>,
    spilled_keys: Spilled<'p>,
    /// The first of the rows that were kept, as they came.
    spilled_rows: Spilled<'p>,
}

impl<'p> Buffer<'p> for Distinct<'p> {
    fn take(&mut self, collected: &mut Collected, _: Others<'_>) -> Result<(), Failure> {
        let batches = collected.take_part::<Part>();
        let mut first = Vec::with_capacity(collected.chunk.offsets.len());
        let mut offsets = collected.chunk.offsets.iter();
        for Candidates { keys, hashes, rows } in &batches {
            for (row, offset) in rows.iter().map(|row| *row as usize).zip(offsets.by_ref()) {
                if self.is_first(keys.key(row), hashes[row])? {
                    first.push(*offset);
                }
            }
        }
        let all = std::mem::take(&mut collected.packed);
        let kept = if first.len() < collected.chunk.offsets.len() { picked(&all, &first) } else { all };
        self.keep(kept, first.len())
    }

    fn spillable(&self) -> u64 {
        self.charge.held() + self.seen.held()
    }

    fn spill(&mut self, wanted: u64) -> Result<(), Failure> {
        let before = self.spillable();
        self.spill_rows()?;
        let freed = before - self.spillable();
        if freed < wanted && self.room.arbitrator.over_soft(wanted - freed) > 0 { self.spill_keys() } else { Ok(()) }
    }

    fn seal(mut self: Box<Self>, Seal { most_resident, .. }: Seal) -> Result<Full<'p>, Failure> {
        if self.spilled_keys.is_empty() && self.spilled_rows.is_empty() && self.charge.held() <= most_resident {
            let Self { rows, charge, .. } = *self;
            return Ok(Full::resident(Parked::new(rows, charge)));
        }
        self.spill_rows()?;
        if !self.spilled_keys.is_empty() {
            self.spill_keys()?;
        }
        let operator = self.operator;
        self.read_back().map_err(|error| BufferContext::not_read_back(operator, error))
    }
}

impl<'p> Distinct<'p> {
    /// Whether a key is new, as far as the table knows. Keys that have no room go to disk.
    fn is_first(&mut self, key: &[u8], hash: u64) -> Result<bool, Failure> {
        if let Ok(is_new) = self.admit(key, hash) {
            return Ok(is_new);
        }
        self.spill_rows()?;
        self.spill_keys()?;
        if self.admit(key, hash).is_err() {
            let number = self.forgotten.to_be_bytes();
            let checksum = crc32fast::hash(key).to_be_bytes();
            self.spilled_keys.write(|writer| writer.push_parts(&[&checksum, key], &number))?;
            self.forgotten += 1;
        }
        Ok(true)
    }

    /// Asks the table.
    fn admit(&mut self, key: &[u8], hash: u64) -> Result<bool, Exceeded> {
        let known = self.seen.len();
        Ok(self.seen.admit_one(key, hash)? as usize == known)
    }

    /// Keeps rows: each is the first with its key.
    fn keep(&mut self, bytes: Box<[u8]>, count: usize) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let cost = Rows::cost(&bytes);
        let mut is_charged = self.charge.take(cost).is_ok();
        if !is_charged {
            self.spill_rows()?;
            is_charged = self.charge.take(cost).is_ok();
        }
        self.rows.push(bytes, count);
        // Without room even for these alone they stay a part of the working set, and go on to disk.
        if is_charged { Ok(()) } else { self.spill_rows() }
    }

    /// Puts all rows behind those that are on disk already: without a key they stay as they came.
    fn spill_rows(&mut self) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        self.spilled_rows.write(|writer| rows.iter().try_for_each(|row| writer.push(&[], row)))?;
        self.charge.give_back(self.charge.held());
        Ok(())
    }

    /// Makes a run of all keys. The table begins anew.
    fn spill_keys(&mut self) -> Result<(), Failure> {
        if self.seen.is_empty() {
            return Ok(());
        }
        let Self { seen, spilled_keys, forgotten, .. } = self;
        let kept = *forgotten + seen.len() as u64;
        spilled_keys.write(|writer| {
            seen.drain(|group, key| writer.push_parts(&key, &(*forgotten + u64::from(group)).to_be_bytes()))
        })?;
        *forgotten = kept;
        Ok(())
    }

    /// The rows on disk, without those that turn out not to be the first with their key.
    fn read_back(self) -> Result<Full<'p>, MergeError> {
        let Self { room, seen, charge, spilled_keys, spilled_rows, .. } = self;
        drop((seen, charge));
        if spilled_keys.is_empty() {
            return ReadBack::of(spilled_rows, room.charge());
        }
        // They are one run, of which a frame is held. What is left is for the keys, which can do with little.
        let rows = spilled_rows.merge(room.charge())?;
        let mut later = later_rows(spilled_keys, room)?;
        let next_later = next_number(&mut later)?;
        Ok(Full::on_disk(FirstRows { rows, next: 0, later, next_later }))
    }
}

/// The numbers of the rows whose key an earlier row has, ascending.
fn later_rows<'p>(keys: Spilled<'p>, room: Room<'p>) -> Result<Merge<'p>, MergeError> {
    let mut merge = keys.merge(room.charge())?;
    let mut later = Sorter::new(room.disk, room.consumer, room.charge());
    let mut last: Option<Vec<u8>> = None;
    while let Some((key, number)) = merge.next()? {
        match &mut last {
            Some(last) if last.as_slice() == key => later.push(number, &[])?,
            Some(last) => key.clone_into(last),
            None => last = Some(key.to_vec()),
        }
    }
    drop(merge);
    later.sorted()
}

/// The next of the numbers that [`later_rows`] gives.
fn next_number(later: &mut Merge<'_>) -> Result<Option<u64>, Failure> {
    let number = |key: &[u8]| u64::from_be_bytes(*key.first_chunk().expect("a number has 8 bytes"));
    Ok(later.next()?.map(|(key, _)| number(key)))
}

/// The rows that are the first with their key, from disk.
struct FirstRows<'p> {
    /// All rows that were kept.
    rows: Merge<'p>,
    /// The number of the next one.
    next: u64,
    /// The numbers of those that are not the first.
    later: Merge<'p>,
    /// The next of these numbers.
    next_later: Option<u64>,
}

impl Scan for FirstRows<'_> {
    fn next(&mut self, most: Portion, chunk: &mut Chunk) -> Result<Option<usize>, Failure> {
        while most.has_room(chunk) {
            let Some((_, row)) = self.rows.next()? else { break };
            if self.next_later == Some(self.next) {
                self.next_later = next_number(&mut self.later)?;
            } else {
                chunk.push(row);
            }
            self.next += 1;
        }
        Ok((!chunk.offsets.is_empty()).then_some(0))
    }
}
