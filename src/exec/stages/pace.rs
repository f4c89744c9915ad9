//! How large the blocks of a source are: smaller, where they come to far more than their text, as with many sorts below one
//! source, or with texts that transforms make longer. What blocks come to is seen as they go; where they end never shows.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The pace of one segment. Shared by all workers.
pub(super) struct Pace {
    /// How many blocks may be on their way at once.
    on_the_way: u64,
    /// Bytes of text in a block, if nothing else is known.
    wanted: usize,
    /// Bytes that one block may take.
    share: u64,
    size: AtomicUsize,
}

/// How many times its text a block takes before anything comes of it: text, places of fields, columns.
const TEXT: u64 = 4;
/// Smaller blocks would cost more time than they save memory.
const LEAST: u64 = 2 << 10;
/// Most bytes of the first blocks, of which nothing has been seen, and how many times its text such a block may come to.
const FIRST: u64 = 16 << 10;
const GROWS: u64 = 96;

impl Pace {
    /// Blocks of `wanted` bytes of text, of which each may take up to `share` bytes, and so many may be on their way at
    /// once.
    pub fn new(wanted: usize, share: u64, on_the_way: usize) -> Self {
        Self { on_the_way: on_the_way.max(1) as u64, wanted, share, size: AtomicUsize::new(wanted) }
    }

    /// Bytes of text in the block of this number. The first ones are small; they become larger as it has been seen what
    /// those before them came to.
    pub fn size_of(&self, block: u64) -> usize {
        let doublings = (block / self.on_the_way).min(u64::from(usize::BITS / 2)) as u32;
        let first = (self.share / GROWS).clamp(LEAST, FIRST) as usize;
        self.size.load(Ordering::Relaxed).min(first << doublings)
    }

    /// Notes that `text` bytes came to so many.
    pub fn note(&self, text: u64, came_to: u64) {
        let took = TEXT * text + came_to;
        if took > self.share {
            let fitting = u128::from(text) * u128::from(self.share) / u128::from(took);
            self.size.store(self.wanted.min((fitting as u64).max(LEAST) as usize), Ordering::Relaxed);
        } else if took < self.share / 4 {
            let size = self.size.load(Ordering::Relaxed);
            self.size.store(self.wanted.min(size * 2), Ordering::Relaxed);
        }
    }
}
