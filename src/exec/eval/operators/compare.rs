//! `== != < <= > >=`.
//!
//! `==` and `!=` are never null: null equals null and nothing else. The others are null if an operand is, and where
//! null is unknown, so are those two. NaN equals nothing and is not ordered; an int and a float are compared exactly.

use std::cmp::Ordering;

use arrow_array::{Array, StringViewArray};

use super::decimal::Decimals;
use super::sides::{Native, Side, zip_bits};
use crate::analysis::hir::BinaryOp;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::eval::datum::{Datum, both_valid};
use crate::exec::eval::operands::Strings;
use crate::exec::eval::rows::Rows;
use crate::exec::value::{Value, compare_decimals, compare_int_float};

/// `left op right`. At least one of them is a column.
pub fn compare(op: BinaryOp, null_is_unknown: bool, left: &Datum, right: &Datum, rows: &Rows<'_>) -> Datum {
    let two_valued = !null_is_unknown;
    match op {
        BinaryOp::Equal if two_valued => Datum::Column(Column::bools(equal(left, right, rows), None)),
        BinaryOp::NotEqual if two_valued => Datum::Column(Column::bools(!&equal(left, right, rows), None)),
        _ if left.is_null() || right.is_null() => Datum::NULL,
        BinaryOp::NotEqual => {
            let same = holds(BinaryOp::Equal, left, right, rows);
            Datum::Column(Column::bools(!&same, both_valid(left, right)))
        }
        _ => Datum::Column(Column::bools(holds(op, left, right, rows), both_valid(left, right))),
    }
}

/// Two-valued equality.
fn equal(left: &Datum, right: &Datum, rows: &Rows<'_>) -> Bitmap {
    if left.is_null() {
        return right.null_bits(rows.len());
    }
    if right.is_null() {
        return left.null_bits(rows.len());
    }
    let same = holds(BinaryOp::Equal, left, right, rows);
    match (left.validity(), right.validity()) {
        (None, None) => same,
        (Some(valid), None) | (None, Some(valid)) => &same & valid.inner(),
        (Some(a), Some(b)) => &(&same & &(a.inner() & b.inner())) | &(&!a.inner() & &!b.inner()),
    }
}

/// Whether the comparison holds, for rows where both operands are valid.
fn holds(op: BinaryOp, left: &Datum, right: &Datum, rows: &Rows<'_>) -> Bitmap {
    let len = rows.len();
    if let Some(bits) = native::<i64>(op, left, right, len).or_else(|| native::<f64>(op, left, right, len)) {
        return bits;
    }
    if let Some(bits) = native::<i32>(op, left, right, len).or_else(|| native::<i128>(op, left, right, len)) {
        return bits;
    }
    if let (Some(a), Some(b)) = (Side::<i64>::of(left), Side::<f64>::of(right)) {
        return zip_bits(a, b, len, |a, b| matches_order(op, compare_int_float(a, b)));
    }
    if let (Some(a), Some(b)) = (Side::<f64>::of(left), Side::<i64>::of(right)) {
        return zip_bits(a, b, len, |a, b| matches_order(op, compare_int_float(b, a).map(Ordering::reverse)));
    }
    if let (Some(a), Some(b)) = (Decimals::of(left), Decimals::of(right)) {
        return Bitmap::collect_bool(len, |row| matches_order(op, Some(compare_decimals(a.at(row), b.at(row)))));
    }
    match (left, right) {
        (Datum::Column(Column::String(a)), Datum::Scalar(Value::String(b))) => string_bits(op, a, b),
        (Datum::Scalar(Value::String(a)), Datum::Column(Column::String(b))) => string_bits(mirrored(op), b, a),
        (Datum::Column(Column::String(_)), Datum::Column(Column::String(_))) => two_strings(op, left, right, len),
        _ => by_value(op, left, right, rows),
    }
}

fn native<T: Native + PartialOrd>(op: BinaryOp, left: &Datum, right: &Datum, rows: usize) -> Option<Bitmap> {
    let (a, b) = (Side::<T>::of(left)?, Side::<T>::of(right)?);
    Some(match op {
        BinaryOp::Equal => zip_bits(a, b, rows, |a, b| a == b),
        BinaryOp::Less => zip_bits(a, b, rows, |a, b| a < b),
        BinaryOp::LessEqual => zip_bits(a, b, rows, |a, b| a <= b),
        BinaryOp::Greater => zip_bits(a, b, rows, |a, b| a > b),
        _ => zip_bits(a, b, rows, |a, b| a >= b),
    })
}

/// Whether an operator holds for operands that stand in this order.
#[inline]
fn matches_order(op: BinaryOp, order: Option<Ordering>) -> bool {
    order.is_some_and(|order| match op {
        BinaryOp::Equal => order.is_eq(),
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// The operator that holds for swapped operands.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        op => op,
    }
}

fn string_bits(op: BinaryOp, column: &StringViewArray, text: &str) -> Bitmap {
    if op == BinaryOp::Equal {
        return equal_text(column, text);
    }
    Bitmap::collect_bool(column.len(), |row| matches_order(op, Some(column.value(row).as_bytes().cmp(text.as_bytes()))))
}

/// Texts of up to twelve bytes are equal exactly if their views are; longer ones differ mostly in length or in their
/// first four bytes, which the view holds too.
fn equal_text(column: &StringViewArray, text: &str) -> Bitmap {
    let wanted = arrow_array::builder::make_view(text.as_bytes(), 0, 0);
    let views = Side::Column(&column.views()[..]);
    if text.len() <= 12 {
        return zip_bits(views, Side::Scalar(wanted), column.len(), |view, wanted| view == wanted);
    }
    Bitmap::collect_bool(column.len(), |row| column.views()[row] as u64 == wanted as u64 && column.value(row) == text)
}

fn two_strings(op: BinaryOp, left: &Datum, right: &Datum, rows: usize) -> Bitmap {
    let (a, b) = (Strings::of(left), Strings::of(right));
    Bitmap::collect_bool(rows, |row| match (a.get(row), b.get(row)) {
        (Some(a), Some(b)) => matches_order(op, Some(a.as_bytes().cmp(b.as_bytes()))),
        _ => false,
    })
}

/// Booleans, lists, maps and values whose type is known only now.
fn by_value(op: BinaryOp, left: &Datum, right: &Datum, rows: &Rows<'_>) -> Bitmap {
    let mut words = vec![0_u64; rows.len().div_ceil(64)];
    rows.live.for_each(|row| {
        let (a, b) = (left.value(row), right.value(row));
        let holds = if op == BinaryOp::Equal { a.equals(&b) } else { matches_order(op, a.order(&b)) };
        words[row / 64] |= u64::from(holds) << (row % 64);
    });
    Bitmap::new(words.into(), 0, rows.len())
}
