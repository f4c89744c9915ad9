//! Decides how rows know where they come from.
//!
//! Before: stages are cut.
//! After: every edge says how the identity of its rows (source, file, row) travels, what it is needed for there or
//! further down, and which of its columns still are columns of the driving source.
//!
//! Inside a stage identity is free: a batch knows the first row of its block, and each row its position. It would
//! become a column only where a stage ends in a buffer and something behind it needs it. No operator so far ends a
//! stage that way.

use super::{expr, lineage};
use crate::plan::physical::{IdentityUse, Operator, OperatorId, OperatorKind, PhysicalPlan, Provenance, RowIdentity};

/// Runs the pass.
pub fn plan_provenance(mut plan: PhysicalPlan) -> PhysicalPlan {
    let origins = output_origins(&plan);
    let uses = uses(&plan);
    plan.for_each_edge_mut(|from, to, edge| {
        edge.provenance = Provenance {
            identity: RowIdentity::Position,
            uses: uses[to.0 as usize].clone(),
            origins: origins[from.0 as usize].clone(),
        };
    });
    plan
}

/// For each operator, in plan order, the origins of its output columns.
fn output_origins(plan: &PhysicalPlan) -> Vec<Vec<Option<usize>>> {
    let mut found: Vec<Vec<Option<usize>>> = Vec::new();
    for (id, operator) in plan.operators() {
        let input = plan.inputs(id).first().map(|(OperatorId(producer), _)| found[*producer as usize].as_slice());
        let origins = match (&operator.kind, input) {
            (OperatorKind::Source(source), _) => lineage::of_source(source.schema.columns.len()),
            (OperatorKind::Transform(transform), Some(input)) => {
                lineage::through_transform(&transform.transform, input)
            }
            (_, input) => input.unwrap_or_default().to_vec(),
        };
        found.push(origins);
    }
    found
}

/// For each operator, in plan order, what it or one below it needs identity for.
fn uses(plan: &PhysicalPlan) -> Vec<Vec<IdentityUse>> {
    let mut found: Vec<Vec<IdentityUse>> = Vec::new();
    for (id, operator) in plan.operators() {
        found.push(own_uses(operator));
        debug_assert_eq!(found.len(), id.0 as usize + 1, "ids count from 0");
    }
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids.into_iter().rev() {
        for (OperatorId(consumer), _) in plan.outputs(id) {
            let below = found[consumer as usize].clone();
            found[id.0 as usize].extend(below);
        }
        found[id.0 as usize].sort();
        found[id.0 as usize].dedup();
    }
    found
}

fn own_uses(operator: &Operator) -> Vec<IdentityUse> {
    let (can_fail, reads_variable) = match &operator.kind {
        OperatorKind::Transform(transform) => (
            expr::transform_can_fail(&transform.transform) || !transform.transform.validations.is_empty(),
            expr::reads_source_variable(expr::of_transform(&transform.transform)),
        ),
        OperatorKind::Route(route) => {
            (expr::route_can_fail(&route.route), expr::reads_source_variable(&route.route.conditions))
        }
        OperatorKind::Sink(_) => return vec![IdentityUse::Summary],
        OperatorKind::Source(_) | OperatorKind::Discard(_) => (false, false),
        _ => todo!(),
    };
    let failures = can_fail.then_some(IdentityUse::Failures);
    failures.into_iter().chain(reads_variable.then_some(IdentityUse::Variables)).collect()
}
