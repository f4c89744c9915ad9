//! The operators of a segment, compiled: the head's rows go down a tree of programs and routes to sinks, buffers and
//! interleaving merges.

mod aggregate;
mod batch_rows;
mod block_result;
mod buffer;
mod cull;
mod distinct;
mod fault_text;
mod group_name;
mod grouped;
mod joining;
mod lost;
mod make_room;
mod merge;
mod operands;
mod park;
mod pass;
mod read_back;
mod relay;
mod reshape;
mod sink;
mod sort;
mod unit;
mod value_help;

pub(crate) use aggregate::{BlockRoom, Held};
use aggregate::{Finish, Stream, Whole};
pub(crate) use block_result::{BlockResult, Counts, Reached, WARNING_SAMPLES, Warned, WarnedRows};
pub(crate) use buffer::{Buffer, BufferContext, Collector, Full, Portion, Scan, Seal};
pub(crate) use fault_text::{preview, warning_total};
pub(crate) use lost::Lost;
pub(crate) use make_room::make_room;
pub(crate) use pass::Pass;
pub(crate) use sink::SinkColumns;
pub(crate) use unit::{Mixed, Resting, Slice, Unit};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis::hir::Schema;
use crate::analysis::types::Kind;
use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::dlq::LetterShape;
use crate::exec::eval::{self, Constants};
use crate::exec::memory::{Arbitrator, batch_share, most_of_a_row};
use crate::exec::rest::Codec;
use crate::exec::sources::Source;
use crate::exec::spill::Disk;
use crate::exec::stages::contained;
use crate::formats::csv::Encoder;
use crate::plan::physical::{
    AggregateOperator, IdentityUse, Operator, OperatorId, OperatorKind, PhysicalPlan, RestForm, Segment,
};

use batch_rows::BatchRows;
use merge::ColumnMap;

/// A segment's operators.
pub(crate) struct Tree<'p> {
    /// The plan.
    pub plan: &'p PhysicalPlan,
    /// In plan order, the head first.
    pub nodes: Vec<TreeNode<'p>>,
    /// The nodes of the sinks.
    pub sinks: Vec<usize>,
    /// The buffers that the segment fills.
    pub slots: Vec<Slot>,
    /// The inputs of the interleaving merges that take its rows.
    pub joins: Vec<Join>,
    /// The nodes of the aggregates that stream.
    pub streams: Vec<usize>,
    /// The rows of a batch.
    pub batch_rows: BatchRows,
    /// Owns the memory limit.
    pub arbitrator: &'p Arbitrator,
    /// What a row may take beside the limit, in bytes.
    pub most_of_a_row: u64,
    /// Whether it is noted which rows a sink got, as a row may be written more than once.
    pub marks_rows: bool,
    /// How many makers of rows are sources: they are the first ones.
    pub sources: u32,
    /// Whether the rows of the head are those of aggregates, where they don't say what made them.
    pub is_made: bool,
    /// For each maker of rows, whether those that are written are [counted](PhysicalPlan::counted) one by one.
    pub counted: Vec<bool>,
    /// Whether it is measured what time each operator takes.
    pub measures: bool,
}

/// An operator in a segment.
pub(crate) struct TreeNode<'p> {
    /// Its id in the plan.
    pub id: OperatorId,
    /// The operator.
    pub operator: &'p Operator,
    /// How it does its work.
    pub action: Action<'p>,
    /// For each port, the nodes that read it, and over which of their inputs.
    pub consumers: Vec<Vec<(usize, usize)>>,
    /// The branch of the last route passed.
    pub route: Option<&'p str>,
    /// What a dead letter of a row that fails here shows, by what made the row.
    pub letters: Vec<LetterShape>,
}

/// A buffer that a segment ends in.
pub(crate) struct Slot {
    /// The operator.
    pub operator: OperatorId,
    /// Its position in the segment.
    pub node: usize,
    /// The kinds of the columns that it is given.
    pub kinds: Vec<Kind>,
}

/// An input of an interleaving merge that a segment ends in.
pub(crate) struct Join {
    /// The merge.
    pub merge: OperatorId,
    /// The position of the input.
    pub input: usize,
    /// The kinds of the merge's columns.
    pub kinds: Vec<Kind>,
}

