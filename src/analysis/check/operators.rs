//! Operators: which operands they take, and what their kinds become.

use super::describe::{article, converted, operand, with_help};
use super::operand_help::{arithmetic_help, comparison_help, spelled_out, to_number, without_distant_fix};
use super::unify::{convert, unify, unify_kinds, unify_or_any};
use super::{Checker, failed};
use crate::analysis::hir::{BinaryOp, Expr, ExprKind, Literal, MatchArm, is_ordered};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast;

/// Most places behind the point that a decimal has.
const MAX_SCALE: u8 = 28;

/// A checked operand with its tree.
pub(super) type Operand<'e> = (Expr, &'e ast::Expr);

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: ast::UnaryOp, op_span: Span, operand: &ast::Expr, span: Span) -> Expr {
        if op == ast::UnaryOp::Negate {
            self.note_dashes(op_span, operand);
        }
        let checked = self.expr(operand);
        if checked.ty.is_error() {
            return failed(span);
        }
        match op {
            ast::UnaryOp::Not => match self.logic_operand(checked, operand, "not") {
                value if value.ty.is_error() => failed(span),
                value => Expr { ty: value.ty.clone(), kind: ExprKind::Not(Box::new(value)), span },
            },
            ast::UnaryOp::Negate => self.negate(checked, operand, span),
        }
    }

    /// Takes note of a name behind `--`: the operand of one minus begins with another.
    fn note_dashes(&mut self, minus: Span, operand: &ast::Expr) {
        if let ast::ExprKind::Unary { op: ast::UnaryOp::Negate, op_span, operand } = &operand.kind
            && minus.end == op_span.start
            && matches!(operand.kind, ast::ExprKind::Name(_))
        {
            self.behind_dashes.push(operand.span);
        }
    }

    fn negate(&mut self, value: Expr, operand_ast: &ast::Expr, span: Span) -> Expr {
        let value = match value.ty.kind {
            Kind::Null => convert(value, &Kind::Int),
            _ => value,
        };
        if !(is_number(&value.ty.kind) || value.ty.kind == Kind::Any) {
            let message = format!("`-` needs a number, not {}", article(&value.ty));
            let diagnostic = Diagnostic::error(Code::E200, message).label(value.span, this_is(&value.ty));
            self.error(diagnostic.help_opt(to_number(&value.ty.kind, &Kind::Int, operand_ast)));
            return failed(span);
        }
        Expr { ty: value.ty.clone(), kind: ExprKind::Negate(Box::new(value)), span }
    }

    /// An expression of operators other than `and`, `or` and `??`. A chain like `a + b + c` is as deep as it is long,
    /// so its left operands are not walked by recursion.
    pub(super) fn binary(&mut self, whole: &ast::Expr) -> Expr {
        let mut joined = Vec::new();
        let mut first = whole;
        while let ast::ExprKind::Binary { op, op_span, left, right } = &first.kind
            && *op != BinaryOp::Coalesce
        {
            joined.push((*op, *op_span, left, right, first.span));
            first = left;
        }
        let mut checked = self.expr(first);
        for (op, op_span, left_ast, right_ast, span) in joined.into_iter().rev() {
            if op == BinaryOp::Subtract {
                self.note_dashes(op_span, right_ast);
            }
            let right = self.expr(right_ast);
            let (left, right) = ((checked, &**left_ast), (right, &**right_ast));
            checked = match op {
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
                    self.arithmetic(op, left, right, span)
                }
                _ => self.compare(op, op_span, left, right, span),
            };
        }
        checked
    }

    /// `a ?? b ?? c`, which joins from the right.
    pub(super) fn coalesced(&mut self, whole: &ast::Expr) -> Expr {
        let mut lefts = Vec::new();
        let mut rest = whole;
        while let ast::ExprKind::Binary { op: BinaryOp::Coalesce, left, right, .. } = &rest.kind {
            let checked = self.expr(left);
            self.needs_no_other("??", &checked, left, right);
            lefts.push((checked, rest.span));
            rest = right;
        }
        let last = self.expr(rest);
        lefts.into_iter().rev().fold(last, |right, (left, span)| coalesce(left, right, span))
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Operand, right: Operand, span: Span) -> Expr {
        if left.0.ty.is_error() || right.0.ty.is_error() {
            return failed(span);
        }
        let Some(kind) = arithmetic_kind(op, &left.0.ty.kind, &right.0.ty.kind) else {
            self.report_arithmetic(op, &left, &right);
            return failed(span);
        };
        let nullable = left.0.ty.nullable || right.0.ty.nullable;
        let left = Box::new(operand_of(left.0, &kind));
        let right = Box::new(operand_of(right.0, &kind));
        let kind = match &kind {
            Kind::Decimal { .. } => Kind::Decimal { scale: result_scale(op, &left.ty.kind, &right.ty.kind) },
            other => other.clone(),
        };
        let ty = Type { nullable: nullable || kind == Kind::Any, kind };
        Expr { kind: ExprKind::Arithmetic { op, left, right }, ty, span }
    }

    /// The call of `min` or `max` that an emit gives under the name that is read, if it is one of texts.
    fn extreme_of(&self, read: &Expr) -> Option<ast::Expr> {
        let (ExprKind::Emit(slot), Kind::String) = (&read.kind, &read.ty.kind) else { return None };
        self.emit_extremes.get(*slot)?.clone()
    }

    fn report_arithmetic(&mut self, op: BinaryOp, left: &Operand, right: &Operand) {
        let extremes = [left, right].map(|operand| self.extreme_of(&operand.0));
        let (left, right) = (&spelled_out(left, &extremes[0]), &spelled_out(right, &extremes[1]));
        let (l, r) = (&left.0.ty, &right.0.ty);
        if mixes_decimal_and_float(&l.kind, &r.kind) {
            return self.report_decimal_with_float(op, left, right);
        }
        let wanted = if op == BinaryOp::Add { "two numbers or two strings" } else { "two numbers" };
        let message = format!("`{}` needs {wanted}, not {} and {}", op.symbol(), article(l), article(r));
        let culprit_is_left = match op {
            BinaryOp::Add => l.kind != Kind::String && !is_number(&l.kind) || r.kind == Kind::String,
            _ => !is_number(&l.kind),
        };
        let (first, second) = if culprit_is_left { (left, right) } else { (right, left) };
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(first.0.span, this_is(&first.0.ty))
            .label(second.0.span, this_is(&second.0.ty));
        self.error(without_distant_fix(with_help(diagnostic, arithmetic_help(op, left, right)), &extremes));
    }

    fn report_decimal_with_float(&mut self, op: BinaryOp, left: &Operand, right: &Operand) {
        let (float, decimal) = if left.0.ty.kind == Kind::Float { (left, right) } else { (right, left) };
        let message = cannot_mix(op.symbol());
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(float.0.span, "this is a float")
            .label(decimal.0.span, "this is a decimal");
        let diagnostic = match &float.1.kind {
            ast::ExprKind::Literal(Literal::Float(value)) => {
                let exact = format!("\"{value:?}\".to_decimal()");
                diagnostic.help(format!("write `{exact}` for the exact decimal")).fix(float.0.span, exact)
            }
            _ => diagnostic.help(format!(
                "choose one: `{}.to_decimal()`, or `{}.to_float()`",
                operand(float.1),
                operand(decimal.1)
            )),
        };
        self.error(diagnostic);
    }

    /// `== != < <= > >=`. `==` and `!=` are never null, but in a cull's predicate, where nothing is known of a null.
    pub(super) fn compare(&mut self, op: BinaryOp, op_span: Span, left: Operand, right: Operand, span: Span) -> Expr {
        if left.0.ty.is_error() || right.0.ty.is_error() {
            return failed(span);
        }
        let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let Some(met) = unify(&left.0.ty, &right.0.ty) else {
            self.report_comparison(op, &left, &right);
            return failed(span);
        };
        self.two_texts(&left.0, &right.0, span);
        let kind = if met.kind == Kind::Null { Kind::Int } else { met.kind };
        if left.0.ty.kind == Kind::Null || right.0.ty.kind == Kind::Null {
            self.warn_of_null(op, op_span, (&left, &right), span);
        } else if !equality && !is_ordered(&kind) && kind != Kind::Any {
            self.warn_of_no_order(op, op_span, &left, &kind);
        }
        let null_is_unknown = self.null_is_unknown();
        let nullable = met.nullable && (!equality || null_is_unknown);
        let exact = matches!((&left.0.ty.kind, &right.0.ty.kind), (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int));
        let side = |expr: Expr| Box::new(if exact { expr } else { operand_of(expr, &kind) });
        let (left, right) = (side(left.0), side(right.0));
        Expr {
            kind: ExprKind::Compare { null_is_unknown, op, left, right },
            ty: Type { kind: Kind::Bool, nullable },
            span,
        }
    }

    fn report_comparison(&mut self, op: BinaryOp, left: &Operand, right: &Operand) {
        let extremes = [left, right].map(|operand| self.extreme_of(&operand.0));
        let (left, right) = (&spelled_out(left, &extremes[0]), &spelled_out(right, &extremes[1]));
        if mixes_decimal_and_float(&left.0.ty.kind, &right.0.ty.kind) {
            return self.report_decimal_with_float(op, left, right);
        }
        let message = format!("{} can't be compared with {}", article(&left.0.ty), article(&right.0.ty));
        let (first, second) =
            if matches!(right.1.kind, ast::ExprKind::Literal(_)) { (right, left) } else { (left, right) };
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(first.0.span, this_is(&first.0.ty))
            .label(second.0.span, this_is(&second.0.ty));
        let help = comparison_help(left, right).or_else(|| comparison_help(right, left));
        self.error(without_distant_fix(with_help(diagnostic, help), &extremes));
    }

    /// A comparison with null that is null for every row or group.
    fn warn_of_null(&mut self, op: BinaryOp, op_span: Span, (left, right): (&Operand, &Operand), span: Span) {
        let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let other = if right.0.ty.kind == Kind::Null { left } else { right };
        if equality && !self.null_is_unknown() {
            return self.never_equals_null(op, &other.0, other.1);
        }
        let not = if op == BinaryOp::NotEqual { "not " } else { "" };
        let asked = format!("{not}{}.is_null()", operand(other.1));
        let (message, help) = match equality {
            true => ("a comparison with null is never true in a cull", Some(format!("write `{asked}`"))),
            false => ("nothing is less or greater than null: this is never true", None),
        };
        let diagnostic = Diagnostic::warning(Code::W205, message).label(op_span, "null, whatever stands beside it");
        // The pattern of a `match` is compared without an operator.
        let help = help.filter(|_| op_span != span && other.0.ty.kind != Kind::Null);
        self.diagnostics.push(diagnostic.help_opt(help));
    }

    /// Bools, arrays and maps can be compared, but none is less than another.
    fn warn_of_no_order(&mut self, op: BinaryOp, op_span: Span, left: &Operand, kind: &Kind) {
        let (kinds, help) = match kind {
            Kind::Bool => ("bools", format!("compare with `==`, or use `{}` as it is", operand(left.1))),
            Kind::Map => ("maps", "compare with `==` or `!=`".to_owned()),
            _ => ("arrays", "compare with `==` or `!=`".to_owned()),
        };
        let message = format!("`{}` is never true here: {kinds} have no order", op.symbol());
        self.diagnostics.push(Diagnostic::warning(Code::W205, message).label(op_span, "never true").help(help));
    }

    /// A chain of `and` or of `or`.
    pub(super) fn logic(&mut self, op: BinaryOp, parts: &[ast::Expr], span: Span) -> Expr {
        if let Some(values) = self.joined_values(op, parts, span) {
            return values;
        }
        let operand = |part: &ast::Expr| {
            let checked = self.expr(part);
            self.logic_operand(checked, part, op.symbol())
        };
        let checked: Vec<Expr> = parts.iter().map(operand).collect();
        if checked.iter().any(|part| part.ty.is_error()) {
            return failed(span);
        }
        Expr { span, ..balanced(op, checked) }
    }

    /// An operand of `and`, `or` or `not` as a bool. Of a value known only at run time, what is no bool counts as
    /// null.
    fn logic_operand(&mut self, value: Expr, value_ast: &ast::Expr, symbol: &str) -> Expr {
        match value.ty.kind {
            Kind::Bool | Kind::Error => value,
            Kind::Null => convert(value, &Kind::Bool),
            Kind::Any => bool_or_null(value),
            _ => {
                self.report_not_bool(&value, value_ast, &format!("`{symbol}`"));
                failed(value.span)
            }
        }
    }

    /// A checked expression that decides about rows, as a bool; see [`Checker::condition`].
    pub(super) fn truth(&mut self, value: Expr, value_ast: &ast::Expr, what: &str) -> Expr {
        match value.ty.kind {
            Kind::Bool | Kind::Error => value,
            Kind::Any => is_true(value),
            _ => {
                self.report_not_bool(&value, value_ast, what);
                failed(value.span)
            }
        }
    }

    fn report_not_bool(&mut self, value: &Expr, value_ast: &ast::Expr, what: &str) {
        let message = format!("{what} needs a bool, not {}", article(&value.ty));
        let shown = operand(value_ast);
        let help = match value.ty.kind {
            // `!= 0` would be true of a null.
            Kind::Int | Kind::Float | Kind::Decimal { .. } if value.ty.nullable => {
                format!("compare it, for instance `{shown} > 0`")
            }
            Kind::Int | Kind::Float | Kind::Decimal { .. } => format!("compare it, for instance `{shown} != 0`"),
            Kind::String => {
                let truth = converted(value_ast, "to_bool");
                format!("compare it, for instance `{shown} == \"yes\"`, or write `{truth}`")
            }
            Kind::Null => "null is never true".to_owned(),
            _ if self.sees_groups() => format!("ask something about it, for instance `not {shown}.is_null()`"),
            _ => format!("compare it, for instance `{shown} != null`"),
        };
        self.error(Diagnostic::error(Code::E200, message).label(value.span, this_is(&value.ty)).help(help));
    }
}

