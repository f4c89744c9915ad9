//! What holds for plans: always, and once they are ready for the next step.
//!
//! Each function gives the first thing that does not hold, as a clause.

use std::collections::BTreeSet;

use super::{expr, lineage};
use crate::analysis::hir::{AggregateStrategy, Schema, SinkColumnSource};
use crate::plan::logical::{self, LogicalPlan, NodeKind, PortRef};
use crate::plan::physical::{
    self, ColumnSet, IdentityUse, Operator, OperatorId, OperatorKind, PhysicalPlan, Segment, TransformOperator,
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
        let wanted = match &node.kind {
            NodeKind::Source(_) => 0,
            NodeKind::Merge(merge) => merge.columns.len(),
            _ => 1,
        };
        ensure(inputs.len() == wanted, || format!("{name} reads {} ports instead of {wanted}", inputs.len()))?;
        let in_order = inputs.iter().enumerate().all(|(position, (_, edge))| edge.input == position);
        ensure(in_order, || format!("the inputs of {name} are not numbered"))?;
        for (producer, edge) in inputs {
            logical_edge(name, producer, edge)?;
        }
        keys(node)?;
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

/// What analysis sees to: keys are columns of their source, merges map every column, and culls and reshapes group by
/// every key. What a pass sees to: the key of a distinct is there.
fn keys(node: &logical::Node) -> Result<(), Broken> {
    let name = &node.name;
    match &node.kind {
        NodeKind::Source(source) => {
            let known = source.correlation_key.iter().all(|column| *column < source.columns.len());
            ensure(known, || format!("a key of {name} is no column of it"))
        }
        NodeKind::Merge(merge) => {
            let width = node.ports[0].schema.columns.len();
            ensure(merge.columns.iter().all(|columns| columns.len() == width), || format!("{name} lacks a column"))
        }
        NodeKind::Cull(cull) => groups_by_keys(name, &node.ports[0].schema, &cull.hidden_keys),
        NodeKind::Reshape(reshape) => groups_by_keys(name, &node.ports[0].schema, &reshape.hidden_keys),
        NodeKind::Distinct(distinct) => {
            let width = node.ports[0].schema.columns.len();
            let known = distinct.key.iter().all(|column| *column < width);
            ensure(known, || format!("a key of {name} is no column of it"))
        }
        _ => Ok(()),
    }
}

fn groups_by_keys(name: &str, schema: &Schema, hidden_keys: &[usize]) -> Result<(), Broken> {
    let keys = schema.keys().map(|(position, _)| position);
    ensure(keys.eq(hidden_keys.iter().copied()), || format!("{name} does not group by every key"))
}

/// What holds for a logical plan that can be lowered: ports are resolved, and all are read, and each `distinct` is a
/// node of its own.
pub fn logical_ready(plan: &LogicalPlan) -> Result<(), Broken> {
    for name in plan.order() {
        if let NodeKind::Transform(transform) = &plan.node(&name).kind {
            let whole = expr::distinct_keys(transform).next().is_some();
            ensure(!whole, || format!("{name} has a distinct statement"))?;
        }
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
        let wanted = match &operator.kind {
            OperatorKind::Source(_) => 0,
            OperatorKind::Merge(merge) => merge.inputs.len(),
            _ => 1,
        };
        ensure(inputs.len() == wanted, || {
            format!("{} reads {} ports instead of {wanted}", operator.label(), inputs.len())
        })?;
        let in_order = inputs.iter().enumerate().all(|(position, (_, edge))| edge.input == position);
        ensure(in_order, || format!("the inputs of {} are not numbered", operator.label()))?;
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
    let takes = input_schema(consumer, edge.input).is_none_or(|schema| *schema == *edge.schema);
    ensure(takes, || format!("the input of {label} differs from what it expects"))?;
    ensure(edge.port < producer.ports(), || format!("{label} reads a port that {} lacks", producer.label()))
}

/// What a run relies on: every operator has a stage, a strategy and a class, and every column that is read is there.
pub fn physical_ready(plan: &PhysicalPlan) -> Result<(), Broken> {
    physical_always(plan)?;
    stages(plan)?;
    dead_letters(plan)?;
    counted(plan)?;
    let makers = lineage::Makers::of(plan);
    for (id, operator) in plan.operators() {
        let label = operator.label();
        ensure(!operator.strategy.is_empty(), || format!("{label} has no strategy"))?;
        ensure(!operator.buffer_reason.is_empty(), || format!("{label} has no buffer class"))?;
        ports_are_read(plan, id)?;
        reads_are_stored(plan, id)?;
        provenance(plan, id)?;
        dead_letter_cells(plan, id, &makers)?;
        rest(plan, id)?;
        decisions(plan, id)?;
        identity(plan, id)?;
    }
    Ok(())
}

fn stages(plan: &PhysicalPlan) -> Result<(), Broken> {
    let mut heads = BTreeSet::new();
    for segment in plan.stages.iter().flat_map(|stage| &stage.segments) {
        let head = plan.operator(segment.head).label();
        ensure(plan.operator(segment.head).is_head(), || {
            format!("a segment begins at {head}, which is no source, no buffer and no interleaving merge")
        })?;
        let leads = segment.operators.first() == Some(&segment.head);
        ensure(leads && segment.operators.is_sorted(), || format!("the segment of {head} is not in plan order"))?;
        ensure(heads.insert(segment.head), || format!("{head} heads two segments"))?;
        tree(plan, segment)?;
    }
    let all = plan.operators().filter(|(_, operator)| operator.is_head()).map(|(id, _)| id);
    ensure(heads.into_iter().eq(all), || "a source, a buffer or an interleaving merge heads no segment".to_string())?;
    let arriving = arriving(plan);
    plan.operators().try_for_each(|(id, _)| arrival(plan, id, &arriving[id.0 as usize]))?;
    let late =
        plan.stages.windows(2).enumerate().find(|(position, pair)| {
            pair[1].heads().min() < pair[0].heads().min() && !waits(plan, &arriving, *position)
        });
    ensure(late.is_none(), || "the stages are not in plan order, and nothing asks for that".to_string())
}

/// A segment, as the positions of its stage and of itself there.
type Place = (usize, usize);

/// Whether the stage behind the one at `position` has to wait for that: it is filled there, or a merge says so.
fn waits(plan: &PhysicalPlan, arriving: &[Vec<Vec<Place>>], position: usize) -> bool {
    let brings = |input: &[Place], position: usize| input.iter().any(|(stage, _)| *stage == position);
    plan.operators().zip(arriving).any(|((id, operator), inputs)| {
        let drives = operator.is_driver() && plan.stages[position + 1].heads().any(|head| head == id);
        let fills = drives && inputs.iter().any(|input| brings(input, position));
        let precedes = |pair: &[Vec<Place>]| brings(&pair[0], position) && brings(&pair[1], position + 1);
        fills || !operator.is_head() && inputs.windows(2).any(precedes)
    })
}

/// A segment holds exactly what its rows reach up to the next heads.
fn tree(plan: &PhysicalPlan, segment: &physical::Segment) -> Result<(), Broken> {
    let passes = |id: &OperatorId| *id == segment.head || !plan.operator(*id).is_head();
    let reached: BTreeSet<OperatorId> =
        segment.operators.iter().filter(|id| passes(id)).fold(BTreeSet::from([segment.head]), |mut reached, id| {
            reached.extend(plan.outputs(*id).into_iter().map(|(consumer, _)| consumer));
            reached
        });
    ensure(reached.into_iter().eq(segment.operators.iter().copied()), || {
        format!("the segment of {} is not the tree below it", plan.operator(segment.head).label())
    })
}

/// A buffer is full before it drives, an interleaving merge gets its inputs side by side, and a concatenating one gets
/// one input after the other.
fn arrival(plan: &PhysicalPlan, id: OperatorId, inputs: &[Vec<Place>]) -> Result<(), Broken> {
    let (operator, label) = (plan.operator(id), plan.operator(id).label());
    let own = plan
        .stages
        .iter()
        .enumerate()
        .find_map(|(position, stage)| stage.heads().position(|head| head == id).map(|segment| (position, segment)));
    match own {
        Some((own, _)) if operator.is_driver() => {
            let filled = inputs.iter().flatten().all(|(stage, _)| *stage < own);
            ensure(filled, || format!("the stage of {label} starts before it is filled"))
        }
        Some((own, segment)) => {
            let beside = |(stage, other): &Place| *stage == own && *other < segment;
            let all: BTreeSet<&Place> = inputs.iter().flatten().collect();
            let apart = all.len() == inputs.iter().map(Vec::len).sum::<usize>();
            ensure(apart && all.into_iter().all(beside) && inputs.iter().all(|places| !places.is_empty()), || {
                format!("the inputs of {label} can't be taken in turn")
            })
        }
        None => {
            let in_order = inputs.windows(2).all(|pair| comes_before(plan, &pair[0], &pair[1]));
            ensure(in_order && inputs.iter().all(|places| !places.is_empty()), || {
                format!("the inputs of {label} do not come one after the other")
            })
        }
    }
}

/// Whether some segments are over before any of some others begins.
fn comes_before(plan: &PhysicalPlan, before: &[Place], behind: &[Place]) -> bool {
    let waits = |(stage, segment): &Place, other: &Place| match *stage == other.0 {
        true => plan.stages[*stage].segments[*segment].behind.contains(&other.1),
        false => other.0 < *stage,
    };
    behind.iter().all(|later| before.iter().all(|earlier| waits(later, earlier)))
}

/// For each operator and input, the segments that bring rows: a head hands on only what is its own.
fn arriving(plan: &PhysicalPlan) -> Vec<Vec<Vec<Place>>> {
    let mut handing_on: Vec<Vec<Place>> = vec![Vec::new(); plan.operators().count()];
    for (position, stage) in plan.stages.iter().enumerate() {
        for (number, segment) in stage.segments.iter().enumerate() {
            let passing = segment.operators.iter().filter(|id| **id == segment.head || !plan.operator(**id).is_head());
            passing.for_each(|id| handing_on[id.0 as usize].push((position, number)));
        }
    }
    let of = |(OperatorId(producer), _): (OperatorId, &physical::Edge)| handing_on[producer as usize].clone();
    plan.operators().map(|(id, _)| plan.inputs(id).into_iter().map(of).collect()).collect()
}

/// A buffer keeps what is read below it, and its state is charged to somebody.
fn rest(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let Some(rest) = operator.rest() else { return Ok(()) };
    ensure(owns(plan, id, rest.consumer), || format!("the rows of {} are charged to nobody", operator.label()))?;
    let outputs = plan.outputs(id);
    covers(operator, &rest.columns, outputs.iter().map(|(_, edge)| &edge.columns))?;
    let carries = outputs.iter().any(|(_, edge)| edge.carries);
    ensure(rest.carries || !carries, || format!("{} drops undeclared fields that are read", operator.label()))
}

/// The operators of a segment that take rows of its head and hand them on, not rows that they make of them.
fn taking(plan: &PhysicalPlan, segment: &Segment) -> Vec<OperatorId> {
    let mut taking = vec![segment.head];
    for id in segment.operators.iter().filter(|id| !plan.operator(**id).makes_rows()) {
        if plan.inputs(*id).iter().any(|(producer, _)| taking.contains(producer)) {
            taking.push(*id);
        }
    }
    taking
}

/// A buffer or an interleaving merge keeps where its rows come from where that is needed below.
fn identity(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    if operator.keeps_identity() != Some(false) {
        return Ok(());
    }
    let needs = |edge: &physical::Edge| {
        [IdentityUse::Failures, IdentityUse::Variables].iter().any(|needed| edge.provenance.uses.contains(needed))
    };
    let needed = plan.outputs(id).iter().any(|(_, edge)| needs(edge));
    ensure(!needed, || format!("{} drops where its rows come from", operator.label()))?;
    let mut segments = plan.stages.iter().flat_map(|stage| &stage.segments);
    let own = segments.find(|segment| segment.head == id);
    let mut taking = own.into_iter().flat_map(|segment| taking(plan, segment)).map(|below| plan.operator(below));
    let asks = taking.find(|below| below.keeps_identity() == Some(true));
    ensure(asks.is_none(), || {
        format!("{} drops where its rows come from, which an operator below it keeps", operator.label())
    })
}

/// What an operator decides on is charged to somebody, who is not charged for its rows; an aggregate either streams or
/// is a buffer, and streams where it was asked to, unless its rows carry a correlation key.
fn decisions(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let consumer = match &operator.kind {
        OperatorKind::Cull(cull) => cull.decision_consumer,
        OperatorKind::Reshape(reshape) => reshape.group_consumer,
        OperatorKind::Aggregate(aggregate) => {
            let either = aggregate.streams == aggregate.rest.is_none();
            ensure(either, || format!("{} streams and is a buffer, or neither", operator.label()))?;
            let asked = aggregate.aggregation.strategy == AggregateStrategy::Streaming;
            let refused = asked && !aggregate.streams && aggregate.input.keys().next().is_none();
            ensure(!refused, || format!("{} can't stream although analysis found that it can", operator.label()))?;
            if !aggregate.streams {
                return Ok(());
            }
            aggregate.group_consumer
        }
        _ => return Ok(()),
    };
    let apart = operator.rest().is_none_or(|rest| rest.consumer != consumer);
    ensure(apart && owns(plan, id, consumer), || format!("the groups of {} are charged to nobody", operator.label()))
}

/// What is known of written rows is charged to somebody.
fn counted(plan: &PhysicalPlan) -> Result<(), Broken> {
    let nobody = plan.counted.iter().find(|(id, consumer)| !owns(plan, **id, **consumer));
    ensure(nobody.is_none(), || "written rows are charged to nobody".to_string())
}

/// Whether a memory consumer is there and belongs to an operator.
fn owns(plan: &PhysicalPlan, id: OperatorId, consumer: usize) -> bool {
    plan.consumers.get(consumer).is_some_and(|consumer| consumer.operator == Some(id))
}

fn ports_are_read(plan: &PhysicalPlan, id: OperatorId) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let outputs = plan.outputs(id);
    let unread = (0..operator.ports()).find(|port| outputs.iter().all(|(_, edge)| edge.port != *port));
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
        OperatorKind::Merge(merge) => {
            covers(operator, &merge.stored, needed.iter().map(|(_, edge)| &edge.columns))?;
        }
        OperatorKind::Aggregate(aggregate) => {
            covers(operator, &aggregate.stored, needed.iter().map(|(_, edge)| &edge.columns))?;
        }
        _ => {}
    }
    let inputs = plan.inputs(id);
    inputs.into_iter().try_for_each(|(_, edge)| covers(operator, &edge.columns, [&reads(operator, edge, &needed)]))
}

