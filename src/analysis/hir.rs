//! The pipeline with every name resolved, a type on every expression and a schema on every port.

mod expr;
mod schema;
mod walk;

use std::sync::Arc;

pub use self::expr::*;
pub use self::schema::{Column, Schema, Stamp};
use crate::analysis::types::Type;
use crate::diagnostics::{FileId, Span, Spanned};
pub use crate::syntax::pipeline::ast::{
    AggregateStrategy, Backpressure, CsvReadOptions, Encoding, Format, IfExists, OnUnmapped,
};

/// Names a node of a [`Pipeline`]: its position in `nodes`, which is file order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// A checked pipeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Pipeline {
    /// The file it was read from.
    pub file: FileId,
    /// `pipeline.name`
    pub name: String,
    /// Run-wide settings, defaults filled in.
    pub settings: Settings,
    /// `vars`, in file order.
    pub vars: Vec<Var>,
    /// Every node, in file order.
    pub nodes: Vec<Node>,
    /// Error handling, defaults filled in.
    pub error_handling: ErrorHandling,
}

impl Pipeline {
    /// The node called `id`.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Every node with its id, in file order.
    pub fn ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId(index as u32), node))
    }
}

/// Run-wide settings.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// `memory.limit` in bytes.
    pub memory_limit: u64,
    /// Where it stands in the pipeline; `None` for the default, and where the command line has another.
    pub memory_limit_span: Option<Span>,
    /// `memory.backpressure`
    pub backpressure: Backpressure,
    /// Most rows of a batch, at least 1.
    pub batch_size: usize,
    /// `concurrency.threads`; `None` means as many as there are processors.
    pub threads: Option<usize>,
}

/// A constant of the run, read as `$vars.name`.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// The name behind `$vars.`.
    pub name: String,
    /// Its type; nullable when it has no default.
    pub ty: Type,
    /// Its value.
    pub value: ConstantValue,
}

/// A constant: what CXL literals can say, and a date_time.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstantValue {
    /// What a literal can say.
    Literal(Literal),
    /// Nanoseconds since 1970-01-01T00:00:00.
    DateTime(i128),
}

/// A node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// What it reads, in order: no port for a source, one or more for a merge, one for every other kind.
    pub inputs: Vec<PortRef>,
    /// What it offers, the bare port first where there is one.
    pub ports: Vec<Port>,
    /// What it does.
    pub kind: NodeKind,
}

/// A reference to a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortRef {
    /// The node that offers it.
    pub node: NodeId,
    /// Its position in that node's `ports`.
    pub port: usize,
    /// Where the reference stands.
    pub span: Span,
}

/// A stream that a node offers.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// The name behind the dot; `None` for the bare port.
    pub name: Option<String>,
    /// Where that name stands; for the bare port, the node's name.
    pub span: Span,
    /// What its rows look like.
    pub schema: Arc<Schema>,
}

/// What a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// Reads files.
    Source(Source),
    /// Computes columns, filters and checks rows.
    Transform(Transform),
    /// Sends rows to branches.
    Route(Route),
    /// Puts streams behind or between each other.
    Merge(Merge),
    /// Sets whole groups aside.
    Cull(Cull),
    /// Makes one row of each group.
    Aggregate(Aggregation),
    /// Rewrites rows of a group and adds new ones.
    Reshape(Reshape),
    /// Writes a file.
    Sink(Sink),
}

/// A sort key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortKey {
    /// The column, by position.
    pub column: usize,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether nulls come first; otherwise they come last, in both directions. NaN stands behind all numbers and in
    /// front of last nulls, in both directions.
    pub nulls_first: bool,
}

/// A merge. Its one port has the columns of its first input, then the keys of its keyed inputs, then the stamps of all.
#[derive(Clone, PartialEq, Debug)]
pub struct Merge {
    /// How its inputs are ordered.
    pub mode: MergeMode,
    /// For each input and each column of the output, the input's column; `None` for a hidden column that the input
    /// doesn't have: a key is null, a stamp is the empty one. An input's column of another kind (null, or a decimal
    /// whose scale is known where the output's is not) becomes one of the output's.
    pub columns: Vec<Vec<Option<usize>>>,
}

/// How a merge orders its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergeMode {
    /// One behind the other.
    Concat,
    /// One row of each in turn; an input that has no more is left out.
    Interleave,
    /// A pseudo-random pick among the inputs that still have rows, the same for the same seed.
    Seeded(i64),
}

