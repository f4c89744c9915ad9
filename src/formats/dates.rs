//! Dates and date_times from text, by a chain of strftime formats.
//!
//! Numbers are digits only, a year has exactly four and the rest one or two; no blank is trimmed. Formats made of
//! `%Y %m %d %H %M %S` (and `%F %T %R`) are read here; `%+` is RFC 3339; what else strftime knows is left to chrono.

use chrono::format::{Item, Parsed, StrftimeItems};
use chrono::{Datelike, Timelike};

use super::calendar;
use crate::analysis::formats::{DATE_FORMATS, DATE_TIME_FORMATS};

/// Why a text is not a date or date_time. Ordered: of several, the later tells more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DateFault {
    /// It has another shape than the format.
    Shape,
    /// It lies outside the years 0001 to 9999.
    Year,
    /// It has more than nine digits behind a second.
    Fraction,
    /// There is no such time of day.
    Time,
    /// There is no such day.
    Day,
}

/// A moment as it is spelled; checked by [`Moment::nanoseconds`].
#[derive(Clone, Copy, Default)]
struct Moment {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
    /// East of UTC, in minutes.
    offset: i32,
}

impl Moment {
    fn days(&self) -> Result<i32, DateFault> {
        if self.hour > 23 || self.minute > 59 || self.second > 59 {
            return Err(DateFault::Time);
        }
        if !calendar::exists(self.year, self.month, self.day) {
            return Err(if self.year == 0 { DateFault::Year } else { DateFault::Day });
        }
        Ok(calendar::days(self.year, self.month, self.day))
    }

    fn nanoseconds(&self) -> Result<i128, DateFault> {
        let days = self.days()?;
        let minutes = i128::from(self.hour * 60 + self.minute) - i128::from(self.offset);
        let seconds = minutes * 60 + i128::from(self.second);
        let value = i128::from(days) * calendar::DAY + seconds * calendar::SECOND + i128::from(self.nanosecond);
        check_years(value)
    }
}

fn check_years(nanoseconds: i128) -> Result<i128, DateFault> {
    let days = nanoseconds.div_euclid(calendar::DAY);
    let known = i128::from(calendar::FIRST_DAY)..=i128::from(calendar::LAST_DAY);
    if known.contains(&days) { Ok(nanoseconds) } else { Err(DateFault::Year) }
}

/// A chain of formats, ready to read with. The first that fits a text reads it.
#[derive(Clone, Debug)]
pub struct DateParser {
    formats: Vec<Format>,
    names: Vec<String>,
}

#[derive(Clone, Debug)]
enum Format {
    Plain(Vec<Part>),
    Rfc3339,
    Chrono { items: Vec<Item<'static>>, has_offset: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Literal(u8),
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// A point and one to nine digits, if a point is there.
    Fraction,
}

impl DateParser {
    /// Prepares exactly these formats: no fraction unless the format asks for one.
    pub fn new<T: AsRef<str>>(formats: &[T]) -> Self {
        Self::build(formats.iter().map(AsRef::as_ref), false)
    }

    /// What reads a column. An empty list stands for the built-in chain of `date_time` or `date`; in the one of
    /// `date_time`, also if it is spelled out, seconds may carry a fraction. Other formats are taken exactly.
    pub fn for_column(formats: &[String], date_time: bool) -> Self {
        match formats {
            [] if date_time => Self::build(DATE_TIME_FORMATS.into_iter(), true),
            [] => Self::build(DATE_FORMATS.into_iter(), false),
            chain if chain == DATE_TIME_FORMATS => Self::build(DATE_TIME_FORMATS.into_iter(), true),
            chain => Self::new(chain),
        }
    }

    fn build<'a>(formats: impl Iterator<Item = &'a str>, fractions: bool) -> Self {
        let names: Vec<String> = formats.map(str::to_owned).collect();
        Self { formats: names.iter().map(|format| compile(format, fractions)).collect(), names }
    }

    /// Whether the first format is `%Y-%m-%d`, so that a text of that shape can be read by any faster way.
    pub(crate) fn begins_with_iso_date(&self) -> bool {
        self.names.first().is_some_and(|name| name == DATE_FORMATS[0])
    }

    /// Whether a text like `2024-03-15T10:20:30` is read as such, so that it can be read by any faster way.
    pub(crate) fn begins_with_iso_date_time(&self) -> bool {
        self.names.first().is_some_and(|name| name == DATE_TIME_FORMATS[0])
    }

    /// Whether RFC 3339 is one of the formats.
    pub(crate) fn takes_rfc_3339(&self) -> bool {
        self.formats.iter().any(|format| matches!(format, Format::Rfc3339))
    }

    /// A day, as days since 1970-01-01.
    pub fn date(&self, text: &[u8]) -> Result<i32, DateFault> {
        self.first_fit(|format| format.date(text))
    }

    /// A point in time, as nanoseconds since 1970-01-01T00:00:00 UTC. A format without a time means midnight.
    pub fn date_time(&self, text: &[u8]) -> Result<i128, DateFault> {
        self.first_fit(|format| format.date_time(text))
    }

