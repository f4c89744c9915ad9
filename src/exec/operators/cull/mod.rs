//! Sets whole groups aside.
//!
//! Workers turn a batch into resting rows, the keys of its groups with their hashes, and the arguments of the
//! aggregates. The finisher numbers the groups and adds to the aggregates, block after block. When all rows are there
//! the rules are asked about one row a group, and the places of the rows are put in order: each port gives its groups
//! as they were first seen, the rows of a group in a piece.

mod collect;
mod fill;
mod order;
mod text;

use std::sync::Arc;

use crate::exec::aggregate::Accumulator;
use crate::exec::eval::Rules;
use crate::exec::keys::{GroupTable, KeyHasher};
use crate::exec::memory::Charge;
use crate::exec::rest::Rows;
use crate::plan::physical::CullOperator;

use super::buffer::{Buffer, BufferContext, Collector};
use super::operands::reads_column;
use collect::CullCollector;
use fill::{Firsts, Group};

/// A cull's two sides.
pub(super) fn new<'p>(
    spec: &'p CullOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let cull = &spec.cull;
    let read = |position: &usize| cull.rules.iter().any(|rule| reads_column(&rule.predicate, *position));
    let firsts: Vec<usize> = (0..cull.partition_by.len()).filter(read).collect();
    let columns = firsts.iter().map(|position| cull.partition_by[*position]).collect();
    let decisions = || Charge::new(context.arbitrator, spec.decision_consumer);
    let buffer = Group {
        spec,
        operator: context.operator,
        constants: Arc::clone(&context.constants),
        codec: Arc::clone(&context.codec),
        rules: Rules::new(&cull.rules, Arc::clone(&context.constants)),
        rows: Rows::default(),
        blocks: Vec::new(),
        rows_charge: Charge::new(context.arbitrator, spec.rest.consumer),
        table: GroupTable::new(decisions()),
        firsts: Firsts::new(firsts),
        accumulators: cull.aggregates.iter().map(Accumulator::new).collect(),
        decisions: decisions(),
    };
    (Arc::new(CullCollector::new(spec, columns, context, KeyHasher::default())), Box::new(buffer))
}
