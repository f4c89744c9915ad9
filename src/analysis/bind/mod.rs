//! The binder: names to nodes, ports and columns, and the rules of each node kind.
//!
//! Names and wiring are resolved first, from the file's shape alone. Then the nodes are bound in an order in which
//! each comes after what it reads, so that its input row is known: each gives its part of the HIR and the rows of
//! its ports. A node that fails gives unknown rows, which silence what is below it.

mod aggregate;
mod cull;
mod declared;
mod destinations;
mod error_handling;
mod keys;
mod merge;
mod names;
mod order;
mod paths;
mod reshape;
mod route;
mod rules;
mod settings;
mod sink;
mod source;
mod streaming;
mod transform;
mod wiring;

use std::collections::HashSet;
use std::sync::Arc;

use self::wiring::Wiring;
use super::check::{Ended, Mixes, Row, Vars};
use super::{Options, hir};
use crate::diagnostics::Diagnostics;
use crate::syntax::pipeline::ast;

/// Binds a pipeline. `None` if anything failed; what failed is in `diagnostics`.
pub(super) fn bind(
    pipeline: &ast::Pipeline,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<hir::Pipeline> {
    let names = names::check(pipeline, diagnostics);
    let wiring = wiring::resolve(pipeline, &names, diagnostics);
    let settings = settings::bind(&pipeline.settings, diagnostics);
    let mut binder = Binder::new(pipeline, options, settings.vars, diagnostics);
    for index in wiring.order() {
        binder.node(index, &wiring);
    }
    let (nodes, vars) = (binder.nodes, binder.vars.all);
    let error_handling = error_handling::bind(pipeline, options, &names, diagnostics);
    destinations::check(pipeline, diagnostics);
    keys::refuse_continue(pipeline, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let bound = hir::Pipeline {
        file: pipeline.file,
        name: pipeline.name.value.clone(),
        settings: settings.settings,
        vars,
        nodes: nodes.into_iter().collect::<Option<Vec<_>>>()?,
        error_handling: error_handling?,
    };
    streaming::check(&bound, diagnostics);
    (!diagnostics.has_errors()).then_some(bound)
}

/// What nodes are bound with, and what has come of them.
struct Binder<'a> {
    pipeline: &'a ast::Pipeline,
    options: &'a Options,
    vars: Vars,
    node_names: Vec<&'a str>,
    /// The columns that hold values of several types.
    mixes: Mixes,
    diagnostics: &'a mut Diagnostics,
    nodes: Vec<Option<hir::Node>>,
    /// The rows of each node's ports, in the order of its ports.
    rows: Vec<Vec<Arc<Row>>>,
}

/// A node's part of the HIR, if it has one, and the row of every port.
struct Bound {
    kind: Option<hir::NodeKind>,
    rows: Vec<Arc<Row>>,
}

impl<'a> Binder<'a> {
    fn new(pipeline: &'a ast::Pipeline, options: &'a Options, vars: Vars, diagnostics: &'a mut Diagnostics) -> Self {
        let node_names = pipeline.nodes.iter().map(|node| node.name.value.as_str()).collect();
        let count = pipeline.nodes.len();
        let (nodes, rows) = (vec![None; count], vec![Vec::new(); count]);
        Self { pipeline, options, vars, node_names, mixes: Mixes::new(), diagnostics, nodes, rows }
    }

    /// Binds one node, after all that it reads.
    fn node(&mut self, index: usize, wiring: &Wiring) {
        let node = &self.pipeline.nodes[index];
        let inputs = self.input_rows(index, wiring);
        let input = inputs.first().cloned().unwrap_or_else(|| Arc::new(Row::unknown()));
        let mut bound = match &node.kind {
            ast::NodeKind::Source(source) => self.source(node, source),
            ast::NodeKind::Transform(transform) => self.transform(node, transform, &input),
            ast::NodeKind::Route(route) => self.route(node, route, &input),
            ast::NodeKind::Merge(merge) => self.merge(merge, &inputs, &self.dropping_sources(index, wiring)),
            ast::NodeKind::Aggregate(aggregate) => self.aggregate(node, aggregate, &input),
            ast::NodeKind::Cull(cull) => self.cull(node, cull, &input),
            ast::NodeKind::Reshape(reshape) => self.reshape(node, reshape, &input),
            ast::NodeKind::Sink(sink) => {
                if let Some(above) = self.transform_above(index, wiring) {
                    self.leaves_nothing_out(node, sink, &input, above);
                }
                self.sink(node, sink, &input, self.reads_transform(index, wiring))
            }
            ast::NodeKind::Unsupported { .. } | ast::NodeKind::Error { .. } => Bound { kind: None, rows: Vec::new() },
        };
        for row in &mut bound.rows {
            pass_on_ended(node, &inputs, row);
        }
        self.nodes[index] = assemble(node, wiring.inputs(index), bound.kind, &bound.rows);
        self.rows[index] = bound.rows;
    }

    /// The rows that the node reads, input by input; unknown where it reads nothing that is known.
    fn input_rows(&self, index: usize, wiring: &Wiring) -> Vec<Arc<Row>> {
        let row = |port: &Option<hir::PortRef>| {
            let row = port.as_ref().and_then(|port| self.rows[port.node.0 as usize].get(port.port));
            row.cloned().unwrap_or_else(|| Arc::new(Row::unknown()))
        };
        wiring.inputs(index).iter().map(row).collect()
    }

    /// For each input of a node, a source above it that drops or refuses undeclared fields, if there is one. Behind an
    /// aggregate, or a transform that passes on only what it emits, rows would have none anyway.
    fn dropping_sources(&self, index: usize, wiring: &Wiring) -> Vec<Option<&'a ast::Node>> {
        let dropping = |port: &Option<hir::PortRef>| {
            let ends = |node: usize| match &self.pipeline.nodes[node].kind {
                ast::NodeKind::Aggregate(_) => true,
                ast::NodeKind::Transform(transform) => !transform.include_unmapped,
                _ => false,
            };
            let above = wiring.above_until(port.as_ref()?.node.0 as usize, ends).into_iter();
            above.map(|node| &self.pipeline.nodes[node]).find(|node| match &node.kind {
                ast::NodeKind::Source(source) => source.on_unmapped != ast::OnUnmapped::AutoWiden,
                _ => false,
            })
        };
        wiring.inputs(index).iter().map(dropping).collect()
    }

    /// The transform whose rows reach a node that does not read it itself, through nodes that keep the columns.
    fn transform_above(&self, index: usize, wiring: &Wiring) -> Option<&'a ast::Node> {
        let read = |index: usize| match wiring.inputs(index) {
            [Some(port)] => Some(port.node.0 as usize),
            _ => None,
        };
        let mut above = read(index)?;
        while let ast::NodeKind::Route(_) | ast::NodeKind::Cull(_) | ast::NodeKind::Reshape(_) =
            self.pipeline.nodes[above].kind
        {
            above = read(above)?;
            if let ast::NodeKind::Transform(_) = self.pipeline.nodes[above].kind {
                return Some(&self.pipeline.nodes[above]);
            }
        }
        None
    }

    /// The names that the transform in front of the node emits, if it is a transform.
    fn reads_transform(&self, index: usize, wiring: &Wiring) -> Option<&'a ast::Transform> {
        let port = wiring.inputs(index).first()?.as_ref()?;
        match &self.pipeline.nodes[port.node.0 as usize].kind {
            ast::NodeKind::Transform(transform) => Some(transform),
            _ => None,
        }
    }
}