    fn first_fit<T>(&self, read: impl Fn(&Format) -> Result<T, DateFault>) -> Result<T, DateFault> {
        let mut fault = DateFault::Shape;
        for format in &self.formats {
            match read(format) {
                Ok(value) => return Ok(value),
                Err(other) => fault = fault.max(other),
            }
        }
        Err(fault)
    }

    /// A fault as a phrase: `no such day`.
    pub fn reason(&self, fault: DateFault) -> String {
        match fault {
            DateFault::Day => "no such day".into(),
            DateFault::Time => "no such time of day".into(),
            DateFault::Fraction => "finer than a nanosecond".into(),
            DateFault::Year => "outside the years 0001 to 9999".into(),
            DateFault::Shape => match self.names.as_slice() {
                [format] => format!("does not match the format {}", spoken(format)),
                formats => {
                    let formats: Vec<&str> = formats.iter().map(|format| spoken(format)).collect();
                    format!("matches none of the formats {}", formats.join(", "))
                }
            },
        }
    }
}

/// What people call a format.
fn spoken(format: &str) -> &str {
    if format == "%+" { "RFC 3339" } else { format }
}

fn compile(format: &str, fractions: bool) -> Format {
    if format == "%+" {
        return Format::Rfc3339;
    }
    match plain_parts(format, fractions) {
        Some(parts) => Format::Plain(parts),
        None => {
            let items = StrftimeItems::new(format).parse_to_owned().unwrap_or_else(|_| vec![Item::Error]);
            let has_offset = ["%z", "%:z", "%::z", "%#z", "%+"].iter().any(|offset| format.contains(offset));
            Format::Chrono { items, has_offset }
        }
    }
}

/// The parts of a format that uses only plain numbers and names year, month and day once each.
fn plain_parts(format: &str, fractions: bool) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let expanded = format.replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S").replace("%R", "%H:%M");
    let mut bytes = expanded.bytes();
    while let Some(byte) = bytes.next() {
        let part = match byte {
            b'%' => number_part(bytes.next()?)?,
            byte => Part::Literal(byte),
        };
        parts.push(part);
        if part == Part::Second && fractions {
            parts.push(Part::Fraction);
        }
    }
    let once = |part| parts.iter().filter(|p| **p == part).count() == 1;
    (once(Part::Year) && once(Part::Month) && once(Part::Day)).then_some(parts)
}

fn number_part(letter: u8) -> Option<Part> {
    Some(match letter {
        b'Y' => Part::Year,
        b'm' => Part::Month,
        b'd' => Part::Day,
        b'H' => Part::Hour,
        b'M' => Part::Minute,
        b'S' => Part::Second,
        b'%' => Part::Literal(b'%'),
        _ => return None,
    })
}

impl Format {
    fn date(&self, text: &[u8]) -> Result<i32, DateFault> {
        match self {
            Format::Plain(parts) => read_plain(parts, text)?.days(),
            Format::Rfc3339 => Ok(rfc_3339(text)?.nanoseconds()?.div_euclid(calendar::DAY) as i32),
            Format::Chrono { items, .. } => {
                let date = read_chrono(items, text)?.to_naive_date().map_err(chrono_fault)?;
                chrono_days(date)
            }
        }
    }

    fn date_time(&self, text: &[u8]) -> Result<i128, DateFault> {
        match self {
            Format::Plain(parts) => read_plain(parts, text)?.nanoseconds(),
            Format::Rfc3339 => rfc_3339(text)?.nanoseconds(),
            Format::Chrono { items, has_offset } => {
                let parsed = read_chrono(items, text)?;
                check_years(if *has_offset { with_offset(&parsed)? } else { without_offset(&parsed)? })
            }
        }
    }
}

fn with_offset(parsed: &Parsed) -> Result<i128, DateFault> {
    let moment = parsed.to_datetime().map_err(chrono_fault)?;
    chrono_nanoseconds(moment.naive_utc())
}

fn without_offset(parsed: &Parsed) -> Result<i128, DateFault> {
    match parsed.to_naive_datetime_with_offset(0) {
        Ok(moment) => chrono_nanoseconds(moment),
        Err(_) if parsed.hour_div_12().is_none() => {
            let date = parsed.to_naive_date().map_err(chrono_fault)?;
            Ok(i128::from(chrono_days(date)?) * calendar::DAY)
        }
        Err(error) => Err(chrono_fault(error)),
    }
}

fn chrono_days(date: chrono::NaiveDate) -> Result<i32, DateFault> {
    if !(1..=9999).contains(&date.year()) {
        return Err(DateFault::Year);
    }
    Ok(calendar::days(date.year() as u32, date.month(), date.day()))
}

fn chrono_nanoseconds(moment: chrono::NaiveDateTime) -> Result<i128, DateFault> {
    if moment.nanosecond() >= calendar::SECOND as u32 {
        // A leap second, which no count of seconds can hold.
        return Err(DateFault::Time);
    }
    let days = i128::from(chrono_days(moment.date())?);
    let second = i128::from(moment.num_seconds_from_midnight());
    Ok(days * calendar::DAY + second * calendar::SECOND + i128::from(moment.nanosecond()))
}

