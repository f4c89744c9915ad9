//! How many rows to expect, and on what grounds. Without an input size nothing is known, and nothing is invented.

use std::collections::BTreeMap;

use super::build::matcher;
use super::model::Statistic;
use super::{Facts, layout};
use crate::analysis::hir::SourceColumn;
use crate::analysis::types::Kind;
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, SourceOperator};

/// The expected rows of each source, and for each sink the most that can reach it.
pub fn statistics(plan: &PhysicalPlan, facts: &Facts) -> Vec<Statistic> {
    let mut found = Vec::new();
    let mut most: Vec<Most> = Vec::new();
    for (id, operator) in plan.operators() {
        let above: Vec<&Most> =
            plan.inputs(id).iter().map(|(OperatorId(producer), _)| &most[*producer as usize]).collect();
        let mut own = Most::of(&above);
        match &operator.kind {
            OperatorKind::Source(source) => {
                let read = source_statistic(operator, source, facts);
                own = Most { rows: read.estimated_rows, sources: [(id, operator.label())].into(), repeats: false };
                found.push(read);
            }
            OperatorKind::Sink(_) => found.push(sink_statistic(operator, &own)),
            _ => {}
        }
        most.push(own);
    }
    found
}

/// The most rows that can come out of an operator.
struct Most {
    rows: Option<u64>,
    /// The sources that they come from, with their labels, in plan order.
    sources: BTreeMap<OperatorId, String>,
    /// Whether a source's rows count several times: they may come in several ways.
    repeats: bool,
}

impl Most {
    fn of(inputs: &[&Most]) -> Self {
        let sources: BTreeMap<OperatorId, String> = inputs.iter().flat_map(|input| input.sources.clone()).collect();
        let ways: usize = inputs.iter().map(|input| input.sources.len()).sum();
        Self {
            rows: inputs.iter().map(|input| input.rows).sum(),
            repeats: inputs.iter().any(|input| input.repeats) || sources.len() < ways,
            sources,
        }
    }
}

fn source_statistic(operator: &Operator, source: &SourceOperator, facts: &Facts) -> Statistic {
    let bytes = facts.input_bytes.get(&operator.name).copied();
    let width = row_width(&source.source.columns);
    let files = matcher(&source.source.matcher);
    let origin = match bytes {
        Some(bytes) => {
            format!("{files}: {} at {width}B a row, a usual width for the declared types", layout::size(bytes))
        }
        None => format!("{files}: size not known"),
    };
    Statistic {
        node: operator.label(),
        input_bytes: bytes,
        estimated_rows: bytes.map(|bytes| bytes / width),
        at_most: false,
        origin,
    }
}

fn sink_statistic(operator: &Operator, most: &Most) -> Statistic {
    let sources: Vec<&str> = most.sources.values().map(String::as_str).collect();
    let verb = if most.sources.len() == 1 { "reads" } else { "read" };
    let repeats = if most.repeats { ", counted for each way that a row can come" } else { "" };
    Statistic {
        node: operator.label(),
        input_bytes: None,
        estimated_rows: most.rows,
        at_most: true,
        origin: format!("no more than {} {verb}{repeats}", sources.join(" and ")),
    }
}

/// The bytes of a usual row: each cell's text and what follows it.
fn row_width(columns: &[SourceColumn]) -> u64 {
    columns.iter().map(|column| 1 + cell_width(&column.ty.kind)).sum::<u64>().max(1)
}

fn cell_width(kind: &Kind) -> u64 {
    match kind {
        Kind::Null | Kind::Error => 0,
        Kind::Bool | Kind::Int => 4,
        Kind::Float | Kind::Decimal { .. } => 7,
        Kind::String | Kind::Any => 10,
        Kind::Date => 10,
        Kind::DateTime => 19,
        Kind::Array(_) | Kind::Map => 20,
    }
}
