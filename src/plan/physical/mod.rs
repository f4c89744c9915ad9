//! The physical plan: how to do it, as a DAG of operators cut into stages.
//!
//! The interpreter takes every decision from here; nothing but spilling is left to run time.

mod columns;
mod dead_letters;
mod edge;
mod lower;
mod operator;
pub(in crate::plan) mod print;

use std::collections::{BTreeMap, BTreeSet};

use petgraph::Direction;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;

use crate::analysis::hir;

pub use columns::ColumnSet;
pub use dead_letters::{DeadLetterFile, DeadLetters};
pub use edge::{Edge, IdentityUse, Provenance, RowIdentity};
pub use lower::lower;
pub use operator::{
    AggregateOperator, BufferClass, CullOperator, DiscardOperator, DistinctOperator, MergeOperator, Operator,
    OperatorKind, ParkOperator, ReshapeOperator, Rest, RestForm, RouteOperator, SinkOperator, SortOperator,
    SortPurpose, SourceOperator, TransformOperator,
};

/// Names an operator of a [`PhysicalPlan`]. Ids count from 0 in plan order, which is topological.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OperatorId(pub u32);

/// A part of the run that all workers do together: segments of which none can be over before the others begin. As a
/// rule that is one; an interleaving merge, which takes a row of each input in turn, ties those of its inputs together.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// Its segments. Each comes behind those whose rows it takes and those that it waits for.
    pub segments: Vec<Segment>,
}

/// A head and the tree of streaming operators below it.
///
/// A head is a driver (a source, or a buffer that an earlier stage filled) or an interleaving merge, which takes its
/// rows from other segments of its stage. The tree ends in sinks, discards, buffers and interleaving merges. These
/// stand in the segments that bring their rows, and head one of their own; what lies below a concatenating merge is in
/// the segments of each of its inputs. Every other operator is in one segment.
#[derive(Clone, PartialEq, Debug)]
pub struct Segment {
    /// Where its rows come from.
    pub head: OperatorId,
    /// Its operators in plan order, the head first.
    pub operators: Vec<OperatorId>,
    /// The segments of its stage that are over before it begins, by position: a concatenating merge wants their rows
    /// first.
    pub behind: Vec<usize>,
}

impl Stage {
    /// The heads of its segments.
    pub fn heads(&self) -> impl Iterator<Item = OperatorId> {
        self.segments.iter().map(|segment| segment.head)
    }

    /// The operators of all segments; one may be in several.
    pub fn operators(&self) -> impl Iterator<Item = OperatorId> {
        self.segments.iter().flat_map(|segment| segment.operators.iter().copied())
    }
}

/// State that can grow with the input, charged to the memory limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryConsumer {
    /// What messages call it, such as `distinct.clean`.
    pub name: String,
    /// The operator that holds it; `None` for dead letters, which come from all of them.
    pub operator: Option<OperatorId>,
    /// Lower spills first.
    pub priority: u8,
    /// Whether it can spill.
    pub spills: bool,
    /// What makes it grow, as a phrase.
    pub reason: String,
}

impl MemoryConsumer {
    /// What the consumer of dead letters that wait is called.
    pub const DEAD_LETTERS: &str = "dead_letters";
}

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
    /// The sources and aggregates of which each row is known when it is written, so that it counts once however many
    /// outputs it reaches; each with the consumer that is charged for that.
    pub counted: BTreeMap<OperatorId, usize>,
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
            counted: BTreeMap::new(),
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

    /// What makes rows: the sources, then the aggregates, each in plan order. A row that an aggregate made is known by
    /// its aggregate and the number of its group, from 1; where it is named, the number of the group's first row stands
    /// in place of a number in a file, and `<merged>` in place of file and source.
    pub fn makers(&self) -> Vec<OperatorId> {
        let of = |wanted: fn(&OperatorKind) -> bool| self.operators().filter(move |(_, found)| wanted(&found.kind));
        let sources = of(|kind| matches!(kind, OperatorKind::Source(_)));
        let aggregates = of(|kind| matches!(kind, OperatorKind::Aggregate(_)));
        sources.chain(aggregates).map(|(id, _)| id).collect()
    }

    /// Whether dead letters of these stages come in the order of their rows: each stage is all there is about its
    /// source, sources come in plan order, and no aggregate makes rows, which stand behind all others.
    pub fn gives_letters_in_order(&self, stages: &[Stage]) -> bool {
        if self.operators().any(|(_, operator)| operator.is_aggregate()) {
            return false;
        }
        let is_source = |id: OperatorId| matches!(self.operator(id).kind, OperatorKind::Source(_));
        let alone = |stage: &Stage| stage.segments.len() == 1 && stage.heads().all(is_source);
        stages.iter().all(alone) && stages.is_sorted_by_key(|stage| stage.segments[0].head)
    }

    /// Whether aggregates, and nothing else, made the rows that `id` gives.
    pub fn gives_groups(&self, id: OperatorId) -> bool {
        let (mut seen, mut waiting) = (BTreeSet::from([id]), vec![id]);
        while let Some(id) = waiting.pop() {
            match &self.operator(id).kind {
                OperatorKind::Source(_) => return false,
                OperatorKind::Aggregate(_) => {}
                _ => {
                    waiting.extend(self.inputs(id).iter().map(|(above, _)| *above).filter(|above| seen.insert(*above)))
                }
            }
        }
        true
    }

    /// What `id` reads: producer and edge, in the order of its inputs.
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

    /// Puts operators on edges: each in front of an input of a consumer. Ids count anew, in plan order; the list says
    /// for each old id the new one.
    pub fn with_parks(&self, parks: &[(OperatorId, usize, Operator)]) -> (Self, Vec<OperatorId>) {
        let mut plan = Self { graph: StableDiGraph::new(), ..self.clone() };
        let mut moved: Vec<OperatorId> = Vec::new();
        for (id, operator) in self.operators() {
            let own = parks.iter().filter(|(consumer, ..)| *consumer == id);
            let own: Vec<_> = own.map(|(_, input, park)| (*input, plan.add(park.clone()))).collect();
            let new = plan.add(operator.clone());
            moved.push(new);
            for (producer, edge) in self.inputs(id) {
                let from = moved[producer.0 as usize];
                match own.iter().find(|(input, _)| *input == edge.input) {
                    None => plan.connect(from, new, edge.clone()),
                    Some((_, park)) => {
                        plan.connect(from, *park, Edge { input: 0, ..edge.clone() });
                        plan.connect(*park, new, Edge { port: 0, port_name: None, ..edge.clone() });
                    }
                }
            }
        }
        plan.rename(&moved);
        (plan, moved)
    }

    /// Renames operators wherever one names another.
    fn rename(&mut self, moved: &[OperatorId]) {
        let rename = |id: &mut OperatorId| *id = moved[id.0 as usize];
        self.dead_letters.routes.iter_mut().for_each(|(source, _)| rename(source));
        self.dead_letters.source_rates.iter_mut().for_each(|(source, _)| rename(source));
        for operator in self.graph.node_weights_mut() {
            if let OperatorKind::Sink(sink) = &mut operator.kind {
                sink.carried_sources.iter_mut().for_each(rename);
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
        found.sort_by_key(|(other, edge, weight)| match direction {
            Direction::Incoming => (OperatorId(0), weight.input, *edge),
            Direction::Outgoing => (*other, weight.input, *edge),
        });
        found.into_iter().map(|(other, _, weight)| (other, weight)).collect()
    }
}

fn index(id: OperatorId) -> NodeIndex {
    NodeIndex::new(id.0 as usize)
}
