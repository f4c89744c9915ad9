//! `sum(e)` and `avg(e)`.

use std::ops::Range;

use super::decimal_sum::DecimalSum;
use super::float_sum::FloatSum;
use super::int_sum::IntSums;
use super::slots::{Results, Slots, for_each_valid};
use super::{Finished, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::varint;

/// What is made of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Result {
    /// The sum itself.
    Sum,
    /// The sum divided by the number of values.
    Mean,
}

/// What a sum of floats that no float holds says.
pub const FLOAT_OVERFLOW: &str = "float sum overflow";
/// What a sum of decimals that needs more than 96 bits says.
pub const DECIMAL_OVERFLOW: &str = "decimal sum overflow";

/// The state for arguments of `kind`.
pub fn state(kind: &Kind, result: Result) -> Box<dyn State> {
    match kind {
        Kind::Int => Box::new(IntSums::new(result)),
        Kind::Float => Box::new(Sums::<FloatSum>::new(result)),
        Kind::Decimal { .. } => Box::new(Sums::<DecimalSum>::new(result)),
        _ => unreachable!("only numbers have a sum"),
    }
}

/// A sum for each group, with the number of its values.
struct Sums<S> {
    result: Result,
    slots: Slots<(S, u64)>,
}

/// An exact sum.
trait Sum: Default + Send + Sync {
    /// Most bytes that adding one value can take elsewhere.
    const MOST_HEAP: u64;

    /// Adds a column's values that are not null to the sums that `slots` has for their groups.
    fn add_all(column: &Column, groups: &[u32], slots: &mut Slots<(Self, u64)>);

    /// Appends the sum as bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Adds an encoded sum, which it takes off the front. Gives how many bytes more are held elsewhere: at most three
    /// times [`Self::MOST_HEAP`].
    fn merge(&mut self, state: &mut &[u8]) -> u64;

    /// What the sums of groups from number `first` on come to; a group without values has null.
    fn results<'a>(first: u32, states: impl Iterator<Item = &'a (Self, u64)>, result: Result) -> Finished
    where
        Self: 'a;
}

impl<S: Sum> Sums<S> {
    fn new(result: Result) -> Self {
        Self { result, slots: Slots::default() }
    }
}

impl<S: Sum> State for Sums<S> {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.slots.grow(count);
        S::add_all(&args[0], groups, &mut self.slots);
    }

    fn grow(&mut self, count: usize) {
        self.slots.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.slots.bound(count) + args[0].len() as u64 * S::MOST_HEAP
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        let (sum, count) = self.slots.get(group);
        varint::put(*count, out);
        sum.encode(out);
    }

    fn merge_bound(&self, count: usize, _state: &[u8]) -> u64 {
        self.slots.bound(count) + 3 * S::MOST_HEAP
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        let (sum, count) = self.slots.of(group);
        *count += varint::take(state);
        self.slots.heap += sum.merge(state);
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        S::results(groups.start, self.slots.range(&groups), self.result)
    }
}

impl Sum for FloatSum {
    const MOST_HEAP: u64 = FloatSum::MOST_HEAP;

    fn add_all(column: &Column, groups: &[u32], slots: &mut Slots<(Self, u64)>) {
        let Column::Float(a) = column else { return };
        let values = a.values();
        let mut grown = 0;
        for_each_valid(column, |row| {
            let (sum, count) = slots.of(groups[row]);
            grown += sum.add(values[row]);
            *count += 1;
        });
        slots.heap += grown;
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        self.merge(state)
    }

    fn results<'a>(first: u32, states: impl Iterator<Item = &'a (Self, u64)>, result: Result) -> Finished {
        let value = |(sum, count): &(FloatSum, u64)| match result {
            _ if *count == 0 => Ok(None),
            Result::Sum if sum.overflows() => Err(FLOAT_OVERFLOW.to_string()),
            Result::Sum => Ok(Some(sum.value())),
            Result::Mean => Ok(Some(sum.mean(*count))),
        };
        Results::of(first, states, value).column(Column::floats)
    }
}

impl Sum for DecimalSum {
    const MOST_HEAP: u64 = DecimalSum::MOST_HEAP;

    fn add_all(column: &Column, groups: &[u32], slots: &mut Slots<(Self, u64)>) {
        let Column::Decimal(a) = column else { return };
        let mut grown = 0;
        for_each_valid(column, |row| {
            let (sum, count) = slots.of(groups[row]);
            grown += sum.add(a.mantissas.value(row), a.scales.at(row));
            *count += 1;
        });
        slots.heap += grown;
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        self.merge(state)
    }

    fn results<'a>(first: u32, states: impl Iterator<Item = &'a (Self, u64)>, result: Result) -> Finished {
        let value = |(sum, count): &(DecimalSum, u64)| {
            if *count == 0 {
                return Ok(None);
            }
            let value = if result == Result::Sum { sum.value() } else { sum.mean(*count) };
            value.map(Some).ok_or_else(|| DECIMAL_OVERFLOW.to_string())
        };
        Results::of(first, states, value).decimals()
    }
}
