//! Values from text, strictly: no blanks are trimmed and nothing is guessed.
//!
//! Each function reads the whole text. A failure is a phrase that can follow "`12.5` is" or stand alone: what is wrong
//! in the words of someone who looks at the file. Dates are read by [`super::dates`].

use std::borrow::Cow;

/// Why a text is not a value.
pub type Reason = Cow<'static, str>;

/// The largest mantissa of a decimal: 96 bits.
pub const MAX_MANTISSA: u128 = (1 << 96) - 1;
/// The most places of a decimal.
pub const MAX_SCALE: u8 = 28;

const NOT_INT: &str = "not a whole number";
const INT_TOO_LARGE: &str = "too large for a 64-bit whole number";
const NOT_FLOAT: &str = "not a number";
const NOT_FINITE: &str = "not a finite number";
const FLOAT_TOO_LARGE: &str = "too large for a 64-bit float";
const NOT_DECIMAL: &str = "not a decimal number";
const DECIMAL_TOO_LARGE: &str = "more digits than a decimal can hold";
const NOT_BOOL: &str = "not one of true/false, yes/no, on/off, 1/0";

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// A whole number: an optional sign and digits.
pub fn int(text: &[u8]) -> Result<i64, &'static str> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NOT_INT);
    }
    let mut value = 0_i64;
    for digit in digits {
        let digit = i64::from(digit - b'0');
        // Counted downwards, since the smallest number has no positive counterpart.
        value = value.checked_mul(10).and_then(|v| v.checked_sub(digit)).ok_or(INT_TOO_LARGE)?;
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or(INT_TOO_LARGE) }
}

/// `true`/`false`, `yes`/`no`, `on`/`off` or `1`/`0`, in any case.
pub fn bool(text: &[u8]) -> Result<bool, &'static str> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if is_one_of(["true", "yes", "on", "1"]) {
        Ok(true)
    } else if is_one_of(["false", "no", "off", "0"]) {
        Ok(false)
    } else {
        Err(NOT_BOOL)
    }
}

/// The parts of a number as it is spelled.
struct Spelled<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// With its sign, without the `e`.
    exponent: Option<&'a [u8]>,
}

/// Splits `[+-]digits[.digits][e[+-]digits]`, with a digit in front of or behind the point.
fn spelled(text: &[u8]) -> Option<Spelled<'_>> {
    let (negative, rest) = split_sign(text);
    let (whole, rest) = split_digits(rest);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => split_digits(rest),
        _ => (&rest[..0], rest),
    };
    let exponent = match rest {
        [] => None,
        [b'e' | b'E', exponent @ ..] => Some(exponent),
        _ => return None,
    };
    let exponent_is_good = exponent.is_none_or(|exponent| {
        let (_, digits) = split_sign(exponent);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    });
    let good = !(whole.is_empty() && fraction.is_empty()) && exponent_is_good;
    good.then_some(Spelled { negative, whole, fraction, exponent })
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// A finite number in decimal digits, with an optional sign, fraction and exponent; correctly rounded.
pub fn float(text: &[u8]) -> Result<f64, &'static str> {
    if spelled(text).is_none() {
        return Err(if names_no_finite(text) { NOT_FINITE } else { NOT_FLOAT });
    }
    let text = std::str::from_utf8(text).expect("digits are text");
    let value: f64 = text.parse().expect("the spelling was checked");
    if value.is_finite() { Ok(value) } else { Err(FLOAT_TOO_LARGE) }
}

fn names_no_finite(text: &[u8]) -> bool {
    let (_, word) = split_sign(text);
    ["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// A decimal number: mantissa and scale.
///
/// Without a declared `scale` the text's own places are the scale. With one, more places fail and fewer are padded.
/// `precision` bounds the digits, leading zeros not counted, those that `scale` pads included.
pub fn decimal(text: &[u8], scale: Option<u8>, precision: Option<u8>) -> Result<(i128, u8), Reason> {
    let number = spelled(text).filter(|number| number.exponent.is_none()).ok_or(NOT_DECIMAL)?;
    let places = number.fraction.len();
    let allowed = scale.unwrap_or(MAX_SCALE);
    if places > usize::from(allowed) {
        return Err(too_many_places(places, scale));
    }
    let padding = scale.map_or(0, |scale| usize::from(scale) - places);
    let digits = number.whole.iter().chain(number.fraction).copied().chain(std::iter::repeat_n(b'0', padding));
    let mantissa = mantissa(digits).ok_or(DECIMAL_TOO_LARGE)?;
    check_precision(mantissa, scale, precision)?;
    let scale = scale.unwrap_or(places as u8);
    Ok((if number.negative { -(mantissa as i128) } else { mantissa as i128 }, scale))
}

fn mantissa(digits: impl Iterator<Item = u8>) -> Option<u128> {
    let mut mantissa = 0_u128;
    for digit in digits {
        mantissa = mantissa * 10 + u128::from(digit - b'0');
        if mantissa > MAX_MANTISSA {
            return None;
        }
    }
    Some(mantissa)
}

fn too_many_places(places: usize, scale: Option<u8>) -> Reason {
    let found = counted(places as u32, "decimal place");
    match scale {
        Some(scale) => format!("has {found}, the column allows {scale}").into(),
        None => format!("has {found}, a decimal has at most {MAX_SCALE}").into(),
    }
}

/// `scale` is the declared one: with it, what there is room for in front of the point is known.
fn check_precision(mantissa: u128, scale: Option<u8>, precision: Option<u8>) -> Result<(), Reason> {
    let Some(precision) = precision.map(u32::from) else { return Ok(()) };
    let digits = mantissa.checked_ilog10().map_or(1, |log| log + 1);
    if digits <= precision {
        return Ok(());
    }
    Err(match scale.map(u32::from) {
        Some(scale) => {
            let found = counted(digits.saturating_sub(scale), "digit");
            format!("has {found} before the point, the column allows {}", precision.saturating_sub(scale)).into()
        }
        None => format!("has {}, the column allows {precision}", counted(digits, "digit")).into(),
    })
}

/// `1 digit`, `2 digits`
fn counted(number: u32, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
