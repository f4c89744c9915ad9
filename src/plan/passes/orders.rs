//! How the rows of each operator are proven to stand, and which sort made their order; and which sources of several
//! files are asked for an order over all of them.
//!
//! A claim that a sort proves counts, whether or not a run then finds that the sort has nothing to do.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::hir::{AggregateStrategy, Aggregation};
use crate::analysis::orders::{Arrangement, Step, group_by, source_order};
use crate::plan::logical::{LogicalPlan, NodeKind};
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
    let mut found: Vec<Order> = Vec::new();
    for (id, _) in plan.operators() {
        let inputs = plan.inputs(id);
        let above = inputs.first().map(|(producer, _)| found[producer.0 as usize].clone()).unwrap_or_default();
        let step = step(&plan.operator(id).kind);
        let since = if matches!(step, Step::Sorts(_)) { Some(id) } else { above.since };
        found.push(Order { arrangement: step.behind(&above.arrangement), since });
    }
    found
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
        AggregateStrategy::Streaming => arrangement.is_ordered_by(&columns) || arrangement.is_grouped_by(&columns),
    }
}

/// The sources whose rows have to come in one order over all their files, by name: a correlation key wants the rows of
/// a group side by side, or an aggregate that is to stream relies on that order alone.
pub fn asked_for(plan: &LogicalPlan) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    let mut found: BTreeMap<String, (Arrangement, Option<String>)> = BTreeMap::new();
    for name in plan.order() {
        let inputs = plan.inputs(&name);
        let (above, source) = inputs.first().map(|(producer, _)| found[&producer.name].clone()).unwrap_or_default();
        let kind = &plan.node(&name).kind;
        match kind {
            NodeKind::Source(source) if !source.correlation_key.is_empty() => drop(asked.insert(name.clone())),
            NodeKind::Aggregate(aggregation) if relies_on_order(&above, aggregation) => asked.extend(source.clone()),
            _ => {}
        }
        let sorted;
        let (step, source) = match kind {
            NodeKind::Source(source) => {
                sorted = source_order(source);
                (Step::Sorts(&sorted), Some(name.clone()))
            }
            NodeKind::Transform(transform) => (Step::Transforms(transform), source),
            NodeKind::Merge(merge) => (Step::Merges(merge), source),
            NodeKind::Cull(cull) => (Step::Culls(cull), source),
            NodeKind::Aggregate(aggregation) => (Step::Aggregates(aggregation), source),
            NodeKind::Reshape(reshape) => (Step::Reshapes(reshape, &inputs[0].1.schema), source),
            NodeKind::Sort(sort) => (Step::Sorts(&sort.keys), None),
            NodeKind::Route(_) | NodeKind::Distinct(_) | NodeKind::Sink(_) | NodeKind::Discard { .. } => {
                (Step::Keeps, source)
            }
        };
        found.insert(name, (step.behind(&above), source));
    }
    asked
}

/// Whether an aggregate that is to stream can't without the order of its rows.
fn relies_on_order(above: &Arrangement, aggregation: &Aggregation) -> bool {
    let is_asked = aggregation.strategy == AggregateStrategy::Streaming && aggregation.key > 0;
    is_asked && !above.is_grouped_by(&group_by(aggregation))
}
