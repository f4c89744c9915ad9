//! `type: source`

use super::ast::{Matcher, NodeKind, OnUnmapped, Source};
use super::fields::{Fields, Given, Keys, Reader, elsewhere, later};
use super::node::Parts;
use super::{csv, schema, sort};
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::Value;

const CONFIG: Keys = Keys {
    read: &[
        "name",
        "type",
        "path",
        "paths",
        "glob",
        "regex",
        "schema",
        "options",
        "on_unmapped",
        "correlation_key",
        "sort_order",
        "on_unsorted",
        "transport",
        "dlq_granularity",
    ],
    required: &["type", "schema"],
    one_of: MATCHERS,
    refused: &[
        later("exclude", FILES),
        later("modified_after", FILES),
        later("modified_before", FILES),
        later("min_size", FILES),
        later("max_size", FILES),
        later("files", FILES),
        later("split_values", "remove it, and split the text in a transform"),
        later("split_to_rows", "remove it; each row of a file is one row here"),
        later("watermark", "remove it; no node that runs uses event time"),
        elsewhere("delimiter", csv::IN_OPTIONS),
        elsewhere("separator", csv::IN_OPTIONS),
        elsewhere("sep", csv::IN_OPTIONS),
        elsewhere("quote_char", "write `options: { quote_char: \"…\" }`"),
        elsewhere("has_header", HEADER),
        elsewhere("header", HEADER),
        elsewhere("encoding", "write `options: { encoding: … }`"),
    ],
};

const HEADER: &str = "a header line is expected; for a file without one, write `options: { has_header: false }`";

const FILES: &str = "remove it, and choose the files with `path`, `paths`, `glob` or `regex`";

/// What makes rows of another shape than the schema says.
const RESHAPING: &[&str] = &["split_values", "split_to_rows"];

const MATCHERS: &[&str] = &["path", "paths", "glob", "regex"];

const ON_UNMAPPED: Keys = Keys { read: &["mode"], ..Keys::NONE };

const MODES: &[(&str, OnUnmapped)] =
    &[("auto_widen", OnUnmapped::AutoWiden), ("drop", OnUnmapped::Drop), ("reject", OnUnmapped::Reject)];

const ON_UNSORTED: &[(&str, bool)] = &[("warn", false), ("error", true)];

/// Reads a source. `None`, reported, if its format can't be used.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let config = node.config(reader, &CONFIG)?;
    let config_name = config.get("name").and_then(|given| reader.string(&given));
    let format = csv::format(reader, &config);
    let matcher = matcher(reader, &config, &node.label);
    let on_unmapped = config.group("on_unmapped").and_then(|given| on_unmapped(reader, &given)).unwrap_or_default();
    let correlation_key = config.get("correlation_key").and_then(|given| correlation_key(reader, &given));
    let sort_order = config.get("sort_order");
    let sort_order_span = sort_order.as_ref().map(|given| given.node.span);
    let sort_order = sort_order.map(|given| sort::fields(reader, &given, &sort::CLAIMED));
    let on_unsorted = config.get("on_unsorted").and_then(|given| reader.choice(&given, ON_UNSORTED));
    if let (Some(mode), Some(given)) = (&on_unsorted, config.get("on_unsorted")) {
        claims_order(reader, &config, given.key.to(mode.span));
    }
    if let Some(given) = config.group("transport") {
        transport(reader, &given);
    }
    if let Some(given) = config.get("dlq_granularity") {
        granularity(reader, &given);
    }
    // Options and columns are those of the format.
    let format = format?;
    let schema = columns(reader, &config, &node.label).filter(|_| !config.refused(RESHAPING));
    let csv = config.group("options").map(|given| csv::read_options(reader, &given)).unwrap_or_default();
    Some(NodeKind::Source(Source {
        config_name,
        format,
        matcher,
        schema,
        csv,
        on_unmapped,
        on_unmapped_span: config.get("on_unmapped").map(|given| given.node.span),
        sort_order: sort_order.unwrap_or_default(),
        sort_order_span,
        unsorted_is_error: on_unsorted.is_some_and(|mode| mode.value),
        correlation_key: correlation_key.unwrap_or_default(),
    }))
}

/// Warns (W203) of `on_unsorted` where no order is declared.
fn claims_order(reader: &mut Reader<'_>, config: &Fields<'_>, on_unsorted: Span) {
    let sort_order = config.get("sort_order").map(|given| &given.node.value);
    let is_empty = |value: &Value| matches!(value, Value::Sequence(fields) if fields.is_empty());
    if sort_order.is_some_and(|value| !is_empty(value)) || config.incomplete() {
        return;
    }
    reader.report(
        Diagnostic::warning(Code::W203, "`on_unsorted` has no effect without a `sort_order`")
            .label(on_unsorted, "no order is declared that a file could break")
            .help("declare the order that the files have with `sort_order`, or remove `on_unsorted`"),
    );
}

/// Which files to read.
fn matcher(reader: &mut Reader<'_>, config: &Fields<'_>, label: &str) -> Option<Matcher> {
    let mut given: Vec<_> = MATCHERS.iter().filter_map(|key| config.get(key).map(|given| (*key, given))).collect();
    given.sort_by_key(|(_, given)| given.key.start);
    match given.as_slice() {
        [] if config.incomplete() => None,
        [] => {
            reader.report(
                Diagnostic::error(Code::E211, format!("{label} names no file to read"))
                    .label(config.place(), "needs a file")
                    .help("add `path`, `paths`, `glob` or `regex` to its `config`"),
            );
            None
        }
        [(key, given)] => one_matcher(reader, key, given, label),
        several => {
            let finding = Diagnostic::error(Code::E210, format!("{label} names its files in several ways"));
            let label = |finding: Diagnostic, (key, given): &(&str, Given<'_>)| {
                finding.label(given.key, format!("`{key}` names files"))
            };
            reader.report(several.iter().fold(finding, label).help("keep one of them"));
            None
        }
    }
}

