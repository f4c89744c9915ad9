//! Keys for sorting: bytes that compare as the rows do.
//!
//! Each value begins with a byte that puts nulls first or last and NaN behind all numbers, in both directions. What
//! follows tells where it ends, so no key is the beginning of another; for a descending key all of it is inverted.
//! Texts compare by their bytes, decimals by value whatever their scales, -0.0 is 0.0. Columns of `any` compare by
//! type, then by value.

use crate::analysis::hir::SortKey;
use crate::exec::batch::Column;
use crate::exec::value::{self, Value};

/// One key for each row of a batch.
#[derive(Clone, Debug, Default)]
pub struct OrderKeys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// The first bytes of a key, which decide most comparisons.
pub type Prefix = (u64, u64);

/// How many bytes of a key its [`Prefix`] holds.
pub const PREFIX: usize = 16;

const NULL_FIRST: u8 = 0;
const VALUE: u8 = 1;
const NAN: u8 = 2;
const NULL_LAST: u8 = 3;

impl OrderKeys {
    /// Encodes the keys of all rows of a batch, given its columns by position.
    pub fn encode(keys: &[SortKey], columns: &[Option<Column>], rows: usize) -> Self {
        Self::encode_behind(&[], keys, columns, rows)
    }

    /// The same, with these bytes in front of every key.
    pub fn encode_behind(head: &[u8], keys: &[SortKey], columns: &[Option<Column>], rows: usize) -> Self {
        let absent = Column::Null(rows);
        let parts: Vec<Part<'_>> = keys
            .iter()
            .map(|key| Part::new(key, columns.get(key.column).and_then(Option::as_ref).unwrap_or(&absent)))
            .collect();
        let mut ends = vec![head.len() as u32; rows];
        parts.iter().for_each(|part| part.add_lengths(&mut ends));
        let mut total = 0;
        let mut cursors = Vec::with_capacity(rows);
        for end in &mut ends {
            cursors.push(total);
            total += *end as usize;
            *end = total as u32;
        }
        let mut bytes = vec![0; total];
        for cursor in cursors.iter_mut().filter(|_| !head.is_empty()) {
            bytes[*cursor..*cursor + head.len()].copy_from_slice(head);
            *cursor += head.len();
        }
        parts.iter().for_each(|part| part.write(&mut bytes, &mut cursors));
        Self { bytes, ends }
    }

    /// No keys, with room for so many, of so many bytes in all.
    pub fn with_capacity(keys: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(keys) }
    }

    /// Adds a key: its parts one behind the other.
    pub fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len() as u32);
    }

    /// Whether all keys are empty.
    pub fn say_nothing(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Gives back the room that no key takes.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// All keys, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|row| self.key(row))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What the keys hold, in bytes.
    pub fn cost(&self) -> u64 {
        (size_of::<Self>() + self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()) as u64
    }

    /// The key of a row.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start as usize..self.ends[row] as usize]
    }

    /// The first bytes of a row's key, with zeros behind a short one. Of two keys with the same prefix the rest decides,
    /// and they are equal if either has none.
    #[inline]
    pub fn prefix(&self, row: usize) -> Prefix {
        let key = self.key(row);
        let mut padded = [0; PREFIX];
        match key.first_chunk::<PREFIX>() {
            Some(first) => padded = *first,
            None => padded[..key.len()].copy_from_slice(key),
        }
        let all = u128::from_be_bytes(padded);
        ((all >> 64) as u64, all as u64)
    }

    /// What is behind the prefix of a row's key.
    #[inline]
    pub fn rest(&self, row: usize) -> &[u8] {
        self.key(row).get(PREFIX..).unwrap_or_default()
    }
}

/// One key column.
struct Part<'a> {
    column: &'a Column,
    /// What stands for null.
    null: u8,
    /// What every byte behind the first is xored with.
    mask: u8,
    /// The encoded values of a column without a fast way.
    encoded: Option<(Vec<u8>, Vec<usize>)>,
}

