//! What to do about operands that an operator can't take.

use super::describe::{Help, article, converted, dashed_date, extreme, is_number_in_cxl, operand, text};
use super::operators::{Operand, is_number};
use crate::analysis::hir::{BinaryOp, Literal};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Diagnostic, Fix};
use crate::syntax::cxl::ast;

/// An operand for messages: the name of an emit stands for the call that the emit gives.
pub(super) fn spelled_out<'e>(operand: &Operand<'e>, emitted: &'e Option<ast::Expr>) -> Operand<'e> {
    (operand.0.clone(), emitted.as_ref().unwrap_or(operand.1))
}

/// Leaves out a fix where an operand is the name of an emit: it would change what that emit writes.
pub(super) fn without_distant_fix(diagnostic: Diagnostic, emitted: &[Option<ast::Expr>]) -> Diagnostic {
    match emitted.iter().any(Option::is_some) {
        true => Diagnostic { fix: None, ..diagnostic },
        false => diagnostic,
    }
}

/// How to make operands ones that `+ - * / %` take.
pub(super) fn arithmetic_help(op: BinaryOp, left: &Operand, right: &Operand) -> Option<Help> {
    let (l, r) = (&left.0.ty.kind, &right.0.ty.kind);
    match (op, l, r) {
        // The largest text, as which a number is meant.
        (BinaryOp::Add, Kind::String, _) if extreme(left.1).is_some() && is_number(r) => {
            Help::say(to_number(l, r, left.1)?)
        }
        (BinaryOp::Add, _, Kind::String) if extreme(right.1).is_some() && is_number(l) => {
            Help::say(to_number(r, l, right.1)?)
        }
        (BinaryOp::Add, Kind::String, _) => Help::method(right.1, "to_string", "to join texts"),
        (BinaryOp::Add, _, Kind::String) => Help::method(left.1, "to_string", "to join texts"),
        (BinaryOp::Multiply, Kind::String, Kind::Int) if to_number(l, r, left.1).is_none() => {
            Help::say(format!("to repeat a text, write `{}.repeat({})`", operand(left.1), operand(right.1)))
        }
        (_, Kind::String, _) => Help::say(to_number(l, r, left.1)?),
        (_, _, Kind::String) => Help::say(to_number(r, l, right.1)?),
        (BinaryOp::Add, Kind::Date | Kind::DateTime, Kind::Int) => {
            Help::say(format!("write `{}.add_days({})`", operand(left.1), operand(right.1)))
        }
        (BinaryOp::Subtract, Kind::Date | Kind::DateTime, Kind::Int) => {
            Help::say(format!("write `{}.add_days(-{})`", operand(left.1), operand(right.1)))
        }
        (BinaryOp::Subtract, Kind::Date | Kind::DateTime, Kind::Date | Kind::DateTime) => {
            Help::say(format!("write `{}.diff_days({})` for the days between", operand(left.1), operand(right.1)))
        }
        (_, Kind::Bool, _) => Help::method(left.1, "to_int", "to count with 1 and 0"),
        (_, _, Kind::Bool) => Help::method(right.1, "to_int", "to count with 1 and 0"),
        _ => None,
    }
}

/// How to compare `left` with `right`, seen from the left.
pub(super) fn comparison_help(left: &Operand, right: &Operand) -> Option<Help> {
    literal_help(left, right).or_else(|| match (&left.0.ty.kind, &right.0.ty.kind) {
        (Kind::String, Kind::Int) => Help::method(left.1, "to_int", "to compare numbers"),
        (Kind::String, Kind::Float) => Help::method(left.1, "to_float", "to compare numbers"),
        (Kind::String, Kind::Decimal { .. }) => Help::method(left.1, "to_decimal", "to compare numbers"),
        (Kind::Date | Kind::DateTime, Kind::Int) => {
            // Outside of quotes and blocks YAML would take the `#` for a comment, so the replacement is not certain.
            Help::say(format!("write the date as `{}`", dashed_date(right.1)?))
        }
        (Kind::Date, Kind::String) => Help::method(right.1, "to_date", "to compare dates"),
        (Kind::DateTime, Kind::String) => Help::method(right.1, "to_datetime", "to compare times"),
        (Kind::DateTime, Kind::Date) => Help::method(left.1, "to_date", "to compare days"),
        (Kind::Bool, Kind::Int) => {
            Help::say(format!("make a bool of the int, for instance `{} != 0`", operand(right.1)))
        }
        (Kind::Bool, Kind::String) => Help::method(right.1, "to_bool", "to compare bools"),
        _ => None,
    })
}

