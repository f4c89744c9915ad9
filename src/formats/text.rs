//! Values to text: the one spelling of each value in files and in `to_string`.

use super::calendar;

/// Four digits for each number below 10,000, the first in the lowest byte.
static FOUR_DIGITS: [u32; 10_000] = four_digits();

const fn four_digits() -> [u32; 10_000] {
    let mut table = [0; 10_000];
    let mut number = 0;
    while number < 10_000 {
        let (high, low) = (number / 100, number % 100);
        let digits = [high / 10, high % 10, low / 10, low % 10];
        let [a, b, c, d] = digits;
        table[number] = u32::from_le_bytes([b'0' + a as u8, b'0' + b as u8, b'0' + c as u8, b'0' + d as u8]);
        number += 1;
    }
    table
}

/// Four digits of a number below 10,000, the first in the lowest byte.
#[inline]
pub(crate) fn four(number: u32) -> u32 {
    FOUR_DIGITS[number as usize]
}

/// Two digits of a number below 100, the first in the lowest byte.
#[inline]
pub(crate) fn two(number: u32) -> u16 {
    (four(number) >> 16) as u16
}

/// `true` or `false`.
#[inline]
pub fn write_bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// A whole number in plain digits.
#[inline]
pub fn write_int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest digits that read back as the same number, never with an exponent, and without `.0` behind a whole
/// number. Minus zero is `0`; the others are `NaN`, `inf` and `-inf`.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    if value == 0.0 || !value.is_finite() {
        return out.extend_from_slice(special_float(value).as_bytes());
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(value);
    match shortest.split_once('e') {
        None => out.extend_from_slice(shortest.strip_suffix(".0").unwrap_or(shortest).as_bytes()),
        Some((digits, exponent)) => {
            let exponent = exponent.parse().expect("an exponent is a small number");
            write_scaled(digits, exponent, out);
        }
    }
}

fn special_float(value: f64) -> &'static str {
    match value {
        0.0 => "0",
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "NaN",
    }
}

/// Writes `digits` (`-1.25`) times ten to the power of `exponent`.
fn write_scaled(digits: &str, exponent: i32, out: &mut Vec<u8>) {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.len() < digits.len() {
        out.push(b'-');
    }
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let fraction = if fraction == "0" { "" } else { fraction };
    let point = whole.len() as i32 + exponent;
    let digits = || whole.bytes().chain(fraction.bytes());
    let count = (whole.len() + fraction.len()) as i32;
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', -point as usize));
        return out.extend(digits());
    }
    out.extend(digits().take(point as usize));
    out.extend(std::iter::repeat_n(b'0', (point - count).max(0) as usize));
    if point < count {
        out.push(b'.');
        out.extend(digits().skip(point as usize));
    }
}

/// A decimal with all its places.
pub fn write_decimal(mantissa: i128, scale: u8, out: &mut Vec<u8>) {
    let scale = usize::from(scale);
    if mantissa < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = match u64::try_from(mantissa.unsigned_abs()) {
        Ok(small) => buffer.format(small),
        Err(_) => buffer.format(mantissa.unsigned_abs()),
    }
    .as_bytes();
    if digits.len() <= scale {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', scale - digits.len()));
        return out.extend_from_slice(digits);
    }
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    out.extend_from_slice(whole);
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}

/// The mantissa of a decimal brought to another scale, halves to even. `None` if it would not fit 128 bits.
pub fn rescale(mantissa: i128, scale: u8, wanted: u8) -> Option<i128> {
    if wanted >= scale {
        return mantissa.checked_mul(10_i128.checked_pow(u32::from(wanted - scale))?);
    }
    let unit = 10_i128.checked_pow(u32::from(scale - wanted))?;
    let (quotient, rest) = (mantissa / unit, (mantissa % unit).abs());
    let up = rest > unit / 2 || (rest == unit / 2 && quotient % 2 != 0);
    Some(quotient + if up { mantissa.signum() } else { 0 })
}

/// A day, given as days since 1970-01-01: `2024-03-15`.
pub fn write_date(days: i32, out: &mut Vec<u8>) {
    match date(days) {
        Some(text) => out.extend_from_slice(&text),
        None => write_far_date(days, out),
    }
}

/// The ten bytes of a day in the years 0000 to 9999.
#[inline]
pub(crate) fn date(days: i32) -> Option<[u8; 10]> {
    let (year, month, day) = calendar::civil(days);
    let year = u32::try_from(year).ok().filter(|year| *year <= 9999)?;
    let ([y0, y1, y2, y3], [m0, m1], [d0, d1]) =
        (four(year).to_le_bytes(), two(month).to_le_bytes(), two(day).to_le_bytes());
    Some([y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1])
}

/// A day outside the years that a value can have; the result of an operation that does not check.
fn write_far_date(days: i32, out: &mut Vec<u8>) {
    let (year, month, day) = calendar::civil(days);
    out.extend_from_slice(format!("{year:05}-{month:02}-{day:02}").as_bytes());
}

/// A point in time, given as nanoseconds since 1970-01-01T00:00:00: `2024-03-15T10:20:30`, then `.` and 3, 6 or 9
/// digits if there is a fraction of a second.
pub fn write_date_time(nanoseconds: i128, out: &mut Vec<u8>) {
    let days = nanoseconds.div_euclid(calendar::DAY);
    let of_day = nanoseconds.rem_euclid(calendar::DAY) as u64;
    write_date(days.clamp(i32::MIN.into(), i32::MAX.into()) as i32, out);
    out.extend_from_slice(&time((of_day / calendar::SECOND as u64) as u32).to_le_bytes()[..9]);
    write_fraction((of_day % calendar::SECOND as u64) as u32, out);
}

/// `T10:20:30`, the time of day after so many seconds, the first character in the lowest byte.
#[inline]
pub(crate) fn time(seconds: u32) -> u128 {
    let [hours, minutes, seconds] = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(|part| u64::from(two(part)));
    let colon = u64::from(b':');
    let to_minutes = u64::from(b'T') | hours << 8 | colon << 24 | minutes << 32 | colon << 48;
    u128::from(to_minutes) | u128::from(seconds) << 56
}

/// The fraction of a second with 3, 6 or 9 digits, or nothing if it is zero.
#[inline]
pub(crate) fn write_fraction(nanoseconds: u32, out: &mut Vec<u8>) {
    if nanoseconds == 0 {
        return;
    }
    let digits = format!(".{nanoseconds:09}");
    let shown = if !nanoseconds.is_multiple_of(1000) {
        10
    } else if !nanoseconds.is_multiple_of(1_000_000) {
        7
    } else {
        4
    };
    out.extend_from_slice(&digits.as_bytes()[..shown]);
}
