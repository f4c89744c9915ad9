//! Groups that have ended, whose rows are not made yet: they hold memory that comes back soon,
//! or, where a row is large, when that is written.

use std::sync::{Arc, Condvar, Mutex};

use crate::exec::{lock, wait};

/// How many such groups there are. Shared by all workers.
#[derive(Default)]
pub(super) struct Unmade {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
struct Counts {
    unmade: u64,
    made: u64,
}

/// One of them, until it is dropped.
pub(crate) struct UnmadeGroup(Arc<Unmade>);

impl Unmade {
    /// One more.
    pub fn begin(self: &Arc<Self>) -> UnmadeGroup {
        lock(&self.counts).unmade += 1;
        UnmadeGroup(Arc::clone(self))
    }

    /// How many are done with.
    pub fn made(&self) -> u64 {
        lock(&self.counts).made
    }

    /// Waits until more than `made` are done with. False if there is none to wait for. Whoever waits may hold none: rows
    /// are made without waiting for blocks further behind, and those in front hold all there are.
    pub fn wait(&self, made: u64) -> bool {
        let mut counts = lock(&self.counts);
        while counts.made == made && counts.unmade > 0 {
            counts = wait(&self.changed, counts);
        }
        counts.made != made
    }
}

impl Drop for UnmadeGroup {
    fn drop(&mut self) {
        let mut counts = lock(&self.0.counts);
        counts.unmade -= 1;
        counts.made += 1;
        drop(counts);
        self.0.changed.notify_all();
    }
}