/// A cull. Its ports are the bare one (kept groups) and `removed_to`, both with the input's schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Cull {
    /// The columns of `partition_by`, by position, in order.
    pub partition_by: Vec<usize>,
    /// Where each of these is named.
    pub partition_spans: Vec<Span>,
    /// The hidden key columns of the input, which are part of every partition.
    pub hidden_keys: Vec<usize>,
    /// Order within a group, before aggregates see its rows; ties by arrival.
    pub order_by: Vec<SortKey>,
    /// The aggregates that the rules read.
    pub aggregates: Vec<Aggregate>,
    /// How each of them is written.
    pub written: Vec<String>,
    /// A group is removed if any predicate is exactly true.
    pub rules: Vec<CullRule>,
}

/// A rule of a cull.
#[derive(Clone, PartialEq, Debug)]
pub struct CullRule {
    /// Its name.
    pub name: String,
    /// Boolean, over one row for each group: its columns are those of `partition_by`, in order, then the results of
    /// `aggregates`, in order.
    pub predicate: Expr,
    /// Where the predicate stands.
    pub span: Span,
}

/// An aggregate node. Its one port has the columns of `results`.
///
/// Two programs stand around the grouping. `rows` runs on every input row; its output columns are those of the key,
/// then the arguments of the aggregates. `results` runs on one row a group; its input columns are those of the key,
/// then the results of the aggregates.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggregation {
    /// Filters, lets and dropped values, then an emit for each argument. Its output has the `key` columns in front,
    /// each a column of the input, then the emits. It has no validations and no `distinct`. Arguments that say the same
    /// are one. The slot of an argument is named after the emit of the program that it stands in first, so that a row
    /// that fails names it; its column in `grouped` is named as it is written.
    pub rows: Transform,
    /// The schema of what `rows` gives. Its hidden columns, which are keys, stand behind those of `group_by`, in front
    /// of the arguments.
    pub grouped: Arc<Schema>,
    /// How many columns the key has: those of `group_by`, then the hidden correlation keys that `group_by` covers.
    pub key: usize,
    /// For each column of the key, where `group_by` names it, or the field that it holds.
    pub key_spans: Vec<Span>,
    /// The aggregates that `results` reads. Their arguments are columns of `grouped`.
    pub aggregates: Vec<Aggregate>,
    /// The emits over a group, and the lets over the key alone that they read. Nothing else stands in it.
    pub results: Transform,
    /// The schema that `results` reads: the key, then one column for each aggregate.
    pub groups: Arc<Schema>,
    /// How it is asked to work.
    pub strategy: AggregateStrategy,
    /// Where `strategy` stands, or the node's name.
    pub strategy_span: Span,
}

/// A reshape. Its one port has the input's columns, then the hidden stamps `$meta.synthetic`, `$meta.synthesized_by`
/// and `$meta.mutated_by` where the input has none yet.
///
/// A column that rules write can have a wider type in the output than in the input: a nullable one, a decimal without a
/// known scale, or some kind in the place of nothing but nulls. Values of the input then become ones of the output's
/// kind, as in a merge.
#[derive(Clone, PartialEq, Debug)]
pub struct Reshape {
    /// The columns of `partition_by`, by position, in order. A value of a column of lists or maps counts as null, as do
    /// an empty text and NaN.
    pub partition_by: Vec<usize>,
    /// Where each of these is named.
    pub partition_spans: Vec<Span>,
    /// The hidden key columns of the input, which are part of every partition.
    pub hidden_keys: Vec<usize>,
    /// Order within a group; ties by arrival.
    pub order_by: Vec<SortKey>,
    /// In file order.
    pub rules: Vec<ReshapeRule>,
    /// The stamps' columns in the output: synthetic, synthesized by, mutated by. They stand behind the input's columns,
    /// or are among these, where an earlier reshape stamped the rows already: then what a rule rewrites is appended to
    /// `mutated_by`, and all else of a row that came in stays. A row that a rule adds gets new stamps: synthetic, by
    /// that rule, rewritten by none.
    pub stamps: [usize; 3],
}

impl Reshape {
    /// Whether it adds rows.
    pub fn adds_rows(&self) -> bool {
        self.rules.iter().any(|rule| rule.synthesize.is_some())
    }

