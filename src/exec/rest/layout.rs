//! The compact encoding of a row that decodes back to columns.
//!
//! A row is, behind what identifies it:
//!
//! 1. one bit for each kept column: whether it is null;
//! 2. the values of a fixed width, in the order of the columns, each at an offset that is the same for all rows: a
//!    bool in 1 byte, a date in 4, ints and floats in 8, a date_time in 12, a decimal in 13 and its scale in 1;
//! 3. the other values, in the order of the columns, each behind its length: texts, and encoded values (lists, `any`);
//! 4. the undeclared fields that are not null: how many, and for each its id and its text behind its length.
//!
//! A length, a count or an id is one byte, or the byte 255 and then four. All numbers are little-endian.

use super::{Chunk, HEAD};
use crate::analysis::hir::Schema;
use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Carried, Column};
use crate::exec::value;
use crate::plan::physical::Rest;

/// Where everything stands in a row.
#[derive(Debug)]
pub(super) struct Layout {
    pub fields: Vec<Field>,
    /// Columns of the schema, kept or not.
    pub width: usize,
    pub carries: bool,
    /// Bytes of the bits and of the values with a fixed width.
    pub fixed: usize,
}

/// A kept column.
#[derive(Debug)]
pub(super) struct Field {
    /// Its position in the schema.
    pub position: usize,
    pub kind: Kind,
    /// Where its value stands behind what identifies the row, if it has a fixed width.
    pub offset: Option<usize>,
}

/// Bytes of a date_time: far more than any calendar needs.
pub(super) const DATE_TIME: usize = 12;
/// Bytes of the mantissa of a decimal: 96 bits and a sign.
pub(super) const MANTISSA: usize = 13;

impl Layout {
    pub fn new(rest: &Rest, schema: &Schema) -> Self {
        let mut fixed = rest.columns.iter().count().div_ceil(8);
        let fields = rest.columns.iter().map(|position| {
            let kind = schema.columns[position].ty.kind.clone();
            let offset = fixed_width(&kind).map(|width| {
                fixed += width;
                fixed - width
            });
            Field { position, kind, offset }
        });
        Self { fields: fields.collect(), width: schema.columns.len(), carries: rest.carries, fixed }
    }

    /// Appends the rows of a batch, each with `head` zero bytes in front of it for what identifies it.
    pub fn encode(&self, batch: &Batch, head: usize, chunk: &mut Chunk) {
        let columns: Vec<Option<&Column>> =
            self.fields.iter().map(|field| batch.columns.get(field.position).and_then(Option::as_ref)).collect();
        let encoded: Vec<Option<Texts<'_>>> =
            self.fields.iter().zip(&columns).map(|(field, column)| Texts::of(field, *column, batch.rows)).collect();
        let carried = self.carries.then(|| CarriedTexts::of(&batch.carried, batch.rows));
        let mut lengths = vec![(head + self.fixed) as u32; batch.rows];
        encoded.iter().flatten().for_each(|texts| texts.add_lengths(&mut lengths));
        carried.iter().for_each(|carried| carried.add_lengths(&mut lengths));
        let mut cursors = frame(&lengths, chunk);
        cursors.iter_mut().for_each(|cursor| *cursor += head);
        self.write_nulls(&columns, &cursors, &mut chunk.bytes);
        for (field, column) in self.fields.iter().zip(&columns) {
            if let (Some(offset), Some(column)) = (field.offset, column) {
                write_fixed(column, offset, &cursors, &mut chunk.bytes);
            }
        }
        cursors.iter_mut().for_each(|cursor| *cursor += self.fixed);
        encoded.iter().flatten().for_each(|texts| texts.write(&mut cursors, &mut chunk.bytes));
        carried.iter().for_each(|carried| carried.write(&mut cursors, &mut chunk.bytes));
    }

    fn write_nulls(&self, columns: &[Option<&Column>], starts: &[usize], bytes: &mut [u8]) {
        for (number, column) in columns.iter().enumerate() {
            let (byte, bit) = (number / 8, 1 << (number % 8));
            let validity = column.and_then(Column::validity);
            if column.is_some() && validity.is_none() {
                continue;
            }
            for (row, start) in starts.iter().enumerate() {
                if validity.as_ref().is_none_or(|validity| validity.is_null(row)) {
                    bytes[start + byte] |= bit;
                }
            }
        }
    }
}

