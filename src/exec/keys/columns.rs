//! The columns that keys were made of, made again from the keys.

use super::equality::{BOOL, DATE, DATE_TIME, NUMBER, STRING, fixed, int_of};
use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column, TextColumn, Validity};

/// Makes the columns again that keys were made of.
#[derive(Debug)]
pub struct KeyColumns {
    kinds: Vec<Kind>,
}

impl KeyColumns {
    /// For keys made of columns of these kinds, in order.
    pub fn new(kinds: Vec<Kind>) -> Self {
        Self { kinds }
    }

    /// Whether a key tells the value that it was made of. One of a float doesn't tell the sign of zero, one of a decimal
    /// not the zeros at its end, and one of a value of any type not even its type.
    pub fn tells(kind: &Kind) -> bool {
        matches!(kind, Kind::Null | Kind::Bool | Kind::Int | Kind::String | Kind::Date | Kind::DateTime)
    }

    /// The columns of some keys; `None` where keys [don't tell](Self::tells) the values.
    pub fn decode<'k>(&self, keys: impl ExactSizeIterator<Item = &'k [u8]>) -> Vec<Option<Column>> {
        let mut columns: Vec<Cells> = self.kinds.iter().map(|kind| Cells::new(kind, keys.len())).collect();
        for (row, mut key) in keys.enumerate() {
            columns.iter_mut().for_each(|cells| cells.push(row, &mut key));
        }
        columns.into_iter().map(Cells::finish).collect()
    }
}

/// A column while it is made.
struct Cells {
    values: Values,
    validity: Validity,
}

enum Values {
    Null(usize),
    Bool(Vec<bool>),
    Int(Vec<i64>),
    String(TextColumn),
    Date(Vec<i32>),
    DateTime(Vec<i128>),
    /// Parts of keys that don't tell the values.
    Skipped,
}

impl Cells {
    fn new(kind: &Kind, rows: usize) -> Self {
        let values = match kind {
            Kind::Null => Values::Null(rows),
            Kind::Bool => Values::Bool(Vec::with_capacity(rows)),
            Kind::Int => Values::Int(Vec::with_capacity(rows)),
            Kind::String => Values::String(TextColumn::with_capacity(rows)),
            Kind::Date => Values::Date(Vec::with_capacity(rows)),
            Kind::DateTime => Values::DateTime(Vec::with_capacity(rows)),
            _ => Values::Skipped,
        };
        Self { values, validity: Validity::new(rows) }
    }

    /// Takes the column's part off the front of a key.
    #[inline]
    fn push(&mut self, row: usize, key: &mut &[u8]) {
        let [tag] = fixed(key);
        match (&mut self.values, tag) {
            (Values::Bool(values), BOOL) => values.push(fixed(key) == [1]),
            (Values::Int(values), NUMBER) => {
                let nearest = f64::from_be_bytes(fixed(key));
                values.push(int_of(nearest, i16::from_be_bytes(fixed(key))));
            }
            (Values::String(values), STRING) => {
                let length = u32::from_be_bytes(fixed(key)) as usize;
                let (text, rest) = key.split_at(length);
                values.push(std::str::from_utf8(text).expect("a key of a text has its bytes"));
                *key = rest;
            }
            (Values::Date(values), DATE) => values.push(i32::from_be_bytes(fixed(key))),
            (Values::DateTime(values), DATE_TIME) => values.push(i128::from_be_bytes(fixed(key))),
            (Values::Skipped | Values::Null(_), tag) => super::equality::skip(tag, key),
            _ => self.push_null(row),
        }
    }

    fn push_null(&mut self, row: usize) {
        self.validity.set_null(row);
        match &mut self.values {
            Values::Bool(values) => values.push(false),
            Values::Int(values) => values.push(0),
            Values::String(values) => values.push(""),
            Values::Date(values) => values.push(0),
            Values::DateTime(values) => values.push(0),
            Values::Null(_) | Values::Skipped => {}
        }
    }

    fn finish(self) -> Option<Column> {
        let validity = self.validity.finish();
        Some(match self.values {
            Values::Null(rows) => Column::Null(rows),
            Values::Bool(values) => Column::bools(Bitmap::from(values), validity),
            Values::Int(values) => Column::ints(values, validity),
            Values::String(values) => values.finish(validity),
            Values::Date(values) => Column::dates(values, validity),
            Values::DateTime(values) => Column::date_times(values, validity),
            Values::Skipped => return None,
        })
    }
}
