//! What a block came to: what is written when its turn comes.

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::batch::{Batch, KeptOrigins};
use crate::exec::dlq::Letters;
use crate::exec::eval::Warning;
use crate::exec::memory::Reserved;

use super::Tree;
use super::buffer::Collected;
use super::unit::Unit;

/// What a block came to. Reused: `clear` keeps the buffers.
#[derive(Default)]
pub(crate) struct BlockResult {
    /// Records that were read.
    pub records: u32,
    /// Bytes that were read.
    pub bytes: u64,
    /// For a block of text, the position of its source.
    pub source: Option<u32>,
    /// For a block of text, the number across the source's files of its first record, from 1.
    pub source_row: u64,
    /// For rows out of a buffer or an interleaving merge, where they came from, if that is kept.
    pub origins: Option<Arc<KeptOrigins>>,
    /// For each operator of the segment, what it did.
    pub counts: Vec<Counts>,
    /// For each sink, the bytes to append.
    pub sinks: Vec<Vec<u8>>,
    /// For each input of a buffer that the segment fills, the rows.
    pub collected: Vec<Collected>,
    /// For each input of an interleaving merge, the rows, as the merge's columns.
    pub handed: Vec<Vec<Batch>>,
    /// Rows written to at least one sink, but for those that are counted one by one.
    pub reached: Reached,
    /// The records that could not be typed, ascending, as positions in the block.
    pub untyped: Vec<u32>,
    /// Its dead letters, in order.
    pub letters: Letters,
    /// `warn` validations that did not hold.
    pub warned: Vec<Warned>,
    /// What stops the run here.
    pub failure: Option<Failure>,
    /// What is reserved for it until it is written.
    pub reserved: Vec<Reserved>,
    /// One bit a row: whether a sink got it. Only kept where a row may be written more than once.
    pub written: Vec<u64>,
    /// The rows that an aggregate made of groups in this block and that a sink got, each by its maker and its number.
    /// Only kept where a row may be written more than once.
    pub made: Vec<(u32, u64)>,
}

/// Rows written to at least one sink, by what made them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reached {
    /// Rows of sources.
    pub read: u64,
    /// Rows of aggregates.
    pub made: u64,
}

impl Reached {
    /// Counts rows.
    pub fn add(&mut self, rows: u64, is_made: bool) {
        *(if is_made { &mut self.made } else { &mut self.read }) += rows;
    }
}

impl std::ops::AddAssign for Reached {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.made += other.made;
    }
}

/// What one operator did with a block.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// Rows in.
    pub rows_in: u64,
    /// Rows out over all ports.
    pub rows_out: u64,
    /// Of these, the rows of the groups that a cull removed.
    pub removed: u64,
    /// Rows that failed.
    pub rejected: u64,
    /// Rows that a filter took out.
    pub filtered: u64,
    /// `warn` validations that did not hold.
    pub warned: u64,
    /// Bytes read, put at rest or written.
    pub bytes: u64,
    /// The time it took, if that is measured.
    pub busy: Duration,
}

/// How many rows a `warn` validation did not hold for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct WarnedRows {
    /// All of them.
    pub all: u64,
    /// Those for which it could not be computed.
    pub failed: u64,
}

impl WarnedRows {
    /// Counts one more.
    pub fn add(&mut self, warning: &Warning) {
        self.all += 1;
        self.failed += u64::from(warning.failure.is_some());
    }
}

impl AddAssign for WarnedRows {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.failed += other.failed;
    }
}

/// A `warn` validation and the rows of a block for which it did not hold.
pub(crate) struct Warned {
    /// The operator, as a position in the segment.
    pub node: usize,
    /// The validation, as a position.
    pub validation: usize,
    /// How many.
    pub count: WarnedRows,
    /// What to say about the first few, each with the position of the row in the block.
    pub samples: Vec<(u32, Diagnostic)>,
}

/// Rows of each `warn` validation that are spelled out.
pub(crate) const WARNING_SAMPLES: usize = 5;

