//! The expressions of operators, each on one line with its inferred type.

use super::model::{Program, Step};
use crate::analysis::hir::{Expr, Slot, Statement, Transform, Validation};
use crate::diagnostics::{SourceMap, Span};
use crate::plan::physical::{CullOperator, Operator, OperatorKind, RouteOperator};

/// The expressions of an operator; `None` if it has none.
pub fn program(operator: &Operator, sources: &SourceMap) -> Option<Program> {
    let steps = match &operator.kind {
        OperatorKind::Aggregate(_) | OperatorKind::Reshape(_) | OperatorKind::Distinct(_) => todo!(),
        OperatorKind::Transform(transform) => transform_steps(&transform.transform, sources),
        OperatorKind::Route(route) => route_steps(route, sources),
        OperatorKind::Cull(cull) => cull_steps(cull, sources),
        OperatorKind::Source(_)
        | OperatorKind::Merge(_)
        | OperatorKind::Sort(_)
        | OperatorKind::Park(_)
        | OperatorKind::Sink(_)
        | OperatorKind::Discard(_) => Vec::new(),
    };
    (!steps.is_empty()).then(|| Program { node: operator.label(), steps })
}

fn transform_steps(transform: &Transform, sources: &SourceMap) -> Vec<Step> {
    let checks = transform.validations.iter().map(|validation| validation_step(validation, sources));
    let statements = transform.statements.iter().map(|statement| statement_step(transform, statement, sources));
    checks.chain(statements).collect()
}

fn validation_step(validation: &Validation, sources: &SourceMap) -> Step {
    let kind = if validation.warn_only { "warn unless" } else { "check" };
    let mut step = expr_step(kind, validation.name.clone(), &validation.check, sources);
    if let ("not_empty", Some(field)) = (step.text.as_str(), &validation.field) {
        step.text = format!("{field} is not empty");
    }
    step
}

fn statement_step(transform: &Transform, statement: &Statement, sources: &SourceMap) -> Step {
    let target = |slots: &[Slot], slot: usize| Some(slots[slot].name.clone());
    match statement {
        Statement::Let { slot, value } => expr_step("let", target(&transform.lets, *slot), value, sources),
        Statement::Emit { slot, value } => expr_step("emit", target(&transform.emits, *slot), value, sources),
        Statement::Filter(condition) => expr_step("filter", None, condition, sources),
        Statement::Discard(value) => expr_step("evaluate", None, value, sources),
        Statement::Distinct { span, .. } => {
            let text = one_line(sources, *span);
            let key = text.strip_prefix("distinct").unwrap_or(&text).trim();
            let text = if key.is_empty() { "by every input column" } else { key };
            Step { kind: "distinct", target: None, text: text.to_string(), ty: None }
        }
    }
}

fn route_steps(route: &RouteOperator, sources: &SourceMap) -> Vec<Step> {
    let branches = route.branches.iter().enumerate().map(|(position, branch)| {
        let target = Some(branch.clone());
        match route.route.conditions.get(position) {
            Some(condition) => expr_step("branch", target, condition, sources),
            None => Step { kind: "branch", target, text: "every other row".to_string(), ty: None },
        }
    });
    branches.collect()
}

fn cull_steps(cull: &CullOperator, sources: &SourceMap) -> Vec<Step> {
    let rules = cull.cull.rules.iter();
    rules.map(|rule| expr_step("drop group when", Some(rule.name.clone()), &rule.predicate, sources)).collect()
}

fn expr_step(kind: &'static str, target: Option<String>, expr: &Expr, sources: &SourceMap) -> Step {
    Step { kind, target, text: one_line(sources, expr.span), ty: Some(expr.ty.to_string()) }
}

/// The text of a span with its blanks and line breaks folded.
fn one_line(sources: &SourceMap, span: Span) -> String {
    sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
}
