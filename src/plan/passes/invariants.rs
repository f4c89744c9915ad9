//! What holds for plans: always, and once they are ready for the next step.
//!
//! Each function gives the first thing that does not hold, as a clause.

use std::collections::BTreeSet;

use super::{expr, lineage};
use crate::analysis::hir::{Schema, SinkColumnSource};
use crate::plan::logical::{self, LogicalPlan, NodeKind, PortRef};
use crate::plan::physical::{
    self, ColumnSet, IdentityUse, Operator, OperatorId, OperatorKind, PhysicalPlan, TransformOperator,
};

/// What does not hold, as a clause: `an edge of output.late has 3 columns of 4`.
pub type Broken = String;

/// What holds for every logical plan.
pub fn logical_always(plan: &LogicalPlan) -> Result<(), Broken> {
    let order = plan.order();
    ensure(order.len() == plan.len(), || "nodes read from each other in a circle".to_string())?;
    for name in &order {
        let node = plan.node(name);
        let inputs = plan.inputs(name);
        let wanted = usize::from(!matches!(node.kind, NodeKind::Source(_)));
        ensure(inputs.len() == wanted, || format!("{name} reads {} ports instead of {wanted}", inputs.len()))?;
        for (producer, edge) in inputs {
            logical_edge(name, producer, edge)?;
        }
    }
    Ok(())
}

fn logical_edge(name: &str, producer: &logical::Node, edge: &logical::Edge) -> Result<(), Broken> {
    let port = producer.ports.iter().enumerate().find(|(position, port)| match &edge.port {
        PortRef::Written(reference) => port.reference == *reference,
        PortRef::Position(wanted) => position == wanted,
    });
    let Some((_, port)) = port else { return Err(format!("{name} reads a port that {} lacks", producer.name)) };
    ensure(port.schema == edge.schema, || format!("the input of {name} differs from what {} offers", port.reference))?;
    width(name, &edge.schema, &edge.columns)
}

/// What holds for a logical plan that can be lowered: ports are resolved, and all are read.
pub fn logical_ready(plan: &LogicalPlan) -> Result<(), Broken> {
    for name in plan.order() {
        let mut read = BTreeSet::new();
        for (reader, edge) in plan.readers(&name) {
            let PortRef::Position(position) = edge.port else {
                return Err(format!("the input of {} is not resolved", reader.name));
            };
            read.insert(position);
        }
        let unread = plan.node(&name).ports.iter().enumerate().find(|(position, _)| !read.contains(position));
        if let Some((_, port)) = unread {
            return Err(format!("nothing reads {}", port.reference));
        }
    }
    Ok(())
}

/// What holds for every physical plan.
pub fn physical_always(plan: &PhysicalPlan) -> Result<(), Broken> {
    for (id, operator) in plan.operators() {
        let inputs = plan.inputs(id);
        let wanted = usize::from(!matches!(operator.kind, OperatorKind::Source(_)));
        ensure(inputs.len() == wanted, || {
            format!("{} reads {} ports instead of {wanted}", operator.label(), inputs.len())
        })?;
        for (producer, edge) in inputs {
            ensure(producer < id, || format!("{} stands in front of what it reads", operator.label()))?;
            physical_edge(plan.operator(producer), operator, edge)?;
        }
    }
    Ok(())
}

fn physical_edge(producer: &Operator, consumer: &Operator, edge: &physical::Edge) -> Result<(), Broken> {
    let label = consumer.label();
    width(&label, &edge.schema, &edge.columns)?;
    let offers = producer.output().is_some_and(|schema| *schema == edge.schema);
    ensure(offers, || format!("the input of {label} differs from what {} offers", producer.label()))?;
    let takes = input_schema(consumer).is_none_or(|schema| *schema == *edge.schema);
    ensure(takes, || format!("the input of {label} differs from what it expects"))?;
    let ports = if let OperatorKind::Route(route) = &producer.kind { route.branches.len() } else { 1 };
    ensure(edge.port < ports, || format!("{label} reads a port that {} lacks", producer.label()))
}

