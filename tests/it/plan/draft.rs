//! Random pipelines, wired every way the language allows: stages deliver the rows that the nodes promise, in order.
//!
//! What a node promises is said here on whole streams; the plan's stages are walked row by row, as a run would.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use clinker::analysis::hir::{
    Aggregate, AggregateFunction, Cull, CullRule, Expr, ExprKind, Merge, MergeMode, Node, NodeId, NodeKind, Pipeline,
    Port, PortRef, Route, Schema, SortKey, Statement,
};
use clinker::plan::physical::{OperatorId, OperatorKind, PhysicalPlan, Segment, Stage};
use proptest::prelude::*;

use super::passes::plan;
use super::pipelines;

/// A row: its source and its number there.
type Row = (u32, u32);

/// A node to be: its kind, and which ports it reads, counted around among those there are.
type Draft = (u8, Vec<usize>);

/// Builds pipelines from the parts of one that was checked.
struct Parts {
    pipeline: Pipeline,
    schema: Arc<Schema>,
    condition: Expr,
}

impl Parts {
    fn new() -> Self {
        let (pipeline, _) = pipelines::chain();
        let schema = pipeline.nodes[0].ports[0].schema.clone();
        let NodeKind::Transform(filter) = &pipeline.nodes[2].kind else { unreachable!("it is a transform") };
        let Some(Statement::Filter(condition)) = filter.statements.first() else { unreachable!("it filters") };
        Self { condition: condition.clone(), schema, pipeline }
    }

    /// The drafted nodes, then a sink for the last port and some others.
    fn build(&self, drafts: &[Draft]) -> Pipeline {
        let mut nodes: Vec<Node> = Vec::new();
        let mut ports: Vec<(NodeId, usize)> = Vec::new();
        for (kind, reads) in drafts {
            let id = NodeId(nodes.len() as u32);
            let reads: Vec<_> = reads.iter().map(|read| ports.get(read % ports.len().max(1)).copied()).collect();
            let Some(node) = self.node(id, *kind, &reads.into_iter().flatten().collect::<Vec<_>>()) else { continue };
            ports.extend((0..node.ports.len()).map(|port| (id, port)));
            nodes.push(node);
        }
        for port in ports.iter().rev().step_by(3) {
            let sorted = nodes.len().is_multiple_of(2);
            nodes.push(self.sink(nodes.len(), *port, sorted));
        }
        Pipeline { nodes, ..self.pipeline.clone() }
    }

    fn node(&self, id: NodeId, kind: u8, reads: &[(NodeId, usize)]) -> Option<Node> {
        let (kind, ports, most) = match (kind, reads) {
            (0, _) | (_, []) => (self.source(kind == 1), 1, 0),
            (1, _) => (self.pipeline.nodes[2].kind.clone(), 1, 1),
            (2, _) => (NodeKind::Route(Route { conditions: vec![self.condition.clone(); 2], inclusive: false }), 3, 1),
            (3, _) => (NodeKind::Cull(self.cull()), 2, 1),
            (4 | 8, _) => (self.merge(MergeMode::Interleave, reads.len()), 1, reads.len()),
            (5, _) => (self.distinct(), 1, 1),
            _ => (self.merge(MergeMode::Concat, reads.len()), 1, reads.len()),
        };
        let span = self.pipeline.nodes[0].span;
        let port = |position: usize| Port {
            name: (position > 0 || matches!(kind, NodeKind::Route(_))).then(|| format!("p{position}")),
            span,
            schema: self.schema.clone(),
        };
        Some(Node {
            name: format!("n{}", id.0),
            span,
            inputs: reads.iter().take(most).map(|(node, port)| PortRef { node: *node, port: *port, span }).collect(),
            ports: (0..ports).map(port).collect(),
            kind,
        })
    }

    fn source(&self, ordered: bool) -> NodeKind {
        let NodeKind::Source(mut source) = self.pipeline.nodes[0].kind.clone() else { unreachable!("it is a source") };
        source.sort_order = if ordered { vec![newest_first()] } else { Vec::new() };
        NodeKind::Source(source)
    }

