//! Plans that are broken by hand, and what the checks say.

use clinker::plan::passes::invariants::{physical_always, physical_ready};
use clinker::plan::physical::{ColumnSet, OperatorId, OperatorKind, PhysicalPlan};

use super::passes::plan;
use super::pipelines;
use crate::support;

fn find(plan: &PhysicalPlan, name: &str) -> OperatorId {
    plan.operators().find(|(_, operator)| operator.name == name).expect("the operator is there").0
}

/// A way to break a plan.
type Break = fn(&mut PhysicalPlan);

const BREAKS: &[(&str, Break)] = &[
    ("nothing", |_| {}),
    ("a port that is not there", |plan| plan.for_each_edge_mut(|_, _, edge| edge.port += 3)),
    ("an edge with too few columns", |plan| {
        plan.for_each_edge_mut(|_, _, edge| edge.columns = ColumnSet::none(1));
    }),
    ("an edge that carries nothing", |plan| {
        plan.for_each_edge_mut(|_, _, edge| edge.columns = ColumnSet::none(edge.columns.width()));
    }),
    ("an edge with another schema", |plan| {
        plan.for_each_edge_mut(|_, _, edge| {
            edge.schema = Default::default();
            edge.columns = ColumnSet::none(0);
            edge.shown = ColumnSet::none(0);
        });
    }),
    ("a source that drops what is carried", |plan| {
        let orders = find(plan, "orders");
        let OperatorKind::Source(source) = &mut plan.operator_mut(orders).kind else { unreachable!() };
        source.carries = false;
    }),
    ("a transform that stores nothing", |plan| {
        let clean = find(plan, "clean");
        let OperatorKind::Transform(clean) = &mut plan.operator_mut(clean).kind else { unreachable!() };
        clean.stored = ColumnSet::none(clean.stored.width());
    }),
    ("a distinct without a consumer", |plan| plan.consumers.clear()),
    ("an operator in two stages", |plan| {
        let twice = plan.stages[0].operators[1];
        plan.stages[1].operators.push(twice);
    }),
    ("stages out of order", |plan| plan.stages.reverse()),
    ("a stage without a source", |plan| plan.stages[0].driver = plan.stages[0].operators[1]),
    ("no strategy", |plan| plan.operator_mut(OperatorId(2)).strategy.clear()),
    ("no buffer class", |plan| plan.operator_mut(OperatorId(2)).buffer_reason.clear()),
    ("edges without provenance", |plan| plan.for_each_edge_mut(|_, _, edge| edge.provenance = Default::default())),
    ("dead letters without their computed columns", |plan| {
        plan.for_each_edge_mut(|_, _, edge| edge.columns.subtract(&edge.shown));
    }),
    ("dead letters without a route", |plan| plan.dead_letters.routes.truncate(1)),
    ("dead letters to no file", |plan| plan.dead_letters.files.clear()),
    ("a dead-letter file with a column twice", |plan| {
        let columns = &mut plan.dead_letters.files[0].columns;
        columns.push(columns[0].clone());
    }),
];

#[test]
fn broken_plans_are_found() {
    let (pipeline, _) = pipelines::orders();
    let mut shown = String::new();
    for (what, break_it) in BREAKS {
        let mut plan = plan(&pipeline);
        break_it(&mut plan);
        let (rule, found) = match (physical_always(&plan), physical_ready(&plan)) {
            (Err(broken), _) => ("always", broken),
            (_, Err(broken)) => ("ready", broken),
            _ => ("-", "all holds".to_string()),
        };
        shown.push_str(&format!("{what}\n  {rule}: {found}\n"));
    }
    support::assert_snapshot("plan/invariants", &shown);
}
