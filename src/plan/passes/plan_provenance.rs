//! Decides how rows know where they come from.
//!
//! Before: stages are cut.
//! After: every edge says how the identity of its rows (source, file, row) travels, what it is needed for there or
//! further down, which of its columns still are columns of the driving source, and which an expression computed. Every
//! buffer says whether it keeps identity.
//!
//! Inside a stage identity is free: a batch knows the first row of its block, and each row its position. It has to be
//! kept only where a buffer is crossed and something behind it needs it: a failure there, or a `$source` variable. The
//! summary counts a row once, however many outputs it reaches. A stage sees to that by position; identity is kept for
//! it only where a source's rows reach outputs in several stages, or a buffer more than once.

use std::collections::BTreeSet;

use super::{expr, lineage};
use crate::plan::physical::{
    ColumnSet, IdentityUse, Operator, OperatorId, OperatorKind, PhysicalPlan, Provenance, RowIdentity,
};

/// Runs the pass.
pub fn plan_provenance(mut plan: PhysicalPlan) -> PhysicalPlan {
    let origins = output_origins(&plan);
    let computed = computed(&plan);
    let uses = uses(&plan);
    keep_identity(&mut plan, &uses);
    let kept = behind_kept(&plan);
    plan.for_each_edge_mut(|from, to, edge| {
        let is_kept = kept.contains(&(from, to));
        edge.provenance = Provenance {
            identity: if is_kept { RowIdentity::Kept } else { RowIdentity::Position },
            uses: uses[to.0 as usize].clone(),
            origins: origins[from.0 as usize].clone(),
            computed: computed[from.0 as usize].clone(),
        };
    });
    plan
}

/// For each operator, in plan order, the origins of its output columns. Behind a buffer or a merge a column has none:
/// the block that it could be decoded from again is gone, or may be.
fn output_origins(plan: &PhysicalPlan) -> Vec<Vec<Option<usize>>> {
    let mut found: Vec<Vec<Option<usize>>> = Vec::new();
    for (id, operator) in plan.operators() {
        let input = plan.inputs(id).first().map(|(OperatorId(producer), _)| found[*producer as usize].as_slice());
        let origins = match (&operator.kind, input) {
            (OperatorKind::Source(source), _) => lineage::of_source(&source.source),
            (OperatorKind::Transform(transform), Some(input)) => {
                lineage::through_transform(&transform.transform, input)
            }
            (OperatorKind::Merge(_) | OperatorKind::Sort(_) | OperatorKind::Cull(_) | OperatorKind::Park(_), _) => {
                vec![None; operator.output().map_or(0, |schema| schema.columns.len())]
            }
            (_, input) => input.unwrap_or_default().to_vec(),
        };
        found.push(origins);
    }
    found
}

/// For each operator, in plan order, the output columns that an expression computed; of a merge's, those that one
/// computed for some input.
fn computed(plan: &PhysicalPlan) -> Vec<ColumnSet> {
    let mut found: Vec<ColumnSet> = Vec::new();
    for (id, operator) in plan.operators() {
        let inputs = plan.inputs(id);
        let width = operator.output().map_or(0, |schema| schema.columns.len());
        let mut own = ColumnSet::none(width);
        for (OperatorId(producer), edge) in inputs {
            let above = &found[producer as usize];
            match &operator.kind {
                OperatorKind::Transform(transform) => lineage::computed(&transform.transform, above, &mut own),
                OperatorKind::Merge(merge) => {
                    for (output, column) in merge.merge.columns[edge.input].iter().enumerate() {
                        if column.is_some_and(|column| above.contains(column)) {
                            own.insert(output);
                        }
                    }
                }
                _ => own.union(above),
            }
        }
        found.push(own);
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
        OperatorKind::Aggregate(_) | OperatorKind::Reshape(_) | OperatorKind::Distinct(_) => todo!(),
        OperatorKind::Transform(transform) => (
            expr::transform_can_fail(&transform.transform) || !transform.transform.validations.is_empty(),
            expr::reads_source_variable(expr::of_transform(&transform.transform)),
        ),
        OperatorKind::Route(route) => {
            (expr::route_can_fail(&route.route), expr::reads_source_variable(&route.route.conditions))
        }
        OperatorKind::Cull(cull) => {
            let keys = cull.cull.partition_by.iter().map(|column| &cull.schema.columns[*column].ty.kind);
            (
                expr::of_aggregates(&cull.cull).any(expr::can_fail) || !keys.into_iter().all(expr::is_key),
                expr::reads_source_variable(expr::of_aggregates(&cull.cull)),
            )
        }
        OperatorKind::Sink(_) => return vec![IdentityUse::Summary],
        OperatorKind::Source(_)
        | OperatorKind::Merge(_)
        | OperatorKind::Sort(_)
        | OperatorKind::Park(_)
        | OperatorKind::Discard(_) => (false, false),
    };
    let failures = can_fail.then_some(IdentityUse::Failures);
    failures.into_iter().chain(reads_variable.then_some(IdentityUse::Variables)).collect()
}

