//! Gives every operator a buffer class, and every state that grows with the input a memory consumer.
//!
//! Before: operators have strategies and stages.
//! After: each operator has its class with a reason, and each buffer, and what it decides on, a consumer. This is the
//! only classifier: `--explain` prints what it says, and the run takes its consumers from it.
//!
//! A buffer holds its whole input, or a state for each group of it. Every other operator hands a batch on before it
//! takes the next, so it streams, unless a port of it is parked: then its output is held as a whole. Several consumers
//! of one port are branches of one stage and take each batch in turn, so a port needs no buffer for them.

use crate::plan::physical::{BufferClass, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan};

/// Where what waits between stages stands among those that are asked to spill: nothing is cheaper.
const HAND_OFF_PRIORITY: u8 = 0;

/// Where the rows of groups stand: a cull's, a reshape's.
const GROUPED_PRIORITY: u8 = 15;

/// Where a sort's rows stand.
const SORT_PRIORITY: u8 = 20;

/// Where tables stand whose every entry may be asked for again: an aggregate's groups, the keys of a `distinct`.
const TABLE_PRIORITY: u8 = 30;

/// Where what can't spill at all stands.
pub(super) const LAST_PRIORITY: u8 = u8::MAX;

/// Runs the pass.
pub fn classify_buffers(mut plan: PhysicalPlan) -> PhysicalPlan {
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let (class, reason) = classify(&plan, id);
        let consumers = consumers(id, plan.operator(id));
        let first = plan.consumers.len();
        let operator = plan.operator_mut(id);
        operator.buffer = class;
        operator.buffer_reason = reason;
        charge(operator, first);
        plan.consumers.extend(consumers);
    }
    plan
}

/// Tells an operator which consumers its state is charged to: those from `first` on.
fn charge(operator: &mut Operator, first: usize) {
    if let Some(rest) = operator.rest_mut() {
        rest.consumer = first;
    }
    match &mut operator.kind {
        OperatorKind::Cull(cull) => cull.decision_consumer = first + 1,
        OperatorKind::Reshape(reshape) => reshape.group_consumer = first + 1,
        OperatorKind::Aggregate(aggregate) if aggregate.streams => aggregate.group_consumer = first,
        _ => {}
    }
}

fn classify(plan: &PhysicalPlan, id: OperatorId) -> (BufferClass, String) {
    let operator = plan.operator(id);
    if operator.rest().is_some() {
        return (BufferClass::Materialized, holding_reason(operator));
    }
    let outputs = plan.outputs(id);
    let streams = streaming_reason(operator, outputs.len());
    let parked = outputs.iter().find_map(|(consumer, _)| match &plan.operator(*consumer).kind {
        OperatorKind::Park(park) => Some(&park.reason),
        _ => None,
    });
    match parked {
        Some(reason) => (BufferClass::Materialized, format!("{streams}, but rows are held behind it: {reason}")),
        None => (BufferClass::Streaming, streams),
    }
}

/// What a buffer waits for.
fn holding_reason(operator: &Operator) -> String {
    match &operator.kind {
        OperatorKind::Sort(sort) if sort.purpose.is_repair() => {
            "holds all rows if a file breaks the order that it claims".to_string()
        }
        OperatorKind::Sort(_) => "holds all rows: the last one may come first".to_string(),
        OperatorKind::Cull(_) => "holds all rows: the last one may decide its group".to_string(),
        OperatorKind::Reshape(_) => "holds all rows: the last one may belong to any group".to_string(),
        OperatorKind::Aggregate(_) => "holds every group: the last row may belong to any of them".to_string(),
        OperatorKind::Distinct(_) => "holds the first row of each key until all rows are in".to_string(),
        OperatorKind::Park(park) => format!("holds all rows: {}", park.reason),
        _ => "holds all rows".to_string(),
    }
}

fn streaming_reason(operator: &Operator, consumers: usize) -> String {
    let reason = match &operator.kind {
        OperatorKind::Aggregate(aggregate) if aggregate.aggregation.key == 0 => {
            "one group is all there is; it is handed on behind the last row"
        }
        OperatorKind::Aggregate(_) => "a group is handed on when the next one begins",
        OperatorKind::Source(_) => "a block is cut, typed and handed on",
        OperatorKind::Transform(_) => "a batch is computed and handed on",
        OperatorKind::Route(_) => "a batch is split and handed on",
        OperatorKind::Sink(_) => "a batch is encoded and written when its turn comes",
        OperatorKind::Merge(_) if operator.interleaves() => {
            "rows of each input are taken in turn, as they come, and handed on"
        }
        OperatorKind::Merge(_) => "a batch is handed on; the inputs come one after the other",
        OperatorKind::Discard(_) => "a batch is counted and dropped",
        OperatorKind::Sort(_)
        | OperatorKind::Cull(_)
        | OperatorKind::Reshape(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Park(_) => "a batch is kept",
    };
    match (&operator.kind, consumers) {
        (OperatorKind::Source(_) | OperatorKind::Transform(_) | OperatorKind::Merge(_), 2..) => {
            format!("{reason} to {consumers} consumers in turn")
        }
        _ => reason.to_string(),
    }
}

/// Who is charged for what an operator holds: its rows first.
fn consumers(id: OperatorId, operator: &Operator) -> Vec<MemoryConsumer> {
    let consumer = |name: String, priority: u8, reason: &str| MemoryConsumer {
        name,
        operator: Some(id),
        priority,
        spills: priority != LAST_PRIORITY,
        reason: reason.to_string(),
    };
    let rows = |priority: u8, reason: &str| consumer(operator.label(), priority, reason);
    let decided_on = |of: &str, reason: &str| consumer(format!("{} ({of})", operator.label()), LAST_PRIORITY, reason);
    match &operator.kind {
        OperatorKind::Sort(_) => vec![rows(SORT_PRIORITY, "holds every row, and its keys, until all are in")],
        OperatorKind::Cull(_) => vec![
            rows(GROUPED_PRIORITY, "holds every row until all are in"),
            decided_on("groups", "holds each group's key and aggregates"),
        ],
        OperatorKind::Reshape(_) => vec![
            rows(GROUPED_PRIORITY, "holds every row until all are in"),
            decided_on("groups", "holds each group's key"),
        ],
        OperatorKind::Aggregate(aggregate) if aggregate.streams => {
            vec![decided_on("group", "holds the aggregates of the group in hand")]
        }
        OperatorKind::Aggregate(_) => vec![rows(TABLE_PRIORITY, "holds each group's key and aggregates")],
        OperatorKind::Distinct(_) => {
            vec![rows(TABLE_PRIORITY, "holds each different key, and its first row, until all are in")]
        }
        OperatorKind::Park(_) => vec![rows(HAND_OFF_PRIORITY, "holds every row until its turn comes")],
        _ => Vec::new(),
    }
}
