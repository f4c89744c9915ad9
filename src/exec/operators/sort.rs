//! Sorts all rows: stable, in memory.
//!
//! A row rests where it was put; what is sorted are entries: the first 16 bytes of its key and its place, which also
//! makes the sort stable, since places order as rows arrive. Longer keys keep the rest of their bytes beside, and it
//! is looked at only where the first 16 agree. Entries stand in runs, which are sorted by all workers at once; each
//! worker then merges its part of the key range.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::analysis::hir::SortKey;
use crate::exec::Failure;
use crate::exec::batch::Batch;
use crate::exec::keys::OrderKeys;
use crate::exec::keys::order::Prefix;
use crate::exec::lock;
use crate::exec::memory::Charge;
use crate::exec::rest::{Codec, Place, Rows};
use crate::exec::workers::on_all;
use crate::plan::physical::{Operator, SortOperator};

use super::buffer::{Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Drain, Full, Seal};

/// What messages call the rows of a sort.
const DETAIL: &str = "rows to sort";

/// A sort's two sides.
pub(super) fn new<'p>(
    spec: &SortOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let collector = SortCollector {
        keys: spec.keys.clone(),
        drop_nulls: spec.drop_nulls.clone(),
        codec: Arc::clone(&context.codec),
    };
    let buffer = Sort {
        operator: context.operator,
        charge: Charge::new(context.arbitrator, spec.rest.consumer),
        rows: Rows::default(),
        tails: Tails::default(),
        runs: vec![Vec::new()],
    };
    (Arc::new(collector), Box::new(buffer))
}

struct SortCollector {
    keys: Vec<SortKey>,
    drop_nulls: Vec<usize>,
    codec: Arc<Codec>,
}

/// What decides where a row goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    prefix: Prefix,
    place: Place,
}

/// What a block gives besides its rows; places are of chunk 0 until the chunk has its number.
#[derive(Default)]
struct Part {
    entries: Vec<Entry>,
    tails: ChunkTails,
}

impl Collector for SortCollector {
    fn collect(&self, _: usize, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        match self.without_nulls(batch) {
            None => self.add(batch, out),
            Some(kept) => {
                let taken = batch.take(&kept);
                let admitted = self.add(&taken, out).map_err(|error| error.at(|row| kept[row] as usize))?;
                Ok(Admitted { filtered: batch.rows - kept.len(), ..admitted })
            }
        }
    }
}

impl SortCollector {
    /// The rows without a null in a column that must not have one; `None` if no row has one.
    fn without_nulls(&self, batch: &Batch) -> Option<Vec<u32>> {
        let columns: Vec<_> = self.drop_nulls.iter().filter_map(|column| batch.columns[*column].as_ref()).collect();
        if columns.iter().all(|column| column.validity().is_none()) {
            return None;
        }
        Some((0..batch.rows as u32).filter(|row| columns.iter().all(|column| !column.is_null(*row as usize))).collect())
    }

    fn add(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let first = out.chunk.offsets.len();
        self.codec.encode(batch, &mut out.chunk).map_err(CollectError::Unwritable)?;
        let keys = OrderKeys::encode(&self.keys, &batch.columns, batch.rows);
        let (chunk, part) = out.chunk_and_part::<Part>();
        for (row, offset) in chunk.offsets[first..].iter().enumerate() {
            part.entries.push(Entry { prefix: keys.prefix(row), place: Place::new(0, *offset) });
            part.tails.push(*offset, keys.rest(row));
        }
        Ok(Admitted::default())
    }
}

