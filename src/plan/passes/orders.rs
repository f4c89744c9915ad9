//! Which order the rows of each operator are proven to have, and which sort made it.
//!
//! A claim that a sort proves counts, whether or not a run then finds that the sort has nothing to do.

use crate::analysis::hir::SortKey;
use crate::analysis::orders::{aggregation_order, cull_order, merge_order, transform_order};
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan};

/// What rows are sorted by.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Order {
    /// The keys, first to last; none where no order is proven.
    pub keys: Vec<SortKey>,
    /// The sort that made it.
    pub since: Option<OperatorId>,
}

/// For each operator, in plan order, the order of the rows that it gives.
pub fn orders(plan: &PhysicalPlan) -> Vec<Order> {
    let mut found: Vec<Order> = Vec::new();
    for (id, _) in plan.operators() {
        let inputs = plan.inputs(id);
        let above = inputs.first().map(|(producer, _)| found[producer.0 as usize].clone()).unwrap_or_default();
        found.push(order(plan, id, above));
    }
    found
}

/// The order of an operator whose first input has the order `above`.
fn order(plan: &PhysicalPlan, id: OperatorId, above: Order) -> Order {
    let keys = match &plan.operator(id).kind {
        OperatorKind::Sort(sort) if !sort.keys.is_empty() => {
            return Order { keys: sort.keys.clone(), since: Some(id) };
        }
        OperatorKind::Transform(transform) => transform_order(&above.keys, &transform.transform),
        OperatorKind::Merge(merge) => merge_order(&above.keys, &merge.merge),
        OperatorKind::Cull(cull) => cull_order(&above.keys, &cull.cull),
        OperatorKind::Aggregate(aggregate) => aggregation_order(&above.keys, &aggregate.aggregation),
        // It holds empty texts and nulls together, which a sort does not put side by side.
        OperatorKind::Source(_) | OperatorKind::Reshape(_) => Vec::new(),
        OperatorKind::Sort(_)
        | OperatorKind::Route(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Park(_)
        | OperatorKind::Sink(_)
        | OperatorKind::Discard(_) => above.keys,
    };
    Order { keys, since: above.since }
}
