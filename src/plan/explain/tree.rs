//! Draws a stage as the tree that a block of input passes through.

use crate::plan::physical::{Edge, OperatorId, PhysicalPlan};

/// The lines of the tree below `root`, which is a stage's driver.
pub fn draw(plan: &PhysicalPlan, root: OperatorId) -> Vec<String> {
    let mut lines = vec![plan.operator(root).label()];
    draw_below(plan, root, "", &mut lines);
    lines
}

fn draw_below(plan: &PhysicalPlan, id: OperatorId, indent: &str, lines: &mut Vec<String>) {
    let mut consumers = plan.outputs(id);
    // Branches as they are declared, not as their consumers happen to stand in the file.
    consumers.sort_by_key(|(consumer, edge)| (edge.port, *consumer));
    let last = consumers.len().saturating_sub(1);
    for (position, (consumer, edge)) in consumers.into_iter().enumerate() {
        let (joint, below) = if position == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.push(format!("{indent}{joint}{}{}", branch(edge), plan.operator(consumer).label()));
        draw_below(plan, consumer, &format!("{indent}{below}"), lines);
    }
}

fn branch(edge: &Edge) -> String {
    edge.port_name.as_ref().map_or_else(String::new, |port| format!("{port}: "))
}
