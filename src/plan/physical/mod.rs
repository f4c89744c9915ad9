//! The physical plan: how to do it, as a DAG of operators cut into stages.
//!
//! The interpreter takes every decision from here; nothing but spilling is left to run time.

mod lower;
pub(in crate::plan) mod print;

use std::sync::Arc;

use petgraph::Direction;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;

use crate::analysis::hir::{self, Schema};
use crate::diagnostics::Span;

pub use lower::lower;

/// Names an operator of a [`PhysicalPlan`]. Ids count from 0 in plan order, which is topological.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OperatorId(pub u32);

/// A set of column positions of one schema.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColumnSet(Vec<bool>);

impl ColumnSet {
    /// No column of a schema of `width` columns.
    pub fn none(width: usize) -> Self {
        Self(vec![false; width])
    }

    /// Every column of a schema of `width` columns.
    pub fn all(width: usize) -> Self {
        Self(vec![true; width])
    }

    /// Whether it holds the column at `position`.
    pub fn contains(&self, position: usize) -> bool {
        self.0.get(position).copied().unwrap_or(false)
    }

    /// Adds the column at `position`, which must lie inside the schema.
    pub fn insert(&mut self, position: usize) {
        self.0[position] = true;
    }

    /// Adds every column of another set over the same schema.
    pub fn union(&mut self, other: &ColumnSet) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// The positions it holds, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter_map(|(position, held)| held.then_some(position))
    }

    /// The number of columns of the schema.
    pub fn width(&self) -> usize {
        self.0.len()
    }
}

/// Whether an operator holds a slice of its input or a whole stage's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferClass {
    /// It holds only a small in-flight slice.
    Streaming,
    /// It holds a whole stage's output, or state that grows with its input.
    Materialized,
}

impl std::fmt::Display for BufferClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            BufferClass::Streaming => "streaming",
            BufferClass::Materialized => "materialized",
        })
    }
}

/// One step of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Operator {
    /// The node's name.
    pub name: String,
    /// Where the node's name stands.
    pub span: Span,
    /// What it does.
    pub kind: OperatorKind,
    /// The class of what it holds.
    pub buffer: BufferClass,
    /// Why it has that class, as a phrase.
    pub buffer_reason: String,
    /// How it does it, as a phrase: `csv blocks`, `columns`, `hash, in memory`.
    pub strategy: String,
}

/// What an operator does.
#[derive(Clone, PartialEq, Debug)]
pub enum OperatorKind {
    /// Reads files and types their rows.
    Source(SourceOperator),
    /// Runs validations and a program.
    Transform(TransformOperator),
    /// Sends rows to branches.
    Route(RouteOperator),
    /// Encodes rows and writes a file.
    Sink(SinkOperator),
    /// Counts and drops the rows of a port that nothing reads.
    Discard(DiscardOperator),
}

impl Operator {
    /// What messages, reports and `--explain` call it: `transform.clean`, `discard.split.late`.
    pub fn label(&self) -> String {
        format!("{}.{}", self.kind.name(), self.name)
    }

    /// What its rows look like: one schema for all ports. `None` for what offers no port.
    pub fn output(&self) -> Option<&Arc<Schema>> {
        match &self.kind {
            OperatorKind::Source(source) => Some(&source.schema),
            OperatorKind::Transform(transform) => Some(&transform.output),
            OperatorKind::Route(route) => Some(&route.schema),
            OperatorKind::Sink(_) | OperatorKind::Discard(_) => None,
        }
    }
}

impl OperatorKind {
    /// The kind's name; a sink is an `output` whichever way it was written.
    pub fn name(&self) -> &'static str {
        match self {
            OperatorKind::Source(_) => "source",
            OperatorKind::Transform(_) => "transform",
            OperatorKind::Route(_) => "route",
            OperatorKind::Sink(_) => "output",
            OperatorKind::Discard(_) => "discard",
        }
    }
}

/// Reads files and types their rows.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceOperator {
    /// The source.
    pub source: hir::Source,
    /// Its schema.
    pub schema: Arc<Schema>,
    /// The columns whose values something reads; the others are validated and dropped.
    pub stored: ColumnSet,
    /// Whether something reads the undeclared fields.
    pub carries: bool,
}

