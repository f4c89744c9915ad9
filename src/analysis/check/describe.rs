//! Expressions and types in words, for messages.

use crate::analysis::hir::BinaryOp;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Diagnostic, Fix, Span};
use crate::syntax::cxl::ast::{Arg, Expr, ExprKind, Literal, Name};

/// The text of an expression that binds as tightly as a method call, such as `order.amount` or `name.trim()`; any other
/// stands in parentheses, as a placeholder if it is long.
pub(super) fn operand(expr: &Expr) -> String {
    const LONGEST: usize = 32;
    text(expr).unwrap_or_else(|| {
        let shown = expr.to_string();
        if shown.chars().count() <= LONGEST { format!("({shown})") } else { "(…)".to_owned() }
    })
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
        ExprKind::Call { function, args } => {
            let args = args.iter().map(argument).collect::<Option<Vec<_>>>()?;
            Some(format!("{}({})", function.text, args.join(", ")))
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

/// Whether a text without its quotes is a number, perhaps with a `-` in front.
pub(super) fn is_number_in_cxl(text: &str) -> bool {
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match magnitude.split_once('.') {
        Some((whole, fraction)) => {
            is_digits(whole) && is_digits(fraction) && magnitude.parse::<f64>().is_ok_and(f64::is_finite)
        }
        None => is_digits(magnitude) && text.parse::<i64>().is_ok(),
    }
}

/// The date literal that `2024-01-31` is meant as, which CXL reads as a difference of numbers.
pub(super) fn dashed_date(expr: &Expr) -> Option<String> {
    fn difference(expr: &Expr) -> Option<(&Expr, &Expr)> {
        match &expr.kind {
            ExprKind::Binary { op: BinaryOp::Subtract, left, right, .. } => Some((left, right)),
            _ => None,
        }
    }
    let int = |expr: &Expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let (year_and_month, day) = difference(expr)?;
    let (year, month) = difference(year_and_month)?;
    let (year, month, day) = (int(year)?, int(month)?, int(day)?);
    let date = chrono::NaiveDate::from_ymd_opt(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)?;
    (1000..10_000).contains(&year).then(|| format!("#{date}#"))
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

/// The text of a value that a method converts. What `min` and `max` find depends on the type, so it is their argument
/// that is converted; a text of their result is another matter.
pub(super) fn converted(expr: &Expr, method: &str) -> String {
    match extreme(expr) {
        Some((function, value)) if method != "to_string" => format!("{function}({}.{method}())", operand(value)),
        _ => format!("{}.{method}()", operand(expr)),
    }
}

/// The name and the argument of a call of `min` or `max`.
pub(super) fn extreme(expr: &Expr) -> Option<(&str, &Expr)> {
    match &expr.kind {
        ExprKind::Call { function, args } if matches!(function.text.as_str(), "min" | "max") => match &args[..] {
            [Arg::Expr(value)] => Some((&function.text, value)),
            _ => None,
        },
        _ => None,
    }
}

/// What to do about a finding, and the replacement that does it.
pub(super) struct Help {
    /// What to do.
    pub text: String,
    /// The replacement, where it is certain.
    pub fix: Option<Fix>,
}

impl Help {
    /// Says what to do in words alone.
    pub fn say(text: String) -> Option<Self> {
        Some(Self { text, fix: None })
    }

    /// "write `operand.method()`", with a purpose behind it. A fix where the operand can take a method as it stands;
    /// a literal is written in its other form instead, and what can't be converted gets no help.
    pub fn method(expr: &Expr, method: &str, purpose: &str) -> Option<Self> {
        let (shown, fix) = match (&expr.kind, method) {
            (ExprKind::Literal(Literal::Int(_) | Literal::Float(_)), "to_string") => {
                let shown = format!("\"{}\"", text(expr)?);
                (shown.clone(), Some(Fix { span: expr.span, replacement: shown }))
            }
            (ExprKind::Literal(Literal::String(value)), "to_int" | "to_float") => {
                is_number_in_cxl(value).then_some(())?;
                (value.clone(), Some(Fix { span: expr.span, replacement: value.clone() }))
            }
            _ => {
                let value = extreme(expr).filter(|_| method != "to_string").map_or(expr, |(_, value)| value);
                let end = Span::new(value.span.file, value.span.end, value.span.end);
                let fix = text(value).map(|_| Fix { span: end, replacement: format!(".{method}()") });
                (converted(expr, method), fix)
            }
        };
        Some(Self { text: format!("write `{shown}` {purpose}").trim_end().to_owned(), fix })
    }
}

/// Adds help and fix, where there is any.
pub(super) fn with_help(mut diagnostic: Diagnostic, help: Option<Help>) -> Diagnostic {
    if let Some(Help { text, fix }) = help {
        diagnostic = diagnostic.help(text);
        diagnostic.fix = fix;
    }
    diagnostic
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
