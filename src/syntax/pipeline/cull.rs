//! `type: cull`

use super::ast::{Cull, CullRule, NodeKind};
use super::fields::{Given, Keys, Reader, elsewhere};
use super::node::Parts;
use super::{rules, sort};

const CONFIG: Keys = Keys {
    read: &["partition_by", "removed_to", "rules", "order_by"],
    refused: &[elsewhere("input", "move it out of `config`, beside `name`")],
};

const RULE: Keys = Keys { read: &["name", "drop_group_when"], refused: &[] };

/// Reads a cull. `None`, reported, if a part that it can't do without is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let partition_by = reader.require(&config, "partition_by").and_then(|given| reader.column_list(&given));
    let removed_to = reader.require(&config, "removed_to").and_then(|given| reader.string(&given));
    let rules = rules::list(reader, &config, rule);
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

fn rule(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<CullRule> {
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, rules::label(given), place, &RULE)?;
    let name = reader.require(&fields, "name").and_then(|given| reader.string(&given));
    let predicate = reader.require(&fields, "drop_group_when").map(|given| reader.expression(&given));
    Some(CullRule { name: name?, predicate: predicate? })
}
