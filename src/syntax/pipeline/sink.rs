//! `type: sink`, also written `type: output`.

use super::ast::{IfExists, Mapping, NodeKind, Sink};
use super::fields::{Fields, Given, Keys, Reader, elsewhere, later};
use super::node::Parts;
use super::{csv, path, schema, sort};
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::Value;

const CONFIG: Keys = Keys {
    read: &[
        "name",
        "type",
        "path",
        "include_unmapped",
        "mapping",
        "exclude",
        "include_header",
        "if_exists",
        "preserve_nulls",
        "sort_order",
        "include_correlation_keys",
        "schema",
        "options",
    ],
    required: &["type", "path"],
    refused: &[
        later("split", "remove it; all rows are written to one file"),
        later("join_values", "remove it, and join the values in a transform"),
        later("write_meta", "remove it"),
        later("reconstruct_envelope", "remove it"),
        elsewhere("include", IN_MAPPING),
        elsewhere("include_columns", IN_MAPPING),
        elsewhere("only", IN_MAPPING),
        elsewhere("keep", IN_MAPPING),
        elsewhere("delimiter", csv::IN_OPTIONS),
        elsewhere("separator", csv::IN_OPTIONS),
        elsewhere("sep", csv::IN_OPTIONS),
        elsewhere("input", "move it out of `config`, beside `name`"),
    ],
    ..Keys::NONE
};

const IN_MAPPING: &str =
    "the columns that are written are listed in `mapping`, with `include_unmapped: false` for no others";

const IF_EXISTS: &[(&str, IfExists)] =
    &[("overwrite", IfExists::Overwrite), ("error", IfExists::Error), ("unique_suffix", IfExists::UniqueSuffix)];

/// Reads a sink. `None`, reported, if its input, its format or its path is missing, or a list of columns can't be read.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let config_name = config.get("name").and_then(|given| reader.string(&given));
    let format = csv::format(reader, &config);
    let path = reader.require(&config, "path").and_then(|given| path::written(reader, &given));
    let include_unmapped = boolean(reader, &config, "include_unmapped", true);
    let mapping = config.get("mapping").map(|given| mapping(reader, &given, &node.label));
    let exclude = config.group("exclude").map(|given| reader.strings(&given));
    let include_header = boolean(reader, &config, "include_header", true);
    let if_exists = config.get("if_exists").and_then(|given| reader.choice(&given, IF_EXISTS));
    // CSV writes null as an empty cell either way.
    boolean(reader, &config, "preserve_nulls", false);
    let sort_order = config.get("sort_order").map(|given| sort::fields(reader, &given, &sort::WRITTEN));
    let include_correlation_keys = boolean(reader, &config, "include_correlation_keys", false);
    // Options and columns are those of the format.
    let format = format?;
    let schema = config.group("schema").map(|given| schema::written(reader, &given)).unwrap_or_default();
    let delimiter = config.group("options").map_or(b',', |given| csv::write_delimiter(reader, &given));
    Some(NodeKind::Sink(Sink {
        input: input?,
        config_name,
        if_exists: if_exists.unwrap_or(Spanned::new(IfExists::default(), format.span)),
        format,
        path: path?,
        include_unmapped,
        mapping: mapping.map_or(Some(None), |read| read.map(Some))?,
        exclude: exclude.unwrap_or(Some(Vec::new()))?,
        include_header,
        delimiter,
        schema,
        sort_order: sort_order.unwrap_or_default(),
        include_correlation_keys,
    }))
}

fn boolean(reader: &mut Reader<'_>, config: &Fields<'_>, key: &str, default: bool) -> bool {
    config.get(key).and_then(|given| reader.boolean(&given)).unwrap_or(default)
}

/// `mapping`, a list of `column` and `{ output: column }`.
fn mapping(reader: &mut Reader<'_>, given: &Given<'_>, label: &str) -> Option<Vec<Mapping>> {
    match &given.node.value {
        Value::Sequence(items) if !items.is_empty() => {}
        Value::Error => return None,
        Value::Mapping(_) => {
            not_a_list(reader, given, label);
            return None;
        }
        Value::Sequence(_) => return empty(reader, given.node.span, label),
        Value::Scalar(scalar) if scalar.is_null() => return empty(reader, given.key, label),
        Value::Scalar(_) => {
            reader.wrong(given, "a list of columns");
            return None;
        }
    }
    let entries: Vec<_> = reader.list(given)?.iter().map(|item| mapped(reader, item)).collect();
    let mut mapping: Vec<Mapping> = Vec::new();
    let readable = entries.iter().all(Option::is_some);
    for entry in entries.into_iter().flatten() {
        match mapping.iter().find(|other| other.output.value == entry.output.value) {
            Some(first) => twice(reader, &entry, first, label),
            None => mapping.push(entry),
        }
    }
    readable.then_some(mapping)
}

fn mapped(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Mapping> {
    let Value::Mapping(entries) = &given.node.value else {
        let column = reader.string(given)?;
        return Some(Mapping { output: column.clone(), column });
    };
    let [entry] = entries.as_slice() else {
        let span = reader.first_line(given.node.span);
        reader.report(
            Diagnostic::error(Code::E364, "an entry of `mapping` names one column")
                .label(span, format!("names {}", entries.len()))
                .help("write one entry a column: `- output: column`"),
        );
        return None;
    };
    let output = Spanned::new(entry.key.text.clone(), entry.key.span);
    let what = format!("the column of `{}`", output.value).into();
    let column = reader.string(&Given { what, node: &entry.value, key: entry.key.span })?;
    Some(Mapping { output, column })
}

fn not_a_list(reader: &mut Reader<'_>, given: &Given<'_>, label: &str) {
    let span = reader.first_line(given.node.span);
    reader.report(
        Diagnostic::error(Code::E364, format!("the `mapping` of {label} must be a list, not a mapping"))
            .label(span, "a list keeps the order of the columns")
            .help("write each entry with `- `: `- output: column`, or `- column` to keep the name"),
    );
}

fn empty(reader: &mut Reader<'_>, span: Span, label: &str) -> Option<Vec<Mapping>> {
    reader.report(
        Diagnostic::error(Code::E364, format!("the `mapping` of {label} is empty"))
            .label(span, "lists no column")
            .help("remove it to write all columns, or list the ones to write"),
    );
    None
}

fn twice(reader: &mut Reader<'_>, entry: &Mapping, first: &Mapping, label: &str) {
    let message = format!("the `mapping` of {label} writes two columns named `{}`", entry.output.value);
    reader.report(
        Diagnostic::error(Code::E364, message)
            .label(entry.output.span, "named again")
            .label(first.output.span, "first named here")
            .help("give one of them another name: `{ new_name: column }`"),
    );
}
