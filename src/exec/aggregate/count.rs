//! `count(*)` and `count(e)`.

use std::ops::Range;

use super::encoded::fixed;
use super::slots::{Slots, as_int, for_each_valid};
use super::{Finished, RowOrder, State};
use crate::exec::batch::Column;

/// `count(*)`: rows.
#[derive(Default)]
pub struct Rows(Slots<u64>);

/// `count(e)`: rows whose value isn't null.
#[derive(Default)]
pub struct Values(Slots<u64>);

impl State for Rows {
    fn update(&mut self, groups: &[u32], count: usize, _args: &[Column]) {
        self.0.grow(count);
        groups.iter().for_each(|group| *self.0.of(*group) += 1);
    }

    fn grow(&mut self, count: usize) {
        self.0.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.0.bound(count)
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.get(group).to_le_bytes());
    }

    fn merge_bound(&self, count: usize, _state: &[u8]) -> u64 {
        self.0.bound(count)
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        *self.0.of(group) += u64::from_le_bytes(fixed(state));
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        counts(self.0.range(&groups))
    }
}

impl State for Values {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.0.grow(count);
        for_each_valid(&args[0], |row| *self.0.of(groups[row]) += 1);
    }

    fn grow(&mut self, count: usize) {
        self.0.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.0.bound(count)
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.get(group).to_le_bytes());
    }

    fn merge_bound(&self, count: usize, _state: &[u8]) -> u64 {
        self.0.bound(count)
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        *self.0.of(group) += u64::from_le_bytes(fixed(state));
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        counts(self.0.range(&groups))
    }
}

fn counts<'a>(counts: impl Iterator<Item = &'a u64>) -> Finished {
    Finished::of(Column::ints(counts.map(|count| as_int(*count)).collect(), None))
}