fn chrono_fault(error: chrono::ParseError) -> DateFault {
    match error.kind() {
        chrono::format::ParseErrorKind::OutOfRange | chrono::format::ParseErrorKind::Impossible => DateFault::Day,
        _ => DateFault::Shape,
    }
}

/// Reads what plain parts can't say. Chrono skips blanks in front of numbers and cuts long fractions; both are refused.
fn read_chrono(items: &[Item<'static>], text: &[u8]) -> Result<Parsed, DateFault> {
    let text = std::str::from_utf8(text).map_err(|_| DateFault::Shape)?;
    if text.trim().len() != text.len() {
        return Err(DateFault::Shape);
    }
    let behind_points = text.split('.').skip(1);
    if behind_points.into_iter().any(|rest| rest.bytes().take_while(u8::is_ascii_digit).count() > 9) {
        return Err(DateFault::Fraction);
    }
    let mut parsed = Parsed::new();
    match chrono::format::parse(&mut parsed, text, items.iter()) {
        Ok(()) => Ok(parsed),
        Err(error) => Err(chrono_fault(error)),
    }
}

fn read_plain(parts: &[Part], text: &[u8]) -> Result<Moment, DateFault> {
    let mut moment = Moment::default();
    let mut rest = text;
    for part in parts {
        match part {
            Part::Literal(byte) => rest = literal(rest, *byte)?,
            Part::Year => (moment.year, rest) = number(rest, 4, 4)?,
            Part::Month => (moment.month, rest) = number(rest, 1, 2)?,
            Part::Day => (moment.day, rest) = number(rest, 1, 2)?,
            Part::Hour => (moment.hour, rest) = number(rest, 1, 2)?,
            Part::Minute => (moment.minute, rest) = number(rest, 1, 2)?,
            Part::Second => (moment.second, rest) = number(rest, 1, 2)?,
            Part::Fraction => (moment.nanosecond, rest) = fraction(rest)?,
        }
    }
    if rest.is_empty() { Ok(moment) } else { Err(DateFault::Shape) }
}

fn literal(text: &[u8], byte: u8) -> Result<&[u8], DateFault> {
    match text {
        [first, rest @ ..] if *first == byte => Ok(rest),
        _ => Err(DateFault::Shape),
    }
}

/// Takes as many digits as it can, up to `most`.
fn number(text: &[u8], least: usize, most: usize) -> Result<(u32, &[u8]), DateFault> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return Err(DateFault::Shape);
    }
    let (digits, rest) = text.split_at(count);
    Ok((digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')), rest))
}

/// Nanoseconds from a point and digits, or zero if there is no point.
fn fraction(text: &[u8]) -> Result<(u32, &[u8]), DateFault> {
    let [b'.', digits @ ..] = text else { return Ok((0, text)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match count {
        0 => Err(DateFault::Shape),
        1..=9 => {
            let (value, rest) = number(digits, count, count)?;
            Ok((value * 10_u32.pow(9 - count as u32), rest))
        }
        _ => Err(DateFault::Fraction),
    }
}

/// `2024-03-15T10:20:30.5+02:00`; the offset is a must, a blank or `t` may stand for `T`, and `z` for `Z`.
fn rfc_3339(text: &[u8]) -> Result<Moment, DateFault> {
    const DATE: [Part; 5] = [Part::Year, Part::Literal(b'-'), Part::Month, Part::Literal(b'-'), Part::Day];
    const TIME: [Part; 6] =
        [Part::Hour, Part::Literal(b':'), Part::Minute, Part::Literal(b':'), Part::Second, Part::Fraction];
    let separator = text.get(10).copied().filter(|byte| b"Tt ".contains(byte)).ok_or(DateFault::Shape)?;
    let zone = text.iter().rposition(|byte| b"Zz+-".contains(byte)).filter(|at| *at >= 19).ok_or(DateFault::Shape)?;
    let parts: Vec<Part> = DATE.into_iter().chain([Part::Literal(separator)]).chain(TIME).collect();
    let moment = read_plain(&parts, &text[..zone])?;
    Ok(Moment { offset: offset(&text[zone..])?, ..moment })
}

fn offset(text: &[u8]) -> Result<i32, DateFault> {
    let [sign, rest @ ..] = text else { return Err(DateFault::Shape) };
    if matches!(sign, b'Z' | b'z') {
        return if rest.is_empty() { Ok(0) } else { Err(DateFault::Shape) };
    }
    let (hours, rest) = number(rest, 2, 2)?;
    let (minutes, rest) = number(literal(rest, b':')?, 2, 2)?;
    if !rest.is_empty() {
        return Err(DateFault::Shape);
    }
    if hours > 23 || minutes > 59 {
        return Err(DateFault::Time);
    }
    let east = (hours * 60 + minutes) as i32;
    Ok(if *sign == b'-' { -east } else { east })
}
