//! `schema`: the columns of a source, and the rounding scales of a sink.

use super::ast::{SchemaColumn, SinkColumn};
use super::fields::{Given, Keys, Reader, Refused, elsewhere, later};
use crate::diagnostics::{Code, Diagnostic};
use crate::syntax::yaml::{Entry, Node, Value};

/// The most digits behind the point that a decimal keeps.
const SCALE_LIMIT: u8 = 28;

/// The most digits that a column may declare.
const PRECISION_LIMIT: u8 = 38;

const COLUMN: Keys = Keys {
    read: &["name", "type", "source_name", "format", "precision", "scale", "long_unique"],
    required: &["name", "type"],
    refused: COLUMN_LATER,
    ..Keys::NONE
};

const COLUMN_LATER: &[Refused] = &[
    elsewhere("nullable", "write it in the type, such as `type: nullable(int)`"),
    later("multiple", "remove it; a cell holds one value"),
    later("required", "remove it; a type that is not nullable requires a value"),
    later("default", "remove it, and fill empty values with `??` in a transform"),
    later("enum", "remove it, and check the values with `validations` in a transform"),
    later("coerce", "remove it, and convert the value in a transform"),
    later("start", LAYOUT),
    later("width", LAYOUT),
    later("end", LAYOUT),
    later("justify", LAYOUT),
    later("pad", LAYOUT),
    later("trim", LAYOUT),
    later("truncation", LAYOUT),
];

const LAYOUT: &str = "remove it; it lays out fixed-width files, and this version reads and writes `csv`";

const SINK_COLUMN: Keys = Keys {
    read: &["name", "type", "scale"],
    required: &["name"],
    refused: &[
        later("source_name", NAMES),
        later("format", "remove it, and write the text wanted in a transform"),
        later("precision", "remove it"),
        later("long_unique", "remove it"),
        later("multiple", "remove it"),
        later("required", "remove it"),
        later("default", "remove it, and fill empty values with `??` in a transform"),
        later("enum", "remove it"),
        later("coerce", "remove it, and convert the value in a transform"),
        later("start", LAYOUT),
        later("width", LAYOUT),
        later("end", LAYOUT),
        later("justify", LAYOUT),
        later("pad", LAYOUT),
        later("trim", LAYOUT),
        later("truncation", LAYOUT),
    ],
    ..Keys::NONE
};

const NAMES: &str = "remove it, and rename columns with `mapping`";

/// The columns of a source. `None`, reported, if one of them can't be read.
pub(super) fn columns(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Vec<SchemaColumn>> {
    match given.node.value {
        Value::Scalar(_) => return not_yet(reader, given, "a schema in a file of its own"),
        Value::Mapping(_) => return not_yet(reader, given, "a schema in the form of a mapping"),
        Value::Sequence(_) | Value::Error => {}
    }
    let items = reader.list(given)?;
    let columns: Vec<_> = items.iter().map(|item| column(reader, item)).collect();
    columns.into_iter().collect()
}

fn not_yet<T>(reader: &mut Reader<'_>, given: &Given<'_>, what: &str) -> Option<T> {
    let span = reader.first_line(given.node.span);
    reader.report(
        Diagnostic::error(Code::E199, format!("{what} is not run by this version yet"))
            .label(span, "not run yet")
            .help("list the columns: `schema: [ { name: id, type: int } ]`"),
    );
    None
}

fn column(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<SchemaColumn> {
    let place = reader.first_line(given.node.span);
    let fields = match &given.node.value {
        Value::Mapping(entries) if reads_as_name_and_type(entries) => {
            name_and_type(reader, given.node, &entries[0]);
            return None;
        }
        Value::Mapping(_) => reader.fields(given.node, column_label(given), place, &COLUMN)?,
        Value::Error => return None,
        _ => {
            reader.wrong(given, "a mapping such as `{ name: id, type: int }`");
            return None;
        }
    };
    let name = reader.require(&fields, "name").and_then(|given| reader.name(&given));
    let ty = reader.required_type(&fields, "type");
    let source_name = fields.get("source_name").and_then(|given| reader.string(&given));
    let format = fields.get("format").and_then(|given| reader.string(&given));
    let precision = fields.get("precision").and_then(|given| reader.small(&given, 1, PRECISION_LIMIT));
    let scale = fields.get("scale").and_then(|given| reader.small(&given, 0, SCALE_LIMIT));
    fields.get("long_unique").and_then(|given| reader.boolean(&given));
    // `multiple` makes the column another type than the one that would be read here.
    let readable = !fields.refused(&["multiple"]);
    let column = SchemaColumn { name: name?, ty: ty?, source_name, format, precision, scale };
    readable.then_some(column)
}

/// `{ id: int }`, where `{ name: id, type: int }` is meant
fn reads_as_name_and_type(entries: &[Entry]) -> bool {
    let [entry] = entries else { return false };
    let key = entry.key.text.as_str();
    let known = COLUMN.read.contains(&key) || COLUMN.refused.iter().any(|refused| refused.key == key) || key == "<<";
    !known && matches!(&entry.value.value, Value::Scalar(ty) if !ty.is_null())
}

fn name_and_type(reader: &mut Reader<'_>, node: &Node, entry: &Entry) {
    let span = reader.with_braces(node, entry);
    let (name, ty) = (reader.written(entry.key.span), reader.written(entry.value.span));
    let written = format!("{{ name: {name}, type: {ty} }}");
    reader.report(
        Diagnostic::error(Code::E000, "a column is declared with the keys `name` and `type`")
            .label(reader.first_line(span), "holds neither")
            .help(format!("write `{written}`"))
            .fix(span, written),
    );
}

/// What messages call a column.
fn column_label(given: &Given<'_>) -> String {
    let Value::Mapping(entries) = &given.node.value else { return "this column".to_owned() };
    let name = entries.iter().find(|entry| entry.key.text == "name").map(|entry| &entry.value.value);
    match name {
        Some(Value::Scalar(name)) if !name.text.is_empty() => format!("column `{}`", name.text),
        _ => "this column".to_owned(),
    }
}

/// What a sink's `schema` says of its columns.
pub(super) fn written(reader: &mut Reader<'_>, given: &Given<'_>) -> Vec<SinkColumn> {
    match given.node.value {
        Value::Scalar(_) => return not_yet(reader, given, "a schema in a file of its own").unwrap_or_default(),
        Value::Mapping(_) => return not_yet(reader, given, "a schema in the form of a mapping").unwrap_or_default(),
        Value::Sequence(_) | Value::Error => {}
    }
    let items = reader.list(given).unwrap_or_default();
    items.iter().filter_map(|item| written_column(reader, item)).collect()
}

fn written_column(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<SinkColumn> {
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, column_label(given), place, &SINK_COLUMN)?;
    let name = reader.require(&fields, "name").and_then(|given| reader.string(&given));
    let ty = fields.get("type").and_then(|given| reader.type_text(&given));
    let scale = fields.get("scale").and_then(|given| reader.small(&given, 0, SCALE_LIMIT));
    Some(SinkColumn { name: name?, ty, scale })
}
