//! The operators: what each does, with everything that was decided about it.

use std::sync::Arc;

use super::{ColumnSet, OperatorId};
use crate::analysis::hir::{self, MergeMode, Schema};
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
    /// The node's name; of the parts of a transform that `distinct` cuts, the later ones have a number behind it.
    pub name: String,
    /// Where the node's name stands; for a distinct, the statement.
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
    /// Puts streams behind or between each other.
    Merge(MergeOperator),
    /// Sorts all rows.
    Sort(SortOperator),
    /// Sets whole groups aside.
    Cull(CullOperator),
    /// Makes one row of each group.
    Aggregate(AggregateOperator),
    /// Rewrites rows of a group and adds new ones.
    Reshape(ReshapeOperator),
    /// Keeps the first row of each key.
    Distinct(DistinctOperator),
    /// Holds all rows until a reader below can take them.
    Park(ParkOperator),
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
            OperatorKind::Merge(merge) => Some(&merge.output),
            OperatorKind::Sort(sort) => Some(&sort.schema),
            OperatorKind::Cull(cull) => Some(&cull.schema),
            OperatorKind::Aggregate(aggregate) => Some(&aggregate.output),
            OperatorKind::Reshape(reshape) => Some(&reshape.output),
            OperatorKind::Distinct(distinct) => Some(&distinct.schema),
            OperatorKind::Park(park) => Some(&park.schema),
            OperatorKind::Sink(_) | OperatorKind::Discard(_) => None,
        }
    }

    /// How many ports it offers.
    pub fn ports(&self) -> usize {
        match &self.kind {
            OperatorKind::Route(route) => route.branches.len(),
            OperatorKind::Cull(_) => 2,
            OperatorKind::Sink(_) | OperatorKind::Discard(_) => 0,
            _ => 1,
        }
    }

    /// How the rows of a buffer rest; `None` for an operator that passes rows on as they come.
    pub fn rest(&self) -> Option<&Rest> {
        match &self.kind {
            OperatorKind::Sort(sort) => Some(&sort.rest),
            OperatorKind::Cull(cull) => Some(&cull.rest),
            OperatorKind::Aggregate(aggregate) => aggregate.rest.as_ref(),
            OperatorKind::Reshape(reshape) => Some(&reshape.rest),
            OperatorKind::Distinct(distinct) => Some(&distinct.rest),
            OperatorKind::Park(park) => Some(&park.rest),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn rest_mut(&mut self) -> Option<&mut Rest> {
        match &mut self.kind {
            OperatorKind::Sort(sort) => Some(&mut sort.rest),
            OperatorKind::Cull(cull) => Some(&mut cull.rest),
            OperatorKind::Aggregate(aggregate) => aggregate.rest.as_mut(),
            OperatorKind::Reshape(reshape) => Some(&mut reshape.rest),
            OperatorKind::Distinct(distinct) => Some(&mut distinct.rest),
            OperatorKind::Park(park) => Some(&mut park.rest),
            _ => None,
        }
    }

    /// The node of the file that messages and dead letters name.
    pub fn node(&self) -> &str {
        match &self.kind {
            OperatorKind::Transform(transform) => &transform.node,
            OperatorKind::Distinct(distinct) => &distinct.node,
            _ => &self.name,
        }
    }

    /// What it is, if no pipeline file names it: ``the sort of sink `out` ``.
    pub fn in_words(&self) -> Option<String> {
        match &self.kind {
            OperatorKind::Sort(sort) => {
                let (served, prefix) = (&self.name, sort.purpose.prefix());
                let served = served.strip_prefix(prefix).unwrap_or(served);
                Some(match sort.purpose {
                    SortPurpose::CorrelationKey => format!("the sort by the correlation key of source `{served}`"),
                    SortPurpose::MergeFiles => {
                        format!("the sort that brings the files of source `{served}` into one order")
                    }
                    SortPurpose::Repair | SortPurpose::RepairFiles => {
                        format!("the sort that repairs the order of source `{served}`")
                    }
                    SortPurpose::Sink => format!("the sort of sink `{served}`"),
                })
            }
            OperatorKind::Park(_) => {
                let (merge, input) = self.name.rsplit_once('.')?;
                Some(format!("where input {input} of merge `{merge}` waits"))
            }
            _ => None,
        }
    }

    /// Whether its rows are new: no rows of what it reads. Such rows are known by it and their number among them.
    pub fn makes_rows(&self) -> bool {
        matches!(self.kind, OperatorKind::Source(_) | OperatorKind::Aggregate(_))
    }

    /// Whether its rows are groups of others.
    pub fn is_aggregate(&self) -> bool {
        matches!(self.kind, OperatorKind::Aggregate(_))
    }

    /// Whether it keeps where its rows come from; `None` where they are known by their positions in a block.
    pub fn keeps_identity(&self) -> Option<bool> {
        match &self.kind {
            OperatorKind::Merge(merge) if merge.interleaves() => Some(merge.identity),
            _ => self.rest().map(|rest| rest.identity),
        }
    }

    /// Says whether it keeps where its rows come from.
    pub fn keep_identity(&mut self, keep: bool) {
        match &mut self.kind {
            OperatorKind::Merge(merge) => merge.identity = keep && merge.interleaves(),
            _ => self.rest_mut().into_iter().for_each(|rest| rest.identity = keep),
        }
    }

    /// Whether it drives a stage: a source, or a buffer, which earlier stages fill.
    pub fn is_driver(&self) -> bool {
        matches!(self.kind, OperatorKind::Source(_)) || self.rest().is_some()
    }

    /// Whether it takes rows of its inputs in turn.
    pub fn interleaves(&self) -> bool {
        matches!(&self.kind, OperatorKind::Merge(merge) if merge.interleaves())
    }

    /// Whether it heads a segment, so that the segments which bring its rows end at it.
    pub fn is_head(&self) -> bool {
        self.is_driver() || self.interleaves()
    }
}

impl OperatorKind {
    /// The kind's name; a sink is an `output` whichever way it was written.
    pub fn name(&self) -> &'static str {
        match self {
            OperatorKind::Source(_) => "source",
            OperatorKind::Transform(_) => "transform",
            OperatorKind::Route(_) => "route",
            OperatorKind::Merge(_) => "merge",
            OperatorKind::Sort(sort) => sort.purpose.kind_name(),
            OperatorKind::Cull(_) => "cull",
            OperatorKind::Aggregate(_) => "aggregation",
            OperatorKind::Reshape(_) => "reshape",
            OperatorKind::Distinct(_) => "distinct",
            OperatorKind::Park(_) => "park",
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
    /// The transform, or a part of one that `distinct` cuts. It has no `distinct` statements.
    pub transform: hir::Transform,
    /// The node of the file: what messages and dead letters call it.
    pub node: String,
    /// What it reads.
    pub input: Arc<Schema>,
    /// What it gives.
    pub output: Arc<Schema>,
    /// The output columns that something reads.
    pub stored: ColumnSet,
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

/// Puts streams behind or between each other. With `Concat` the segments that bring its inputs run one after the other,
/// in the order of the inputs, and each takes its rows on through everything below the merge. The other modes take a
/// row of one input after the other: the segments that bring them run side by side and end at the merge, which heads a
/// segment of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeOperator {
    /// The merge.
    pub merge: hir::Merge,
    /// What each input gives, in order. An [`super::Edge`] into a merge has the position of its input.
    pub inputs: Vec<Arc<Schema>>,
    /// What it gives.
    pub output: Arc<Schema>,
    /// The output columns that something reads.
    pub stored: ColumnSet,
    /// Of one that interleaves, whether source, file and row number are kept: something below can need them.
    pub identity: bool,
}

impl MergeOperator {
    /// Whether it takes rows of its inputs in turn. With a single one there is nothing to choose from.
    pub fn interleaves(&self) -> bool {
        self.merge.mode != MergeMode::Concat && self.inputs.len() > 1
    }
}

/// Sorts all rows: stable.
#[derive(Clone, PartialEq, Debug)]
pub struct SortOperator {
    /// The keys, first to last. In front of them stands the file, where rows are sorted within files.
    pub keys: Vec<hir::SortKey>,
    /// Columns whose null rows are dropped and counted.
    pub drop_nulls: Vec<usize>,
    /// Why it is there.
    pub purpose: SortPurpose,
    /// What it reads and gives.
    pub schema: Arc<Schema>,
    /// How its rows rest.
    pub rest: Rest,
}

/// Why a sort is in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortPurpose {
    /// A correlation key wants the rows of a group side by side: `__correlation_sort_<source>`.
    CorrelationKey,
    /// Several files that are each in order become one ordered stream, which something below asks for:
    /// `__order_<source>`.
    MergeFiles,
    /// A file may break the order it claims: `__repair_<source>`. A first pass over the file's keys decides: where the
    /// claim holds, the stage below is driven by the source itself and nothing is held. The other sorts behind a
    /// source find and report a file that breaks its claim (`Source::sort_order`), too.
    Repair,
    /// The same for a source that may read several files: each is sorted on its own, and they stay in their order.
    RepairFiles,
    /// A sink's `sort_order`: `__sink_<sink>`.
    Sink,
}

impl SortPurpose {
    /// What stands in front of the node's name that it serves.
    pub fn prefix(self) -> &'static str {
        match self {
            SortPurpose::CorrelationKey => "__correlation_sort_",
            SortPurpose::MergeFiles => "__order_",
            SortPurpose::Repair | SortPurpose::RepairFiles => "__repair_",
            SortPurpose::Sink => "__sink_",
        }
    }

    /// The kind that plans print. Files that are each in order are merged; in memory that is what a stable sort does.
    pub fn kind_name(self) -> &'static str {
        if self == SortPurpose::MergeFiles { "merge" } else { "sort" }
    }

    /// Whether it has nothing to do where files are in the order that they claim.
    pub fn is_repair(self) -> bool {
        matches!(self, SortPurpose::Repair | SortPurpose::RepairFiles)
    }

    /// Whether it sorts the rows of each file on their own.
    pub fn is_within_files(self) -> bool {
        self == SortPurpose::RepairFiles
    }
}

