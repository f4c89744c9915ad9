//! What an expression gives for a batch: a column, or one value that holds for every row.

use arrow_array::Array;
use arrow_buffer::NullBuffer;

use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::value::Value;

/// The result of an expression. Constants are not spread into columns until somebody needs the column.
#[derive(Clone, Debug)]
pub enum Datum {
    /// One value a row.
    Column(Column),
    /// The same value in every row.
    Scalar(Value),
}

impl Datum {
    /// Null in every row.
    pub const NULL: Datum = Datum::Scalar(Value::Null);

    /// Whether every row is known to be null.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Scalar(Value::Null) | Datum::Column(Column::Null(_)))
    }

    /// Which rows are not null; `None` if none is null. Not for [`Datum::is_null`].
    pub fn validity(&self) -> Option<NullBuffer> {
        match self {
            Datum::Column(column) => column.validity(),
            Datum::Scalar(_) => None,
        }
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        match self {
            Datum::Column(column) => column.value(row),
            Datum::Scalar(value) => value.clone(),
        }
    }

    /// Whether a row is null.
    pub fn is_null_at(&self, row: usize) -> bool {
        match self {
            Datum::Column(column) => column.is_null(row),
            Datum::Scalar(value) => value.is_null(),
        }
    }

    /// One bit a row, set where it is null.
    pub fn null_bits(&self, rows: usize) -> Bitmap {
        if self.is_null() {
            return Bitmap::new_set(rows);
        }
        match self.validity() {
            None => Bitmap::new_unset(rows),
            Some(validity) => !validity.inner(),
        }
    }

    /// One bit a row, set where it is exactly true.
    pub fn true_bits(&self, rows: usize) -> Bitmap {
        match self {
            Datum::Scalar(Value::Bool(true)) => Bitmap::new_set(rows),
            Datum::Column(Column::Bool(a)) => match a.nulls() {
                None => a.values().clone(),
                Some(validity) => a.values() & validity.inner(),
            },
            Datum::Column(column @ Column::Any(_)) => {
                Bitmap::collect_bool(rows, |row| column.value(row) == Value::Bool(true))
            }
            _ => Bitmap::new_unset(rows),
        }
    }

    /// A column of `kind`, which must be the kind of the expression.
    pub fn into_column(self, kind: &Kind, rows: usize) -> Column {
        match self {
            Datum::Column(column) => column,
            Datum::Scalar(value) => Column::splat(&value, kind, rows),
        }
    }
}

/// Which rows are null in neither of two data; `None` if none is null.
pub fn both_valid(left: &Datum, right: &Datum) -> Option<NullBuffer> {
    NullBuffer::union(left.validity().as_ref(), right.validity().as_ref())
}
