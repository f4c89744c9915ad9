//! How many rows to expect, and on what grounds. Without an input size nothing is known, and nothing is invented.

use std::collections::BTreeMap;

use super::build::matcher;
use super::model::Statistic;
use super::{Facts, layout};
use crate::analysis::hir::{Aggregation, SourceColumn, Statement};
use crate::analysis::types::Kind;
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, ReshapeOperator, SourceOperator};

/// The rows that come out of one port of each operator, whichever that is.
pub struct RowCounts(Vec<Most>);

/// The most rows that can come out of an operator.
#[derive(Clone, Default)]
pub struct Most {
    /// How many; `None` if an input size is not known.
    pub rows: Option<u64>,
    /// Whether there may be fewer: something above drops or groups rows.
    pub at_most: bool,
    /// Whether it is the row of an aggregate over the whole input: one, whatever comes in.
    is_total: bool,
    /// The operators that they come from, with their labels, in plan order: sources, and reshapes that add rows.
    from: BTreeMap<OperatorId, String>,
    /// Whether a source's rows count several times: they may come in several ways.
    repeats: bool,
}

impl RowCounts {
    /// What is known of a plan.
    pub fn of(plan: &PhysicalPlan, facts: &Facts) -> Self {
        let mut counts = Self(Vec::new());
        for (id, operator) in plan.operators() {
            let above = counts.read(plan, id);
            let own = match &operator.kind {
                OperatorKind::Source(source) => Most::read(id, operator, source, facts),
                OperatorKind::Aggregate(aggregate) => above.grouped(&aggregate.aggregation),
                OperatorKind::Reshape(reshape) => above.extended(id, operator, reshape),
                OperatorKind::Route(_) | OperatorKind::Cull(_) | OperatorKind::Distinct(_) => {
                    Most { at_most: true, ..above }
                }
                OperatorKind::Transform(transform) => {
                    let filters = |statement: &Statement| matches!(statement, Statement::Filter(_));
                    let drops = transform.transform.statements.iter().any(filters);
                    Most { at_most: above.at_most || drops, ..above }
                }
                OperatorKind::Merge(_)
                | OperatorKind::Sort(_)
                | OperatorKind::Park(_)
                | OperatorKind::Sink(_)
                | OperatorKind::Discard(_) => above,
            };
            counts.0.push(own);
        }
        counts
    }

    /// What an operator gives over all ports, or writes. A row goes to one port, but to every branch of an inclusive
    /// route that it matches.
    pub fn given(&self, plan: &PhysicalPlan, id: OperatorId) -> Most {
        let port = self.0[id.0 as usize].clone();
        let branches = match &plan.operator(id).kind {
            OperatorKind::Route(spec) if spec.route.inclusive => spec.route.conditions.len().max(1) as u64,
            _ => return port,
        };
        Most { rows: port.rows.map(|rows| rows.saturating_mul(branches)), ..port }
    }

    /// What an operator reads over all inputs.
    pub fn read(&self, plan: &PhysicalPlan, id: OperatorId) -> Most {
        let inputs = plan.inputs(id);
        Most::together(&inputs.iter().map(|(producer, _)| &self.0[producer.0 as usize]).collect::<Vec<_>>())
    }
}

impl Most {
    fn together(inputs: &[&Most]) -> Self {
        let from: BTreeMap<OperatorId, String> = inputs.iter().flat_map(|input| input.from.clone()).collect();
        let ways: usize = inputs.iter().map(|input| input.from.len()).sum();
        Self {
            rows: inputs.iter().try_fold(0_u64, |all, input| Some(all.saturating_add(input.rows?))),
            at_most: inputs.iter().any(|input| input.at_most),
            is_total: matches!(inputs, [only] if only.is_total),
            repeats: inputs.iter().any(|input| input.repeats) || from.len() < ways,
            from,
        }
    }

    fn read(id: OperatorId, operator: &Operator, source: &SourceOperator, facts: &Facts) -> Self {
        let bytes = facts.input_bytes.get(&operator.name);
        let rows = bytes.map(|bytes| usual_rows(*bytes, source));
        Self { rows, from: [(id, operator.label())].into(), ..Self::default() }
    }

