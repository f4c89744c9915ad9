//! Chooses what the rows of each buffer are turned into while they rest.
//!
//! Before: stages are cut, so every buffer is there. After: each buffer says which columns it keeps, whether undeclared
//! fields, and in which form. Where nothing but sinks that write the same bytes reads it, a row rests as those bytes;
//! it is encoded once, while its batch is hot. Else it rests in an encoding that decodes back to columns.
//!
//! Where bad rows are dead letters, a group of a cull or a reshape that fails becomes dead letters as a whole, and no
//! text is at hand then. If one can fail, its rows rest as columns, with all that dead letters show.

use super::{expr, lineage};
use crate::analysis::hir::SinkColumnSource;
use crate::analysis::types::Kind;
use crate::plan::physical::{ColumnSet, OperatorId, OperatorKind, PhysicalPlan, RestForm, SinkOperator};

/// Runs the pass.
pub fn choose_rest(mut plan: PhysicalPlan) -> PhysicalPlan {
    let makers = lineage::Makers::of(&plan);
    let buffers: Vec<OperatorId> =
        plan.operators().filter(|(_, operator)| operator.rest().is_some()).map(|(id, _)| id).collect();
    for id in buffers {
        let can_fail = group_can_fail(&plan.operator(id).kind);
        let shows_groups = plan.dead_letters.continue_on_error && can_fail;
        let (mut columns, carries) = read_below(&plan, id);
        if shows_groups && makers.shows_records(&plan, id) {
            let (_, input) = plan.inputs(id).into_iter().next().expect("a cull or a reshape reads a port");
            columns.union(&lineage::shown(&input.schema));
        }
        let form = if shows_groups { RestForm::Row } else { form(&plan, id) };
        match &mut plan.operator_mut(id).kind {
            OperatorKind::Cull(cull) => (cull.group_can_fail, cull.shows_groups) = (can_fail, shows_groups),
            OperatorKind::Reshape(reshape) => reshape.shows_groups = shows_groups,
            _ => {}
        }
        let rest = plan.operator_mut(id).rest_mut().expect("only buffers were kept");
        (rest.form, rest.columns, rest.carries) = (form, columns, carries);
    }
    plan
}

/// Whether the operator puts rows aside in groups, and one of these can fail.
fn group_can_fail(kind: &OperatorKind) -> bool {
    match kind {
        OperatorKind::Cull(cull) => expr::cull_group_can_fail(&cull.cull),
        OperatorKind::Reshape(reshape) => expr::reshape_group_can_fail(&reshape.reshape),
        _ => false,
    }
}

/// What the consumers of all ports need: columns, and whether undeclared fields.
fn read_below(plan: &PhysicalPlan, id: OperatorId) -> (ColumnSet, bool) {
    let width = plan.operator(id).output().map_or(0, |schema| schema.columns.len());
    let (mut columns, mut carries) = (ColumnSet::none(width), false);
    for (_, edge) in plan.outputs(id) {
        columns.union(&edge.columns);
        carries |= edge.carries;
    }
    (columns, carries)
}

fn form(plan: &PhysicalPlan, id: OperatorId) -> RestForm {
    if matches!(plan.operator(id).kind, OperatorKind::Aggregate(_)) {
        // No row rests in it: it holds keys and states.
        return RestForm::Row;
    }
    let mut found: Option<(OperatorId, &SinkOperator)> = None;
    let mut is_counted = false;
    for (consumer, _) in plan.outputs(id) {
        match (&plan.operator(consumer).kind, found) {
            (OperatorKind::Sink(sink), None) => found = Some((consumer, sink)),
            (OperatorKind::Sink(sink), Some((_, first))) if writes_the_same(first, sink) => {}
            (OperatorKind::Discard(_), _) => is_counted = true,
            _ => return RestForm::Row,
        }
    }
    match found {
        // A row that is only counted must not fail because a sink could not write it.
        Some((sink, operator)) if !is_counted || always_writes(operator) => RestForm::SinkBytes { sink },
        _ => RestForm::Row,
    }
}

/// Whether a row looks the same in both files. What the columns are called, and whether that is written, is the
/// file's matter.
fn writes_the_same(one: &SinkOperator, other: &SinkOperator) -> bool {
    let columns = |sink: &SinkOperator| -> Vec<_> {
        let columns = sink.sink.columns.iter().map(|column| (false, column));
        let keys = sink.sink.key_columns.iter().map(|column| (true, column));
        columns.chain(keys).map(|(is_key, column)| (is_key, column.source.clone(), column.scale)).collect()
    };
    let names =
        |sink: &SinkOperator| -> Vec<_> { sink.sink.named_columns().map(|column| column.name.clone()).collect() };
    let left_out =
        |sink: &SinkOperator| -> Vec<_> { sink.sink.exclude.iter().map(|name| name.value.clone()).collect() };
    let carries_the_same = one.carried_sources == other.carried_sources
        && one.sink.append_carried == other.sink.append_carried
        // Which undeclared fields follow depends on what is left out and on the names that are taken.
        && (one.carried_sources.is_empty() || (left_out(one) == left_out(other) && names(one) == names(other)));
    one.sink.format == other.sink.format
        && one.sink.delimiter == other.sink.delimiter
        && columns(one) == columns(other)
        && carries_the_same
}

/// Whether the sink can write every row: an array or a map may have no text.
fn always_writes(sink: &SinkOperator) -> bool {
    sink.sink.named_columns().all(|column| match column.source {
        SinkColumnSource::Column(position) => {
            !matches!(sink.schema.columns[position].ty.kind, Kind::Array(_) | Kind::Map | Kind::Any)
        }
        SinkColumnSource::Carried(_) => true,
    })
}