/// Tells each buffer whether it keeps the identity of its rows.
fn keep_identity(plan: &mut PhysicalPlan, uses: &[Vec<IdentityUse>]) {
    let sources = lineage::sources_above(plan);
    let counted = counted_together(plan, uses, &sources, counted_by_identity(plan, &sources));
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let below: BTreeSet<IdentityUse> =
            plan.outputs(id).iter().flat_map(|(OperatorId(consumer), _)| uses[*consumer as usize].clone()).collect();
        let is_counted = below.contains(&IdentityUse::Summary) && !sources[id.0 as usize].is_disjoint(&counted);
        let is_read = below.contains(&IdentityUse::Failures) || below.contains(&IdentityUse::Variables);
        if let Some(rest) = plan.operator_mut(id).rest_mut() {
            rest.identity = is_counted || is_read;
        }
    }
}

/// The sources whose rows can be written in several segments, or lie in one buffer several times.
fn counted_by_identity(plan: &PhysicalPlan, sources: &[BTreeSet<OperatorId>]) -> BTreeSet<OperatorId> {
    let mut counted = BTreeSet::new();
    for (source, _) in plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Source(_))) {
        let writes = |id: &OperatorId| matches!(plan.operator(*id).kind, OperatorKind::Sink(_));
        let segments = plan.stages.iter().flat_map(|stage| &stage.segments);
        let bringing = segments.filter(|segment| sources[segment.head.0 as usize].contains(&source));
        let writing = bringing.filter(|segment| segment.operators.iter().any(writes)).count();
        let copies = copies(plan, source);
        let is_doubled =
            |(id, operator): (OperatorId, &Operator)| operator.rest().is_some() && copies[id.0 as usize] > 1;
        if writing > 1 || plan.operators().any(is_doubled) {
            counted.insert(source);
        }
    }
    counted
}

/// The counted sources and those whose rows meet theirs in a buffer: a buffer keeps identity of all its rows or of none,
/// so the buffers above it have to keep it, too.
fn counted_together(
    plan: &PhysicalPlan,
    uses: &[Vec<IdentityUse>],
    sources: &[BTreeSet<OperatorId>],
    mut counted: BTreeSet<OperatorId>,
) -> BTreeSet<OperatorId> {
    let is_buffer = |(id, operator): &(OperatorId, &Operator)| {
        operator.rest().is_some() && uses[id.0 as usize].contains(&IdentityUse::Summary)
    };
    let buffers: Vec<_> = plan.operators().filter(is_buffer).map(|(id, _)| &sources[id.0 as usize]).collect();
    loop {
        let before = counted.len();
        for above in &buffers {
            if above.is_disjoint(&counted) {
                continue;
            }
            counted.extend(above.iter());
        }
        if counted.len() == before {
            return counted;
        }
    }
}

/// For each operator, in how many ways a source's row can reach it; more than two count as two.
fn copies(plan: &PhysicalPlan, source: OperatorId) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (id, _) in plan.operators() {
        let above: usize = plan.inputs(id).iter().map(|(OperatorId(producer), _)| found[*producer as usize]).sum();
        found.push(if id == source { 1 } else { above.min(2) });
    }
    found
}

/// The edges in segments below a buffer that keeps identity.
fn behind_kept(plan: &PhysicalPlan) -> BTreeSet<(OperatorId, OperatorId)> {
    let mut found = BTreeSet::new();
    for segment in plan.stages.iter().flat_map(|stage| &stage.segments) {
        if !plan.operator(segment.head).rest().is_some_and(|rest| rest.identity) {
            continue;
        }
        let passing = |id: &&OperatorId| **id == segment.head || !plan.operator(**id).is_head();
        for id in segment.operators.iter().filter(passing) {
            found.extend(plan.outputs(*id).iter().map(|(consumer, _)| (*id, *consumer)));
        }
    }
    found
}
