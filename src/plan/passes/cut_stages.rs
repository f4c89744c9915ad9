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
    let cutter = Cutter { plan: &cut };
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
}

impl Cutter<'_> {
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
        let heads = self.heads(trees);
        for id in heads.keys().filter(|id| !self.plan.operator(**id).is_head()) {
            let inputs = self.plan.inputs(*id);
            for pair in inputs.windows(2) {
                let heads = |input: usize| heads.get(&pair[input].0).into_iter().flatten();
                for later in heads(1) {
                    behind.get_mut(later).expect("it heads a tree").extend(heads(0));
                }
            }
        }
        behind
    }

    /// The heads that the rows of each operator come from, as far as these are of the stage.
    fn heads(&self, trees: &BTreeMap<OperatorId, BTreeSet<OperatorId>>) -> BTreeMap<OperatorId, Vec<OperatorId>> {
        let mut heads: BTreeMap<OperatorId, Vec<OperatorId>> = BTreeMap::new();
        for (head, tree) in trees {
            for id in tree.iter().filter(|id| *id == head || !self.plan.operator(**id).is_head()) {
                heads.entry(*id).or_default().push(*head);
            }
        }
        heads
    }
}

/// The heads, each behind those whose rows it takes and those that it waits for, and otherwise in plan order.
fn in_order(
    trees: &BTreeMap<OperatorId, BTreeSet<OperatorId>>,
    behind: &BTreeMap<OperatorId, BTreeSet<OperatorId>>,
) -> Vec<OperatorId> {
    let mut awaited = behind.clone();
    for (head, tree) in trees {
        for below in tree.iter().filter(|below| *below != head) {
            if let Some(awaited) = awaited.get_mut(below) {
                awaited.insert(*head);
            }
        }
    }
    let mut waiting: BTreeMap<OperatorId, Vec<OperatorId>> = BTreeMap::new();
    for (head, awaited) in &awaited {
        awaited.iter().for_each(|other| waiting.entry(*other).or_default().push(*head));
    }
    let mut left: BTreeMap<OperatorId, usize> = awaited.iter().map(|(head, awaited)| (*head, awaited.len())).collect();
    let mut ready: BTreeSet<OperatorId> = left.iter().filter(|(_, left)| **left == 0).map(|(head, _)| *head).collect();
    let mut order = Vec::new();
    while let Some(head) = ready.pop_first() {
        order.push(head);
        for waiting in waiting.remove(&head).unwrap_or_default() {
            let left = left.get_mut(&waiting).expect("every head is counted");
            *left -= 1;
            if *left == 0 {
                ready.insert(waiting);
            }
        }
    }
    assert_eq!(order.len(), trees.len(), "no segments wait for each other");
    order
}
