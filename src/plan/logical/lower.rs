//! From the HIR to the logical plan: one node each, edges that keep their references as they are written.

use super::{Edge, LogicalPlan, Node, NodeKind, Place, Port, PortRef};
use crate::analysis::hir;
use crate::plan::physical::ColumnSet;

/// Lowers a checked pipeline. Every edge stores every column; nothing is resolved or left out yet.
pub fn lower(pipeline: &hir::Pipeline) -> LogicalPlan {
    let mut plan = LogicalPlan::new(pipeline);
    for (id, node) in pipeline.ids() {
        plan.add(lower_node(id, node));
    }
    for (_, node) in pipeline.ids() {
        for input in &node.inputs {
            let producer = &pipeline.node(input.node).name;
            let edge = lower_edge(&plan.node(producer).ports[input.port]);
            plan.connect(producer, &node.name, edge);
        }
    }
    plan
}

fn lower_node(id: hir::NodeId, node: &hir::Node) -> Node {
    Node {
        name: node.name.clone(),
        span: node.span,
        place: Place { node: id, rank: 0 },
        ports: node.ports.iter().map(|port| lower_port(node, port)).collect(),
        kind: match &node.kind {
            hir::NodeKind::Source(source) => NodeKind::Source(source.clone()),
            hir::NodeKind::Transform(transform) => NodeKind::Transform(transform.clone()),
            hir::NodeKind::Route(route) => NodeKind::Route(route.clone()),
            hir::NodeKind::Sink(sink) => NodeKind::Sink(sink.clone()),
            _ => todo!(),
        },
    }
}

fn lower_port(node: &hir::Node, port: &hir::Port) -> Port {
    let reference = match &port.name {
        Some(name) => format!("{}.{name}", node.name),
        None => node.name.clone(),
    };
    Port { name: port.name.clone(), reference, span: port.span, schema: port.schema.clone() }
}

fn lower_edge(port: &Port) -> Edge {
    Edge {
        port: PortRef::Written(port.reference.clone()),
        schema: port.schema.clone(),
        columns: ColumnSet::all(port.schema.columns.len()),
        shown: ColumnSet::none(port.schema.columns.len()),
        carries: port.schema.carries,
    }
}
