//! Arithmetic on decimals.
//!
//! Two operands whose scales are the same for all rows give a column of one scale as long as every result is exact
//! within 96 bits. Otherwise each row is computed in 256 bits if need be, and the column has a scale for each row.

use arrow_array::{Array, Decimal128Array};
use arrow_buffer::NullBuffer;

use super::wide;
use crate::analysis::hir::BinaryOp;
use crate::exec::batch::{Column, DecimalColumn, Scales};
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::Error;
use crate::exec::eval::rows::Rows;
use crate::exec::value::{Value, align};
use crate::formats::parse::{MAX_MANTISSA, MAX_SCALE};

/// A decimal operand.
pub enum Decimals<'a> {
    /// A value for each row.
    Column(&'a DecimalColumn),
    /// The same mantissa and scale in every row.
    Scalar((i128, u8)),
}

impl<'a> Decimals<'a> {
    /// The operand, if it is a decimal.
    pub fn of(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Column(Column::Decimal(column)) => Some(Decimals::Column(column)),
            Datum::Scalar(Value::Decimal { mantissa, scale }) => Some(Decimals::Scalar((*mantissa, *scale))),
            _ => None,
        }
    }

    /// Mantissa and scale of a row; arbitrary where it is null.
    #[inline]
    pub fn at(&self, row: usize) -> (i128, u8) {
        match self {
            Decimals::Column(column) => (column.mantissas.value(row), column.scales.at(row)),
            Decimals::Scalar(value) => *value,
        }
    }

    fn shared_scale(&self) -> Option<u8> {
        match self {
            Decimals::Column(DecimalColumn { scales: Scales::PerRow(_), .. }) => None,
            Decimals::Column(DecimalColumn { scales: Scales::Shared(scale), .. }) => Some(*scale),
            Decimals::Scalar((_, scale)) => Some(*scale),
        }
    }
}

/// `left op right` for the live rows that are valid.
pub fn arithmetic(
    op: BinaryOp,
    left: &Decimals<'_>,
    right: &Decimals<'_>,
    validity: Option<NullBuffer>,
    rows: &mut Rows<'_>,
) -> Column {
    if let Some((mantissas, scale)) = exact_column(op, left, right, validity.as_ref(), rows) {
        return Column::decimals(mantissas, scale, validity);
    }
    rows.decimals(|row| {
        if validity.as_ref().is_some_and(|validity| validity.is_null(row)) {
            return Ok(None);
        }
        compute(op, left.at(row), right.at(row)).map(Some)
    })
}

/// Every sign changed.
pub fn negate(column: &DecimalColumn) -> Column {
    let mantissas: Vec<i128> = column.mantissas.values().iter().map(|m| -m).collect();
    let mantissas = Decimal128Array::new(mantissas.into(), column.mantissas.nulls().cloned());
    Column::Decimal(DecimalColumn { mantissas, scales: column.scales.clone() })
}

/// The result at the scale that all rows share; `None` if a row that counts has no exact result there.
fn exact_column(
    op: BinaryOp,
    left: &Decimals<'_>,
    right: &Decimals<'_>,
    validity: Option<&NullBuffer>,
    rows: &Rows<'_>,
) -> Option<(Vec<i128>, u8)> {
    let (left_scale, right_scale) = (left.shared_scale()?, right.shared_scale()?);
    let scale = exact_scale(op, left_scale, right_scale)?;
    let mut mantissas = vec![0; rows.len()];
    let mut exact = true;
    rows.live.for_each(|row| match exact_mantissa(op, left.at(row), right.at(row)) {
        Some(mantissa) => mantissas[row] = mantissa,
        None => exact &= validity.is_some_and(|validity| validity.is_null(row)),
    });
    exact.then_some((mantissas, scale))
}

fn exact_scale(op: BinaryOp, left: u8, right: u8) -> Option<u8> {
    match op {
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Remainder => Some(left.max(right)),
        BinaryOp::Multiply => Some(left + right).filter(|scale| *scale <= MAX_SCALE),
        _ => None,
    }
}

fn exact_mantissa(op: BinaryOp, left: (i128, u8), right: (i128, u8)) -> Option<i128> {
    let mantissa = match op {
        BinaryOp::Multiply => left.0.checked_mul(right.0)?,
        BinaryOp::Add => align(left, right).and_then(|(a, b)| a.checked_add(b))?,
        BinaryOp::Subtract => align(left, right).and_then(|(a, b)| a.checked_sub(b))?,
        _ => align(left, right).and_then(|(a, b)| a.checked_rem(b))?,
    };
    (mantissa.unsigned_abs() <= MAX_MANTISSA).then_some(mantissa)
}

/// `left op right` for two decimals, each a mantissa and a scale.
pub fn compute(op: BinaryOp, left: (i128, u8), right: (i128, u8)) -> Result<(i128, u8), Error> {
    if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) && right.0 == 0 {
        return Err(Error::DivisionByZero);
    }
    if let Some(scale) = exact_scale(op, left.1, right.1)
        && let Some(mantissa) = exact_mantissa(op, left, right)
    {
        return Ok((mantissa, scale));
    }
    wide::compute(op, left, right).ok_or(Error::DecimalOverflow(match op {
        BinaryOp::Add => "addition",
        BinaryOp::Subtract => "subtraction",
        BinaryOp::Multiply => "multiplication",
        BinaryOp::Divide => "division",
        _ => "modulo",
    }))
}
