//! From the HIR to the logical plan: one node each, edges that keep their references as they are written.

use super::{Edge, LogicalPlan, Node, NodeKind, Place, Port, PortRef};
use crate::analysis::hir;

/// Lowers a checked pipeline. Every edge stores every column; nothing is resolved or left out yet.
pub fn lower(pipeline: &hir::Pipeline) -> LogicalPlan {
    let mut plan = LogicalPlan::new(pipeline);
    for (id, node) in pipeline.ids() {
        plan.add(lower_node(id, node));
    }
    for (_, node) in pipeline.ids() {
        for (position, input) in node.inputs.iter().enumerate() {
            let producer = &pipeline.node(input.node).name;
            let edge = lower_edge(position, &plan.node(producer).ports[input.port]);
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
            hir::NodeKind::Merge(merge) => NodeKind::Merge(merge.clone()),
            hir::NodeKind::Cull(cull) => NodeKind::Cull(cull.clone()),
            hir::NodeKind::Aggregate(aggregation) => NodeKind::Aggregate(aggregation.clone()),
            hir::NodeKind::Reshape(reshape) => NodeKind::Reshape(reshape.clone()),
            hir::NodeKind::Sink(sink) => NodeKind::Sink(sink.clone()),
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

fn lower_edge(input: usize, port: &Port) -> Edge {
    Edge::whole(input, PortRef::Written(port.reference.clone()), port.schema.clone())
}
