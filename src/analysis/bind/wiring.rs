//! Which port each node reads: references resolved, circles found, and an order in which to bind.

use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::names::{Found, Names};
use crate::analysis::check::list;
use crate::analysis::hir::{NodeId, PortRef};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span, Spanned};
use crate::syntax::pipeline::ast::{Node, NodeKind, Pipeline};

/// What every node reads.
pub(super) struct Wiring {
    /// For each node, each input's port; `None` where it could not be resolved or lies on a circle.
    inputs: Vec<Vec<Option<PortRef>>>,
}

impl Wiring {
    /// What the node reads.
    pub fn inputs(&self, node: usize) -> &[Option<PortRef>] {
        &self.inputs[node]
    }

    /// The node and all whose rows reach it, but nothing above a node for which `ends` holds, in file order.
    pub fn above_until(&self, node: usize, ends: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let (mut found, mut waiting) = (BTreeSet::from([node]), vec![node]);
        while let Some(node) = waiting.pop() {
            if ends(node) {
                continue;
            }
            let read = self.inputs[node].iter().flatten().map(|port| port.node.0 as usize);
            waiting.extend(read.filter(|read| found.insert(*read)));
        }
        found
    }

    /// Every node, each after all that it reads; otherwise in file order.
    pub fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.inputs.len());
        let mut done = vec![false; self.inputs.len()];
        for start in 0..self.inputs.len() {
            let mut pending = vec![start];
            while let Some(&node) = pending.last() {
                let read = self.inputs[node].iter().flatten().map(|port| port.node.0 as usize);
                let missing = read.into_iter().find(|read| !done[*read]);
                match missing {
                    Some(read) if !done[node] => pending.push(read),
                    _ => {
                        pending.pop();
                        if !std::mem::replace(&mut done[node], true) {
                            order.push(node);
                        }
                    }
                }
            }
        }
        order
    }
}

/// The ports of a node, as far as they are known.
pub(super) struct Ports<'a> {
    /// Their names in order, the bare one as `None`.
    pub names: Vec<Option<&'a str>>,
    /// Whether there are no others; if not, any name may be meant for a port that could not be read.
    pub complete: bool,
}

/// The ports that a node offers.
pub(super) fn ports(node: &Node) -> Ports<'_> {
    let all = |names| Ports { names, complete: true };
    match &node.kind {
        NodeKind::Source(_)
        | NodeKind::Transform(_)
        | NodeKind::Merge(_)
        | NodeKind::Aggregate(_)
        | NodeKind::Reshape(_) => all(vec![None]),
        NodeKind::Sink(_) => all(Vec::new()),
        NodeKind::Route(route) => {
            let branches = route.conditions.iter().map(|(name, _)| Some(name.value.as_str()));
            // A default that has the name of a branch is to get another one, which may be read already.
            let complete = route.conditions.iter().all(|(name, _)| name.value != route.default.value);
            Ports { names: branches.chain([Some(route.default.value.as_str())]).collect(), complete }
        }
        NodeKind::Cull(cull) => match &cull.removed_to {
            Some(removed_to) => all(vec![None, Some(&removed_to.value)]),
            None => Ports { names: vec![None], complete: false },
        },
        NodeKind::Unsupported { .. } | NodeKind::Error { .. } => Ports { names: Vec::new(), complete: false },
    }
}

/// Where the name of a node's port stands; for the bare port, the node's name.
pub(super) fn port_span(node: &Node, port: Option<&str>) -> Span {
    match (&node.kind, port) {
        (NodeKind::Route(route), Some(port)) => {
            let branch = route.conditions.iter().map(|(branch, _)| branch).find(|branch| branch.value == port);
            branch.unwrap_or(&route.default).span
        }
        (NodeKind::Cull(cull), Some(_)) => cull.removed_to.as_ref().unwrap_or(&node.name).span,
        _ => node.name.span,
    }
}

/// Resolves every input: E002 for a node that reads itself, E003 for circles, E004 for names that don't exist.
pub(super) fn resolve(pipeline: &Pipeline, names: &Names, diagnostics: &mut Diagnostics) -> Wiring {
    let mut resolver = Resolver { pipeline, names, diagnostics };
    let inputs: Vec<Vec<Option<PortRef>>> = (pipeline.nodes.iter().enumerate())
        .map(|(index, node)| inputs_of(node).map(|input| resolver.input(index, input)).collect())
        .collect();
    let mut wiring = Wiring { inputs };
    break_circles(pipeline, &mut wiring, diagnostics);
    wiring
}

