//! What passes ask of typed expressions: which columns one reads, and whether it can fail on a row.

use crate::analysis::functions::Function;
use crate::analysis::hir::{BinaryOp, Cull, Expr, ExprKind, Route, Statement, Transform, Variable};
use crate::analysis::types::Kind;
use crate::plan::physical::ColumnSet;

/// Every expression of a transform: its checks with the columns they are about, then its statements.
pub fn of_transform(transform: &Transform) -> Vec<&Expr> {
    let checks = transform.validations.iter().flat_map(|entry| [&entry.check].into_iter().chain(&entry.column));
    checks.chain(transform.statements.iter().flat_map(Statement::exprs)).collect()
}

/// The arguments of a cull's aggregates, which are computed on each row.
pub fn of_aggregates(cull: &Cull) -> impl Iterator<Item = &Expr> {
    cull.aggregates.iter().flat_map(|aggregate| &aggregate.args)
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
    any(expr, &mut |part| {
        if let ExprKind::Column(position) = part.kind {
            columns.insert(position);
        }
        false
    });
}

/// Whether one of these expressions reads `$source.*`.
pub fn reads_source_variable<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> bool {
    let is_one = |part: &Expr| {
        matches!(part.kind, ExprKind::Variable(Variable::SourceFile | Variable::SourceName | Variable::SourceRow))
    };
    exprs.into_iter().any(|expr| any(expr, &mut |part| is_one(part)))
}

/// Whether a row can fail in a transform. A wrong `true` costs storage, a wrong `false` a cell of a dead letter, so
/// only what surely can't fail says `false`.
pub fn transform_can_fail(transform: &Transform) -> bool {
    transform.validations.iter().any(|validation| !validation.warn_only)
        || of_transform(transform).into_iter().any(can_fail)
        || distinct_keys(transform).flatten().any(|key| !is_key(&key.ty.kind))
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
    any(expr, &mut |part| match &part.kind {
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

/// Whether `test` holds for the expression or one inside it, outermost first.
fn any(expr: &Expr, test: &mut impl FnMut(&Expr) -> bool) -> bool {
    test(expr) || expr.children().into_iter().any(|child| any(child, test))
}
