//! `and`, `or` and `not` in three-valued logic.

use arrow_array::Array;
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::exec::batch::{Bitmap, Column};
use crate::exec::eval::datum::Datum;
use crate::exec::value::Value;

/// A truth value for each row.
pub struct Truth {
    /// Arbitrary where it is null.
    values: Bitmap,
    /// `None` if none is null.
    validity: Option<Bitmap>,
}

impl Truth {
    /// The truth values of a datum; whatever isn't a boolean is null.
    pub fn of(datum: &Datum, rows: usize) -> Self {
        match datum {
            Datum::Scalar(Value::Bool(true)) => Self { values: Bitmap::new_set(rows), validity: None },
            Datum::Scalar(Value::Bool(false)) => Self { values: Bitmap::new_unset(rows), validity: None },
            Datum::Column(Column::Bool(a)) => {
                Self { values: a.values().clone(), validity: a.nulls().map(|nulls| nulls.inner().clone()) }
            }
            Datum::Column(column @ Column::Any(_)) => {
                let is = |wanted| Bitmap::collect_bool(rows, |row| column.value(row) == Value::Bool(wanted));
                let (values, falses) = (is(true), is(false));
                Self { validity: Some(&values | &falses), values }
            }
            _ => Self { values: Bitmap::new_unset(rows), validity: Some(Bitmap::new_unset(rows)) },
        }
    }

    /// The rows that are exactly `wanted`, which decides the operator: `false` for `and`, `true` for `or`.
    pub fn rows_that_are(&self, wanted: bool) -> Bitmap {
        let values = if wanted { self.values.clone() } else { !&self.values };
        match &self.validity {
            None => values,
            Some(validity) => &values & validity,
        }
    }

    /// `self and other`
    pub fn and(&self, other: &Truth) -> Column {
        self.combine(other, &self.values & &other.values, false)
    }

    /// `self or other`
    pub fn or(&self, other: &Truth) -> Column {
        self.combine(other, &self.values | &other.values, true)
    }

    /// `not self`
    pub fn not(&self) -> Column {
        column(!&self.values, self.validity.clone())
    }

    /// A result is null unless both operands are valid or one of them decides it.
    fn combine(&self, other: &Truth, values: Bitmap, decisive: bool) -> Column {
        if self.validity.is_none() && other.validity.is_none() {
            return column(values, None);
        }
        let rows = values.len();
        let decided = &self.rows_that_are(decisive) | &other.rows_that_are(decisive);
        let validity = &(&self.valid(rows) & &other.valid(rows)) | &decided;
        column(if decisive { &values | &decided } else { &values & &!&decided }, Some(validity))
    }

    fn valid(&self, rows: usize) -> Bitmap {
        self.validity.clone().unwrap_or_else(|| Bitmap::new_set(rows))
    }
}

fn column(values: BooleanBuffer, validity: Option<Bitmap>) -> Column {
    Column::bools(values, validity.map(NullBuffer::new).filter(|nulls| nulls.null_count() > 0))
}
