//! Draws a segment as the tree that a block of input passes through, up to the sinks, the buffers that it fills and the
//! merges that take its rows in turn.

use crate::plan::physical::{Edge, Operator, OperatorId, OperatorKind, PhysicalPlan};

/// How many levels are drawn: further to the right nobody can read them.
const DEEPEST: usize = 64;

/// The lines of the tree below `root`, which is a segment's head.
pub fn draw(plan: &PhysicalPlan, root: OperatorId) -> Vec<String> {
    let mut lines = vec![plan.operator(root).label()];
    draw_below(plan, root, 0, "", &mut lines);
    lines
}

fn draw_below(plan: &PhysicalPlan, id: OperatorId, level: usize, indent: &str, lines: &mut Vec<String>) {
    if level == DEEPEST {
        let below = count_below(plan, id);
        lines.extend((below > 0).then(|| format!("{indent}└─ … {below} more below")));
        return;
    }
    let mut consumers = plan.outputs(id);
    // Branches as they are declared, not as their consumers happen to stand in the file.
    consumers.sort_by_key(|(consumer, edge)| (edge.port, *consumer, edge.input));
    let last = consumers.len().saturating_sub(1);
    for (position, (consumer, edge)) in consumers.into_iter().enumerate() {
        let (joint, below) = if position == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let operator = plan.operator(consumer);
        let end = match (operator.is_driver(), operator.interleaves()) {
            (true, _) => ", filled here",
            (_, true) => ", taken in turn",
            _ => "",
        };
        lines.push(format!("{indent}{joint}{}{}{}{end}", branch(edge), operator.label(), input(operator, edge)));
        if !operator.is_head() {
            draw_below(plan, consumer, level + 1, &format!("{indent}{below}"), lines);
        }
    }
}

fn input(consumer: &Operator, edge: &Edge) -> String {
    match &consumer.kind {
        OperatorKind::Merge(merge) if merge.inputs.len() > 1 => format!(" (input {})", edge.input + 1),
        _ => String::new(),
    }
}

/// How many operators of the segment stand below one.
fn count_below(plan: &PhysicalPlan, id: OperatorId) -> usize {
    let (mut count, mut waiting) = (0, vec![id]);
    while let Some(id) = waiting.pop() {
        let consumers = plan.outputs(id);
        count += consumers.len();
        let passing = consumers.into_iter().map(|(consumer, _)| consumer);
        waiting.extend(passing.filter(|consumer| !plan.operator(*consumer).is_head()));
    }
    count
}

fn branch(edge: &Edge) -> String {
    edge.port_name.as_ref().map_or_else(String::new, |port| format!("{port}: "))
}
