//! `"a" or "b"`, as which a question about each of the values is meant.

use std::mem::discriminant;

use super::describe::operand;
use super::{Checker, failed};
use crate::analysis::functions::Function;
use crate::analysis::hir::{BinaryOp, Expr, Literal};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Arg, Name};

impl Checker<'_> {
    /// Reports a chain of `and` or `or` that joins values, as in `x == "a" or "b"`. `None` if it joins none.
    pub(super) fn joined_values(&mut self, op: BinaryOp, parts: &[ast::Expr], span: Span) -> Option<Expr> {
        let place = parts.iter().skip(1).find(|part| is_value(part))?.span;
        let asked = asked_of_each(op, parts);
        for part in parts.iter().filter(|part| !is_value(part)) {
            self.expr(part);
        }
        self.report_joined(op, place, asked);
        Some(failed(span))
    }

    /// Reports the argument of `x.contains("a" or "b")`, and gives whether there is one.
    pub(super) fn joined_argument(&mut self, receiver: Option<&ast::Expr>, method: &Name, args: &[Arg]) -> bool {
        let [Arg::Expr(ast::Expr { kind: ast::ExprKind::Chain { op, parts }, span })] = args else { return false };
        if !parts.iter().any(is_value) {
            return false;
        }
        let asked = |receiver: &ast::Expr| {
            let receiver = operand(receiver);
            parts.iter().map(|part| format!("{receiver}.{}({part})", method.text)).collect()
        };
        let asks = Function::by_name(&method.text).is_some_and(Function::asks);
        self.report_joined(*op, *span, receiver.filter(|_| asks).map(|receiver| (*op, asked(receiver))));
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

/// The questions that a chain means, where each value is compared as in the last comparison in front of it, and what
/// joins them. `None` if that is not clear.
fn asked_of_each(op: BinaryOp, parts: &[ast::Expr]) -> Option<(BinaryOp, Vec<String>)> {
    let mut asked = Vec::with_capacity(parts.len());
    let mut last: Option<Comparison> = None;
    for part in parts {
        if is_value(part) {
            asked.push(last.as_ref()?.of(part)?);
        } else {
            last = Comparison::new(part).or(last);
            asked.push(part.to_string());
        }
    }
    let last = last?;
    let joint = if last.op == BinaryOp::Equal { BinaryOp::Or } else { BinaryOp::And };
    // Whether all parts ask the same of the same.
    let one_question = || {
        let mut others = parts.iter().filter(|part| !is_value(part));
        others.all(|part| Comparison::new(part).is_some_and(|other| other.same_question(&last)))
    };
    // Another joint would change what the other parts mean.
    let same_operators = parts.iter().filter_map(Comparison::new).all(|other| other.op == last.op);
    (same_operators && joint == op || one_question()).then_some((joint, asked))
}

/// `left == right` or `left != right`.
struct Comparison<'e> {
    whole: &'e ast::Expr,
    op: BinaryOp,
    left: &'e ast::Expr,
    right: &'e ast::Expr,
}

impl<'e> Comparison<'e> {
    fn new(whole: &'e ast::Expr) -> Option<Self> {
        match &whole.kind {
            ast::ExprKind::Binary { op: op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right, .. } => {
                Some(Self { whole, op: *op, left, right })
            }
            _ => None,
        }
    }

    fn same_question(&self, other: &Comparison) -> bool {
        self.op == other.op && self.left.to_string() == other.left.to_string()
    }

    /// The same comparison with another value; `None` if the two values are not literals of one type.
    fn of(&self, value: &ast::Expr) -> Option<String> {
        let (ast::ExprKind::Literal(own), ast::ExprKind::Literal(other)) = (&self.right.kind, &value.kind) else {
            return None;
        };
        let mut compared = self.whole.clone();
        if let ast::ExprKind::Binary { right, .. } = &mut compared.kind {
            **right = value.clone();
        }
        (discriminant(own) == discriminant(other)).then(|| compared.to_string())
    }
}

/// Whether it is a literal that can't be a condition.
fn is_value(part: &ast::Expr) -> bool {
    match &part.kind {
        ast::ExprKind::Literal(value) => !matches!(value, Literal::Bool(_) | Literal::Null),
        _ => false,
    }
}
