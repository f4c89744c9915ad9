//! How many rows are taken at a time: fewer, where transforms make so much of them that it would be too much at once. How
//! many there are never shows.

use std::sync::atomic::{AtomicU32, Ordering};

/// The rows of a batch in one segment. Shared by all workers.
pub(crate) struct BatchRows {
    /// Most rows.
    most: u32,
    /// Bytes that the texts of a batch may take.
    share: u64,
    now: AtomicU32,
}

/// How many are taken before it is known what comes of them.
const FIRST: u32 = 64;

impl BatchRows {
    /// At most so many rows, of which the texts may take up to `share` bytes.
    pub fn new(most: u32, share: u64) -> Self {
        Self { most: most.max(1), share, now: AtomicU32::new(FIRST.min(most.max(1))) }
    }

    /// At most so many rows.
    pub fn limit(&mut self, most: u32) {
        *self = Self::new(self.most.min(most), self.share);
    }

    /// The most rows of a batch.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The rows of the next batch.
    pub fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Notes that the texts of so many rows came to so many bytes.
    pub fn note(&self, rows: u32, bytes: u64) {
        let now = self.now();
        if bytes > self.share {
            let fitting = u64::from(rows) * self.share / bytes;
            self.now.store((fitting as u32).clamp(1, self.most), Ordering::Relaxed);
        } else if now < self.most && rows >= now && bytes < self.share / 4 {
            self.now.store(now.saturating_mul(2).min(self.most), Ordering::Relaxed);
        }
    }
}