fn one_matcher(reader: &mut Reader<'_>, key: &str, given: &Given<'_>, label: &str) -> Option<Matcher> {
    match key {
        "path" => path(reader, given),
        "glob" => reader.string(given).map(Matcher::Glob),
        "regex" => reader.string(given).map(Matcher::Regex),
        _ => {
            let paths = reader.strings(given)?;
            if paths.is_empty() && matches!(&given.node.value, Value::Sequence(items) if items.is_empty()) {
                reader.report(
                    Diagnostic::error(Code::E211, format!("{label} names no file to read"))
                        .label(given.node.span, "an empty list")
                        .help("list at least one path"),
                );
                return None;
            }
            Some(Matcher::Paths(paths))
        }
    }
}

/// `path`, which names one file.
fn path(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Matcher> {
    if let Value::Sequence(_) = given.node.value {
        let finding = reader.wrong_kind(given, "text");
        reader.report(finding.help("several files are listed by `paths`").fix(given.key, "paths"));
        return None;
    }
    reader.string(given).map(Matcher::Path)
}

/// `schema`, which must be there and list a column.
fn columns(reader: &mut Reader<'_>, config: &Fields<'_>, label: &str) -> Option<Vec<super::ast::SchemaColumn>> {
    let given = config.group("schema");
    let empty =
        matches!(&given, Some(given) if matches!(&given.node.value, Value::Sequence(items) if items.is_empty()));
    if let (Some(given), false) = (&given, empty) {
        return schema::columns(reader, given);
    }
    if !config.incomplete() {
        let place = given.map_or(config.place(), |given| given.node.span);
        reader.report(
            Diagnostic::error(Code::E201, format!("{label} has no schema"))
                .label(place, "needs columns")
                .help("list the columns in its `config`: `schema: [ { name: id, type: int } ]`"),
        );
    }
    None
}

/// `correlation_key`, a column or a list of columns. `None`, reported, if a part of it can't be read.
fn correlation_key(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Vec<Spanned<String>>> {
    match &given.node.value {
        Value::Scalar(_) => return reader.string(given).map(|field| vec![field]),
        Value::Mapping(_) => {
            reader.wrong(given, "a column or a list of columns");
            return None;
        }
        Value::Sequence(_) | Value::Error => {}
    }
    let items = reader.list(given)?;
    if items.is_empty() {
        reader.report(
            Diagnostic::error(Code::E000, "`correlation_key` is an empty list")
                .label(given.node.span, "names no column")
                .help("name at least one column, or remove it: each row then passes or fails on its own"),
        );
    }
    let read: Vec<_> = items.iter().map(|item| reader.string(item)).collect();
    let mut fields: Vec<Spanned<String>> = Vec::with_capacity(read.len());
    for field in read.into_iter().collect::<Option<Vec<_>>>()? {
        match fields.iter().find(|first| first.value == field.value) {
            Some(first) => reader.report(
                Diagnostic::error(Code::E000, format!("`correlation_key` names `{}` twice", field.value))
                    .label(field.span, "named again")
                    .label(first.span, "first named here")
                    .help("name each column once"),
            ),
            None => fields.push(field),
        }
    }
    Some(fields)
}

/// `on_unmapped: { mode: … }`
fn on_unmapped(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<OnUnmapped> {
    if let Value::Scalar(scalar) = &given.node.value {
        let mode = MODES.iter().find(|(name, _)| *name == scalar.text);
        let mut finding = Diagnostic::error(Code::E000, "`on_unmapped` must be a mapping with a `mode`, not text")
            .label(scalar.span, "expected a mapping")
            .help("write `{ mode: drop }`, or one of `auto_widen` and `reject`");
        if let Some((name, _)) = mode {
            let mended = format!("{{ mode: {name} }}");
            finding = finding.help(format!("write `{mended}`")).fix(scalar.span, mended);
        }
        reader.report(finding);
        return mode.map(|(_, mode)| *mode);
    }
    let fields = reader.fields(given.node, "`on_unmapped`".to_owned(), given.key, &ON_UNMAPPED)?;
    let mode = fields.get("mode")?;
    reader.choice(&mode, MODES).map(|mode| mode.value)
}

/// `transport`, of which only files are read.
fn transport(reader: &mut Reader<'_>, given: &Given<'_>) {
    const KEYS: Keys = Keys { read: &["kind"], ..Keys::NONE };
    let Some(entries) = reader.mapping(given) else { return };
    let rest = entries.iter().find(|entry| {
        entry.key.text == "kind" && matches!(&entry.value.value, Value::Scalar(scalar) if scalar.text == "rest")
    });
    if let Some(entry) = rest {
        reader.report(
            Diagnostic::error(Code::E199, "reading from a web service is not run by this version yet")
                .label(entry.value.span, "not run yet")
                .help("remove `transport`, and read a file"),
        );
        return;
    }
    let fields = reader.fields(given.node, "`transport`".to_owned(), given.key, &KEYS);
    if let Some(kind) = fields.and_then(|fields| fields.get("kind")) {
        reader.choice(&kind, &[("file", ())]);
    }
}

/// `dlq_granularity`, of which only single records are run.
fn granularity(reader: &mut Reader<'_>, given: &Given<'_>) {
    let choice = reader.choice(given, &[("record", false), ("document", true)]);
    if let Some(choice) = choice.filter(|choice| choice.value) {
        reader.report(
            Diagnostic::error(Code::E199, "dead letters for whole documents are not run by this version yet")
                .label(choice.span, "not run yet")
                .help("remove it; each row that fails is a dead letter"),
        );
    }
}
