//! Keys of which only equality counts: for `distinct` and groups.
//!
//! A key is the encodings of its values one behind the other, each of which tells where it ends. An int, and a float
//! or decimal of the same value, have one encoding: the nearest double and what the int differs from it, which is
//! exact. -0.0 is 0.0, decimals count by value, null equals null and differs from the empty text. NaN, lists and maps
//! have no key.

use std::ops::Range;

use arrow_array::Array;

use crate::exec::batch::{Bitmap, Column};
use crate::exec::value::Value;

/// One encoded key for each row of a batch. Two keys are equal exactly if their bytes are.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// A row whose key has a value that can't be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoKey {
    /// The row.
    pub row: usize,
    /// The column, by its position among those of the key: the first without a key.
    pub column: usize,
    /// What is there: `NaN`, `array` or `map`.
    pub found: &'static str,
}

impl NoKey {
    /// What is there, for messages: `NaN`, `an array`, `a map`.
    pub fn phrase(&self) -> String {
        match self.found {
            "array" => "an array".to_owned(),
            "map" => "a map".to_owned(),
            other => other.to_owned(),
        }
    }
}

const NULL: u8 = 0;
pub(super) const BOOL: u8 = 1;
pub(super) const NUMBER: u8 = 2;
const DECIMAL: u8 = 3;
pub(super) const STRING: u8 = 4;
pub(super) const DATE: u8 = 5;
pub(super) const DATE_TIME: u8 = 6;

/// Bytes of an encoded number: the tag, the double, the remainder.
const NUMBER_LEN: usize = 11;

impl Keys {
    /// Encodes a key for each live row from its value in each column; other rows have empty keys. Rows without a key
    /// are told, ascending, each once.
    pub fn encode(columns: &[Column], live: &Bitmap) -> (Self, Vec<NoKey>) {
        let mut ends = vec![0; live.len()];
        let mut refused = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            add_lengths(column, live, &mut ends, |row, found| refused.push(NoKey { row, column: position, found }));
        }
        let mut total = 0_u32;
        let mut cursors = Vec::with_capacity(ends.len());
        for end in &mut ends {
            cursors.push(total);
            total = total.checked_add(*end).expect("the keys of a batch are made from less than 4 GiB of text");
            *end = total;
        }
        let mut bytes = vec![0; total as usize];
        for column in columns {
            write(column, live, &mut bytes, &mut cursors);
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

    /// How many bytes the keys of some rows have together.
    pub fn bytes(&self, rows: Range<usize>) -> usize {
        let end = |row: usize| if row == 0 { 0 } else { self.ends[row - 1] };
        (end(rows.end) - end(rows.start)) as usize
    }

    /// The key of a row.
    pub fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start as usize..self.ends[row] as usize]
    }
}

