//! Which order the rows of each operator have: what they are sorted by, since where, and what ended that.

use crate::analysis::hir::{MergeMode, Schema, SortKey};
use crate::plan::passes::{Order, key_list, order_list, orders};
use crate::plan::physical::{AggregateOperator, OperatorId, OperatorKind, PhysicalPlan, TransformOperator};

/// The order of each operator's rows as a phrase, in plan order; `None` for what only counts rows.
pub fn phrases(plan: &PhysicalPlan) -> Vec<Option<String>> {
    let orders = orders(plan);
    let phrase = |(id, _)| {
        let inputs = plan.inputs(id);
        let above: Vec<&Order> = inputs.iter().map(|(OperatorId(producer), _)| &orders[*producer as usize]).collect();
        phrase(plan, id, &above, &orders[id.0 as usize])
    };
    plan.operators().map(phrase).collect()
}

fn phrase(plan: &PhysicalPlan, id: OperatorId, above: &[&Order], own: &Order) -> Option<String> {
    let operator = plan.operator(id);
    let kept = |schema: &Schema| sorted(plan, own, schema).unwrap_or_else(|| "input order".to_string());
    Some(match &operator.kind {
        OperatorKind::Source(source) => match key_list(&source.source.sort_order, &source.schema).as_str() {
            "" => "file order".to_string(),
            claim => format!("file order; each file claims {claim}"),
        },
        OperatorKind::Sort(sort) if sort.purpose.is_within_files() => {
            format!("file order, each file sorted by {}", key_list(&sort.keys, &sort.schema))
        }
        OperatorKind::Sort(sort) if !sort.keys.is_empty() => {
            format!("sorted by {}", key_list(&sort.keys, &sort.schema))
        }
        OperatorKind::Transform(transform) => {
            format!("{}{}", kept(&transform.output), rewritten(transform, above, own))
        }
        OperatorKind::Merge(merge) if above.len() == 1 => kept(&merge.output),
        OperatorKind::Merge(merge) => {
            let lost = lost(above, own, &merge.inputs[0], "several inputs meet here");
            format!("{}{lost}", in_turn(merge.merge.mode))
        }
        OperatorKind::Cull(cull) => groups(plan, &cull.schema, &cull.cull.order_by, false, above, own),
        OperatorKind::Reshape(reshape) => {
            groups(plan, &reshape.input, &reshape.reshape.order_by, reshape.reshape.adds_rows(), above, own)
        }
        OperatorKind::Aggregate(aggregate) => groups_of_aggregate(plan, aggregate, own),
        OperatorKind::Sink(sink) => kept(&sink.schema),
        OperatorKind::Discard(_) => return None,
        OperatorKind::Sort(_) | OperatorKind::Route(_) | OperatorKind::Distinct(_) | OperatorKind::Park(_) => {
            kept(operator.output()?)
        }
    })
}

/// `sorted by id, day desc (since sort.__repair_trips)`; `None` where no order is proven.
fn sorted(plan: &PhysicalPlan, order: &Order, schema: &Schema) -> Option<String> {
    let keys = &order.arrangement.keys;
    let since = order.since.filter(|_| !keys.is_empty())?;
    Some(format!("sorted by {} (since {})", order_list(keys, schema), plan.operator(since).label()))
}

/// What a transform ended of an order, if it did: by writing a column, or by leaving it out.
fn rewritten(transform: &TransformOperator, above: &[&Order], own: &Order) -> String {
    let lost = above.first().and_then(|order| order.arrangement.keys.get(own.arrangement.keys.len()));
    lost.map_or_else(String::new, |key| {
        let names = || key.columns.iter().map(|column| transform.input.columns[*column].name.as_str());
        let written = names().find(|name| transform.output.position(name).is_some());
        match written.or_else(|| names().next()) {
            Some(name) if written.is_some() => format!("; no longer by {name}, which is written here"),
            Some(name) => format!("; no longer by {name}, which is dropped here"),
            None => String::new(),
        }
    })
}

fn in_turn(mode: MergeMode) -> &'static str {
    match mode {
        MergeMode::Concat => "one input behind the other",
        MergeMode::Interleave => "one row of each input in turn",
        MergeMode::Seeded(_) => "a row of some input in turn",
    }
}

/// The groups of a cull or a reshape, which may add rows.
fn groups(
    plan: &PhysicalPlan,
    schema: &Schema,
    order_by: &[SortKey],
    adds: bool,
    above: &[&Order],
    own: &Order,
) -> String {
    let sorted = sorted(plan, own, schema);
    let lost = lost(
        above,
        own,
        schema,
        if sorted.is_some() { "rows of a group move or change" } else { "groups move together" },
    );
    if lost.is_empty()
        && order_by.is_empty()
        && !adds
        && let Some(sorted) = sorted
    {
        return sorted;
    }
    let groups = sorted.unwrap_or_else(|| "groups by their first row".to_string());
    let within = match key_list(order_by, schema) {
        keys if keys.is_empty() => "input order".to_string(),
        keys => keys,
    };
    let added = if adds { ", added rows behind them" } else { "" };
    format!("{groups}, {within} within a group{added}{lost}")
}

fn groups_of_aggregate(plan: &PhysicalPlan, aggregate: &AggregateOperator, own: &Order) -> String {
    let groups = if aggregate.aggregation.key == 0 { "one row" } else { "groups by their first row" };
    sorted(plan, own, &aggregate.output).unwrap_or_else(|| groups.to_string())
}

/// What ended of an order, if there was one.
fn lost(above: &[&Order], own: &Order, schema: &Schema, why: &str) -> String {
    let behind = |order: &&Order| order.arrangement.keys.get(own.arrangement.keys.len()..).unwrap_or_default().to_vec();
    let lost = above.iter().map(behind).find(|keys| !keys.is_empty());
    lost.map_or_else(String::new, |keys| format!("; no longer sorted by {}: {why}", order_list(&keys, schema)))
}
