//! Chooses how each operator does its work.
//!
//! Before: operators say what they do.
//! After: each also says how, as a phrase that `--explain` prints.

use super::expr;
use crate::analysis::hir::{Format, MergeMode, Schema, SortKey, Transform};
use crate::plan::physical::{
    Operator, OperatorId, OperatorKind, PhysicalPlan, RouteOperator, SortOperator, SortPurpose,
};

/// Runs the pass.
pub fn choose_strategies(mut plan: PhysicalPlan) -> PhysicalPlan {
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let strategy = strategy(plan.operator(id));
        plan.operator_mut(id).strategy = strategy;
    }
    plan
}

fn strategy(operator: &Operator) -> String {
    match &operator.kind {
        OperatorKind::Aggregate(_) | OperatorKind::Reshape(_) | OperatorKind::Distinct(_) => todo!(),
        OperatorKind::Source(source) => format!("{} blocks", format_name(source.source.format)),
        OperatorKind::Transform(transform) => transform_strategy(&transform.transform),
        OperatorKind::Route(route) => route_strategy(route),
        OperatorKind::Sink(sink) => format!("{}, encoded block by block", format_name(sink.sink.format)),
        OperatorKind::Merge(merge) => merge_strategy(merge.merge.mode),
        OperatorKind::Sort(sort) => sort_strategy(sort),
        OperatorKind::Cull(cull) => {
            format!("hash groups of {}, in memory", partition(&cull.partition_names, cull.cull.hidden_keys.len()))
        }
        OperatorKind::Park(_) => "rows in order, in memory".to_string(),
        OperatorKind::Discard(_) => "counts rows".to_string(),
    }
}

fn transform_strategy(transform: &Transform) -> String {
    match expr::distinct_keys(transform).count() {
        0 => "a column at a time".to_string(),
        _ => "a column at a time, distinct by a hash set in memory".to_string(),
    }
}

fn route_strategy(route: &RouteOperator) -> String {
    let mode = if route.route.inclusive { "every match" } else { "first match" };
    format!("{mode}, {} branches", route.branches.len())
}

fn merge_strategy(mode: MergeMode) -> String {
    match mode {
        MergeMode::Concat => "one input behind the other".to_string(),
        MergeMode::Interleave => "one row of each input in turn".to_string(),
        MergeMode::Seeded(seed) => format!("a row of an input picked by seed {seed}"),
    }
}

fn sort_strategy(sort: &SortOperator) -> String {
    let keys = key_list(&sort.keys, &sort.schema);
    let dropped: Vec<_> = sort.drop_nulls.iter().map(|column| sort.schema.columns[*column].name.as_str()).collect();
    let dropped = match dropped.as_slice() {
        [] => String::new(),
        columns => format!(", rows with a null in {} are dropped", columns.join(" or ")),
    };
    let how = match sort.purpose {
        SortPurpose::Repair => "only if a file breaks this order: stable, in memory",
        SortPurpose::CorrelationKey | SortPurpose::MergeFiles | SortPurpose::Sink => "stable, in memory",
    };
    match keys.as_str() {
        "" => format!("in memory{dropped}"),
        _ => format!("{keys}{dropped}; {how}"),
    }
}

/// Sort keys as a list: `order_id, placed desc, note nulls first`.
pub fn key_list(keys: &[SortKey], schema: &Schema) -> String {
    let key = |key: &SortKey| {
        let direction = if key.descending { " desc" } else { "" };
        let nulls = if key.nulls_first { " nulls first" } else { "" };
        format!("{}{direction}{nulls}", schema.columns[key.column].name)
    };
    keys.iter().map(key).collect::<Vec<_>>().join(", ")
}

fn partition(names: &[String], hidden: usize) -> String {
    match (names, hidden) {
        ([], _) => "the whole input".to_string(),
        (names, 0) => names.join(", "),
        (names, _) => format!("{} and the correlation key", names.join(", ")),
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Csv => "csv",
    }
}
