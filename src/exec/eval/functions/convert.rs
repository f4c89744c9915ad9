//! Conversions. `to_*` fails on a value that it doesn't accept, `try_*` gives null.

use super::date::Reader;
use super::numeric::float_to_int;
use super::{Prepared, to_decimal};
use crate::analysis::functions::Function;
use crate::exec::batch::Column;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::Error;
use crate::exec::eval::operands::{Strings, append_text};
use crate::exec::eval::rows::{Cell, Rows};
use crate::exec::value::{Value, power_of_ten};
use crate::formats::calendar::DAY;
use crate::formats::parse;

/// `receiver.function(args)`, null where the receiver is.
pub fn call(function: Function, receiver: &Datum, args: &[Datum], prepared: &Prepared, rows: &mut Rows<'_>) -> Datum {
    use Function::*;
    if is_of_target(function, receiver) {
        return receiver.clone();
    }
    let strict = matches!(function, ToInt | ToFloat | ToDecimal | ToBool | ToDate | ToDateTime);
    let target = |name| Target { receiver, text: Strings::of(receiver), name, strict };
    Datum::Column(match function {
        ToInt | TryInt => {
            let target = target("Int");
            rows.ints(|row| target.cell(row, |text| parse::int(text.as_bytes()).ok(), to_int))
        }
        ToFloat | TryFloat => {
            let target = target("Float");
            rows.floats(|row| target.cell(row, text_to_float, to_float))
        }
        ToDecimal | TryDecimal => {
            let target = target("Decimal");
            rows.decimals(|row| target.cell(row, to_decimal::from_text, to_decimal::from_value))
        }
        ToBool | TryBool => {
            let target = target("Bool");
            rows.bools(|row| target.cell(row, text_to_bool, to_bool))
        }
        ToDate | TryDate => dates(&target("Date"), args, prepared, rows),
        ToDateTime | TryDateTime => date_times(&target("DateTime"), args, prepared, rows),
        _ => rows.texts(|row, out| Ok(append_text(receiver, row, out))),
    })
}

/// Whether the receiver has the wanted type already.
fn is_of_target(function: Function, receiver: &Datum) -> bool {
    use Function::*;
    let Datum::Column(column) = receiver else { return false };
    match function {
        ToInt | TryInt => matches!(column, Column::Int(_)),
        ToFloat | TryFloat => matches!(column, Column::Float(_)),
        ToDecimal | TryDecimal => matches!(column, Column::Decimal(_)),
        ToBool | TryBool => matches!(column, Column::Bool(_)),
        ToString => matches!(column, Column::String(_)),
        _ => false,
    }
}

/// What is converted, to what, and what happens if that can't be.
struct Target<'a> {
    receiver: &'a Datum,
    text: Strings<'a>,
    name: &'static str,
    strict: bool,
}

impl Target<'_> {
    /// Converts a row: a text by `read`, another value by `convert`.
    #[inline]
    fn cell<T>(
        &self,
        row: usize,
        read: impl FnOnce(&str) -> Option<T>,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Cell<T> {
        let converted = match self.text.get(row) {
            Some(text) => read(text),
            None if self.receiver.is_null_at(row) => return Ok(None),
            None => convert(&self.receiver.value(row)),
        };
        match converted {
            None if self.strict => {
                Err(Error::Conversion { value: self.receiver.value(row).to_string(), target: self.name })
            }
            converted => Ok(converted),
        }
    }
}

fn dates(target: &Target<'_>, args: &[Datum], prepared: &Prepared, rows: &mut Rows<'_>) -> Column {
    let Prepared::Reader(reader) = prepared else { unreachable!("to_date is prepared with a reader") };
    let formats = Formats::of(args, reader);
    rows.dates(|row| {
        let Some(format) = formats.get(row) else { return Ok(None) };
        let read = |text: &str| reader.read(text, format, |parser, text| parser.date(text).ok());
        target.cell(row, read, |value| match value {
            Value::Date(days) => Some(*days),
            Value::DateTime(nanoseconds) => Some(nanoseconds.div_euclid(DAY) as i32),
            _ => None,
        })
    })
}

fn date_times(target: &Target<'_>, args: &[Datum], prepared: &Prepared, rows: &mut Rows<'_>) -> Column {
    let Prepared::Reader(reader) = prepared else { unreachable!("to_datetime is prepared with a reader") };
    let formats = Formats::of(args, reader);
    rows.date_times(|row| {
        let Some(format) = formats.get(row) else { return Ok(None) };
        let read = |text: &str| reader.read(text, format, |parser, text| parser.date_time(text).ok());
        target.cell(row, read, |value| match value {
            Value::DateTime(nanoseconds) => Some(*nanoseconds),
            Value::Date(days) => Some(i128::from(*days) * DAY),
            _ => None,
        })
    })
}

/// The format argument of a date conversion.
enum Formats<'a> {
    /// The call was prepared with it.
    Prepared,
    /// Each row names its own.
    Column(Strings<'a>),
}

impl<'a> Formats<'a> {
    fn of(args: &'a [Datum], reader: &Reader) -> Self {
        match args.first() {
            Some(format) if !reader.is_literal() => Formats::Column(Strings::of(format)),
            _ => Formats::Prepared,
        }
    }

    /// The row's own format, if it has one; `None` where the argument is null.
    fn get(&self, row: usize) -> Option<Option<&'a str>> {
        match self {
            Formats::Prepared => Some(None),
            Formats::Column(formats) => formats.get(row).map(Some),
        }
    }
}

fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Float(f) => float_to_int(*f),
        Value::Decimal { mantissa, scale } => i64::try_from(mantissa / power_of_ten(*scale)).ok(),
        Value::Bool(b) => Some(i64::from(*b)),
        _ => None,
    }
}

fn to_float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(f) => Some(*f),
        Value::Int(i) => Some(*i as f64),
        // By way of its digits, which rounds once.
        Value::Decimal { .. } => value.to_string().parse().ok(),
        _ => None,
    }
}

/// What a cell of a float column may hold, and `nan`, `inf` and `infinity` in any case.
fn text_to_float(text: &str) -> Option<f64> {
    if let Ok(float) = parse::float(text.as_bytes()) {
        return Some(float);
    }
    let word = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_named = ["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name));
    if is_named { text.parse().ok() } else { None }
}

fn to_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Int(i) => Some(*i != 0),
        _ => None,
    }
}

/// Fewer words than a cell of a bool column may hold.
fn text_to_bool(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "1", "yes"]) {
        Some(true)
    } else if is_one_of(["false", "0", "no"]) {
        Some(false)
    } else {
        None
    }
}
