//! `weighted_avg(v, w)`: the sum of `v * w` divided by the sum of `w`. Rows where either is null are left out; without
//! weight there is no result.
//!
//! Both sums are exact. For decimals the quotient is rounded once; for other numbers the sums are, too.

use arrow_array::Array;
use arrow_buffer::i256;

use super::any_sum::DECIMAL_OVERFLOW;
use super::float_sum::FloatSum;
use super::slots::{Results, Slots, mismatch};
use super::{Finished, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::eval::wide;
use crate::exec::value::Value;

/// The state for arguments of these kinds; a result of values of unknown types is of the kind `any`.
pub fn state(value: &Kind, weight: &Kind, any: Kind) -> Box<dyn State> {
    let result = match (value, weight) {
        (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => Kind::Float,
        (Kind::Int | Kind::Decimal { .. }, Kind::Int | Kind::Decimal { .. }) => Kind::Decimal { scale: None },
        _ => any,
    };
    Box::new(Averages { result, slots: Slots::default() })
}

struct Averages {
    result: Kind,
    slots: Slots<Average>,
}

/// Most bytes that one row can take elsewhere: it adds at most five numbers to sums.
const MOST_HEAP: u64 = 5 * FloatSum::MOST_HEAP;

impl State for Averages {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.slots.grow(count);
        let (values, weights) = (&args[0], &args[1]);
        let mut grown = 0;
        for (row, group) in groups.iter().enumerate() {
            let (value, weight) = (number(values, row), number(weights, row));
            if !value.is_null() && !weight.is_null() {
                grown += self.slots.of(*group).add(&value, &weight);
            }
        }
        self.slots.heap += grown;
    }

    fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.slots.bound(count) + args[0].len() as u64 * MOST_HEAP
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        Results::of(self.slots.finish(order.groups), Average::value).values(&self.result)
    }
}

/// The value of a row; the frequent ones without a detour.
fn number(column: &Column, row: usize) -> Value {
    match column {
        Column::Int(a) if a.is_valid(row) => Value::Int(a.value(row)),
        Column::Float(a) if a.is_valid(row) => Value::Float(a.value(row)),
        column => column.value(row),
    }
}

/// A group's sums.
#[derive(Default)]
struct Average {
    /// Rows of ints and decimals.
    exact: Exact,
    /// Rows with a float.
    products: FloatSum,
    weights: FloatSum,
    has_floats: bool,
    has_decimals: bool,
    failed: Option<Failed>,
}

#[derive(Clone, Copy)]
enum Failed {
    /// A sum of decimals takes more than 256 bits.
    Overflow,
    /// A value of this type is not a number.
    NoNumber(&'static str),
    /// A decimal and a float have no product.
    Mixed,
}

impl Average {
    /// Adds a row. Gives how many bytes more are held elsewhere.
    fn add(&mut self, value: &Value, weight: &Value) -> u64 {
        if let (Some(v), Some(w)) = (value.as_decimal(), weight.as_decimal()) {
            self.has_decimals |= !(is_int(value) && is_int(weight));
            if self.exact.add(v, w).is_none() {
                self.failed.get_or_insert(Failed::Overflow);
            }
            return 0;
        }
        match (parts(value), parts(weight)) {
            (Ok(value), Ok(weight)) => self.add_floats(value, weight),
            (Err(failed), _) | (_, Err(failed)) => {
                self.failed.get_or_insert(failed);
                0
            }
        }
    }

    fn add_floats(&mut self, value: [f64; 2], weight: [f64; 2]) -> u64 {
        self.has_floats = true;
        let mut grown = self.products.add_product(value[0], weight[0]);
        // At most one of them is an int, and may be more or less than the nearest double.
        if value[1] != 0.0 {
            grown += self.products.add_product(value[1], weight[0]);
        }
        if weight[1] != 0.0 {
            grown += self.products.add_product(value[0], weight[1]);
        }
        grown + self.weights.add(weight[0]) + self.weights.add(weight[1])
    }

    fn value(mut self) -> Result<Option<Value>, String> {
        match self.failed {
            Some(Failed::Overflow) => Err(DECIMAL_OVERFLOW.into()),
            Some(Failed::NoNumber(found)) => Err(mismatch("a number", found)),
            Some(Failed::Mixed) => Err(mismatch("float", "decimal")),
            None if self.has_decimals && self.has_floats => Err(mismatch("float", "decimal")),
            None if self.has_decimals => self.exact.value(),
            None => {
                add_exact(&mut self.products, self.exact.products);
                add_exact(&mut self.weights, self.exact.weights);
                let weight = self.weights.value();
                Ok((weight != 0.0).then(|| Value::Float(self.products.value() / weight)))
            }
        }
    }
}

fn is_int(value: &Value) -> bool {
    matches!(value, Value::Int(_))
}

/// An int or float as the exact sum of two doubles.
fn parts(value: &Value) -> Result<[f64; 2], Failed> {
    match value {
        Value::Float(f) => Ok([*f, 0.0]),
        Value::Int(i) => {
            let nearest = *i as f64;
            Ok([nearest, (i128::from(*i) - nearest as i128) as f64])
        }
        Value::Decimal { .. } => Err(Failed::Mixed),
        other => Err(Failed::NoNumber(other.type_name())),
    }
}

/// Adds a wide int, of which doubles can hold 43 bits at a time wherever they stand.
fn add_exact(sum: &mut FloatSum, number: i256) {
    const BITS: u8 = 43;
    let sign = if number.is_negative() { -1.0 } else { 1.0 };
    let (unit, mut magnitude, mut weight) = (i256::from_i128(1 << BITS), number.wrapping_abs(), sign);
    while magnitude != i256::ZERO {
        sum.add(magnitude.wrapping_rem(unit).as_i128() as f64 * weight);
        magnitude = magnitude.wrapping_div(unit);
        weight *= (1_u64 << BITS) as f64;
    }
}

/// Sums of ints and decimals, each with as many places as the number of them that has most.
#[derive(Default)]
struct Exact {
    products: i256,
    products_scale: u8,
    weights: i256,
    weights_scale: u8,
}

impl Exact {
    /// Adds a row; `None` if it doesn't fit.
    fn add(&mut self, value: (i128, u8), weight: (i128, u8)) -> Option<()> {
        let product = i256::from_i128(value.0).wrapping_mul(i256::from_i128(weight.0));
        add(&mut self.products, &mut self.products_scale, product, value.1 + weight.1)?;
        add(&mut self.weights, &mut self.weights_scale, i256::from_i128(weight.0), weight.1)
    }

    fn value(&self) -> Result<Option<Value>, String> {
        if self.weights == i256::ZERO {
            return Ok(None);
        }
        let (mantissa, scale) = self.quotient().ok_or(DECIMAL_OVERFLOW)?;
        Ok(Some(Value::Decimal { mantissa, scale }))
    }

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

fn add(sum: &mut i256, places: &mut u8, number: i256, scale: u8) -> Option<()> {
    let most = scale.max(*places);
    let before = sum.checked_mul(wide::power_of_ten(most - *places))?;
    let number = number.checked_mul(wide::power_of_ten(most - scale))?;
    (*sum, *places) = (before.checked_add(number)?, most);
    Some(())
}