    fn merge(&self, mode: MergeMode, inputs: usize) -> NodeKind {
        let columns: Vec<_> = (0..self.schema.columns.len()).map(Some).collect();
        NodeKind::Merge(Merge { mode, columns: vec![columns; inputs] })
    }

    /// Statements in front of a distinct and behind it, so that it is cut in three.
    fn distinct(&self) -> NodeKind {
        let NodeKind::Transform(mut transform) = self.pipeline.nodes[2].kind.clone() else { unreachable!() };
        let key = vec![Expr { kind: ExprKind::Column(1), ..self.condition.clone() }];
        let filter = Statement::Filter(self.condition.clone());
        transform.statements = vec![filter.clone(), Statement::Distinct { key, span: self.condition.span }, filter];
        NodeKind::Transform(transform)
    }

    fn cull(&self) -> Cull {
        let column = Expr { kind: ExprKind::Column(1), ..self.condition.clone() };
        let total = Aggregate {
            function: AggregateFunction::Max,
            ty: column.ty.clone(),
            span: column.span,
            args: vec![column],
        };
        let span = self.condition.span;
        Cull {
            partition_by: vec![0],
            partition_spans: vec![span],
            hidden_keys: Vec::new(),
            order_by: Vec::new(),
            aggregates: vec![total],
            written: vec!["max(n)".to_string()],
            rules: vec![CullRule { name: "far".to_string(), predicate: self.condition.clone(), span }],
        }
    }

    fn sink(&self, id: usize, (node, port): (NodeId, usize), sorted: bool) -> Node {
        let mut sink = self.pipeline.nodes[3].clone();
        let NodeKind::Sink(kind) = &mut sink.kind else { unreachable!("it is a sink") };
        kind.sort_order = if sorted { vec![newest_first()] } else { Vec::new() };
        sink.name = format!("n{id}");
        sink.inputs[0] = PortRef { node, port, span: sink.span };
        sink
    }
}

fn newest_first() -> SortKey {
    SortKey { column: 2, descending: true, nulls_first: false }
}

/// Whether a row passes a filter.
fn passes(row: &Row) -> bool {
    !(row.0 + row.1).is_multiple_of(3)
}

/// The port of three that a row takes.
fn branch(row: &Row) -> usize {
    (row.0 * 5 + row.1) as usize % 3
}

fn sort(rows: &mut [Row]) {
    rows.sort_by_key(|row| std::cmp::Reverse(row.1));
}

/// Groups by the number's last bit, in order of appearance; the group of odd numbers is removed.
fn cull(rows: &[Row]) -> Vec<(usize, Row)> {
    let first = rows.first().map_or(0, |row| row.1 % 2);
    let group = |bit: u32| rows.iter().filter(move |row| row.1 % 2 == bit).map(move |row| (bit as usize, *row));
    group(first).chain(group(1 - first)).collect()
}

/// The first row of each source and last bit.
fn distinct(rows: &[Row]) -> Vec<Row> {
    let mut seen = BTreeSet::new();
    rows.iter().copied().filter(|row| seen.insert((row.0, row.1 % 2))).collect()
}

fn interleave(inputs: &[Vec<Row>]) -> Vec<Row> {
    let longest = inputs.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|turn| inputs.iter().filter_map(move |input| input.get(turn).copied())).collect()
}

fn read(source: u32) -> Vec<Row> {
    (0..4 + source % 5).map(|number| (source, number)).collect()
}

