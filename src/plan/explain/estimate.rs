//! How many rows to expect, and on what grounds. Without an input size nothing is known, and nothing is invented.

use super::build::matcher;
use super::model::Statistic;
use super::{Facts, layout};
use crate::analysis::hir::SourceColumn;
use crate::analysis::types::Kind;
use crate::plan::physical::{Operator, OperatorKind, PhysicalPlan, SourceOperator};

/// The expected rows of each source, and for each sink the most that can reach it.
pub fn statistics(plan: &PhysicalPlan, facts: &Facts) -> Vec<Statistic> {
    let mut found = Vec::new();
    for stage in &plan.stages {
        let driver = plan.operator(stage.driver);
        let OperatorKind::Source(source) = &driver.kind else { continue };
        let read = source_statistic(driver, source, facts);
        let rows = read.estimated_rows;
        found.push(read);
        for id in &stage.operators {
            let operator = plan.operator(*id);
            if matches!(operator.kind, OperatorKind::Sink(_)) {
                found.push(sink_statistic(operator, driver, rows));
            }
        }
    }
    found
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

fn sink_statistic(operator: &Operator, driver: &Operator, rows: Option<u64>) -> Statistic {
    Statistic {
        node: operator.label(),
        input_bytes: None,
        estimated_rows: rows,
        at_most: true,
        origin: format!("no more than {} reads", driver.label()),
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
