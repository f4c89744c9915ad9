//! `+ - * / %` and unary `-`.
//!
//! Numbers are computed for every row, live or not, in loops without branches. Only if something overflowed or was
//! divided by zero are the rows looked at one by one, and a live row with two values is a failure.

use arrow_buffer::NullBuffer;

use super::decimal;
use super::sides::{self, Native, Side};
use crate::analysis::hir::BinaryOp;
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::eval::datum::{Datum, both_valid};
use crate::exec::eval::error::{Error, check_size};
use crate::exec::eval::operands::Strings;
use crate::exec::eval::rows::Rows;
use crate::exec::value::Value;

/// `left op right`, null where either is. At least one of them is a column.
pub fn arithmetic(op: BinaryOp, left: &Datum, right: &Datum, kind: &Kind, rows: &mut Rows<'_>) -> Datum {
    if left.is_null() || right.is_null() {
        return Datum::NULL;
    }
    Datum::Column(if let (Some(a), Some(b)) = (Side::of(left), Side::of(right)) {
        let validity = both_valid(left, right);
        Column::ints(ints(op, a, b, validity.as_ref(), rows), validity)
    } else if let (Some(a), Some(b)) = (Side::of(left), Side::of(right)) {
        let validity = both_valid(left, right);
        Column::floats(floats(op, a, b, validity.as_ref(), rows), validity)
    } else if let (Some(a), Some(b)) = (decimal::Decimals::of(left), decimal::Decimals::of(right)) {
        decimal::arithmetic(op, &a, &b, both_valid(left, right), rows)
    } else if *kind == Kind::String && op == BinaryOp::Add {
        concatenate(left, right, rows)
    } else {
        rows.values(kind, |row| of_values(op, &left.value(row), &right.value(row)))
    })
}

/// `-operand`, null where it is.
pub fn negate(operand: &Datum, kind: &Kind, rows: &mut Rows<'_>) -> Datum {
    Datum::Column(match operand {
        Datum::Column(Column::Int(a)) => {
            let zero = Side::Scalar(0);
            let values = checked(zero, Side::Column(a.values()), operand.validity().as_ref(), rows, NEGATION);
            Column::ints(values, operand.validity())
        }
        Datum::Column(Column::Float(a)) => Column::floats(a.values().iter().map(|f| -f).collect(), operand.validity()),
        Datum::Column(Column::Decimal(a)) => decimal::negate(a),
        Datum::Column(column @ Column::Any(_)) => rows.values(kind, |row| negate_value(&column.value(row))),
        _ => return Datum::NULL,
    })
}

/// An operation that can fail: its result and whether it failed, and the failure for a right operand.
struct Operation<T> {
    compute: fn(T, T) -> (T, bool),
    error: fn(T) -> Error,
}

impl<T: Copy> Operation<T> {
    fn once(&self, a: T, b: T) -> Result<T, Error> {
        match (self.compute)(a, b) {
            (value, false) => Ok(value),
            _ => Err((self.error)(b)),
        }
    }
}

const ADDITION: Operation<i64> =
    Operation { compute: i64::overflowing_add, error: |_| Error::IntegerOverflow("addition") };
const SUBTRACTION: Operation<i64> =
    Operation { compute: i64::overflowing_sub, error: |_| Error::IntegerOverflow("subtraction") };
const MULTIPLICATION: Operation<i64> =
    Operation { compute: i64::overflowing_mul, error: |_| Error::IntegerOverflow("multiplication") };
const NEGATION: Operation<i64> =
    Operation { compute: |_, b| b.overflowing_neg(), error: |_| Error::IntegerOverflow("negation") };
const DIVISION: Operation<i64> = Operation {
    compute: |a, b| a.checked_div(b).map_or((0, true), |value| (value, false)),
    error: |b| if b == 0 { Error::DivisionByZero } else { Error::IntegerOverflow("division") },
};
const MODULO: Operation<i64> = Operation {
    compute: |a, b| a.checked_rem(b).map_or((0, true), |value| (value, false)),
    error: |b| if b == 0 { Error::DivisionByZero } else { Error::IntegerOverflow("modulo") },
};
const FLOAT_DIVISION: Operation<f64> =
    Operation { compute: |a, b| (a / b, b == 0.0), error: |_| Error::DivisionByZero };
const FLOAT_MODULO: Operation<f64> = Operation { compute: |a, b| (a % b, b == 0.0), error: |_| Error::DivisionByZero };

