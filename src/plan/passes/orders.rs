//! How the rows of each operator are proven to stand, and which sort made their order; and which sources of several
//! files are asked for an order over all of them.
//!
//! A claim that a sort proves counts, whether or not a run then finds that the sort has nothing to do.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::hir::{AggregateStrategy, Aggregation};
use crate::analysis::orders::{Arrangement, Standing, Step, group_by, walk};
use crate::plan::logical::{Edge, LogicalPlan, Node, NodeKind};
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan};

/// How rows stand.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Order {
    /// What is proven.
    pub arrangement: Arrangement,
    /// The sort that made their order, if they have one.
    pub since: Option<OperatorId>,
}

/// For each operator, in plan order, how the rows stand that it gives.
pub fn orders(plan: &PhysicalPlan) -> Vec<Order> {
    let steps = plan.operators().map(|(id, operator)| {
        let read = plan.inputs(id).first().map(|(producer, _)| producer.0 as usize);
        (step(&operator.kind), read)
    });
    let operator = |place: usize| OperatorId(place as u32);
    let order = |found: Standing| Order { arrangement: found.arrangement, since: found.since.map(operator) };
    walk(steps).into_iter().map(order).collect()
}

fn step(kind: &OperatorKind) -> Step<'_> {
    match kind {
        OperatorKind::Sort(sort) if sort.purpose.is_within_files() => Step::Anew,
        OperatorKind::Sort(sort) if !sort.keys.is_empty() => Step::Sorts(&sort.keys),
        OperatorKind::Source(_) => Step::Anew,
        OperatorKind::Transform(transform) => Step::Transforms(&transform.transform),
        OperatorKind::Merge(merge) => Step::Merges(&merge.merge),
        OperatorKind::Cull(cull) => Step::Culls(&cull.cull),
        OperatorKind::Aggregate(aggregate) => Step::Aggregates(&aggregate.aggregation),
        OperatorKind::Reshape(reshape) => Step::Reshapes(&reshape.reshape, &reshape.input),
        OperatorKind::Sort(_)
        | OperatorKind::Route(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Park(_)
        | OperatorKind::Sink(_)
        | OperatorKind::Discard(_) => Step::Keeps,
    }
}

/// Whether an aggregate streams whose rows stand like this. Where it is left to choose, an order has to be proven; if
/// asked to, it also relies on groups that a cull or a reshape has made.
pub fn lets_stream(arrangement: &Arrangement, aggregation: &Aggregation) -> bool {
    let columns = group_by(aggregation);
    match aggregation.strategy {
        AggregateStrategy::Hash => false,
        AggregateStrategy::Auto => arrangement.is_ordered_by(&columns),
        AggregateStrategy::Streaming => arrangement.keeps_together(&columns),
    }
}

/// The sources whose rows have to come in one order over all their files, by name: a correlation key wants the rows of
/// a group side by side, or an aggregate that is to stream relies on that order alone.
pub fn asked_for(plan: &LogicalPlan) -> BTreeSet<String> {
    let names = plan.order();
    let places: BTreeMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let inputs: Vec<Vec<(&Node, &Edge)>> = names.iter().map(|name| plan.inputs(name)).collect();
    let read = |place: usize| inputs[place].first().map(|(producer, _)| places[producer.name.as_str()]);
    let kind = |place: usize| &plan.node(&names[place]).kind;
    let found = walk((0..names.len()).map(|place| (authored_step(kind(place), &inputs[place]), read(place))));
    let asking = |place: usize| match kind(place) {
        NodeKind::Source(source) => (!source.correlation_key.is_empty()).then_some(place),
        NodeKind::Aggregate(aggregation) => {
            let above = &found[read(place)?];
            above.since.filter(|_| relies_on_order(&above.arrangement, aggregation))
        }
        _ => None,
    };
    let makers = (0..names.len()).filter_map(asking);
    makers.filter(|place| matches!(kind(*place), NodeKind::Source(_))).map(|place| names[place].clone()).collect()
}

fn authored_step<'a>(kind: &'a NodeKind, inputs: &[(&Node, &'a Edge)]) -> Step<'a> {
    match kind {
        NodeKind::Source(source) => Step::Reads(source),
        NodeKind::Transform(transform) => Step::Transforms(transform),
        NodeKind::Merge(merge) => Step::Merges(merge),
        NodeKind::Cull(cull) => Step::Culls(cull),
        NodeKind::Aggregate(aggregation) => Step::Aggregates(aggregation),
        NodeKind::Reshape(reshape) => Step::Reshapes(reshape, &inputs[0].1.schema),
        NodeKind::Sort(sort) => Step::Sorts(&sort.keys),
        NodeKind::Route(_) | NodeKind::Distinct(_) | NodeKind::Sink(_) | NodeKind::Discard { .. } => Step::Keeps,
    }
}

/// Whether an aggregate that is to stream can't without the order of its rows.
fn relies_on_order(above: &Arrangement, aggregation: &Aggregation) -> bool {
    let is_asked = aggregation.strategy == AggregateStrategy::Streaming && aggregation.key > 0;
    is_asked && !above.is_grouped_by(&group_by(aggregation))
}
