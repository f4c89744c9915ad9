//! `weighted_avg(v, w)`: the sum of `v * w` divided by the sum of `w`. Rows where either is null are left out; without
//! weight there is no result.
//!
//! Both sums are exact. For decimals the quotient is rounded once; for ints and floats the sums are, too.

use arrow_buffer::i256;

use super::float_sum::FloatSum;
use super::slots::{Results, Slots, for_each_valid};
use super::sum::DECIMAL_OVERFLOW;
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
trait Average: Default + Send {
    /// Most bytes that one row can take elsewhere.
    const MOST_HEAP: u64;

    /// Adds a row, of which neither is null. Gives how many bytes more are held elsewhere.
    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64;

    /// The results.
    fn results(states: Vec<Self>) -> Finished;
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

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.0.bound(count) + args[0].len() as u64 * S::MOST_HEAP
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        S::results(self.0.finish(order.groups))
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

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Float(values), Column::Float(weights)) = (values, weights) else { return 0 };
        self.products.add_product(values.value(row), weights.value(row)) + self.weights.add(weights.value(row))
    }

    fn results(states: Vec<Self>) -> Finished {
        Results::of(states, |state| Ok(quotient(&state.products, &state.weights))).column(Column::floats)
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

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Int(values), Column::Int(weights)) = (values, weights) else { return 0 };
        let (value, weight) = (i128::from(values.value(row)), i128::from(weights.value(row)));
        self.products = self.products.wrapping_add(i256::from_i128(value * weight));
        self.weights += weight;
        0
    }

    fn results(states: Vec<Self>) -> Finished {
        Results::of(states, |state| Ok(state.quotient())).column(Column::floats)
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

/// Sums of decimals, each with as many places as the number of them that has most.
#[derive(Default)]
struct Decimals {
    products: i256,
    products_scale: u8,
    weights: i256,
    weights_scale: u8,
    overflows: bool,
}

impl Average for Decimals {
    const MOST_HEAP: u64 = 0;

    fn add(&mut self, values: &Column, weights: &Column, row: usize) -> u64 {
        let (Column::Decimal(values), Column::Decimal(weights)) = (values, weights) else { return 0 };
        let (value, value_scale) = (values.mantissas.value(row), values.scales.at(row));
        let (weight, weight_scale) = (weights.mantissas.value(row), weights.scales.at(row));
        let product = i256::from_i128(value).wrapping_mul(i256::from_i128(weight));
        let added = add(&mut self.products, &mut self.products_scale, product, value_scale + weight_scale)
            .and_then(|()| add(&mut self.weights, &mut self.weights_scale, i256::from_i128(weight), weight_scale));
        self.overflows |= added.is_none();
        0
    }

    fn results(states: Vec<Self>) -> Finished {
        let value = |state: Self| match state.overflows {
            true => Err(DECIMAL_OVERFLOW.to_string()),
            false if state.weights == i256::ZERO => Ok(None),
            false => state.quotient().map(Some).ok_or_else(|| DECIMAL_OVERFLOW.to_string()),
        };
        Results::of(states, value).decimals()
    }
}

impl Decimals {
    fn quotient(&self) -> Option<(i128, u8)> {
        // A product has at least the places of its weight.
        let more = self.products_scale - self.weights_scale;
        let divisor = self.weights.checked_mul(wide::power_of_ten(more))?;
        match divisor.is_negative() {
            true => wide::divided(self.products.wrapping_neg(), divisor.wrapping_neg(), more),
            false => wide::divided(self.products, divisor, more),
        }
    }
}

/// Adds a number to a sum; `None` if it doesn't fit.
fn add(sum: &mut i256, places: &mut u8, number: i256, scale: u8) -> Option<()> {
    let most = scale.max(*places);
    let before = sum.checked_mul(wide::power_of_ten(most - *places))?;
    let number = number.checked_mul(wide::power_of_ten(most - scale))?;
    (*sum, *places) = (before.checked_add(number)?, most);
    Some(())
}
