//! Cuts the plan into stages.
//!
//! Before: operators in plan order.
//! After: every operator is in the stages that the docs of [`Stage`] name, in the order they run. A buffer is filled
//! before it drives. What a concatenating merge reads arrives input by input; an input that can't come in its turn
//! has a park on its edge.
//!
//! Stages run as early as that allows, in plan order of their drivers. Which edges are parked is settled by
//! `schedule`; here they get their operators.

use std::collections::{BTreeMap, BTreeSet};

use super::schedule::{Driver, Schedule};
use crate::plan::physical::{
    BufferClass, Edge, Operator, OperatorId, OperatorKind, ParkOperator, PhysicalPlan, Rest, Segment, Stage,
};

/// Runs the pass.
pub fn cut_stages(plan: PhysicalPlan) -> PhysicalPlan {
    let schedule = Schedule::of(&plan);
    let (mut cut, placed) = add_parks(&plan, &schedule);
    let cutter = Cutter::new(&cut);
    let drivers = |together: Vec<Driver>| together.iter().map(|driver| placed[driver]).collect();
    cut.stages = schedule.order().into_iter().map(|together| cutter.stage(drivers(together))).collect();
    cut
}

/// Puts the parks in. Gives the operator of each driver.
fn add_parks(plan: &PhysicalPlan, schedule: &Schedule) -> (PhysicalPlan, BTreeMap<Driver, OperatorId>) {
    let mut placed = BTreeMap::new();
    let mut parks = Vec::new();
    for (&(merge, input), reason) in schedule.parks() {
        let inputs = plan.inputs(merge);
        let (_, edge) = inputs.iter().find(|(_, edge)| edge.input == input).expect("the parked edge is there");
        parks.push((merge, input, park(plan.operator(merge), edge, reason)));
    }
    let (plan, moved) = plan.with_parks(&parks);
    for (id, operator) in plan.operators() {
        if matches!(operator.kind, OperatorKind::Park(_)) {
            let outputs = plan.outputs(id);
            let (merge, edge) = outputs.first().expect("a park is read by the merge that it was put in front of");
            let before = moved.iter().position(|new| new == merge).expect("the merge was there before");
            placed.insert(Driver::Park(OperatorId(before as u32), edge.input), id);
        }
    }
    placed.extend(moved.iter().enumerate().map(|(old, new)| (Driver::Operator(OperatorId(old as u32)), *new)));
    (plan, placed)
}

fn park(merge: &Operator, edge: &Edge, reason: &str) -> Operator {
    Operator {
        name: format!("{}.{}", merge.name, edge.input + 1),
        span: merge.span,
        kind: OperatorKind::Park(ParkOperator {
            reason: reason.to_string(),
            schema: edge.schema.clone(),
            rest: Rest::undecided(edge.schema.columns.len()),
        }),
        buffer: BufferClass::Materialized,
        buffer_reason: String::new(),
        strategy: "rows in order".to_string(),
    }
}

/// Puts the segments of stages together.
struct Cutter<'p> {
    plan: &'p PhysicalPlan,
    /// For each operator, in plan order, the heads of the segments that its rows come from.
    heads: Vec<BTreeSet<OperatorId>>,
}

impl<'p> Cutter<'p> {
    fn new(plan: &'p PhysicalPlan) -> Self {
        let mut heads: Vec<BTreeSet<OperatorId>> = Vec::new();
        for (id, operator) in plan.operators() {
            let above = plan.inputs(id).into_iter().flat_map(|(OperatorId(producer), _)| &heads[producer as usize]);
            heads.push(if operator.is_head() { BTreeSet::from([id]) } else { above.copied().collect() });
        }
        Self { plan, heads }
    }

    /// The stage of some drivers: their segments, and those of the interleaving merges that take their rows.
    fn stage(&self, drivers: Vec<OperatorId>) -> Stage {
        let mut trees: BTreeMap<OperatorId, BTreeSet<OperatorId>> = BTreeMap::new();
        let mut waiting = drivers;
        while let Some(head) = waiting.pop() {
            let tree = self.tree(head);
            waiting.extend(tree.iter().filter(|id| self.plan.operator(**id).interleaves() && !trees.contains_key(id)));
            trees.insert(head, tree);
        }
        let behind = self.behind(&trees);
        let order = in_order(&trees, &behind);
        let place = |head: &OperatorId| order.iter().position(|other| other == head).expect("every head is in order");
        let segment = |head: &OperatorId| Segment {
            head: *head,
            operators: trees[head].iter().copied().collect(),
            behind: behind[head].iter().map(place).collect(),
        };
        Stage { segments: order.iter().map(segment).collect() }
    }

    /// The tree below a head, up to and with the heads that take its rows.
    fn tree(&self, head: OperatorId) -> BTreeSet<OperatorId> {
        let mut operators = BTreeSet::from([head]);
        let mut waiting = vec![head];
        while let Some(id) = waiting.pop() {
            for (consumer, _) in self.plan.outputs(id) {
                if operators.insert(consumer) && !self.plan.operator(consumer).is_head() {
                    waiting.push(consumer);
                }
            }
        }
        operators
    }

    /// For each head of a stage, those whose segments are over before its own begins: the heads of one input of a
    /// concatenating merge wait for those of the input in front.
    fn behind(&self, trees: &BTreeMap<OperatorId, BTreeSet<OperatorId>>) -> BTreeMap<OperatorId, BTreeSet<OperatorId>> {
        let mut behind: BTreeMap<_, BTreeSet<_>> = trees.keys().map(|head| (*head, BTreeSet::new())).collect();
        let merges = self.plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Merge(_)));
        for (id, _) in merges.filter(|(_, operator)| !operator.is_head()) {
            for pair in self.plan.inputs(id).windows(2) {
                let heads =
                    |input: usize| self.heads[pair[input].0.0 as usize].iter().filter(|h| trees.contains_key(h));
                for later in heads(1) {
                    behind.get_mut(later).expect("it heads a tree").extend(heads(0));
                }
            }
        }
        behind
    }
}

/// The heads, each behind those whose rows it takes and those that it waits for, and otherwise in plan order.
fn in_order(
    trees: &BTreeMap<OperatorId, BTreeSet<OperatorId>>,
    behind: &BTreeMap<OperatorId, BTreeSet<OperatorId>>,
) -> Vec<OperatorId> {
    let awaits = |head: &OperatorId, other: &OperatorId| {
        other != head && trees[other].contains(head) || behind[head].contains(other)
    };
    let mut left: BTreeSet<OperatorId> = trees.keys().copied().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let next = left.iter().copied().find(|head| !left.iter().any(|other| awaits(head, other)));
        let next = next.expect("no segments wait for each other");
        left.remove(&next);
        order.push(next);
    }
    order
}