/// What is behind the prefix of the long keys of a chunk.
#[derive(Default)]
struct ChunkTails {
    /// Where the row begins in the chunk, and where its bytes end in `bytes`; ascending.
    ends: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl ChunkTails {
    fn push(&mut self, offset: u32, tail: &[u8]) {
        if !tail.is_empty() {
            self.bytes.extend_from_slice(tail);
            self.ends.push((offset, self.bytes.len() as u32));
        }
    }

    fn get(&self, offset: u32) -> &[u8] {
        let Ok(position) = self.ends.binary_search_by_key(&offset, |(row, _)| *row) else { return &[] };
        let start = if position == 0 { 0 } else { self.ends[position - 1].1 };
        &self.bytes[start as usize..self.ends[position].1 as usize]
    }

    fn pack(&mut self) {
        self.ends.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    fn cost(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity() + self.ends.capacity() * size_of::<(u32, u32)>()
    }
}

/// For each chunk, the rest of its long keys.
#[derive(Default)]
struct Tails {
    chunks: Vec<ChunkTails>,
    /// Whether there are any.
    any: bool,
}

impl Tails {
    /// Compares entries: the sort order.
    #[inline]
    fn compare(&self, left: &Entry, right: &Entry) -> Ordering {
        left.prefix.cmp(&right.prefix).then_with(|| {
            let tails = if self.any { self.get(left.place).cmp(self.get(right.place)) } else { Ordering::Equal };
            tails.then(left.place.cmp(&right.place))
        })
    }

    fn get(&self, place: Place) -> &[u8] {
        self.chunks[place.chunk() as usize].get(place.offset())
    }
}

/// A sort while it is filled.
struct Sort<'p> {
    operator: &'p Operator,
    charge: Charge<'p>,
    rows: Rows,
    tails: Tails,
    /// Entries as they came. The last run grows; the others are full.
    runs: Vec<Vec<Entry>>,
}

/// Entries of a full run: 24 MiB, which the allocator gives back to the system as soon as they are freed.
const RUN: usize = 1 << 20;
/// Entries of the smallest run.
const FIRST: usize = 256;

impl<'p> Buffer<'p> for Sort<'p> {
    fn take(&mut self, _: usize, collected: &mut Collected) -> Result<(), Failure> {
        let Part { entries, mut tails } = collected.take_part();
        tails.pack();
        self.reserve(Rows::cost(&collected.packed) + tails.cost() as u64)?;
        let chunk = self.rows.push(std::mem::take(&mut collected.packed), entries.len());
        self.tails.any |= !tails.bytes.is_empty();
        self.tails.chunks.push(tails);
        for part in entries.chunks(FIRST) {
            self.make_room(part.len())?;
            let run = self.runs.last_mut().expect("there is always a run that grows");
            run.extend(part.iter().map(|e| Entry { place: Place::new(chunk, e.place.offset()), ..*e }));
        }
        Ok(())
    }

    fn seal(self: Box<Self>, Seal { threads, .. }: Seal) -> Result<Full<'p>, Failure> {
        let Self { operator, mut charge, rows, tails, mut runs } = *self;
        runs.retain(|run| !run.is_empty());
        sort_runs(&mut runs, &tails, threads);
        let places = rows.len() * size_of::<Place>() as u64;
        charge.take(places).map_err(|exceeded| BufferContext::does_not_fit(operator, DETAIL, &exceeded))?;
        let order = merge_runs(&runs, &tails, threads);
        charge.give_back(runs.iter().map(|run| entry_bytes(run.capacity())).sum());
        charge.give_back(tails.chunks.iter().map(|tails| tails.cost() as u64).sum());
        Ok(Full::resident(Sorted { rows, order, _charge: charge }))
    }
}

impl Sort<'_> {
    fn reserve(&mut self, bytes: u64) -> Result<(), Failure> {
        self.charge.take(bytes).map_err(|exceeded| BufferContext::does_not_fit(self.operator, DETAIL, &exceeded))
    }

    /// Makes room for a few more entries. While a run moves to a larger place both are held.
    fn make_room(&mut self, count: usize) -> Result<(), Failure> {
        let run = self.runs.last().expect("there is always a run that grows");
        let (used, capacity) = (run.len(), run.capacity());
        if used + count <= capacity {
            return Ok(());
        }
        if used + count > RUN {
            self.reserve(entry_bytes(RUN))?;
            self.runs.push(Vec::with_capacity(RUN));
            return Ok(());
        }
        let larger = (capacity * 2).clamp(FIRST, RUN);
        self.reserve(entry_bytes(larger))?;
        let run = self.runs.last_mut().expect("there is always a run that grows");
        run.reserve_exact(larger - used);
        self.charge.give_back(entry_bytes(capacity));
        Ok(())
    }
}

fn entry_bytes(entries: usize) -> u64 {
    (entries * size_of::<Entry>()) as u64
}