fn ints(
    op: BinaryOp,
    a: Side<'_, i64>,
    b: Side<'_, i64>,
    validity: Option<&NullBuffer>,
    rows: &mut Rows<'_>,
) -> Vec<i64> {
    match op {
        BinaryOp::Add => checked(a, b, validity, rows, ADDITION),
        BinaryOp::Subtract => checked(a, b, validity, rows, SUBTRACTION),
        BinaryOp::Multiply => checked(a, b, validity, rows, MULTIPLICATION),
        BinaryOp::Divide => checked(a, b, validity, rows, DIVISION),
        _ => checked(a, b, validity, rows, MODULO),
    }
}

fn floats(
    op: BinaryOp,
    a: Side<'_, f64>,
    b: Side<'_, f64>,
    validity: Option<&NullBuffer>,
    rows: &mut Rows<'_>,
) -> Vec<f64> {
    match op {
        BinaryOp::Add => sides::zip(a, b, rows.len(), |a, b| a + b),
        BinaryOp::Subtract => sides::zip(a, b, rows.len(), |a, b| a - b),
        BinaryOp::Multiply => sides::zip(a, b, rows.len(), |a, b| a * b),
        BinaryOp::Divide => checked(a, b, validity, rows, FLOAT_DIVISION),
        _ => checked(a, b, validity, rows, FLOAT_MODULO),
    }
}

#[inline(always)]
fn checked<T: Native>(
    a: Side<'_, T>,
    b: Side<'_, T>,
    validity: Option<&NullBuffer>,
    rows: &mut Rows<'_>,
    operation: Operation<T>,
) -> Vec<T> {
    let compute = operation.compute;
    let values = sides::zip(a, b, rows.len(), |a, b| compute(a, b).0);
    if sides::any(a, b, |a, b| compute(a, b).1) {
        report(a, b, validity, rows, &operation);
    }
    values
}

#[cold]
fn report<T: Native>(
    a: Side<'_, T>,
    b: Side<'_, T>,
    validity: Option<&NullBuffer>,
    rows: &mut Rows<'_>,
    operation: &Operation<T>,
) {
    rows.live.for_each(|row| {
        if let Err(error) = operation.once(a.at(row), b.at(row))
            && validity.is_none_or(|validity| validity.is_valid(row))
        {
            rows.faults.add(row, error, rows.span);
        }
    });
}

fn concatenate(left: &Datum, right: &Datum, rows: &mut Rows<'_>) -> Column {
    let (left, right) = (Strings::of(left), Strings::of(right));
    rows.texts(|row, out| {
        let (Some(left), Some(right)) = (left.get(row), right.get(row)) else { return Ok(false) };
        check_size(left.len() + right.len(), left.len().max(right.len()))?;
        out.push_str(left);
        out.push_str(right);
        Ok(true)
    })
}

/// `left op right` for values whose types are known only now; null for a pair that has no such operation.
fn of_values(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Error> {
    Ok(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(match op {
            BinaryOp::Add => ADDITION.once(*a, *b)?,
            BinaryOp::Subtract => SUBTRACTION.once(*a, *b)?,
            BinaryOp::Multiply => MULTIPLICATION.once(*a, *b)?,
            BinaryOp::Divide => DIVISION.once(*a, *b)?,
            _ => MODULO.once(*a, *b)?,
        }),
        (Value::Float(a), Value::Float(b)) => Value::Float(of_floats(op, *a, *b)?),
        (Value::Int(a), Value::Float(b)) => Value::Float(of_floats(op, *a as f64, *b)?),
        (Value::Float(a), Value::Int(b)) => Value::Float(of_floats(op, *a, *b as f64)?),
        (Value::String(a), Value::String(b)) if op == BinaryOp::Add => {
            check_size(a.len() + b.len(), a.len().max(b.len()))?;
            Value::String(format!("{a}{b}"))
        }
        _ => match (left.as_decimal(), right.as_decimal()) {
            (Some(a), Some(b)) => {
                let (mantissa, scale) = decimal::compute(op, a, b)?;
                Value::Decimal { mantissa, scale }
            }
            _ => Value::Null,
        },
    })
}

fn of_floats(op: BinaryOp, a: f64, b: f64) -> Result<f64, Error> {
    match op {
        BinaryOp::Add => Ok(a + b),
        BinaryOp::Subtract => Ok(a - b),
        BinaryOp::Multiply => Ok(a * b),
        BinaryOp::Divide => FLOAT_DIVISION.once(a, b),
        _ => FLOAT_MODULO.once(a, b),
    }
}

fn negate_value(value: &Value) -> Result<Value, Error> {
    Ok(match value {
        Value::Int(i) => Value::Int(NEGATION.once(0, *i)?),
        Value::Float(f) => Value::Float(-f),
        Value::Decimal { mantissa, scale } => Value::Decimal { mantissa: -mantissa, scale: *scale },
        _ => Value::Null,
    })
}
