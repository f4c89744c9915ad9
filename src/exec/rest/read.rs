//! Decodes resting rows: one loop for each column.

use super::layout::{DATE_TIME, Field, Layout, MANTISSA, widen};
use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Bitmap, Carried, Column, Origin, TextColumn};
use crate::exec::value::{self, Value};

impl Layout {
    /// The batch that some rows are; what identifies each takes its first `head` bytes.
    pub fn decode(&self, rows: &[&[u8]], head: usize) -> Batch {
        let mut columns: Vec<Option<Column>> = (0..self.width).map(|_| None).collect();
        let mut cursors = vec![head + self.fixed; rows.len()];
        let nulls = self.nulls(rows, head);
        for (number, field) in self.fields.iter().enumerate() {
            let is_null = |row: usize| rows[row][head + number / 8] >> (number % 8) & 1 == 1;
            let valid = nulls[number].then(|| Bitmap::collect_bool(rows.len(), |row| !is_null(row)));
            columns[field.position] = Some(match field.offset {
                Some(offset) => read_fixed(&field.kind, rows, head + offset, valid),
                None => read_texts(field, rows, &mut cursors, valid),
            });
        }
        let carried = if self.carries { read_carried(rows, &mut cursors) } else { Carried::default() };
        Batch { rows: rows.len(), columns, carried, origin: Origin::unknown(0) }
    }

    /// For each column, whether it has nulls.
    fn nulls(&self, rows: &[&[u8]], head: usize) -> Vec<bool> {
        let mut any = vec![0; self.fields.len().div_ceil(8)];
        for row in rows {
            any.iter_mut().zip(&row[head..]).for_each(|(any, bits)| *any |= bits);
        }
        (0..self.fields.len()).map(|number| any[number / 8] >> (number % 8) & 1 == 1).collect()
    }
}

fn read_fixed(kind: &Kind, rows: &[&[u8]], offset: usize, valid: Option<Bitmap>) -> Column {
    let validity = valid.map(Into::into);
    match kind {
        Kind::Bool => Column::bools(Bitmap::collect_bool(rows.len(), |row| rows[row][offset] == 1), validity),
        Kind::Int => Column::ints(get(rows, offset, i64::from_le_bytes), validity),
        Kind::Float => Column::floats(get(rows, offset, f64::from_le_bytes), validity),
        Kind::Date => Column::dates(get(rows, offset, i32::from_le_bytes), validity),
        Kind::DateTime => {
            Column::date_times(get(rows, offset, |bytes: [u8; DATE_TIME]| widen::<DATE_TIME>(&bytes)), validity)
        }
        Kind::Decimal { .. } => {
            let mantissas = get(rows, offset, |bytes: [u8; MANTISSA]| widen::<MANTISSA>(&bytes));
            Column::scaled_decimals(mantissas, get(rows, offset + MANTISSA, |[scale]: [u8; 1]| scale), validity)
        }
        _ => Column::Null(rows.len()),
    }
}

fn get<const N: usize, T>(rows: &[&[u8]], offset: usize, read: impl Fn([u8; N]) -> T) -> Vec<T> {
    rows.iter().map(|row| read(*row[offset..].first_chunk().expect("a row has all values of a fixed width"))).collect()
}

fn read_texts(field: &Field, rows: &[&[u8]], cursors: &mut [usize], valid: Option<Bitmap>) -> Column {
    let texts = rows.iter().zip(cursors).map(|(row, cursor)| get_text(row, cursor));
    match &field.kind {
        Kind::String => {
            let mut column = TextColumn::with_capacity(rows.len());
            // SAFETY: the bytes were written from a text column.
            texts.for_each(|text| column.push(unsafe { std::str::from_utf8_unchecked(text) }));
            column.finish(valid.map(Into::into))
        }
        Kind::Any | Kind::Map => {
            let is_valid = |row: usize| valid.as_ref().is_none_or(|valid| valid.value(row));
            Column::encoded(texts.enumerate().map(|(row, text)| is_valid(row).then_some(text)))
        }
        kind => {
            let is_valid = |row: usize| valid.as_ref().is_none_or(|valid| valid.value(row));
            let decode = |(row, text)| if is_valid(row) { value::decode(text) } else { Value::Null };
            Column::from_values(kind, &texts.enumerate().map(decode).collect::<Vec<_>>())
        }
    }
}

#[inline]
fn get_text<'r>(row: &'r [u8], cursor: &mut usize) -> &'r [u8] {
    let length = get_number(row, cursor) as usize;
    let text = &row[*cursor..*cursor + length];
    *cursor += length;
    text
}

#[inline]
fn get_number(row: &[u8], cursor: &mut usize) -> u32 {
    let first = row[*cursor];
    *cursor += 1;
    if first < 255 {
        return u32::from(first);
    }
    let number = row[*cursor..].first_chunk().expect("four bytes follow");
    *cursor += 4;
    u32::from_le_bytes(*number)
}

/// The undeclared fields: those that any of the rows has.
fn read_carried(rows: &[&[u8]], cursors: &mut [usize]) -> Carried {
    let mut fields: Vec<(u32, TextColumn, Vec<bool>)> = Vec::new();
    for (row, (bytes, cursor)) in rows.iter().zip(cursors).enumerate() {
        let count = get_number(bytes, cursor) as usize;
        for expected in 0..count {
            let id = get_number(bytes, cursor);
            let text = get_text(bytes, cursor);
            let field = match fields.get(expected) {
                Some((other, ..)) if *other == id => expected,
                _ => fields.iter().position(|(other, ..)| *other == id).unwrap_or_else(|| {
                    fields.push((id, TextColumn::with_capacity(rows.len()), Vec::with_capacity(rows.len())));
                    fields.len() - 1
                }),
            };
            let (_, column, valid) = &mut fields[field];
            column.pad(row);
            valid.resize(row, false);
            // SAFETY: the bytes were written from a text column.
            column.push(unsafe { std::str::from_utf8_unchecked(text) });
            valid.push(true);
        }
    }
    let finished = fields.into_iter().filter_map(|(id, mut column, mut valid)| {
        column.pad(rows.len());
        valid.resize(rows.len(), false);
        let valid = valid.contains(&false).then(|| Bitmap::from(valid));
        match column.finish(valid.map(Into::into)) {
            Column::String(values) => Some((id, values)),
            _ => None,
        }
    });
    Carried { fields: finished.collect() }
}
