//! The memory arbitrator: every structure that can grow with the input reserves before it grows.

mod allocator;
mod segments;
mod strings;
mod working_set;

pub use allocator::{give_back_freed_memory, keep_freed_memory};
pub use segments::Segments;
pub use strings::Strings;
pub use working_set::{batch_share, block_share, block_size, block_size_of, most_of_a_row, working_set};

use std::sync::atomic::{AtomicU64, Ordering};

use crate::diagnostics::{Code, Diagnostic};
use crate::plan::explain::layout::size;

/// Owns the memory limit of a run.
#[derive(Debug)]
pub struct Arbitrator {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    consumers: Vec<Consumer>,
}

/// What one consumer holds.
#[derive(Debug)]
struct Consumer {
    name: String,
    held: AtomicU64,
    peak: AtomicU64,
    /// What is left of an [`Advance`]; [`NONE`] without one.
    advance: AtomicU64,
}

/// No advance: no limit is as high.
const NONE: u64 = u64::MAX;

impl Consumer {
    fn new(name: String) -> Self {
        let [held, peak, advance] = [0, 0, NONE].map(AtomicU64::new);
        Self { name, held, peak, advance }
    }

    /// Takes up to so many bytes from the advance. Tells how many.
    fn draw(&self, bytes: u64) -> u64 {
        let rest = |left: u64| (left != NONE).then(|| left.saturating_sub(bytes));
        self.advance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).map_or(0, |left| left.min(bytes))
    }

    /// Puts bytes back into the advance. Tells whether there is one.
    fn put_back(&self, bytes: u64) -> bool {
        let more = |left: u64| (left != NONE).then(|| left + bytes);
        self.advance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// What is left of the advance.
    fn left(&self) -> u64 {
        Some(self.advance.load(Ordering::Relaxed)).filter(|left| *left != NONE).unwrap_or_default()
    }
}

/// A reservation that would pass the limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exceeded {
    /// What was asked for.
    pub wanted: u64,
    /// What would be in use.
    pub used: u64,
    /// The limit.
    pub limit: u64,
    /// The biggest holders and what they hold, largest first.
    pub holders: Vec<(String, u64)>,
}

impl Exceeded {
    /// E310 for what `holder` keeps in an `arena` or a `node_buffer`. `detail` says what had no room.
    pub fn diagnostic(&self, holder: &str, store: &str, detail: &str) -> Diagnostic {
        let Self { used, limit, .. } = self;
        Diagnostic::error(Code::E310, format!("{holder}: {store} exceeded budget ({used}/{limit}) [{detail}]"))
    }

    /// Adds what was asked for, by whom, and who holds what.
    pub fn noted(&self, diagnostic: Diagnostic, who: &str) -> Diagnostic {
        let (wanted, limit, in_use) = (size(self.wanted), size(self.limit), self.used.saturating_sub(self.wanted));
        let asked = match in_use {
            0 => format!("{who} would take {wanted} where the limit is {limit}"),
            in_use => format!("{who} asked for {wanted} more where {} of {limit} were in use", size(in_use)),
        };
        let holders = self.holders.iter().map(|(name, held)| format!("{name} holds {}", size(*held)));
        std::iter::once(asked).chain(holders).fold(diagnostic, Diagnostic::note)
    }
}

