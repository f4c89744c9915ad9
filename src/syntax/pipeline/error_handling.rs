//! `error_handling:`

use super::ast::{DeadLetters, ErrorHandling, Rate, SourceDeadLetters};
use super::fields::{Fields, Given, Keys, Reader, elsewhere, later};
use super::path;
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::{Entry, Value};

const KEYS: Keys = Keys {
    read: &["strategy", "dlq", "type_error_threshold", "max_group_buffer"],
    refused: &[
        later("correlation_fanout_policy", "remove it; each row fails or passes on its own"),
        elsewhere("correlation_key", "move it into the `config` of the source whose rows belong together"),
        elsewhere("dlq_path", "write `dlq: { path: rejects.csv }`"),
    ],
    ..Keys::NONE
};

const DLQ: Keys = Keys {
    read: &["path", "include_reason", "include_source_row", "max_rate", "min_records", "per_source"],
    refused: &[],
    ..Keys::NONE
};

const PER_SOURCE: Keys = Keys { read: &["path", "max_rate", "min_records"], ..Keys::NONE };

/// Reads the block. What can't be read is reported and left at its default.
pub(super) fn read(reader: &mut Reader<'_>, given: &Given<'_>) -> ErrorHandling {
    let mut handling = ErrorHandling::default();
    let errors = reader.diagnostics.error_count();
    if let Value::Scalar(scalar) = &given.node.value
        && ["continue", "fail_fast"].contains(&scalar.text.as_str())
    {
        let mended = format!("{{ strategy: {} }}", scalar.text);
        let finding = reader.wrong_kind(given, "a mapping");
        reader.report(finding.help(format!("write `{mended}`")).fix(scalar.span, mended));
        return handling;
    }
    let Some(fields) = reader.fields(given.node, "`error_handling`".to_owned(), given.key, &KEYS) else {
        return handling;
    };
    if let Some(strategy) = fields.get("strategy").and_then(|given| strategy(reader, &given)) {
        handling.continue_on_error = strategy.value;
        handling.strategy_span = Some(strategy.span);
    }
    handling.type_error_threshold = fields.get("type_error_threshold").and_then(|given| threshold(reader, &given));
    handling.max_group_buffer = fields.get("max_group_buffer").and_then(|given| reader.whole(&given, 0, u64::MAX));
    handling.dlq = fields.group("dlq").and_then(|given| dead_letters(reader, &given));
    if reader.diagnostics.error_count() > errors {
        // Where dead letters go may have been said, only not in a way that can be read.
        handling.strategy_span = None;
    } else if let Some(given) = fields.group("dlq").filter(|_| !handling.continue_on_error && !fields.incomplete()) {
        no_dead_letters(reader, &given, handling.strategy_span);
    }
    handling
}

/// Warns (W203) of settings for dead letters where a bad row stops the run.
fn no_dead_letters(reader: &mut Reader<'_>, given: &Given<'_>, strategy: Option<Span>) {
    let finding = Diagnostic::warning(Code::W203, "`dlq` has no effect without `strategy: continue`")
        .label(given.key, "no dead letter is ever written");
    reader.report(match strategy {
        Some(strategy) => finding
            .label(strategy, "stops at the first bad row")
            .help("write `strategy: continue` to set bad rows aside, or remove `dlq`")
            .fix(strategy, "continue"),
        None => finding.help("add `strategy: continue` to set bad rows aside, or remove `dlq`"),
    });
}

/// Whether to go on behind an error.
fn strategy(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<bool>> {
    let name = reader.scalar(given, "`fail_fast` or `continue`")?;
    let meant = match name.text.as_str() {
        "fail_fast" => return Some(Spanned::new(false, name.span)),
        "continue" => return Some(Spanned::new(true, name.span)),
        "best_effort" => Some("continue"),
        other => closest(other, ["fail_fast", "continue"]),
    };
    let mut finding = Diagnostic::error(Code::E000, format!("there is no error strategy `{}`", name.text))
        .label(name.span, "expected `fail_fast` or `continue`")
        .note("`fail_fast` stops at the first bad row; `continue` sets bad rows aside as dead letters");
    if let Some(meant) = meant {
        finding = finding.help(format!("use `{meant}`")).fix(name.span, meant);
    }
    reader.report(finding);
    meant.map(|meant| Spanned::new(meant == "continue", name.span))
}

fn threshold(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<f64>> {
    const WANTED: &str = "a number from 0 to 1";
    let threshold = reader.number(given, WANTED)?;
    if (0.0..=1.0).contains(&threshold.value) {
        return Some(threshold);
    }
    reader.wrong(given, WANTED);
    None
}

fn dead_letters(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<DeadLetters> {
    if let Value::Scalar(scalar) = &given.node.value {
        let path = if given.is_number_or_bool() { "rejects.csv" } else { reader.written(scalar.span) };
        let mended = format!("{{ path: {path} }}");
        let finding = reader.wrong_kind(given, "a mapping");
        let finding = finding.help(format!("write `dlq: {mended}`"));
        let certain = !path.contains(['{', '}', ',', '\n']);
        reader.report(if certain { finding.fix(scalar.span, mended) } else { finding });
        return None;
    }
    let fields = reader.fields(given.node, "`dlq`".to_owned(), given.key, &DLQ)?;
    Some(DeadLetters {
        span: given.node.span,
        path: fields.get("path").and_then(|given| path::written(reader, &given)),
        include_reason: boolean(reader, &fields, "include_reason"),
        include_source_row: boolean(reader, &fields, "include_source_row"),
        rate: rate(reader, &fields),
        per_source: fields.group("per_source").map(|given| per_source(reader, &given)).unwrap_or_default(),
    })
}

fn boolean(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> bool {
    fields.get(key).and_then(|given| reader.boolean(&given)).unwrap_or(true)
}

fn rate(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Rate {
    Rate {
        max_rate: fields.get("max_rate").and_then(|given| max_rate(reader, &given)),
        min_records: fields.get("min_records").and_then(|given| reader.whole(&given, 0, u64::MAX)),
    }
}

fn max_rate(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<f64>> {
    let rate = reader.number(given, "a number above 0 and up to 1")?;
    if rate.value > 0.0 && rate.value <= 1.0 {
        return Some(rate);
    }
    reader.report(
        Diagnostic::error(Code::E318, "`max_rate` must be above 0 and at most 1")
            .label(rate.span, "outside the range")
            .help("write the share of rows that may be dead letters: `0.1` for one in ten"),
    );
    None
}

fn per_source(reader: &mut Reader<'_>, given: &Given<'_>) -> Vec<(Spanned<String>, SourceDeadLetters)> {
    let entries = reader.mapping(given).unwrap_or_default();
    entries.iter().filter_map(|entry| one_source(reader, entry)).collect()
}

fn one_source(reader: &mut Reader<'_>, entry: &Entry) -> Option<(Spanned<String>, SourceDeadLetters)> {
    let name = Spanned::new(entry.key.text.clone(), entry.key.span);
    let what = format!("`{}` in `per_source`", name.value);
    let fields = reader.fields(&entry.value, what, entry.key.span, &PER_SOURCE)?;
    let path = fields.get("path").and_then(|given| path::written(reader, &given));
    let rate = rate(reader, &fields);
    Some((name, SourceDeadLetters { path, rate }))
}