impl BlockResult {
    /// Forgets all but the buffers, and makes ready for a block.
    pub fn clear(&mut self, tree: &Tree<'_>, unit: &Unit<'_, '_>) {
        (self.records, self.bytes, self.source, self.source_row) = match unit {
            Unit::Text { source, ticket, block, .. } => {
                (block.records, block.len as u64, Some(source.position), ticket.source_row)
            }
            Unit::Resting { .. } | Unit::Mixed(_) | Unit::End { .. } => (0, 0, None, 0),
        };
        self.origins = None;
        self.counts.clear();
        self.counts.resize(tree.nodes.len(), Counts::default());
        self.counts[0].bytes = self.bytes;
        self.sinks.resize_with(tree.sinks.len(), Vec::new);
        self.sinks.iter_mut().for_each(clear_bytes);
        self.collected.resize_with(tree.slots.len(), Collected::default);
        self.collected.iter_mut().for_each(Collected::clear);
        self.handed.resize_with(tree.joins.len(), Vec::new);
        self.handed.iter_mut().for_each(Vec::clear);
        self.reached = Reached::default();
        self.untyped.clear();
        self.letters.clear();
        self.warned.clear();
        self.failure = None;
        debug_assert!(self.reserved.is_empty(), "whoever wrote the block released what was reserved for it");
        self.made.clear();
        self.written.clear();
        self.written.resize(if tree.marks_rows { unit.rows().div_ceil(64) } else { 0 }, 0);
    }

    /// What it takes until it is written, in bytes, as far as it has come. Resting rows are copied once more in the end.
    pub fn bytes_made(&self) -> u64 {
        let written = self.sinks.iter().map(Vec::len).sum::<usize>();
        let resting = self.collected.iter().map(|collected| 2 * collected.chunk.bytes.len()).sum::<usize>();
        let handed = self.handed.iter().flatten().map(Batch::text_bytes).sum::<usize>();
        (written + resting + handed + self.letters.bytes()) as u64
    }

    /// Counts the rows that sinks got, if they were marked, but for those that are counted one by one.
    pub fn count_marked(&mut self, tree: &Tree<'_>) {
        self.made.sort_unstable();
        self.made.dedup();
        for (maker, _) in self.made.iter().filter(|(maker, _)| !tree.counted[*maker as usize]) {
            self.reached.add(1, *maker >= tree.sources);
        }
        let Some(origins) = &self.origins else {
            // A head that doesn't keep them has rows that nothing else writes.
            if self.source.is_none_or(|source| !tree.counted[source as usize]) {
                let marked = self.written.iter().map(|word| u64::from(word.count_ones())).sum();
                self.reached.add(marked, self.source.is_none() && tree.is_made);
            }
            return;
        };
        let makers = set_positions(&self.written).map(|at| origins.sources[at]);
        for maker in makers.filter(|maker| !tree.counted[*maker as usize]) {
            self.reached.add(1, maker >= tree.sources);
        }
    }

    /// The rows that sinks got and that are counted one by one: the maker of each and its number.
    pub fn counted_rows(&self, tree: &Tree<'_>) -> impl Iterator<Item = (u32, u64)> {
        let is_counted = |maker: u32| tree.counted[maker as usize];
        let made = self.made.iter().copied().filter(move |(maker, _)| is_counted(*maker));
        let source = self.source.filter(|source| is_counted(*source));
        let marked = if self.origins.is_some() || source.is_some() { self.written.as_slice() } else { &[] };
        let row_at = move |at: usize| match (&self.origins, source) {
            (Some(kept), _) => is_counted(kept.sources[at]).then(|| (kept.sources[at], kept.source_rows[at])),
            (None, source) => source.map(|source| (source, self.source_row + at as u64)),
        };
        made.chain(set_positions(marked).filter_map(row_at))
    }

    /// Notes that the run stops here.
    pub fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }
}

impl BlockResult {
    /// What is reserved for it, to be released: the buffers that it was reserved for are gone.
    pub fn take_reserved(&mut self) -> Vec<Reserved> {
        if !self.reserved.is_empty() {
            self.sinks.iter_mut().for_each(|bytes| *bytes = Vec::new());
            self.collected.iter_mut().for_each(|collected| *collected = Collected::default());
        }
        std::mem::take(&mut self.reserved)
    }
}

/// Forgets what is in a buffer, and most of the buffer if little was in it.
pub(crate) fn clear_bytes(bytes: &mut Vec<u8>) {
    const KEPT: (usize, usize) = (64 << 10, 4 << 20);
    let kept = (2 * bytes.len()).clamp(KEPT.0, KEPT.1);
    bytes.clear();
    bytes.shrink_to(kept);
}

impl Counts {
    /// Adds up.
    pub fn add(&mut self, other: &Counts) {
        self.rows_in += other.rows_in;
        self.rows_out += other.rows_out;
        self.removed += other.removed;
        self.rejected += other.rejected;
        self.filtered += other.filtered;
        self.warned += other.warned;
        self.bytes += other.bytes;
        self.busy += other.busy;
    }
}

/// The positions of the bits that are set.
fn set_positions(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(word, bits)| {
        let rest = std::iter::successors(Some(*bits), |bits| Some(bits & bits.wrapping_sub(1)));
        rest.take_while(|bits| *bits != 0).map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}
