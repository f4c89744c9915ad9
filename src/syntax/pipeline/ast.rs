//! The tree of a pipeline file. Every value that a later message may point at has its span.

use crate::diagnostics::{FileId, Span, Spanned};
use crate::syntax::cxl;

/// A whole pipeline file.
#[derive(Clone, PartialEq, Debug)]
pub struct Pipeline {
    /// The file.
    pub file: FileId,
    /// `pipeline.name`
    pub name: Spanned<String>,
    /// `pipeline:` without its name.
    pub settings: Settings,
    /// `nodes:`, in file order. Entries that could not be read at all are left out.
    pub nodes: Vec<Node>,
    /// Whether every entry of `nodes:` was read; if not, followers stay silent about nodes that are missing.
    pub nodes_complete: bool,
    /// `error_handling:`
    pub error_handling: ErrorHandling,
}

/// The run-wide settings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    /// `memory.limit` in bytes.
    pub memory_limit: Option<Spanned<u64>>,
    /// `memory.backpressure`
    pub backpressure: Option<Spanned<Backpressure>>,
    /// `memory.resume_threshold`
    pub resume_threshold: Option<Spanned<f64>>,
    /// `batch_size`, at least 1.
    pub batch_size: Option<Spanned<u64>>,
    /// `concurrency.threads`, at least 1.
    pub threads: Option<Spanned<u64>>,
    /// `vars`
    pub vars: Vec<Var>,
    /// Whether these are all variables; if not, followers stay silent about variables that are missing.
    pub vars_complete: bool,
    /// `date_formats`: the chain that replaces the built-in one.
    pub date_formats: Option<Vec<Spanned<String>>>,
}

/// `memory.backpressure`. Accepted and checked; stages run one at a time, so it only decides the E312 check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backpressure {
    /// `pause`
    Pause,
    /// `spill`
    Spill,
    /// `both`
    Both,
}

/// An entry of `vars`.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// The name behind `$vars.`.
    pub name: Spanned<String>,
    /// The declared type, as written; `None` where it can't be read (already reported).
    pub ty: Option<TypeText>,
    /// The default, as written; `None` reads as null.
    pub default: Option<Spanned<ScalarText>>,
}

/// A type as it is written: `int`, `nullable(int)`, `{ nullable: int }`.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeText {
    /// The bare type name.
    pub name: Spanned<String>,
    /// Whether it is declared nullable.
    pub nullable: bool,
    /// The whole type.
    pub span: Span,
}

/// A scalar whose meaning depends on a declared type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScalarText {
    /// The decoded text.
    pub text: String,
    /// Whether it was quoted or a block: then it is text whatever it looks like.
    pub quoted: bool,
}

/// One entry of `nodes:`.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// `name`
    pub name: Spanned<String>,
    /// `type`, as written: where messages about the node as a whole point.
    pub type_span: Span,
    /// `description`
    pub description: Option<String>,
    /// The whole entry.
    pub span: Span,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// `source`
    Source(Source),
    /// `transform`
    Transform(Transform),
    /// `route`
    Route(Route),
    /// `merge`
    Merge(Merge),
    /// `aggregate`
    Aggregate(Aggregate),
    /// `cull`
    Cull(Cull),
    /// `reshape`
    Reshape(Reshape),
    /// `sink` or `output`
    Sink(Sink),
    /// A kind of the language that this version doesn't run; already reported as E199. It keeps the inputs that
    /// could be read, so that what it reads is not reported as unread, and silences its followers.
    Unsupported {
        /// The kind.
        kind: String,
        /// The nodes it reads.
        inputs: Vec<Spanned<String>>,
    },
    /// A node whose parts could not all be read; already reported. It silences its followers.
    Error {
        /// The nodes it reads, as far as they could be read.
        inputs: Vec<Spanned<String>>,
    },
}

