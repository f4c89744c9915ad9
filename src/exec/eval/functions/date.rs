//! Methods of dates and date_times.

use std::fmt::Write;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, NaiveDateTime};

use super::Prepared;
use crate::analysis::functions::Function;
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::Error;
use crate::exec::eval::operands::{Ints, Strings};
use crate::exec::eval::operators::sides::Native;
use crate::exec::eval::rows::Rows;
use crate::exec::value::Value;
use crate::formats::calendar::{DAY, FIRST_DAY, LAST_DAY, SECOND, civil, days, days_in_month};
use crate::formats::dates::DateParser;

/// How `to_date` reads a text unless told otherwise.
pub const DATE: &str = "%Y-%m-%d";
/// How `to_datetime` reads a text unless told otherwise.
pub const DATE_TIME: &str = "%Y-%m-%dT%H:%M:%S%.f";

/// A date or a date_time.
#[derive(Clone, Copy)]
enum Moment {
    Date(i32),
    DateTime(i128),
}

impl Moment {
    /// The moment of a row.
    fn at(datum: &Datum, row: usize) -> Option<Self> {
        match datum.value(row) {
            Value::Date(days) => Some(Moment::Date(days)),
            Value::DateTime(nanoseconds) => Some(Moment::DateTime(nanoseconds)),
            _ => None,
        }
    }

    fn day(self) -> i32 {
        match self {
            Moment::Date(days) => days,
            Moment::DateTime(nanoseconds) => nanoseconds.div_euclid(DAY) as i32,
        }
    }

    /// The seconds since midnight; a date has none.
    fn second_of_day(self) -> Option<i64> {
        match self {
            Moment::Date(_) => None,
            Moment::DateTime(nanoseconds) => Some((nanoseconds.rem_euclid(DAY) / SECOND) as i64),
        }
    }

    fn nanoseconds(self) -> i128 {
        match self {
            Moment::Date(days) => i128::from(days) * DAY,
            Moment::DateTime(nanoseconds) => nanoseconds,
        }
    }

    /// The same time of another day; `None` outside the years 0001 to 9999.
    fn on(self, day: i64) -> Option<Value> {
        let day = i32::try_from(day).ok().filter(|day| (FIRST_DAY..=LAST_DAY).contains(day))?;
        Some(match self {
            Moment::Date(_) => Value::Date(day),
            Moment::DateTime(nanoseconds) => Value::DateTime(i128::from(day) * DAY + nanoseconds.rem_euclid(DAY)),
        })
    }

    fn days_later(self, n: i64) -> Option<Value> {
        self.on(i64::from(self.day()).checked_add(n)?)
    }

