//! What to do about a cell that does not fit its declared type, where the cell shows what it is.

use chrono::{Datelike, NaiveDate, NaiveDateTime};

use crate::analysis::hir::SourceColumn;
use crate::analysis::types::Kind;

/// Words that stand for no value in the files of other tools.
const NO_VALUE: &[&str] = &["null", "none", "nil", "nan", "na", "n/a", "#n/a", "-", "--", "?", "\\n"];

/// How people write days, apart from the formats that are tried anyway.
const DATE_FORMATS: &[&str] = &[
    "%d.%m.%Y",
    "%Y.%m.%d",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%Y%m%d",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
];

/// How they write the time behind it.
const TIMES: &[&str] = &[" %H:%M:%S", " %H:%M", "T%H:%M", ", %H:%M"];

/// What stands between the digits of a number.
const SEPARATORS: [char; 4] = ['.', ',', '\'', ' '];

/// How the column can be declared to take such a cell; `None` where that can't be told.
pub(super) fn declare(column: &SourceColumn, cell: &str) -> Option<String> {
    let kind = &column.ty.kind;
    if cell.is_empty() {
        return Some(format!("declare the column as `nullable({kind})`"));
    }
    match kind {
        Kind::Date => date_format(cell).map(|format| declare_format(&format)).or_else(|| word(column, cell)),
        Kind::DateTime => date_time(cell).or_else(|| word(column, cell)),
        Kind::Int if cell.parse::<f64>().is_ok_and(f64::is_finite) && cell.contains('.') => {
            Some("declare the column as `decimal` or `float`".to_owned())
        }
        Kind::Int | Kind::Float | Kind::Decimal { .. } => {
            word(column, cell).or_else(|| blanks(column, cell)).or_else(|| separators(column, cell))
        }
        _ => word(column, cell),
    }
}

/// The method that reads a text as the column's type.
fn method(column: &SourceColumn) -> Option<&'static str> {
    Some(match column.ty.kind {
        Kind::Int => "to_int",
        Kind::Float => "to_float",
        Kind::Decimal { .. } => "to_decimal",
        Kind::Bool => "to_bool",
        Kind::Date => "to_date",
        Kind::DateTime => "to_datetime",
        _ => return None,
    })
}

/// Reading as a text, and what makes the value of it in a transform; `{}` is the column.
fn as_text(column: &SourceColumn, value: &str) -> Option<String> {
    let (name, method) = (&column.name, method(column)?);
    let value = value.replace("{}", name);
    Some(format!("declare the column as `string`, and write in a transform `emit {name} = {value}.{method}()`"))
}

/// A word for no value.
fn word(column: &SourceColumn, cell: &str) -> Option<String> {
    let is_word = NO_VALUE.iter().any(|word| cell.trim().eq_ignore_ascii_case(word));
    let empty = if column.ty.nullable { " or {} == \"\"" } else { "" };
    let word = cell.escape_default();
    is_word.then(|| as_text(column, &format!("if {{}} == \"{word}\"{empty} then null else {{}}")))?
}

/// A number between blanks.
fn blanks(column: &SourceColumn, cell: &str) -> Option<String> {
    let is_number = cell.trim() != cell && cell.trim().parse::<f64>().is_ok();
    is_number.then(|| as_text(column, "{}.trim()"))?
}

/// A number with a decimal comma, or with separators between thousands.
fn separators(column: &SourceColumn, cell: &str) -> Option<String> {
    let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.chars().all(|c| c.is_ascii_digit() || SEPARATORS.contains(&c));
    if !is_number {
        return None;
    }
    let last = cell.rfind(SEPARATORS)?;
    let (before, separator, behind) = (&cell[..last], &cell[last..=last], &cell[last + 1..]);
    let is_int = column.ty.kind == Kind::Int;
    let is_whole = match separator {
        "'" | " " => true,
        separator => behind.len() == 3 && (is_int || before.contains(separator)),
    };
    let between_thousands = |c: &char| before.contains(*c) && (is_whole || !separator.contains(*c));
    let mut value = "{}".to_owned();
    for c in SEPARATORS.into_iter().filter(|c| between_thousands(c) || is_whole && separator.contains(*c)) {
        value += &format!(".replace(\"{c}\", \"\")");
    }
    if !is_whole && separator == "," {
        value += ".replace(\",\", \".\")";
    }
    (value != "{}" && (is_whole || !is_int)).then(|| as_text(column, &value))?
}

fn declare_format(format: &str) -> String {
    format!("say how its dates are written: `format: \"{format}\"`")
}

/// A format that the cell is a day in. A year of two digits is not read as one of four.
fn date_format(cell: &str) -> Option<String> {
    let reads = |format: &&&str| {
        let day = NaiveDate::parse_from_str(cell, format);
        day.is_ok_and(|day| (1000..10_000).contains(&day.year()))
    };
    DATE_FORMATS.iter().find(reads).map(|format| (*format).to_owned())
}

fn date_time(cell: &str) -> Option<String> {
    if date_format(cell).is_some() || NaiveDate::parse_from_str(cell, "%Y-%m-%d").is_ok() {
        return Some("declare the column as `date`, as no time is written".to_owned());
    }
    let days = DATE_FORMATS.iter().chain(&["%Y-%m-%d"]);
    let mut formats = days.flat_map(|day| TIMES.iter().map(move |time| format!("{day}{time}")));
    let reads = |format: &String| {
        NaiveDateTime::parse_from_str(cell, format).is_ok_and(|time| (1000..10_000).contains(&time.year()))
    };
    formats.find(reads).map(|format| declare_format(&format))
}