/// `type: source`
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// `config.name`, where it is given.
    pub config_name: Option<Spanned<String>>,
    /// `config.type`
    pub format: Spanned<Format>,
    /// The one matcher given; `None` where there was none or several (already reported as E211, E210).
    pub matcher: Option<Matcher>,
    /// `schema`; `None` where it is missing (already reported as E201).
    pub schema: Option<Vec<SchemaColumn>>,
    /// `options`
    pub csv: CsvReadOptions,
    /// `on_unmapped.mode`
    pub on_unmapped: OnUnmapped,
    /// Where `on_unmapped` stands, if it is given.
    pub on_unmapped_span: Option<Span>,
    /// `sort_order`: what the author claims of each file.
    pub sort_order: Vec<SortField>,
    /// Where that stands, if it is given.
    pub sort_order_span: Option<Span>,
    /// `on_unsorted: error` is true.
    pub unsorted_is_error: bool,
    /// `correlation_key`, in order.
    pub correlation_key: Vec<Spanned<String>>,
}

/// An entry of a `sort_order` or an `order_by`.
#[derive(Clone, PartialEq, Debug)]
pub struct SortField {
    /// `field`
    pub field: Spanned<String>,
    /// `order: desc` is true.
    pub descending: bool,
    /// `null_order`; last by default in both directions.
    pub nulls: NullOrder,
}

/// Where nulls stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NullOrder {
    /// Behind everything else.
    #[default]
    Last,
    /// In front of everything else.
    First,
    /// Nowhere: their rows are dropped and counted. Only for sinks.
    Drop,
}

/// A file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Delimited text.
    Csv,
}

/// Which files a source reads.
#[derive(Clone, PartialEq, Debug)]
pub enum Matcher {
    /// `path`
    Path(Spanned<String>),
    /// `paths`
    Paths(Vec<Spanned<String>>),
    /// `glob`
    Glob(Spanned<String>),
    /// `regex`: matched against whole file names relative to the base directory, `/` between folders.
    Regex(Spanned<String>),
}

/// What happens to fields that the schema doesn't declare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnUnmapped {
    /// They are carried along.
    #[default]
    AutoWiden,
    /// They are dropped.
    Drop,
    /// They stop the run.
    Reject,
}

/// A column of a source's schema.
#[derive(Clone, PartialEq, Debug)]
pub struct SchemaColumn {
    /// `name`
    pub name: Spanned<String>,
    /// `type`
    pub ty: TypeText,
    /// `source_name`: the header to read it from.
    pub source_name: Option<Spanned<String>>,
    /// `format`: the one strftime format of a date or date_time.
    pub format: Option<Spanned<String>>,
    /// `precision` of a decimal.
    pub precision: Option<Spanned<u8>>,
    /// `scale` of a decimal.
    pub scale: Option<Spanned<u8>>,
}

/// `options` of a CSV source.
#[derive(Clone, PartialEq, Debug)]
pub struct CsvReadOptions {
    /// `delimiter`, one ASCII byte.
    pub delimiter: u8,
    /// `quote_char`, one ASCII byte.
    pub quote: u8,
    /// `has_header`
    pub has_header: bool,
    /// `encoding`
    pub encoding: Encoding,
}

impl Default for CsvReadOptions {
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', has_header: true, encoding: Encoding::Utf8 }
    }
}

/// A text encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// UTF-8, a byte order mark skipped.
    #[default]
    Utf8,
    /// ISO 8859-1.
    Latin1,
}

/// `type: transform`
#[derive(Clone, PartialEq, Debug)]
pub struct Transform {
    /// `input`
    pub input: Spanned<String>,
    /// `cxl`
    pub program: cxl::ast::Program,
    /// `validations`
    pub validations: Vec<Validation>,
    /// `include_unmapped`
    pub include_unmapped: bool,
    /// `batch_size`
    pub batch_size: Option<Spanned<u64>>,
}

