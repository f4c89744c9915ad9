//! Chooses how each operator does its work.
//!
//! Before: operators say what they do.
//! After: each also says how, as a phrase that `--explain` prints. An aggregate streams or hashes; what streams is no
//! buffer.
//!
//! An aggregate streams where the rows of a group are proven to come side by side, unless they carry a correlation key:
//! then a group that fails takes others with it. The rows of a single group always do. Both ways give the same rows in
//! the same order.

use super::orders::{self, Order};
use crate::analysis::hir::{Format, MergeMode, Schema, SortKey};
use crate::analysis::orders::{Arrangement, OrderKey};
use crate::plan::physical::{
    AggregateOperator, Operator, OperatorId, OperatorKind, PhysicalPlan, RouteOperator, SortOperator, SortPurpose,
};

/// Runs the pass.
pub fn choose_strategies(mut plan: PhysicalPlan) -> PhysicalPlan {
    let orders = orders::orders(&plan);
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let above = plan.inputs(id).first().map(|(producer, _)| orders[producer.0 as usize].clone());
        let operator = plan.operator_mut(id);
        if let (OperatorKind::Aggregate(aggregate), Some(order)) = (&mut operator.kind, above)
            && streams(aggregate, &order)
        {
            (aggregate.streams, aggregate.rest) = (true, None);
        }
        operator.strategy = strategy(operator);
    }
    plan
}

fn streams(aggregate: &AggregateOperator, order: &Order) -> bool {
    orders::lets_stream(&order.arrangement, &aggregate.aggregation) && aggregate.input.keys().next().is_none()
}

fn strategy(operator: &Operator) -> String {
    match &operator.kind {
        OperatorKind::Source(source) => format!("{} blocks", format_name(source.source.format)),
        OperatorKind::Transform(_) => "a column at a time".to_string(),
        OperatorKind::Route(route) => route_strategy(route),
        OperatorKind::Sink(sink) => format!("{}, encoded block by block", format_name(sink.sink.format)),
        OperatorKind::Merge(merge) => merge_strategy(merge.merge.mode),
        OperatorKind::Sort(sort) => sort_strategy(sort),
        OperatorKind::Cull(cull) => {
            format!("hash groups of {}", partition(&cull.partition_names, cull.cull.hidden_keys.len()))
        }
        OperatorKind::Aggregate(aggregate) => aggregate_strategy(aggregate),
        OperatorKind::Reshape(reshape) => {
            format!("hash groups of {}", partition(&reshape.partition_names, reshape.reshape.hidden_keys.len()))
        }
        OperatorKind::Distinct(distinct) => {
            let names = distinct.key.iter().map(|column| distinct.schema.columns[*column].name.as_str());
            format!("a hash table of {}", names.collect::<Vec<_>>().join(", "))
        }
        OperatorKind::Park(_) => "rows in order".to_string(),
        OperatorKind::Discard(_) => "counts rows".to_string(),
    }
}

fn aggregate_strategy(aggregate: &AggregateOperator) -> String {
    let key = &aggregate.aggregation.grouped.columns[..aggregate.aggregation.key];
    let names: Vec<String> = key.iter().filter(|column| !column.hidden).map(|column| column.name.clone()).collect();
    let groups = partition(&names, key.len() - names.len());
    match aggregate.streams {
        true if key.is_empty() => format!("one group of {groups}"),
        true => format!("one group of {groups} at a time"),
        false => format!("hash groups of {groups}"),
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
        SortPurpose::Repair => "only if a file breaks this order: stable",
        SortPurpose::RepairFiles => "only if a file breaks this order: each file on its own, stable",
        SortPurpose::CorrelationKey | SortPurpose::MergeFiles | SortPurpose::Sink => "stable",
    };
    match keys.as_str() {
        "" => dropped.trim_start_matches(", ").to_string(),
        _ => format!("{keys}{dropped}; {how}"),
    }
}

/// Sort keys as a list: `order_id, placed desc, note nulls first`.
pub fn key_list(keys: &[SortKey], schema: &Schema) -> String {
    order_list(&Arrangement::sorted(keys).keys, schema)
}

/// The same of an order, of which a key may be found in several columns: `order_id = id desc`. Hidden ones are named
/// only where there is no other.
pub fn order_list(keys: &[OrderKey], schema: &Schema) -> String {
    let key = |key: &OrderKey| {
        let (hidden, visible): (Vec<_>, Vec<_>) =
            key.columns.iter().map(|column| &schema.columns[*column]).partition(|column| column.hidden);
        let named = if visible.is_empty() { hidden } else { visible };
        let names: Vec<&str> = named.into_iter().map(|column| column.name.as_str()).collect();
        let direction = if key.descending { " desc" } else { "" };
        let nulls = if key.nulls_first { " nulls first" } else { "" };
        format!("{}{direction}{nulls}", names.join(" = "))
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
