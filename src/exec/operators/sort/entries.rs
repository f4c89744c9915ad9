//! What a sort holds in memory: rows, and entries that are sorted and merged by all workers at once.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::sync::Mutex;

use crate::exec::Failure;
use crate::exec::keys::order::Prefix;
use crate::exec::lock;
use crate::exec::rest::{Place, Rows};
use crate::exec::spill::RunWriter;
use crate::exec::workers::on_all;

/// What decides where a row goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub prefix: Prefix,
    pub place: Place,
}

/// What a sort holds in memory.
#[derive(Default)]
pub(super) struct Held {
    pub rows: Rows,
    tails: Tails,
    /// Entries as they came. The last run grows; the others are full.
    runs: Vec<Vec<Entry>>,
}

/// Entries of a full run: 24 MiB, which the allocator gives back to the system as soon as they are freed.
const RUN: usize = 1 << 20;
/// Entries of the smallest run.
const FIRST: usize = 256;
/// Rows of which sorting takes longer than starting a worker.
const SHARE: usize = 4096;

impl Held {
    /// What is charged and what is given back to make room for so many more entries. While a run moves to a larger
    /// place both are held.
    pub fn growth(&self, count: usize) -> (u64, u64) {
        match self.wanted(count) {
            Wanted::Nothing => (0, 0),
            Wanted::Larger(entries) => {
                (entry_bytes(entries), self.runs.last().map_or(0, |run| entry_bytes(run.capacity())))
            }
            Wanted::Another(entries) => (entry_bytes(entries), 0),
        }
    }

    /// Makes that room.
    pub fn grow(&mut self, count: usize) {
        match (self.wanted(count), self.runs.last_mut()) {
            (Wanted::Larger(entries), Some(run)) => run.reserve_exact(entries - run.len()),
            (Wanted::Another(entries), _) => self.runs.push(Vec::with_capacity(entries)),
            _ => {}
        }
    }

    /// The room that so many more entries, which stay together, need.
    fn wanted(&self, count: usize) -> Wanted {
        let (used, capacity) = self.runs.last().map_or((0, 0), |run| (run.len(), run.capacity()));
        if used + count <= capacity {
            return Wanted::Nothing;
        }
        match self.runs.len() {
            0 => Wanted::Another(count.max(FIRST)),
            _ if used + count <= RUN => Wanted::Larger((2 * capacity).clamp(used + count, RUN)),
            _ => Wanted::Another(count.max(RUN)),
        }
    }

    /// Adds the rows of a block, with entries whose chunk is not known yet.
    pub fn push(&mut self, packed: Box<[u8]>, entries: Vec<Entry>, tails: ChunkTails) {
        let chunk = self.rows.push(packed, entries.len());
        self.tails.any |= !tails.bytes.is_empty();
        self.tails.chunks.push(tails);
        self.grow(entries.len());
        let entries = entries.into_iter().map(|e| Entry { place: Place::new(chunk, e.place.offset()), ..e });
        self.runs.last_mut().expect("there is room for them").extend(entries);
    }

    /// What entries and tails take, in bytes.
    pub fn entry_bytes(&self) -> u64 {
        let runs: u64 = self.runs.iter().map(|run| entry_bytes(run.capacity())).sum();
        runs + self.tails.chunks.iter().map(ChunkTails::cost).sum::<u64>()
    }

    /// How many of so many workers are worth their start.
    fn workers(&self, threads: usize) -> usize {
        threads.min(self.rows.len() as usize / SHARE + 1)
    }

    /// The rows, and all places in order, in pieces.
    pub fn sort(mut self, threads: usize) -> (Rows, Vec<Vec<Place>>) {
        let threads = self.workers(threads);
        sort_parts(&mut self.runs, &self.tails, threads);
        (self.rows, merge_parts(&self.runs, &self.tails, threads))
    }

    /// Writes all rows in order.
    pub fn write(mut self, threads: usize, writer: &mut RunWriter<'_>) -> Result<(), Failure> {
        let threads = self.workers(threads);
        sort_parts(&mut self.runs, &self.tails, threads);
        merge(parts(&self.runs, threads).collect(), &self.tails, |Entry { prefix, place }| {
            let prefix = [prefix.0.to_be_bytes(), prefix.1.to_be_bytes()];
            writer.push_parts(&[&prefix[0], &prefix[1], self.tails.of(*place)], self.rows.row(*place))
        })
    }
}

