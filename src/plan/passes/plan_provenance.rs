//! Decides how rows know where they come from.
//!
//! Before: stages are cut.
//! After: every edge says how the identity of its rows (source, file, row) travels, what it is needed for there or
//! further down, which of its columns still are columns of the driving source, and which an expression computed. Every
//! buffer says whether it keeps identity. The makers whose rows are counted by it have a memory consumer for that.
//!
//! Inside a stage identity is free: a batch knows the first row of its block, and each row its position. It has to be
//! kept only where a buffer or an interleaving merge is crossed and something behind it needs it: a failure there, or a
//! `$source` variable. The summary counts a row once, however many outputs it reaches. A stage sees to that by
//! position; identity is kept for it only where the rows of one maker reach outputs in several stages, or a buffer more
//! than once.
//!
//! A row that an aggregate made has no source. It is known by the aggregate and the number of its group. A failure
//! names it by the number of its group's first row, so a failure below an aggregate needs the identity of rows above
//! it. A row that a reshape adds is known by the row that it was added for, so a row can come out of a reshape more
//! than once. Rows that were read and rows that aggregates made are counted apart, so where both meet in a buffer it
//! keeps identity.

use std::collections::{BTreeMap, BTreeSet};

use super::classify_buffers::LAST_PRIORITY;
use super::{expr, lineage};
use crate::plan::physical::{
    ColumnSet, IdentityUse, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan, Provenance, RowIdentity,
    Segment,
};

