//! `pipeline:`

use super::ast::{Backpressure, ScalarText, Settings, Var};
use super::fields::{Fields, Given, Keys, Reader, Refused, elsewhere, later};
use super::size::parse_size;
use super::values::{is_bool, is_number};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::yaml::{Entry, Node, Scalar, ScalarStyle, Value};

const KEYS: Keys = Keys {
    read: &["name", "memory", "batch_size", "concurrency", "vars", "date_formats"],
    required: &["name"],
    refused: &[
        later("rules_path", "remove it, and write the rules into the `cxl` that uses them"),
        later("metrics", "remove it; the summary of a run shows its counts"),
        Refused { key: "date_locale", code: Code::E119, help: "remove it; `date_formats` says how dates are written" },
        Refused { key: "log_rules", code: Code::E124, help: "remove it" },
        Refused { key: "include_provenance", code: Code::E125, help: "remove it" },
        elsewhere("error_handling", BESIDE),
        elsewhere("nodes", BESIDE),
        elsewhere("memory_limit", "write `memory: { limit: … }`, with a size such as `512M`"),
        elsewhere("threads", THREADS),
        elsewhere("workers", THREADS),
    ],
    ..Keys::NONE
};

const BESIDE: &str = "move it out of `pipeline`: it is a key of the file itself, and begins its line";
const THREADS: &str = "write `concurrency: { threads: … }`";

const MEMORY: Keys = Keys { read: &["limit", "backpressure", "resume_threshold"], ..Keys::NONE };

const CONCURRENCY: Keys = Keys {
    read: &["threads"],
    refused: &[later("chunk_size", "remove it; `batch_size` bounds how many rows go together")],
    ..Keys::NONE
};

/// The most worker threads, here and on the command line.
const MOST_THREADS: u64 = 1024;

const VAR: Keys = Keys { read: &["type", "default"], required: &["type"], ..Keys::NONE };

const BACKPRESSURE: &[(&str, Backpressure)] =
    &[("pause", Backpressure::Pause), ("spill", Backpressure::Spill), ("both", Backpressure::Both)];

/// The types of variables.
const TYPES: &[&str] = &["string", "int", "float", "bool", "date", "date_time"];

/// Reads the run-wide settings, and the pipeline's name. What can't be read is reported and left at its default.
pub(super) fn read(reader: &mut Reader<'_>, given: &Given<'_>) -> (Option<Spanned<String>>, Settings) {
    let mut settings = Settings::default();
    let Some(fields) = reader.fields(given.node, "`pipeline`".to_owned(), given.key, &KEYS) else {
        return (None, settings);
    };
    let name = reader.require(&fields, "name").and_then(|given| reader.name(&given));
    if let Some(given) = fields.group("memory") {
        memory(reader, &given, &mut settings);
    }
    settings.batch_size = fields.get("batch_size").and_then(|given| reader.whole(&given, 1, u64::MAX));
    settings.threads = fields.group("concurrency").and_then(|given| threads(reader, &given));
    let vars = fields.group("vars").map(|given| vars(reader, &given));
    settings.vars_complete = !fields.incomplete() && vars.as_ref().is_none_or(Option::is_some);
    settings.vars = vars.flatten().unwrap_or_default();
    settings.date_formats = fields.group("date_formats").and_then(|given| reader.strings(&given));
    (name, settings)
}

fn memory(reader: &mut Reader<'_>, given: &Given<'_>, settings: &mut Settings) {
    if lone_value(reader, given, "limit") {
        return;
    }
    let Some(fields) = reader.fields(given.node, "`memory`".to_owned(), given.key, &MEMORY) else { return };
    settings.memory_limit = fields.get("limit").and_then(|given| limit(reader, &given));
    settings.backpressure = fields.get("backpressure").and_then(|given| reader.choice(&given, BACKPRESSURE));
    settings.resume_threshold = fields.get("resume_threshold").and_then(|given| threshold(reader, &given));
}