/// A balanced tree over the parts of a chain, which are taken in their order whatever the tree.
fn balanced(op: BinaryOp, mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let right = balanced(op, parts.split_off(parts.len().div_ceil(2)));
    let left = balanced(op, parts);
    let (ty, span) =
        (Type { kind: Kind::Bool, nullable: left.ty.nullable || right.ty.nullable }, left.span.to(right.span));
    Expr { kind: ExprKind::Logic { op, left: Box::new(left), right: Box::new(right) }, ty, span }
}

/// `left ?? right`, which is null only where both are.
fn coalesce(left: Expr, right: Expr, span: Span) -> Expr {
    let nullable = left.ty.nullable && right.ty.nullable;
    let kind = unify_or_any(&left.ty, &right.ty).kind;
    if kind == Kind::Error {
        return failed(span);
    }
    let ty = Type { nullable: nullable || kind == Kind::Any, kind };
    let (left, right) = (convert(left, &ty.kind), convert(right, &ty.kind));
    Expr { kind: ExprKind::Coalesce(Box::new(left), Box::new(right)), ty, span }
}

/// The kind that both operands of an arithmetic operator become; `None` if there is none.
fn arithmetic_kind(op: BinaryOp, left: &Kind, right: &Kind) -> Option<Kind> {
    let fits = |kind: &Kind| {
        is_number(kind) || matches!(kind, Kind::Null | Kind::Any) || (op == BinaryOp::Add && *kind == Kind::String)
    };
    if !fits(left) || !fits(right) {
        return None;
    }
    match unify_kinds(left, right)? {
        Kind::Null => Some(Kind::Int),
        kind => Some(kind),
    }
}

