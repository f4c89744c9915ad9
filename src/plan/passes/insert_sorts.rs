//! Puts sorts where an order is promised that rows may not arrive in.
//!
//! Before: ports are resolved; orders are claims of sources and wishes of sinks.
//! After: each source whose readers need another order than its files have, or whose claim has to be proven, has one
//! sort behind it that feeds all its readers; each sink with a `sort_order` has one in front of it.
//!
//! A correlation key wants the rows of a group side by side. A declared order that begins with the key's columns, in
//! either direction, does that; else rows are sorted by the key, ascending, then by the rest of the declared order.
//! A declared order is a claim about each file, which has to be proven. Several files are merged into one order only
//! where something below asks for that (`orders::asked_for`); else they stay one behind the other.
//! No order is needed in front of a discard.

use super::orders;
use crate::analysis::hir::Source;
use crate::analysis::orders::{begins_with_key, source_order};
use crate::plan::logical::{LogicalPlan, Node, NodeKind, Place, Port, PortRef, Sort};
use crate::plan::physical::SortPurpose;

/// Runs the pass.
pub fn insert_sorts(mut plan: LogicalPlan) -> LogicalPlan {
    let asked_for = orders::asked_for(&plan);
    for name in plan.order() {
        let node = plan.node(&name);
        match &node.kind {
            NodeKind::Source(source) if is_used(&plan, node) => {
                if let Some(sort) = behind_source(source, asked_for.contains(&name)) {
                    let sort = sort_node(node, sort, node.ports[0].clone());
                    plan.insert_behind(&name, 0, sort);
                }
            }
            NodeKind::Sink(sink) if !sink.sort_order.is_empty() || !sink.drop_nulls.is_empty() => {
                let sort = Sort {
                    keys: sink.sort_order.clone(),
                    drop_nulls: sink.drop_nulls.clone(),
                    purpose: SortPurpose::Sink,
                };
                let sort = sort_node(node, sort, read_port(&plan, &name));
                plan.insert_in_front(&name, sort);
            }
            _ => {}
        }
    }
    plan
}

fn is_used(plan: &LogicalPlan, node: &Node) -> bool {
    plan.readers(&node.name).iter().any(|(reader, _)| !matches!(reader.kind, NodeKind::Discard { .. }))
}

/// The port that a node with one input reads.
fn read_port(plan: &LogicalPlan, name: &str) -> Port {
    let inputs = plan.inputs(name);
    let (producer, edge) = inputs.first().expect("a sink reads a port");
    match edge.port {
        PortRef::Position(position) => producer.ports[position].clone(),
        PortRef::Written(_) => unreachable!("sorts are inserted after ports are resolved"),
    }
}

/// The sort that a source needs behind it; `over_files` says whether an order over all its files is asked for.
fn behind_source(source: &Source, over_files: bool) -> Option<Sort> {
    let purpose = match () {
        () if !begins_with_key(source) => SortPurpose::CorrelationKey,
        () if source.sort_order.is_empty() => return None,
        () if source.matcher.may_be_several() && over_files => SortPurpose::MergeFiles,
        () if source.matcher.may_be_several() => SortPurpose::RepairFiles,
        () => SortPurpose::Repair,
    };
    Some(Sort { keys: source_order(source), drop_nulls: Vec::new(), purpose })
}

/// The sort's node: it belongs to the node it serves.
fn sort_node(serves: &Node, sort: Sort, port: Port) -> Node {
    let name = format!("{}{}", sort.purpose.prefix(), serves.name);
    Node {
        span: serves.span,
        place: Place { rank: 1, ..serves.place },
        ports: vec![Port { name: None, reference: name.clone(), ..port }],
        kind: NodeKind::Sort(sort),
        name,
    }
}
