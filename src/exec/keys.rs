//! Keys for grouping, joining, sorting and partitioning: the one place that decides which values are equal.
//!
//! A key is the encodings of its values one behind the other, each of which tells where it ends. An int, and a float
//! or decimal of the same value, have one encoding: the nearest double and what the int differs from it, which is
//! exact. -0.0 is 0.0, decimals count by value, null equals null and differs from the empty text. NaN, lists and maps
//! have no key.

use crate::exec::batch::{Bitmap, Column};
use crate::exec::value::Value;

/// One encoded key for each row of a batch. Two keys are equal exactly if their bytes are.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// A row whose key has a value that can't be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoKey {
    /// The row.
    pub row: usize,
    /// What is there: `NaN`, `array` or `map`.
    pub found: &'static str,
}

const NULL: u8 = 0;
const BOOL: u8 = 1;
const NUMBER: u8 = 2;
const DECIMAL: u8 = 3;
const STRING: u8 = 4;
const DATE: u8 = 5;
const DATE_TIME: u8 = 6;

/// Bytes of an encoded number: the tag, the double, the remainder.
const NUMBER_LEN: usize = 11;

impl Keys {
    /// Encodes a key for each live row from its value in each column; other rows have empty keys. Rows without a key
    /// are told, ascending, each once.
    pub fn encode(columns: &[Column], live: &Bitmap) -> (Self, Vec<NoKey>) {
        let rows = live.len();
        let mut ends = vec![0; rows];
        let mut refused = Vec::new();
        for column in columns {
            add_lengths(column, live, &mut ends, &mut refused);
        }
        let mut total = 0;
        let mut cursors = Vec::with_capacity(rows);
        for end in &mut ends {
            cursors.push(total);
            total += *end;
            *end = total;
        }
        let mut bytes = vec![0; total];
        for column in columns {
            live.set_indices().for_each(|row| write(column, row, &mut bytes, &mut cursors[row]));
        }
        refused.sort_by_key(|no_key| no_key.row);
        refused.dedup_by_key(|no_key| no_key.row);
        (Self { bytes, ends }, refused)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The key of a row.
    pub fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }
}

fn add_lengths(column: &Column, live: &Bitmap, lengths: &mut [usize], refused: &mut Vec<NoKey>) {
    for row in live.set_indices() {
        let mut refuse = |found| refused.push(NoKey { row, found });
        lengths[row] += match column {
            _ if column.is_null(row) => 1,
            Column::Null(_) => 1,
            Column::Bool(_) => 2,
            Column::Int(_) => NUMBER_LEN,
            Column::Float(a) => {
                if a.value(row).is_nan() {
                    refuse("NaN");
                }
                NUMBER_LEN
            }
            Column::String(a) => 5 + a.views()[row] as u32 as usize,
            Column::Date(_) => 5,
            Column::DateTime(_) => 17,
            Column::List(_) => {
                refuse("array");
                1
            }
            Column::Decimal(_) | Column::Any(_) => {
                let value = column.value(row);
                if let Some(found) = without_key(&value) {
                    refuse(found);
                }
                encoded_value(&value).len()
            }
        };
    }
}

fn without_key(value: &Value) -> Option<&'static str> {
    match value {
        Value::Float(f) if f.is_nan() => Some("NaN"),
        Value::Array(_) => Some("array"),
        Value::Map(_) => Some("map"),
        _ => None,
    }
}

fn write(column: &Column, row: usize, bytes: &mut [u8], cursor: &mut usize) {
    let mut put = |part: &[u8]| {
        bytes[*cursor..*cursor + part.len()].copy_from_slice(part);
        *cursor += part.len();
    };
    match column {
        _ if column.is_null(row) => put(&[NULL]),
        Column::Bool(a) => put(&[BOOL, u8::from(a.value(row))]),
        Column::Int(a) => put(&int_key(a.value(row))),
        Column::Float(a) => put(&float_key(a.value(row))),
        Column::String(a) => put_text(a.value(row), put),
        Column::Date(a) => {
            put(&[DATE]);
            put(&a.value(row).to_be_bytes());
        }
        Column::DateTime(a) => {
            put(&[DATE_TIME]);
            put(&a.value(row).to_be_bytes());
        }
        Column::Null(_) | Column::List(_) => put(&[NULL]),
        Column::Decimal(_) | Column::Any(_) => put(&encoded_value(&column.value(row))),
    }
}

fn put_text(text: &str, mut put: impl FnMut(&[u8])) {
    put(&[STRING]);
    put(&(text.len() as u32).to_be_bytes());
    put(text.as_bytes());
}

/// The encoding of a single value.
fn encoded_value(value: &Value) -> Vec<u8> {
    let tagged = |tag: u8, payload: &[u8]| [&[tag], payload].concat();
    match value {
        Value::Null | Value::Array(_) | Value::Map(_) => vec![NULL],
        Value::Bool(b) => vec![BOOL, u8::from(*b)],
        Value::Int(i) => int_key(*i).to_vec(),
        Value::Float(f) => float_key(*f).to_vec(),
        Value::Decimal { mantissa, scale } => decimal_key(*mantissa, *scale),
        Value::String(text) => {
            let mut bytes = Vec::new();
            put_text(text, |part| bytes.extend(part));
            bytes
        }
        Value::Date(days) => tagged(DATE, &days.to_be_bytes()),
        Value::DateTime(nanoseconds) => tagged(DATE_TIME, &nanoseconds.to_be_bytes()),
    }
}

/// The nearest double and what the int is more than it.
fn int_key(value: i64) -> [u8; NUMBER_LEN] {
    let nearest = value as f64;
    // Doubles near the largest ints are 1024 apart, so the remainder is small; the double itself may be 2^63.
    let remainder = i128::from(value) - nearest as i128;
    number_key(nearest, remainder as i16)
}

fn float_key(value: f64) -> [u8; NUMBER_LEN] {
    number_key(if value == 0.0 { 0.0 } else { value }, 0)
}

fn number_key(double: f64, remainder: i16) -> [u8; NUMBER_LEN] {
    let mut key = [NUMBER; NUMBER_LEN];
    key[1..9].copy_from_slice(&double.to_be_bytes());
    key[9..].copy_from_slice(&remainder.to_be_bytes());
    key
}

/// A decimal that an int can hold has that int's key.
fn decimal_key(mut mantissa: i128, mut scale: u8) -> Vec<u8> {
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    match i64::try_from(mantissa) {
        Ok(int) if scale == 0 => int_key(int).to_vec(),
        _ => [&[DECIMAL, scale], &mantissa.to_be_bytes()[..]].concat(),
    }
}
