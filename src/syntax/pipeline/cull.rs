//! `type: cull`

use super::ast::{Cull, CullRule, NodeKind};
use super::fields::{Fields, Given, Keys, Reader, elsewhere};
use super::node::Parts;
use super::sort;
use crate::diagnostics::{Span, Spanned};
use crate::syntax::yaml::Value;

const CONFIG: Keys = Keys {
    read: &["partition_by", "removed_to", "rules", "order_by"],
    refused: &[elsewhere("input", "move it out of `config`, beside `name`")],
};

const RULE: Keys = Keys { read: &["name", "drop_group_when"], refused: &[] };

/// Reads a cull. `None`, reported, if a part that it can't do without is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let partition_by = reader.require(&config, "partition_by").and_then(|given| partition_by(reader, &given));
    let removed_to = reader.require(&config, "removed_to").and_then(|given| reader.string(&given));
    let rules = rules(reader, &config);
    let order_by = config.group("order_by").map(|given| sort::fields(reader, &given, &sort::WITHIN_GROUPS));
    let (rules, rules_span) = rules?;
    Some(NodeKind::Cull(Cull {
        input: input?,
        partition_by: partition_by?,
        removed_to: removed_to?,
        rules,
        rules_span,
        order_by: order_by.unwrap_or_default(),
    }))
}

/// `partition_by`, whose place is its value, or the key where that runs over several lines.
fn partition_by(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<Vec<Spanned<String>>>> {
    let fields = reader.strings(given)?;
    let one_line = reader.first_line(given.node.span) == given.node.span;
    Some(Spanned::new(fields, if one_line { given.node.span } else { given.key }))
}

/// The rules in file order, and where `rules` stands. `None`, reported, if there are some but none can be read.
fn rules(reader: &mut Reader<'_>, config: &Fields<'_>) -> Option<(Vec<CullRule>, Span)> {
    let given = reader.require(config, "rules")?;
    let items = reader.list(&given)?;
    let rules: Vec<CullRule> = items.iter().filter_map(|item| rule(reader, item)).collect();
    (items.is_empty() || !rules.is_empty()).then_some((rules, given.key))
}

fn rule(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<CullRule> {
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, rule_label(given), place, &RULE)?;
    let name = reader.require(&fields, "name").and_then(|given| reader.string(&given));
    let predicate = reader.require(&fields, "drop_group_when").map(|given| reader.expression(&given));
    Some(CullRule { name: name?, predicate: predicate? })
}

/// What messages call a rule.
fn rule_label(given: &Given<'_>) -> String {
    let Value::Mapping(entries) = &given.node.value else { return "this rule".to_owned() };
    let name = entries.iter().find(|entry| entry.key.text == "name").map(|entry| &entry.value.value);
    match name {
        Some(Value::Scalar(name)) if !name.text.is_empty() => format!("rule `{}`", name.text),
        _ => "this rule".to_owned(),
    }
}
