//! `type: reshape`

use super::ast::{Assignment, CopyFrom, NodeKind, Reshape, ReshapeRule, Synthesis};
use super::fields::{Given, Keys, Reader, elsewhere};
use super::node::Parts;
use super::{rules, sort};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};
use crate::syntax::cxl;
use crate::syntax::yaml::{Entry, Scalar, Value};

const CONFIG: Keys = Keys {
    read: &["partition_by", "order_by", "rules"],
    required: &["partition_by", "rules"],
    refused: &[
        elsewhere("input", "move it out of `config`, beside `name`"),
        elsewhere("removed_to", "remove it: a reshape removes no rows, a cull does"),
    ],
    ..Keys::NONE
};

const IN_MUTATE: &str = "move it into `mutate`: `mutate: { set: { <column>: <value> } }`";
const IN_SYNTHESIZE: &str = "move it into `synthesize`: `synthesize: { copy_from: trigger, overrides: { … } }`";
const RULE: Keys = Keys {
    read: &["name", "when", "mutate", "synthesize"],
    required: &["name", "when"],
    refused: &[
        elsewhere("set", IN_MUTATE),
        elsewhere("copy_from", IN_SYNTHESIZE),
        elsewhere("overrides", IN_SYNTHESIZE),
    ],
    ..Keys::NONE
};

const MUTATE: Keys = Keys { read: &["set"], required: &["set"], ..Keys::NONE };

const SYNTHESIZE: Keys = Keys {
    read: &["copy_from", "overrides"],
    required: &["copy_from"],
    refused: &[elsewhere("set", "call it `overrides`")],
    ..Keys::NONE
};

const COPY_FROM: &[(&str, CopyFrom)] = &[("trigger", CopyFrom::Trigger), ("none", CopyFrom::Nothing)];

/// Reads a reshape. `None`, reported, if a part that it can't do without is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let partition_by = reader.require(&config, "partition_by").and_then(|given| reader.column_list(&given));
    let order_by = config.get("order_by").map(|given| sort::fields(reader, &given, &sort::WITHIN_GROUPS));
    let (rules, rules_span) = rules::list(reader, &config, "when", rule)?;
    Some(NodeKind::Reshape(Reshape {
        input: input?,
        partition_by: partition_by?,
        order_by: order_by.unwrap_or_default(),
        rules,
        rules_span,
    }))
}

/// A rule; `None`, reported, if a part of it can't be read.
fn rule(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<ReshapeRule> {
    let place = reader.first_line(given.node.span);
    let label = rules::label(given);
    let fields = reader.fields(given.node, label.clone(), place, &RULE)?;
    let name = rules::name(reader, &fields);
    let when = reader.require(&fields, "when").map(|given| reader.expression(&given));
    let set = fields.get("mutate").map(|given| mutate(reader, &given, &label));
    let synthesize = fields.get("synthesize").map(|given| synthesize(reader, &given, &label));
    let misplaced = fields.incomplete() || fields.refused(&["set", "copy_from", "overrides"]);
    let (set, synthesize) = (set.unwrap_or(Some(Vec::new()))?, synthesize.map_or(Some(None), |read| read.map(Some))?);
    if misplaced && set.is_empty() && synthesize.is_none() {
        return None;
    }
    Some(ReshapeRule { name: name?, when: when?, set, synthesize })
}

/// `mutate`: what is set.
fn mutate(reader: &mut Reader<'_>, given: &Given<'_>, rule: &str) -> Option<Vec<Assignment>> {
    let place = reader.first_line(given.node.span);
    if let Value::Mapping(entries) = &given.node.value
        && let Some(bare) = without_set(entries)
    {
        reader.report(
            Diagnostic::error(Code::E000, format!("`set` is missing in `mutate` of {rule}"))
                .label(bare.key.span, "stands in the place of `set`")
                .help(format!("write `mutate: {{ set: {{ {}: … }} }}`", bare.key.text)),
        );
        return None;
    }
    if given.is_null() {
        reader.no_value(given);
        return None;
    }
    let fields = reader.fields(given.node, format!("`mutate` of {rule}"), place, &MUTATE)?;
    let given = reader.require(&fields, "set")?;
    assignments(reader, &given, &format!("`set` of {rule}"))
}

/// The first of some keys of which none can be meant as `set`: columns that stand one level too high.
fn without_set(entries: &[Entry]) -> Option<&Entry> {
    let is_set = |entry: &Entry| entry.key.text == "<<" || closest(&entry.key.text, ["set"]).is_some();
    entries.first().filter(|_| !entries.iter().any(is_set))
}

fn synthesize(reader: &mut Reader<'_>, given: &Given<'_>, rule: &str) -> Option<Synthesis> {
    if given.is_null() {
        reader.no_value(given);
        return None;
    }
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, format!("`synthesize` of {rule}"), place, &SYNTHESIZE)?;
    let copy_from = reader.require(&fields, "copy_from").and_then(|given| reader.choice(&given, COPY_FROM));
    let overrides = match fields.group("overrides") {
        Some(given) => assignments(reader, &given, &format!("`overrides` of {rule}")),
        None => Some(Vec::new()),
    };
    Some(Synthesis { copy_from: copy_from?, overrides: overrides? })
}

/// Columns with their values, in file order. One whose value can't be read stays, so that it counts as given.
fn assignments(reader: &mut Reader<'_>, given: &Given<'_>, list: &str) -> Option<Vec<Assignment>> {
    if matches!(given.node.value, Value::Sequence(_)) {
        let finding = reader.wrong_kind(given, "a mapping");
        reader.report(finding.help("leave out the `- `: each column is a key, as in `total: \"price * 2\"`"));
        return None;
    }
    let entries = reader.mapping(given)?;
    let columns = entries.iter().filter(|entry| entry.key.text != "<<");
    Some(columns.map(|entry| assignment(reader, entry, list)).collect())
}

fn assignment(reader: &mut Reader<'_>, entry: &Entry, list: &str) -> Assignment {
    let column = Spanned::new(entry.key.text.clone(), entry.key.span);
    let what = format!("`{}` in {list}", column.value).into();
    let given = Given { what, node: &entry.value, key: entry.key.span };
    let value = match &entry.value.value {
        // In the place of a value `null` is CXL's.
        Value::Scalar(scalar) if !scalar.is_null() || scalar.text == "null" => value(reader, scalar),
        _ => reader.expression(&given),
    };
    Assignment { column, value }
}

/// The expression. Where it is a text without quotes of its own, which doesn't parse, what is found says so.
fn value(reader: &mut Reader<'_>, scalar: &Scalar) -> cxl::ast::Expr {
    let text = scalar.text.trim();
    let is_prose = text.contains(' ') && text.chars().all(|c| c.is_alphanumeric() || " .,:-!?".contains(c));
    reader.parsed(scalar, |source, diagnostics| {
        let mut found = Diagnostics::new();
        let expr = cxl::parse_expression(source, &mut found);
        for finding in found.iter().cloned() {
            let help = (is_prose && finding.help.is_none()).then(|| own_quotes(text));
            diagnostics.push(finding.help_opt(help));
        }
        expr
    })
}

/// What to do about a value that is a text without quotes of its own.
pub(crate) fn own_quotes(text: &str) -> String {
    format!("if it is a text, write `\"'{text}'\"`: the outer quotes are those of the file")
}