impl<'a> Part<'a> {
    fn new(key: &SortKey, column: &'a Column) -> Self {
        let encoded = match column {
            Column::Any(_) | Column::List(_) => Some(encode_values(column)),
            _ => None,
        };
        Self {
            column,
            null: if key.nulls_first { NULL_FIRST } else { NULL_LAST },
            mask: if key.descending { 0xFF } else { 0 },
            encoded,
        }
    }

    fn add_lengths(&self, lengths: &mut [u32]) {
        let width = match self.column {
            Column::Null(_) => 0,
            Column::Bool(_) => 1,
            Column::Date(_) => 4,
            Column::Int(_) | Column::Float(_) => 8,
            Column::DateTime(_) => DATE_TIME as u32,
            Column::Decimal(_) => DECIMAL as u32,
            Column::String(_) | Column::Any(_) | Column::List(_) => {
                for (row, length) in lengths.iter_mut().enumerate() {
                    *length += 1 + if self.column.is_null(row) { 0 } else { text_length(self.text(row)) as u32 };
                }
                return;
            }
        };
        let validity = self.column.validity();
        for (row, length) in lengths.iter_mut().enumerate() {
            let is_null = validity.as_ref().is_some_and(|validity| validity.is_null(row));
            let is_nan = matches!(self.column, Column::Float(a) if a.values()[row].is_nan());
            *length += if is_null || is_nan { 1 } else { 1 + width };
        }
    }

    #[inline]
    fn text(&self, row: usize) -> &[u8] {
        match (self.column, &self.encoded) {
            (Column::String(a), _) => a.value(row).as_bytes(),
            (_, Some((bytes, ends))) => &bytes[if row == 0 { 0 } else { ends[row - 1] }..ends[row]],
            _ => &[],
        }
    }

    fn write(&self, bytes: &mut [u8], cursors: &mut [usize]) {
        match self.column {
            Column::Null(_) => self.put(bytes, cursors, |_| [0; 0]),
            Column::Bool(a) => self.put(bytes, cursors, |row| [u8::from(a.value(row))]),
            Column::Date(a) => self.put(bytes, cursors, |row| (a.values()[row] as u32 ^ 1 << 31).to_be_bytes()),
            Column::Int(a) => self.put(bytes, cursors, |row| (a.values()[row] as u64 ^ 1 << 63).to_be_bytes()),
            Column::DateTime(a) => self.put(bytes, cursors, |row| date_time(a.values()[row])),
            Column::Decimal(a) => {
                self.put(bytes, cursors, |row| decimal(a.mantissas.values()[row], a.scales.at(row)));
            }
            Column::Float(a) => self.put_each(bytes, cursors, |row, cursor, bytes| match a.values()[row] {
                value if value.is_nan() => put_byte(NAN, cursor, bytes),
                value => {
                    put_byte(VALUE, cursor, bytes);
                    self.put_masked(float(value), cursor, bytes);
                }
            }),
            Column::String(_) | Column::Any(_) | Column::List(_) => {
                self.put_each(bytes, cursors, |row, cursor, bytes| {
                    put_byte(VALUE, cursor, bytes);
                    put_text(self.text(row), self.mask, cursor, bytes);
                });
            }
        }
    }

    fn put<const N: usize>(&self, bytes: &mut [u8], cursors: &mut [usize], value: impl Fn(usize) -> [u8; N]) {
        self.put_each(bytes, cursors, |row, cursor, bytes| {
            put_byte(VALUE, cursor, bytes);
            self.put_masked(value(row), cursor, bytes);
        });
    }

    fn put_each(&self, bytes: &mut [u8], cursors: &mut [usize], put: impl Fn(usize, &mut usize, &mut [u8])) {
        let validity = self.column.validity();
        for (row, cursor) in cursors.iter_mut().enumerate() {
            match &validity {
                Some(validity) if validity.is_null(row) => put_byte(self.null, cursor, bytes),
                _ => put(row, cursor, bytes),
            }
        }
    }

