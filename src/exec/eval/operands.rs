//! Reading operands row by row, whatever holds them: a column, one value, or values whose type is known only at run
//! time. A value of another type reads as null.

use arrow_array::{Array, BinaryViewArray, StringViewArray};

use super::datum::Datum;
use super::error::{Error, check_size};
use crate::exec::batch::Column;
use crate::exec::value::{Value, power_of_ten, text_of};

/// A string operand.
pub enum Strings<'a> {
    /// A value for each row.
    Column(&'a StringViewArray),
    /// Encoded values.
    Any(&'a BinaryViewArray),
    /// The same in every row.
    Scalar(Option<&'a str>),
}

impl<'a> Strings<'a> {
    /// Reads a datum.
    pub fn of(datum: &'a Datum) -> Self {
        match datum {
            Datum::Column(Column::String(a)) => Strings::Column(a),
            Datum::Column(Column::Any(a)) => Strings::Any(a),
            Datum::Scalar(Value::String(s)) => Strings::Scalar(Some(s)),
            _ => Strings::Scalar(None),
        }
    }

    /// The text of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Strings::Column(a) => a.is_valid(row).then(|| a.value(row)),
            Strings::Any(a) => a.is_valid(row).then(|| text_of(a.value(row))).flatten(),
            Strings::Scalar(s) => *s,
        }
    }
}

/// An operand that is read as a whole number: a float or decimal without its fraction.
pub enum Ints<'a> {
    /// A column, or a value known only at run time.
    Column(&'a Column),
    /// The same in every row.
    Scalar(Option<i64>),
}

impl<'a> Ints<'a> {
    /// Reads a datum.
    pub fn of(datum: &'a Datum) -> Self {
        match datum {
            Datum::Column(column) => Ints::Column(column),
            Datum::Scalar(value) => Ints::Scalar(whole(value)),
        }
    }

    /// The number of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        match self {
            Ints::Column(Column::Int(a)) => a.is_valid(row).then(|| a.value(row)),
            Ints::Column(column) => whole(&column.value(row)),
            Ints::Scalar(i) => *i,
        }
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Float(f) => (!f.is_nan()).then_some(*f as i64),
        Value::Decimal { mantissa, scale } => {
            let whole = mantissa / power_of_ten(*scale);
            Some(i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX }))
        }
        _ => None,
    }
}

/// Appends the text form of a row; nothing, and gives false, where it is null.
pub fn append_text(datum: &Datum, row: usize, out: &mut String) -> bool {
    if datum.is_null_at(row) {
        return false;
    }
    match datum {
        Datum::Column(Column::String(a)) => out.push_str(a.value(row)),
        Datum::Column(column) => column.value(row).write_text(out),
        Datum::Scalar(value) => value.write_text(out),
    }
    true
}

/// A text put together from several, none of which may make it too large.
pub struct Pieces<'a> {
    out: &'a mut String,
    start: usize,
    longest: usize,
}

impl<'a> Pieces<'a> {
    /// A text that begins where `out` ends.
    pub fn new(out: &'a mut String) -> Self {
        Self { start: out.len(), out, longest: 0 }
    }

    /// Appends what `append` does; fails where the text gets too large.
    pub fn append<R>(&mut self, append: impl FnOnce(&mut String) -> R) -> Result<(), Error> {
        let before = self.out.len();
        append(self.out);
        self.longest = self.longest.max(self.out.len() - before);
        check_size(self.out.len() - self.start, self.longest)
    }
}
