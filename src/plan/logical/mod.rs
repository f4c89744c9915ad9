//! The logical plan: *what* to do, as a DAG whose edges name ports.
//!
//! The central type is [`LogicalPlan`]. Its functions speak in node names; the graph behind them stays hidden. It
//! knows nothing of stages, strategies or memory: those are the physical plan's.
//!
//! A node's name is unique. What passes add has a dot in its name (`discard.split.late`), which no authored node has.

mod lower;
mod print;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use petgraph::Direction;
use petgraph::stable_graph::{EdgeIndex, NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;

use crate::analysis::hir::{self, Schema};
use crate::diagnostics::Span;
use crate::plan::physical::{ColumnSet, SortPurpose};

pub use lower::lower;

/// What a pipeline does.
#[derive(Clone, Debug)]
pub struct LogicalPlan {
    /// `pipeline.name`
    pub name: String,
    /// Run-wide settings.
    pub settings: hir::Settings,
    /// `vars`
    pub vars: Vec<hir::Var>,
    /// Error handling; it names sources by [`Place`].
    pub errors: hir::ErrorHandling,
    graph: StableDiGraph<Node, Edge>,
    by_name: BTreeMap<String, NodeIndex>,
}

/// Where a node stands in the order that breaks ties: the node of the file it is, or belongs to, and, for what passes
/// add behind a node, a rank from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The node of the file.
    pub node: hir::NodeId,
    /// 0 for that node itself.
    pub rank: usize,
}

/// One thing to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Where the name stands; for a distinct, the statement.
    pub span: Span,
    /// Its place in the file.
    pub place: Place,
    /// What it offers.
    pub ports: Vec<Port>,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// Reads files.
    Source(hir::Source),
    /// Computes columns, filters and checks rows.
    Transform(hir::Transform),
    /// Sends rows to branches.
    Route(hir::Route),
    /// Puts streams behind or between each other.
    Merge(hir::Merge),
    /// Sorts all rows; passes put it there.
    Sort(Sort),
    /// Sets whole groups aside.
    Cull(hir::Cull),
    /// Makes one row of each group.
    Aggregate(hir::Aggregation),
    /// Rewrites rows of a group and adds new ones.
    Reshape(hir::Reshape),
    /// Keeps the first row of each key; passes put it there, for a `distinct` statement.
    Distinct(Distinct),
    /// Writes a file.
    Sink(hir::Sink),
    /// Counts and drops the rows of a port that nothing reads.
    Discard {
        /// The port, as a reference would spell it.
        port: String,
    },
}

/// Sorts all rows: stable.
#[derive(Clone, PartialEq, Debug)]
pub struct Sort {
    /// The keys, first to last.
    pub keys: Vec<hir::SortKey>,
    /// Columns whose null rows are dropped and counted.
    pub drop_nulls: Vec<usize>,
    /// Why it is there.
    pub purpose: SortPurpose,
}

/// Keeps the first row of each key in the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Distinct {
    /// The columns that make the key, by position.
    pub key: Vec<usize>,
    /// For each of these, where the statement names it.
    pub key_spans: Vec<Span>,
    /// The transform whose statement it is.
    pub transform: String,
}

impl NodeKind {
    /// Whether its rows are new: no rows of what it reads.
    pub fn makes_rows(&self) -> bool {
        matches!(self, NodeKind::Source(_) | NodeKind::Aggregate(_))
    }

    /// What a plan calls it; a sink is an `output` whichever way it was written.
    pub fn name(&self) -> &'static str {
        match self {
            NodeKind::Source(_) => "source",
            NodeKind::Transform(_) => "transform",
            NodeKind::Route(_) => "route",
            NodeKind::Merge(_) => "merge",
            NodeKind::Sort(sort) => sort.purpose.kind_name(),
            NodeKind::Cull(_) => "cull",
            NodeKind::Aggregate(_) => "aggregation",
            NodeKind::Reshape(_) => "reshape",
            NodeKind::Distinct(_) => "distinct",
            NodeKind::Sink(_) => "output",
            NodeKind::Discard { .. } => "discard",
        }
    }
}

/// A stream that a node offers.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// The name behind the dot; `None` for the bare port.
    pub name: Option<String>,
    /// How a reference spells it: `clean`, `split.late`.
    pub reference: String,
    /// Where its name stands; for the bare port, the node's name.
    pub span: Span,
    /// What its rows look like.
    pub schema: Arc<Schema>,
}