/// Sets whole groups aside.
#[derive(Clone, PartialEq, Debug)]
pub struct CullOperator {
    /// The cull.
    pub cull: hir::Cull,
    /// The name of the port of removed groups.
    pub removed_to: String,
    /// The names of the rules' and keys' columns for messages: those of `partition_by`.
    pub partition_names: Vec<String>,
    /// What it reads and gives on both ports.
    pub schema: Arc<Schema>,
    /// How its rows rest.
    pub rest: Rest,
    /// The memory consumer of its groups and aggregates; that of its rows is [`Rest::consumer`].
    pub decision_consumer: usize,
    /// Whether there can be groups that can't be decided on, so that it is kept which row each begins with.
    pub group_can_fail: bool,
    /// Whether a group that can't be decided on becomes dead letters, so that its rows have to be kept for them; else
    /// it ends the run.
    pub shows_groups: bool,
}

/// Makes one row of each group.
#[derive(Clone, PartialEq, Debug)]
pub struct AggregateOperator {
    /// The aggregate.
    pub aggregation: Box<hir::Aggregation>,
    /// Whether it holds one group at a time, as its input comes in the order of its key: then it streams. Else it is a
    /// buffer that holds the state of every group and gives them as they were first seen.
    pub streams: bool,
    /// What it reads.
    pub input: Arc<Schema>,
    /// What it gives.
    pub output: Arc<Schema>,
    /// The output columns that something reads.
    pub stored: ColumnSet,
    /// For one that doesn't stream: its consumer is charged for the groups, and its identity says whether something
    /// below has to tell its rows apart. No row rests in it.
    pub rest: Option<Rest>,
    /// For one that streams, the memory consumer of the group in hand.
    pub group_consumer: usize,
}

