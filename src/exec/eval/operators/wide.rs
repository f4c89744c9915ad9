//! Decimal arithmetic in 256 bits: what 128 bits have no room for.
//!
//! A result is exact where it can be; otherwise it has as many places as fit 96 bits, at most 28, halves to even.

use arrow_buffer::i256;

use crate::analysis::hir::BinaryOp;
use crate::formats::parse::{MAX_MANTISSA, MAX_SCALE};

/// `left op right` of two decimals, each a mantissa and a scale; `None` if it needs more than 96 bits even without
/// places. A divisor is not zero.
pub fn compute(op: BinaryOp, left: (i128, u8), right: (i128, u8)) -> Option<(i128, u8)> {
    let scale = left.1.max(right.1);
    let (a, b) = (scaled(left, scale), scaled(right, scale));
    match op {
        BinaryOp::Add => fitted(a.wrapping_add(b), scale),
        BinaryOp::Subtract => fitted(a.wrapping_sub(b), scale),
        BinaryOp::Multiply => fitted(i256::from_i128(left.0).wrapping_mul(i256::from_i128(right.0)), left.1 + right.1),
        BinaryOp::Divide => quotient(left, right),
        _ => fitted(a.wrapping_rem(b), scale),
    }
}

/// The mantissa at a scale that is not smaller than its own; 28 more places fit easily.
fn scaled((mantissa, scale): (i128, u8), wanted: u8) -> i256 {
    i256::from_i128(mantissa).wrapping_mul(power_of_ten(wanted - scale))
}

/// The decimal `value` / 10^`scale` with as many places as fit.
pub fn fitted(value: i256, scale: u8) -> Option<(i128, u8)> {
    (0..=scale.min(MAX_SCALE)).rev().find_map(|wanted| {
        let mantissa = in_96_bits(rounded_quotient(value, power_of_ten(scale - wanted)))?;
        Some((mantissa, wanted))
    })
}

/// An exact quotient has no more places than it needs, but at least those that the dividend has more than the divisor.
fn quotient(left: (i128, u8), right: (i128, u8)) -> Option<(i128, u8)> {
    let (mut mantissa, mut scale) = (0..=MAX_SCALE).rev().find_map(|wanted| {
        let (dividend, divisor) = fraction(left, right, wanted)?;
        Some((in_96_bits(rounded_quotient(dividend, divisor))?, wanted))
    })?;
    let (dividend, divisor) = fraction(left, right, scale)?;
    if dividend.wrapping_rem(divisor) == i256::ZERO {
        while scale > left.1.saturating_sub(right.1) && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
    }
    Some((mantissa, scale))
}

/// What to divide for a quotient with `places`. `None` only where that many don't fit: a dividend of more than 256
/// bits has a quotient of more than 96.
fn fraction(left: (i128, u8), right: (i128, u8), places: u8) -> Option<(i256, i256)> {
    let (dividend, divisor) = (i256::from_i128(left.0), i256::from_i128(right.0));
    let gained = places + right.1;
    if gained >= left.1 {
        Some((dividend.checked_mul(power_of_ten(gained - left.1))?, divisor))
    } else {
        Some((dividend, divisor.checked_mul(power_of_ten(left.1 - gained))?))
    }
}

/// `dividend` / `divisor` with at least `least` places if that is exact, else with as many as fit. The divisor is
/// positive and below 2^250, the dividend above -2^255.
pub fn divided(dividend: i256, divisor: i256, least: u8) -> Option<(i128, u8)> {
    let (ten, negative) = (i256::from_i128(10), dividend.is_negative());
    let magnitude = dividend.wrapping_abs();
    let mut quotient = in_96_bits(magnitude.wrapping_div(divisor))?;
    let mut rest = magnitude.wrapping_rem(divisor);
    let mut places = 0;
    while places < MAX_SCALE && (rest != i256::ZERO || places < least) {
        let part = rest.wrapping_mul(ten);
        let digit = part.wrapping_div(divisor).as_i128();
        let Some(longer) = in_96_bits(i256::from_i128(quotient * 10 + digit)) else { break };
        (quotient, rest, places) = (longer, part.wrapping_rem(divisor), places + 1);
    }
    let beyond_half = rest.cmp(&divisor.wrapping_sub(rest));
    if beyond_half.is_gt() || (beyond_half.is_eq() && quotient % 2 != 0) {
        quotient += 1;
    }
    if quotient.unsigned_abs() > MAX_MANTISSA {
        // Only the largest mantissa is rounded out of range; a place less has room for it.
        (quotient, places) = (quotient / 10 + i128::from(quotient % 10 >= 5), places.checked_sub(1)?);
    }
    Some((if negative { -quotient } else { quotient }, places))
}

fn rounded_quotient(value: i256, unit: i256) -> i256 {
    let quotient = value.wrapping_div(unit);
    let rest = value.wrapping_sub(quotient.wrapping_mul(unit)).wrapping_abs();
    // Half of the unit, compared without doubling, which might not fit.
    let beyond_half = rest.cmp(&unit.wrapping_abs().wrapping_sub(rest));
    let odd = quotient.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
    if beyond_half.is_gt() || (beyond_half.is_eq() && odd) {
        let away = if value.is_negative() == unit.is_negative() { i256::ONE } else { i256::MINUS_ONE };
        quotient.wrapping_add(away)
    } else {
        quotient
    }
}

fn in_96_bits(value: i256) -> Option<i128> {
    value.to_i128().filter(|mantissa| mantissa.unsigned_abs() <= MAX_MANTISSA)
}

/// 10 to the `exponent`, which is at most 56.
pub fn power_of_ten(exponent: u8) -> i256 {
    let part = |exponent: u8| i256::from_i128(crate::exec::value::power_of_ten(exponent));
    let first = exponent.min(MAX_SCALE);
    part(first).wrapping_mul(part(exponent - first))
}
