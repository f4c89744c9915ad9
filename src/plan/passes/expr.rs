//! What passes ask of typed expressions: which columns one reads, and whether it can fail on a row.

use crate::analysis::functions::Function;
use crate::analysis::hir::{
    Aggregate, AggregateFunction, Aggregation, BinaryOp, Cull, Expr, ExprKind, Reshape, Route, Statement, Transform,
    Variable,
};
use crate::analysis::types::Kind;
use crate::plan::physical::ColumnSet;

/// Every expression of a transform: its checks with the columns they are about, then its statements.
pub fn of_transform(transform: &Transform) -> Vec<&Expr> {
    let checks = transform.validations.iter().flat_map(|entry| [&entry.check].into_iter().chain(&entry.column));
    checks.chain(transform.statements.iter().flat_map(Statement::exprs)).collect()
}

/// The arguments of aggregates, which are computed on each row.
pub fn of_aggregates(aggregates: &[Aggregate]) -> impl Iterator<Item = &Expr> {
    aggregates.iter().flat_map(|aggregate| &aggregate.args)
}

/// Every expression of a reshape; each reads the row as it came.
pub fn of_reshape(reshape: &Reshape) -> Vec<&Expr> {
    let rules = reshape.rules.iter().flat_map(|rule| {
        let overrides = rule.synthesize.iter().flat_map(|synthesis| &synthesis.overrides);
        let values = rule.set.iter().chain(overrides).map(|assignment| &assignment.value);
        [&rule.when].into_iter().chain(values)
    });
    rules.collect()
}

/// The keys of a transform's `distinct` statements, in order.
pub fn distinct_keys(transform: &Transform) -> impl Iterator<Item = &[Expr]> {
    transform.statements.iter().filter_map(|statement| match statement {
        Statement::Distinct { key, .. } => Some(key.as_slice()),
        _ => None,
    })
}

/// Adds the input columns that an expression reads.
pub fn add_reads(expr: &Expr, columns: &mut ColumnSet) {
    for part in expr.parts() {
        if let ExprKind::Column(position) = part.kind {
            columns.insert(position);
        }
    }
}

/// Whether one of these expressions reads `$source.*`.
pub fn reads_source_variable<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> bool {
    let is_one = |part: &Expr| {
        matches!(part.kind, ExprKind::Variable(Variable::SourceFile | Variable::SourceName | Variable::SourceRow))
    };
    exprs.into_iter().any(|expr| expr.parts().any(is_one))
}

/// Whether a row can fail in a transform. A wrong `true` costs storage, a wrong `false` a cell of a dead letter, so
/// only what surely can't fail says `false`.
pub fn transform_can_fail(transform: &Transform) -> bool {
    transform.validations.iter().any(|validation| !validation.warn_only)
        || of_transform(transform).into_iter().any(can_fail)
}

/// Whether a row can fail in front of an aggregate's groups, by the same rule: in an argument, or as it has no key.
pub fn aggregation_row_can_fail(aggregation: &Aggregation) -> bool {
    let mut key = aggregation.grouped.columns[..aggregation.key].iter();
    transform_can_fail(&aggregation.rows) || !key.all(|column| is_key(&column.ty.kind))
}

/// Whether a group of an aggregate can fail, by the same rule.
pub fn aggregation_group_can_fail(aggregation: &Aggregation) -> bool {
    aggregation.aggregates.iter().any(result_can_fail) || transform_can_fail(&aggregation.results)
}

/// Whether a cull can't decide on a group, by the same rule. A row without a key stops the run.
pub fn cull_group_can_fail(cull: &Cull) -> bool {
    of_aggregates(&cull.aggregates).any(can_fail)
        || cull.aggregates.iter().any(result_can_fail)
        || cull.rules.iter().any(|rule| can_fail(&rule.predicate))
}

/// Whether a group of a reshape can fail, by the same rule: in an expression, or as two rules set one column.
pub fn reshape_group_can_fail(reshape: &Reshape) -> bool {
    let conflict = |(position, column): (usize, usize)| {
        reshape.rules[..position].iter().any(|rule| rule.set.iter().any(|other| other.column == column))
    };
    let set = reshape.rules.iter().enumerate();
    let mut set = set.flat_map(|(position, rule)| rule.set.iter().map(move |entry| (position, entry.column)));
    of_reshape(reshape).into_iter().any(can_fail) || set.any(conflict)
}

/// Whether a group can have no result: a sum that does not fit, or a list that gets too long.
fn result_can_fail(aggregate: &Aggregate) -> bool {
    let kind = aggregate.args.first().map(|arg| &arg.ty.kind);
    match aggregate.function {
        AggregateFunction::Sum | AggregateFunction::Collect => true,
        AggregateFunction::Avg => !matches!(kind, Some(Kind::Int | Kind::Float)),
        AggregateFunction::WeightedAvg => !matches!(kind, Some(Kind::Int)),
        AggregateFunction::CountRows | AggregateFunction::Count | AggregateFunction::Min | AggregateFunction::Max => {
            false
        }
    }
}

/// Whether a row can fail in a route, by the same rule.
pub fn route_can_fail(route: &Route) -> bool {
    route.conditions.iter().any(can_fail)
}

/// Whether every value of the kind can be a key: a NaN, an array or a map can't.
pub fn is_key(kind: &Kind) -> bool {
    !matches!(kind, Kind::Float | Kind::Array(_) | Kind::Map | Kind::Any)
}

/// Whether the expression can fail on a row, by the same rule.
pub fn can_fail(expr: &Expr) -> bool {
    expr.parts().any(|part| match &part.kind {
        ExprKind::Arithmetic { op, .. } => !arithmetic_is_total(*op, &part.ty.kind),
        ExprKind::Negate(_) => !matches!(part.ty.kind, Kind::Float | Kind::Decimal { .. }),
        ExprKind::Call { function, .. } => !is_total(*function),
        _ => false,
    })
}

fn arithmetic_is_total(op: BinaryOp, kind: &Kind) -> bool {
    match kind {
        Kind::Float => matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply),
        Kind::String => true,
        _ => false,
    }
}

/// Methods that give a value or null for every row.
fn is_total(function: Function) -> bool {
    use Function::*;
    matches!(
        function,
        Upper
            | Lower
            | Trim
            | TrimStart
            | TrimEnd
            | StartsWith
            | EndsWith
            | Contains
            | Substring
            | Left
            | Right
            | Reverse
            | Length
            | Split
            | ToString
            | TypeOf
            | IsNull
            | IsEmpty
            | Year
            | Month
            | Day
            | Hour
            | Minute
            | Second
            | TryInt
            | TryFloat
            | TryDecimal
            | TryBool
            | TryDate
            | TryDateTime
            | FileName
            | FileStem
            | Extension
            | Parent
            | ParentName
    )
}