/// Room for entries.
enum Wanted {
    /// There is enough.
    Nothing,
    /// The last run becomes one for so many.
    Larger(usize),
    /// There is one more run, for so many.
    Another(usize),
}

fn entry_bytes(entries: usize) -> u64 {
    (entries * size_of::<Entry>()) as u64
}

/// What is behind the prefix of the long keys of a chunk.
#[derive(Default)]
pub(super) struct ChunkTails {
    /// Where the row begins in the chunk, and where its bytes end in `bytes`; ascending.
    ends: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl ChunkTails {
    /// Adds that of the row at `offset`, if there is any.
    pub fn push(&mut self, offset: u32, tail: &[u8]) {
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

    /// Gives back room to spare.
    pub fn pack(&mut self) {
        self.ends.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// What they take, in bytes.
    pub fn cost(&self) -> u64 {
        (size_of::<Self>() + self.bytes.capacity() + self.ends.capacity() * size_of::<(u32, u32)>()) as u64
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
            let tails = if self.any { self.of(left.place).cmp(self.of(right.place)) } else { Ordering::Equal };
            tails.then(left.place.cmp(&right.place))
        })
    }

    fn of(&self, place: Place) -> &[u8] {
        self.chunks[place.chunk() as usize].get(place.offset())
    }
}

/// How runs are cut for sorting. One run is halved as often as there are workers; merging makes up for it.
fn part_size(run: &[Entry], runs: usize, threads: usize) -> usize {
    run.len().div_ceil(threads.max(1).div_ceil(runs.max(1))).max(1)
}

/// The parts that [`sort_parts`] sorts.
fn parts(runs: &[Vec<Entry>], threads: usize) -> impl Iterator<Item = &[Entry]> {
    runs.iter().flat_map(move |run| run.chunks(part_size(run, runs.len(), threads)))
}

/// Sorts the parts of all runs; workers take one after the other.
fn sort_parts(runs: &mut [Vec<Entry>], tails: &Tails, threads: usize) {
    let count = runs.len();
    let parts = runs.iter_mut().flat_map(|run| {
        let size = part_size(run, count, threads);
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

/// The places of all entries of sorted parts, in order, in one piece for each worker.
fn merge_parts(runs: &[Vec<Entry>], tails: &Tails, threads: usize) -> Vec<Vec<Place>> {
    let runs: Vec<&[Entry]> = parts(runs, threads).collect();
    let cuts = cuts(&runs, tails, threads.max(1));
    let pieces: Vec<Mutex<Vec<Place>>> = (1..cuts.len()).map(|_| Mutex::default()).collect();
    on_all(threads, |worker| {
        let (Some(piece), Some([from, to])) = (pieces.get(worker), cuts.get(worker..worker + 2)) else { return };
        let ranges = runs.iter().zip(from.iter().zip(to));
        let parts = ranges.map(|(run, (from, to))| &run[*from..*to]).filter(|part| !part.is_empty());
        *lock(piece) = places(parts.collect(), tails);
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
fn places(parts: Vec<&[Entry]>, tails: &Tails) -> Vec<Place> {
    let mut places = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    let Ok(()) = merge(parts, tails, |entry| {
        places.push(entry.place);
        Ok::<(), Infallible>(())
    });
    places
}

/// Gives the entries of sorted parts, none of which is empty, in order.
fn merge<E>(mut parts: Vec<&[Entry]>, tails: &Tails, mut give: impl FnMut(&Entry) -> Result<(), E>) -> Result<(), E> {
    let is_less = |left: &&[Entry], right: &&[Entry]| tails.compare(&left[0], &right[0]).is_lt();
    // A heap of parts, the one with the first entry on top; each part has an entry.
    for root in (0..parts.len() / 2).rev() {
        sift_down(&mut parts, root, &is_less);
    }
    while let Some([first, rest @ ..]) = parts.first().copied() {
        give(first)?;
        if rest.is_empty() {
            parts.swap_remove(0);
        } else {
            parts[0] = rest;
        }
        sift_down(&mut parts, 0, &is_less);
    }
    Ok(())
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
