//! Sums of values whose type is known only at run time.

use super::decimal_sum::DecimalSum;
use super::float_sum::FloatSum;
use super::slots::mismatch;
use crate::exec::value::Value;

/// An exact sum of numbers of any types.
#[derive(Debug, Default)]
pub struct AnySum {
    ints: i128,
    floats: FloatSum,
    decimals: DecimalSum,
    has_floats: bool,
    has_decimals: bool,
    /// The type of the first value that is not a number.
    other: Option<&'static str>,
}

impl AnySum {
    /// Most bytes that adding one number can take elsewhere.
    pub const MOST_HEAP: u64 = FloatSum::MOST_HEAP + DecimalSum::MOST_HEAP;

    /// Adds a value. Gives how many bytes more are held elsewhere.
    pub fn add(&mut self, value: &Value) -> u64 {
        match value {
            Value::Int(i) => self.ints += i128::from(*i),
            Value::Float(f) => {
                self.has_floats = true;
                return self.floats.add(*f);
            }
            Value::Decimal { mantissa, scale } => {
                self.has_decimals = true;
                return self.decimals.add(*mantissa, *scale);
            }
            other => self.other = self.other.or(Some(other.type_name())),
        }
        0
    }

    /// A float if there is one among the numbers, else a decimal if there is one, else an int.
    pub fn value(mut self) -> Result<Value, String> {
        self.check()?;
        if self.has_floats {
            self.floats.add_wide_int(self.ints);
            return Ok(Value::Float(self.floats.value()));
        }
        if self.has_decimals {
            self.decimals.add(self.ints, 0);
            return decimal(self.decimals.value());
        }
        i64::try_from(self.ints).map(Value::Int).map_err(|_| INTEGER_OVERFLOW.to_string())
    }

    /// A decimal if there is one among the numbers, else a float.
    pub fn mean(mut self, count: u64) -> Result<Value, String> {
        self.check()?;
        if self.has_decimals {
            self.decimals.add(self.ints, 0);
            return decimal(self.decimals.mean(count));
        }
        self.floats.add_wide_int(self.ints);
        Ok(Value::Float(self.floats.mean(count)))
    }

    fn check(&self) -> Result<(), String> {
        match self.other {
            Some(found) => Err(mismatch("a number", found)),
            None if self.has_floats && self.has_decimals => Err(mismatch("float", "decimal")),
            None => Ok(()),
        }
    }
}

/// What a sum of ints that needs more than 64 bits says.
pub const INTEGER_OVERFLOW: &str = "integer sum overflow";
/// What a sum of decimals that needs more than 96 bits says.
pub const DECIMAL_OVERFLOW: &str = "decimal sum overflow";

fn decimal(value: Option<(i128, u8)>) -> Result<Value, String> {
    let (mantissa, scale) = value.ok_or(DECIMAL_OVERFLOW)?;
    Ok(Value::Decimal { mantissa, scale })
}