/// The rows that a port promises.
fn promised(pipeline: &Pipeline, reference: &PortRef) -> Vec<Row> {
    let node = pipeline.node(reference.node);
    let inputs = || node.inputs.iter().map(|input| promised(pipeline, input)).collect::<Vec<_>>();
    match &node.kind {
        NodeKind::Source(source) => {
            let mut rows = read(reference.node.0);
            if !source.sort_order.is_empty() {
                sort(&mut rows);
            }
            rows
        }
        NodeKind::Transform(transform) => {
            let rows: Vec<Row> = inputs().concat().into_iter().filter(passes).collect();
            if transform.statements.len() > 1 { distinct(&rows) } else { rows }
        }
        NodeKind::Route(_) => inputs().concat().into_iter().filter(|row| branch(row) == reference.port).collect(),
        NodeKind::Cull(_) => {
            let rows = cull(&inputs().concat());
            rows.into_iter().filter(|(port, _)| *port == reference.port).map(|(_, row)| row).collect()
        }
        NodeKind::Aggregate(_) | NodeKind::Reshape(_) => unreachable!("drafts have none"),
        NodeKind::Merge(merge) if merge.mode == MergeMode::Concat => inputs().concat(),
        NodeKind::Merge(_) => interleave(&inputs()),
        NodeKind::Sink(sink) => {
            let mut rows = inputs().concat();
            if !sink.sort_order.is_empty() {
                sort(&mut rows);
            }
            rows
        }
    }
}

/// Walks a plan's stages.
struct Walk<'p> {
    plan: &'p PhysicalPlan,
    /// What buffers hold and what waits for an interleaving merge, by operator and input, and what sinks wrote.
    held: BTreeMap<(OperatorId, usize), Vec<Row>>,
}

/// A segment on its way.
struct Lane<'p> {
    segment: &'p Segment,
    /// The rows to come; those of an interleaving merge are taken when their turn comes.
    rows: VecDeque<(usize, Row)>,
    /// The inputs of interleaving merges that it brings rows for.
    targets: Vec<(OperatorId, usize)>,
    /// Of an interleaving merge, the inputs that may have rows, the next one first.
    turns: VecDeque<usize>,
    over: bool,
}

impl<'p> Walk<'p> {
    fn run(plan: &'p PhysicalPlan) -> Self {
        let mut walk = Walk { plan, held: BTreeMap::new() };
        plan.stages.iter().for_each(|stage| walk.stage(stage));
        walk
    }

    /// Goes through a stage row by row. A segment takes its next row when none of its rows waits any more, so that as
    /// little is on its way as can be; nevertheless somebody always has to be able to go on.
    fn stage(&mut self, stage: &'p Stage) {
        let mut lanes: Vec<Lane> = stage.segments.iter().map(|segment| self.lane(segment)).collect();
        while lanes.iter().any(|lane| !lane.over) {
            let moved = (0..lanes.len()).filter(|number| self.step(&mut lanes, *number)).count();
            assert!(moved > 0, "all wait for each other\n{}", self.plan);
        }
    }

