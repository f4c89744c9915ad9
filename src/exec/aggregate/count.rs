//! `count(*)` and `count(e)`.

use std::ops::Range;

use super::counts::Counts;
use super::slots::as_int;
use super::{Finished, RowOrder, State};
use crate::exec::batch::Column;
use crate::exec::varint;

/// More rows than a block has. `count(*)` has no argument that would tell how many there are.
const MOST_ROWS: u64 = 1 << 30;

/// The count of each group: of its rows, or of the values that aren't null.
pub struct Count {
    of_values: bool,
    counts: Counts,
}

impl Count {
    /// `count(*)`
    pub fn rows() -> Self {
        Self { of_values: false, counts: Counts::default() }
    }

    /// `count(e)`
    pub fn values() -> Self {
        Self { of_values: true, counts: Counts::default() }
    }
}

impl State for Count {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.counts.grow(count);
        match args.first().filter(|_| self.of_values) {
            Some(column) => self.counts.add_values(groups, column),
            None => self.counts.add_rows(groups),
        }
    }

    fn grow(&mut self, count: usize) {
        self.counts.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.counts.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.counts.bound(count, MOST_ROWS)
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        varint::put(self.counts.get(group), out);
    }

    fn merge_bound(&self, count: usize, mut state: &[u8]) -> u64 {
        let more = if state.is_empty() { 0 } else { varint::take(&mut state) };
        self.counts.bound(count, more)
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        self.counts.add(group, varint::take(state));
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        let counts = groups.map(|group| as_int(self.counts.get(group)));
        Finished::of(Column::ints(counts.collect(), None))
    }
}
