//! The document that `--explain` prints. Lists are in plan order; a fact that is not known is null.

use serde::{Serialize, Serializer};

/// Goes up when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 2;

/// A whole plan.
#[derive(Serialize)]
pub struct Document {
    pub schema_version: u32,
    /// `pipeline.name`
    pub name: String,
    pub outputs: Vec<Output>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// By label: the nodes, and behind each what it keeps.
    pub node_properties: Ordered<Properties>,
    /// What waits on edges between stages.
    pub buffer_edges: Vec<BufferEdge>,
    pub stages: Vec<Stage>,
    pub storage_summary: StorageSummary,
    pub error_handling: ErrorHandling,
    pub dead_letter: Vec<DeadLetterFile>,
    pub statistics: Vec<Statistic>,
    pub expressions: Vec<Program>,
    pub memory: Memory,
}

/// A file that a sink writes.
#[derive(Serialize)]
pub struct Output {
    pub sink: String,
    pub path: String,
    pub format: &'static str,
    pub if_exists: &'static str,
    pub columns: Vec<String>,
    /// Whether undeclared input fields follow.
    pub undeclared_fields: bool,
    /// The correlation keys behind all others.
    pub key_columns: Vec<String>,
}

/// An operator.
#[derive(Serialize)]
pub struct Node {
    /// From 1, in plan order.
    pub id: usize,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: String,
    pub label: String,
    pub line: usize,
    /// Whether no node of the file is it: the plan needs it.
    pub inserted: bool,
    pub strategy: String,
    /// What it reads or writes outside, or what it was inserted for, as a phrase.
    pub about: Option<String>,
    /// The ports it reads, as references spell them.
    pub depends_on: Vec<String>,
}

/// A stream between two operators, by label.
#[derive(Serialize)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub port: Option<String>,
    /// The columns that its consumer, or something below, reads.
    pub columns: Vec<String>,
    pub undeclared_fields: bool,
    /// The columns that an expression above computed.
    pub computed: Vec<String>,
    /// `materialized` if its rows wait in a buffer until its consumer can take them, else `streaming`.
    pub buffer: &'static str,
    /// The label of the park that is that buffer.
    pub slot: Option<String>,
    /// What it holds in all; null without a buffer, and if an input size is not known.
    pub predicted_bytes: Option<u64>,
}

/// Rows that wait on an edge.
#[derive(Serialize)]
pub struct BufferEdge {
    /// The label of the park that holds them.
    pub slot: String,
    pub from: String,
    pub port: Option<String>,
    pub to: String,
    /// The number of the input, from 1.
    pub input: usize,
    pub priority: u8,
    pub predicted_bytes: Option<u64>,
    pub why: String,
}

/// How the rows that an operator reads know where they come from, and what that is needed for there or below.
#[derive(Serialize)]
pub struct RowIdentity {
    pub by: &'static str,
    pub used_for: Vec<String>,
}

/// What an operator, or what it keeps, is like at run time.
#[derive(Serialize)]
pub struct Properties {
    pub buffer: String,
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Columns>,
    pub ordering: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// The fields of the correlation keys that are there: behind the operator, or where a sink is.
    pub ck_set: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<AtRest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_identity: Option<RowIdentity>,
    #[serde(flatten)]
    pub arbitration: Arbitration,
}

/// The correlation keys that rows carry, by the names of their fields.
#[derive(Serialize)]
pub struct Key {
    /// On its way in; of a merge, that of all inputs together.
    #[serde(rename = "in")]
    pub input: Vec<String>,
    /// On its way out; of a sink, what it writes.
    pub out: Vec<String>,
}

/// What the rows of a buffer are turned into.
#[derive(Serialize)]
pub struct AtRest {
    /// `row`, or `sink_bytes`: the bytes that a sink writes.
    pub form: &'static str,
    /// That sink.
    pub sink: Option<String>,
    pub keeps_row_identity: bool,
}

/// The columns that an operator stores, or, if it makes none, reads.
#[derive(Serialize)]
pub struct Columns {
    /// `stored`, `held` or `read`
    #[serde(skip)]
    pub verb: &'static str,
    pub kept: Vec<String>,
    /// Those of `kept` that only dead letters show.
    pub for_dead_letters: Vec<String>,
    /// The others: checked or computed, but not stored.
    pub left_out: Vec<String>,
    pub undeclared_fields: bool,
}

/// What an operator holds, and how it gives way under pressure.
#[derive(Serialize)]
pub struct Arbitration {
    /// Null for an operator that holds only what it is working on.
    pub priority: Option<u8>,
    pub spills: bool,
    pub can_pause: bool,
    /// What it holds in all when it is full, in memory or on disk.
    pub predicted_held_bytes: Option<u64>,
    /// What it has in memory at once, under the limit.
    pub predicted_peak_bytes: Option<u64>,
    /// Whether these are the most that usual data come to: rows may be dropped or grouped above or here.
    pub at_most: bool,
    /// Consumers of the operator beside its rows, which these figures include.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub includes: Vec<String>,
    /// What is free again when the stage is over that it drives.
    pub predicted_freed_bytes: Option<u64>,
    /// The most that one buffer there or further down could put on disk.
    pub predicted_reclaim_bytes: Option<u64>,
}

/// A stage: labels in plan order.
#[derive(Serialize)]
pub struct Stage {
    /// The first of its drivers.
    pub driver: String,
    pub operators: Vec<String>,
    /// The buffers that it fills.
    pub fills: Vec<String>,
    /// Its segments; left out if there is only one.
    #[serde(skip_serializing_if = "is_single")]
    pub segments: Vec<Segment>,
}