fn fixed_width(kind: &Kind) -> Option<usize> {
    match kind {
        Kind::Null => Some(0),
        Kind::Bool => Some(1),
        Kind::Date => Some(4),
        Kind::Int | Kind::Float => Some(8),
        Kind::DateTime => Some(DATE_TIME),
        Kind::Decimal { .. } => Some(MANTISSA + 1),
        Kind::String | Kind::Any | Kind::Map | Kind::Array(_) | Kind::Error => None,
    }
}

/// Makes room for rows of these lengths, each behind its length. Gives where each row begins behind it.
fn frame(lengths: &[u32], chunk: &mut Chunk) -> Vec<usize> {
    let mut end = chunk.bytes.len();
    let starts: Vec<usize> = lengths
        .iter()
        .map(|length| {
            chunk.offsets.push(end as u32);
            let start = end + HEAD;
            end = start + *length as usize;
            start
        })
        .collect();
    chunk.bytes.resize(end, 0);
    for (start, length) in starts.iter().zip(lengths) {
        chunk.bytes[start - HEAD..*start].copy_from_slice(&length.to_le_bytes());
    }
    starts
}

fn write_fixed(column: &Column, offset: usize, starts: &[usize], bytes: &mut [u8]) {
    match column {
        Column::Bool(a) => put(starts, offset, bytes, |row| [u8::from(a.value(row))]),
        Column::Int(a) => put(starts, offset, bytes, |row| a.values()[row].to_le_bytes()),
        Column::Float(a) => put(starts, offset, bytes, |row| a.values()[row].to_le_bytes()),
        Column::Date(a) => put(starts, offset, bytes, |row| a.values()[row].to_le_bytes()),
        Column::DateTime(a) => put(starts, offset, bytes, |row| narrow::<DATE_TIME>(a.values()[row])),
        Column::Decimal(a) => {
            put(starts, offset, bytes, |row| narrow::<MANTISSA>(a.mantissas.values()[row]));
            put(starts, offset + MANTISSA, bytes, |row| [a.scales.at(row)]);
        }
        Column::Null(_) | Column::String(_) | Column::List(_) | Column::Any(_) => {}
    }
}

fn put<const N: usize>(starts: &[usize], offset: usize, bytes: &mut [u8], value: impl Fn(usize) -> [u8; N]) {
    for (row, start) in starts.iter().enumerate() {
        bytes[start + offset..start + offset + N].copy_from_slice(&value(row));
    }
}

/// The low bytes of a number that needs no more.
fn narrow<const N: usize>(value: i128) -> [u8; N] {
    *value.to_le_bytes().first_chunk().expect("N is less than 16")
}

/// The number of which [`narrow`] gave the bytes.
pub(super) fn widen<const N: usize>(bytes: &[u8]) -> i128 {
    let mut all = [0; 16];
    all[16 - N..].copy_from_slice(&bytes[..N]);
    i128::from_le_bytes(all) >> (8 * (16 - N))
}

/// The values of a column without a fixed width.
enum Texts<'a> {
    Nulls,
    Column(&'a Column),
    Encoded(Vec<u8>, Vec<usize>),
}

impl<'a> Texts<'a> {
    fn of(field: &Field, column: Option<&'a Column>, rows: usize) -> Option<Self> {
        if field.offset.is_some() {
            return None;
        }
        Some(match column {
            None | Some(Column::Null(_)) => Texts::Nulls,
            Some(column @ (Column::String(_) | Column::Any(_))) => Texts::Column(column),
            Some(column) => Self::encoded(column, rows),
        })
    }

