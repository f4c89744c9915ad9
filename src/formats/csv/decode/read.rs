//! The loop that all typed columns share, and the simplest of them.

use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::fields::Cells;
use crate::exec::batch::{Column, Validity};
use crate::formats::parse;

/// What reading a column gave.
pub(super) struct Outcome {
    /// The values, if they are stored.
    pub column: Option<Column>,
    /// The records, counted from the first of the range, whose cell has not the column's type.
    pub refused: Vec<u32>,
}

impl Outcome {
    /// Of a column in which nothing can be wrong.
    pub fn sound(column: Option<Column>) -> Self {
        Self { column, refused: Vec::new() }
    }
}

/// Values as a loop collects them.
pub(super) struct Values<T> {
    /// One for each row; the default where the row has none. Empty if the column is not stored.
    pub values: Vec<T>,
    /// Which rows are not null.
    pub validity: Option<NullBuffer>,
    pub refused: Vec<u32>,
}

impl<T> Values<T> {
    /// The column that `build` makes, if values were stored.
    pub fn into_outcome(self, stored: bool, build: impl FnOnce(Vec<T>, Option<NullBuffer>) -> Column) -> Outcome {
        Outcome { column: stored.then(|| build(self.values, self.validity)), refused: self.refused }
    }
}

/// What a cell that no fast path took holds.
enum Cell<T> {
    Value(T),
    Null,
    Refused,
}

/// Reads every cell: `fast` takes the text and where the cell begins and ends; where it gives nothing, `exact` reads
/// the cell's own text, unless it is empty.
#[inline(always)]
pub(super) fn read<T: Copy + Default>(
    cells: &Cells<'_>,
    fast: impl FnMut(&[u8], usize, usize) -> Option<T>,
    exact: impl FnMut(&[u8]) -> Option<T>,
) -> Values<T> {
    if cells.stored { read_all::<T, true>(cells, fast, exact) } else { read_all::<T, false>(cells, fast, exact) }
}

#[inline(always)]
fn read_all<T: Copy + Default, const STORE: bool>(
    cells: &Cells<'_>,
    mut fast: impl FnMut(&[u8], usize, usize) -> Option<T>,
    mut exact: impl FnMut(&[u8]) -> Option<T>,
) -> Values<T> {
    let mut values = Vec::with_capacity(if STORE { cells.rows } else { 0 });
    let mut validity = Validity::new(cells.rows);
    let mut refused = Vec::new();
    for row in 0..cells.rows {
        let (start, end) = cells.place(row);
        let value = match fast(cells.bytes, start, end) {
            Some(value) => value,
            None => match read_exactly(&cells.bytes[start..end], cells.nullable, &mut exact) {
                Cell::Value(value) => value,
                Cell::Null => {
                    if STORE {
                        validity.set_null(row);
                    }
                    T::default()
                }
                Cell::Refused => {
                    refused.push(row as u32);
                    T::default()
                }
            },
        };
        if STORE {
            values.push(value);
        }
    }
    Values { values, validity: validity.finish(), refused }
}

#[cold]
#[inline(never)]
fn read_exactly<T>(cell: &[u8], nullable: bool, exact: &mut impl FnMut(&[u8]) -> Option<T>) -> Cell<T> {
    match exact(cell) {
        _ if cell.is_empty() => {
            if nullable {
                Cell::Null
            } else {
                Cell::Refused
            }
        }
        Some(value) => Cell::Value(value),
        None => Cell::Refused,
    }
}

/// `true`/`false` and the like.
pub(super) fn bools(cells: &Cells<'_>) -> Outcome {
    let values = read(cells, |text, start, end| fast_bool(&text[start..end]), |cell| parse::bool(cell).ok());
    values.into_outcome(cells.stored, |values, validity| {
        Column::bools(BooleanBuffer::collect_bool(values.len(), |row| values[row]), validity)
    })
}

#[inline]
fn fast_bool(cell: &[u8]) -> Option<bool> {
    match cell {
        b"true" | b"1" => Some(true),
        b"false" | b"0" => Some(false),
        _ => None,
    }
}

/// A column of nulls: empty cells.
pub(super) fn nulls(cells: &Cells<'_>) -> Outcome {
    let values = read(cells, |_, start, end| (start == end).then_some(()), |_| None);
    Outcome { column: cells.stored.then(|| Column::Null(cells.rows)), refused: values.refused }
}

/// A column of a type that can't be read: every row is refused.
pub(super) fn nothing(cells: &Cells<'_>) -> Outcome {
    Outcome { column: cells.stored.then(|| Column::Null(cells.rows)), refused: (0..cells.rows as u32).collect() }
}