/// The columns of its input that an operator or one below it reads.
fn reads(operator: &Operator, edge: &physical::Edge, needed: &[(OperatorId, &physical::Edge)]) -> ColumnSet {
    let mut reads = ColumnSet::none(edge.schema.columns.len());
    match &operator.kind {
        OperatorKind::Aggregate(aggregate) => {
            let rows = &aggregate.aggregation.rows;
            expr::of_transform(rows).into_iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            let grouped = ColumnSet::all(rows.output.len());
            lineage::inputs_of(rows, &grouped).for_each(|position| reads.insert(position));
        }
        OperatorKind::Reshape(reshape) => {
            lineage::rearranged_by(&reshape.reshape).for_each(|column| reads.insert(column));
            expr::of_reshape(&reshape.reshape).into_iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            reads.union(&reshape.rest.columns);
        }
        OperatorKind::Distinct(distinct) => {
            distinct.key.iter().for_each(|column| reads.insert(*column));
            reads.union(&distinct.rest.columns);
        }
        OperatorKind::Transform(TransformOperator { transform, stored, .. }) => {
            expr::of_transform(transform).into_iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            lineage::inputs_of(transform, stored).for_each(|position| reads.insert(position));
        }
        OperatorKind::Route(route) => {
            route.route.conditions.iter().for_each(|expr| expr::add_reads(expr, &mut reads));
            needed.iter().for_each(|(_, edge)| reads.union(&edge.columns));
        }
        OperatorKind::Sink(sink) => {
            for column in sink.sink.named_columns() {
                if let SinkColumnSource::Column(position) = column.source {
                    reads.insert(position);
                }
            }
        }
        OperatorKind::Merge(merge) => {
            let columns = &merge.merge.columns[edge.input];
            merge.stored.iter().filter_map(|output| columns[output]).for_each(|column| reads.insert(column));
        }
        OperatorKind::Sort(sort) => {
            sort.keys.iter().for_each(|key| reads.insert(key.column));
            sort.drop_nulls.iter().for_each(|column| reads.insert(*column));
            reads.union(&sort.rest.columns);
        }
        OperatorKind::Cull(cull) => {
            lineage::decided_on(&cull.cull).for_each(|column| reads.insert(column));
            expr::of_aggregates(&cull.cull.aggregates).for_each(|expr| expr::add_reads(expr, &mut reads));
            reads.union(&cull.rest.columns);
        }
        OperatorKind::Park(park) => reads.union(&park.rest.columns),
        OperatorKind::Source(_) | OperatorKind::Discard(_) => {}
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

/// Where an operator's dead letters are written with their columns, those that can't be decoded again are stored. A
/// group that fails has no text at hand: its rows rest with all their columns.
fn dead_letter_cells(plan: &PhysicalPlan, id: OperatorId, makers: &lineage::Makers) -> Result<(), Broken> {
    let operator = plan.operator(id);
    let (row_can_fail, group_can_fail) = match &operator.kind {
        OperatorKind::Transform(transform) => (expr::transform_can_fail(&transform.transform), false),
        OperatorKind::Route(route) => (expr::route_can_fail(&route.route), false),
        OperatorKind::Aggregate(aggregate) => (expr::aggregation_row_can_fail(&aggregate.aggregation), false),
        OperatorKind::Cull(cull) => (false, cull.shows_groups),
        OperatorKind::Reshape(reshape) => (false, reshape.shows_groups),
        _ => (false, false),
    };
    if !(row_can_fail || group_can_fail) || !makers.shows_records(plan, id) {
        return Ok(());
    }
    for (_, edge) in plan.inputs(id) {
        let shown = lineage::shown(&edge.schema);
        let needed = |position: &usize| edge.provenance.origins[*position].is_none() || group_can_fail;
        let kept = |position: usize| {
            let rests = |rest: &physical::Rest| rest.columns.contains(position) && rest.identity;
            edge.columns.contains(position) && (!group_can_fail || operator.rest().is_some_and(rests))
        };
        let lost = shown.iter().filter(needed).find(|position| !kept(*position));
        ensure(lost.is_none(), || format!("the dead letters of {} lack a column", operator.label()))?;
    }
    Ok(())
}

fn dead_letters(plan: &PhysicalPlan) -> Result<(), Broken> {
    let letters = &plan.dead_letters;
    let routed: Vec<OperatorId> = letters.routes.iter().map(|(maker, _)| *maker).collect();
    let all = routed == plan.makers();
    ensure(all, || "a source or an aggregate has no route for its dead letters".to_string())?;
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

fn input_schema(operator: &Operator, input: usize) -> Option<&Schema> {
    match &operator.kind {
        OperatorKind::Aggregate(aggregate) => Some(&aggregate.input),
        OperatorKind::Reshape(reshape) => Some(&reshape.input),
        OperatorKind::Distinct(distinct) => Some(&distinct.schema),
        OperatorKind::Transform(transform) => Some(&transform.input),
        OperatorKind::Route(route) => Some(&route.schema),
        OperatorKind::Sink(sink) => Some(&sink.schema),
        OperatorKind::Merge(merge) => merge.inputs.get(input).map(|schema| schema.as_ref()),
        OperatorKind::Sort(sort) => Some(&sort.schema),
        OperatorKind::Cull(cull) => Some(&cull.schema),
        OperatorKind::Park(park) => Some(&park.schema),
        OperatorKind::Source(_) | OperatorKind::Discard(_) => None,
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
