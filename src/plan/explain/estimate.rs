//! How many rows to expect, and on what grounds. Without an input size nothing is known, and nothing is invented.

use std::collections::BTreeMap;

use super::amount::{Amount, usual_row};
use super::build::matcher;
use super::guess::Guess;
use super::model::Statistic;
use super::{Facts, Input, Sample, layout};
use crate::analysis::hir::Statement;
use crate::plan::physical::{
    AggregateOperator, MergeOperator, Operator, OperatorId, OperatorKind, PhysicalPlan, ReshapeOperator,
    SourceOperator, TransformOperator,
};

/// What comes out of one port of each operator, whichever that is.
pub struct Flows(Vec<Flow>);

/// What comes out of an operator.
#[derive(Clone, Default)]
pub struct Flow {
    /// How much; `None` if an input size is not known.
    pub amount: Option<Amount>,
    /// Whether there may be fewer rows: something above drops or groups them.
    pub at_most: bool,
    /// Whether it is the row of an aggregate over the whole input: one, whatever comes in.
    is_total: bool,
    /// The operators that the rows come from, with their labels, in plan order: sources, and reshapes that add rows.
    from: BTreeMap<OperatorId, String>,
    /// Whether a source's rows count several times: they may come in several ways.
    repeats: bool,
}

impl Flows {
    /// What is known of a plan.
    pub fn of(plan: &PhysicalPlan, facts: &Facts) -> Self {
        let mut flows = Self(Vec::new());
        for (id, operator) in plan.operators() {
            let own = match &operator.kind {
                OperatorKind::Source(source) => Flow::of_source(id, operator, source, facts),
                OperatorKind::Merge(merge) => flows.merged(plan, id, merge),
                kind => flows.read(plan, id).through(id, operator, kind),
            };
            flows.0.push(own);
        }
        flows
    }

    /// What an operator gives over all ports, or writes. A row goes to one port, but to every branch of an inclusive
    /// route that it matches.
    pub fn given(&self, plan: &PhysicalPlan, id: OperatorId) -> (Option<Guess>, bool) {
        let port = &self.0[id.0 as usize];
        let branches = match &plan.operator(id).kind {
            OperatorKind::Route(spec) if spec.route.inclusive => spec.route.conditions.len().max(1) as u64,
            _ => 1,
        };
        (port.rows().map(|rows| rows * branches), port.at_most)
    }

    /// What an operator with one input reads.
    pub fn read(&self, plan: &PhysicalPlan, id: OperatorId) -> Flow {
        let inputs = plan.inputs(id);
        inputs.first().map(|(producer, _)| self.0[producer.0 as usize].clone()).unwrap_or_default()
    }

    fn merged(&self, plan: &PhysicalPlan, id: OperatorId, merge: &MergeOperator) -> Flow {
        let inputs = plan.inputs(id);
        let inputs: Vec<&Flow> = inputs.iter().map(|(producer, _)| &self.0[producer.0 as usize]).collect();
        let from: BTreeMap<OperatorId, String> = inputs.iter().flat_map(|input| input.from.clone()).collect();
        let ways: usize = inputs.iter().map(|input| input.from.len()).sum();
        let amounts: Option<Vec<&Amount>> = inputs.iter().map(|input| input.amount.as_ref()).collect();
        Flow {
            amount: amounts.map(|amounts| Amount::merged(&amounts, &merge.merge)),
            at_most: inputs.iter().any(|input| input.at_most),
            is_total: matches!(inputs.as_slice(), [only] if only.is_total),
            repeats: inputs.iter().any(|input| input.repeats) || from.len() < ways,
            from,
        }
    }
}

impl Flow {
    /// How many rows.
    pub fn rows(&self) -> Option<Guess> {
        self.amount.as_ref().map(|amount| amount.rows)
    }

    fn of_source(id: OperatorId, operator: &Operator, source: &SourceOperator, facts: &Facts) -> Self {
        let input = facts.inputs.get(&operator.name);
        let amount = input.map(|input| Amount::of_source(input, &source.source));
        Self { amount, from: [(id, operator.label())].into(), ..Self::default() }
    }

