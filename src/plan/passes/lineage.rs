//! Where columns come from: which of an edge still are declared columns of the source that drives it, and which of a
//! transform's output are columns of its input. And where rows come from: which sources.

use std::collections::BTreeSet;

use crate::analysis::hir::{Cull, OutputColumn, Source, Transform};
use crate::plan::physical::{ColumnSet, OperatorId, PhysicalPlan};

/// The origins of a source's own columns: each is itself, and a hidden key column is the column that it is a copy of.
pub fn of_source(source: &Source) -> Vec<Option<usize>> {
    (0..source.columns.len()).chain(source.correlation_key.iter().copied()).map(Some).collect()
}

/// The columns of its input that a cull groups and orders by.
pub fn decided_on(cull: &Cull) -> impl Iterator<Item = usize> + '_ {
    let keys = cull.partition_by.iter().chain(&cull.hidden_keys).copied();
    keys.chain(cull.order_by.iter().map(|key| key.column))
}

/// The origins of a transform's output columns, from those of its input: what it emits has none.
pub fn through_transform(transform: &Transform, input: &[Option<usize>]) -> Vec<Option<usize>> {
    let origin = |column: &OutputColumn| match column {
        OutputColumn::Input(position) => input[*position],
        OutputColumn::Emit(_) => None,
    };
    transform.output.iter().map(origin).collect()
}

/// The input columns that these output columns of a transform are.
pub fn inputs_of<'a>(transform: &'a Transform, outputs: &'a ColumnSet) -> impl Iterator<Item = usize> + 'a {
    outputs.iter().filter_map(|output| match transform.output[output] {
        OutputColumn::Input(position) => Some(position),
        OutputColumn::Emit(_) => None,
    })
}

/// For each operator, in plan order, the sources that its rows come from; a source's own are itself.
pub fn sources_above(plan: &PhysicalPlan) -> Vec<BTreeSet<OperatorId>> {
    let mut found: Vec<BTreeSet<OperatorId>> = Vec::new();
    for (id, _) in plan.operators() {
        let inputs = plan.inputs(id);
        let above = inputs.iter().flat_map(|(OperatorId(producer), _)| found[*producer as usize].clone());
        let own = inputs.is_empty().then_some(id);
        found.push(above.chain(own).collect());
    }
    found
}

/// Adds a transform's output columns that it computes, and those that are computed columns of its input.
pub fn computed(transform: &Transform, input: &ColumnSet, output: &mut ColumnSet) {
    for (position, column) in transform.output.iter().enumerate() {
        match column {
            OutputColumn::Input(column) if !input.contains(*column) => {}
            _ => output.insert(position),
        }
    }
}