    fn lane(&self, segment: &'p Segment) -> Lane<'p> {
        let plan = self.plan;
        let interleaves = plan.operator(segment.head).interleaves();
        let passes = |id: OperatorId| id == segment.head || !plan.operator(id).is_head();
        let brings = |merge: OperatorId| {
            let inputs = plan.inputs(merge).into_iter().filter(move |(producer, _)| {
                merge != segment.head && passes(*producer) && segment.operators.contains(producer)
            });
            inputs.map(move |(_, edge)| (merge, edge.input)).collect::<Vec<_>>()
        };
        let merges = segment.operators.iter().copied().filter(|id| plan.operator(*id).interleaves());
        let (rows, turns) = match interleaves {
            true => (Vec::new(), 0..plan.inputs(segment.head).len()),
            false => (self.driven(segment.head), 0..0),
        };
        Lane {
            segment,
            rows: rows.into(),
            targets: merges.flat_map(brings).collect(),
            turns: turns.collect(),
            over: false,
        }
    }

    /// Moves a segment on, if it can go on.
    fn step(&mut self, lanes: &mut [Lane<'p>], number: usize) -> bool {
        let lane = &lanes[number];
        let waits = |target: &(OperatorId, usize)| self.held.get(target).is_some_and(|rows| !rows.is_empty());
        let is_held_up =
            lane.targets.iter().any(waits) || lane.segment.behind.iter().any(|before| !lanes[*before].over);
        if lane.over || is_held_up {
            return false;
        }
        let head = lane.segment.head;
        let next = match self.plan.operator(head).interleaves() {
            true => match self.take_turn(lanes, number) {
                Some(next) => next,
                None => return false,
            },
            false => lanes[number].rows.pop_front(),
        };
        match next {
            Some((port, row)) => self.hand_on(head, port, row),
            None => lanes[number].over = true,
        }
        true
    }

    /// The next row of an interleaving merge, or none behind the last one; `None` if that is not known yet.
    fn take_turn(&mut self, lanes: &mut [Lane<'p>], number: usize) -> Option<Option<(usize, Row)>> {
        let head = lanes[number].segment.head;
        let has_rows = |input: &usize| self.held.get(&(head, *input)).is_some_and(|rows| !rows.is_empty());
        let may_have = |input: &usize| lanes.iter().any(|lane| !lane.over && lane.targets.contains(&(head, *input)));
        let live: VecDeque<usize> =
            lanes[number].turns.iter().copied().filter(|input| has_rows(input) || may_have(input)).collect();
        let is_known = live.iter().all(has_rows);
        let turns = &mut lanes[number].turns;
        *turns = live;
        if !is_known {
            return None;
        }
        let Some(input) = turns.pop_front() else { return Some(None) };
        turns.push_back(input);
        let rows = self.held.get_mut(&(head, input)).expect("it has rows");
        Some(Some((0, rows.remove(0))))
    }

    /// What a driver gives, by port.
    fn driven(&self, id: OperatorId) -> Vec<(usize, Row)> {
        let held = || self.held.get(&(id, 0)).cloned().unwrap_or_default();
        let bare = |rows: Vec<Row>| rows.into_iter().map(|row| (0, row)).collect();
        match &self.plan.operator(id).kind {
            OperatorKind::Source(_) => bare(read(self.plan.operator(id).name[1..].parse().expect("a number"))),
            OperatorKind::Cull(_) => cull(&held()),
            OperatorKind::Distinct(_) => bare(distinct(&held())),
            OperatorKind::Sort(_) => {
                let mut rows = held();
                sort(&mut rows);
                bare(rows)
            }
            _ => bare(held()),
        }
    }

    fn hand_on(&mut self, id: OperatorId, port: usize, row: Row) {
        let plan = self.plan;
        for (consumer, edge) in plan.outputs(id).into_iter().filter(|(_, edge)| edge.port == port) {
            match &plan.operator(consumer).kind {
                OperatorKind::Transform(_) if !passes(&row) => {}
                OperatorKind::Transform(_) => self.hand_on(consumer, 0, row),
                OperatorKind::Route(_) => self.hand_on(consumer, branch(&row), row),
                OperatorKind::Merge(_) if !plan.operator(consumer).interleaves() => self.hand_on(consumer, 0, row),
                OperatorKind::Discard(_) => {}
                _ => self.held.entry((consumer, edge.input)).or_default().push(row),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
    #[test]
    fn stages_deliver_what_nodes_promise(
        drafts in prop::collection::vec((0u8..9, prop::collection::vec(0usize..40, 0..4)), 1..14),
    ) {
        let pipeline = Parts::new().build(&drafts);
        let planned = plan(&pipeline);
        prop_assert_eq!(planned.to_string(), plan(&pipeline).to_string(), "plans never differ");
        let walk = Walk::run(&planned);
        for (id, operator) in planned.operators().filter(|(_, op)| matches!(op.kind, OperatorKind::Sink(_))) {
            let node = NodeId(operator.name[1..].parse().expect("a number"));
            let wanted = promised(&pipeline, &PortRef { node, port: 0, span: operator.span });
            let written = walk.held.get(&(id, 0)).cloned().unwrap_or_default();
            prop_assert_eq!(written, wanted, "rows of {}\n{}", operator.name, planned);
        }
    }
}
