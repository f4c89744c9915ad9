//! The document as a graph for Graphviz: a box for each operator, an arrow for each edge.

use super::model::{Document, Edge, Node};

/// Prints the graph.
pub fn dot(document: &Document) -> String {
    let head = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(&document.name));
    let nodes = document.nodes.iter().map(box_line);
    let edges = document.edges.iter().map(arrow);
    let lines: String = nodes.chain(edges).collect();
    format!("{head}{lines}}}\n")
}

fn box_line(node: &Node) -> String {
    format!("  {} [label={}];\n", quoted(&node.label), quoted(&format!("[{}] {}", node.kind, node.name)))
}

fn arrow(edge: &Edge) -> String {
    let label = edge.port.as_ref().map_or_else(String::new, |port| format!(" [label={}]", quoted(port)));
    format!("  {} -> {}{label};\n", quoted(&edge.from), quoted(&edge.to))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
