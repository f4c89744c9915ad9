//! Cuts the plan into stages.
//!
//! Before: operators in plan order.
//! After: every operator is in exactly one stage: the one whose driver its rows come from. A stage is driven by a
//! source and ends in sinks and discards. Stages run in the plan order of their drivers.

use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan, Stage};

/// Runs the pass.
pub fn cut_stages(mut plan: PhysicalPlan) -> PhysicalPlan {
    let mut stages: Vec<Stage> = Vec::new();
    let mut stage_of: Vec<usize> = Vec::new();
    for (id, operator) in plan.operators() {
        // Ids are plan order, so the producer has its stage already.
        let stage = match (&operator.kind, plan.inputs(id).first()) {
            (OperatorKind::Source(_), _) | (_, None) => {
                stages.push(Stage { driver: id, operators: Vec::new() });
                stages.len() - 1
            }
            (_, Some((OperatorId(producer), _))) => stage_of[*producer as usize],
        };
        stages[stage].operators.push(id);
        stage_of.push(stage);
    }
    plan.stages = stages;
    plan
}
