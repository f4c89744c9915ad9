//! Operands as slices or single values, and the tight loops over two of them.

use arrow_buffer::BooleanBuffer;

use crate::exec::batch::{Bitmap, Column};
use crate::exec::eval::datum::Datum;
use crate::exec::value::Value;

/// A fixed-width type that columns hold in slices.
pub trait Native: Copy {
    /// The slice of a column of this type.
    fn slice(column: &Column) -> Option<&[Self]>;
    /// A value of this type.
    fn scalar(value: &Value) -> Option<Self>;
}

macro_rules! native {
    ($type:ty, $column:ident, $value:ident) => {
        impl Native for $type {
            fn slice(column: &Column) -> Option<&[Self]> {
                if let Column::$column(array) = column { Some(array.values()) } else { None }
            }

            fn scalar(value: &Value) -> Option<Self> {
                if let Value::$value(value) = value { Some(*value) } else { None }
            }
        }
    };
}

native!(i64, Int, Int);
native!(f64, Float, Float);
native!(i32, Date, Date);
native!(i128, DateTime, DateTime);

/// One operand.
#[derive(Clone, Copy)]
pub enum Side<'a, T> {
    /// A value for each row; those of null rows are arbitrary.
    Column(&'a [T]),
    /// The same value in every row.
    Scalar(T),
}

impl<'a, T: Native> Side<'a, T> {
    /// The operand, if it is of this type.
    pub fn of(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Column(column) => T::slice(column).map(Side::Column),
            Datum::Scalar(value) => T::scalar(value).map(Side::Scalar),
        }
    }

    /// The value of a row.
    pub fn at(&self, row: usize) -> T {
        match self {
            Side::Column(values) => values[row],
            Side::Scalar(value) => *value,
        }
    }
}

/// `f` of each pair.
#[inline]
pub fn zip<A: Copy, B: Copy, R: Clone>(
    left: Side<'_, A>,
    right: Side<'_, B>,
    rows: usize,
    f: impl Fn(A, B) -> R,
) -> Vec<R> {
    match (left, right) {
        (Side::Column(a), Side::Column(b)) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
        (Side::Column(a), Side::Scalar(b)) => a.iter().map(|a| f(*a, b)).collect(),
        (Side::Scalar(a), Side::Column(b)) => b.iter().map(|b| f(a, *b)).collect(),
        (Side::Scalar(a), Side::Scalar(b)) => vec![f(a, b); rows],
    }
}

/// Whether `f` holds for any pair; looks at all of them, which is faster than stopping early.
#[inline]
pub fn any<A: Copy, B: Copy>(left: Side<'_, A>, right: Side<'_, B>, f: impl Fn(A, B) -> bool) -> bool {
    match (left, right) {
        (Side::Column(a), Side::Column(b)) => a.iter().zip(b).fold(false, |any, (a, b)| any | f(*a, *b)),
        (Side::Column(a), Side::Scalar(b)) => a.iter().fold(false, |any, a| any | f(*a, b)),
        (Side::Scalar(a), Side::Column(b)) => b.iter().fold(false, |any, b| any | f(a, *b)),
        (Side::Scalar(a), Side::Scalar(b)) => f(a, b),
    }
}

/// One bit for each pair: whether `f` holds.
#[inline]
pub fn zip_bits<A: Copy, B: Copy>(
    left: Side<'_, A>,
    right: Side<'_, B>,
    rows: usize,
    f: impl Fn(A, B) -> bool,
) -> Bitmap {
    match (left, right) {
        (Side::Column(a), Side::Column(b)) => {
            let words = a.chunks(64).zip(b.chunks(64));
            pack(rows, words.map(|(a, b)| word(a.iter().zip(b).map(|(a, b)| f(*a, *b)))))
        }
        (Side::Column(a), Side::Scalar(b)) => pack(rows, a.chunks(64).map(|a| word(a.iter().map(|a| f(*a, b))))),
        (Side::Scalar(a), Side::Column(b)) => pack(rows, b.chunks(64).map(|b| word(b.iter().map(|b| f(a, *b))))),
        (Side::Scalar(a), Side::Scalar(b)) => {
            if f(a, b) {
                Bitmap::new_set(rows)
            } else {
                Bitmap::new_unset(rows)
            }
        }
    }
}

#[inline]
fn word(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |word, (position, bit)| word | u64::from(bit) << position)
}

fn pack(rows: usize, words: impl Iterator<Item = u64>) -> Bitmap {
    BooleanBuffer::new(words.collect::<Vec<u64>>().into(), 0, rows)
}