/// Runs the pass.
pub fn plan_provenance(mut plan: PhysicalPlan) -> PhysicalPlan {
    let origins = output_origins(&plan);
    let computed = computed(&plan);
    let uses = uses(&plan);
    let makers = lineage::Makers::of(&plan);
    let counted = counted_by_identity(&plan, &makers);
    count(&mut plan, &counted);
    keep_identity(&mut plan, &uses, &makers, counted);
    let known = known_otherwise(&plan);
    plan.for_each_edge_mut(|from, to, edge| {
        edge.provenance = Provenance {
            identity: known.get(&(from, to)).copied().unwrap_or_default(),
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
            (OperatorKind::Route(_) | OperatorKind::Sink(_) | OperatorKind::Discard(_), Some(input)) => input.to_vec(),
            _ => vec![None; operator.output().map_or(0, |schema| schema.columns.len())],
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
                OperatorKind::Aggregate(aggregate) => {
                    lineage::computed_by_groups(&aggregate.aggregation, above, &mut own);
                }
                OperatorKind::Reshape(reshape) => lineage::computed_by_rules(&reshape.reshape, above, &mut own),
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
        let mut below = below(plan, &found, id);
        if matches!(plan.operator(id).kind, OperatorKind::Aggregate(_)) {
            below.retain(|need| *need == IdentityUse::Failures);
        }
        found[id.0 as usize].extend(below);
        found[id.0 as usize].sort();
        found[id.0 as usize].dedup();
    }
    found
}

/// What the identity of the rows that an operator gives is needed for.
fn below(plan: &PhysicalPlan, uses: &[Vec<IdentityUse>], id: OperatorId) -> BTreeSet<IdentityUse> {
    plan.outputs(id).iter().flat_map(|(OperatorId(consumer), _)| uses[*consumer as usize].clone()).collect()
}

fn own_uses(operator: &Operator) -> Vec<IdentityUse> {
    let (can_fail, reads_variable) = match &operator.kind {
        OperatorKind::Aggregate(aggregate) => {
            let aggregation = &aggregate.aggregation;
            let can_fail = [expr::aggregation_row_can_fail, expr::aggregation_group_can_fail];
            (
                can_fail.iter().any(|can_fail| can_fail(aggregation)),
                expr::reads_source_variable(expr::of_transform(&aggregation.rows)),
            )
        }
        OperatorKind::Reshape(reshape) => (
            expr::reshape_group_can_fail(&reshape.reshape),
            expr::reads_source_variable(expr::of_reshape(&reshape.reshape)),
        ),
        OperatorKind::Distinct(distinct) => {
            let columns = &distinct.schema.columns;
            (!distinct.key.iter().all(|column| expr::is_key(&columns[*column].ty.kind)), false)
        }
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
                cull.group_can_fail || !keys.into_iter().all(expr::is_key),
                expr::reads_source_variable(expr::of_aggregates(&cull.cull.aggregates)),
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

/// Gives each of these makers a memory consumer for what is known of its written rows.
fn count(plan: &mut PhysicalPlan, counted: &BTreeSet<OperatorId>) {
    for id in counted {
        plan.counted.insert(*id, plan.consumers.len());
        plan.consumers.push(MemoryConsumer {
            name: format!("{} (rows written)", plan.operator(*id).label()),
            operator: Some(*id),
            priority: LAST_PRIORITY,
            spills: false,
            reason: "holds one bit a row, so that a row counts once, however many outputs it reaches".to_string(),
        });
    }
}

/// Tells each buffer and each interleaving merge whether it keeps the identity of its rows.
fn keep_identity(
    plan: &mut PhysicalPlan,
    uses: &[Vec<IdentityUse>],
    makers: &lineage::Makers,
    counted: BTreeSet<OperatorId>,
) {
    let counted = counted_together(plan, uses, makers, counted_apart(plan, makers, counted));
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let below = below(plan, uses, id);
        let is_counted = below.contains(&IdentityUse::Summary) && !makers.given[id.0 as usize].is_disjoint(&counted);
        let is_read = below.contains(&IdentityUse::Failures) || below.contains(&IdentityUse::Variables);
        let is_shown = shows_rest(&plan.operator(id).kind);
        plan.operator_mut(id).keep_identity(is_counted || is_read || is_shown);
    }
}

/// Whether the rows of a buffer are named when all are in: those of a group that failed.
fn shows_rest(kind: &OperatorKind) -> bool {
    match kind {
        OperatorKind::Cull(cull) => cull.shows_groups,
        OperatorKind::Reshape(reshape) => expr::reshape_group_can_fail(&reshape.reshape),
        _ => false,
    }
}

/// The makers whose rows can be written in several segments, or lie in one buffer several times, or meet in an
/// interleaving merge.
fn counted_by_identity(plan: &PhysicalPlan, makers: &lineage::Makers) -> BTreeSet<OperatorId> {
    let writing = written_by_segment(plan, makers);
    let mut counted = BTreeSet::new();
    for maker in plan.makers() {
        let segments = writing.iter().filter(|written| written.contains(&maker)).count();
        let copies = copies(plan, maker);
        let is_doubled =
            |(id, operator): (OperatorId, &Operator)| operator.keeps_identity().is_some() && copies[id.0 as usize] > 1;
        if segments > 1 || plan.operators().any(is_doubled) {
            counted.insert(maker);
        }
    }
    counted
}

/// For each segment, the makers whose rows its sinks can get.
fn written_by_segment(plan: &PhysicalPlan, makers: &lineage::Makers) -> Vec<BTreeSet<OperatorId>> {
    let of_segment = |segment: &Segment| {
        let mut written = BTreeSet::new();
        let mut given = BTreeMap::from([(segment.head, makers.given[segment.head.0 as usize].clone())]);
        for id in segment.operators.iter().filter(|id| **id != segment.head) {
            let inputs = plan.inputs(*id);
            let above = inputs.iter().filter_map(|(producer, _)| given.get(producer)).flatten().copied();
            let above: BTreeSet<OperatorId> = above.collect();
            match plan.operator(*id) {
                operator if operator.is_head() => {}
                operator if operator.makes_rows() => drop(given.insert(*id, BTreeSet::from([*id]))),
                Operator { kind: OperatorKind::Sink(_), .. } => written.extend(above),
                _ => drop(given.insert(*id, above)),
            }
        }
        written
    };
    plan.stages.iter().flat_map(|stage| &stage.segments).map(of_segment).collect()
}

/// The counted makers, and those whose rows meet in a buffer or an interleaving merge, some of them sources and others
/// aggregates.
fn counted_apart(
    plan: &PhysicalPlan,
    makers: &lineage::Makers,
    mut counted: BTreeSet<OperatorId>,
) -> BTreeSet<OperatorId> {
    for (id, operator) in plan.operators().filter(|(_, operator)| operator.keeps_identity().is_some()) {
        let given = &makers.given[id.0 as usize];
        let aggregates = given.iter().filter(|maker| plan.operator(**maker).is_aggregate()).count();
        if !operator.is_aggregate() && aggregates > 0 && aggregates < given.len() {
            counted.extend(given);
        }
    }
    counted
}

/// The counted makers and those whose rows meet theirs in a buffer or an interleaving merge, which keeps identity of
/// all its rows or of none, so that what is above it has to keep it, too.
fn counted_together(
    plan: &PhysicalPlan,
    uses: &[Vec<IdentityUse>],
    makers: &lineage::Makers,
    mut counted: BTreeSet<OperatorId>,
) -> BTreeSet<OperatorId> {
    let is_buffer = |(id, operator): &(OperatorId, &Operator)| {
        operator.keeps_identity().is_some() && below(plan, uses, *id).contains(&IdentityUse::Summary)
    };
    let buffers: Vec<_> = plan.operators().filter(is_buffer).map(|(id, _)| &makers.given[id.0 as usize]).collect();
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

/// For each operator, in how many ways a row of a maker can come out of it; more than two count as two.
fn copies(plan: &PhysicalPlan, maker: OperatorId) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (id, operator) in plan.operators() {
        let above: usize = plan.inputs(id).iter().map(|(OperatorId(producer), _)| found[*producer as usize]).sum();
        found.push(match &operator.kind {
            _ if id == maker => 1,
            _ if operator.makes_rows() => 0,
            OperatorKind::Reshape(reshape) if reshape.reshape.adds_rows() => (2 * above).min(2),
            _ => above.min(2),
        });
    }
    found
}

/// How rows are known on the edges where that is not by position: in segments whose head keeps identity, and below an
/// aggregate that streams.
fn known_otherwise(plan: &PhysicalPlan) -> BTreeMap<(OperatorId, OperatorId), RowIdentity> {
    let mut found = BTreeMap::new();
    for segment in plan.stages.iter().flat_map(|stage| &stage.segments) {
        let is_kept = plan.operator(segment.head).keeps_identity() == Some(true);
        let given = if is_kept { RowIdentity::Kept } else { RowIdentity::Position };
        let mut known = BTreeMap::from([(segment.head, given)]);
        let passing = |id: &&OperatorId| **id == segment.head || !plan.operator(**id).is_head();
        for id in segment.operators.iter().filter(passing) {
            let own = match &plan.operator(*id).kind {
                OperatorKind::Aggregate(aggregate) if aggregate.streams => RowIdentity::Group,
                _ => known.get(id).copied().unwrap_or_default(),
            };
            for (consumer, _) in plan.outputs(*id) {
                known.insert(consumer, own);
                if own != RowIdentity::Position {
                    found.insert((*id, consumer), own);
                }
            }
        }
    }
    found
}