fn inputs_of(node: &Node) -> impl Iterator<Item = &Spanned<String>> {
    let (one, several) = match &node.kind {
        NodeKind::Source(_) => (None, [].as_slice()),
        NodeKind::Transform(transform) => (Some(&transform.input), [].as_slice()),
        NodeKind::Route(route) => (Some(&route.input), [].as_slice()),
        NodeKind::Merge(merge) => (None, merge.inputs.as_slice()),
        NodeKind::Aggregate(aggregate) => (Some(&aggregate.input), [].as_slice()),
        NodeKind::Cull(cull) => (Some(&cull.input), [].as_slice()),
        NodeKind::Reshape(reshape) => (Some(&reshape.input), [].as_slice()),
        NodeKind::Sink(sink) => (Some(&sink.input), [].as_slice()),
        NodeKind::Unsupported { inputs, .. } | NodeKind::Error { inputs } => (None, inputs.as_slice()),
    };
    one.into_iter().chain(several)
}

struct Resolver<'a, 'd> {
    pipeline: &'a Pipeline,
    names: &'a Names<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Resolver<'a, '_> {
    fn input(&mut self, reader: usize, input: &'a Spanned<String>) -> Option<PortRef> {
        let text = input.value.as_str();
        // A name with a dot in it is reported where the node is; a reference to it is no second mistake.
        if self.names.find(text) != Found::Nothing && text.contains('.') {
            return None;
        }
        let (name, port) = match text.split_once('.') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        match self.names.find(name) {
            Found::Nothing => self.unknown_node(reader, name, input, port),
            Found::Several => {}
            Found::Node(node) if node == reader => self.own_input(node, input.span),
            Found::Node(node) => return self.port(node, port, input.span),
        }
        None
    }

    fn own_input(&mut self, node: usize, span: Span) {
        let node = &self.pipeline.nodes[node];
        let name = &node.name.value;
        let branch_of = |other: &&Node| match &other.kind {
            NodeKind::Route(route) => {
                route.default.value == *name || route.conditions.iter().any(|(branch, _)| branch.value == *name)
            }
            _ => false,
        };
        let route = self.pipeline.nodes.iter().find(branch_of);
        let diagnostic = Diagnostic::error(Code::E002, format!("`{name}` reads from itself"))
            .label(span, "names its own node")
            .label(node.name.span, "this node")
            .help_opt(route.map(|route| format!("did you mean `{}.{name}`?", route.name.value)));
        self.diagnostics.push(diagnostic);
    }

    fn unknown_node(&mut self, reader: usize, name: &str, input: &Spanned<String>, port: Option<&str>) {
        if !self.pipeline.nodes_complete || self.diagnostics.reports(input.span) {
            return;
        }
        let nodes = self.pipeline.nodes.iter().enumerate();
        let readable = nodes.filter(|(index, node)| *index != reader && !matches!(node.kind, NodeKind::Sink(_)));
        let candidates = readable.map(|(_, node)| node.name.value.as_str());
        let diagnostic = Diagnostic::error(Code::E004, format!("no node is called `{name}`"))
            .label(input.span, "not a node of this pipeline");
        let of_ports = if port.is_none() { self.ports_called(reader, name) } else { Vec::new() };
        let close = || closest(name, candidates.clone());
        let meant = match of_ports.as_slice() {
            [one] => Some(one.clone()),
            [] => close().map(|found| port.map_or(found.to_owned(), |port| format!("{found}.{port}"))),
            several => {
                let several: Vec<&str> = several.iter().map(String::as_str).collect();
                let help = format!("a port is read with its node: there are {}", list(&several));
                return self.diagnostics.push(diagnostic.help(help));
            }
        };
        let diagnostic = match meant {
            Some(replacement) => {
                let diagnostic = diagnostic.help(format!("did you mean `{replacement}`?"));
                with_fix(diagnostic, input, replacement)
            }
            None => match candidates.collect::<Vec<_>>().as_slice() {
                [] => diagnostic.note("there is no other node to read from"),
                names => diagnostic.note(format!("nodes to read from: {}", list(names))),
            },
        };
        self.diagnostics.push(diagnostic);
    }

    /// The ports of other nodes that are called so: `route.name`.
    fn ports_called(&self, reader: usize, name: &str) -> Vec<String> {
        let others = self.pipeline.nodes.iter().enumerate().filter(|(index, _)| *index != reader);
        let having = others.filter(|(_, node)| ports(node).names.contains(&Some(name)));
        having.map(|(_, node)| format!("{}.{name}", node.name.value)).collect()
    }