/// `memory.limit` in bytes.
fn limit(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<u64>> {
    let scalar = reader.scalar(given, "a size such as `512M`")?;
    let reason = match parse_size(&scalar.text) {
        Ok(bytes) => return Some(Spanned::new(bytes, scalar.span)),
        Err(reason) => reason,
    };
    let finding = Diagnostic::error(Code::E000, format!("`memory.limit` is not a size: `{}`", scalar.text.trim()))
        .label(scalar.span, "expected a size such as `512M`");
    // `4GB`, `4GiB` and `4 G` can only mean one thing.
    let upper = scalar.text.trim().to_ascii_uppercase();
    let short = upper.trim_end_matches('B').trim_end_matches('I').replace(' ', "");
    let meant = short.ends_with(['K', 'M', 'G']) && parse_size(&short).is_ok();
    reader.report(match meant {
        true => finding.help(format!("write `{short}`")).fix(scalar.span, short),
        false => finding.help(reason),
    });
    None
}

fn threshold(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<f64>> {
    let wanted = "a number above 0 and below 0.80";
    let scalar = reader.scalar(given, wanted)?;
    let threshold = match is_out_of_reach(scalar) {
        true => Spanned::new(f64::NAN, scalar.span),
        false => reader.number(given, wanted)?,
    };
    if threshold.value > 0.0 && threshold.value < 0.80 {
        return Some(threshold);
    }
    reader.report(
        Diagnostic::error(Code::E324, "`resume_threshold` must be above 0 and below 0.80")
            .label(threshold.span, "outside the range")
            .note("at 80 % of the limit memory is taken back, so work has to resume below that")
            .help("remove it to use 0.70"),
    );
    None
}

/// Whether a scalar is a number in YAML that is in no range: `.inf`, `-.inf`, `.nan`.
fn is_out_of_reach(scalar: &Scalar) -> bool {
    let unsigned = scalar.text.strip_prefix(['+', '-']).unwrap_or(&scalar.text);
    scalar.style == ScalarStyle::Plain && [".inf", ".nan"].iter().any(|name| unsigned.eq_ignore_ascii_case(name))
}

fn threads(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<u64>> {
    if lone_value(reader, given, "threads") {
        return None;
    }
    let fields = reader.fields(given.node, "`concurrency`".to_owned(), given.key, &CONCURRENCY)?;
    let threads = fields.get("threads")?;
    reader.whole(&threads, 1, MOST_THREADS)
}

/// Whether there is one value where a mapping is wanted, which is reported; `key` is the one that it is meant for.
fn lone_value(reader: &mut Reader<'_>, given: &Given<'_>, key: &str) -> bool {
    let Value::Scalar(scalar) = &given.node.value else { return false };
    let finding = reader.wrong_kind(given, "a mapping");
    let mended = format!("{{ {key}: {} }}", reader.written(scalar.span));
    let name = reader.written(given.key);
    let help = format!("write `{name}: {mended}`");
    let certain = reader.first_line(scalar.span) == scalar.span && !scalar.text.contains([',', '{', '}']);
    reader.report(if certain { finding.help(help).fix(scalar.span, mended) } else { finding });
    true
}

/// The variables. `None`, reported, if they are no mapping.
fn vars(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Vec<Var>> {
    let entries = reader.mapping(given)?;
    Some(entries.iter().map(|entry| var(reader, entry)).collect())
}

/// A variable. One that can't be read stays, without a type, so that it can be referred to.
fn var(reader: &mut Reader<'_>, entry: &Entry) -> Var {
    let name = Spanned::new(entry.key.text.clone(), entry.key.span);
    let what = format!("variable `{}`", name.value);
    let fields = match &entry.value.value {
        Value::Mapping(_) => reader.fields(&entry.value, what, entry.key.span, &VAR),
        Value::Error => None,
        _ => {
            let given = Given { what: what.into(), node: &entry.value, key: entry.key.span };
            let finding = reader.wrong_kind(&given, "a mapping with a `type`");
            let mended = with_type(reader, &entry.value);
            reader.report(match mended {
                Some(mended) => finding.help(format!("write `{mended}`")).fix(entry.value.span, mended),
                None => finding.help("write a mapping such as `{ type: int, default: 3 }`"),
            });
            None
        }
    };
    let Some(fields) = fields else { return Var { name, ty: None, default: None } };
    let ty = reader.required_type(&fields, "type");
    let default = default(reader, &fields);
    Var { name, ty, default }
}

/// What a bare value is as a variable: a type, or a default with the type that it has.
fn with_type(reader: &Reader<'_>, node: &Node) -> Option<String> {
    let Value::Scalar(scalar) = &node.value else { return None };
    let written = reader.written(scalar.span);
    if scalar.is_null() || reader.first_line(scalar.span) != scalar.span || written.contains([',', '{', '}']) {
        return None;
    }
    let plain = scalar.style == ScalarStyle::Plain;
    let ty = match scalar.text.as_str() {
        name if plain && TYPES.contains(&name) => return Some(format!("{{ type: {name} }}")),
        text if plain && is_bool(text) => "bool",
        text if plain && text.parse::<i64>().is_ok() => "int",
        text if plain && is_number(text) => "float",
        _ => "string",
    };
    Some(format!("{{ type: {ty}, default: {written} }}"))
}

/// A default; no default and null are one.
fn default(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Spanned<ScalarText>> {
    let given = fields.group("default")?;
    let scalar = reader.scalar(&given, "one value")?;
    let quoted = scalar.style != ScalarStyle::Plain;
    Some(Spanned::new(ScalarText { text: scalar.text.clone(), quoted }, scalar.span))
}