    /// What its rules write into a column first, of a row that came in or of a new one.
    pub fn written(&self, column: usize) -> Option<&Assignment> {
        let mut written = self
            .rules
            .iter()
            .flat_map(|rule| rule.set.iter().chain(rule.synthesize.iter().flat_map(|synthesis| &synthesis.overrides)));
        written.find(|assignment| assignment.column == column)
    }
}

/// A rule of a reshape. Every expression reads the input row as it came.
#[derive(Clone, PartialEq, Debug)]
pub struct ReshapeRule {
    /// Its name.
    pub name: String,
    /// Boolean; it triggers on rows for which it is exactly true.
    pub when: Expr,
    /// What it rewrites in the row that triggers it.
    pub set: Vec<Assignment>,
    /// The row that it adds for each row that triggers it.
    pub synthesize: Option<Synthesis>,
    /// Where its name stands.
    pub span: Span,
}

/// A column and its new value.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The column, by position in the input and in the output.
    pub column: usize,
    /// Reads the input's row; of the kind that the output's column has.
    pub value: Expr,
    /// Where the column is named.
    pub span: Span,
}

/// A row that a rule adds.
#[derive(Clone, PartialEq, Debug)]
pub struct Synthesis {
    /// Whether the other columns, undeclared fields too, are those of the row that triggers it; else every visible
    /// column has a value in `overrides`, and there are no undeclared fields. Hidden key columns are always the
    /// trigger's.
    pub copies_trigger: bool,
    /// The columns that have values of their own.
    pub overrides: Vec<Assignment>,
}

/// A source. Its one port has the columns of `columns`, in order, then a hidden `$ck.<field>` for each key.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// Its format.
    pub format: Format,
    /// Which files it reads.
    pub matcher: Matcher,
    /// The declared columns.
    pub columns: Vec<SourceColumn>,
    /// How a CSV file is read.
    pub csv: CsvReadOptions,
    /// What happens to other fields.
    pub on_unmapped: OnUnmapped,
    /// The order that each file claims to have.
    pub sort_order: Vec<SortKey>,
    /// Where that is declared; the node's name if it isn't.
    pub sort_order_span: Span,
    /// Where each of its keys is.
    pub sort_spans: Vec<Span>,
    /// Whether a file that breaks its order stops the run; otherwise it is sorted, with a warning.
    pub unsorted_is_error: bool,
    /// The columns of the correlation key, by position among `columns`, in order.
    pub correlation_key: Vec<usize>,
}

/// Which files a source reads; paths are relative to the base directory unless absolute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matcher {
    /// These files, in this order (`path`, `paths`).
    Paths(Vec<(String, Span)>),
    /// The files that match a glob, in name order.
    Glob(String, Span),
    /// The files whose path below the base directory matches a regex as a whole, in name order.
    Regex(String, Span),
}

impl Matcher {
    /// Whether it may name more than one file; a pattern is not matched before the run.
    pub fn may_be_several(&self) -> bool {
        match self {
            Matcher::Paths(paths) => paths.len() > 1,
            Matcher::Glob(..) | Matcher::Regex(..) => true,
        }
    }
}

/// A declared column of a source.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceColumn {
    /// Its name in the pipeline.
    pub name: String,
    /// The header it is read from.
    pub header: String,
    /// Where that header is named.
    pub header_span: Span,
    /// How its text is read. The scale of a decimal is the declared one.
    pub ty: Type,
    /// The strftime formats tried in order, for a date or date_time.
    pub formats: Vec<String>,
    /// Most digits of a decimal.
    pub precision: Option<u8>,
    /// Where it is declared.
    pub span: Span,
}

/// A transform.
#[derive(Clone, PartialEq, Debug)]
pub struct Transform {
    /// Checked on the input row before the program, in order.
    pub validations: Vec<Validation>,
    /// The program.
    pub statements: Vec<Statement>,
    /// The lets, by slot.
    pub lets: Vec<Slot>,
    /// The emits, by slot: one for each emit statement.
    pub emits: Vec<Slot>,
    /// Where each column of the output schema comes from, in order.
    pub output: Vec<OutputColumn>,
    /// Whether undeclared fields travel on.
    pub keeps_carried: bool,
    /// Its own cap on the rows of a batch.
    pub batch_size: Option<usize>,
}

/// A value that a program computes.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// Where a column of a transform's output comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputColumn {
    /// A column of the input.
    Input(usize),
    /// An emit slot.
    Emit(usize),
}