/// What one node reads of another.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The position of the input among the reader's inputs: 0 but for a merge.
    pub input: usize,
    /// Which port.
    pub port: PortRef,
    /// What its rows look like.
    pub schema: Arc<Schema>,
    /// The columns that have to be stored for the reader; until columns are pruned, all.
    pub columns: ColumnSet,
    /// Those of `columns` that only dead letters show.
    pub shown: ColumnSet,
    /// Whether undeclared fields have to travel.
    pub carries: bool,
}

/// A port of the producing node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortRef {
    /// As a reference spells it; ports are not resolved yet.
    Written(String),
    /// Its position among the producer's ports.
    Position(usize),
}

impl Edge {
    /// An edge that stores every column.
    pub fn whole(input: usize, port: PortRef, schema: Arc<Schema>) -> Self {
        let width = schema.columns.len();
        Self {
            input,
            port,
            columns: ColumnSet::all(width),
            shown: ColumnSet::none(width),
            carries: schema.carries,
            schema,
        }
    }
}

impl LogicalPlan {
    /// A plan without nodes.
    pub fn new(pipeline: &hir::Pipeline) -> Self {
        Self {
            name: pipeline.name.clone(),
            settings: pipeline.settings.clone(),
            vars: pipeline.vars.clone(),
            errors: pipeline.error_handling.clone(),
            graph: StableDiGraph::new(),
            by_name: BTreeMap::new(),
        }
    }

    /// Adds a node; no other may have its name.
    pub fn add(&mut self, node: Node) {
        let name = node.name.clone();
        let index = self.graph.add_node(node);
        self.by_name.insert(name, index);
    }

    /// Lets the node `to` read the node `from`. Both must be there.
    pub fn connect(&mut self, from: &str, to: &str, edge: Edge) {
        self.graph.add_edge(self.by_name[from], self.by_name[to], edge);
    }

    /// The node called `name`, which must be there.
    pub fn node(&self, name: &str) -> &Node {
        &self.graph[self.by_name[name]]
    }

    /// The authored node at a position of the file.
    pub fn authored(&self, id: hir::NodeId) -> Option<&Node> {
        self.graph.node_weights().find(|node| node.place == Place { node: id, rank: 0 })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of all nodes in plan order: producers first, and otherwise in file order. Nodes on a cycle, which
    /// analysis has refused, are left out.
    pub fn order(&self) -> Vec<String> {
        let mut waiting: BTreeMap<NodeIndex, usize> = BTreeMap::new();
        let mut ready = BinaryHeap::new();
        for index in self.graph.node_indices() {
            match self.graph.edges_directed(index, Direction::Incoming).count() {
                0 => ready.push(Reverse((self.graph[index].place, index))),
                inputs => drop(waiting.insert(index, inputs)),
            }
        }
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse((_, index))) = ready.pop() {
            order.push(self.graph[index].name.clone());
            for edge in self.graph.edges_directed(index, Direction::Outgoing) {
                let inputs = waiting.get_mut(&edge.target()).expect("a node with an input waits for it");
                *inputs -= 1;
                if *inputs == 0 {
                    ready.push(Reverse((self.graph[edge.target()].place, edge.target())));
                }
            }
        }
        order
    }

    /// What the node called `name` reads: producers and edges, in the order of its inputs.
    pub fn inputs(&self, name: &str) -> Vec<(&Node, &Edge)> {
        let mut inputs = self.edges(name, Direction::Incoming);
        inputs.sort_by_key(|(_, edge)| edge.input);
        inputs
    }

    /// What reads the node called `name`: readers and edges, in file order of the readers.
    pub fn readers(&self, name: &str) -> Vec<(&Node, &Edge)> {
        let mut readers = self.edges(name, Direction::Outgoing);
        readers.sort_by_key(|(reader, edge)| (reader.place, edge.input));
        readers
    }

    /// Calls `change` on every edge with its producer.
    pub fn for_each_edge_mut(&mut self, mut change: impl FnMut(&Node, &mut Edge)) {
        let edges: Vec<_> = self.graph.edge_indices().collect();
        for edge in edges {
            let Some((from, _)) = self.graph.edge_endpoints(edge) else { continue };
            let (producer, edge) = self.graph.index_twice_mut(from, edge);
            change(producer, edge);
        }
    }

    /// Calls `change` on every input edge of the node called `name`.
    pub fn for_each_input_mut(&mut self, name: &str, mut change: impl FnMut(&mut Edge)) {
        let inputs = self.graph.edges_directed(self.by_name[name], Direction::Incoming);
        let edges: Vec<_> = inputs.map(|edge| edge.id()).collect();
        for edge in edges {
            change(&mut self.graph[edge]);
        }
    }

