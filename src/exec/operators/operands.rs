//! The values that a failed expression worked on, for messages.

use crate::analysis::hir::{Expr, ExprKind, ReshapeRule, Statement, Transform};
use crate::diagnostics::Span;
use crate::exec::batch::Batch;
use crate::exec::fault::{Fault, FaultKind};
use crate::plan::physical::{CullOperator, Operator, OperatorKind};

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
        OperatorKind::Cull(spec) => {
            (spec.cull.aggregates.iter().flat_map(|aggregate| &aggregate.args).collect(), None, &spec.schema)
        }
        _ => return String::new(),
    };
    read_by(&expressions, program, |column| &schema.columns[column].name, batch, fault)
}

/// The same of a rule of a cull that failed for a group, given the batch of groups.
pub(super) fn of_group(spec: &CullOperator, groups: &Batch, fault: &Fault) -> String {
    let predicates: Vec<&Expr> = spec.cull.rules.iter().map(|rule| &rule.predicate).collect();
    let first = spec.partition_names.len();
    let name = |column: usize| spec.partition_names.get(column).unwrap_or_else(|| &spec.cull.written[column - first]);
    read_by(&predicates, None, name, groups, fault)
}

/// The columns that the one of some expressions reads that failed.
fn read_by<'n>(
    expressions: &[&Expr],
    program: Option<&Transform>,
    name: impl Fn(usize) -> &'n String,
    batch: &Batch,
    fault: &Fault,
) -> String {
    let failed = expressions.iter().find_map(|expression| find(expression, fault.span));
    // What an aggregate came to is a column, and can have failed itself.
    let failed = failed.filter(|failed| !matches!(failed.kind, ExprKind::Column(_)));
    let columns = failed.map(|failed| columns_of(failed, program)).unwrap_or_default();
    let shown = columns.iter().filter_map(|&position| {
        let value = batch.columns.get(position)?.as_ref()?.value(fault.row);
        let text = if value.is_null() { "null".to_string() } else { preview(&value.to_string()) };
        Some(format!("{} = {text}", name(position)))
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
    expression.parts().find(|part| part.span == span)
}

/// Whether an expression reads the column at a position.
pub(super) fn reads_column(expression: &Expr, position: usize) -> bool {
    expression.parts().any(|part| matches!(&part.kind, ExprKind::Column(column) if *column == position))
}

/// The input columns that an expression reads, also by way of earlier lets and emits.
pub(super) fn columns_of(expression: &Expr, program: Option<&Transform>) -> Vec<usize> {
    let defined = |slot: usize, wanted_let: bool| {
        program?.statements.iter().find_map(|statement| match statement {
            Statement::Let { slot: s, value } if wanted_let && *s == slot => Some(value),
            Statement::Emit { slot: s, value } if !wanted_let && *s == slot => Some(value),
            _ => None,
        })
    };
    let (mut columns, mut defined_by, mut open) = (Vec::new(), Vec::<&Expr>::new(), vec![expression]);
    while let Some(part) = open.pop() {
        let value = match part.kind {
            ExprKind::Column(position) => {
                if !columns.contains(&position) {
                    columns.push(position);
                }
                continue;
            }
            ExprKind::Let(slot) => defined(slot, true),
            ExprKind::Emit(slot) => defined(slot, false),
            _ => {
                open.extend(part.children().into_iter().rev());
                continue;
            }
        };
        // Once is enough: lets that read each other twice over would be looked into without end.
        if let Some(value) = value.filter(|value| !defined_by.iter().any(|seen| std::ptr::eq(*seen, *value))) {
            defined_by.push(value);
            open.push(value);
        }
    }
    columns
}
