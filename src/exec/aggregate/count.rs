//! `count(*)` and `count(e)`.

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

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.0.bound(count)
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        counts(self.0.finish(order.groups))
    }
}

impl State for Values {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.0.grow(count);
        for_each_valid(&args[0], |row| *self.0.of(groups[row]) += 1);
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.0.bound(count)
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        counts(self.0.finish(order.groups))
    }
}

fn counts(counts: Vec<u64>) -> Finished {
    Finished::of(Column::ints(counts.into_iter().map(as_int).collect(), None))
}
