//! Patterns that stand as text in a pipeline: strftime formats, regexes and globs.
//!
//! Each check gives the byte range of what is wrong within the text, and why.

use std::fmt::Write;
use std::ops::Range;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime};

/// What a date is read by if neither its column nor the pipeline names a format.
pub const DATE_FORMATS: [&str; 4] = ["%Y-%m-%d", "%m/%d/%Y", "%Y/%m/%d", "%m-%d-%Y"];

/// What a date_time is read by if neither its column nor the pipeline names a format. Seconds may carry a fraction in
/// each; `%+` is RFC 3339.
pub const DATE_TIME_FORMATS: [&str; 5] =
    ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%+"];

/// What is wrong with a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The part that is wrong.
    pub range: Range<usize>,
    /// Why, as a phrase.
    pub reason: String,
}

/// What a strftime format is used on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatUse {
    /// Reads dates.
    ParseDate,
    /// Reads date_times.
    ParseDateTime,
    /// Writes dates.
    WriteDate,
    /// Writes date_times.
    WriteDateTime,
}

/// Checks a strftime format.
pub fn check_format(format: &str, usage: FormatUse) -> Result<(), Fault> {
    if format.is_empty() {
        return Err(Fault { range: 0..0, reason: "it is empty".to_owned() });
    }
    for piece in specifiers(format) {
        check_specifier(&format[piece.clone()], usage).map_err(|reason| Fault { range: piece, reason })?;
    }
    match usage {
        FormatUse::ParseDate | FormatUse::ParseDateTime => check_round_trip(format, usage),
        FormatUse::WriteDate | FormatUse::WriteDateTime => Ok(()),
    }
}

/// Letters that other tools write dates with, and what they are in strftime.
const LETTERS: [(&str, &str); 13] = [
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("month", "%B"),
    ("mmmm", "%B"),
    ("mmm", "%b"),
    ("mon", "%b"),
    ("mm", "%m"),
    ("dddd", "%A"),
    ("ddd", "%a"),
    ("dd", "%d"),
    ("hh24", "%H"),
    ("hh", "%H"),
    ("ss", "%S"),
];

/// What to write in place of a format in the letters of other tools, such as `dd.mm.yyyy`. `None` if it holds other
/// letters than the well-known ones, digits, or quotes. `mm` are minutes behind hours and in front of seconds.
pub fn in_strftime(format: &str, usage: FormatUse) -> Option<String> {
    let lower = format.to_ascii_lowercase();
    let (mut at, mut out, mut last) = (0, String::new(), "");
    while let Some(rest) = lower.get(at..).filter(|rest| !rest.is_empty()) {
        let (len, specifier) = match LETTERS.iter().find(|(letters, _)| rest.starts_with(letters)) {
            Some(("mm", _)) if last == "%H" || before_seconds(&rest[2..]) => (2, "%M"),
            Some((letters, specifier)) => (letters.len(), *specifier),
            None if rest.starts_with("mi") => (2, "%M"),
            // ISO 8601 has letters of its own.
            None if rest.starts_with(|c: char| c.is_ascii_alphabetic() && !matches!(c, 't' | 'z')) => return None,
            // They are not for themselves where others write formats.
            None if rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '\'' | '"' | '`')) => return None,
            None => {
                let len = rest.chars().next().map_or(1, char::len_utf8);
                (len, &format[at..at + len])
            }
        };
        if specifier.starts_with('%') {
            last = specifier;
        }
        out.push_str(specifier);
        at += len;
    }
    (!format.contains('%') && check_format(&out, usage).is_ok()).then_some(out)
}

/// Whether the next letters of a format in small letters are those of seconds.
fn before_seconds(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).starts_with("ss")
}

/// Whether a format says anything about the time of day.
pub fn has_time(format: &str) -> bool {
    specifiers(format).any(|piece| write_date(&format[piece]).is_none())
}