/// Notes in a row that a node gives which columns ended there or above.
fn pass_on_ended(node: &ast::Node, inputs: &[Arc<Row>], row: &mut Arc<Row>) {
    let passed: HashSet<&str> = row.schema.visible().iter().map(|column| column.name.as_str()).collect();
    let others = || inputs.iter().filter(|input| !Arc::ptr_eq(input, row));
    let here = others().flat_map(|input| input.schema.visible()).map(|column| &column.name);
    let columns: HashSet<String> = here.filter(|name| !passed.contains(name.as_str())).cloned().collect();
    let mut above: Vec<Arc<Ended>> = others().filter_map(|input| input.ended.clone()).collect();
    above.dedup_by(|next, one| Arc::ptr_eq(next, one));
    let ended = match above.as_slice() {
        [only] if columns.is_empty() => Some(only.clone()),
        [] if columns.is_empty() => None,
        _ => {
            let at_aggregate = matches!(node.kind, ast::NodeKind::Aggregate(_));
            Some(Arc::new(Ended { columns, node: node.name.value.clone(), at_aggregate, above }))
        }
    };
    if ended.is_some() {
        Arc::make_mut(row).ended = ended;
    }
}

/// The node with its ports; `None` if its input or its kind failed.
fn assemble(
    node: &ast::Node,
    inputs: &[Option<hir::PortRef>],
    kind: Option<hir::NodeKind>,
    rows: &[Arc<Row>],
) -> Option<hir::Node> {
    let offered = wiring::ports(node);
    if !offered.complete {
        return None;
    }
    let port = |(name, row): (Option<&str>, &Arc<Row>)| hir::Port {
        name: name.map(str::to_owned),
        span: wiring::port_span(node, name),
        schema: Arc::new(row.schema.clone()),
    };
    Some(hir::Node {
        name: node.name.value.clone(),
        span: node.name.span,
        inputs: inputs.iter().cloned().collect::<Option<Vec<_>>>()?,
        ports: offered.names.into_iter().zip(rows).map(port).collect(),
        kind: kind?,
    })
}
