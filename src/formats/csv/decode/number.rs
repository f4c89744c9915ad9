//! Columns of numbers.

use arrow_array::{Decimal128Array, UInt8Array};

use super::fields::Cells;
use super::read::{Outcome, read};
use crate::exec::batch::{Column, DecimalColumn, Scales};
use crate::formats::parse;

/// Whole numbers.
pub(super) fn ints(cells: &Cells<'_>) -> Outcome {
    read(cells, fast_int, |cell| parse::int(cell).ok()).into_outcome(cells.stored, Column::ints)
}

/// A number of at most eight characters with no sign but `-`, all digits at once.
#[inline(always)]
fn fast_int(text: &[u8], start: usize, end: usize) -> Option<i64> {
    let word = u64::from_le_bytes(*text.get(start..)?.first_chunk()?);
    let negative = u64::from(word as u8 == b'-');
    let length = end.wrapping_sub(start);
    let digits = length.wrapping_sub(negative as usize);
    if length > 8 || digits.wrapping_sub(1) >= 8 {
        return None;
    }
    let magnitude = eight_digits(word >> (8 * negative), digits)? as i64;
    Some((magnitude ^ -(negative as i64)) + negative as i64)
}

/// The number that the first `count` (1 to 8) characters of a word spell, if all of them are digits.
#[inline(always)]
fn eight_digits(word: u64, count: usize) -> Option<u64> {
    // The characters move to the end, behind zeros, and become digits.
    let digits = (word ^ 0x3030_3030_3030_3030) << (64 - 8 * count);
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// Floats.
pub(super) fn floats(cells: &Cells<'_>) -> Outcome {
    let values = read(cells, |text, start, end| fast_float(&text[start..end]), |cell| parse::float(cell).ok());
    values.into_outcome(cells.stored, Column::floats)
}

/// Digits with or without a point: sign, mantissa and places. At most 18 digits are taken.
#[inline(always)]
fn fast_digits(cell: &[u8]) -> Option<(bool, u64, usize)> {
    let negative = cell.first() == Some(&b'-');
    let digits = &cell[usize::from(negative)..];
    if digits.len() > 19 {
        return None;
    }
    let (mut mantissa, mut point) = (0_u64, None);
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let count = digits.len() - usize::from(point.is_some());
    let places = point.map_or(0, |at| digits.len() - at - 1);
    (1..=18).contains(&count).then_some((negative, mantissa, places))
}

/// A float that is the exact quotient of two that are exact, so that one rounding is the right one.
#[inline(always)]
fn fast_float(cell: &[u8]) -> Option<f64> {
    const POWERS: [f64; 19] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];
    let (negative, mantissa, places) = fast_digits(cell)?;
    if mantissa > 1 << 53 {
        return None;
    }
    let value = mantissa as f64 / POWERS[places];
    Some(if negative { -value } else { value })
}

/// Decimals.
pub(super) fn decimals(cells: &Cells<'_>, scale: Option<u8>, precision: Option<u8>) -> Outcome {
    let values = read(
        cells,
        |text, start, end| fast_decimal(&text[start..end], scale, precision),
        |cell| parse::decimal(cell, scale, precision).ok(),
    );
    values.into_outcome(cells.stored, |values, validity| {
        let scales = scale.map_or_else(|| scales_of(&values), Scales::Shared);
        let mantissas: Vec<i128> = values.iter().map(|(mantissa, _)| *mantissa).collect();
        Column::Decimal(DecimalColumn { mantissas: Decimal128Array::new(mantissas.into(), validity), scales })
    })
}

/// A decimal of few digits in a column that asks nothing but, at most, exactly its places.
#[inline(always)]
fn fast_decimal(cell: &[u8], scale: Option<u8>, precision: Option<u8>) -> Option<(i128, u8)> {
    let (negative, mantissa, places) = fast_digits(cell)?;
    let scale_fits = scale.is_none_or(|scale| usize::from(scale) == places);
    let precision_fits = precision.is_none_or(|most| mantissa < 10_u64.checked_pow(most.into()).unwrap_or(u64::MAX));
    let mantissa = i128::from(mantissa);
    (scale_fits && precision_fits).then_some((if negative { -mantissa } else { mantissa }, places as u8))
}

fn scales_of(values: &[(i128, u8)]) -> Scales {
    let first = values.first().map_or(0, |(_, scale)| *scale);
    if values.iter().all(|(_, scale)| *scale == first) {
        return Scales::Shared(first);
    }
    Scales::PerRow(UInt8Array::from_iter_values(values.iter().map(|(_, scale)| *scale)))
}