/// Runs validations and a program.
#[derive(Clone, PartialEq, Debug)]
pub struct TransformOperator {
    /// The transform.
    pub transform: hir::Transform,
    /// What it reads.
    pub input: Arc<Schema>,
    /// What it gives.
    pub output: Arc<Schema>,
    /// The output columns that something reads.
    pub stored: ColumnSet,
    /// The memory consumers of its `distinct` statements, in statement order: positions in
    /// [`PhysicalPlan::consumers`].
    pub distinct_consumers: Vec<usize>,
}

/// Sends rows to branches.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteOperator {
    /// The route.
    pub route: hir::Route,
    /// The name of each port: the branches, the default last.
    pub branches: Vec<String>,
    /// What it reads and gives.
    pub schema: Arc<Schema>,
}

/// Encodes rows and writes a file.
#[derive(Clone, PartialEq, Debug)]
pub struct SinkOperator {
    /// The sink.
    pub sink: hir::Sink,
    /// What it reads.
    pub schema: Arc<Schema>,
    /// The sources whose undeclared fields reach it, in plan order; empty unless it appends or maps such fields.
    pub carried_sources: Vec<OperatorId>,
}

/// Counts and drops rows.
#[derive(Clone, PartialEq, Debug)]
pub struct DiscardOperator {
    /// The port, as a reference would spell it; also the operator's name.
    pub port: String,
}

/// A stream between two operators.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The position of the port among its operator's ports.
    pub port: usize,
    /// The port's name; `None` for the bare port.
    pub port_name: Option<String>,
    /// What its rows look like.
    pub schema: Arc<Schema>,
    /// The columns that the consumer, or something below it, reads. A producer stores the union over the edges of a
    /// port; what it stores for one edge may be there on the others, too.
    pub columns: ColumnSet,
    /// Whether undeclared fields travel.
    pub carries: bool,
    /// Where its rows and columns come from.
    pub provenance: Provenance,
}

/// Where the rows and columns of an edge come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// How a row knows its source, file and number.
    pub identity: RowIdentity,
    /// What that is needed for by the consumer or below it, in the order of the enum.
    pub uses: Vec<IdentityUse>,
    /// For each column, the position of the declared column of the driving source that it is, unchanged: what a
    /// record in a dead-letter file decodes again from the block when the column is absent. `None` for a column that
    /// an expression computed.
    pub origins: Vec<Option<usize>>,
}

/// How a row knows its source, file and number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RowIdentity {
    /// By its position in the block: free, and enough as long as no buffer is crossed.
    #[default]
    Position,
}

/// What the identity of rows is needed for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum IdentityUse {
    /// A failure names its row, in a message or a dead letter.
    Failures,
    /// An expression reads `$source.*`.
    Variables,
    /// The summary counts the rows that reached an output, each once.
    Summary,
}

/// A part of the run that all workers do together: one driving source and the tree of operators below it.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// The source that drives it.
    pub driver: OperatorId,
    /// Its operators in plan order, the driver first.
    pub operators: Vec<OperatorId>,
}

/// State that can grow with the input, charged to the memory limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryConsumer {
    /// What messages call it, such as `distinct.clean`.
    pub name: String,
    /// The operator that holds it.
    pub operator: OperatorId,
    /// Lower spills first.
    pub priority: u8,
    /// Whether it can spill.
    pub spills: bool,
    /// What makes it grow, as a phrase.
    pub reason: String,
}

/// Where bad rows go.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeadLetters {
    /// Whether bad rows are dead-lettered instead of stopping the run.
    pub continue_on_error: bool,
    /// The files, the pipeline-wide one first.
    pub files: Vec<DeadLetterFile>,
    /// For each source, the position of its file in `files`.
    pub routes: Vec<(OperatorId, Option<usize>)>,
    /// The file of rows without a source.
    pub merged: Option<usize>,
    /// The run's ceiling.
    pub rate: Option<hir::Rate>,
    /// Ceilings of single sources.
    pub source_rates: Vec<(OperatorId, hir::Rate)>,
    /// Ceiling on the share of rows that do not fit their types, for each source.
    pub type_error_threshold: Option<f64>,
}

/// A dead-letter file.
#[derive(Clone, PartialEq, Debug)]
pub struct DeadLetterFile {
    /// The path, relative to the base directory unless absolute.
    pub path: (String, Span),
    /// Whether category and detail are written.
    pub include_reason: bool,
    /// Whether raw text and record columns are written.
    pub include_source_row: bool,
    /// The record columns: the union of every record shape that can reach the file, in plan order.
    pub columns: Vec<String>,
}