/// The operand as a value of the kind that it meets the other in. A decimal keeps its own scale.
fn operand_of(expr: Expr, kind: &Kind) -> Expr {
    match (&expr.ty.kind, kind) {
        (Kind::Decimal { .. }, Kind::Decimal { .. }) => expr,
        (Kind::Int, Kind::Decimal { .. }) => convert(expr, &Kind::Decimal { scale: Some(0) }),
        _ => convert(expr, kind),
    }
}

/// The scale that every result of an operator on decimals has, if the operands tell.
fn result_scale(op: BinaryOp, left: &Kind, right: &Kind) -> Option<u8> {
    let (Kind::Decimal { scale: Some(left) }, Kind::Decimal { scale: Some(right) }) = (left, right) else {
        return None;
    };
    match op {
        BinaryOp::Add | BinaryOp::Subtract => Some(*left.max(right)),
        BinaryOp::Multiply => Some(left + right).filter(|scale| *scale <= MAX_SCALE),
        _ => None,
    }
}

/// Whether a value known only at run time is exactly true.
fn is_true(value: Expr) -> Expr {
    let span = value.span;
    let right = convert(constant(Literal::Bool(true), Kind::Bool, span), &Kind::Any);
    let kind = ExprKind::Compare {
        null_is_unknown: false,
        op: BinaryOp::Equal,
        left: Box::new(value),
        right: Box::new(right),
    };
    Expr { kind, ty: Type::of(Kind::Bool), span }
}

