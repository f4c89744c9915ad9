//! Gives every operator a buffer class, and every state that grows with the input a memory consumer.
//!
//! Before: operators have strategies and stages.
//! After: each operator has its class with a reason, and each `distinct` statement a consumer. This is the only
//! classifier: `--explain` prints what it says, and the run takes its consumers from it.
//!
//! Every operator so far hands a batch on before it takes the next, so all stream. Several consumers of one port are
//! branches of one stage and take each batch in turn, so a port needs no buffer for them.

use super::expr;
use crate::analysis::hir::Expr;
use crate::plan::physical::{BufferClass, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan};

/// Where `distinct` stands among those that are asked to spill: behind all that spill more cheaply.
const DISTINCT_PRIORITY: u8 = 30;

/// Runs the pass.
pub fn classify_buffers(mut plan: PhysicalPlan) -> PhysicalPlan {
    let ids: Vec<OperatorId> = plan.operators().map(|(id, _)| id).collect();
    for id in ids {
        let reason = streaming_reason(plan.operator(id), plan.outputs(id).len());
        let consumers = distinct_consumers(id, plan.operator(id));
        let first = plan.consumers.len();
        let operator = plan.operator_mut(id);
        operator.buffer = BufferClass::Streaming;
        operator.buffer_reason = reason;
        if let OperatorKind::Transform(transform) = &mut operator.kind {
            transform.distinct_consumers = (first..first + consumers.len()).collect();
        }
        plan.consumers.extend(consumers);
    }
    plan
}

fn streaming_reason(operator: &Operator, consumers: usize) -> String {
    let reason = match &operator.kind {
        OperatorKind::Source(_) => "a block is cut, typed and handed on",
        OperatorKind::Transform(_) => "a batch is computed and handed on",
        OperatorKind::Route(_) => "a batch is split and handed on",
        OperatorKind::Sink(_) => "a batch is encoded and written when its turn comes",
        OperatorKind::Discard(_) => "a batch is counted and dropped",
        _ => todo!(),
    };
    match (&operator.kind, consumers) {
        (OperatorKind::Source(_) | OperatorKind::Transform(_), 2..) => {
            format!("{reason} to {consumers} consumers in turn")
        }
        _ => reason.to_string(),
    }
}

fn distinct_consumers(id: OperatorId, operator: &Operator) -> Vec<MemoryConsumer> {
    let OperatorKind::Transform(transform) = &operator.kind else { return Vec::new() };
    let keys = expr::distinct_keys(&transform.transform);
    keys.enumerate().map(|(position, key)| distinct_consumer(id, operator, position, key)).collect()
}

fn distinct_consumer(id: OperatorId, operator: &Operator, position: usize, key: &[Expr]) -> MemoryConsumer {
    let name = match position {
        0 => format!("distinct.{}", operator.name),
        _ => format!("distinct.{}.{}", operator.name, position + 1),
    };
    let parts = if key.len() == 1 { "1 column".to_string() } else { format!("{} columns", key.len()) };
    MemoryConsumer {
        name,
        operator: id,
        priority: DISTINCT_PRIORITY,
        spills: false,
        reason: format!("holds each different key of {parts} until the run ends"),
    }
}