/// A part of a stage: the head that its rows come from, and the operators that they are taken through.
#[derive(Serialize)]
pub struct Segment {
    pub head: String,
    pub operators: Vec<String>,
    /// The heads of those that are over before it begins.
    pub behind: Vec<String>,
    /// Drawn; not part of the data.
    #[serde(skip)]
    pub tree: Vec<String>,
}

fn is_single(segments: &[Segment]) -> bool {
    segments.len() == 1
}

/// What may be spilled, and where to.
#[derive(Serialize)]
pub struct StorageSummary {
    /// The folder; null if it is not known.
    pub spill_root: Option<String>,
    /// There is none: it may fill the disk.
    pub disk_cap_bytes: Option<u64>,
    pub estimated_spill: EstimatedSpill,
    pub spill_compression: SpillCompression,
}

/// How what goes to disk is compressed.
#[derive(Serialize)]
pub struct SpillCompression {
    /// `auto`: a frame that would not get smaller is written as it is.
    pub mode: &'static str,
    /// By label.
    pub per_stage: Ordered<&'static str>,
}

/// Bytes that may be spilled.
#[derive(Serialize)]
pub struct EstimatedSpill {
    pub per_stage: Vec<SpillingStage>,
    /// Bytes; null if the size of an input is not known that counts.
    pub total: Option<u64>,
    pub usual_total: Option<u64>,
    pub any_unknown: bool,
}

/// A consumer that may spill.
#[derive(Serialize)]
pub struct SpillingStage {
    pub name: String,
    /// What goes to disk under the limit, before it is compressed.
    pub bytes: Option<u64>,
    /// What it holds in all.
    pub held_bytes: Option<u64>,
    /// Whether these are the most that usual data come to: rows may be dropped or grouped above or here.
    pub at_most: bool,
    /// The same two if nothing is dropped, each row is a group, and rows are as long as usual.
    pub usual_bytes: Option<u64>,
    pub usual_held_bytes: Option<u64>,
    /// What has to happen for it to hold anything, where that is not the rule.
    pub only_if: Option<&'static str>,
}

/// What happens to bad rows.
#[derive(Serialize)]
pub struct ErrorHandling {
    /// `fail_fast` or `continue`
    pub strategy: &'static str,
    pub max_rate: Option<Rate>,
    pub type_error_threshold: Option<f64>,
    pub per_source: Vec<SourcePolicy>,
}

/// A ceiling on dead letters.
#[derive(Serialize)]
pub struct Rate {
    pub max_rate: f64,
    pub min_records: u64,
}

/// What happens to the bad rows of one source.
#[derive(Serialize)]
pub struct SourcePolicy {
    pub source: String,
    /// Where they are written; null if they are only counted.
    pub path: Option<String>,
    pub max_rate: Option<Rate>,
}

/// A dead-letter file.
#[derive(Serialize)]
pub struct DeadLetterFile {
    pub path: String,
    pub sources: Vec<String>,
    /// Whether it also takes rows that have no source.
    pub merged: bool,
    pub header: Vec<String>,
}

/// How many rows pass an operator.
#[derive(Serialize)]
pub struct Statistic {
    pub node: String,
    pub input_bytes: Option<u64>,
    pub estimated_rows: Option<u64>,
    /// The most that usual data of this size come to.
    pub most_rows: Option<u64>,
    /// Whether the estimate is an upper bound.
    pub at_most: bool,
    /// Where the estimate comes from, or why there is none.
    pub origin: String,
}

/// The expressions of an operator.
#[derive(Serialize)]
pub struct Program {
    pub node: String,
    pub steps: Vec<Step>,
}

/// One expression.
#[derive(Serialize)]
pub struct Step {
    /// `emit`, `let`, `filter`, `distinct`, `check`, `warn`, `branch`, …
    pub kind: &'static str,
    /// What it gives a value to, or the branch.
    pub target: Option<String>,
    /// As written, on one line.
    pub text: String,
    /// The inferred type.
    #[serde(rename = "type")]
    pub ty: Option<String>,
}

/// The memory limit, and who shares it.
#[derive(Serialize)]
pub struct Memory {
    pub limit_bytes: u64,
    pub backpressure: &'static str,
    pub spill_above_bytes: u64,
    pub batch_rows: usize,
    pub threads: Option<usize>,
    /// In the order in which they are asked to spill.
    pub consumers: Vec<Consumer>,
    /// What can't be cut and does not fit, if the estimates are right: a run stops there (E310).
    pub over_limit: Vec<OverLimit>,
}

/// A group that has to fit the limit and does not.
#[derive(Serialize)]
pub struct OverLimit {
    pub node: String,
    /// What its rows take.
    pub needed_bytes: u64,
    /// Whether it may be less: rows are dropped above.
    pub at_most: bool,
}

/// State that can grow with the input.
#[derive(Serialize)]
pub struct Consumer {
    pub name: String,
    /// Null for dead letters, which come from all of them.
    pub node: Option<String>,
    pub priority: u8,
    pub spills: bool,
    /// What it holds in all when it is full, in memory or on disk.
    pub predicted_held_bytes: Option<u64>,
    /// What it has in memory at once, under the limit.
    pub predicted_peak_bytes: Option<u64>,
    /// Whether these are the most that usual data come to: rows may be dropped or grouped above or here.
    pub at_most: bool,
    /// What it holds if nothing is dropped, each row is a group, and rows are as long as usual.
    pub usual_held_bytes: Option<u64>,
    /// What has to happen for it to hold anything, where that is not the rule.
    pub only_if: Option<&'static str>,
    pub why: String,
}

/// A map that keeps its order.
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