    fn port(&mut self, node: usize, port: Option<&'a str>, span: Span) -> Option<PortRef> {
        let ports = ports(&self.pipeline.nodes[node]);
        let position = ports.names.iter().position(|name| *name == port);
        if position.is_none() && ports.complete {
            self.unknown_port(node, &ports.names, port, span);
        }
        position.map(|position| PortRef { node: NodeId(node as u32), port: position, span })
    }

    fn unknown_port(&mut self, node: usize, ports: &[Option<&str>], port: Option<&str>, span: Span) {
        let node = &self.pipeline.nodes[node];
        let name = node.name.value.as_str();
        let branches: Vec<&str> = ports.iter().flatten().copied().collect();
        let full = |port: &Option<&str>| port.map_or(name.to_owned(), |port| format!("{name}.{port}"));
        let full: Vec<String> = ports.iter().map(full).collect();
        let full: Vec<&str> = full.iter().map(String::as_str).collect();
        let message = match (port, ports) {
            (_, []) => format!("`{name}` is a sink, and nothing can be read from a sink"),
            (Some(port), _) => format!("`{name}` has no port `{port}`"),
            (None, _) => format!("`{name}` is a route: its branches are read, not the route itself"),
        };
        let label = match (port, ports) {
            (_, []) => "has no rows to offer",
            (Some(_), _) => "no such port",
            (None, _) => "which branch?",
        };
        let mut diagnostic = Diagnostic::error(Code::E004, message).label(span, label);
        diagnostic = diagnostic.label(node.name.span, "the node");
        diagnostic = match (branches.as_slice(), ports) {
            (_, []) => diagnostic.help("read from the node in front of it"),
            ([], _) => diagnostic.help(format!("write `{name}`: it has one port, without a name")),
            _ => diagnostic.note(format!("its ports are {}", list(&full))),
        };
        let found = port.and_then(|port| closest(port, branches.iter().copied()));
        let help = found.map(|found| format!("did you mean `{name}.{found}`?"));
        self.diagnostics.push(diagnostic.help_opt(help));
    }
}

/// Adds the replacement where the reference stands as it is read, without quotes or escapes.
fn with_fix(diagnostic: Diagnostic, input: &Spanned<String>, replacement: String) -> Diagnostic {
    let plain = (input.span.end - input.span.start) as usize == input.value.len();
    if plain { diagnostic.fix(input.span, replacement) } else { diagnostic }
}

/// Reports each circle once and takes the inputs on it out.
fn break_circles(pipeline: &Pipeline, wiring: &mut Wiring, diagnostics: &mut Diagnostics) {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in &pipeline.nodes {
        graph.add_node(());
    }
    for (reader, inputs) in wiring.inputs.iter().enumerate() {
        for port in inputs.iter().flatten() {
            graph.add_edge(NodeIndex::new(port.node.0 as usize), NodeIndex::new(reader), ());
        }
    }
    let mut circles: Vec<Vec<usize>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| component.into_iter().map(NodeIndex::index).collect())
        .collect();
    circles.sort_by_key(|circle| circle.iter().min().copied());
    for circle in circles {
        report_circle(pipeline, wiring, &circle, diagnostics);
        for node in &circle {
            for input in &mut wiring.inputs[*node] {
                input.take_if(|port| circle.contains(&(port.node.0 as usize)));
            }
        }
    }
}

/// Walks from the first node of the component upstream until a node comes again.
fn report_circle(pipeline: &Pipeline, wiring: &Wiring, component: &[usize], diagnostics: &mut Diagnostics) {
    let upstream =
        |node: usize| wiring.inputs[node].iter().flatten().find(|port| component.contains(&(port.node.0 as usize)));
    let mut path: Vec<(usize, Span)> = Vec::new();
    let mut node = component.iter().min().copied().expect("a component has nodes");
    while !path.iter().any(|(seen, _)| *seen == node) {
        let port = upstream(node).expect("each node of a component reads one of its nodes");
        path.push((node, port.span));
        node = port.node.0 as usize;
    }
    path.retain({
        let mut inside = false;
        move |(seen, _)| {
            inside |= *seen == node;
            inside
        }
    });
    // The walk went against the data; names are shown the way rows would flow.
    path[1..].reverse();
    let name = |node: usize| pipeline.nodes[node].name.value.as_str();
    let shown: Vec<&str> = path.iter().map(|(node, _)| name(*node)).chain([name(path[0].0)]).collect();
    let message = format!("nodes read from each other in a circle: {}", shown.join(" → "));
    let mut diagnostic = Diagnostic::error(Code::E003, message);
    for (node, span) in &path {
        diagnostic = diagnostic.label(*span, format!("`{}` reads this", name(*node)));
    }
    diagnostics.push(diagnostic.help("let one of them read from a node outside the circle"));
}
