//! Lays out the dead-letter files.
//!
//! Before: each file has a path and the sources routed to it. After: each also has its record columns: the union, in
//! first-seen order, of every record shape that can reach it. Those are what its sources declare, then what operators
//! that can fail on a row or a group read, then what its sinks read, each in plan order. Operators whose expressions
//! can't fail count as well, so that editing one never moves a column. A group of an aggregate that fails shows its
//! key; such a group, and the rows that an aggregate made, have no source. Where dead letters of several stages have to
//! be put in order, there is a memory consumer for those that wait.

use std::collections::BTreeSet;

use super::classify_buffers::LAST_PRIORITY;
use super::lineage;
use crate::analysis::hir::Schema;
use crate::plan::physical::{ColumnSet, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan};

/// Runs the pass.
pub fn plan_dead_letters(mut plan: PhysicalPlan) -> PhysicalPlan {
    for file in 0..plan.dead_letters.files.len() {
        let columns = if plan.dead_letters.files[file].include_source_row { columns(&plan, file) } else { Vec::new() };
        plan.dead_letters.files[file].columns = columns;
    }
    if waits(&plan) {
        plan.dead_letters.consumer = Some(plan.consumers.len());
        plan.consumers.push(MemoryConsumer {
            name: MemoryConsumer::DEAD_LETTERS.to_string(),
            operator: None,
            priority: LAST_PRIORITY,
            spills: true,
            reason: "holds dead letters until those of all stages are there; what is more than an eighth of the limit \
                     goes to disk"
                .to_string(),
        });
    }
    plan
}

/// Whether there can be dead letters that wait for others.
fn waits(plan: &PhysicalPlan) -> bool {
    let letters = &plan.dead_letters;
    letters.continue_on_error && !letters.files.is_empty() && !plan.gives_letters_in_order(&plan.stages)
}

fn columns(plan: &PhysicalPlan, file: usize) -> Vec<String> {
    let makers = lineage::Makers::of(plan);
    let mut shapes: Vec<(u8, &Schema, ColumnSet)> = Vec::new();
    for (id, operator) in plan.operators() {
        if let Some((rank, schema)) = shape(operator).filter(|_| is_routed(plan, &makers.read[id.0 as usize], file)) {
            shapes.push((rank, schema, lineage::shown(schema)));
        }
        if let OperatorKind::Aggregate(aggregate) = &operator.kind
            && is_routed(plan, &makers.given[id.0 as usize], file)
        {
            let groups = &aggregate.aggregation.groups;
            shapes.push((1, groups, ColumnSet::first(aggregate.aggregation.key, groups.columns.len())));
        }
    }
    shapes.sort_by_key(|(rank, ..)| *rank);
    let mut columns: Vec<String> = Vec::new();
    for name in shapes.iter().flat_map(|(_, schema, shown)| shown.iter().map(|column| &schema.columns[column].name)) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    columns
}

/// Whether bad rows that one of these made go to the file.
fn is_routed(plan: &PhysicalPlan, makers: &BTreeSet<OperatorId>, file: usize) -> bool {
    plan.dead_letters.routes.iter().any(|(maker, route)| *route == Some(file) && makers.contains(maker))
}

/// The shape of the rows that an operator reads, if it can add them to a dead-letter file, behind the rank among
/// shapes.
fn shape(operator: &Operator) -> Option<(u8, &Schema)> {
    match &operator.kind {
        OperatorKind::Source(source) => Some((0, &source.schema)),
        OperatorKind::Transform(transform) => Some((1, &transform.input)),
        OperatorKind::Route(route) => Some((1, &route.schema)),
        OperatorKind::Cull(cull) => Some((1, &cull.schema)),
        OperatorKind::Aggregate(aggregate) => Some((1, &aggregate.input)),
        OperatorKind::Reshape(reshape) => Some((1, &reshape.input)),
        OperatorKind::Distinct(distinct) => Some((1, &distinct.schema)),
        OperatorKind::Sink(sink) => Some((2, &sink.schema)),
        OperatorKind::Merge(_) | OperatorKind::Sort(_) | OperatorKind::Park(_) | OperatorKind::Discard(_) => None,
    }
}