/// A check on input rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Validation {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its message; derived from the check where none is given.
    pub message: String,
    /// The column it is about.
    pub field: Option<String>,
    /// That column as an expression: its value is shown where the check fails.
    pub column: Option<Expr>,
    /// Whether a row that fails is only warned of.
    pub warn_only: bool,
    /// Boolean; a row passes if it is exactly true.
    pub check: Expr,
    /// The entry.
    pub span: Span,
}

/// One statement of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// Computes a let slot.
    Let {
        /// The slot.
        slot: usize,
        /// Its value.
        value: Expr,
    },
    /// Computes an emit slot.
    Emit {
        /// The slot.
        slot: usize,
        /// Its value.
        value: Expr,
    },
    /// Keeps rows for which it is exactly true.
    Filter(Expr),
    /// Keeps the first row of each key in the whole run.
    Distinct {
        /// The key: every column of the input for a bare `distinct`.
        key: Vec<Expr>,
        /// The statement.
        span: Span,
    },
    /// Evaluates and drops the value.
    Discard(Expr),
}

/// A route. Its ports are the conditions' branches in order, then the default.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// One for each branch but the default; a row matches if it is exactly true.
    pub conditions: Vec<Expr>,
    /// Whether a row goes to every branch it matches.
    pub inclusive: bool,
}

/// A sink.
#[derive(Clone, PartialEq, Debug)]
pub struct Sink {
    /// What messages call it.
    pub label: String,
    /// Its format.
    pub format: Format,
    /// The path, relative to the base directory unless absolute.
    pub path: (String, Span),
    /// The columns it writes first, in order.
    pub columns: Vec<SinkColumn>,
    /// Whether the fields that no schema declares follow: those that are not in `exclude`, not the source of a
    /// mapped column, and do not have the name of a column in `columns` or `key_columns`.
    pub append_carried: bool,
    /// The correlation keys that it writes behind all others (`include_correlation_keys`), each called
    /// `$ck.<field>`.
    pub key_columns: Vec<SinkColumn>,
    /// Names that are left out, each where the pipeline lists it.
    pub exclude: Vec<Spanned<String>>,
    /// Whether the header line is written.
    pub include_header: bool,
    /// What happens when the file is already there.
    pub if_exists: IfExists,
    /// One ASCII byte.
    pub delimiter: u8,
    /// The order of its rows; empty for the order they arrive in.
    pub sort_order: Vec<SortKey>,
    /// Columns whose null rows are dropped and counted (`null_order: drop`).
    pub drop_nulls: Vec<usize>,
}

impl Sink {
    /// Every column that it writes and that has a name here: those that come first, then the keys.
    pub fn named_columns(&self) -> impl Iterator<Item = &SinkColumn> {
        self.columns.iter().chain(&self.key_columns)
    }
}

/// A column that a sink writes.
#[derive(Clone, PartialEq, Debug)]
pub struct SinkColumn {
    /// Its name in the file.
    pub name: String,
    /// Where its values come from.
    pub source: SinkColumnSource,
    /// The scale that decimals are rounded to, half to even.
    pub scale: Option<u8>,
    /// Where it was asked for.
    pub span: Span,
}

/// Where a sink's column comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SinkColumnSource {
    /// A column of the input.
    Column(usize),
    /// A field that no schema declares, by name.
    Carried(String),
}

/// Error handling.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorHandling {
    /// Whether bad rows are dead-lettered instead of stopping the run.
    pub continue_on_error: bool,
    /// Ceiling on the share of rows that do not fit their types, 0 to 1.
    pub type_error_threshold: Option<Spanned<f64>>,
    /// `dlq.include_reason`
    pub include_reason: bool,
    /// `dlq.include_source_row`
    pub include_source_row: bool,
    /// The pipeline-wide file.
    pub dlq_path: Option<(String, Span)>,
    /// The pipeline-wide ceiling.
    pub rate: Option<Rate>,
    /// Sources with settings of their own.
    pub per_source: Vec<SourceErrorHandling>,
}

/// A ceiling on dead letters: reaching it stops the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// Share of the rows read, above 0 up to 1.
    pub max_rate: f64,
    /// It holds from this many rows on.
    pub min_records: u64,
    /// Where the share is given.
    pub span: Span,
}

/// A source's own error handling.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceErrorHandling {
    /// The source.
    pub source: NodeId,
    /// Its own file.
    pub dlq_path: Option<(String, Span)>,
    /// Its own ceiling.
    pub rate: Option<Rate>,
}
