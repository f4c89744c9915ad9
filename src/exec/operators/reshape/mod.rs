//! Rewrites rows of a group and adds new ones.
//!
//! Workers apply the rules while a batch is hot, since each row is seen as it came in, whatever its group; what comes of
//! them are resting rows. The finisher numbers the groups, block after block. A group gives its rows in their order,
//! then the new ones, rule by rule.
//!
//! Where a group can fail and the run goes on, its rows are kept as they came in, too, where they became others, and
//! each row says at its end which it is.

mod collect;
mod fill;

use std::sync::Arc;

use crate::exec::keys::{Blanks, KeyHasher};
use crate::exec::memory::Charge;
use crate::plan::physical::ReshapeOperator;

use super::buffer::{Buffer, BufferContext, Collector};
use super::grouped::{FailedGroups, GroupNames, Store};
use collect::ReshapeCollector;
use fill::Reshaping;

/// A reshape's two sides.
pub(super) fn new<'p>(
    spec: &'p ReshapeOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let groups = spec.group_consumer;
    let key = spec.reshape.partition_by.iter().chain(&spec.reshape.hidden_keys).copied();
    let buffer = Reshaping {
        spec,
        operator: context.operator,
        names: GroupNames::new(context.operator, "Reshape", &spec.input, key, "Reshape group table"),
        store: Store::new(context.arbitrator, context.disk, spec.rest.consumer, groups),
        failed: FailedGroups::new(Charge::new(context.arbitrator, groups), None),
        ports: Charge::new(context.arbitrator, groups),
        blanks: vec![Blanks::default(); spec.reshape.partition_by.len()],
    };
    (Arc::new(ReshapeCollector::new(spec, context, KeyHasher::default())), Box::new(buffer))
}