/// How an operator does its work.
pub(crate) enum Action<'p> {
    /// Heads the segment.
    Head,
    /// Heads the segment: makes rows of groups.
    Groups(Box<Finish<'p>>),
    /// Hands rows on: a sort behind a source that is in order.
    Through,
    /// Runs a program.
    Transform(Box<eval::Transform>),
    /// Makes rows of groups whose rows come side by side; its position among the aggregates that do.
    Stream(Box<Stream<'p>>, usize),
    /// Evaluates conditions.
    Route(Box<eval::Route>),
    /// Puts the columns of each input in their places.
    Merge(Vec<ColumnMap>),
    /// Puts the columns in their places, for an interleaving merge to take the rows in turn; the position of the join.
    Join(ColumnMap, usize),
    /// Fills a buffer; the position of its slot.
    Buffer(Arc<dyn Collector + 'p>, usize),
    /// Encodes; its position among the sinks.
    Sink(Encoder, usize),
    /// Counts.
    Discard,
}

/// A buffer while stages fill it.
pub(crate) struct Filling<'p> {
    /// What workers share.
    pub collector: Arc<dyn Collector + 'p>,
    /// What holds the rows.
    pub buffer: Box<dyn Buffer<'p> + 'p>,
    /// How its rows rest.
    pub codec: Arc<Codec>,
}

/// What lives longer than a stage.
pub(crate) struct Shared<'p> {
    /// The plan.
    pub plan: &'p PhysicalPlan,
    /// What makes rows: the sources, then the aggregates.
    pub makers: Vec<OperatorId>,
    /// Constants for programs.
    pub constants: Arc<Constants>,
    /// Owns the memory limit.
    pub arbitrator: &'p Arbitrator,
    /// What does not fit it.
    pub disk: &'p Disk<'p>,
    /// How many workers there are.
    pub threads: usize,
    /// What each sink writes.
    pub sinks: BTreeMap<OperatorId, SinkColumns>,
    /// The buffers that are being filled.
    pub fillings: BTreeMap<OperatorId, Filling<'p>>,
    /// Sorts that rows pass through as they are.
    pub skipped: BTreeSet<OperatorId>,
    /// Sorts that are to see whether the files of the source above are in their order.
    pub unproven: BTreeMap<OperatorId, Arc<Source<'p>>>,
    /// Aggregates without a key that stream, with what their segments share.
    pub wholes: BTreeMap<OperatorId, Arc<Whole<'p>>>,
    /// What buffers have to say at the end of the run.
    pub warnings: Vec<Diagnostic>,
    /// Whether it is measured what time each operator takes.
    pub measures: bool,
}

impl<'p> Shared<'p> {
    /// Makes a buffer, unless it is being filled already.
    pub fn fill(&mut self, id: OperatorId) -> &mut Filling<'p> {
        if !self.fillings.contains_key(&id) {
            let filling = self.filling(id);
            self.fillings.insert(id, filling);
        }
        self.fillings.get_mut(&id).expect("it was just made")
    }

    fn filling(&self, id: OperatorId) -> Filling<'p> {
        let operator = self.plan.operator(id);
        let codec = Arc::new(self.codec(operator));
        let context = BufferContext {
            operator,
            codec: Arc::clone(&codec),
            constants: Arc::clone(&self.constants),
            arbitrator: self.arbitrator,
            disk: self.disk,
            threads: self.threads,
            unproven: self.unproven.get(&id).cloned(),
        };
        let (collector, buffer) = match &operator.kind {
            OperatorKind::Sort(spec) => sort::new(spec, &context),
            OperatorKind::Park(spec) => park::new(spec, &context),
            OperatorKind::Cull(spec) => cull::new(spec, &context),
            OperatorKind::Reshape(spec) => reshape::new(spec, &context),
            OperatorKind::Distinct(spec) => distinct::new(spec, &context),
            OperatorKind::Aggregate(spec) => aggregate::new(spec, &context, names_rows(self.plan, id)),
            _ => unreachable!("only a buffer is filled"),
        };
        Filling { collector, buffer, codec }
    }

    /// Ends the filling of a buffer: what drives a stage, and what turns its rows back. Putting rows in order, or reading
    /// them back, takes memory of its own, for which other buffers make room.
    pub fn seal(&mut self, id: OperatorId, seal: Seal) -> Result<(Full<'p>, Arc<Codec>), Failure> {
        // A buffer that no row came to is made only now.
        self.fill(id);
        let Filling { buffer, codec, .. } = self.fillings.remove(&id).expect("it was just made");
        // An eighth is plenty for the frames of a merge, but for the smallest limits: frames can't shrink with those.
        let wanted = (self.arbitrator.limit() / 8).max(32 * self.disk.frame() as u64).max(buffer.sealing());
        contained(|| make_room(self.plan, &mut self.fillings, self.arbitrator, wanted))?;
        self.warnings.extend(buffer.warnings());
        Ok((contained(|| buffer.seal(seal))?, codec))
    }

    fn codec(&self, operator: &Operator) -> Codec {
        let rest = operator.rest().expect("a buffer says how its rows rest");
        let sink = match rest.form {
            RestForm::SinkBytes { sink } => Some(self.encoder(sink)),
            RestForm::Row => None,
        };
        Codec::new(rest, operator.output().expect("a buffer offers a port"), sink)
    }

    fn encoder(&self, sink: OperatorId) -> Encoder {
        let OperatorKind::Sink(spec) = &self.plan.operator(sink).kind else { unreachable!("a sink was named") };
        Encoder::new(self.sinks[&sink].encoded.clone(), spec.sink.delimiter)
    }
}