/// What a run relies on: every operator has a stage, a strategy and a class, and every column that is read is there.
pub fn physical_ready(plan: &PhysicalPlan) -> Result<(), Broken> {
    physical_always(plan)?;
    stages(plan)?;
    dead_letters(plan)?;
    for (id, operator) in plan.operators() {
        let label = operator.label();
        ensure(!operator.strategy.is_empty(), || format!("{label} has no strategy"))?;
        ensure(!operator.buffer_reason.is_empty(), || format!("{label} has no buffer class"))?;
        ports_are_read(plan, id)?;
        reads_are_stored(plan, id)?;
        provenance(plan, id)?;
        dead_letter_cells(plan, id)?;
        distinct_consumers(plan, id)?;
    }
    Ok(())
}

fn stages(plan: &PhysicalPlan) -> Result<(), Broken> {
    let mut staged: Vec<OperatorId> = Vec::new();
    for stage in &plan.stages {
        let driver = plan.operator(stage.driver).label();
        let drives = matches!(plan.operator(stage.driver).kind, OperatorKind::Source(_));
        ensure(drives, || format!("a stage is driven by {driver}, which is no source"))?;
        let leads = stage.operators.first() == Some(&stage.driver);
        ensure(leads && stage.operators.is_sorted(), || format!("the stage of {driver} is not in plan order"))?;
        staged.extend(&stage.operators);
    }
    ensure(plan.stages.is_sorted_by_key(|stage| stage.driver), || "the stages are not in plan order".to_string())?;
    staged.sort();
    let all: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    ensure(staged == all, || "an operator is in no stage, or in two".to_string())
}

fn ports_are_read(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let ports = match &operator.kind {
        OperatorKind::Source(_) | OperatorKind::Transform(_) => 1,
        OperatorKind::Route(route) => route.branches.len(),
        OperatorKind::Sink(_) | OperatorKind::Discard(_) => 0,
        _ => todo!(),
    };
    let outputs = plan.outputs(id);
    let unread = (0..ports).find(|port| outputs.iter().all(|(_, edge)| edge.port != *port));
    ensure(unread.is_none(), || format!("nothing reads a port of {}", operator.label()))
}

fn reads_are_stored(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let needed = plan.outputs(id);
    match &operator.kind {
        OperatorKind::Source(source) => {
            covers(operator, &source.stored, needed.iter().map(|(_, edge)| &edge.columns))?;
            let carries = needed.iter().any(|(_, edge)| edge.carries);
            return ensure(source.carries || !carries, || {
                format!("undeclared fields are read but {} drops them", operator.label())
            });
        }
        OperatorKind::Transform(transform) => {
            covers(operator, &transform.stored, needed.iter().map(|(_, edge)| &edge.columns))?;
        }
        _ => {}
    }
    let Some((_, edge)) = plan.inputs(id).into_iter().next() else { return Ok(()) };
    covers(operator, &edge.columns, [&reads(operator, edge, &needed)])
}

/// The columns of its input that an operator or one below it reads.
fn reads(operator: &Operator, edge: &physical::Edge, needed: &[(OperatorId, &physical::Edge)]) -> ColumnSet {
    let mut reads = ColumnSet::none(edge.schema.columns.len());
    match &operator.kind {
        OperatorKind::Transform(TransformOperator { transform, stored, .. }) => {
            expr::of_transform(transform).into_iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            lineage::inputs_of(transform, stored).for_each(|position| reads.insert(position));
        }
        OperatorKind::Route(route) => {
            route.route.conditions.iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            needed.iter().for_each(|(_, edge)| reads.union(&edge.columns));
        }
        OperatorKind::Sink(sink) => {
            for column in &sink.sink.columns {
                if let SinkColumnSource::Column(position) = column.source {
                    reads.insert(position);
                }
            }
        }
        OperatorKind::Source(_) | OperatorKind::Discard(_) => {}
        _ => todo!(),
    }
    reads
}