    fn through(self, id: OperatorId, operator: &Operator, kind: &OperatorKind) -> Self {
        match kind {
            OperatorKind::Transform(transform) => self.transformed(transform),
            OperatorKind::Aggregate(aggregate) => self.grouped(aggregate),
            OperatorKind::Reshape(reshape) => self.extended(id, operator, reshape),
            OperatorKind::Route(_) | OperatorKind::Cull(_) | OperatorKind::Distinct(_) => {
                Self { at_most: true, ..self }
            }
            _ => self,
        }
    }

    fn transformed(self, transform: &TransformOperator) -> Self {
        let drops = transform.transform.statements.iter().any(|statement| matches!(statement, Statement::Filter(_)));
        let amount = self.amount.as_ref().map(|amount| amount.through(&transform.transform));
        Self { amount, at_most: self.at_most || drops, ..self }
    }

    /// The groups of an aggregate: whatever its input, without a key there is one row.
    fn grouped(self, aggregate: &AggregateOperator) -> Self {
        let is_total = aggregate.aggregation.key == 0;
        let amount = match &self.amount {
            None if is_total => Some(Amount::one_row()),
            amount => amount.as_ref().map(|amount| amount.grouped(&aggregate.aggregation, &aggregate.output)),
        };
        Self { amount, at_most: !is_total, is_total, ..self }
    }

    /// The rows of a reshape: each rule may add one for each row.
    fn extended(mut self, id: OperatorId, operator: &Operator, reshape: &ReshapeOperator) -> Self {
        self.amount = self.amount.map(|amount| amount.extended(&reshape.reshape, &reshape.output));
        if reshape.reshape.adds_rows() {
            self.from.insert(id, operator.label());
            self.at_most = true;
        }
        self
    }
}

/// The expected rows of each source, and for each sink the most that can reach it.
pub fn statistics(plan: &PhysicalPlan, flows: &Flows, facts: &Facts) -> Vec<Statistic> {
    let statistic = |(id, operator): (OperatorId, &Operator)| match &operator.kind {
        OperatorKind::Source(source) => Some(source_statistic(operator, source, &flows.0[id.0 as usize], facts)),
        OperatorKind::Sink(_) => Some(sink_statistic(operator, &flows.0[id.0 as usize])),
        _ => None,
    };
    plan.operators().filter_map(statistic).collect()
}

fn source_statistic(operator: &Operator, source: &SourceOperator, own: &Flow, facts: &Facts) -> Statistic {
    let input = facts.inputs.get(&operator.name);
    let files = matcher(&source.source.matcher);
    let origin = match input {
        Some(input) => format!("{files}: {} at {}", layout::size(input.bytes), width(input, source)),
        None => format!("{files}: size not known"),
    };
    Statistic {
        node: operator.label(),
        input_bytes: input.map(|input| input.bytes),
        estimated_rows: own.rows().map(|rows| rows.usual),
        most_rows: own.rows().map(|rows| rows.most),
        at_most: false,
        origin,
    }
}

/// How long rows are taken to be, and why.
fn width(input: &Input, source: &SourceOperator) -> String {
    match &input.sample {
        Some(Sample { rows: 1, bytes, .. }) => format!("{bytes}B a row, as the first one has"),
        Some(Sample { rows, bytes, .. }) => format!("{}B a row, as the first {rows} rows have", bytes.div_ceil(*rows)),
        None => format!("{}B a row, a usual width for the declared types", usual_row(&source.source)),
    }
}

fn sink_statistic(operator: &Operator, flow: &Flow) -> Statistic {
    let from: Vec<&str> = flow.from.values().map(String::as_str).collect();
    let verb = if from.len() == 1 { "reads" } else { "read" };
    let verb = if from.iter().any(|label| label.starts_with("reshape.")) { "read and add" } else { verb };
    let repeats = if flow.repeats { ", counted for each way that a row can come" } else { "" };
    let is_one = flow.is_total && !flow.at_most;
    let origin = match is_one {
        true => "one for the whole input".to_string(),
        false => format!("no more than {} {verb}{repeats}", from.join(" and ")),
    };
    let most = flow.rows().map(|rows| rows.most);
    let (node, at_most) = (operator.label(), !is_one);
    Statistic { node, input_bytes: None, estimated_rows: most, most_rows: most, at_most, origin }
}
