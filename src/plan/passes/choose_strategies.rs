//! Chooses how each operator does its work.
//!
//! Before: operators say what they do.
//! After: each also says how, as a phrase that `--explain` prints.

use super::expr;
use crate::analysis::hir::{Format, Transform};
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, RouteOperator};

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
        OperatorKind::Source(source) => format!("{} blocks", format_name(source.source.format)),
        OperatorKind::Transform(transform) => transform_strategy(&transform.transform),
        OperatorKind::Route(route) => route_strategy(route),
        OperatorKind::Sink(sink) => format!("{}, encoded block by block", format_name(sink.sink.format)),
        OperatorKind::Discard(_) => "counts rows".to_string(),
        _ => todo!(),
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

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Csv => "csv",
    }
}
