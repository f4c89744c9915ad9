//! Values that can't tell groups apart, as nulls: where a missing value is one group, whatever it looks like.

use std::ops::AddAssign;

use arrow_array::{Float64Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::exec::batch::Column;
use crate::exec::value::Value;

/// How many values of a column can't tell groups apart, by what they are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Blanks {
    /// Nulls.
    pub nulls: u64,
    /// Empty texts.
    pub texts: u64,
    /// NaN.
    pub nans: u64,
    /// Lists.
    pub lists: u64,
    /// Maps.
    pub maps: u64,
}

impl Blanks {
    /// How many are something else than null.
    pub fn not_null(&self) -> u64 {
        self.texts + self.nans + self.lists + self.maps
    }

    fn count(&mut self, value: &Value) {
        match value {
            Value::Null => self.nulls += 1,
            Value::Float(float) if float.is_nan() => self.nans += 1,
            Value::String(text) if text.is_empty() => self.texts += 1,
            Value::Array(_) => self.lists += 1,
            Value::Map(_) => self.maps += 1,
            _ => {}
        }
    }
}

impl AddAssign for Blanks {
    fn add_assign(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.texts += other.texts;
        self.nans += other.nans;
        self.lists += other.lists;
        self.maps += other.maps;
    }
}

/// The column with null in the place of empty texts, NaN, lists and maps, and how many of all these it has.
pub fn folded(column: Column) -> (Column, Blanks) {
    let rows = column.len();
    let nulls = column.validity().map_or(0, |validity| validity.null_count() as u64);
    let blanks = Blanks { nulls, ..Blanks::default() };
    match &column {
        Column::String(a) => {
            let Some(validity) = without(&column, |row| a.views()[row] as u32 == 0) else { return (column, blanks) };
            let texts = validity.null_count() as u64 - nulls;
            let array = StringViewArray::new(a.views().clone(), a.data_buffers().to_vec(), Some(validity));
            (Column::String(array), Blanks { texts, ..blanks })
        }
        Column::Float(a) => {
            let Some(validity) = without(&column, |row| a.values()[row].is_nan()) else { return (column, blanks) };
            let nans = validity.null_count() as u64 - nulls;
            (Column::Float(Float64Array::new(a.values().clone(), Some(validity))), Blanks { nans, ..blanks })
        }
        Column::List(_) => (Column::Null(rows), Blanks { lists: rows as u64 - nulls, ..blanks }),
        Column::Any(_) => {
            let values: Vec<Value> = (0..rows).map(|row| column.value(row)).collect();
            let mut blanks = Blanks::default();
            values.iter().for_each(|value| blanks.count(value));
            if blanks.not_null() == 0 {
                return (column, blanks);
            }
            let kept = |value: Value| if is_folded(&value) { Value::Null } else { value };
            (Column::any(&values.into_iter().map(kept).collect::<Vec<_>>()), blanks)
        }
        _ => (column, blanks),
    }
}

/// The rows that are neither null nor such; `None` if no row that isn't null is such.
fn without(column: &Column, is_such: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let valid = BooleanBuffer::collect_bool(column.len(), |row| !is_such(row) && !column.is_null(row));
    let validity = NullBuffer::new(valid);
    let nulls = column.validity().map_or(0, |validity| validity.null_count());
    (validity.null_count() > nulls).then_some(validity)
}

fn is_folded(value: &Value) -> bool {
    let mut blanks = Blanks::default();
    blanks.count(value);
    blanks.not_null() > 0
}
