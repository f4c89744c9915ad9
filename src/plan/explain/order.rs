//! Which order the rows of each operator have: what they are sorted by, since where, and what ended that.

use crate::analysis::hir::{MergeMode, Schema, SortKey};
use crate::plan::passes::{Order, key_list, orders};
use crate::plan::physical::{
    AggregateOperator, CullOperator, OperatorId, OperatorKind, PhysicalPlan, TransformOperator,
};

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
        OperatorKind::Sort(sort) if !sort.keys.is_empty() => {
            format!("sorted by {}", key_list(&sort.keys, &sort.schema))
        }
        OperatorKind::Transform(transform) => {
            format!("{}{}", kept(&transform.output), rewritten(transform, above, own))
        }
        OperatorKind::Merge(merge) if above.len() == 1 => kept(&merge.output),
        OperatorKind::Merge(merge) => {
            let lost = lost(above, &merge.inputs[0], "several inputs meet here");
            format!("{}{lost}", in_turn(merge.merge.mode))
        }
        OperatorKind::Cull(cull) => groups_of_cull(plan, cull, above, own),
        OperatorKind::Reshape(reshape) => {
            let within = within(&reshape.reshape.order_by, &reshape.input);
            let lost = lost(above, &reshape.input, "groups move together");
            let adds = reshape.reshape.rules.iter().any(|rule| rule.synthesize.is_some());
            let added = if adds { ", added rows behind them" } else { "" };
            format!("groups by their first row, {within} within a group{added}{lost}")
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
    let since = order.since.filter(|_| !order.keys.is_empty())?;
    Some(format!("sorted by {} (since {})", key_list(&order.keys, schema), plan.operator(since).label()))
}

/// What a transform ended of an order, if it did.
fn rewritten(transform: &TransformOperator, above: &[&Order], own: &Order) -> String {
    let lost = above.first().and_then(|order| order.keys.get(own.keys.len()));
    lost.map_or_else(String::new, |key| {
        format!("; no longer by {}, which is written here", transform.input.columns[key.column].name)
    })
}

fn in_turn(mode: MergeMode) -> &'static str {
    match mode {
        MergeMode::Concat => "one input behind the other",
        MergeMode::Interleave => "one row of each input in turn",
        MergeMode::Seeded(_) => "a row of some input in turn",
    }
}

fn groups_of_cull(plan: &PhysicalPlan, cull: &CullOperator, above: &[&Order], own: &Order) -> String {
    sorted(plan, own, &cull.schema).unwrap_or_else(|| {
        let within = within(&cull.cull.order_by, &cull.schema);
        let lost = lost(above, &cull.schema, "groups move together");
        format!("groups by their first row, {within} within a group{lost}")
    })
}

fn groups_of_aggregate(plan: &PhysicalPlan, aggregate: &AggregateOperator, own: &Order) -> String {
    let groups = if aggregate.aggregation.key == 0 { "one row" } else { "groups by their first row" };
    sorted(plan, own, &aggregate.output).unwrap_or_else(|| groups.to_string())
}

/// How the rows of a group stand.
fn within(order_by: &[SortKey], schema: &Schema) -> String {
    match key_list(order_by, schema) {
        keys if keys.is_empty() => "input order".to_string(),
        keys => keys,
    }
}

/// What ended an order, if there was one.
fn lost(above: &[&Order], schema: &Schema, why: &str) -> String {
    let keys = above.iter().map(|order| key_list(&order.keys, schema)).find(|keys| !keys.is_empty());
    keys.map_or_else(String::new, |keys| format!("; no longer sorted by {keys}: {why}"))
}