    /// On the last day of a month that is too short.
    fn months_later(self, n: i64) -> Option<Value> {
        let (year, month, day) = civil(self.day());
        let month = (year * 12 + i64::from(month) - 1).checked_add(n)?;
        let year = u32::try_from(month.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
        let month = month.rem_euclid(12) as u32 + 1;
        self.on(i64::from(days(year, month, day.min(days_in_month(year, month)))))
    }

    fn years_later(self, n: i64) -> Option<Value> {
        self.months_later(n.checked_mul(12)?)
    }
}

/// `receiver.function(args)`, null where the receiver or an argument is.
pub fn call(function: Function, receiver: &Datum, args: &[Datum], kind: &Kind, rows: &mut Rows<'_>) -> Datum {
    use Function::*;
    Datum::Column(match function {
        AddDays => shift(receiver, &args[0], kind, rows, Moment::days_later),
        AddMonths => shift(receiver, &args[0], kind, rows, Moment::months_later),
        AddYears => shift(receiver, &args[0], kind, rows, Moment::years_later),
        DiffDays => difference(receiver, &args[0], rows, |a, b| i64::from(a) - i64::from(b)),
        DiffMonths => difference(receiver, &args[0], rows, months_between),
        DiffYears => difference(receiver, &args[0], rows, |a, b| months_between(a, b) / 12),
        _ => rows.ints(|row| Ok(Moment::at(receiver, row).and_then(|moment| part(function, moment)))),
    })
}

fn part(function: Function, moment: Moment) -> Option<i64> {
    let date = || civil(moment.day());
    match function {
        Function::Year => Some(date().0),
        Function::Month => Some(i64::from(date().1)),
        Function::Day => Some(i64::from(date().2)),
        Function::Hour => moment.second_of_day().map(|second| second / 3600),
        Function::Minute => moment.second_of_day().map(|second| second / 60 % 60),
        _ => moment.second_of_day().map(|second| second % 60),
    }
}

fn shift(
    receiver: &Datum,
    n: &Datum,
    kind: &Kind,
    rows: &mut Rows<'_>,
    later: impl Fn(Moment, i64) -> Option<Value>,
) -> Column {
    let n = Ints::of(n);
    let later = |row| Moment::at(receiver, row).zip(n.get(row)).and_then(|(moment, n)| later(moment, n));
    match kind {
        Kind::Date => rows.dates(|row| Ok(later(row).and_then(|value| i32::scalar(&value)))),
        Kind::DateTime => rows.date_times(|row| Ok(later(row).and_then(|value| i128::scalar(&value)))),
        _ => rows.values(kind, |row| Ok(later(row).unwrap_or(Value::Null))),
    }
}

fn difference(receiver: &Datum, other: &Datum, rows: &mut Rows<'_>, between: impl Fn(i32, i32) -> i64) -> Column {
    rows.ints(|row| {
        let both = Moment::at(receiver, row).zip(Moment::at(other, row));
        Ok(both.map(|(a, b)| between(a.day(), b.day())))
    })
}

/// Whole months from `b` to `a`, toward zero.
fn months_between(a: i32, b: i32) -> i64 {
    if a < b {
        return -months_between(b, a);
    }
    let ((a_year, a_month, a_day), (b_year, b_month, b_day)) = (civil(a), civil(b));
    (a_year - b_year) * 12 + i64::from(a_month) - i64::from(b_month) - i64::from(a_day < b_day)
}

/// How texts become dates: by a format that is known, or by one that each row names.
#[derive(Debug)]
pub struct Reader {
    parser: DateParser,
    literal: bool,
}

impl Reader {
    /// Reads by `format`, or by `default` where none is known.
    pub fn new(format: Option<&str>, default: &str) -> Self {
        Self { parser: DateParser::new(&[format.unwrap_or(default)]), literal: format.is_some() }
    }

    /// Whether the format argument is a literal, so that rows need not be asked.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Reads a text, leading blanks aside; by the row's own format if it has one.
    pub fn read<T>(
        &self,
        text: &str,
        own_format: Option<&str>,
        read: impl Fn(&DateParser, &[u8]) -> Option<T>,
    ) -> Option<T> {
        let text = text.trim_start().as_bytes();
        match own_format {
            None => read(&self.parser, text),
            Some(format) => read(&DateParser::new(&[format]), text),
        }
    }
}

/// How dates become texts.
#[derive(Debug)]
pub struct Writer(Option<Vec<Item<'static>>>);

impl Writer {
    /// Writes by `format`, or by one that each row names.
    pub fn new(format: Option<&str>) -> Self {
        Self(format.and_then(|format| StrftimeItems::new(format).parse_to_owned().ok()))
    }

    fn write(&self, moment: NaiveDateTime, format: &str, out: &mut String) -> Result<(), Error> {
        let written = match &self.0 {
            Some(items) => write!(out, "{}", moment.format_with_items(items.iter())),
            None => write!(out, "{}", moment.format(format)),
        };
        written.map_err(|_| Error::DateFormat(format.to_owned()))
    }
}

/// `receiver.format_date(format)`; a date is written as its midnight.
pub fn format_date(receiver: &Datum, args: &[Datum], prepared: &Prepared, rows: &mut Rows<'_>) -> Datum {
    let Prepared::Writer(writer) = prepared else { unreachable!("format_date is prepared with a writer") };
    let format = Strings::of(&args[0]);
    Datum::Column(rows.texts(|row, out| {
        let Some((moment, format)) = Moment::at(receiver, row).zip(format.get(row)) else { return Ok(false) };
        let nanoseconds = moment.nanoseconds();
        let (second, fraction) = (nanoseconds.div_euclid(SECOND), nanoseconds.rem_euclid(SECOND));
        let moment = DateTime::from_timestamp(second as i64, fraction as u32).expect("years 0001 to 9999 fit");
        writer.write(moment.naive_utc(), format, out)?;
        Ok(true)
    }))
}