fn provenance(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    for (_, edge) in plan.inputs(id) {
        let provenance = &edge.provenance;
        let planned = provenance.origins.len() == edge.schema.columns.len();
        ensure(planned, || format!("the columns that reach {} have no origins", operator.label()))?;
        let counted =
            !matches!(operator.kind, OperatorKind::Sink(_)) || provenance.uses.contains(&IdentityUse::Summary);
        ensure(counted, || format!("the rows that reach {} are not told apart", operator.label()))?;
    }
    Ok(())
}

/// Where an operator's dead letters are written with their columns, those that can't be decoded again are stored.
fn dead_letter_cells(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let can_fail = match &operator.kind {
        OperatorKind::Transform(transform) => expr::transform_can_fail(&transform.transform),
        OperatorKind::Route(route) => expr::route_can_fail(&route.route),
        _ => false,
    };
    let driver = plan.stages.iter().find(|stage| stage.operators.contains(&id)).map(|stage| stage.driver);
    let file = plan.dead_letters.routes.iter().find(|(source, _)| Some(*source) == driver).and_then(|(_, file)| *file);
    if !can_fail || !file.is_some_and(|file| plan.dead_letters.files[file].include_source_row) {
        return Ok(());
    }
    for (_, edge) in plan.inputs(id) {
        let mut columns = edge.provenance.origins.iter().enumerate();
        let lost = columns.find(|(position, origin)| origin.is_none() && !edge.columns.contains(*position));
        ensure(lost.is_none(), || format!("the dead letters of {} lack a column", operator.label()))?;
    }
    Ok(())
}

fn distinct_consumers(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let OperatorKind::Transform(transform) = &operator.kind else { return Ok(()) };
    let owned = |position: &usize| plan.consumers.get(*position).is_some_and(|consumer| consumer.operator == id);
    let complete = transform.distinct_consumers.len() == expr::distinct_keys(&transform.transform).count();
    ensure(complete && transform.distinct_consumers.iter().all(owned), || {
        format!("the state of {} is charged to nobody", operator.label())
    })
}

fn dead_letters(plan: &PhysicalPlan) -> Result<(), Broken> {
    let letters = &plan.dead_letters;
    let routed: Vec<OperatorId> = letters.routes.iter().map(|(source, _)| *source).collect();
    let drivers: Vec<OperatorId> = plan.stages.iter().map(|stage| stage.driver).collect();
    ensure(routed == drivers, || "a source has no route for its dead letters".to_string())?;
    let targets = letters.routes.iter().filter_map(|(_, file)| *file).chain(letters.merged);
    ensure(targets.clone().all(|file| file < letters.files.len()), || {
        "dead letters are routed to a file that is not there".to_string()
    })?;
    for file in &letters.files {
        let unique: BTreeSet<&String> = file.columns.iter().collect();
        ensure(unique.len() == file.columns.len(), || format!("{} has a column twice", file.path.0))?;
    }
    Ok(())
}

fn input_schema(operator: &Operator) -> Option<&Schema> {
    match &operator.kind {
        OperatorKind::Transform(transform) => Some(&transform.input),
        OperatorKind::Route(route) => Some(&route.schema),
        OperatorKind::Sink(sink) => Some(&sink.schema),
        OperatorKind::Source(_) | OperatorKind::Discard(_) => None,
        _ => todo!(),
    }
}

fn covers<'a>(
    operator: &Operator,
    stored: &ColumnSet,
    needed: impl IntoIterator<Item = &'a ColumnSet>,
) -> Result<(), Broken> {
    let missing = needed.into_iter().flat_map(ColumnSet::iter).find(|position| !stored.contains(*position));
    ensure(missing.is_none(), || format!("a column is read that is not stored for {}", operator.label()))
}

fn width(name: &str, schema: &Schema, columns: &ColumnSet) -> Result<(), Broken> {
    let (held, wanted) = (columns.width(), schema.columns.len());
    ensure(held == wanted, || format!("the input of {name} counts {held} columns of {wanted}"))
}

fn ensure(holds: bool, broken: impl FnOnce() -> Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken()) }
}
