//! The values that a failed expression worked on, for messages.

use crate::analysis::hir::{Expr, ExprKind, ReshapeRule, Statement, Transform};
use crate::diagnostics::Span;
use crate::exec::batch::Batch;
use crate::exec::fault::{Fault, FaultKind};
use crate::plan::physical::{Operator, OperatorKind};

use super::fault_text::preview;

/// The columns that a failed expression reads, with their values in the failed row: `km = 5, mins = 0`.
pub(super) fn of(operator: &Operator, batch: &Batch, fault: &Fault) -> String {
    let (expressions, program, schema) = match &operator.kind {
        OperatorKind::Transform(spec) => {
            let checks = spec.transform.validations.iter().map(|validation| &validation.check);
            let all = checks.chain(spec.transform.statements.iter().flat_map(Statement::exprs));
            (all.collect::<Vec<_>>(), Some(&spec.transform), &spec.input)
        }
        OperatorKind::Aggregate(spec) => {
            let aggregation = &spec.aggregation;
            let (program, schema) = match fault.kind {
                FaultKind::GroupFailed => (&aggregation.results, &aggregation.groups),
                _ => (&aggregation.rows, &spec.input),
            };
            (program.statements.iter().flat_map(Statement::exprs).collect(), Some(program), schema)
        }
        OperatorKind::Route(spec) => (spec.route.conditions.iter().collect(), None, &spec.schema),
        OperatorKind::Reshape(spec) => (spec.reshape.rules.iter().flat_map(of_rule).collect(), None, &spec.input),
        _ => return String::new(),
    };
    let mut columns = Vec::new();
    let failed = expressions.into_iter().find_map(|expression| find(expression, fault.span));
    // What an aggregate came to is a column, and can have failed itself.
    if let Some(failed) = failed.filter(|failed| !matches!(failed.kind, ExprKind::Column(_))) {
        collect_columns(failed, program, &mut columns);
    }
    let shown = columns.iter().filter_map(|&position| {
        let value = batch.columns.get(position)?.as_ref()?.value(fault.row);
        let text = if value.is_null() { "null".to_string() } else { preview(&value.to_string()) };
        Some(format!("{} = {text}", schema.columns[position].name))
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn of_rule(rule: &ReshapeRule) -> Vec<&Expr> {
    let overrides = rule.synthesize.iter().flat_map(|synthesis| &synthesis.overrides);
    let values = rule.set.iter().chain(overrides).map(|assignment| &assignment.value);
    [&rule.when].into_iter().chain(values).collect()
}

/// The expression that stands at `span`.
fn find(expression: &Expr, span: Span) -> Option<&Expr> {
    if expression.span == span {
        return Some(expression);
    }
    expression.children().into_iter().find_map(|child| find(child, span))
}

/// Whether an expression reads the column at a position.
pub(super) fn reads_column(expression: &Expr, position: usize) -> bool {
    matches!(&expression.kind, ExprKind::Column(column) if *column == position)
        || expression.children().into_iter().any(|child| reads_column(child, position))
}

/// The input columns that an expression reads, also by way of earlier lets and emits.
fn collect_columns(expression: &Expr, program: Option<&Transform>, columns: &mut Vec<usize>) {
    let defined = |slot: usize, wanted_let: bool| {
        program?.statements.iter().find_map(|statement| match statement {
            Statement::Let { slot: s, value } if wanted_let && *s == slot => Some(value),
            Statement::Emit { slot: s, value } if !wanted_let && *s == slot => Some(value),
            _ => None,
        })
    };
    match &expression.kind {
        ExprKind::Column(position) if !columns.contains(position) => columns.push(*position),
        ExprKind::Let(slot) => defined(*slot, true).into_iter().for_each(|e| collect_columns(e, program, columns)),
        ExprKind::Emit(slot) => defined(*slot, false).into_iter().for_each(|e| collect_columns(e, program, columns)),
        _ => expression.children().into_iter().for_each(|child| collect_columns(child, program, columns)),
    }
}