impl<'p> Tree<'p> {
    /// Compiles the operators of a segment.
    pub fn new(segment: &Segment, shared: &mut Shared<'p>) -> Self {
        let plan = shared.plan;
        let mut tree = Self {
            plan,
            nodes: Vec::new(),
            sinks: Vec::new(),
            slots: Vec::new(),
            joins: Vec::new(),
            streams: Vec::new(),
            batch_rows: BatchRows::new(
                plan.settings.batch_size.try_into().unwrap_or(u32::MAX),
                batch_share(shared.arbitrator.limit(), shared.threads),
            ),
            arbitrator: shared.arbitrator,
            most_of_a_row: most_of_a_row(shared.arbitrator.limit()),
            marks_rows: false,
            sources: shared.makers.iter().filter(|maker| !plan.operator(**maker).is_aggregate()).count() as u32,
            is_made: plan.gives_groups(segment.head),
            counted: shared.makers.iter().map(|maker| plan.counted.contains_key(maker)).collect(),
            measures: shared.measures,
        };
        for &id in &segment.operators {
            let node = tree.node(segment, id, shared);
            tree.nodes.push(node);
        }
        tree.marks_rows = tree.sinks.len() > 1 || !shared.plan.counted.is_empty() && !tree.sinks.is_empty();
        tree
    }

    fn node(&mut self, segment: &Segment, id: OperatorId, shared: &mut Shared<'p>) -> TreeNode<'p> {
        let operator = shared.plan.operator(id);
        let action =
            if id == segment.head { head(id, operator, shared) } else { self.action(segment, id, operator, shared) };
        let route = self.last_route(shared, segment, id);
        let makers = shared.makers.iter();
        let letters = makers.map(|maker| LetterShape::new(shared.plan, *maker, id, route)).collect();
        let is_end = matches!(action, Action::Buffer(..) | Action::Join(..));
        let consumers = if is_end { Vec::new() } else { consumers(self.plan, segment, id) };
        TreeNode { id, operator, action, consumers, route, letters }
    }

    fn action(
        &mut self,
        segment: &Segment,
        id: OperatorId,
        operator: &'p Operator,
        shared: &mut Shared<'p>,
    ) -> Action<'p> {
        match &operator.kind {
            OperatorKind::Source(_) => unreachable!("a source heads its segment"),
            _ if shared.skipped.contains(&id) => Action::Through,
            _ if operator.is_driver() => self.buffer(id, shared),
            OperatorKind::Aggregate(spec) => {
                self.streams.push(self.nodes.len());
                Action::Stream(Box::new(stream(id, (spec, operator), shared)), self.streams.len() - 1)
            }
            OperatorKind::Transform(spec) => {
                let own = spec.transform.batch_size.and_then(|rows| u32::try_from(rows).ok());
                self.batch_rows.limit(own.unwrap_or(u32::MAX));
                let program = eval::Transform::new(&spec.transform, &spec.stored, Arc::clone(&shared.constants));
                Action::Transform(Box::new(program))
            }
            OperatorKind::Route(spec) => {
                Action::Route(Box::new(eval::Route::new(&spec.route, Arc::clone(&shared.constants))))
            }
            OperatorKind::Merge(spec) if operator.interleaves() => {
                let (input, _) = brought(shared, segment, id).next().expect("the segment brings rows of an input");
                self.joins.push(Join { merge: id, input, kinds: kinds(&spec.output) });
                Action::Join(ColumnMap::new(spec, input), self.joins.len() - 1)
            }
            OperatorKind::Merge(spec) => {
                Action::Merge((0..spec.inputs.len()).map(|input| ColumnMap::new(spec, input)).collect())
            }
            OperatorKind::Sink(_) => {
                self.sinks.push(self.nodes.len());
                Action::Sink(shared.encoder(id), self.sinks.len() - 1)
            }
            OperatorKind::Discard(_) => Action::Discard,
            OperatorKind::Sort(_)
            | OperatorKind::Cull(_)
            | OperatorKind::Reshape(_)
            | OperatorKind::Distinct(_)
            | OperatorKind::Park(_) => {
                unreachable!("buffers drive stages")
            }
        }
    }

    /// Lets the blocks behind a block go on, whatever became of it.
    pub fn leave(&self, block: u64) {
        for &at in &self.streams {
            if let Action::Stream(stream, _) = &self.nodes[at].action {
                stream.leave(block);
            }
        }
    }

