//! The operators: what each does, with everything that was decided about it.

use std::sync::Arc;

use super::{ColumnSet, OperatorId};
use crate::analysis::hir::{self, Schema};
use crate::diagnostics::Span;

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
    /// [`super::PhysicalPlan::consumers`].
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
