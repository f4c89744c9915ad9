//! Lays out the dead-letter files.
//!
//! Before: each file has a path and the sources routed to it.
//! After: each also has its record columns: the union, in first-seen order, of every record shape that can reach it.
//! Those are what its sources declare, then what its transforms, routes and culls read, then what its sinks read, each
//! in plan order, without the stamps of reshapes. Operators that can't fail count as well, so that editing an
//! expression never moves a column.

use std::collections::BTreeSet;

use super::lineage;
use crate::analysis::hir::Schema;
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan};

/// Runs the pass.
pub fn plan_dead_letters(mut plan: PhysicalPlan) -> PhysicalPlan {
    for file in 0..plan.dead_letters.files.len() {
        let columns = if plan.dead_letters.files[file].include_source_row { columns(&plan, file) } else { Vec::new() };
        plan.dead_letters.files[file].columns = columns;
    }
    plan
}

fn columns(plan: &PhysicalPlan, file: usize) -> Vec<String> {
    let sources = lineage::sources_above(plan);
    let routed = plan.operators().filter(|(OperatorId(id), _)| is_routed(plan, &sources[*id as usize], file));
    let mut shapes: Vec<_> = routed.filter_map(|(_, operator)| shape(operator)).collect();
    shapes.sort_by_key(|(rank, _)| *rank);
    let mut columns: Vec<String> = Vec::new();
    for column in shapes.iter().flat_map(|(_, schema)| &schema.columns) {
        if column.stamp().is_none() && !columns.contains(&column.name) {
            columns.push(column.name.clone());
        }
    }
    columns
}

/// Whether bad rows of one of these sources go to the file.
fn is_routed(plan: &PhysicalPlan, sources: &BTreeSet<OperatorId>, file: usize) -> bool {
    plan.dead_letters.routes.iter().any(|(source, route)| *route == Some(file) && sources.contains(source))
}

/// The record shape that an operator can add to a dead-letter file, behind its rank among the shapes.
fn shape(operator: &Operator) -> Option<(u8, &Schema)> {
    match &operator.kind {
        OperatorKind::Aggregate(_) | OperatorKind::Reshape(_) | OperatorKind::Distinct(_) => todo!(),
        OperatorKind::Source(source) => Some((0, &source.schema)),
        OperatorKind::Transform(transform) => Some((1, &transform.input)),
        OperatorKind::Route(route) => Some((1, &route.schema)),
        OperatorKind::Sink(sink) => Some((2, &sink.schema)),
        OperatorKind::Cull(cull) => Some((1, &cull.schema)),
        OperatorKind::Merge(_) | OperatorKind::Sort(_) | OperatorKind::Park(_) | OperatorKind::Discard(_) => None,
    }
}
