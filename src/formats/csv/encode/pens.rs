//! The common types, written with stores of a fixed size and the byte that follows the field put in at once.

use arrow_array::{Array, Decimal128Array, StringViewArray};
use arrow_buffer::NullBuffer;

use super::super::kernels::{Pen, shapes};
use super::cell::Cells;
use super::quoting::Quoting;
use crate::formats::{calendar, text};

/// Writes the cells of a column, one after another.
pub(super) enum Writer<'a> {
    Int(&'a [i64], Option<&'a NullBuffer>),
    Float(&'a [f64], Option<&'a NullBuffer>),
    String(&'a [u128], &'a StringViewArray),
    Date(&'a [i32], Option<&'a NullBuffer>),
    DateTime(&'a Decimal128Array, Day),
    Other(&'a Cells<'a>),
}

/// The last day that was written: neighbours often share theirs.
#[derive(Default)]
pub(super) struct Day {
    number: Option<i32>,
    text: [u8; 16],
}

impl<'a> Writer<'a> {
    pub fn new(cells: &'a Cells<'a>, quoting: &Quoting) -> Self {
        match cells {
            _ if quoting.in_values => Writer::Other(cells),
            Cells::Int(values, nulls) => Writer::Int(values, *nulls),
            Cells::Float(values, nulls) => Writer::Float(values, *nulls),
            Cells::String(values) => Writer::String(values.views(), values),
            Cells::Date(values) => Writer::Date(values.values(), values.nulls()),
            Cells::DateTime(values) => Writer::DateTime(values, Day::default()),
            _ => Writer::Other(cells),
        }
    }

    /// Appends a row's field and the byte `end`. Fails with the reason why it can't be written.
    #[inline(always)]
    pub fn write(&mut self, row: usize, end: u8, quoting: &Quoting, pen: &mut Pen<'_>) -> Result<(), String> {
        match self {
            Writer::Int(_, Some(nulls)) | Writer::Float(_, Some(nulls)) | Writer::Date(_, Some(nulls))
                if nulls.is_null(row) =>
            {
                pen.put([end], 1);
            }
            Writer::Int(values, _) => write_int(values[row], end, pen),
            Writer::Float(values, _) => write_float(values[row], end, pen),
            Writer::String(views, values) => write_string(views, values, row, end, quoting, pen),
            Writer::Date(values, _) => write_date(values[row], end, pen),
            Writer::DateTime(values, _) if values.is_null(row) => pen.put([end], 1),
            Writer::DateTime(values, day) => write_date_time(values.values()[row], end, day, pen),
            Writer::Other(cells) => pen.append(|out| write_other(cells, row, end, quoting, out))?,
        }
        Ok(())
    }
}

#[inline(never)]
fn write_other(cells: &Cells<'_>, row: usize, end: u8, quoting: &Quoting, out: &mut Vec<u8>) -> Result<(), String> {
    cells.write(row, quoting, out)?;
    out.push(end);
    Ok(())
}

#[inline(always)]
fn write_int(value: i64, end: u8, pen: &mut Pen<'_>) {
    let magnitude = value.unsigned_abs();
    if magnitude >= 10_000 {
        return pen.append(|out| write_long_int(value, end, out));
    }
    let magnitude = magnitude as u32;
    let digits = 1 + usize::from(magnitude > 9) + usize::from(magnitude > 99) + usize::from(magnitude > 999);
    let sign = usize::from(value < 0);
    // The digits without their leading zeros, pushed along by the sign, then the end.
    let text = u64::from(text::four(magnitude) >> (8 * (4 - digits)));
    let signed = (text << (8 * sign)) | (u64::from(b'-') * sign as u64);
    let length = digits + sign;
    pen.put((signed | u64::from(end) << (8 * length)).to_le_bytes(), length + 1);
}

#[inline(never)]
fn write_long_int(value: i64, end: u8, out: &mut Vec<u8>) {
    text::write_int(value, out);
    out.push(end);
}

#[inline(always)]
fn write_float(value: f64, end: u8, pen: &mut Pen<'_>) {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let whole = value as i64;
    if whole as f64 == value && value.abs() < EXACT {
        return write_int(whole, end, pen);
    }
    // In this range the shortest digits come without an exponent and without `.0`.
    if !(1e-5..EXACT).contains(&value.abs()) {
        return pen.append(|out| write_odd_float(value, end, out));
    }
    pen.put_text(zmij::Buffer::new().format_finite(value).as_bytes());
    pen.put([end], 1);
}

#[cold]
#[inline(never)]
fn write_odd_float(value: f64, end: u8, out: &mut Vec<u8>) {
    text::write_float(value, out);
    out.push(end);
}

#[inline(always)]
fn write_string(views: &[u128], values: &StringViewArray, row: usize, end: u8, quoting: &Quoting, pen: &mut Pen<'_>) {
    let view = views[row];
    let length = (view as u32) as usize;
    // The text stands behind its length, and zeros behind the text.
    let text = view >> 32;
    if length > 12 || values.is_null(row) || shapes(text.to_le_bytes(), quoting.marks) {
        return pen.append(|out| write_any_string(values, row, end, quoting, out));
    }
    pen.put((text | u128::from(end) << (8 * length)).to_le_bytes(), length + 1);
}

#[inline(never)]
fn write_any_string(values: &StringViewArray, row: usize, end: u8, quoting: &Quoting, out: &mut Vec<u8>) {
    if values.is_valid(row) {
        quoting.write(values.value(row).as_bytes(), out);
    }
    out.push(end);
}

#[inline(always)]
fn write_date(days: i32, end: u8, pen: &mut Pen<'_>) {
    match text::date(days) {
        Some(date) => {
            let mut text = [end; 16];
            text[..10].copy_from_slice(&date);
            pen.put(text, 11);
        }
        None => pen.append(|out| write_far_date(days, end, out)),
    }
}

#[cold]
#[inline(never)]
fn write_far_date(days: i32, end: u8, out: &mut Vec<u8>) {
    text::write_date(days, out);
    out.push(end);
}

#[inline(never)]
fn write_fine_date_time(nanoseconds: i128, end: u8, out: &mut Vec<u8>) {
    text::write_date_time(nanoseconds, out);
    out.push(end);
}

#[inline(always)]
fn write_date_time(nanoseconds: i128, end: u8, day: &mut Day, pen: &mut Pen<'_>) {
    match i64::try_from(nanoseconds) {
        Ok(short) if short.rem_euclid(SECOND) == 0 => write_whole_seconds(short.div_euclid(SECOND), end, day, pen),
        _ => pen.append(|out| write_fine_date_time(nanoseconds, end, out)),
    }
}

const SECOND: i64 = calendar::SECOND as i64;

#[inline(always)]
fn write_whole_seconds(seconds: i64, end: u8, day: &mut Day, pen: &mut Pen<'_>) {
    let number = seconds.div_euclid(86_400) as i32;
    if day.number != Some(number) {
        let date = text::date(number).expect("64-bit nanoseconds stay within the years 1677 to 2262");
        day.text[..10].copy_from_slice(&date);
        day.number = Some(number);
    }
    pen.put(day.text, 10);
    let time = text::time(seconds.rem_euclid(86_400) as u32);
    pen.put((time | u128::from(end) << 72).to_le_bytes(), 10);
}