/// A value known only at run time as a bool, null where it is none.
fn bool_or_null(value: Expr) -> Expr {
    let span = value.span;
    let ty = Type::nullable(Kind::Bool);
    let arm = |truth: bool| {
        let subject = Expr { kind: ExprKind::Subject, ty: value.ty.clone(), span };
        let constant = constant(Literal::Bool(truth), Kind::Bool, span);
        let right = Box::new(convert(constant.clone(), &Kind::Any));
        let test = ExprKind::Compare { null_is_unknown: false, op: BinaryOp::Equal, left: Box::new(subject), right };
        MatchArm { pattern: Expr { kind: test, ty: Type::of(Kind::Bool), span }, body: constant }
    };
    let arms = vec![arm(true), arm(false)];
    let default = Box::new(convert(constant(Literal::Null, Kind::Null, span), &Kind::Bool));
    Expr { kind: ExprKind::Match { subject: Some(Box::new(value)), arms, default }, ty, span }
}

fn constant(value: Literal, kind: Kind, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(value), ty: Type::of(kind), span }
}

pub(super) fn is_number(kind: &Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Float | Kind::Decimal { .. })
}

pub(super) fn mixes_decimal_and_float(left: &Kind, right: &Kind) -> bool {
    matches!((left, right), (Kind::Decimal { .. }, Kind::Float) | (Kind::Float, Kind::Decimal { .. }))
}

/// What is said where `what`, an operator or a function, is given a decimal and a float.
pub(super) fn cannot_mix(what: &str) -> String {
    format!("`{what}` cannot mix decimal and float without an explicit cast")
}

pub(super) fn this_is(ty: &Type) -> String {
    format!("this is {}", article(ty))
}
