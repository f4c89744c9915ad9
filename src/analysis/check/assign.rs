//! Values that are put into columns which keep their types: what a rule of a reshape writes.

use super::describe::{Help, article, dashed_date, operand, with_help};
use super::operators::is_number;
use super::unify::unify;
use super::{Checker, failed, kinds_of, with_branches};
use crate::analysis::hir::{Column, Expr, Literal};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Fix};
use crate::syntax::cxl::ast;

impl Checker<'_> {
    /// Checks a value that `list` ("`set` of rule `cap`") puts into a column; `None` if the column isn't known. The
    /// column's type becomes one that also holds the value; E200 if its kind can't.
    pub fn assigned(&mut self, value: &ast::Expr, column: Option<&mut Column>, list: &str) -> Expr {
        if matches!(value.kind, ast::ExprKind::Name(_)) {
            self.lone_names.push(value.span);
        }
        let checked = self.expr(value);
        let Some(column) = column else { return checked };
        match widened(&column.ty, &checked.ty) {
            Some(ty) => {
                column.ty = ty;
                checked
            }
            None => {
                self.does_not_fit(&checked, value, column, list);
                failed(value.span)
            }
        }
    }

    fn does_not_fit(&mut self, value: &Expr, value_ast: &ast::Expr, column: &Column, list: &str) {
        let (name, ty) = (&column.name, &column.ty);
        let branches = if value.ty.kind == Kind::Any { self.branches(value) } else { Vec::new() };
        let found = kinds_of(&branches).unwrap_or_else(|| article(&value.ty));
        let message = format!("column `{name}` is {}, and {list} gives it {found}", article(ty));
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(value.span, format!("this is {found}"))
            .label(column.span, format!("`{name}` is {}", article(ty)));
        let diagnostic = with_branches(diagnostic, &branches);
        let help = conversion(&value.ty.kind, &ty.kind, value_ast).or_else(|| {
            let kept = "a reshape keeps the types of columns";
            Help::say(format!("{kept}: give {}, or convert the column in a transform in front", article(ty)))
        });
        self.error(with_help(diagnostic, help));
    }
}

/// The type of a column that also holds these values; `None` if its kind can't.
///
/// It may become nullable, and a decimal may lose its known scale. A column of nothing but nulls takes any kind. An int
/// becomes the float or decimal that the column holds.
fn widened(column: &Type, value: &Type) -> Option<Type> {
    let met = unify(column, value)?;
    let keeps = column.kind == Kind::Null || met.is_error() || same_but_for_scale(&met.kind, &column.kind);
    keeps.then(|| if value.is_error() { column.clone() } else { met })
}

fn same_but_for_scale(left: &Kind, right: &Kind) -> bool {
    match (left, right) {
        (Kind::Decimal { .. }, Kind::Decimal { .. }) => true,
        (Kind::Array(left), Kind::Array(right)) => same_but_for_scale(left, right),
        (left, right) => left == right,
    }
}

/// How to make a value of one kind that a column of another can hold.
fn conversion(value: &Kind, column: &Kind, value_ast: &ast::Expr) -> Option<Help> {
    if let (Kind::Int, Kind::Date | Kind::DateTime, Some(date)) = (value, column, dashed_date(value_ast)) {
        let time = if *column == Kind::DateTime { ".to_datetime()" } else { "" };
        return Help::say(format!("write `\"{date}{time}\"`, in quotes as a `#` begins a comment"));
    }
    let method = match (value, column, &value_ast.kind) {
        (Kind::Array(_), Kind::String, _) => {
            return Help::say(format!("write `{}.join(\";\")`", operand(value_ast)));
        }
        (Kind::String, Kind::Date, ast::ExprKind::Literal(Literal::String(text))) if is_date(text) => {
            let date = format!("#{text}#");
            let fix = Some(Fix { span: value_ast.span, replacement: date.clone() });
            return Some(Help { text: format!("write the date as `{date}`"), fix });
        }
        (Kind::Float, Kind::Decimal { .. }, ast::ExprKind::Literal(Literal::Float(value))) => {
            return Help::say(format!("write `'{value:?}'.to_decimal()` for the exact decimal"));
        }
        (value, column, _) => conversion_method(value, column)?,
    };
    let purpose = if *column == Kind::Int && is_number(value) { "to cut it towards zero" } else { "" };
    Help::method(value_ast, method, purpose)
}

/// The method that makes a value of the column's kind.
fn conversion_method(value: &Kind, column: &Kind) -> Option<&'static str> {
    Some(match (value, column) {
        (Kind::String | Kind::Bool | Kind::Float | Kind::Decimal { .. } | Kind::Any, Kind::Int) => "to_int",
        (Kind::String | Kind::Decimal { .. } | Kind::Any, Kind::Float) => "to_float",
        (Kind::String | Kind::Float | Kind::Any, Kind::Decimal { .. }) => "to_decimal",
        (Kind::String | Kind::Int | Kind::Any, Kind::Bool) => "to_bool",
        (Kind::String | Kind::DateTime | Kind::Any, Kind::Date) => "to_date",
        (Kind::String | Kind::Date | Kind::Any, Kind::DateTime) => "to_datetime",
        (Kind::Array(_) | Kind::Map, _) => return None,
        (_, Kind::String) => "to_string",
        _ => return None,
    })
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}