impl DeadLetterFile {
    /// The header line: the columns of every dead letter, then the record columns.
    pub fn header(&self) -> Vec<String> {
        let reason = ["_cxl_dlq_error_category", "_cxl_dlq_error_detail"].into_iter().filter(|_| self.include_reason);
        let place = ["_cxl_dlq_stage", "_cxl_dlq_route", "_cxl_dlq_trigger"];
        let raw = ["_cxl_dlq_raw"].into_iter().filter(|_| self.include_source_row);
        let fixed = DEAD_LETTER_HEAD.into_iter().chain(reason).chain(place).chain(raw);
        fixed.map(str::to_string).chain(self.columns.iter().cloned()).collect()
    }
}

/// The columns that every dead-letter file begins with.
const DEAD_LETTER_HEAD: [&str; 8] = [
    "_cxl_dlq_id",
    "_cxl_dlq_trigger_id",
    "_cxl_dlq_timestamp",
    "_cxl_dlq_source_file",
    "_cxl_dlq_source_name",
    "_cxl_dlq_source_row",
    "_cxl_dlq_triggering_field",
    "_cxl_dlq_triggering_value",
];

/// The whole plan.
#[derive(Clone, Debug)]
pub struct PhysicalPlan {
    /// `pipeline.name`
    pub name: String,
    /// Run-wide settings.
    pub settings: hir::Settings,
    /// `vars`
    pub vars: Vec<hir::Var>,
    /// The stages, in the order they run.
    pub stages: Vec<Stage>,
    /// State that can grow with the input.
    pub consumers: Vec<MemoryConsumer>,
    /// Where bad rows go.
    pub dead_letters: DeadLetters,
    graph: StableDiGraph<Operator, Edge>,
}

impl PhysicalPlan {
    /// A plan without operators.
    pub fn new(name: String, settings: hir::Settings, vars: Vec<hir::Var>) -> Self {
        Self {
            name,
            settings,
            vars,
            stages: Vec::new(),
            consumers: Vec::new(),
            dead_letters: DeadLetters::default(),
            graph: StableDiGraph::new(),
        }
    }

    /// Adds an operator behind all others; its producers must be there already, which keeps ids topological.
    pub fn add(&mut self, operator: Operator) -> OperatorId {
        OperatorId(self.graph.add_node(operator).index() as u32)
    }

    /// Lets `to` read `from` over `edge`.
    pub fn connect(&mut self, from: OperatorId, to: OperatorId, edge: Edge) {
        self.graph.add_edge(index(from), index(to), edge);
    }

    /// The operator called `id`.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        &self.graph[index(id)]
    }

    /// The operator called `id`, to change it.
    pub fn operator_mut(&mut self, id: OperatorId) -> &mut Operator {
        &mut self.graph[index(id)]
    }

    /// Every operator, in plan order.
    pub fn operators(&self) -> impl Iterator<Item = (OperatorId, &Operator)> {
        self.graph.node_indices().map(|node| (OperatorId(node.index() as u32), &self.graph[node]))
    }

    /// What `id` reads: producer and edge.
    pub fn inputs(&self, id: OperatorId) -> Vec<(OperatorId, &Edge)> {
        self.neighbours(id, Direction::Incoming)
    }

    /// What reads `id`: consumer and edge, in plan order of the consumers.
    pub fn outputs(&self, id: OperatorId) -> Vec<(OperatorId, &Edge)> {
        self.neighbours(id, Direction::Outgoing)
    }

    /// Calls `change` on every edge.
    pub fn for_each_edge_mut(&mut self, mut change: impl FnMut(OperatorId, OperatorId, &mut Edge)) {
        let edges: Vec<_> = self.graph.edge_indices().collect();
        for edge in edges {
            if let Some((from, to)) = self.graph.edge_endpoints(edge) {
                change(OperatorId(from.index() as u32), OperatorId(to.index() as u32), &mut self.graph[edge]);
            }
        }
    }

    fn neighbours(&self, id: OperatorId, direction: Direction) -> Vec<(OperatorId, &Edge)> {
        let mut found: Vec<_> = self
            .graph
            .edges_directed(index(id), direction)
            .map(|edge| {
                let other = if direction == Direction::Incoming { edge.source() } else { edge.target() };
                (OperatorId(other.index() as u32), edge.id(), edge.weight())
            })
            .collect();
        found.sort_by_key(|(other, edge, _)| (*other, *edge));
        found.into_iter().map(|(other, _, weight)| (other, weight)).collect()
    }
}

fn index(id: OperatorId) -> NodeIndex {
    NodeIndex::new(id.0 as usize)
}
