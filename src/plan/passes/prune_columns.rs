//! Leaves out the columns that nothing reads.
//!
//! Before: every edge stores every column of its schema.
//! After: an edge stores what its reader needs: the columns that expressions, keys, route conditions and sinks read
//! there or further down. Undeclared fields travel only towards a sink that writes them, and end at an aggregate.
//!
//! Pruning drops storage, never a check: a source validates every declared column, and transforms, aggregates and
//! reshapes evaluate every expression, since each may fail, whether or not it is stored.
//!
//! Dead letters are readers, too. One shows the row as it entered the node where it failed, and is made while the
//! block that the row came from is in hand. A cell that still is a declared column of the source is decoded from
//! there again, so it forces nothing to be stored. A computed cell can't be had back, nor can any behind a buffer or a
//! merge, where the block may be gone: where a node can fail and its dead letters go to a file with source rows, every
//! such column of its input is stored up to it. A cull's or a reshape's group fails when all its rows are in, so all
//! their columns are kept.

use std::collections::BTreeMap;

use super::{expr, lineage};
use crate::analysis::hir::{Expr, Schema, SinkColumnSource};
use crate::plan::logical::{Edge, LogicalPlan, Node, NodeKind, PortRef};
use crate::plan::physical::ColumnSet;

/// Runs the pass.
pub fn prune_columns(mut plan: LogicalPlan) -> LogicalPlan {
    let origins = origins(&plan);
    for name in plan.order().into_iter().rev() {
        let Some((_, input)) = plan.inputs(&name).into_iter().next() else { continue };
        let node = plan.node(&name);
        if let NodeKind::Merge(merge) = &node.kind {
            let output = Needs::of_readers(&plan, node);
            let columns = merge.columns.clone();
            plan.for_each_input_mut(&name, |edge| output.through_merge(&columns[edge.input], edge).set(edge));
            continue;
        }
        let mut needs = Needs::nothing(input.schema.columns.len());
        needs.add_own(node, input.schema.carries);
        needs.add_readers(&plan, node);
        if shows_rows(&plan, node) {
            match node.kind {
                NodeKind::Cull(_) | NodeKind::Reshape(_) => needs.shown = lineage::shown(&input.schema),
                _ => needs.add_computed(&origins[&name], &input.schema),
            }
        }
        plan.for_each_input_mut(&name, |edge| needs.set(edge));
    }
    plan
}

/// What has to be stored on a node's input.
struct Needs {
    /// What is read, dead letters aside.
    read: ColumnSet,
    /// What dead letters show.
    shown: ColumnSet,
    carries: bool,
}

impl Needs {
    fn nothing(width: usize) -> Self {
        Self { read: ColumnSet::none(width), shown: ColumnSet::none(width), carries: false }
    }

    fn set(&self, edge: &mut Edge) {
        edge.columns = self.read.clone();
        edge.columns.union(&self.shown);
        edge.shown = self.shown.clone();
        edge.shown.subtract(&self.read);
        edge.carries = self.carries && edge.schema.carries;
    }

    /// What the readers of a node need of its ports.
    fn of_readers(plan: &LogicalPlan, node: &Node) -> Self {
        let mut needs = Self::nothing(node.ports[0].schema.columns.len());
        needs.add_readers(plan, node);
        needs
    }

    /// What that is of an input of a merge; the merge's columns are found at `columns` there.
    fn through_merge(&self, columns: &[Option<usize>], edge: &Edge) -> Self {
        let mut input = Self { carries: self.carries, ..Self::nothing(edge.schema.columns.len()) };
        for (output, column) in columns.iter().enumerate() {
            let Some(column) = *column else { continue };
            if self.read.contains(output) {
                input.read.insert(column);
            }
            if self.shown.contains(output) {
                input.shown.insert(column);
            }
        }
        input
    }

    /// Adds what the node itself reads.
    fn add_own(&mut self, node: &Node, carries: bool) {
        match &node.kind {
            NodeKind::Transform(transform) => self.add_reads(expr::of_transform(transform)),
            NodeKind::Aggregate(aggregation) => {
                let grouped = ColumnSet::all(aggregation.rows.output.len());
                lineage::inputs_of(&aggregation.rows, &grouped).for_each(|column| self.read.insert(column));
                self.add_reads(expr::of_transform(&aggregation.rows));
            }
            NodeKind::Reshape(reshape) => {
                lineage::rearranged_by(reshape).for_each(|column| self.read.insert(column));
                self.add_reads(expr::of_reshape(reshape));
            }
            NodeKind::Distinct(distinct) => distinct.key.iter().for_each(|column| self.read.insert(*column)),
            NodeKind::Route(route) => self.add_reads(&route.conditions),
            NodeKind::Sink(sink) => {
                let mut maps_carried = false;
                for column in sink.named_columns() {
                    match &column.source {
                        SinkColumnSource::Column(position) => self.read.insert(*position),
                        SinkColumnSource::Carried(_) => maps_carried = true,
                    }
                }
                self.carries |= carries && (sink.append_carried || maps_carried);
            }
            NodeKind::Sort(sort) => {
                sort.keys.iter().for_each(|key| self.read.insert(key.column));
                sort.drop_nulls.iter().for_each(|column| self.read.insert(*column));
            }
            NodeKind::Cull(cull) => {
                lineage::decided_on(cull).for_each(|column| self.read.insert(column));
                self.add_reads(expr::of_aggregates(&cull.aggregates));
            }
            NodeKind::Source(_) | NodeKind::Merge(_) | NodeKind::Discard { .. } => {}
        }
    }

