//! How large the blocks of a source are: smaller, where they come to far more than their text, as with many sorts below one
//! source, or with texts that transforms make longer. What blocks come to is seen as they go; where they end never shows.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The pace of one segment. Shared by all workers.
pub(super) struct Pace {
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

impl Pace {
    /// Blocks of `wanted` bytes of text, of which each may take up to `share` bytes.
    pub fn new(wanted: usize, share: u64) -> Self {
        Self { wanted, share, size: AtomicUsize::new(wanted) }
    }

    /// Bytes of text in the next block.
    pub fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Notes that `text` bytes came to so many.
    pub fn note(&self, text: u64, came_to: u64) {
        let took = TEXT * text + came_to;
        if took > self.share {
            let fitting = u128::from(text) * u128::from(self.share) / u128::from(took);
            self.size.store(self.wanted.min((fitting as u64).max(LEAST) as usize), Ordering::Relaxed);
        } else if took < self.share / 4 && self.size() < self.wanted {
            self.size.store(self.wanted.min(self.size() * 2), Ordering::Relaxed);
        }
    }
}
