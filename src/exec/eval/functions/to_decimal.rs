//! Decimals from texts and floats. Places beyond what a decimal holds are rounded, halves to even; a number that is
//! too large is none.

use crate::exec::value::Value;
use crate::formats::parse::{self, MAX_MANTISSA, MAX_SCALE};

/// Mantissa and scale of a number; a float gives its exact value.
pub fn from_value(value: &Value) -> Option<(i128, u8)> {
    match value {
        // A double has at most 1074 places.
        Value::Float(f) if f.is_finite() => {
            let digits = format!("{f:.1074}");
            from_text(digits.trim_end_matches('0').trim_end_matches('.'))
        }
        value => value.as_decimal(),
    }
}

/// Mantissa and scale of digits with an optional sign, fraction and exponent.
pub fn from_text(text: &str) -> Option<(i128, u8)> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, parse::int(exponent.as_bytes()).ok()?),
        None => (text, 0),
    };
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    let places = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let (mantissa, scale) = fitted(&digits[first..], places)?;
    Some((if number.starts_with('-') { -mantissa } else { mantissa }, scale))
}

/// The number that `digits` spell, the last `places` of them behind the point (if negative, zeros follow), with as
/// many places as fit. The digits don't begin with a zero.
fn fitted(digits: &[u8], places: i64) -> Option<(i128, u8)> {
    let most = places.clamp(0, i64::from(MAX_SCALE)) as u8;
    if digits.is_empty() {
        return Some((0, most));
    }
    let at = |scale: u8| Some((rounded(digits, places.checked_sub(i64::from(scale))?)?, scale));
    (0..=most).rev().find_map(at)
}

/// The number that `digits` spell without the last `dropped` of them (if negative, with zeros behind them); `None` if
/// it needs more than 96 bits.
fn rounded(digits: &[u8], dropped: i64) -> Option<i128> {
    let kept = i64::try_from(digits.len()).ok()?.checked_sub(dropped)?;
    if kept < 0 {
        return Some(0); // less than a tenth of the last place
    }
    if kept > 29 {
        return None; // 96 bits are less than 10^29
    }
    let kept = kept as usize;
    let (shown, rest) = digits.split_at(kept.min(digits.len()));
    let zeros = std::iter::repeat_n(&b'0', kept - shown.len());
    let value = shown.iter().chain(zeros).fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
    let value = value + i128::from(rounds_up(rest, value % 2 != 0));
    (value.unsigned_abs() <= MAX_MANTISSA).then_some(value)
}

fn rounds_up(rest: &[u8], odd: bool) -> bool {
    match rest.split_first() {
        None => false,
        Some((b'5', others)) => odd || others.iter().any(|digit| *digit != b'0'),
        Some((digit, _)) => *digit > b'5',
    }
}