    fn add_reads<'a>(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        for expr in exprs {
            expr::add_reads(expr, &mut self.read);
        }
    }

    /// Adds what the node hands on to its readers.
    fn add_readers(&mut self, plan: &LogicalPlan, node: &Node) {
        for (_, edge) in plan.readers(&node.name) {
            let mut read = edge.columns.clone();
            read.subtract(&edge.shown);
            match &node.kind {
                NodeKind::Transform(transform) => {
                    lineage::inputs_of(transform, &read).for_each(|position| self.read.insert(position));
                    lineage::inputs_of(transform, &edge.shown).for_each(|position| self.shown.insert(position));
                    self.carries |= edge.carries && transform.keeps_carried;
                }
                // Every row of it is new.
                NodeKind::Aggregate(_) => {}
                // A reshape's stamps, which its input lacks, stand behind all other columns.
                _ => {
                    self.read.union(&read);
                    self.shown.union(&edge.shown);
                    self.carries |= edge.carries;
                }
            }
        }
    }

    fn add_computed(&mut self, origins: &[Option<usize>], schema: &Schema) {
        let shown = lineage::shown(schema);
        let computed = shown.iter().filter(|position| origins[*position].is_none());
        computed.for_each(|position| self.shown.insert(position));
    }
}

/// Whether rows that fail at the node are written with their columns.
fn shows_rows(plan: &LogicalPlan, node: &Node) -> bool {
    let can_fail = match &node.kind {
        NodeKind::Transform(transform) => expr::transform_can_fail(transform),
        NodeKind::Route(route) => expr::route_can_fail(route),
        NodeKind::Aggregate(aggregation) => expr::aggregation_row_can_fail(aggregation),
        NodeKind::Cull(cull) => expr::cull_group_can_fail(cull),
        NodeKind::Reshape(reshape) => expr::reshape_group_can_fail(reshape),
        NodeKind::Distinct(distinct) => {
            let columns = &node.ports[0].schema.columns;
            !distinct.key.iter().all(|column| expr::is_key(&columns[*column].ty.kind))
        }
        NodeKind::Source(_) | NodeKind::Merge(_) | NodeKind::Sort(_) | NodeKind::Sink(_) | NodeKind::Discard { .. } => {
            false
        }
    };
    let errors = &plan.errors;
    let is_written = || plan.makers(&node.name).into_iter().any(|maker| has_file(plan, maker));
    can_fail && errors.continue_on_error && errors.include_source_row && is_written()
}

/// Whether dead letters of rows that a source or an aggregate made are written to a file.
fn has_file(plan: &LogicalPlan, maker: &Node) -> bool {
    let own = plan.errors.per_source.iter().find(|own| own.source == maker.place.node);
    plan.errors.dlq_path.is_some() || own.is_some_and(|own| own.dlq_path.is_some())
}

/// For each node, the origins of its input's columns.
fn origins(plan: &LogicalPlan) -> BTreeMap<String, Vec<Option<usize>>> {
    let mut inputs: BTreeMap<String, Vec<Option<usize>>> = BTreeMap::new();
    for name in plan.order() {
        let node = plan.node(&name);
        let outputs = match &node.kind {
            NodeKind::Source(source) => lineage::of_source(source),
            NodeKind::Transform(transform) => lineage::through_transform(transform, &inputs[&name]),
            NodeKind::Route(_) => inputs[&name].clone(),
            NodeKind::Merge(_)
            | NodeKind::Sort(_)
            | NodeKind::Cull(_)
            | NodeKind::Aggregate(_)
            | NodeKind::Reshape(_)
            | NodeKind::Distinct(_) => vec![None; node.ports[0].schema.columns.len()],
            NodeKind::Sink(_) | NodeKind::Discard { .. } => continue,
        };
        for (reader, edge) in plan.readers(&name) {
            debug_assert!(matches!(edge.port, PortRef::Position(_)), "columns are pruned after ports are resolved");
            inputs.insert(reader.name.clone(), outputs.clone());
        }
    }
    inputs
}