    fn buffer(&mut self, id: OperatorId, shared: &mut Shared<'p>) -> Action<'p> {
        let inputs = shared.plan.inputs(id);
        let (_, edge) = inputs.first().expect("a buffer reads a port");
        self.slots.push(Slot { operator: id, node: self.nodes.len(), kinds: kinds(&edge.schema) });
        Action::Buffer(Arc::clone(&shared.fill(id).collector), self.slots.len() - 1)
    }

    /// The branch through which rows reach `id` in a segment, or their last branch before that.
    fn last_route(&self, shared: &Shared<'p>, segment: &Segment, id: OperatorId) -> Option<&'p str> {
        if id == segment.head {
            return route_above(self.plan, id);
        }
        let (input, producer) = brought(shared, segment, id).next()?;
        match &self.plan.operator(producer).kind {
            OperatorKind::Route(route) => {
                let port = self.plan.inputs(id)[input].1.port;
                route.branches.get(port).map(String::as_str)
            }
            _ => self.nodes.iter().find(|node| node.id == producer)?.route,
        }
    }
}

/// The kinds of the columns of a schema.
fn kinds(schema: &Schema) -> Vec<Kind> {
    schema.columns.iter().map(|column| column.ty.kind.clone()).collect()
}

/// How an operator does its work that heads a segment.
fn head<'p>(id: OperatorId, operator: &'p Operator, shared: &Shared<'p>) -> Action<'p> {
    let OperatorKind::Aggregate(spec) = &operator.kind else { return Action::Head };
    let constants = Arc::clone(&shared.constants);
    Action::Groups(Box::new(Finish::new(spec, constants, names_rows(shared.plan, id), maker(id, shared))))
}

/// An aggregate that streams.
fn stream<'p>(id: OperatorId, node: (&'p AggregateOperator, &'p Operator), shared: &mut Shared<'p>) -> Stream<'p> {
    let whole = (node.0.aggregation.key == 0).then(|| {
        let whole = shared.wholes.entry(id).or_insert_with(|| Arc::new(Whole::new(bringing(shared.plan, id))));
        Arc::clone(whole)
    });
    Stream::new(node, &shared.constants, shared.arbitrator, names_rows(shared.plan, id), maker(id, shared), whole)
}

/// In how many segments rows come to an operator.
fn bringing(plan: &PhysicalPlan, id: OperatorId) -> usize {
    let segments = plan.stages.iter().flat_map(|stage| &stage.segments);
    segments.filter(|segment| segment.operators.contains(&id)).count()
}

/// The position of an aggregate among the makers of rows.
fn maker(id: OperatorId, shared: &Shared<'_>) -> u32 {
    shared.makers.iter().position(|maker| *maker == id).expect("an aggregate makes rows") as u32
}

/// Whether the groups of an aggregate are named by their first rows: they, or rows below, can fail.
fn names_rows(plan: &PhysicalPlan, aggregate: OperatorId) -> bool {
    plan.inputs(aggregate).iter().any(|(_, edge)| edge.provenance.uses.contains(&IdentityUse::Failures))
}

/// The inputs of an operator that get rows in a segment, each with the operator that they come from.
fn brought<'a>(
    shared: &'a Shared<'_>,
    segment: &'a Segment,
    id: OperatorId,
) -> impl Iterator<Item = (usize, OperatorId)> + 'a {
    let inputs = shared.plan.inputs(id).into_iter().map(|(producer, edge)| (edge.input, producer));
    inputs.filter(|(_, producer)| {
        let is_end = shared.plan.operator(*producer).is_head() && !shared.skipped.contains(producer);
        segment.operators.contains(producer) && (*producer == segment.head || !is_end)
    })
}

/// The last branch that all rows of an operator have passed, while each producer above it has one input.
fn route_above(plan: &PhysicalPlan, mut id: OperatorId) -> Option<&str> {
    loop {
        let inputs = plan.inputs(id);
        let [(producer, edge)] = inputs.as_slice() else { return None };
        if let OperatorKind::Route(route) = &plan.operator(*producer).kind {
            return route.branches.get(edge.port).map(String::as_str);
        }
        id = *producer;
    }
}

/// For each port of `id`, the positions in the segment of the operators that read it, and over which input.
fn consumers(plan: &PhysicalPlan, segment: &Segment, id: OperatorId) -> Vec<Vec<(usize, usize)>> {
    let mut ports: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    for (consumer, edge) in plan.outputs(id) {
        let Some(position) = segment.operators.iter().position(|other| *other == consumer) else { continue };
        ports.resize(ports.len().max(edge.port + 1), Vec::new());
        ports[edge.port].push((position, edge.input));
    }
    ports
}
