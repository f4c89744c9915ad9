//! How many rows or values each group has.
//!
//! Counts are kept in 32 bits until there were so many rows that one could pass them.

use super::slots::{Slots, for_each_valid};
use crate::exec::batch::Column;

/// A count for each group.
pub(super) struct Counts {
    counts: Width,
    /// No count is larger.
    total: u64,
}

enum Width {
    Narrow(Slots<u32>),
    Wide(Slots<u64>),
}

impl Default for Counts {
    fn default() -> Self {
        Self { counts: Width::Narrow(Slots::default()), total: 0 }
    }
}

impl Counts {
    /// Makes room for `count` groups.
    pub fn grow(&mut self, count: usize) {
        match &mut self.counts {
            Width::Narrow(counts) => counts.grow(count),
            Width::Wide(counts) => counts.grow(count),
        }
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        match &self.counts {
            Width::Narrow(counts) => counts.bytes(),
            Width::Wide(counts) => counts.bytes(),
        }
    }

    /// The most that is held while there is made room for `count` groups and `more` is counted.
    pub fn bound(&self, count: usize, more: u64) -> u64 {
        match &self.counts {
            Width::Narrow(counts) if self.stays_narrow(more) => counts.bound(count),
            Width::Narrow(counts) => counts.bound(count) + Slots::<u64>::default().bound(count),
            Width::Wide(counts) => counts.bound(count),
        }
    }

    /// Counts every row.
    pub fn add_rows(&mut self, groups: &[u32]) {
        self.widen(groups.len() as u64);
        match &mut self.counts {
            Width::Narrow(counts) => groups.iter().for_each(|group| *counts.of(*group) += 1),
            Width::Wide(counts) => groups.iter().for_each(|group| *counts.of(*group) += 1),
        }
    }

    /// Counts the values of a column that are not null.
    pub fn add_values(&mut self, groups: &[u32], column: &Column) {
        self.widen(groups.len() as u64);
        match &mut self.counts {
            Width::Narrow(counts) => for_each_valid(column, |row| *counts.of(groups[row]) += 1),
            Width::Wide(counts) => for_each_valid(column, |row| *counts.of(groups[row]) += 1),
        }
    }

    /// Counts `more` in a group.
    pub fn add(&mut self, group: u32, more: u64) {
        self.widen(more);
        match &mut self.counts {
            Width::Narrow(counts) => *counts.of(group) += more as u32,
            Width::Wide(counts) => *counts.of(group) += more,
        }
    }

    /// The count of a group.
    pub fn get(&self, group: u32) -> u64 {
        match &self.counts {
            Width::Narrow(counts) => u64::from(*counts.get(group)),
            Width::Wide(counts) => *counts.get(group),
        }
    }

    fn stays_narrow(&self, more: u64) -> bool {
        self.total.saturating_add(more) <= u64::from(u32::MAX)
    }

    /// Sees to it that `more` can be counted.
    fn widen(&mut self, more: u64) {
        if let Width::Narrow(narrow) = &self.counts
            && !self.stays_narrow(more)
        {
            let mut wide = Slots::default();
            wide.grow(narrow.len());
            (0..narrow.len() as u32).for_each(|group| *wide.of(group) = u64::from(*narrow.get(group)));
            self.counts = Width::Wide(wide);
        }
        self.total = self.total.saturating_add(more);
    }
}