/// Rewrites rows of a group and adds new ones.
#[derive(Clone, PartialEq, Debug)]
pub struct ReshapeOperator {
    /// The reshape.
    pub reshape: hir::Reshape,
    /// The names of the columns of `partition_by`, for messages.
    pub partition_names: Vec<String>,
    /// What it reads.
    pub input: Arc<Schema>,
    /// What it gives.
    pub output: Arc<Schema>,
    /// How its rows rest; columns are those of `output`.
    pub rest: Rest,
    /// The memory consumer of its group table; that of its rows is [`Rest::consumer`].
    pub group_consumer: usize,
    /// Whether a group can fail without ending the run, so that its rows, as they came, have to be kept for dead
    /// letters.
    pub shows_groups: bool,
}

/// Keeps the first row of each key in the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct DistinctOperator {
    /// The columns that make the key, by position.
    pub key: Vec<usize>,
    /// For each of these, where the statement names it.
    pub key_spans: Vec<Span>,
    /// The transform whose statement it is: what messages and dead letters call it.
    pub node: String,
    /// What it reads and gives.
    pub schema: Arc<Schema>,
    /// How its rows rest; the consumer is also charged for its keys.
    pub rest: Rest,
}

/// Holds all rows of an edge, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct ParkOperator {
    /// What waits for what, as a phrase.
    pub reason: String,
    /// What it reads and gives.
    pub schema: Arc<Schema>,
    /// How its rows rest.
    pub rest: Rest,
}

/// How rows rest in a buffer: everything that the operator doesn't decide on is turned into one contiguous encoded row
/// while its batch is hot, and moved as a pointer.
#[derive(Clone, PartialEq, Debug)]
pub struct Rest {
    /// What a row is turned into.
    pub form: RestForm,
    /// The columns that are kept, by position in the schema that the operator gives.
    pub columns: ColumnSet,
    /// Whether undeclared fields are kept.
    pub carries: bool,
    /// Whether source, file and row number are kept: something below can need them.
    pub identity: bool,
    /// The memory consumer of the rows: a position in [`super::PhysicalPlan::consumers`].
    pub consumer: usize,
}

impl Rest {
    /// What is known before passes decide: a schema of `width` columns.
    pub fn undecided(width: usize) -> Self {
        let columns = ColumnSet::none(width);
        Self { form: RestForm::Row, columns, carries: false, identity: false, consumer: usize::MAX }
    }
}

/// What a resting row is turned into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RestForm {
    /// The bytes that the sinks below write: only sinks that write the same bytes read the buffer, directly, and
    /// discards, which count its rows.
    SinkBytes {
        /// One of those sinks.
        sink: OperatorId,
    },
    /// A compact encoding that decodes back to columns.
    Row,
}
