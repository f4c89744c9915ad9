//! Sets whole groups aside.
//!
//! Workers turn a batch into resting rows, the keys of its groups with their hashes, and the arguments of the
//! aggregates. The finisher numbers the groups and adds to the aggregates, block after block. When all rows are there
//! the rules are asked about one row a group. Each port gives its groups as they were first seen, the rows of a group in
//! a piece.
//!
//! Rows can go to disk, what is decided on can't. `collect` shows the order of the rows of a group: where that isn't the
//! order they came in, the keys that order them are part of what is decided on.

mod collect;
mod decide;
mod fill;
mod firsts;
mod kept;

use std::sync::Arc;

use crate::analysis::hir::{AggregateFunction, Cull};
use crate::exec::aggregate::Accumulator;
use crate::exec::eval::Rules;
use crate::exec::keys::KeyHasher;
use crate::exec::memory::{Charge, Segments};
use crate::plan::physical::CullOperator;

use super::buffer::{Buffer, BufferContext, Collector};
use super::grouped::{FailedGroups, GroupNames, Store};
use super::operands::reads_column;
use collect::CullCollector;
use decide::Ordered;
use fill::Culling;
use firsts::Firsts;
use kept::Kept;

/// The port of removed groups.
pub(super) const REMOVED: usize = 1;

/// A cull's two sides.
pub(super) fn new<'p>(
    spec: &'p CullOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let cull = &spec.cull;
    let (arbitrator, groups) = (context.arbitrator, spec.decision_consumer);
    let read = |position: &usize| cull.rules.iter().any(|rule| reads_column(&rule.predicate, *position));
    let firsts: Vec<usize> = (0..cull.partition_by.len()).filter(read).collect();
    let rules = reading_rules(cull);
    let shows_order = cull.aggregates.iter().any(|aggregate| aggregate.function == AggregateFunction::Collect);
    let charge = || Charge::new(arbitrator, groups);
    let buffer = Culling {
        spec,
        operator: context.operator,
        rules: Rules::new(&cull.rules, Arc::clone(&context.constants)),
        reading_rules: rules.clone(),
        names: names(spec, context),
        store: Store::new(arbitrator, context.disk, spec.rest.consumer, groups),
        kept: Kept {
            spec,
            firsts: Firsts::new(firsts.clone()),
            accumulators: cull.aggregates.iter().map(Accumulator::new).collect(),
            starts: spec.group_can_fail.then(Segments::default),
            ordered: (shows_order && !cull.order_by.is_empty()).then(Ordered::default),
        },
        failed: FailedGroups::new(charge(), Some(Arc::clone(&context.codec))),
        decisions: charge(),
    };
    let columns = firsts.iter().map(|position| cull.partition_by[*position]).collect();
    let collector = CullCollector::new(spec, columns, names(spec, context), &rules, context, KeyHasher::default());
    (Arc::new(collector), Box::new(buffer))
}

fn names<'p>(spec: &'p CullOperator, context: &BufferContext<'p>) -> GroupNames<'p> {
    GroupNames::new(
        context.operator,
        "Cull",
        &spec.schema,
        key_columns(&spec.cull),
        "Cull drop-decision aggregate state",
    )
}

/// The columns that make the key of a group, in order.
fn key_columns(cull: &Cull) -> impl Iterator<Item = usize> + '_ {
    cull.partition_by.iter().chain(&cull.hidden_keys).copied()
}

/// For each aggregate, the first rule that reads it.
fn reading_rules(cull: &Cull) -> Vec<Arc<str>> {
    let first = cull.partition_by.len();
    let reading = |position: usize| cull.rules.iter().find(|rule| reads_column(&rule.predicate, position));
    let name = |position| reading(position).map_or("", |rule| rule.name.as_str()).into();
    (first..first + cull.aggregates.len()).map(name).collect()
}

/// Where a dead letter says that a rule failed.
fn stage(node: &str, rule: &str) -> String {
    format!("cull:{node}:{rule}")
}
