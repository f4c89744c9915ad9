//! `"a" or "b"`, as which a question about each of the values is meant.

use super::describe::{literal, operand};
use super::{Checker, failed};
use crate::analysis::hir::{BinaryOp, Expr, Literal};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Arg, Name};

impl Checker<'_> {
    /// Reports a chain of `and` or `or` that joins values, as in `x == "a" or "b"`. `None` if it joins none.
    pub(super) fn joined_values(&mut self, op: BinaryOp, parts: &[ast::Expr], span: Span) -> Option<Expr> {
        let (first, rest) = parts.split_first()?;
        let place = rest.iter().find(|part| value(part).is_some())?.span;
        let asked = match &first.kind {
            ast::ExprKind::Binary { op: compared @ (BinaryOp::Equal | BinaryOp::NotEqual), left, .. } => {
                let asked = rest.iter().filter_map(value);
                let asked = asked.map(|value| format!("{left} {} {value}", compared.symbol()));
                let joint = if *compared == BinaryOp::Equal { BinaryOp::Or } else { BinaryOp::And };
                Some((joint, [first.to_string()].into_iter().chain(asked).collect()))
            }
            _ => None,
        };
        for part in parts.iter().filter(|part| value(part).is_none()) {
            self.expr(part);
        }
        self.report_joined(op, place, asked);
        Some(failed(span))
    }

    /// Reports the argument of `x.contains("a" or "b")`, and gives whether there is one.
    pub(super) fn joined_argument(&mut self, receiver: Option<&ast::Expr>, method: &Name, args: &[Arg]) -> bool {
        let [Arg::Expr(ast::Expr { kind: ast::ExprKind::Chain { op, parts }, span })] = args else { return false };
        if !parts.iter().any(|part| value(part).is_some()) {
            return false;
        }
        let asked = |receiver: &ast::Expr| {
            let receiver = operand(receiver);
            parts.iter().map(|part| format!("{receiver}.{}({part})", method.text)).collect()
        };
        self.report_joined(*op, *span, receiver.map(|receiver| (*op, asked(receiver))));
        true
    }

    /// `asked` are questions about each of the values, and what joins them.
    fn report_joined(&mut self, op: BinaryOp, place: Span, asked: Option<(BinaryOp, Vec<String>)>) {
        const LONGEST: usize = 120;
        let message = format!("`{}` joins conditions, not values", op.symbol());
        let asked = asked.map(|(joint, asked)| asked.join(&format!(" {} ", joint.symbol())));
        let asked = asked.filter(|asked| asked.len() <= LONGEST);
        let help = match asked {
            Some(asked) => format!("ask about each value: `{asked}`"),
            None => "ask about each value by itself".to_owned(),
        };
        self.error(Diagnostic::error(Code::E200, message).label(place, "not a condition").help(help));
    }
}

/// A literal as it is written; `None` for what may be a condition.
fn value(part: &ast::Expr) -> Option<String> {
    match &part.kind {
        ast::ExprKind::Literal(Literal::Bool(_) | Literal::Null) => None,
        ast::ExprKind::Literal(value) => Some(literal(value).unwrap_or_else(|| "…".to_owned())),
        _ => None,
    }
}