fn add_lengths(column: &Column, live: &Bitmap, lengths: &mut [u32], mut refuse: impl FnMut(usize, &'static str)) {
    match column {
        Column::Null(_) => for_each(live, |row| lengths[row] += 1),
        Column::Bool(a) => for_each(live, |row| lengths[row] += if a.is_null(row) { 1 } else { 2 }),
        Column::Int(a) => for_each(live, |row| lengths[row] += if a.is_null(row) { 1 } else { NUMBER_LEN as u32 }),
        Column::Float(a) => for_each(live, |row| {
            lengths[row] += if a.is_null(row) { 1 } else { NUMBER_LEN as u32 };
            if a.is_valid(row) && a.value(row).is_nan() {
                refuse(row, "NaN");
            }
        }),
        Column::String(a) => {
            for_each(live, |row| lengths[row] += if a.is_null(row) { 1 } else { 5 + a.views()[row] as u32 });
        }
        Column::Date(a) => for_each(live, |row| lengths[row] += if a.is_null(row) { 1 } else { 5 }),
        Column::DateTime(a) => for_each(live, |row| lengths[row] += if a.is_null(row) { 1 } else { 17 }),
        Column::List(_) => for_each(live, |row| {
            lengths[row] += 1;
            if !column.is_null(row) {
                refuse(row, "array");
            }
        }),
        Column::Decimal(_) | Column::Any(_) => for_each(live, |row| {
            let value = column.value(row);
            lengths[row] += encoded_value(&value).len() as u32;
            if let Some(found) = without_key(&value) {
                refuse(row, found);
            }
        }),
    }
}

/// Calls `visit` with each row whose bit is set, ascending.
#[inline]
fn for_each(live: &Bitmap, visit: impl FnMut(usize)) {
    if live.count_set_bits() == live.len() {
        (0..live.len()).for_each(visit);
    } else {
        live.set_indices().for_each(visit);
    }
}

/// The values that a key was made of. Numbers come back as ints where they are whole, and decimals without the zeros
/// at their end.
pub fn values(mut key: &[u8]) -> Vec<Value> {
    let mut values = Vec::new();
    while let Some((&tag, rest)) = key.split_first() {
        let mut rest = rest;
        values.push(match tag {
            BOOL => Value::Bool(fixed::<1>(&mut rest) == [1]),
            NUMBER => {
                let nearest = f64::from_be_bytes(fixed(&mut rest));
                number(nearest, i16::from_be_bytes(fixed(&mut rest)))
            }
            DECIMAL => {
                let [scale] = fixed(&mut rest);
                Value::Decimal { mantissa: i128::from_be_bytes(fixed(&mut rest)), scale }
            }
            STRING => {
                let length = u32::from_be_bytes(fixed(&mut rest)) as usize;
                let (text, behind) = rest.split_at(length);
                rest = behind;
                Value::String(String::from_utf8_lossy(text).into_owned())
            }
            DATE => Value::Date(i32::from_be_bytes(fixed(&mut rest))),
            DATE_TIME => Value::DateTime(i128::from_be_bytes(fixed(&mut rest))),
            _ => Value::Null,
        });
        key = rest;
    }
    values
}

fn number(nearest: f64, remainder: i16) -> Value {
    let whole = nearest.trunc() == nearest && nearest.abs() <= 9_223_372_036_854_775_808.0;
    let int = whole.then(|| i64::try_from(nearest as i128 + i128::from(remainder)).ok()).flatten();
    int.map_or(Value::Float(nearest), Value::Int)
}

/// Takes so many bytes off the front.
pub(super) fn fixed<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk().expect("a key is whole");
    *bytes = rest;
    *first
}

/// The int that a nearest double and what the int is more than it are.
pub(super) fn int_of(nearest: f64, remainder: i16) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match nearest < LIMIT {
        true => nearest as i64 + i64::from(remainder),
        // 2^63, which is no int itself.
        false => (nearest as i128 + i128::from(remainder)) as i64,
    }
}

/// Takes a value off the front of a key, given its tag, which was taken.
pub(super) fn skip(tag: u8, key: &mut &[u8]) {
    let length = match tag {
        BOOL => 1,
        NUMBER => NUMBER_LEN - 1,
        DECIMAL => 17,
        STRING => u32::from_be_bytes(fixed(key)) as usize,
        DATE => 4,
        DATE_TIME => 16,
        _ => 0,
    };
    *key = &key[length..];
}

fn without_key(value: &Value) -> Option<&'static str> {
    match value {
        Value::Float(f) if f.is_nan() => Some("NaN"),
        Value::Array(_) => Some("array"),
        Value::Map(_) => Some("map"),
        _ => None,
    }
}

fn write(column: &Column, live: &Bitmap, bytes: &mut [u8], cursors: &mut [u32]) {
    let mut put = |row: usize, part: &[u8]| {
        let start = cursors[row] as usize;
        bytes[start..start + part.len()].copy_from_slice(part);
        cursors[row] += part.len() as u32;
    };
    match column {
        Column::Null(_) | Column::List(_) => for_each(live, |row| put(row, &[NULL])),
        Column::Bool(a) => for_each(live, |row| match a.is_null(row) {
            true => put(row, &[NULL]),
            false => put(row, &[BOOL, u8::from(a.value(row))]),
        }),
        Column::Int(a) => for_each(live, |row| match a.is_null(row) {
            true => put(row, &[NULL]),
            false => put(row, &int_key(a.value(row))),
        }),
        Column::Float(a) => for_each(live, |row| match a.is_null(row) {
            true => put(row, &[NULL]),
            false => put(row, &float_key(a.value(row))),
        }),
        Column::String(a) => for_each(live, |row| match a.is_null(row) {
            true => put(row, &[NULL]),
            false => {
                let text = a.value(row).as_bytes();
                let [l0, l1, l2, l3] = (text.len() as u32).to_be_bytes();
                put(row, &[STRING, l0, l1, l2, l3]);
                put(row, text);
            }
        }),
        Column::Date(_) | Column::DateTime(_) | Column::Decimal(_) | Column::Any(_) => {
            for_each(live, |row| put(row, &encoded_value(&column.value(row))));
        }
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
    if value.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
        return number_key(nearest, 0);
    }
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
