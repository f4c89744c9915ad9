//! `sum(e)` and `avg(e)` of ints.
//!
//! A sum of fewer than 2^64 ints fits 128 bits. Most fit 64, which matters where there are millions of groups: sums are
//! kept in 64 bits as long as no group can have passed them, by the size of all values so far.

use std::ops::Range;

use super::counts::Counts;
use super::slots::{Results, Slots, for_each_valid};
use super::sum::Result;
use super::wide_float::WideFloat;
use super::{Finished, RowOrder, State};
use crate::exec::batch::Column;
use crate::exec::varint;

/// What a sum of ints that needs more than 64 bits says.
const INTEGER_OVERFLOW: &str = "integer sum overflow";

/// A sum for each group, and the number of its values.
pub(super) struct IntSums {
    result: Result,
    sums: Sums,
    counts: Counts,
    /// No sum is further from 0.
    reach: u128,
}

enum Sums {
    Narrow(Slots<i64>),
    Wide(Slots<i128>),
}

/// The lower half of a value.
const HALF: u64 = (1 << HALF_BITS) - 1;
const HALF_BITS: u32 = 32;

/// How far from 0 a sum in 64 bits may be.
const NARROW: u128 = i64::MAX as u128;

impl IntSums {
    /// Makes ready for a sum or a mean.
    pub fn new(result: Result) -> Self {
        Self { result, sums: Sums::Narrow(Slots::default()), counts: Counts::default(), reach: 0 }
    }

    /// The most that sums hold while there is made room for `count` groups of which none goes further than `reach`.
    fn most(&self, count: usize, reach: u128) -> u64 {
        match &self.sums {
            Sums::Narrow(sums) if reach <= NARROW => sums.bound(count),
            // All of them move to a list of wide ones, which grew as any other.
            Sums::Narrow(sums) => sums.bound(count) + Slots::<i128>::default().bound(count),
            Sums::Wide(sums) => sums.bound(count),
        }
    }

    /// Sees to it that sums can go as far as `reach`.
    fn widen(&mut self, reach: u128) {
        self.reach = reach;
        if let Sums::Narrow(narrow) = &self.sums
            && reach > NARROW
        {
            let mut wide = Slots::default();
            wide.grow(narrow.len());
            for group in 0..narrow.len() as u32 {
                *wide.of(group) = i128::from(*narrow.get(group));
            }
            self.sums = Sums::Wide(wide);
        }
    }

    /// How far sums can go with one more column: it counts value by value, so that it doesn't matter how many come at once.
    fn reach_with(&self, column: &Column) -> u128 {
        let Column::Int(a) = column else { return self.reach };
        let values = a.values();
        // Halves of values, of which four billion add up without an overflow.
        let (mut low, mut high) = (0, 0);
        let mut add = |value: i64| {
            let distance = value.unsigned_abs();
            (low, high) = (low + (distance & HALF), high + (distance >> HALF_BITS));
        };
        match column.validity() {
            None => values.iter().for_each(|value| add(*value)),
            Some(_) => for_each_valid(column, |row| add(values[row])),
        }
        self.reach + (u128::from(high) << HALF_BITS) + u128::from(low)
    }

    fn sum(&self, group: u32) -> i128 {
        match &self.sums {
            Sums::Narrow(sums) => i128::from(*sums.get(group)),
            Sums::Wide(sums) => *sums.get(group),
        }
    }
}

impl State for IntSums {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        // Grown first: a wide list is made with room for all.
        self.grow(count);
        self.widen(self.reach_with(&args[0]));
        let Column::Int(a) = &args[0] else { return };
        let values = a.values();
        match &mut self.sums {
            Sums::Narrow(sums) => for_each_valid(&args[0], |row| *sums.of(groups[row]) += values[row]),
            Sums::Wide(sums) => for_each_valid(&args[0], |row| *sums.of(groups[row]) += i128::from(values[row])),
        }
        self.counts.add_values(groups, &args[0]);
    }

    fn grow(&mut self, count: usize) {
        self.counts.grow(count);
        match &mut self.sums {
            Sums::Narrow(sums) => sums.grow(count),
            Sums::Wide(sums) => sums.grow(count),
        }
    }

    fn bytes(&self) -> u64 {
        let sums = match &self.sums {
            Sums::Narrow(sums) => sums.bytes(),
            Sums::Wide(sums) => sums.bytes(),
        };
        sums + self.counts.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.most(count, self.reach_with(&args[0])) + self.counts.bound(count, args[0].len() as u64)
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        varint::put(self.counts.get(group), out);
        varint::put_signed(self.sum(group), out);
    }

    fn merge_bound(&self, count: usize, mut state: &[u8]) -> u64 {
        let (values, sum) = match state.is_empty() {
            true => (0, 0),
            false => (varint::take(&mut state), varint::take_signed(&mut state)),
        };
        self.most(count, self.reach + sum.unsigned_abs()) + self.counts.bound(count, values)
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        self.counts.add(group, varint::take(state));
        let more = varint::take_signed(state);
        self.widen(self.reach + more.unsigned_abs());
        match &mut self.sums {
            Sums::Narrow(sums) => *sums.of(group) += more as i64,
            Sums::Wide(sums) => *sums.of(group) += more,
        }
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        let states = groups.clone().map(|group| (self.sum(group), self.counts.get(group)));
        match self.result {
            Result::Sum => Results::of(groups.start, states, |(sum, count)| match (count, i64::try_from(sum)) {
                (0, _) => Ok(None),
                (_, Ok(sum)) => Ok(Some(sum)),
                (_, Err(_)) => Err(INTEGER_OVERFLOW.to_string()),
            })
            .column(Column::ints),
            Result::Mean => {
                let mean = |(sum, count)| Ok((count > 0).then(|| mean(sum, count)));
                Results::of(groups.start, states, mean).column(Column::floats)
            }
        }
    }
}

/// A sum of ints divided by their number, correctly rounded.
fn mean(sum: i128, count: u64) -> f64 {
    const EXACT: u128 = 1 << 53;
    if sum.unsigned_abs() <= EXACT && u128::from(count) <= EXACT {
        return sum as f64 / count as f64;
    }
    let mut wide = WideFloat::default();
    wide.add_int(sum);
    wide.quotient(count)
}
