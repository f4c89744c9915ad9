//! `weighted_avg(v, w)`: the sum of `v * w` divided by the sum of `w`. Rows where either is null are left out; without
//! weight there is no result.
//!
//! Both sums are exact. For decimals the quotient is rounded once; for ints and floats the sums are, too.

use std::ops::Range;

use arrow_buffer::i256;

use super::encoded::fixed;
use super::float_sum::FloatSum;
use super::slots::{Results, Slots, for_each_valid};
use super::sum::{DECIMAL_OVERFLOW, FLOAT_OVERFLOW};
use super::{Finished, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::eval::wide;

/// The state for two arguments of `kind`.
pub fn state(kind: &Kind) -> Box<dyn State> {
    match kind {
        Kind::Int => Box::new(Averages::<Ints>::default()),
        Kind::Float => Box::new(Averages::<Floats>::default()),
        Kind::Decimal { .. } => Box::new(Averages::<Decimals>::default()),
        _ => unreachable!("only numbers have a weighted average"),
    }
}

#[derive(Default)]
struct Averages<S>(Slots<S>);

/// The sums of a group.
trait Average: Default + Send + Sync {
    /// Most bytes that one row can take elsewhere.
    const MOST_HEAP: u64;
    /// Most bytes that merging a state can take elsewhere.
    const MOST_MERGED: u64;

    /// Adds a row, of which neither is null. Gives how many bytes more are held elsewhere.
    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64;

    /// Appends the sums as bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Adds encoded sums, which it takes off the front. Gives how many bytes more are held elsewhere.
    fn merge(&mut self, state: &mut &[u8]) -> u64;

    /// The results of groups from number `first` on.
    fn results<'a>(first: u32, states: impl Iterator<Item = &'a Self>) -> Finished
    where
        Self: 'a;
}

impl<S: Average> State for Averages<S> {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.0.grow(count);
        let (values, weights) = (&args[0], &args[1]);
        let mut grown = 0;
        for_each_valid(values, |row| {
            if !weights.is_null(row) {
                grown += self.0.of(groups[row]).add(values, weights, row);
            }
        });
        self.0.heap += grown;
    }

    fn grow(&mut self, count: usize) {
        self.0.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.0.bound(count) + args[0].len() as u64 * S::MOST_HEAP
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        self.0.get(group).encode(out);
    }

    fn merge_bound(&self, count: usize, _state: &[u8]) -> u64 {
        self.0.bound(count) + S::MOST_MERGED
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        self.0.heap += self.0.of(group).merge(state);
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        S::results(groups.start, self.0.range(&groups))
    }
}

#[derive(Default)]
struct Floats {
    products: FloatSum,
    weights: FloatSum,
}

impl Average for Floats {
    // A product is added in two parts.
    const MOST_HEAP: u64 = 3 * FloatSum::MOST_HEAP;
    const MOST_MERGED: u64 = 6 * FloatSum::MOST_HEAP;

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Float(values), Column::Float(weights)) = (values, weights) else { return 0 };
        self.products.add_product(values.value(row), weights.value(row)) + self.weights.add(weights.value(row))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.products.encode(out);
        self.weights.encode(out);
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        self.products.merge(state) + self.weights.merge(state)
    }

    fn results<'a>(first: u32, states: impl Iterator<Item = &'a Self>) -> Finished {
        let result = |Self { products, weights }: &Self| match products.overflows() || weights.overflows() {
            true => Err(FLOAT_OVERFLOW.to_string()),
            false => Ok(quotient(products, weights)),
        };
        Results::of(first, states, result).column(Column::floats)
    }
}

fn quotient(products: &FloatSum, weights: &FloatSum) -> Option<f64> {
    let weight = weights.value();
    (weight != 0.0).then(|| products.value() / weight)
}

/// Fewer than 2^64 products of ints fit 256 bits.
#[derive(Default)]
struct Ints {
    products: i256,
    weights: i128,
}

impl Average for Ints {
    const MOST_HEAP: u64 = 0;
    const MOST_MERGED: u64 = 0;

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Int(values), Column::Int(weights)) = (values, weights) else { return 0 };
        let (value, weight) = (i128::from(values.value(row)), i128::from(weights.value(row)));
        self.products = self.products.wrapping_add(i256::from_i128(value * weight));
        self.weights += weight;
        0
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.products.to_le_bytes());
        out.extend_from_slice(&self.weights.to_le_bytes());
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        self.products = self.products.wrapping_add(i256::from_le_bytes(fixed(state)));
        self.weights += i128::from_le_bytes(fixed(state));
        0
    }

    fn results<'a>(first: u32, states: impl Iterator<Item = &'a Self>) -> Finished {
        Results::of(first, states, |state| Ok(state.quotient())).column(Column::floats)
    }
}

impl Ints {
    fn quotient(&self) -> Option<f64> {
        let (mut products, mut weights) = (FloatSum::default(), FloatSum::default());
        add_exact(&mut products, self.products);
        add_exact(&mut weights, i256::from_i128(self.weights));
        quotient(&products, &weights)
    }
}

