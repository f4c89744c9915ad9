//! From the logical to the physical plan: operators in plan order, with their columns; no decision is made here.

use std::collections::BTreeMap;

use super::{
    AggregateOperator, BufferClass, CullOperator, DeadLetterFile, DeadLetters, DiscardOperator, DistinctOperator, Edge,
    MergeOperator, Operator, OperatorId, OperatorKind, PhysicalPlan, Provenance, ReshapeOperator, Rest, RouteOperator,
    SinkOperator, SortOperator, SourceOperator, TransformOperator,
};
use crate::analysis::hir;
use crate::plan::logical::{self, LogicalPlan, Node, NodeKind, PortRef};
use crate::plan::physical::ColumnSet;

/// Lowers a logical plan whose ports are resolved and whose columns are pruned. Strategies, stages, classes, memory
/// consumers and the columns of dead-letter files are left to the passes.
pub fn lower(logical: &LogicalPlan) -> PhysicalPlan {
    let mut plan = PhysicalPlan::new(logical.name.clone(), logical.settings.clone(), logical.vars.clone());
    let mut ids: BTreeMap<String, OperatorId> = BTreeMap::new();
    for name in logical.order() {
        let node = logical.node(&name);
        let id = plan.add(lower_node(logical, node, &ids));
        for (producer, edge) in logical.inputs(&name) {
            plan.connect(ids[&producer.name], id, lower_edge(producer, edge));
        }
        ids.insert(name, id);
    }
    plan.dead_letters = lower_errors(logical, &ids);
    plan
}

fn lower_node(logical: &LogicalPlan, node: &Node, ids: &BTreeMap<String, OperatorId>) -> Operator {
    let (kind, name) = match &node.kind {
        NodeKind::Source(source) => (lower_source(logical, node, source), &node.name),
        NodeKind::Transform(transform) => (lower_transform(logical, node, transform), &node.name),
        NodeKind::Route(route) => (lower_route(node, route), &node.name),
        NodeKind::Merge(merge) => (lower_merge(logical, node, merge), &node.name),
        NodeKind::Sort(sort) => (lower_sort(node, sort), &node.name),
        NodeKind::Cull(cull) => (lower_cull(node, cull), &node.name),
        NodeKind::Aggregate(aggregation) => (lower_aggregate(logical, node, aggregation), &node.name),
        NodeKind::Reshape(reshape) => (lower_reshape(logical, node, reshape), &node.name),
        NodeKind::Distinct(distinct) => (lower_distinct(node, distinct), &node.name),
        NodeKind::Sink(sink) => (lower_sink(logical, node, sink, ids), &node.name),
        NodeKind::Discard { port } => (OperatorKind::Discard(DiscardOperator { port: port.clone() }), port),
    };
    Operator {
        // What is called by its kind says so in its label.
        name: name.strip_prefix("distinct.").unwrap_or(name).to_string(),
        span: node.span,
        kind,
        buffer: BufferClass::Streaming,
        buffer_reason: String::new(),
        strategy: String::new(),
    }
}

fn lower_source(logical: &LogicalPlan, node: &Node, source: &hir::Source) -> OperatorKind {
    let (stored, carries) = read_below(logical, node);
    OperatorKind::Source(SourceOperator {
        source: source.clone(),
        schema: node.ports[0].schema.clone(),
        stored,
        carries,
    })
}

fn lower_transform(logical: &LogicalPlan, node: &Node, transform: &hir::Transform) -> OperatorKind {
    OperatorKind::Transform(TransformOperator {
        transform: transform.clone(),
        // What a pass adds to a name stands behind a dot.
        node: node.name.split('.').next().unwrap_or_default().to_string(),
        input: input(logical, node).schema.clone(),
        output: node.ports[0].schema.clone(),
        stored: read_below(logical, node).0,
    })
}

fn lower_route(node: &Node, route: &hir::Route) -> OperatorKind {
    OperatorKind::Route(RouteOperator {
        route: route.clone(),
        branches: node.ports.iter().map(|port| port.name.clone().unwrap_or_default()).collect(),
        schema: node.ports[0].schema.clone(),
    })
}

fn lower_merge(logical: &LogicalPlan, node: &Node, merge: &hir::Merge) -> OperatorKind {
    let output = node.ports[0].schema.clone();
    OperatorKind::Merge(MergeOperator {
        merge: merge.clone(),
        inputs: logical.inputs(&node.name).into_iter().map(|(_, edge)| edge.schema.clone()).collect(),
        stored: read_below(logical, node).0,
        identity: false,
        output,
    })
}

fn lower_sort(node: &Node, sort: &logical::Sort) -> OperatorKind {
    let schema = node.ports[0].schema.clone();
    OperatorKind::Sort(SortOperator {
        keys: sort.keys.clone(),
        drop_nulls: sort.drop_nulls.clone(),
        purpose: sort.purpose,
        rest: Rest::undecided(schema.columns.len()),
        schema,
    })
}

fn lower_cull(node: &Node, cull: &hir::Cull) -> OperatorKind {
    let schema = node.ports[0].schema.clone();
    let name = |position: &usize| schema.columns[*position].name.clone();
    OperatorKind::Cull(CullOperator {
        removed_to: node.ports[1].name.clone().unwrap_or_default(),
        partition_names: cull.partition_by.iter().map(name).collect(),
        rest: Rest::undecided(schema.columns.len()),
        decision_consumer: usize::MAX,
        group_can_fail: false,
        shows_groups: false,
        cull: cull.clone(),
        schema,
    })
}

