//! Expressions and types in words, for messages.

use crate::analysis::types::{Kind, Type};
use crate::syntax::cxl::ast::{Arg, Expr, ExprKind, Literal, Name};

/// The text of an expression that binds as tightly as a method call, such as `order.amount` or `name.trim()`; a
/// placeholder for any other.
pub(super) fn operand(expr: &Expr) -> String {
    text(expr).unwrap_or_else(|| "(…)".to_owned())
}

/// The text of an expression that binds as tightly as a method call; `None` for others.
pub(super) fn text(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(value) => literal(value),
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Path(parts) => Some(dotted(parts)),
        ExprKind::System { path, args: None } => Some(format!("${}", dotted(path))),
        ExprKind::Now => Some("now".to_owned()),
        ExprKind::Method { receiver, method, args } => {
            let args = args.iter().flatten().map(argument).collect::<Option<Vec<_>>>()?;
            Some(format!("{}.{}({})", text(receiver)?, method.text, args.join(", ")))
        }
        _ => None,
    }
}

/// The text of a literal, if it is short.
pub(super) fn literal(value: &Literal) -> Option<String> {
    Some(match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::String(value) if value.len() <= 24 && !value.contains(['"', '\\', '\n', '\r', '\t']) => {
            format!("\"{value}\"")
        }
        Literal::String(_) => return None,
        Literal::Date(days) => format!("#{}#", chrono::NaiveDate::from_epoch_days(*days)?),
    })
}

/// The type with its article: `a string`, `an int`, `a nullable int`, `null`.
pub(super) fn article(ty: &Type) -> String {
    match &ty.kind {
        Kind::Null => "null".to_owned(),
        Kind::Any => "a value of unknown type".to_owned(),
        Kind::Int => "an int".to_owned(),
        Kind::Array(_) => format!("an {}", ty.kind),
        kind => format!("a {kind}"),
    }
}

fn argument(arg: &Arg) -> Option<String> {
    match arg {
        Arg::Expr(expr) => text(expr),
        Arg::Closure { .. } => None,
        Arg::Star(_) => Some("*".to_owned()),
    }
}

fn dotted(parts: &[Name]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".")
}
