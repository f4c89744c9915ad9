//! The expressions of operators, each on one line with its inferred type.

use super::model::{Program, Step};
use crate::analysis::hir::{Assignment, Expr, ReshapeRule, Schema, Slot, Statement, Transform, Validation};
use crate::diagnostics::{SourceMap, Span};
use crate::plan::physical::{
    AggregateOperator, CullOperator, Operator, OperatorKind, ReshapeOperator, RouteOperator, TransformOperator,
};

/// The expressions of an operator; `None` if it has none.
pub fn program(operator: &Operator, sources: &SourceMap) -> Option<Program> {
    let steps = match &operator.kind {
        OperatorKind::Transform(transform) => transform_steps(transform, sources),
        OperatorKind::Route(route) => route_steps(route, sources),
        OperatorKind::Cull(cull) => cull_steps(cull, sources),
        OperatorKind::Aggregate(aggregate) => aggregate_steps(aggregate, sources),
        OperatorKind::Reshape(reshape) => reshape_steps(reshape, sources),
        OperatorKind::Distinct(_) => vec![distinct_step(operator.span, sources)],
        OperatorKind::Source(_)
        | OperatorKind::Merge(_)
        | OperatorKind::Sort(_)
        | OperatorKind::Park(_)
        | OperatorKind::Sink(_)
        | OperatorKind::Discard(_) => Vec::new(),
    };
    (!steps.is_empty()).then(|| Program { node: operator.label(), steps })
}

fn transform_steps(operator: &TransformOperator, sources: &SourceMap) -> Vec<Step> {
    let transform = &operator.transform;
    let checks = transform.validations.iter().map(|validation| validation_step(validation, sources));
    let written = transform.statements.iter().filter(|statement| !hands_on_let(transform, statement));
    let statements = written.map(|statement| statement_step(transform, statement, sources));
    checks.chain(statements).collect()
}

/// Whether no author wrote the statement: it hands a let on to what stands behind a `distinct`. Only such names have a
/// blank.
fn hands_on_let(transform: &Transform, statement: &Statement) -> bool {
    matches!(statement, Statement::Emit { slot, .. } if transform.emits[*slot].name.contains(' '))
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
        Statement::Distinct { span, .. } => distinct_step(*span, sources),
    }
}

fn distinct_step(span: Span, sources: &SourceMap) -> Step {
    let text = one_line(sources, span);
    let key = text.strip_prefix("distinct").unwrap_or(&text).trim();
    let text = if key.is_empty() { "by every input column" } else { key };
    Step { kind: "distinct", target: None, text: text.to_string(), ty: None }
}

fn aggregate_steps(operator: &AggregateOperator, sources: &SourceMap) -> Vec<Step> {
    let aggregation = &operator.aggregation;
    // What emits there are the arguments, which stand in the emits over a group.
    let rows = aggregation.rows.statements.iter().filter(|statement| !matches!(statement, Statement::Emit { .. }));
    let rows = rows.map(|statement| statement_step(&aggregation.rows, statement, sources));
    let results = aggregation.results.statements.iter();
    let results = results.map(|statement| statement_step(&aggregation.results, statement, sources));
    let names = aggregation.grouped.columns[..aggregation.key].iter().filter(|column| !column.hidden);
    let names = names.map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    let text = if names.is_empty() { "the whole input".to_string() } else { names };
    rows.chain([Step { kind: "group by", target: None, text, ty: None }]).chain(results).collect()
}

fn reshape_steps(operator: &ReshapeOperator, sources: &SourceMap) -> Vec<Step> {
    let rules = operator.reshape.rules.iter();
    rules.flat_map(|rule| rule_steps(rule, &operator.input, sources)).collect()
}

fn rule_steps(rule: &ReshapeRule, schema: &Schema, sources: &SourceMap) -> Vec<Step> {
    let assign = |kind, assignment: &Assignment| {
        expr_step(kind, Some(schema.columns[assignment.column].name.clone()), &assignment.value, sources)
    };
    let set = rule.set.iter().map(|assignment| assign("set", assignment));
    let added = rule.synthesize.iter().flat_map(|synthesis| {
        let text = if synthesis.copies_trigger { "a copy of the row" } else { "a row of nulls" };
        let row = Step { kind: "add", target: None, text: text.to_string(), ty: None };
        [row].into_iter().chain(synthesis.overrides.iter().map(|assignment| assign("with", assignment)))
    });
    let when = expr_step("when", Some(rule.name.clone()), &rule.when, sources);
    [when].into_iter().chain(set).chain(added).collect()
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