impl Arbitrator {
    /// An arbitrator over `limit` bytes for these consumers, by position in the plan's list.
    pub fn new(limit: u64, consumers: impl IntoIterator<Item = String>) -> Self {
        let consumers = consumers.into_iter().map(Consumer::new).collect();
        Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0), consumers }
    }

    /// Charges `bytes` to a consumer before it grows by them.
    pub fn reserve(&self, consumer: usize, bytes: u64) -> Result<(), Exceeded> {
        let consumer = &self.consumers[consumer];
        let drawn = consumer.draw(bytes);
        let used = self.take(bytes - drawn).inspect_err(|_| self.free(consumer, drawn))?;
        consumer.peak.fetch_max(consumer.held.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
        // What is reserved in advance may turn out to be too much: it counts when it is held.
        let ahead: u64 = self.consumers.iter().map(Consumer::left).sum();
        self.peak.fetch_max(used.saturating_sub(ahead), Ordering::Relaxed);
        Ok(())
    }

    /// Makes bytes a part of what is in use. Gives what is in use then.
    fn take(&self, bytes: u64) -> Result<u64, Exceeded> {
        // What does not fit is never added, not even for a moment: another worker's reservation may fit meanwhile.
        let fitting = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fitting) {
            Ok(before) => Ok(before + bytes),
            Err(before) => Err(self.exceeded(bytes, before.saturating_add(bytes))),
        }
    }

    /// Lets a consumer have bytes in advance, if it has none; else, and if there is no room, `None`.
    fn advance(&self, consumer: usize, bytes: u64) -> Option<Advance<'_>> {
        self.take(bytes).ok()?;
        let advance = &self.consumers[consumer].advance;
        match advance.compare_exchange(NONE, bytes, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(Advance { arbitrator: self, consumer }),
            Err(_) => {
                self.used.fetch_sub(bytes, Ordering::Relaxed);
                None
            }
        }
    }

    /// Whether so many bytes could be reserved now.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.used.load(Ordering::Relaxed).checked_add(bytes).is_some_and(|used| used <= self.limit)
    }

    /// Gives back what a consumer was charged.
    pub fn release(&self, consumer: usize, bytes: u64) {
        let consumer = &self.consumers[consumer];
        consumer.held.fetch_sub(bytes, Ordering::Relaxed);
        self.free(consumer, bytes);
    }

    /// Makes room of what a consumer had: for itself if it has an advance.
    fn free(&self, consumer: &Consumer, bytes: u64) {
        if !consumer.put_back(bytes) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// The limit, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How many bytes have to be given back so that `wanted` more leave the footprint below the soft threshold.
    pub fn over_soft(&self, wanted: u64) -> u64 {
        self.used.load(Ordering::Relaxed).saturating_add(wanted).saturating_sub(self.soft())
    }

    /// The soft threshold: four fifths of the limit. Above it whoever can spill does.
    pub fn soft(&self) -> u64 {
        (u128::from(self.limit) * 4 / 5) as u64
    }

    /// The most that a consumer held at once, in bytes.
    pub fn peak_of(&self, consumer: usize) -> u64 {
        self.consumers[consumer].peak.load(Ordering::Relaxed)
    }

    /// The most that was ever reserved at once, in bytes.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    fn exceeded(&self, wanted: u64, used: u64) -> Exceeded {
        let mut holders: Vec<_> = self
            .consumers
            .iter()
            .map(|consumer| (consumer.name.clone(), consumer.held.load(Ordering::Relaxed) + consumer.left()))
            .filter(|(_, held)| *held > 0)
            .collect();
        holders.sort_by_key(|(_, held)| std::cmp::Reverse(*held));
        Exceeded { wanted, used, limit: self.limit, holders }
    }
}

/// Room that a consumer has in advance: what its charges take comes from there, and what they give back goes there. Dropped
/// when that is done; what is left is free then.
#[derive(Debug)]
pub struct Advance<'p> {
    arbitrator: &'p Arbitrator,
    consumer: usize,
}

impl Drop for Advance<'_> {
    fn drop(&mut self) {
        let left = self.arbitrator.consumers[self.consumer].advance.swap(NONE, Ordering::Relaxed);
        self.arbitrator.used.fetch_sub(left, Ordering::Relaxed);
    }
}

/// What is reserved for something that goes from hand to hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved {
    /// The consumer.
    pub consumer: usize,
    /// How much.
    pub bytes: u64,
}

/// What one structure holds with the arbitrator; given back when dropped.
#[derive(Debug)]
pub struct Charge<'p> {
    arbitrator: &'p Arbitrator,
    consumer: usize,
    held: u64,
}

impl<'p> Charge<'p> {
    /// Holds nothing yet.
    pub fn new(arbitrator: &'p Arbitrator, consumer: usize) -> Self {
        Self { arbitrator, consumer, held: 0 }
    }

    /// Reserves more, before it is taken.
    pub fn take(&mut self, bytes: u64) -> Result<(), Exceeded> {
        self.arbitrator.reserve(self.consumer, bytes)?;
        self.held += bytes;
        Ok(())
    }

    /// Reserves more only if that leaves the footprint of the run below the soft threshold. Tells whether it did.
    pub fn take_below_soft(&mut self, bytes: u64) -> bool {
        self.arbitrator.over_soft(bytes) == 0 && self.take(bytes).is_ok()
    }

    /// Reserves all at once what several charges of the consumer are about to take, together at most so many bytes. `None`
    /// if there is no room for that, or if the consumer has an advance already.
    pub fn advance(&self, bytes: u64) -> Option<Advance<'p>> {
        self.arbitrator.advance(self.consumer, bytes)
    }

    /// Whether so many more bytes could be reserved now.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.arbitrator.has_room(bytes)
    }

    /// Gives some of it back.
    pub fn give_back(&mut self, bytes: u64) {
        self.arbitrator.release(self.consumer, bytes);
        self.held -= bytes;
    }

    /// What is held, in bytes.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Leaves what is held reserved, to be released by whoever gets this.
    pub fn into_reserved(mut self) -> Reserved {
        Reserved { consumer: self.consumer, bytes: std::mem::take(&mut self.held) }
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        self.arbitrator.release(self.consumer, self.held);
    }
}

/// The bytes of memory that the program itself takes, in whole megabytes, where the system tells: its code and what it
/// has allocated so far. How much of the code is in memory at the moment changes from run to run, so all of it counts.
pub fn own_size() -> Option<u64> {
    const MEGABYTE: u64 = 1 << 20;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let figure = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    let kilobytes = figure("VmExe:")? + figure("VmLib:")? + figure("RssAnon:")?;
    Some((kilobytes * 1024).next_multiple_of(MEGABYTE))
}