/// An entry of `validations`.
#[derive(Clone, PartialEq, Debug)]
pub struct Validation {
    /// The whole entry.
    pub span: Span,
    /// `check`
    pub check: Check,
    /// `field`
    pub field: Option<Spanned<String>>,
    /// `severity: warn` is true.
    pub warn_only: bool,
    /// `message`
    pub message: Option<String>,
    /// `name`
    pub name: Option<String>,
}

/// What a validation checks.
#[derive(Clone, PartialEq, Debug)]
pub enum Check {
    /// `not_empty`, of the field named by `field`.
    NotEmpty(Span),
    /// A boolean expression, with its text as written.
    Expr {
        /// The expression.
        expr: cxl::ast::Expr,
        /// Its text.
        text: String,
    },
}

/// `type: route`
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// `input`
    pub input: Spanned<String>,
    /// `conditions`, in file order.
    pub conditions: Vec<(Spanned<String>, cxl::ast::Expr)>,
    /// `default`
    pub default: Spanned<String>,
    /// `mode: inclusive` is true.
    pub inclusive: bool,
}

/// `type: merge`
#[derive(Clone, PartialEq, Debug)]
pub struct Merge {
    /// `inputs`, at least one; the same port may stand there twice.
    pub inputs: Vec<Spanned<String>>,
    /// `mode`
    pub mode: MergeMode,
    /// `interleave_seed`
    pub seed: Option<Spanned<i64>>,
}

/// How a merge orders its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MergeMode {
    /// All rows of the first input, then all of the second, …
    #[default]
    Concat,
    /// One row of each input in turn.
    Interleave,
}

/// `type: aggregate`
#[derive(Clone, PartialEq, Debug)]
pub struct Aggregate {
    /// `input`
    pub input: Spanned<String>,
    /// `group_by`, in order; may be empty.
    pub group_by: Spanned<Vec<Spanned<String>>>,
    /// `cxl`
    pub program: cxl::ast::Program,
    /// `strategy`
    pub strategy: Option<Spanned<AggregateStrategy>>,
}

/// How an aggregate is asked to work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AggregateStrategy {
    /// It streams where its input is proven to be in the order of its key, and hashes otherwise.
    #[default]
    Auto,
    /// A table of all groups.
    Hash,
    /// One group at a time; an error (E151) where the order is not proven.
    Streaming,
}

/// `type: cull`
#[derive(Clone, PartialEq, Debug)]
pub struct Cull {
    /// `input`
    pub input: Spanned<String>,
    /// `partition_by`, in order; may be empty.
    pub partition_by: Spanned<Vec<Spanned<String>>>,
    /// `removed_to`; `None` where it is no name for a port (already reported).
    pub removed_to: Option<Spanned<String>>,
    /// `rules`, in file order.
    pub rules: Vec<CullRule>,
    /// Where `rules` stands.
    pub rules_span: Span,
    /// `order_by`
    pub order_by: Vec<SortField>,
}

/// An entry of a cull's `rules`.
#[derive(Clone, PartialEq, Debug)]
pub struct CullRule {
    /// `name`
    pub name: Spanned<String>,
    /// `drop_group_when`
    pub predicate: cxl::ast::Expr,
}

/// `type: reshape`
#[derive(Clone, PartialEq, Debug)]
pub struct Reshape {
    /// `input`
    pub input: Spanned<String>,
    /// `partition_by`, in order; may be empty.
    pub partition_by: Spanned<Vec<Spanned<String>>>,
    /// `order_by`
    pub order_by: Vec<SortField>,
    /// `rules`, in file order.
    pub rules: Vec<ReshapeRule>,
    /// Where `rules` stands.
    pub rules_span: Span,
}

/// An entry of a reshape's `rules`.
#[derive(Clone, PartialEq, Debug)]
pub struct ReshapeRule {
    /// `name`
    pub name: Spanned<String>,
    /// `when`
    pub when: cxl::ast::Expr,
    /// `mutate.set`, in file order; empty where nothing is mutated.
    pub set: Vec<Assignment>,
    /// `synthesize`
    pub synthesize: Option<Synthesis>,
}

