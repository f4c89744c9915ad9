//! Who spills when memory gets tight.

use std::collections::BTreeMap;

use super::Filling;
use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, give_back_freed_memory};
use crate::plan::physical::{OperatorId, PhysicalPlan};

/// Lets buffers put rows on disk until `wanted` more bytes leave the footprint of the run below the soft threshold, or
/// until nothing is left that could go: those whose consumer has the lowest priority number first, in plan order among
/// equals.
///
/// What spills frees at least a quarter of the limit at once, where it holds so much: many small runs would cost far
/// more time than they save memory.
pub(crate) fn make_room(
    plan: &PhysicalPlan,
    fillings: &mut BTreeMap<OperatorId, Filling<'_>>,
    arbitrator: &Arbitrator,
    wanted: u64,
) -> Result<(), Failure> {
    if arbitrator.over_soft(wanted) == 0 {
        return Ok(());
    }
    let mut order: Vec<OperatorId> = fillings.keys().copied().collect();
    order.sort_by_key(|id| (priority(plan, *id), *id));
    for id in order {
        let over = arbitrator.over_soft(wanted);
        let buffer = &mut fillings.get_mut(&id).expect("it is one of them").buffer;
        if over > 0 && buffer.spillable() > 0 {
            buffer.spill(over.max(arbitrator.limit() / 4))?;
        }
    }
    give_back_freed_memory();
    Ok(())
}

fn priority(plan: &PhysicalPlan, id: OperatorId) -> u8 {
    let rest = plan.operator(id).rest().expect("a buffer says how its rows rest");
    plan.consumers[rest.consumer].priority
}
