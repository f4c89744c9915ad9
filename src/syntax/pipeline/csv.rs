//! File formats and the options of CSV.

use super::ast::{CsvReadOptions, Encoding, Format};
use super::fields::{Fields, Given, Keys, Reader};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Spanned};

const READ: Keys = Keys { read: &["delimiter", "quote_char", "has_header", "encoding"], ..Keys::NONE };

const WRITE: Keys = Keys { read: &["delimiter"], ..Keys::NONE };

/// Where the delimiter is given.
pub(super) const IN_OPTIONS: &str = "write `options: { delimiter: \"…\" }`";

/// Formats of the language that this version doesn't run.
const LATER: &[&str] = &["json", "fixed_width", "xml", "edifact", "x12", "hl7", "swift"];

const ENCODINGS: &[(&str, Encoding)] = &[
    ("utf-8", Encoding::Utf8),
    ("iso-8859-1", Encoding::Latin1),
    ("latin-1", Encoding::Latin1),
    ("latin1", Encoding::Latin1),
];

/// `type` of a source's or a sink's `config`. `None`, reported, for a format that can't be used.
pub(super) fn format(reader: &mut Reader<'_>, config: &Fields<'_>) -> Option<Spanned<Format>> {
    let given = reader.require(config, "type")?;
    let name = reader.string(&given).filter(|name| !reader.diagnostics.reports(name.span))?;
    if name.value == "csv" {
        return Some(Spanned::new(Format::Csv, name.span));
    }
    if LATER.contains(&name.value.as_str()) {
        reader.report(
            Diagnostic::error(Code::E199, format!("the format `{}` is not run by this version yet", name.value))
                .label(name.span, "not run yet")
                .help("this version reads and writes `csv`"),
        );
        return None;
    }
    let known = ["csv"].into_iter().chain(LATER.iter().copied());
    let meant = closest(&name.value, known);
    let mut finding = Diagnostic::error(Code::E000, format!("there is no format `{}`", name.value))
        .label(name.span, "unknown format")
        .help("this version reads and writes `csv`");
    if let Some(meant) = meant {
        finding = finding.help(format!("did you mean `{meant}`?")).fix(name.span, meant);
    }
    reader.report(finding);
    (meant == Some("csv")).then(|| Spanned::new(Format::Csv, name.span))
}

/// `options` of a CSV source.
pub(super) fn read_options(reader: &mut Reader<'_>, given: &Given<'_>) -> CsvReadOptions {
    let mut options = CsvReadOptions::default();
    let place = given.key;
    let Some(fields) = reader.fields(given.node, "the `options` of a CSV source".to_owned(), place, &READ) else {
        return options;
    };
    let delimiter = byte(reader, &fields, "delimiter", &mut options.delimiter);
    let quote = byte(reader, &fields, "quote_char", &mut options.quote);
    if let (Some(given), true) = (delimiter.or(quote), options.delimiter == options.quote) {
        reader.report(
            Diagnostic::error(Code::E000, "`delimiter` and `quote_char` are the same character")
                .label(given.node.span, "the same for both"),
        );
    }
    if let Some(has_header) = fields.get("has_header").and_then(|given| reader.boolean(&given)) {
        options.has_header = has_header;
    }
    if let Some(encoding) = fields.get("encoding").and_then(|given| encoding(reader, &given)) {
        options.encoding = encoding;
    }
    options
}

/// The delimiter in `options` of a CSV sink.
pub(super) fn write_delimiter(reader: &mut Reader<'_>, given: &Given<'_>) -> u8 {
    let mut delimiter = b',';
    let place = given.key;
    if let Some(fields) = reader.fields(given.node, "the `options` of a CSV sink".to_owned(), place, &WRITE) {
        let given = byte(reader, &fields, "delimiter", &mut delimiter);
        if let (Some(given), b'"') = (given, delimiter) {
            reader.report(
                Diagnostic::error(Code::E000, "`delimiter` is the character that fields are quoted with")
                    .label(given.node.span, "the same for both")
                    .help("write another one, such as `\";\"`"),
            );
        }
    }
    delimiter
}

/// Reads one ASCII character into `byte`. Gives the value it was read from.
fn byte<'n>(reader: &mut Reader<'_>, fields: &Fields<'n>, key: &str, byte: &mut u8) -> Option<Given<'n>> {
    const WANTED: &str = "one ASCII character";
    let given = fields.get(key)?;
    let scalar = reader.scalar(&given, WANTED)?;
    match scalar.text.as_bytes() {
        [one] if one.is_ascii() && !matches!(one, b'\r' | b'\n' | 0) => *byte = *one,
        b"\\t" => {
            reader.report(
                Diagnostic::error(Code::E000, format!("{} must be {WANTED}, not a backslash and a `t`", given.what))
                    .label(scalar.span, format!("expected {WANTED}"))
                    .help("write a tab in double quotes: `\"\\t\"`")
                    .fix(scalar.span, "\"\\t\""),
            );
            return None;
        }
        word if word.eq_ignore_ascii_case(b"tab") => {
            let finding = reader.wrong_kind(&given, WANTED);
            reader.report(finding.help("write a tab in double quotes: `\"\\t\"`").fix(scalar.span, "\"\\t\""));
            return None;
        }
        _ => {
            reader.wrong(&given, WANTED);
            return None;
        }
    }
    Some(given)
}

fn encoding(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Encoding> {
    let name = reader.string(given)?.value.to_ascii_lowercase();
    if let Some((_, encoding)) = ENCODINGS.iter().find(|(known, _)| *known == name) {
        return Some(*encoding);
    }
    let finding = || reader.wrong_kind(given, "`utf-8` or `latin-1`");
    let finding = match name.as_str() {
        "utf8" | "utf_8" | "utf-8-sig" | "ascii" | "us-ascii" => {
            finding().help("write `utf-8`").fix(given.node.span, "utf-8")
        }
        "cp1252" | "windows-1252" | "win-1252" | "ansi" => {
            finding().help("convert the file to UTF-8; `latin-1` is the same but for `€`, long dashes and curly quotes")
        }
        "utf-16" | "utf16" | "utf-16le" | "utf-16be" => finding().help("convert the file to UTF-8"),
        _ => return reader.choice(given, ENCODINGS).map(|encoding| encoding.value),
    };
    reader.report(finding);
    None
}
