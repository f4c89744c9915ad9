//! Draws a stage as the tree that a block of input passes through.

use crate::plan::physical::{Edge, OperatorId, PhysicalPlan};

/// How many levels are drawn: further to the right nobody can read them.
const DEEPEST: usize = 64;

/// The lines of the tree below `root`, which is a stage's driver.
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
    consumers.sort_by_key(|(consumer, edge)| (edge.port, *consumer));
    let last = consumers.len().saturating_sub(1);
    for (position, (consumer, edge)) in consumers.into_iter().enumerate() {
        let (joint, below) = if position == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.push(format!("{indent}{joint}{}{}", branch(edge), plan.operator(consumer).label()));
        draw_below(plan, consumer, level + 1, &format!("{indent}{below}"), lines);
    }
}

/// How many operators stand below one.
fn count_below(plan: &PhysicalPlan, id: OperatorId) -> usize {
    let (mut count, mut waiting) = (0, vec![id]);
    while let Some(id) = waiting.pop() {
        let consumers = plan.outputs(id);
        count += consumers.len();
        waiting.extend(consumers.into_iter().map(|(consumer, _)| consumer));
    }
    count
}

fn branch(edge: &Edge) -> String {
    edge.port_name.as_ref().map_or_else(String::new, |port| format!("{port}: "))
}
