//! How two types meet, and the conversions that make values of them.

use crate::analysis::hir::{Expr, ExprKind};
use crate::analysis::types::{Kind, Type};

/// The type that holds the values of both; `None` if there is none.
///
/// Null makes the other type nullable, an int becomes the float or decimal beside it, decimals keep a scale only if
/// they share it, and `any` takes in everything. What failed meets with everything and gives what failed.
pub fn unify(left: &Type, right: &Type) -> Option<Type> {
    let nullable = left.nullable || right.nullable;
    Some(Type { kind: unify_kinds(&left.kind, &right.kind)?, nullable })
}

/// The kind that holds the values of both; see [`unify`].
pub fn unify_kinds(left: &Kind, right: &Kind) -> Option<Kind> {
    Some(match (left, right) {
        (Kind::Error, _) | (_, Kind::Error) => Kind::Error,
        (Kind::Any, _) | (_, Kind::Any) => Kind::Any,
        (Kind::Null, other) | (other, Kind::Null) => other.clone(),
        (Kind::Decimal { scale: left }, Kind::Decimal { scale: right }) => {
            Kind::Decimal { scale: if left == right { *left } else { None } }
        }
        (Kind::Decimal { scale }, Kind::Int) | (Kind::Int, Kind::Decimal { scale }) => {
            Kind::Decimal { scale: scale.filter(|scale| *scale == 0) }
        }
        (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
        (Kind::Array(left), Kind::Array(right)) => Kind::Array(Box::new(unify_kinds(left, right).unwrap_or(Kind::Any))),
        (left, right) if left == right => left.clone(),
        _ => return None,
    })
}

/// The kind of a value that may be of either: where they don't meet, it is known only at run time.
pub fn unify_or_any(left: &Type, right: &Type) -> Type {
    unify(left, right).unwrap_or_else(|| Type::of(Kind::Any))
}

/// The expression as a value of `kind`, which its own kind must unify to.
pub fn convert(expr: Expr, kind: &Kind) -> Expr {
    if expr.ty.kind == *kind || expr.ty.is_error() || *kind == Kind::Error {
        return expr;
    }
    let ty = Type { kind: kind.clone(), nullable: expr.ty.nullable || *kind == Kind::Any };
    Expr { span: expr.span, ty, kind: ExprKind::Convert(Box::new(expr)) }
}