fn lower_aggregate(logical: &LogicalPlan, node: &Node, aggregation: &hir::Aggregation) -> OperatorKind {
    let output = node.ports[0].schema.clone();
    OperatorKind::Aggregate(AggregateOperator {
        aggregation: Box::new(aggregation.clone()),
        streams: false,
        group_consumer: usize::MAX,
        input: input(logical, node).schema.clone(),
        stored: read_below(logical, node).0,
        rest: Some(Rest::undecided(output.columns.len())),
        output,
    })
}

fn lower_reshape(logical: &LogicalPlan, node: &Node, reshape: &hir::Reshape) -> OperatorKind {
    let input = input(logical, node).schema.clone();
    let output = node.ports[0].schema.clone();
    let name = |position: &usize| input.columns[*position].name.clone();
    OperatorKind::Reshape(ReshapeOperator {
        partition_names: reshape.partition_by.iter().map(name).collect(),
        reshape: reshape.clone(),
        rest: Rest::undecided(output.columns.len()),
        group_consumer: usize::MAX,
        shows_groups: false,
        input,
        output,
    })
}

fn lower_distinct(node: &Node, distinct: &logical::Distinct) -> OperatorKind {
    let schema = node.ports[0].schema.clone();
    OperatorKind::Distinct(DistinctOperator {
        key: distinct.key.clone(),
        key_spans: distinct.key_spans.clone(),
        node: distinct.transform.clone(),
        rest: Rest::undecided(schema.columns.len()),
        schema,
    })
}

fn lower_sink(
    logical: &LogicalPlan,
    node: &Node,
    sink: &hir::Sink,
    ids: &BTreeMap<String, OperatorId>,
) -> OperatorKind {
    let edge = input(logical, node);
    // An edge carries undeclared fields only where they come from above and are read below.
    let carrying = logical.makers_over(&node.name, |edge| edge.carries);
    OperatorKind::Sink(SinkOperator {
        sink: sink.clone(),
        schema: edge.schema.clone(),
        carried_sources: carrying.into_iter().map(|source| ids[&source.name]).collect(),
    })
}

fn lower_edge(producer: &Node, edge: &logical::Edge) -> Edge {
    let PortRef::Position(port) = edge.port else { unreachable!("ports are resolved before the plan is lowered") };
    Edge {
        input: edge.input,
        port,
        port_name: producer.ports[port].name.clone(),
        schema: edge.schema.clone(),
        columns: edge.columns.clone(),
        shown: edge.shown.clone(),
        carries: edge.carries,
        provenance: Provenance::default(),
    }
}

/// What the readers of a node's one port need stored: columns, and whether undeclared fields.
fn read_below(logical: &LogicalPlan, node: &Node) -> (ColumnSet, bool) {
    let mut stored = ColumnSet::none(node.ports[0].schema.columns.len());
    let mut carries = false;
    for (_, edge) in logical.readers(&node.name) {
        stored.union(&edge.columns);
        carries |= edge.carries;
    }
    (stored, carries)
}

fn input<'a>(logical: &'a LogicalPlan, node: &Node) -> &'a logical::Edge {
    logical.inputs(&node.name).first().expect("every node but a source reads one port").1
}

fn lower_errors(logical: &LogicalPlan, ids: &BTreeMap<String, OperatorId>) -> DeadLetters {
    let errors = &logical.errors;
    let mut letters = DeadLetters {
        continue_on_error: errors.continue_on_error,
        rate: errors.rate,
        type_error_threshold: errors.type_error_threshold.clone(),
        ..DeadLetters::default()
    };
    if errors.continue_on_error {
        letters.merged = errors.dlq_path.as_ref().map(|path| add_file(&mut letters, errors, path));
    }
    let order = logical.order();
    for name in order.iter().filter(|name| matches!(logical.node(name).kind, NodeKind::Source(_))) {
        lower_source_errors(&mut letters, errors, logical.node(name).place.node, ids[name]);
    }
    let aggregates = order.iter().filter(|name| matches!(logical.node(name).kind, NodeKind::Aggregate(_)));
    letters.routes.extend(aggregates.map(|name| (ids[name], letters.merged)).collect::<Vec<_>>());
    letters
}

fn lower_source_errors(letters: &mut DeadLetters, errors: &hir::ErrorHandling, node: hir::NodeId, id: OperatorId) {
    let own = errors.per_source.iter().find(|own| own.source == node);
    let own_path = own.and_then(|own| own.dlq_path.as_ref()).filter(|_| errors.continue_on_error);
    let file = own_path.map(|path| add_file(letters, errors, path)).or(letters.merged);
    letters.routes.push((id, file));
    letters.source_rates.extend(own.and_then(|own| own.rate).map(|rate| (id, rate)));
}

fn add_file(
    letters: &mut DeadLetters,
    errors: &hir::ErrorHandling,
    path: &(String, crate::diagnostics::Span),
) -> usize {
    letters.files.push(DeadLetterFile {
        path: path.clone(),
        include_reason: errors.include_reason,
        include_source_row: errors.include_source_row,
        columns: Vec::new(),
    });
    letters.files.len() - 1
}
