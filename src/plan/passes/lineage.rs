//! Where columns come from: which of an edge still are declared columns of the source that drives it, and which of a
//! transform's output are columns of its input. And where rows come from: which sources, and which aggregates.

use std::collections::BTreeSet;

use crate::analysis::hir::{Aggregation, Column, Cull, OutputColumn, Reshape, Schema, SortKey, Source, Transform};
use crate::plan::physical::{ColumnSet, OperatorId, OperatorKind, PhysicalPlan};

/// The origins of a source's own columns: each is itself, and a hidden key column is the column that it is a copy of.
pub fn of_source(source: &Source) -> Vec<Option<usize>> {
    (0..source.columns.len()).chain(source.correlation_key.iter().copied()).map(Some).collect()
}

/// The columns of its input that a cull groups and orders by.
pub fn decided_on(cull: &Cull) -> impl Iterator<Item = usize> + '_ {
    grouped_by(&cull.partition_by, &cull.hidden_keys, &cull.order_by)
}

/// The columns of its input that a reshape groups and orders by.
pub fn rearranged_by(reshape: &Reshape) -> impl Iterator<Item = usize> + '_ {
    grouped_by(&reshape.partition_by, &reshape.hidden_keys, &reshape.order_by)
}

fn grouped_by<'a>(
    partition_by: &'a [usize],
    hidden_keys: &'a [usize],
    order_by: &'a [SortKey],
) -> impl Iterator<Item = usize> + 'a {
    partition_by.iter().chain(hidden_keys).copied().chain(order_by.iter().map(|key| key.column))
}

/// The columns that dead letters show of a row: all but what the engine adds, correlation keys aside.
pub fn shown(schema: &Schema) -> ColumnSet {
    let mut shown = ColumnSet::none(schema.columns.len());
    let is_shown = |column: &Column| !column.hidden || column.is_key();
    let positions = schema.columns.iter().enumerate().filter(|(_, column)| is_shown(column));
    positions.for_each(|(position, _)| shown.insert(position));
    shown
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

/// The makers of rows.
pub struct Makers {
    /// For each operator, in plan order, what made the rows that it gives: sources, and aggregates.
    pub given: Vec<BTreeSet<OperatorId>>,
    /// The same for the rows that it reads; for a source those that it gives.
    pub read: Vec<BTreeSet<OperatorId>>,
}

impl Makers {
    /// Those of a plan.
    pub fn of(plan: &PhysicalPlan) -> Self {
        let (mut given, mut read): (Vec<BTreeSet<OperatorId>>, Vec<BTreeSet<OperatorId>>) = (Vec::new(), Vec::new());
        for (id, operator) in plan.operators() {
            let inputs = plan.inputs(id);
            let above = inputs.iter().flat_map(|(OperatorId(producer), _)| given[*producer as usize].clone());
            let above: BTreeSet<OperatorId> = above.collect();
            let own = || BTreeSet::from([id]);
            given.push(if operator.makes_rows() { own() } else { above.clone() });
            read.push(if matches!(operator.kind, OperatorKind::Source(_)) { own() } else { above });
        }
        Self { given, read }
    }

    /// Whether dead letters of an operator are written with the columns of the row that it read.
    pub fn shows_records(&self, plan: &PhysicalPlan, id: OperatorId) -> bool {
        let made = &self.read[id.0 as usize];
        let files = plan.dead_letters.routes.iter().filter(|(maker, _)| made.contains(maker));
        files.filter_map(|(_, file)| *file).any(|file| plan.dead_letters.files[file].include_source_row)
    }
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

/// Adds an aggregate's output columns that are no column of its key as it came from a source.
pub fn computed_by_groups(aggregation: &Aggregation, input: &ColumnSet, output: &mut ColumnSet) {
    let mut grouped = ColumnSet::none(aggregation.grouped.columns.len());
    computed(&aggregation.rows, input, &mut grouped);
    let mut groups = ColumnSet::none(aggregation.groups.columns.len());
    for position in 0..groups.width() {
        if position >= aggregation.key || grouped.contains(position) {
            groups.insert(position);
        }
    }
    computed(&aggregation.results, &groups, output);
}

/// Adds a reshape's output columns that a rule writes, and those that are computed columns of its input.
pub fn computed_by_rules(reshape: &Reshape, input: &ColumnSet, output: &mut ColumnSet) {
    output.union(input);
    for rule in &reshape.rules {
        let overrides = rule.synthesize.iter().flat_map(|synthesis| &synthesis.overrides);
        rule.set.iter().chain(overrides).for_each(|assignment| output.insert(assignment.column));
    }
    reshape.stamps.iter().for_each(|stamp| output.insert(*stamp));
}
