//! `type: cull`

use super::ast::{Cull, CullRule, NodeKind};
use super::fields::{Given, Keys, Reader, elsewhere};
use super::node::Parts;
use super::{rules, sort};
use crate::diagnostics::{Code, Diagnostic, Spanned};

const CONFIG: Keys = Keys {
    read: &["partition_by", "removed_to", "rules", "order_by"],
    required: &["partition_by", "removed_to", "rules"],
    refused: &[elsewhere("input", "move it out of `config`, beside `name`")],
    ..Keys::NONE
};

const NEGATE: &str = "a rule says which groups go: write `drop_group_when: \"not (…)\"`, with the condition for \
     staying between the parentheses; a group for which it is null stays";
const RULE: Keys = Keys {
    read: &["name", "drop_group_when"],
    required: &["name", "drop_group_when"],
    refused: &[
        elsewhere("keep_group_when", NEGATE),
        elsewhere("keep_groups_when", NEGATE),
        elsewhere("keep_group_if", NEGATE),
        elsewhere("keep_when", NEGATE),
        elsewhere("keep_if", NEGATE),
        elsewhere("keep", NEGATE),
        elsewhere("having", NEGATE),
    ],
    ..Keys::NONE
};

/// Reads a cull. `None`, reported, if a part that it can't do without is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let partition_by = reader.require(&config, "partition_by").and_then(|given| reader.column_list(&given));
    let removed_to = reader.require(&config, "removed_to").map(|given| removed_to(reader, &given, node));
    let rules = rules::list(reader, &config, "drop_group_when", rule);
    let order_by = config.get("order_by").map(|given| sort::fields(reader, &given, &sort::WITHIN_GROUPS));
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

/// The port of removed groups, which has a name of its own without a dot. `None`, reported, if it has none.
fn removed_to(reader: &mut Reader<'_>, given: &Given<'_>, node: &Parts<'_>) -> Option<Spanned<String>> {
    let port = reader.string(given)?;
    let name = node.fields.get("name").and_then(|name| name.text()).unwrap_or("cull");
    let (message, label, help) = if port.value.trim().is_empty() {
        let help = format!("choose a name, such as `removed`: it is read as `{name}.removed`");
        ("is empty".to_owned(), "names no port", help)
    } else if port.value == name {
        let help = format!("choose another name, such as `removed`: it is read as `{name}.removed`");
        ("is the cull's own name".to_owned(), "the cull's name is its port of kept groups", help)
    } else if port.value.contains('.') {
        let message = format!("has a dot in it: `{}`", port.value);
        (message, "a dot separates node and port", format!("call it `{}`", port.value.replace('.', "_")))
    } else {
        return (!reader.diagnostics.reports(port.span)).then_some(port);
    };
    let message = format!("`removed_to` of {} {message}", node.label);
    reader.report(Diagnostic::error(Code::E200, message).label(port.span, label).help(help));
    None
}

fn rule(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<CullRule> {
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, rules::label(given), place, &RULE)?;
    let name = rules::name(reader, &fields);
    let predicate = reader.require(&fields, "drop_group_when").map(|given| reader.expression(&given));
    Some(CullRule { name: name?, predicate: predicate? })
}