/// Checks a regex.
pub fn check_regex(pattern: &str) -> Result<(), Fault> {
    let whole = 0..pattern.len();
    match regex_syntax::Parser::new().parse(pattern) {
        Ok(_) => {}
        Err(regex_syntax::Error::Parse(error)) => return Err(regex_fault(error.span(), error.kind())),
        Err(regex_syntax::Error::Translate(error)) => return Err(regex_fault(error.span(), error.kind())),
        Err(error) => return Err(Fault { range: whole, reason: error.to_string() }),
    }
    match regex::Regex::new(pattern) {
        Ok(_) => Ok(()),
        Err(_) => Err(Fault { range: whole, reason: "the compiled regex is too large".to_owned() }),
    }
}

/// Checks a glob.
pub fn check_glob(pattern: &str) -> Result<(), Fault> {
    glob::Pattern::new(pattern).map(drop).map_err(|error| {
        let mut offsets = pattern.char_indices().map(|(offset, _)| offset).chain([pattern.len()]);
        let start = offsets.nth(error.pos).unwrap_or(pattern.len());
        let end = offsets.next().unwrap_or(pattern.len());
        Fault { range: start..end, reason: error.msg.to_owned() }
    })
}

fn regex_fault(span: &regex_syntax::ast::Span, kind: &impl std::fmt::Display) -> Fault {
    Fault { range: span.start.offset..span.end.offset, reason: kind.to_string() }
}

/// The byte ranges of the specifiers of a format, each from its `%` to its letter.
fn specifiers(format: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut position = 0;
    std::iter::from_fn(move || {
        let start = position + format[position..].find('%')?;
        let mut rest = format[start + 1..].char_indices();
        let letter = rest.find(|(_, c)| !matches!(c, '-' | '_' | '.' | ':' | '#') && !c.is_ascii_digit());
        position = letter.map_or(format.len(), |(offset, c)| start + 1 + offset + c.len_utf8());
        Some(start..position)
    })
}

fn check_specifier(specifier: &str, usage: FormatUse) -> Result<(), String> {
    if StrftimeItems::new(specifier).any(|item| item == Item::Error) {
        return Err(format!("`{specifier}` is not a strftime specifier"));
    }
    match usage {
        FormatUse::WriteDate if write_date(specifier).is_none() => {
            Err(format!("`{specifier}` needs a time of day, which a date has not"))
        }
        FormatUse::WriteDateTime if write_date_time(specifier).is_none() => {
            Err(format!("`{specifier}` needs a time zone, which a date_time has not"))
        }
        _ => Ok(()),
    }
}

/// A format can be read with if a sample that it writes is read back.
fn check_round_trip(format: &str, usage: FormatUse) -> Result<(), Fault> {
    let mut text = String::new();
    let read = match write!(text, "{}", sample().format(format)) {
        Err(_) => false,
        Ok(()) if usage == FormatUse::ParseDate => NaiveDate::parse_from_str(&text, format).is_ok(),
        Ok(()) => {
            NaiveDateTime::parse_from_str(&text, format).is_ok() || DateTime::parse_from_str(&text, format).is_ok()
        }
    };
    let wanted =
        if usage == FormatUse::ParseDate { "year, month and day" } else { "year, month, day, hour and minute" };
    match read {
        true => Ok(()),
        false => Err(Fault { range: 0..format.len(), reason: format!("it does not tell {wanted}") }),
    }
}

fn write_date(format: &str) -> Option<String> {
    let mut text = String::new();
    write!(text, "{}", sample().date_naive().format(format)).ok().map(|()| text)
}

fn write_date_time(format: &str) -> Option<String> {
    let mut text = String::new();
    write!(text, "{}", sample().naive_utc().format(format)).ok().map(|()| text)
}

/// 2013-11-25T16:05:06Z, whose parts can't be mistaken for each other.
fn sample() -> DateTime<FixedOffset> {
    let time = DateTime::from_timestamp(1_385_395_506, 0).expect("the sample lies in chrono's range");
    time.fixed_offset()
}
