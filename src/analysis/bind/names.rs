//! The names of nodes.

use std::collections::HashMap;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::syntax::pipeline::ast::{Node, NodeKind, Pipeline};

/// The nodes by name.
pub(super) struct Names<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl Names<'_> {
    /// The node called `name`.
    pub fn find(&self, name: &str) -> Found {
        match self.by_name.get(name).map(Vec::as_slice) {
            None => Found::Nothing,
            Some([index]) => Found::Node(*index),
            Some(_) => Found::Several,
        }
    }
}

/// What a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// No node.
    Nothing,
    /// This node.
    Node(usize),
    /// Several nodes, which was reported.
    Several,
}

/// Checks names: E001, W002, names that begin with `__` and pipelines without a beginning or an end (E200).
pub(super) fn check<'a>(pipeline: &'a Pipeline, diagnostics: &mut Diagnostics) -> Names<'a> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_lower_case: HashMap<String, usize> = HashMap::new();
    for (index, node) in pipeline.nodes.iter().enumerate() {
        let name = node.name.value.as_str();
        reserved(node, diagnostics);
        let same = by_name.entry(name).or_default();
        match (same.first(), by_lower_case.get(&name.to_lowercase())) {
            (Some(first), _) => duplicate(&pipeline.nodes[*first], node, diagnostics),
            (None, Some(other)) => similar(&pipeline.nodes[*other], node, diagnostics),
            (None, None) => {
                by_lower_case.insert(name.to_lowercase(), index);
            }
        }
        same.push(index);
    }
    ends(pipeline, diagnostics);
    Names { by_name }
}

/// Nodes that the planner adds begin with two underscores.
fn reserved(node: &Node, diagnostics: &mut Diagnostics) {
    let name = node.name.value.as_str();
    if !name.starts_with("__") {
        return;
    }
    let shorter = name.trim_start_matches('_');
    let help = if shorter.is_empty() { "choose another name".to_owned() } else { format!("call it `{shorter}`") };
    let diagnostic = Diagnostic::error(Code::E200, format!("the node name `{name}` begins with two underscores"))
        .label(node.name.span, "such names are for nodes that the planner adds")
        .help(help);
    diagnostics.push(diagnostic);
}

fn duplicate(first: &Node, second: &Node, diagnostics: &mut Diagnostics) {
    let diagnostic = Diagnostic::error(Code::E001, format!("two nodes are called `{}`", second.name.value))
        .label(second.name.span, "the second one")
        .label(first.name.span, "the first one")
        .help("give one of them another name");
    diagnostics.push(diagnostic);
}

fn similar(first: &Node, second: &Node, diagnostics: &mut Diagnostics) {
    let message = format!("`{}` and `{}` differ only in case", first.name.value, second.name.value);
    let diagnostic = Diagnostic::warning(Code::W002, message)
        .label(second.name.span, "easily taken for the other")
        .label(first.name.span, "the other one");
    diagnostics.push(diagnostic);
}

/// A pipeline needs a source and a sink. Silent where a node could not be read, which may have been one.
fn ends(pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    let unread = |node: &Node| matches!(node.kind, NodeKind::Error { .. } | NodeKind::Unsupported { .. });
    if !pipeline.nodes_complete || pipeline.nodes.iter().any(unread) {
        return;
    }
    let has = |is: fn(&NodeKind) -> bool| pipeline.nodes.iter().any(|node| is(&node.kind));
    let source = has(|kind| matches!(kind, NodeKind::Source(_)));
    let sink = has(|kind| matches!(kind, NodeKind::Sink(_)));
    if !source && !sink {
        let message = "the pipeline has neither a source nor a sink, so nothing is done";
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(pipeline.name.span, "has no source and no sink")
            .help("add a node of `type: source`, which reads files, and one of `type: sink`, which writes one");
        return diagnostics.push(diagnostic);
    }
    for (found, kind, consequence) in [(source, "source", "nothing is read"), (sink, "sink", "nothing is written")] {
        if !found {
            let message = format!("the pipeline has no {kind}, so {consequence}");
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(pipeline.name.span, format!("has no {kind}"))
                .help(format!("add a node of `type: {kind}`"));
            diagnostics.push(diagnostic);
        }
    }
}