    /// The groups of an aggregate.
    fn grouped(self, aggregation: &Aggregation) -> Self {
        let key = &aggregation.grouped.columns[..aggregation.key];
        match self.rows.map(|rows| groups(rows, key.iter().map(|column| &column.ty.kind))) {
            // Whatever the input, there is one row.
            _ if key.is_empty() => Self { rows: Some(1), at_most: false, is_total: true, ..self },
            rows => Self { rows, at_most: true, is_total: false, ..self },
        }
    }

    /// The rows of a reshape: each rule may add one for each row.
    fn extended(mut self, id: OperatorId, operator: &Operator, reshape: &ReshapeOperator) -> Self {
        let adding = reshape.reshape.rules.iter().filter(|rule| rule.synthesize.is_some()).count() as u64;
        if adding > 0 {
            self.from.insert(id, operator.label());
            self.rows = self.rows.map(|rows| rows.saturating_mul(1 + adding));
            self.at_most = true;
        }
        self
    }
}

/// The most groups of so many rows by a key of these kinds: few values make few groups.
pub fn groups<'a>(rows: u64, key: impl Iterator<Item = &'a Kind>) -> u64 {
    let values = |kind: &Kind| match kind {
        Kind::Null => 1,
        Kind::Bool => 3,
        _ => u64::MAX,
    };
    key.map(values).fold(1, u64::saturating_mul).min(rows)
}

/// The expected rows of each source, and for each sink the most that can reach it.
pub fn statistics(plan: &PhysicalPlan, counts: &RowCounts, facts: &Facts) -> Vec<Statistic> {
    let statistic = |(id, operator): (OperatorId, &Operator)| match &operator.kind {
        OperatorKind::Source(source) => Some(source_statistic(operator, source, &counts.0[id.0 as usize], facts)),
        OperatorKind::Sink(_) => Some(sink_statistic(operator, &counts.0[id.0 as usize])),
        _ => None,
    };
    plan.operators().filter_map(statistic).collect()
}

fn source_statistic(operator: &Operator, source: &SourceOperator, own: &Most, facts: &Facts) -> Statistic {
    let bytes = facts.input_bytes.get(&operator.name).copied();
    let width = row_width(&source.source.columns);
    let files = matcher(&source.source.matcher);
    let origin = match bytes {
        Some(bytes) => {
            format!("{files}: {} at {width}B a row, a usual width for the declared types", layout::size(bytes))
        }
        None => format!("{files}: size not known"),
    };
    Statistic { node: operator.label(), input_bytes: bytes, estimated_rows: own.rows, at_most: false, origin }
}

fn sink_statistic(operator: &Operator, most: &Most) -> Statistic {
    let from: Vec<&str> = most.from.values().map(String::as_str).collect();
    let verb = if from.len() == 1 { "reads" } else { "read" };
    let verb = if from.iter().any(|label| label.starts_with("reshape.")) { "read and add" } else { verb };
    let repeats = if most.repeats { ", counted for each way that a row can come" } else { "" };
    let (at_most, origin) = match most.rows {
        Some(1) if most.is_total && !most.at_most => (false, "one for the whole input".to_string()),
        _ => (true, format!("no more than {} {verb}{repeats}", from.join(" and "))),
    };
    Statistic { node: operator.label(), input_bytes: None, estimated_rows: most.rows, at_most, origin }
}

/// How many usual rows so many bytes are: at least one where there is more than a header.
fn usual_rows(bytes: u64, source: &SourceOperator) -> u64 {
    let headers = source.source.columns.iter().map(|column| column.header.len() as u64 + 1);
    let header = if source.source.csv.has_header { headers.sum() } else { 0 };
    (bytes / row_width(&source.source.columns)).max(u64::from(bytes > header))
}

/// The bytes of a usual row: each cell's text and what follows it.
fn row_width(columns: &[SourceColumn]) -> u64 {
    columns.iter().map(|column| 1 + text_width(&column.ty.kind)).sum::<u64>().max(1)
}

/// The bytes of a usual value's text.
pub fn text_width(kind: &Kind) -> u64 {
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
