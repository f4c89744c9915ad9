//! Resolves the ports that edges name, and gives every port a reader.
//!
//! Before: edges hold references as they are written; some ports have no reader.
//! After: every edge holds the position of its port, and every port has a reader: one that nothing reads feeds a
//! discard, which counts its rows, and is warned of (W201).

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::plan::logical::{Edge, LogicalPlan, Node, NodeKind, Place, Port, PortRef};

/// Runs the pass.
pub fn resolve_ports(mut plan: LogicalPlan, diagnostics: &mut Diagnostics) -> LogicalPlan {
    plan.for_each_edge_mut(|producer, edge| {
        let position = match &edge.port {
            PortRef::Written(reference) => producer.ports.iter().position(|port| port.reference == *reference),
            PortRef::Position(position) => Some(*position),
        };
        edge.port = PortRef::Position(position.expect("analysis binds references to ports that exist"));
    });
    for name in plan.order() {
        for position in unread_ports(&plan, &name) {
            diagnostics.push(warning(&plan.node(&name).ports[position]));
            add_discard(&mut plan, &name, position);
        }
    }
    plan
}

fn unread_ports(plan: &LogicalPlan, name: &str) -> Vec<usize> {
    let readers = plan.readers(name);
    let is_read = |position| readers.iter().any(|(_, edge)| edge.port == PortRef::Position(position));
    (0..plan.node(name).ports.len()).filter(|position| !is_read(*position)).collect()
}

fn add_discard(plan: &mut LogicalPlan, producer: &str, position: usize) {
    let place = plan.node(producer).place;
    let Port { reference, span, schema, .. } = plan.node(producer).ports[position].clone();
    let name = format!("discard.{reference}");
    plan.add(Node {
        name: name.clone(),
        span,
        place: Place { rank: position + 1, ..place },
        ports: Vec::new(),
        kind: NodeKind::Discard { port: reference },
    });
    plan.connect(producer, &name, Edge::whole(0, PortRef::Position(position), schema));
}

fn warning(port: &Port) -> Diagnostic {
    Diagnostic::warning(Code::W201, format!("nothing reads `{}`", port.reference))
        .label(port.span, "its rows are counted and dropped")
        .help(format!("read it with `input: {}` where the rows are wanted", port.reference))
}