    /// Lists are rare: each as one encoded value.
    fn encoded(column: &Column, rows: usize) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows));
        for row in 0..rows {
            if !column.is_null(row) {
                value::encode(&column.value(row), &mut bytes);
            }
            ends.push(bytes.len());
        }
        Texts::Encoded(bytes, ends)
    }

    fn add_lengths(&self, lengths: &mut [u32]) {
        match self {
            Texts::Nulls => lengths.iter_mut().for_each(|length| *length += 1),
            Texts::Column(Column::String(a)) => add_view_lengths(a.views(), lengths),
            Texts::Column(Column::Any(a)) => add_view_lengths(a.views(), lengths),
            _ => {
                for (row, length) in lengths.iter_mut().enumerate() {
                    let text = self.get(row).len() as u32;
                    *length += number_width(text) + text;
                }
            }
        }
    }

    #[inline]
    fn get(&self, row: usize) -> &[u8] {
        match self {
            Texts::Column(Column::String(a)) => a.value(row).as_bytes(),
            Texts::Column(Column::Any(a)) => a.value(row),
            Texts::Encoded(bytes, ends) => &bytes[if row == 0 { 0 } else { ends[row - 1] }..ends[row]],
            Texts::Nulls | Texts::Column(_) => &[],
        }
    }

    fn write(&self, cursors: &mut [usize], bytes: &mut [u8]) {
        match self {
            Texts::Nulls => cursors.iter_mut().for_each(|cursor| *cursor += 1),
            Texts::Column(Column::String(a)) => put_texts(cursors, bytes, |row| a.value(row).as_bytes()),
            Texts::Column(Column::Any(a)) => put_texts(cursors, bytes, |row| a.value(row)),
            _ => put_texts(cursors, bytes, |row| self.get(row)),
        }
    }
}

/// A null has a text, too; as a rule an empty one.
fn add_view_lengths(views: &[u128], lengths: &mut [u32]) {
    for (length, view) in lengths.iter_mut().zip(views) {
        let text = *view as u32;
        *length += number_width(text) + text;
    }
}

fn put_texts<'a>(cursors: &mut [usize], bytes: &mut [u8], text: impl Fn(usize) -> &'a [u8]) {
    for (row, cursor) in cursors.iter_mut().enumerate() {
        put_text(text(row), cursor, bytes);
    }
}

#[inline]
fn put_text(text: &[u8], cursor: &mut usize, bytes: &mut [u8]) {
    put_number(text.len() as u32, cursor, bytes);
    bytes[*cursor..*cursor + text.len()].copy_from_slice(text);
    *cursor += text.len();
}

#[inline]
fn put_number(number: u32, cursor: &mut usize, bytes: &mut [u8]) {
    if number < 255 {
        bytes[*cursor] = number as u8;
        *cursor += 1;
    } else {
        bytes[*cursor] = 255;
        bytes[*cursor + 1..*cursor + 5].copy_from_slice(&number.to_le_bytes());
        *cursor += 5;
    }
}

#[inline]
fn number_width(number: u32) -> u32 {
    if number < 255 { 1 } else { 5 }
}

/// The undeclared fields of a batch.
struct CarriedTexts {
    fields: Vec<(u32, Column)>,
    /// For each row, how many of them are not null.
    counts: Vec<u32>,
}

impl CarriedTexts {
    fn of(carried: &Carried, rows: usize) -> Self {
        let fields: Vec<_> = carried.fields.iter().map(|(id, values)| (*id, Column::String(values.clone()))).collect();
        let mut counts = vec![fields.len() as u32; rows];
        for (_, column) in &fields {
            if let Some(validity) = column.validity() {
                let nulls = counts.iter_mut().enumerate().filter(|(row, _)| validity.is_null(*row));
                nulls.for_each(|(_, count)| *count -= 1);
            }
        }
        Self { fields, counts }
    }

    fn add_lengths(&self, lengths: &mut [u32]) {
        lengths.iter_mut().zip(&self.counts).for_each(|(length, count)| *length += number_width(*count));
        for (id, column) in &self.fields {
            let Column::String(texts) = column else { continue };
            for (row, (length, view)) in lengths.iter_mut().zip(texts.views().iter()).enumerate() {
                if !column.is_null(row) {
                    let text = *view as u32;
                    *length += number_width(*id) + number_width(text) + text;
                }
            }
        }
    }

    fn write(&self, cursors: &mut [usize], bytes: &mut [u8]) {
        for (cursor, count) in cursors.iter_mut().zip(&self.counts) {
            put_number(*count, cursor, bytes);
        }
        for (id, column) in &self.fields {
            let Column::String(texts) = column else { continue };
            for (row, cursor) in cursors.iter_mut().enumerate() {
                if !column.is_null(row) {
                    put_number(*id, cursor, bytes);
                    put_text(texts.value(row).as_bytes(), cursor, bytes);
                }
            }
        }
    }
}
