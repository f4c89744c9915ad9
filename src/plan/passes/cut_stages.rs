//! Cuts the plan into stages.
//!
//! Before: operators in plan order.
//! After: every operator is in the stages that the docs of [`Stage`] name, in the order they run. A buffer is filled
//! before it drives. What a concatenating merge reads arrives input by input; an input that can't come in its turn
//! has a park on its edge.
//!
//! Stages run as early as that allows, in plan order of their drivers. Which edges are parked is settled by
//! `schedule`; here they get their operators.

use std::collections::{BTreeMap, BTreeSet};

use super::schedule::{Driver, Schedule};
use crate::plan::physical::{
    BufferClass, Edge, Operator, OperatorId, OperatorKind, ParkOperator, PhysicalPlan, Rest, Stage,
};

/// Runs the pass.
pub fn cut_stages(plan: PhysicalPlan) -> PhysicalPlan {
    let schedule = Schedule::of(&plan);
    let (mut cut, placed) = add_parks(&plan, &schedule);
    cut.stages = schedule.order().into_iter().map(|driver| stage(&cut, placed[&driver])).collect();
    cut
}

/// Puts the parks in. Gives the operator of each driver.
fn add_parks(plan: &PhysicalPlan, schedule: &Schedule) -> (PhysicalPlan, BTreeMap<Driver, OperatorId>) {
    let mut placed = BTreeMap::new();
    let mut parks = Vec::new();
    for (&(merge, input), reason) in schedule.parks() {
        let inputs = plan.inputs(merge);
        let (_, edge) = inputs.iter().find(|(_, edge)| edge.input == input).expect("the parked edge is there");
        parks.push((merge, input, park(plan.operator(merge), edge, reason)));
    }
    let (plan, moved) = plan.with_parks(&parks);
    for (id, operator) in plan.operators() {
        if matches!(operator.kind, OperatorKind::Park(_)) {
            let outputs = plan.outputs(id);
            let (merge, edge) = outputs.first().expect("a park is read by the merge that it was put in front of");
            let before = moved.iter().position(|new| new == merge).expect("the merge was there before");
            placed.insert(Driver::Park(OperatorId(before as u32), edge.input), id);
        }
    }
    placed.extend(moved.iter().enumerate().map(|(old, new)| (Driver::Operator(OperatorId(old as u32)), *new)));
    (plan, placed)
}

fn park(merge: &Operator, edge: &Edge, reason: &str) -> Operator {
    Operator {
        name: format!("{}.{}", merge.name, edge.input + 1),
        span: merge.span,
        kind: OperatorKind::Park(ParkOperator {
            reason: reason.to_string(),
            schema: edge.schema.clone(),
            rest: Rest::undecided(edge.schema.columns.len()),
        }),
        buffer: BufferClass::Materialized,
        buffer_reason: String::new(),
        strategy: "rows in order, in memory".to_string(),
    }
}

/// The tree below a driver, up to and with the buffers that it fills.
fn stage(plan: &PhysicalPlan, driver: OperatorId) -> Stage {
    let mut operators = BTreeSet::from([driver]);
    let mut waiting = vec![driver];
    while let Some(id) = waiting.pop() {
        for (consumer, _) in plan.outputs(id) {
            if operators.insert(consumer) && !plan.operator(consumer).is_driver() {
                waiting.push(consumer);
            }
        }
    }
    Stage { driver, operators: operators.into_iter().collect() }
}