    #[inline]
    fn put_masked<const N: usize>(&self, value: [u8; N], cursor: &mut usize, bytes: &mut [u8]) {
        bytes[*cursor..*cursor + N].copy_from_slice(&value.map(|byte| byte ^ self.mask));
        *cursor += N;
    }
}

#[inline]
fn put_byte(byte: u8, cursor: &mut usize, bytes: &mut [u8]) {
    bytes[*cursor] = byte;
    *cursor += 1;
}

/// The end of a text, and what stands in front of a byte that could be taken for it or for this.
const END: u8 = 0;
const ESCAPE: u8 = 1;

fn text_length(text: &[u8]) -> usize {
    text.len() + 1 + text.iter().filter(|byte| **byte <= ESCAPE).count()
}

#[inline]
fn put_text(text: &[u8], mask: u8, cursor: &mut usize, bytes: &mut [u8]) {
    for &byte in text {
        if byte <= ESCAPE {
            put_byte(ESCAPE ^ mask, cursor, bytes);
        }
        put_byte(byte ^ mask, cursor, bytes);
    }
    put_byte(END ^ mask, cursor, bytes);
}

/// Doubles as numbers that compare alike: negative ones inverted, others behind them.
fn float(value: f64) -> [u8; 8] {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    ordered.to_be_bytes()
}

/// Bytes of a date_time: the nanoseconds of 2^31 days need 78 bits.
const DATE_TIME: usize = 10;

fn date_time(nanoseconds: i128) -> [u8; DATE_TIME] {
    const HALF: i128 = 1 << (8 * DATE_TIME - 1);
    let ordered = (nanoseconds.clamp(-HALF, HALF - 1) + HALF) as u128;
    *ordered.to_be_bytes().last_chunk().expect("10 is less than 16")
}

/// Bytes of a decimal: the place of its first digit, and its digits.
const DECIMAL: usize = 14;

/// The most digits of a mantissa, which fits 96 bits.
const DIGITS: u32 = 29;

/// The sign and the place of the first digit in one byte, then the digits as a number of full length. Behind zero
/// stand positive numbers, the larger the place the later, and before it negative ones the other way round.
fn decimal(mantissa: i128, scale: u8) -> [u8; DECIMAL] {
    const ZERO: u8 = 0x80;
    let mut key = [0; DECIMAL];
    key[0] = ZERO;
    let Some(log) = mantissa.unsigned_abs().checked_ilog10() else { return key };
    let full = mantissa.unsigned_abs() * 10_u128.pow((DIGITS - 1).saturating_sub(log));
    key[1..].copy_from_slice(full.to_be_bytes().last_chunk::<13>().expect("13 is less than 16"));
    // Places go from -28, the last one behind the point, to 28.
    key[0] += (log as i16 - i16::from(scale) + 30) as u8;
    if mantissa < 0 { key.map(|byte| !byte) } else { key }
}

/// The values of a column one by one: the rank of the type, then the value.
fn encode_values(column: &Column) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(column.len()));
    for row in 0..column.len() {
        encode_value(&column.value(row), &mut bytes);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn encode_value(value: &Value, out: &mut Vec<u8>) {
    let mut tagged = |rank: u8, value: &[u8]| {
        out.push(rank);
        out.extend_from_slice(value);
    };
    match value {
        Value::Null => {}
        Value::Bool(value) => tagged(1, &[u8::from(*value)]),
        Value::Int(value) => tagged(2, &decimal(i128::from(*value), 0)),
        Value::Decimal { mantissa, scale } => tagged(2, &decimal(*mantissa, *scale)),
        Value::Float(value) if value.is_nan() => tagged(4, &[]),
        Value::Float(value) => tagged(3, &float(*value)),
        Value::String(text) => tagged(5, text.as_bytes()),
        Value::Date(days) => tagged(6, &(*days as u32 ^ 1 << 31).to_be_bytes()),
        Value::DateTime(nanoseconds) => tagged(7, &date_time(*nanoseconds)),
        Value::Array(_) | Value::Map(_) => {
            out.push(8);
            value::encode(value, out);
        }
    }
}
