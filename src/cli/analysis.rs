//! What a run came to beside what its plan expected: `--explain=analyze`.

use std::time::Duration;

use super::summary::{duration, grouped, size, table};
use crate::exec::{ConsumerReport, NodeReport, Report};
use crate::plan::explain::Estimate;
use crate::plan::explain::layout::{rough, rough_most};
use crate::plan::physical::MemoryConsumer;

/// The table: a line for each operator, with figures in pairs. `estimates` are those of the plan's operators, in order.
pub fn analysis(report: &Report, estimates: &[Estimate]) -> String {
    let spills = |(node, estimate): (&NodeReport, &Estimate)| node.spilled.raw > 0 || estimate.spilled != Some(0);
    let spilled = report.nodes.iter().zip(estimates).any(spills)
        || report.consumers.iter().any(|consumer| consumer.spilled.raw > 0);
    let removes = report.nodes.iter().any(|node| node.removed.is_some());
    let mut heading = vec!["node", "rows out", "expected"];
    heading.extend(removes.then_some("removed"));
    heading.extend(["bytes", "busy", "peak", "expected"]);
    heading.extend(["spilled", "expected"].iter().filter(|_| spilled));
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect()];
    let lines = report.nodes.iter().zip(estimates);
    rows.extend(lines.map(|(node, estimate)| line(node, estimate, removes, spilled)));
    let letters = report.consumers.iter().filter(|consumer| consumer.name == MemoryConsumer::DEAD_LETTERS);
    rows.extend(letters.filter(|letters| letters.peak_reserved > 0).map(|letters| waiting(letters, removes, spilled)));
    format!("\n=== Run and Plan ===\n{}", table(&rows).trim_start_matches('\n'))
}

fn line(node: &NodeReport, estimate: &Estimate, removes: bool, spilled: bool) -> Vec<String> {
    let rows = match estimate.rows {
        Some(rows) if estimate.at_most => format!("<= {}", rough_most(rows)),
        Some(rows) => format!("~ {}", rough(rows)),
        None => unknown(),
    };
    let held = |bytes: Option<u64>, at_most: bool| match bytes {
        Some(0) => String::new(),
        Some(bytes) => format!("{}{}", if at_most { "<= " } else { "~ " }, size(bytes)),
        None => unknown(),
    };
    let mut cells = vec![node.label.clone(), grouped(node.rows_out), rows];
    cells.extend(removes.then(|| node.removed.map(grouped).unwrap_or_default()));
    cells.extend([
        some(node.bytes, size(node.bytes)),
        if node.busy > Duration::ZERO { duration(node.busy) } else { String::new() },
        some(node.peak_reserved, size(node.peak_reserved)),
        held(estimate.peak, estimate.peak_at_most),
    ]);
    if spilled {
        cells
            .extend([some(node.spilled.raw, size(node.spilled.raw)), held(estimate.spilled, estimate.spilled_at_most)]);
    }
    cells
}

/// The line of dead letters that waited. Nobody knows before a run how many there are.
fn waiting(letters: &ConsumerReport, removes: bool, spilled: bool) -> Vec<String> {
    let before = std::iter::repeat_n(String::new(), 4 + usize::from(removes));
    let mut cells: Vec<String> = std::iter::once(letters.name.clone()).chain(before).collect();
    cells.extend([size(letters.peak_reserved), String::new()]);
    if spilled {
        cells.extend([some(letters.spilled.raw, size(letters.spilled.raw)), String::new()]);
    }
    cells
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// A text for what is there; nothing for nothing.
fn some(amount: u64, text: String) -> String {
    if amount == 0 { String::new() } else { text }
}