/// Sorts each run; workers take one after the other.
fn sort_runs(runs: &mut [Vec<Entry>], tails: &Tails, threads: usize) {
    // One run is halved as often as there are workers; merging makes up for it.
    let parts = threads.max(1).div_ceil(runs.len().max(1));
    let parts = runs.iter_mut().flat_map(|run| {
        let size = run.len().div_ceil(parts).max(1);
        run.chunks_mut(size)
    });
    let parts = Mutex::new(parts);
    let work = || {
        loop {
            let part = lock(&parts).next();
            match part {
                Some(part) if tails.any => part.sort_unstable_by(|left, right| tails.compare(left, right)),
                Some(part) => part.sort_unstable(),
                None => return,
            }
        }
    };
    on_all(threads, |_| work());
}

/// The places of all entries of sorted runs, in order, in one piece for each worker.
fn merge_runs(runs: &[Vec<Entry>], tails: &Tails, threads: usize) -> Vec<Vec<Place>> {
    let parts = threads.max(1).div_ceil(runs.len().max(1));
    let runs: Vec<&[Entry]> = runs.iter().flat_map(|run| run.chunks(run.len().div_ceil(parts).max(1))).collect();
    let cuts = cuts(&runs, tails, threads.max(1));
    let pieces: Vec<Mutex<Vec<Place>>> = (1..cuts.len()).map(|_| Mutex::default()).collect();
    on_all(threads, |worker| {
        let (Some(piece), Some([from, to])) = (pieces.get(worker), cuts.get(worker..worker + 2)) else { return };
        let ranges = runs.iter().zip(from.iter().zip(to));
        let parts = ranges.map(|(run, (from, to))| &run[*from..*to]).filter(|part| !part.is_empty());
        *lock(piece) = merge(parts.collect(), tails);
    });
    pieces.into_iter().map(|piece| std::mem::take(&mut *lock(&piece))).collect()
}

/// For each border between pieces, how much of every run is before it: from nothing to all.
fn cuts(runs: &[&[Entry]], tails: &Tails, pieces: usize) -> Vec<Vec<usize>> {
    let longest = runs.iter().max_by_key(|run| run.len()).copied().unwrap_or_default();
    let before = |border: &Entry| {
        runs.iter().map(|run| run.partition_point(|entry| tails.compare(entry, border).is_lt())).collect()
    };
    let inner = (1..pieces).filter_map(|piece| longest.get(longest.len() * piece / pieces)).map(before);
    let (start, end) = (vec![0; runs.len()], runs.iter().map(|run| run.len()).collect());
    std::iter::once(start).chain(inner).chain(std::iter::once(end)).collect()
}

/// The places of the entries of sorted parts, in order.
fn merge(mut parts: Vec<&[Entry]>, tails: &Tails) -> Vec<Place> {
    let mut places = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    let is_less = |left: &&[Entry], right: &&[Entry]| tails.compare(&left[0], &right[0]).is_lt();
    // A heap of parts, the one with the first entry on top; each part has an entry.
    for root in (0..parts.len() / 2).rev() {
        sift_down(&mut parts, root, &is_less);
    }
    while let Some([first, rest @ ..]) = parts.first().copied() {
        places.push(first.place);
        if rest.is_empty() {
            parts.swap_remove(0);
        } else {
            parts[0] = rest;
        }
        sift_down(&mut parts, 0, &is_less);
    }
    places
}

fn sift_down<'a>(heap: &mut [&'a [Entry]], mut root: usize, is_less: &impl Fn(&&'a [Entry], &&'a [Entry]) -> bool) {
    loop {
        let left = 2 * root + 1;
        let Some(mut child) = (left < heap.len()).then_some(left) else { return };
        if left + 1 < heap.len() && is_less(&heap[left + 1], &heap[left]) {
            child = left + 1;
        }
        if !is_less(&heap[child], &heap[root]) {
            return;
        }
        heap.swap(child, root);
        root = child;
    }
}

/// A sorted buffer.
struct Sorted<'p> {
    rows: Rows,
    /// The order, in pieces.
    order: Vec<Vec<Place>>,
    _charge: Charge<'p>,
}

impl Drain for Sorted<'_> {
    fn ports(&self) -> Vec<u64> {
        vec![self.rows.len()]
    }

    fn places(&self, _: usize, range: Range<u64>, out: &mut Vec<Place>) {
        let mut before = 0;
        for piece in &self.order {
            let (from, to) = (range.start.max(before), range.end.min(before + piece.len() as u64));
            if from < to {
                out.extend_from_slice(&piece[(from - before) as usize..(to - before) as usize]);
            }
            before += piece.len() as u64;
        }
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