/// Adds a wide int, of which doubles can hold 43 bits at a time wherever they stand.
fn add_exact(sum: &mut FloatSum, number: i256) {
    const UNIT: i128 = 1 << 43;
    let (mut magnitude, mut weight) = (number.wrapping_abs(), if number.is_negative() { -1.0 } else { 1.0 });
    while magnitude != i256::ZERO {
        sum.add(magnitude.wrapping_rem(i256::from_i128(UNIT)).as_i128() as f64 * weight);
        magnitude = magnitude.wrapping_div(i256::from_i128(UNIT));
        weight *= UNIT as f64;
    }
}

#[derive(Default)]
struct Decimals {
    products: Sums,
    weights: Sums,
}

impl Average for Decimals {
    const MOST_HEAP: u64 = 2 * Sums::SCALE;
    const MOST_MERGED: u64 = 3 * 57 * Sums::SCALE;

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Decimal(values), Column::Decimal(weights)) = (values, weights) else { return 0 };
        let (value, value_scale) = (values.mantissas.value(row), values.scales.at(row));
        let (weight, weight_scale) = (weights.mantissas.value(row), weights.scales.at(row));
        let product = i256::from_i128(value).wrapping_mul(i256::from_i128(weight));
        self.products.add(product, value_scale + weight_scale) + self.weights.add(i256::from_i128(weight), weight_scale)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.products.encode(out);
        self.weights.encode(out);
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        self.products.merge(state) + self.weights.merge(state)
    }

    fn results<'a>(first: u32, states: impl Iterator<Item = &'a Self>) -> Finished {
        Results::of(first, states, |state| state.quotient().ok_or_else(|| DECIMAL_OVERFLOW.to_string())).decimals()
    }
}

impl Decimals {
    /// The quotient, null without weight; `None` if there are more digits than fit.
    fn quotient(&self) -> Option<Option<(i128, u8)>> {
        let (weights, weights_scale) = self.weights.total()?;
        if weights == i256::ZERO {
            return Some(None);
        }
        let (products, products_scale) = self.products.total()?;
        // A product has at least the places of its weight.
        let more = products_scale - weights_scale;
        let divisor = weights.checked_mul(wide::power_of_ten(more))?;
        match divisor.is_negative() {
            true => wide::divided(products.wrapping_neg(), divisor.wrapping_neg(), more),
            false => wide::divided(products, divisor, more),
        }
        .map(Some)
    }
}

/// A sum of decimals or of products of two, apart for each number of places: fewer than 2^63 numbers of 192 bits fit
/// 256, so it is exact in any order.
#[derive(Default)]
struct Sums {
    scale: u8,
    sum: i256,
    others: Vec<(u8, i256)>,
}

impl Sums {
    /// Bytes that one more number of places takes.
    const SCALE: u64 = size_of::<(u8, i256)>() as u64;

    /// Adds a number. Gives how many bytes more are held elsewhere.
    fn add(&mut self, number: i256, scale: u8) -> u64 {
        if scale != self.scale {
            if self.sum != i256::ZERO || scale < self.scale {
                return self.add_other(number, scale);
            }
            // Zero with fewer places says nothing.
            self.scale = scale;
        }
        self.sum = self.sum.wrapping_add(number);
        0
    }

    fn add_other(&mut self, number: i256, scale: u8) -> u64 {
        if let Some((_, sum)) = self.others.iter_mut().find(|(other, _)| *other == scale) {
            *sum = sum.wrapping_add(number);
            return 0;
        }
        self.others.reserve_exact(1);
        self.others.push((scale, number));
        Self::SCALE
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.others.len() as u8 + 1);
        for (scale, sum) in self.scales() {
            out.push(scale);
            out.extend_from_slice(&sum.to_le_bytes());
        }
    }

    fn merge(&mut self, state: &mut &[u8]) -> u64 {
        let [scales] = fixed(state);
        let mut grown = 0;
        for _ in 0..scales {
            let [scale] = fixed(state);
            grown += self.add(i256::from_le_bytes(fixed(state)), scale);
        }
        grown
    }

    /// The sum of each number of places.
    fn scales(&self) -> impl Iterator<Item = (u8, i256)> {
        std::iter::once((self.scale, self.sum)).chain(self.others.iter().copied())
    }

    /// The sum, with as many places as the number of them that has most; `None` if it doesn't fit 256 bits.
    fn total(&self) -> Option<(i256, u8)> {
        let mut parts: Vec<_> = self.scales().collect();
        // In one order, so that whether it fits depends on the sums alone.
        parts.sort_unstable_by_key(|(scale, _)| *scale);
        let (most, _) = *parts.last()?;
        let mut total = i256::ZERO;
        for (scale, sum) in parts {
            total = total.checked_add(sum.checked_mul(wide::power_of_ten(most - scale))?)?;
        }
        Some((total, most))
    }
}
