//! Values that a comma tears apart.
//!
//! Inside `{ }` a comma ends a value without quotes: of `{ type: decimal(10,2) }` YAML makes the key `type` with the
//! value `decimal(10`, and a key `2)` without a value; of `{ group_by: carrier, month }` it makes a key `month`. The parts
//! are put together again and reported once.

use super::fields::Reader;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::yaml::{Entry, Node, ScalarStyle, Value};

/// Reports (E000) the torn values of a tree. They become errors, and the keys made of their parts go. What stands under
/// `_notes` is anything.
pub(super) fn mend(reader: &mut Reader<'_>, node: &mut Node) {
    match &mut node.value {
        Value::Sequence(items) => items.iter_mut().for_each(|item| mend(reader, item)),
        Value::Mapping(entries) => {
            let mut index = 0;
            while index < entries.len() {
                if entries[index].key.text == "_notes" {
                    index += 1;
                    continue;
                }
                let in_brackets = parts(reader, &entries[index..]);
                if let Some(parts) = in_brackets.or_else(|| names(reader, &entries[index..])) {
                    let last = &entries[index + parts].key;
                    let span = entries[index].value.span.to(last.span);
                    let is_column = entries.iter().any(|entry| entry.key.text == "name");
                    match in_brackets {
                        Some(_) => report(reader, &entries[index].key.text, span, is_column),
                        None => report_list(reader, &entries[index].key.text, span),
                    }
                    entries[index].value = Node { value: Value::Error, span };
                    entries.drain(index + 1..=index + parts);
                }
                mend(reader, &mut entries[index].value);
                index += 1;
            }
        }
        Value::Scalar(_) | Value::Error => {}
    }
}

/// How many of the entries behind the first one are parts of its value: those that close its brackets.
fn parts(reader: &Reader<'_>, entries: &[Entry]) -> Option<usize> {
    let (first, rest) = entries.split_first()?;
    let Value::Scalar(value) = &first.value.value else { return None };
    let mut open = still_open(&value.text);
    if value.style != ScalarStyle::Plain || open <= 0 {
        return None;
    }
    let mut end = value.span.end;
    for (index, entry) in rest.iter().enumerate() {
        if !is_part(reader, entry, end) {
            return None;
        }
        end = entry.key.span.end;
        open += still_open(&entry.key.text);
        if open <= 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Whether the entry is nothing but what stands behind a comma; `end` is where the part in front of it ends.
fn is_part(reader: &Reader<'_>, entry: &Entry, end: u32) -> bool {
    let between = Span::new(entry.key.span.file, end, entry.key.span.start);
    entry.key.style == ScalarStyle::Plain
        && matches!(&entry.value.value, Value::Scalar(value) if value.text.is_empty() && value.is_null())
        && reader.written(between).trim() == ","
}

/// Keys whose value is a list of names.
const OF_NAMES: &[&str] =
    &["inputs", "group_by", "partition_by", "order_by", "sort_order", "correlation_key", "mapping", "exclude", "paths"];

/// How many of the entries behind the first one are names of its list, which lacks its brackets.
fn names(reader: &Reader<'_>, entries: &[Entry]) -> Option<usize> {
    let (first, rest) = entries.split_first()?;
    let Value::Scalar(value) = &first.value.value else { return None };
    if !OF_NAMES.contains(&first.key.text.as_str()) || value.style != ScalarStyle::Plain || value.text.is_empty() {
        return None;
    }
    let mut end = value.span.end;
    let ends_of_parts = rest.iter().take_while(|entry| {
        let is_part = is_part(reader, entry, end);
        end = entry.key.span.end;
        is_part
    });
    Some(ends_of_parts.count()).filter(|count| *count > 0)
}

/// Reports a list without brackets.
fn report_list(reader: &mut Reader<'_>, key: &str, span: Span) {
    let written = reader.written(span);
    let mended = format!("[{written}]");
    let finding = Diagnostic::error(Code::E000, format!("`{key}` must be a list, not `{written}`"))
        .label(span, "expected a list")
        .help(format!("write `{mended}`"))
        .fix(span, mended);
    reader.report(finding);
}

/// How many more brackets are opened than closed.
fn still_open(text: &str) -> i32 {
    text.bytes().map(|byte| i32::from(byte == b'(') - i32::from(byte == b')')).sum()
}

/// Reports a torn value. `is_column` tells whether a `type` here has its places as keys beside it.
fn report(reader: &mut Reader<'_>, key: &str, span: Span, is_column: bool) {
    let written = reader.written(span);
    let finding = Diagnostic::error(Code::E000, format!("a comma ends the value of `{key}` inside `{{ }}`"))
        .label(span, "torn apart at the comma");
    let places = if is_column && key == "type" { places_beside(written) } else { None };
    let finding = match places {
        Some(mended) => finding.help(format!("write `type: {mended}`")).fix(span, mended),
        None if !written.contains(['"', '\\', '\n']) => {
            let quoted = format!("\"{written}\"");
            finding.help(format!("put it in quotes: `{quoted}`")).fix(span, quoted)
        }
        None => finding.help("put it in quotes"),
    };
    reader.report(finding);
}

/// `decimal(10,2)` with precision and scale as keys of their own.
fn places_beside(written: &str) -> Option<String> {
    let (before, rest) = written.split_once("decimal(")?;
    let (places, after) = rest.split_once(')')?;
    let (precision, scale) = places.split_once(',')?;
    let (precision, scale) = (precision.trim(), scale.trim());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = is_number(precision) && is_number(scale);
    numbers.then(|| format!("{before}decimal{after}, precision: {precision}, scale: {scale}"))
}