/// A column and its new value.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The column.
    pub column: Spanned<String>,
    /// Its value.
    pub value: cxl::ast::Expr,
}

/// `synthesize`
#[derive(Clone, PartialEq, Debug)]
pub struct Synthesis {
    /// `copy_from`
    pub copy_from: Spanned<CopyFrom>,
    /// `overrides`, in file order.
    pub overrides: Vec<Assignment>,
}

/// Where the columns of an added row come from that have no value of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyFrom {
    /// `trigger`: from the row that triggers the rule.
    Trigger,
    /// `none`: from nowhere; every column has a value of its own.
    Nothing,
}

/// `type: sink` or `type: output`
#[derive(Clone, PartialEq, Debug)]
pub struct Sink {
    /// `input`
    pub input: Spanned<String>,
    /// `config.name`, where it is given: the label in messages.
    pub config_name: Option<Spanned<String>>,
    /// `config.type`
    pub format: Spanned<Format>,
    /// `path`
    pub path: Spanned<String>,
    /// `include_unmapped`
    pub include_unmapped: bool,
    /// `mapping`, in file order.
    pub mapping: Option<Vec<Mapping>>,
    /// `exclude`
    pub exclude: Vec<Spanned<String>>,
    /// `include_header`
    pub include_header: bool,
    /// `if_exists`
    pub if_exists: Spanned<IfExists>,
    /// `options.delimiter`
    pub delimiter: u8,
    /// `sort_order`
    pub sort_order: Vec<SortField>,
    /// `include_correlation_keys`
    pub include_correlation_keys: bool,
    /// `schema`
    pub schema: Vec<SinkColumn>,
}

/// An entry of a sink's `schema`.
#[derive(Clone, PartialEq, Debug)]
pub struct SinkColumn {
    /// The name in the file.
    pub name: Spanned<String>,
    /// The type, which changes nothing.
    pub ty: Option<TypeText>,
    /// The scale that decimals are rounded to.
    pub scale: Option<Spanned<u8>>,
}

/// An entry of a sink's `mapping`.
#[derive(Clone, PartialEq, Debug)]
pub struct Mapping {
    /// The name in the file.
    pub output: Spanned<String>,
    /// The column it shows; equal to `output` for the short form.
    pub column: Spanned<String>,
}

/// What happens when an output is already there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IfExists {
    /// It is replaced.
    #[default]
    Overwrite,
    /// The run is refused, unless forced.
    Error,
    /// The output gets the first free name of `out-1.csv`, `out-2.csv`, …
    UniqueSuffix,
}

/// `error_handling:`
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ErrorHandling {
    /// `strategy: continue` is true.
    pub continue_on_error: bool,
    /// Where `strategy` is given, if nothing is wrong with the block: what is missing may only have been misread.
    pub strategy_span: Option<Span>,
    /// `type_error_threshold`
    pub type_error_threshold: Option<Spanned<f64>>,
    /// `max_group_buffer`
    pub max_group_buffer: Option<Spanned<u64>>,
    /// `dlq`
    pub dlq: Option<DeadLetters>,
}

/// `error_handling.dlq`
#[derive(Clone, PartialEq, Debug)]
pub struct DeadLetters {
    /// The whole block.
    pub span: Span,
    /// `path`
    pub path: Option<Spanned<String>>,
    /// `include_reason`
    pub include_reason: bool,
    /// `include_source_row`
    pub include_source_row: bool,
    /// `max_rate` and `min_records`
    pub rate: Rate,
    /// `per_source`, in file order.
    pub per_source: Vec<(Spanned<String>, SourceDeadLetters)>,
}

/// An entry of `per_source`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SourceDeadLetters {
    /// `path`
    pub path: Option<Spanned<String>>,
    /// `max_rate` and `min_records`
    pub rate: Rate,
}

/// A ceiling on dead letters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rate {
    /// `max_rate`
    pub max_rate: Option<Spanned<f64>>,
    /// `min_records`
    pub min_records: Option<Spanned<u64>>,
}