/// How to compare `left` with what a literal on the right seems to mean.
fn literal_help(left: &Operand, right: &Operand) -> Option<Help> {
    let ast::ExprKind::Literal(literal) = &right.1.kind else { return None };
    let fix = |replacement: String| Some(Fix { span: right.0.span, replacement });
    match (&left.0.ty.kind, &right.0.ty.kind, literal) {
        (_, Kind::String, Literal::String(text)) if text.is_empty() => Some(empty_text_help(left, right)),
        (Kind::String, Kind::Int | Kind::Float, _) => {
            let number = operand(right.1);
            let shown = converted(left.1, if right.0.ty.kind == Kind::Int { "to_int" } else { "to_float" });
            Help::say(format!("write `{shown}` to compare numbers, or `\"{number}\"` to compare texts"))
        }
        (Kind::Date | Kind::DateTime, Kind::String, Literal::String(text))
            if chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok() && text.len() == 10 =>
        {
            let date = format!("#{text}#");
            Some(Help { text: format!("write the date as `{date}`"), fix: fix(date) })
        }
        (Kind::Bool, Kind::String, Literal::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Some(Help { text: format!("write `{text}` without quotes"), fix: fix(text.clone()) })
        }
        (Kind::Bool, Kind::Int, _) => Help::say(match text(left.1) {
            Some(shown) => format!("use `{shown}` or `not {shown}` as it is"),
            None => format!("use `{}` as it is", operand(left.1)),
        }),
        _ => None,
    }
}

/// How to ask for what an empty text on the right seems to mean.
fn empty_text_help(left: &Operand, right: &Operand) -> Help {
    let Type { kind, nullable } = &left.0.ty;
    match nullable {
        true => Help {
            text: "an empty cell is null here: write `null`".to_owned(),
            fix: Some(Fix { span: right.0.span, replacement: "null".to_owned() }),
        },
        false => Help {
            text: format!(
                "{} is never empty; a column that may be is declared `nullable({kind})`",
                article(&left.0.ty)
            ),
            fix: None,
        },
    }
}

/// How to make a number of a value of `kind` that meets one of kind `other`.
pub(super) fn to_number(kind: &Kind, other: &Kind, expr: &ast::Expr) -> Option<String> {
    let shown = |method: &str| converted(expr, method);
    match (kind, &expr.kind) {
        (Kind::String, ast::ExprKind::Literal(Literal::String(text))) => {
            // Whole numbers that are too large for CXL have no other form.
            let other_form = || text.contains(['.', '+', 'e', 'E']) && text.parse::<f64>().is_ok_and(f64::is_finite);
            match is_number_in_cxl(text) {
                true => Some(format!("write `{text}` without quotes")),
                false => other_form().then(|| "write it without quotes and in plain digits, such as `0.5`".to_owned()),
            }
        }
        (Kind::String, _) if *other == Kind::Float => Some(format!("write `{}`", shown("to_float"))),
        (Kind::String, _) if matches!(other, Kind::Decimal { .. }) => Some(format!("write `{}`", shown("to_decimal"))),
        (Kind::String, _) => {
            let [int, float, decimal] = ["to_int", "to_float", "to_decimal"].map(shown);
            Some(format!("write `{int}`, `{float}` or `{decimal}`"))
        }
        (Kind::Bool, _) => Some(format!("write `{}` for 1 and 0", shown("to_int"))),
        _ => None,
    }
}
