//! Who spills when memory gets tight.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Filling;
use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, give_back_freed_memory};
use crate::plan::physical::{OperatorId, PhysicalPlan};

/// Lets buffers put rows on disk until `wanted` more bytes leave the footprint of the run below the soft threshold, or
/// until nothing is left that could go: those whose consumer has the lowest priority number first, those that hold most
/// among equals.
///
/// At least a quarter of the limit is freed at once, where so much can go: many small runs would cost far more time than
/// they save memory. Tells whether there is room now, or more than before: without, asking again is of no use.
pub(crate) fn make_room(
    plan: &PhysicalPlan,
    fillings: &mut BTreeMap<OperatorId, Filling<'_>>,
    arbitrator: &Arbitrator,
    wanted: u64,
) -> Result<bool, Failure> {
    let over = arbitrator.over_soft(wanted);
    if over == 0 {
        return Ok(true);
    }
    let mut to_free = over.max(arbitrator.limit() / 4);
    let mut order: Vec<OperatorId> = fillings.keys().copied().collect();
    order.sort_by_cached_key(|id| (priority(plan, *id), Reverse(fillings[id].buffer.spillable()), *id));
    let mut has_spilled = false;
    for id in order {
        let buffer = &mut fillings.get_mut(&id).expect("it is one of them").buffer;
        let before = buffer.spillable();
        if to_free > 0 && before > 0 {
            buffer.spill(to_free)?;
            let freed = before - buffer.spillable();
            has_spilled |= freed > 0;
            to_free = to_free.saturating_sub(freed);
        }
    }
    if has_spilled {
        give_back_freed_memory();
    }
    // A buffer may have had more in advance than it took in the end.
    Ok(has_spilled || arbitrator.has_room(wanted))
}

fn priority(plan: &PhysicalPlan, id: OperatorId) -> u8 {
    let rest = plan.operator(id).rest().expect("a buffer says how its rows rest");
    plan.consumers[rest.consumer].priority
}