    /// What made the rows that the node called `name` reads, in file order: sources and aggregates.
    pub fn makers(&self, name: &str) -> Vec<&Node> {
        self.makers_over(name, |_| true)
    }

    /// Those of them whose rows come over edges that all pass `test`.
    pub fn makers_over(&self, name: &str, test: impl Fn(&Edge) -> bool) -> Vec<&Node> {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![self.by_name[name]]);
        while let Some(index) = waiting.pop() {
            let inputs = self.graph.edges_directed(index, Direction::Incoming).filter(|edge| test(edge.weight()));
            let above = inputs.map(|edge| edge.source()).filter(|producer| seen.insert(*producer));
            waiting.extend(above.filter(|producer| !self.graph[*producer].kind.makes_rows()));
        }
        let mut makers: Vec<&Node> = seen.into_iter().map(|index| &self.graph[index]).collect();
        makers.retain(|node| node.kind.makes_rows());
        makers.sort_by_key(|node| node.place);
        makers
    }

    /// Puts a chain of nodes in place of the node called `name`, which reads one port and offers one: the first reads
    /// what it read, each of the others the one in front of it, and the readers of `name` the last, whose port has the
    /// same schema.
    pub fn put_in_place(&mut self, name: &str, chain: Vec<Node>) {
        let index = self.by_name.remove(name).expect("the node is there");
        let input = self.graph.edges_directed(index, Direction::Incoming).next();
        let (mut from, mut edge) =
            input.map(|edge| (edge.source(), edge.weight().clone())).expect("the node reads a port");
        let readers = self.graph.edges_directed(index, Direction::Outgoing);
        let readers: Vec<_> = readers.map(|edge| (edge.target(), edge.weight().clone())).collect();
        self.graph.remove_node(index);
        for node in chain {
            let (name, offered) = (node.name.clone(), node.ports[0].schema.clone());
            self.add(node);
            let to = self.by_name[&name];
            self.graph.add_edge(from, to, edge);
            (from, edge) = (to, Edge::whole(0, PortRef::Position(0), offered));
        }
        for (reader, edge) in readers {
            self.graph.add_edge(from, reader, edge);
        }
    }

    /// Adds a node that reads `port` of the node called `producer` in place of all who read it so far; they read the
    /// new node's one port, which has the same schema.
    pub fn insert_behind(&mut self, producer: &str, port: usize, node: Node) {
        let from = self.by_name[producer];
        let moved = self.graph.edges_directed(from, Direction::Outgoing);
        let moved = moved.filter(|edge| edge.weight().port == PortRef::Position(port));
        let moved: Vec<EdgeIndex> = moved.map(|edge| edge.id()).collect();
        self.splice(from, port, &moved, node);
    }

    /// Adds a node between the node called `reader`, which reads one port, and that port.
    pub fn insert_in_front(&mut self, reader: &str, node: Node) {
        let input = self.graph.edges_directed(self.by_name[reader], Direction::Incoming).next();
        let (from, edge, port) = input
            .and_then(|edge| match edge.weight().port {
                PortRef::Position(port) => Some((edge.source(), edge.id(), port)),
                PortRef::Written(_) => None,
            })
            .expect("the reader has an input, which is resolved");
        self.splice(from, port, &[edge], node);
    }

    fn splice(&mut self, from: NodeIndex, port: usize, moved: &[EdgeIndex], node: Node) {
        let edge = Edge::whole(0, PortRef::Position(port), self.graph[from].ports[port].schema.clone());
        let name = node.name.clone();
        self.add(node);
        let inserted = self.by_name[&name];
        for id in moved {
            let reader = self.graph.edge_endpoints(*id).expect("the edge is there").1;
            let edge = self.graph.remove_edge(*id).expect("the edge is there");
            self.graph.add_edge(inserted, reader, Edge { port: PortRef::Position(0), ..edge });
        }
        self.graph.add_edge(from, inserted, edge);
    }

    fn edges(&self, name: &str, direction: Direction) -> Vec<(&Node, &Edge)> {
        let mut found: Vec<_> = self.graph.edges_directed(self.by_name[name], direction).collect();
        found.sort_by_key(|edge| edge.id());
        let other = |source, target| if direction == Direction::Incoming { source } else { target };
        found.into_iter().map(|edge| (&self.graph[other(edge.source(), edge.target())], edge.weight())).collect()
    }
}
