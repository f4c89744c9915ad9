//! What the dead letters of one operator look like: known before the run.

use crate::analysis::hir::Schema;
use crate::exec::batch::{Batch, Column};
use crate::exec::value::Value;
use crate::formats::csv::{self, Binding};
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan};

/// The fixed parts of an operator's dead letters.
#[derive(Debug)]
pub(crate) struct LetterShape {
    /// The number of the file that they are written to; `None` if they are only counted.
    pub file: Option<usize>,
    /// Whether category and detail are written.
    pub reason: bool,
    /// Whether raw text and record columns are written.
    pub record: bool,
    /// `_cxl_dlq_stage`
    pub stage: String,
    /// `_cxl_dlq_route`
    pub route: String,
    /// For each record column, where the operator's input has it.
    cells: Vec<Cell>,
}

/// Where a record column comes from.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// The operator's input has no such column.
    Absent,
    /// The input's column, and the source's column whose value it still holds, if it does.
    Column(usize, Option<usize>),
}

impl LetterShape {
    /// The shape for rows that `maker` made, a source or an aggregate, at `operator`; `route` is the branch of the last
    /// route passed. What an aggregate made and what fails at that very aggregate is a group.
    pub fn new(plan: &PhysicalPlan, maker: OperatorId, operator: OperatorId, route: Option<&str>) -> Self {
        let dead_letters = &plan.dead_letters;
        let number = dead_letters.routes.iter().find(|(other, _)| *other == maker).and_then(|(_, file)| *file);
        let file = number.map(|file| &dead_letters.files[file]);
        let kind = &plan.operator(operator).kind;
        let stage = match kind {
            OperatorKind::Aggregate(_) => format!("aggregate:{}", plan.operator(operator).name),
            OperatorKind::Source(_) => "source".to_string(),
            OperatorKind::Route(_) => "route_eval".to_string(),
            OperatorKind::Transform(_) | OperatorKind::Distinct(_) => {
                format!("transform:{}", plan.operator(operator).node())
            }
            OperatorKind::Reshape(_) => format!("reshape:{}", plan.operator(operator).node()),
            OperatorKind::Cull(_) => format!("cull:{}", plan.operator(operator).name),
            OperatorKind::Merge(_)
            | OperatorKind::Sort(_)
            | OperatorKind::Park(_)
            | OperatorKind::Sink(_)
            | OperatorKind::Discard(_) => String::new(),
        };
        let columns = file.filter(|file| file.include_source_row).map(|file| file.columns.as_slice());
        let group = match kind {
            OperatorKind::Aggregate(spec) if maker == operator => Some(&spec.aggregation),
            _ => None,
        };
        let schema = group.map(|aggregation| aggregation.groups.as_ref()).or_else(|| input_schema(kind));
        let inputs = plan.inputs(operator);
        let origin = |position: usize| {
            let (_, edge) = inputs.first()?;
            edge.provenance.origins.get(position).copied().flatten()
        };
        let cell = |name: &String| match (schema.and_then(|schema| schema.position(name)), group) {
            (Some(position), None) => Cell::Column(position, origin(position)),
            (Some(position), Some(aggregation)) if position < aggregation.key => Cell::Column(position, None),
            _ => Cell::Absent,
        };
        Self {
            file: number,
            reason: file.is_some_and(|file| file.include_reason),
            record: columns.is_some(),
            stage,
            route: route.unwrap_or_default().to_string(),
            cells: columns.unwrap_or_default().iter().map(cell).collect(),
        }
    }

    /// The record columns of a record that could not be typed: its cells as they stand in the file.
    pub fn raw_cells(&self, fields: &[String], binding: &Binding) -> Vec<String> {
        let text = |cell: &Cell| match cell {
            Cell::Column(position, _) => {
                let field = binding.declared.get(*position).and_then(|field| fields.get(*field));
                field.cloned().unwrap_or_default()
            }
            Cell::Absent => String::new(),
        };
        self.cells.iter().map(text).collect()
    }

    /// The record columns of a row as it entered the operator. `decode_again` gives the record's source columns, while
    /// they are at hand.
    pub fn row_cells(&self, batch: &Batch, row: usize, decode_again: impl Fn() -> Vec<Option<Column>>) -> Vec<String> {
        let mut again = None;
        let mut text = |cell: &Cell| {
            let Cell::Column(position, source) = cell else { return String::new() };
            if let Some(column) = batch.columns.get(*position).and_then(Option::as_ref) {
                return cell_text(&column.value(row));
            }
            let Some(source) = source else { return String::new() };
            let column = again.get_or_insert_with(&decode_again).get(*source).and_then(Option::as_ref);
            column.map(|column| cell_text(&column.value(0))).unwrap_or_default()
        };
        self.cells.iter().map(&mut text).collect()
    }
}

fn input_schema(kind: &OperatorKind) -> Option<&Schema> {
    match kind {
        OperatorKind::Aggregate(spec) => Some(&spec.input),
        OperatorKind::Distinct(spec) => Some(&spec.schema),
        OperatorKind::Source(spec) => Some(&spec.schema),
        OperatorKind::Transform(spec) => Some(&spec.input),
        OperatorKind::Route(spec) => Some(&spec.schema),
        OperatorKind::Cull(spec) => Some(&spec.schema),
        OperatorKind::Reshape(spec) => Some(&spec.input),
        OperatorKind::Merge(_)
        | OperatorKind::Sort(_)
        | OperatorKind::Park(_)
        | OperatorKind::Sink(_)
        | OperatorKind::Discard(_) => None,
    }
}

/// A value as a dead letter shows it: as a sink writes it, or as JSON where a sink can't.
pub(crate) fn cell_text(value: &Value) -> String {
    csv::cell_text(value).unwrap_or_else(|| json(value).to_string())
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Float(f) => (*f).into(),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
        Value::Decimal { .. } | Value::String(_) | Value::Date(_) | Value::DateTime(_) => value.to_string().into(),
    }
}
