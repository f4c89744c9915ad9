//! Single values: what a cell of any column holds.
//!
//! Columns are evaluated whole; a [`Value`] stands where there is only one (a constant), and where the type of a
//! value is known only at run time (`any`, `map`, list elements of mixed types). `encoding` says how such values are
//! stored in a column; how columns and values turn into each other is the batch's work.

mod encoding;

use std::cmp::Ordering;
use std::fmt::Write;

use crate::analysis::hir::{ConstantValue, Literal};
use crate::formats::text;

pub use encoding::{MOST_ENCODED, decode, encode, encode_text, is_null, text_of};

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Null.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `float`
    Float(f64),
    /// `decimal`: `mantissa` divided by 10 to the `scale`.
    Decimal {
        /// Fits 96 bits.
        mantissa: i128,
        /// 0 to 28.
        scale: u8,
    },
    /// `string`
    String(String),
    /// `date`: days since 1970-01-01.
    Date(i32),
    /// `date_time`: nanoseconds since 1970-01-01T00:00:00.
    DateTime(i128),
    /// `array`
    Array(Vec<Value>),
    /// `map`, in insertion order.
    Map(Vec<(String, Value)>),
}

impl From<&Literal> for Value {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Value::Null,
            Literal::Bool(b) => Value::Bool(*b),
            Literal::Int(i) => Value::Int(*i),
            Literal::Float(f) => Value::Float(*f),
            Literal::String(s) => Value::String(s.clone()),
            Literal::Date(days) => Value::Date(*days),
        }
    }
}

impl From<&ConstantValue> for Value {
    fn from(constant: &ConstantValue) -> Self {
        match constant {
            ConstantValue::Literal(literal) => literal.into(),
            ConstantValue::DateTime(nanoseconds) => Value::DateTime(*nanoseconds),
        }
    }
}

impl Value {
    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// What `type_of` calls its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Decimal { .. } => "decimal",
            Value::String(_) => "string",
            Value::Date(_) => "date",
            Value::DateTime(_) => "datetime",
            Value::Array(_) => "array",
            Value::Map(_) => "map",
        }
    }

    /// `==`: null equals null, NaN nothing, numbers are equal by value but a decimal and a float never, lists and
    /// maps if their elements are, in order.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b)),
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, v), (l, w))| k == l && v.equals(w))
            }
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    /// The order of two numbers, strings, dates or date_times; `None` for any other pair, and for NaN.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Int(a), Value::Float(b)) => compare_int_float(*a, *b),
            (Value::Float(a), Value::Int(b)) => compare_int_float(*b, *a).map(Ordering::reverse),
            (Value::Decimal { .. } | Value::Int(_), Value::Decimal { .. } | Value::Int(_)) => {
                Some(compare_decimals(self.as_decimal()?, other.as_decimal()?))
            }
            (Value::String(a), Value::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
            (Value::DateTime(a), Value::DateTime(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// Mantissa and scale of a decimal or an int.
    pub fn as_decimal(&self) -> Option<(i128, u8)> {
        match self {
            Value::Decimal { mantissa, scale } => Some((*mantissa, *scale)),
            Value::Int(i) => Some((i128::from(*i), 0)),
            _ => None,
        }
    }

    /// Appends the text that `to_string`, `join` and `concat` give: nothing for null, `[1, a]` for a list,
    /// `{a: 1}` for a map.
    pub fn write_text(&self, out: &mut String) {
        match self {
            Value::Null => {}
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => ascii(out, |out| text::write_int(*i, out)),
            Value::Float(f) => ascii(out, |out| text::write_float(*f, out)),
            Value::Decimal { mantissa, scale } => ascii(out, |out| text::write_decimal(*mantissa, *scale, out)),
            Value::String(s) => out.push_str(s),
            Value::Date(days) => ascii(out, |out| text::write_date(*days, out)),
            Value::DateTime(nanoseconds) => ascii(out, |out| text::write_date_time(*nanoseconds, out)),
            Value::Array(items) => write_list(items.iter(), out),
            Value::Map(entries) => write_map(entries, out),
        }
    }
}

/// The text form, as [`Value::write_text`] gives it.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write_text(&mut text);
        f.write_str(&text)
    }
}

/// Appends what `write` appends, which must be ASCII: the spelling of numbers and dates.
fn ascii(out: &mut String, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = Vec::with_capacity(32);
    write(&mut bytes);
    out.push_str(std::str::from_utf8(&bytes).expect("numbers and dates are spelled in ASCII"));
}

fn write_list<'a>(items: impl Iterator<Item = &'a Value>, out: &mut String) {
    out.push('[');
    for (position, item) in items.enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        item.write_text(out);
    }
    out.push(']');
}

fn write_map(entries: &[(String, Value)], out: &mut String) {
    out.push('{');
    for (position, (key, value)) in entries.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        write!(out, "{comma}{key}: ").expect("writing to a string can't fail");
        value.write_text(out);
    }
    out.push('}');
}

/// Compares an int with a float by their exact values; `None` for NaN.
pub fn compare_int_float(int: i64, float: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63, the first double above every int
    if float.is_nan() {
        None
    } else if float >= LIMIT {
        Some(Ordering::Less)
    } else if float < -LIMIT {
        Some(Ordering::Greater)
    } else {
        let whole = float.trunc();
        Some(int.cmp(&(whole as i64)).then(whole.partial_cmp(&float).expect("not NaN")))
    }
}

/// Compares two decimals, each a mantissa and a scale, by value.
pub fn compare_decimals(left: (i128, u8), right: (i128, u8)) -> Ordering {
    if left.1 == right.1 {
        return left.0.cmp(&right.0);
    }
    match align(left, right) {
        Some((left, right)) => left.cmp(&right),
        // Only the one with fewer places, and so with a value far beyond the other's, needs that many bits.
        None if left.1 < right.1 => left.0.cmp(&0),
        None => 0.cmp(&right.0),
    }
}

/// The mantissas of two decimals at the larger of their scales; `None` if one needs more than 128 bits then.
pub fn align((left, left_scale): (i128, u8), (right, right_scale): (i128, u8)) -> Option<(i128, i128)> {
    match left_scale.cmp(&right_scale) {
        Ordering::Equal => Some((left, right)),
        Ordering::Less => Some((left.checked_mul(power_of_ten(right_scale - left_scale))?, right)),
        Ordering::Greater => Some((left, right.checked_mul(power_of_ten(left_scale - right_scale))?)),
    }
}

/// 10 to the `exponent`, which is at most 28.
pub fn power_of_ten(exponent: u8) -> i128 {
    10_i128.pow(u32::from(exponent))
}
