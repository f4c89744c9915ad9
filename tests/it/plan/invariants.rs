//! Plans that are broken by hand, and what the checks say.

use clinker::analysis::hir::Pipeline;
use clinker::plan::passes::invariants::{physical_always, physical_ready};
use clinker::plan::physical::{AggregateOperator, ColumnSet, OperatorId, OperatorKind, PhysicalPlan};

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
    ("buffers without consumers", |plan| plan.consumers.clear()),
    ("an operator in two stages", |plan| {
        let twice = plan.stages[0].segments[0].operators[1];
        plan.stages[1].segments[0].operators.push(twice);
    }),
    ("stages out of order", |plan| plan.stages.reverse()),
    ("a stage without a source", |plan| plan.stages[0].segments[0].head = plan.stages[0].segments[0].operators[1]),
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

const BUFFER_BREAKS: &[(&str, Break)] = &[
    ("nothing", |_| {}),
    ("inputs that are not numbered", |plan| plan.for_each_edge_mut(|_, _, edge| edge.input = 0)),
    ("a stage that starts before its driver is filled", |plan| {
        let last = plan.stages.pop().expect("there are stages");
        plan.stages.insert(0, last);
    }),
    ("a later input before an earlier one", |plan| {
        let position = |name| plan.stages.iter().position(|stage| stage.heads().any(|head| head == find(plan, name)));
        let (second, third) = (position("both.2"), position("both.3"));
        plan.stages.swap(second.expect("it drives"), third.expect("it drives"));
    }),
    ("a stage that does not end at a buffer", |plan| {
        let below = find(plan, "shy");
        plan.stages[1].segments[0].operators.insert(2, below);
    }),
    ("a buffer that drives nothing", |plan| drop(plan.stages.pop())),
    ("a stage that runs twice", |plan| plan.stages.push(plan.stages[9].clone())),
    ("a park that holds too little", |plan| {
        let park = find(plan, "both.3");
        let rest = plan.operator_mut(park).rest_mut().expect("it is a buffer");
        rest.columns = ColumnSet::none(rest.columns.width());
    }),
    ("a park that drops undeclared fields", |plan| {
        let park = find(plan, "both.3");
        plan.operator_mut(park).rest_mut().expect("it is a buffer").carries = false;
    }),
    ("a park that drops the numbers of rows that can fail", |plan| {
        let park = find(plan, "both.3");
        plan.operator_mut(park).rest_mut().expect("it is a buffer").identity = false;
    }),
    ("a cull whose groups are charged to nobody", |plan| {
        let cull = find(plan, "loud");
        let OperatorKind::Cull(cull) = &mut plan.operator_mut(cull).kind else { unreachable!() };
        cull.decision_consumer = cull.rest.consumer;
    }),
];

fn aggregate<'p>(plan: &'p mut PhysicalPlan, name: &str) -> &'p mut AggregateOperator {
    let id = find(plan, name);
    let OperatorKind::Aggregate(aggregate) = &mut plan.operator_mut(id).kind else { unreachable!("it is one") };
    aggregate
}

const GROUP_BREAKS: &[(&str, Break)] = &[
    ("nothing", |_| {}),
    ("an aggregate that neither streams nor holds its groups", |plan| aggregate(plan, "per_day").rest = None),
    ("an aggregate whose group in hand is charged to nobody", |plan| {
        aggregate(plan, "per_bus").group_consumer = usize::MAX;
    }),
    ("an aggregate that stores nothing", |plan| {
        let aggregate = aggregate(plan, "per_bus");
        aggregate.stored = ColumnSet::none(aggregate.stored.width());
    }),
    ("an aggregate that made rows without a route", |plan| {
        plan.dead_letters.routes.pop();
    }),
    ("a reshape whose groups are charged to nobody", |plan| {
        let reshape = find(plan, "legs");
        let OperatorKind::Reshape(reshape) = &mut plan.operator_mut(reshape).kind else { unreachable!() };
        reshape.group_consumer = reshape.rest.consumer;
    }),
    ("a reshape that drops what its dead letters show", |plan| {
        let reshape = find(plan, "legs");
        let rest = plan.operator_mut(reshape).rest_mut().expect("it is a buffer");
        rest.columns = ColumnSet::first(4, rest.columns.width());
    }),
    ("a reshape that drops which rows its dead letters show", |plan| {
        let reshape = find(plan, "legs");
        plan.operator_mut(reshape).rest_mut().expect("it is a buffer").identity = false;
    }),
];

const TURN_BREAKS: &[(&str, Break)] = &[
    ("nothing", |_| {}),
    ("an input that comes in a stage of its own", |plan| {
        let stage = lockstep(plan);
        let apart = plan.stages[stage].segments.remove(0);
        let alone = clinker::plan::physical::Stage { segments: vec![apart] };
        plan.stages.insert(stage, alone);
    }),
    ("a merge in front of what it takes", |plan| {
        let stage = lockstep(plan);
        plan.stages[stage].segments.reverse();
    }),
    ("inputs of a concatenation that don't wait", |plan| {
        let stage = lockstep(plan);
        plan.stages[stage].segments.iter_mut().for_each(|segment| segment.behind.clear());
    }),
    ("a merge that drops the numbers of rows that can fail", |plan| {
        let all = find(plan, "all");
        plan.operator_mut(all).keep_identity(false);
    }),
    ("a merge that drops them where another keeps them", |plan| {
        let poles = find(plan, "poles");
        plan.operator_mut(poles).keep_identity(false);
        plan.for_each_edge_mut(|from, _, edge| {
            if from == poles {
                edge.provenance.uses.clear();
            }
        });
    }),
];

/// The stage of the merge `all`.
fn lockstep(plan: &PhysicalPlan) -> usize {
    let all = find(plan, "all");
    plan.stages.iter().position(|stage| stage.heads().any(|head| head == all)).expect("it heads a segment")
}

#[test]
fn broken_plans_are_found() {
    support::assert_snapshot("plan/invariants_of_groups", &findings(&pipelines::summaries().0, GROUP_BREAKS));
    support::assert_snapshot("plan/invariants", &findings(&pipelines::orders().0, BREAKS));
    support::assert_snapshot("plan/invariants_of_buffers", &findings(&pipelines::meetings().0, BUFFER_BREAKS));
    support::assert_snapshot("plan/invariants_of_turns", &findings(&pipelines::turns().0, TURN_BREAKS));
}

fn findings(pipeline: &Pipeline, breaks: &[(&str, Break)]) -> String {
    let mut shown = String::new();
    for (what, break_it) in breaks {
        let mut plan = plan(pipeline);
        break_it(&mut plan);
        let (rule, found) = match (physical_always(&plan), physical_ready(&plan)) {
            (Err(broken), _) => ("always", broken),
            (_, Err(broken)) => ("ready", broken),
            _ => ("-", "all holds".to_string()),
        };
        shown.push_str(&format!("{what}\n  {rule}: {found}\n"));
    }
    shown
}
