//! Expressions: literals, names, `if`, `match`, and the dispatch to the rest.

use super::aggregates::AGGREGATES;
use super::describe::text;
use super::unify::{convert, unify_or_any};
use super::{Checker, failed};
use crate::analysis::functions::Function;
use crate::analysis::hir::{BinaryOp, Expr, ExprKind, Literal, MatchArm};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::{ast, one_by_one};

impl Checker<'_> {
    /// Checks an expression. What fails is reported and has the error type.
    pub fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Literal(value) => {
                if let Literal::String(text) = value {
                    self.note_quoted(text, span);
                }
                literal(value, span)
            }
            ast::ExprKind::Now => self.start_time(span),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Path(parts) => self.path(parts, span),
            ast::ExprKind::System { path, args } => self.system(path, args.as_deref(), span),
            ast::ExprKind::Unary { op, op_span, operand } => self.unary(*op, *op_span, operand, span),
            ast::ExprKind::Binary { op: BinaryOp::Coalesce, .. } => self.coalesced(expr),
            ast::ExprKind::Binary { .. } => self.binary(expr),
            ast::ExprKind::Chain { op, parts } => self.logic(*op, parts, span),
            ast::ExprKind::If { .. } => self.conditional(expr),
            ast::ExprKind::Match { subject, arms } => self.matching(subject.as_deref(), arms, span),
            ast::ExprKind::Method { .. } => self.methods(expr),
            ast::ExprKind::Call { function, args } => self.free_call(function, args, span),
            ast::ExprKind::Wildcard => self.wildcard(span),
            ast::ExprKind::It => self.it(span),
            ast::ExprKind::Index { .. } => self.unsupported(span, "indexing with `[…]` is"),
            ast::ExprKind::Array(_) => self.unsupported(span, "array literals are"),
            ast::ExprKind::Comprehension { .. } => self.unsupported(span, "comprehensions are"),
            ast::ExprKind::Map(_) => self.unsupported(span, "map literals are"),
            ast::ExprKind::Error => failed(span),
        }
    }

    fn wildcard(&mut self, span: Span) -> Expr {
        let message = "`_` stands only for everything else in a `match`";
        self.error(Diagnostic::error(Code::E200, message).label(span, "not a value"));
        failed(span)
    }

    /// Methods one behind the other, which are as deep as they are many.
    fn methods(&mut self, whole: &ast::Expr) -> Expr {
        let mut calls = Vec::new();
        let mut first = whole;
        while let ast::ExprKind::Method { receiver, method, args } = &first.kind {
            let args = args.as_deref();
            let given = args.unwrap_or_default();
            if self.sees_groups() && is_aggregate(method, given) {
                self.aggregate_as_method(&receiver.to_string(), given, method, first.span);
                return failed(whole.span);
            }
            calls.push((receiver, method, args, first.span));
            first = receiver;
        }
        if matches!(&first.kind, ast::ExprKind::Name(name) if self.modules.contains(name)) {
            return failed(whole.span);
        }
        let mut checked = self.receiver(first, calls.last().map(|(_, method, ..)| *method));
        for (receiver, method, args, span) in calls.into_iter().rev() {
            checked = self.method_call(checked, Some(receiver), method, args, span);
        }
        checked
    }

    /// What a method is called on. Where it has no value for a group, an aggregate of the method's name may be meant.
    fn receiver(&mut self, receiver: &ast::Expr, method: Option<&ast::Name>) -> Expr {
        let named = |aggregate: &&str| method.is_some_and(|method| method.text == *aggregate);
        let meant = AGGREGATES.into_iter().find(named);
        if let Some(group) = &mut self.group {
            group.meant = meant;
        }
        let checked = self.expr(receiver);
        if let Some(group) = &mut self.group {
            group.meant = None;
        }
        checked
    }

    /// `if … else if … else …`
    fn conditional(&mut self, whole: &ast::Expr) -> Expr {
        let mut branches = Vec::new();
        let mut rest = Some(whole);
        while let Some(ast::Expr { kind: ast::ExprKind::If { condition, consequence, alternative }, span }) = rest {
            branches.push((self.condition(condition, "an `if`"), self.expr(consequence), *span));
            rest = alternative.as_deref();
        }
        let last = rest.map(|rest| self.expr(rest));
        let chosen = branches.into_iter().rev().fold(last, |alternative, (condition, consequence, span)| {
            Some(choice(condition, consequence, alternative, span))
        });
        chosen.expect("an `if` has a branch")
    }

    /// `match`: arms behind `_` are checked and left out.
    fn matching(&mut self, subject: Option<&ast::Expr>, arms: &[ast::Arm], span: Span) -> Expr {
        let subject = subject.map(|subject| (self.expr(subject), subject));
        if let Some((subject, _)) = &subject {
            self.quoted_value(subject, "this `match` compares");
        }
        let mut live = Vec::new();
        let mut default = None;
        for arm in arms {
            let wildcard = matches!(arm.pattern.kind, ast::ExprKind::Wildcard);
            let pattern = (!wildcard).then(|| self.pattern(subject.as_ref(), &arm.pattern));
            let body = self.expr(&arm.body);
            match pattern {
                Some(pattern) if default.is_none() => live.push(MatchArm { pattern, body }),
                None if default.is_none() => default = Some(body),
                _ => {}
            }
        }
        let Some(default) = default else {
            self.missing_default(span);
            return failed(span);
        };
        assemble_match(subject.map(|(checked, _)| checked), live, default, span)
    }

    /// The comparison of the subject with a pattern, or a guard.
    fn pattern(&mut self, subject: Option<&(Expr, &ast::Expr)>, pattern: &ast::Expr) -> Expr {
        let Some((subject, subject_ast)) = subject else { return self.condition(pattern, "a `match` guard") };
        if let ast::ExprKind::Chain { op: BinaryOp::Or, .. } = pattern.kind
            && !matches!(subject.ty.kind, Kind::Bool | Kind::Null | Kind::Any | Kind::Error)
        {
            return self.several_values(subject_ast, pattern);
        }
        let read = Expr { kind: ExprKind::Subject, ty: subject.ty.clone(), span: subject.span };
        let value = self.expr(pattern);
        if value.ty.kind == Kind::Null {
            self.never_matches_null(subject, subject_ast);
        }
        self.compare(BinaryOp::Equal, pattern.span, (read, subject_ast), (value, pattern), pattern.span)
    }

    /// Reports `"a" or "b"` in the place of one value to compare with.
    fn several_values(&mut self, subject: &ast::Expr, pattern: &ast::Expr) -> Expr {
        let subject = text(subject).filter(|text| text.len() <= 40);
        let diagnostic = Diagnostic::error(Code::E200, "an arm of a `match` has one pattern")
            .label(pattern.span, "`or` joins conditions, not values")
            .help(one_by_one(subject.as_deref()));
        self.error(diagnostic);
        failed(pattern.span)
    }

    fn missing_default(&mut self, span: Span) {
        let diagnostic = Diagnostic::error(Code::E200, "`match` has no `_` arm")
            .label(span, "nothing is said for the other values")
            .help("add `_ => …` as the last arm, for instance `_ => null`");
        self.error(diagnostic);
    }
}

/// Whether a method is an aggregate, and can't be the method of that name.
fn is_aggregate(method: &ast::Name, args: &[ast::Arg]) -> bool {
    let is_method = Function::by_name(&method.text).is_some() && !args.is_empty();
    AGGREGATES.contains(&method.text.as_str()) && !is_method
}

fn choice(condition: Expr, consequence: Expr, alternative: Option<Expr>, span: Span) -> Expr {
    let ty = match &alternative {
        Some(alternative) => unify_or_any(&consequence.ty, &alternative.ty),
        None => consequence.ty.clone().or_nullable(true),
    };
    if condition.ty.is_error() || ty.is_error() {
        return failed(span);
    }
    let kind = ExprKind::If {
        condition: Box::new(condition),
        consequence: Box::new(convert(consequence, &ty.kind)),
        alternative: alternative.map(|alternative| Box::new(convert(alternative, &ty.kind))),
    };
    Expr { kind, ty, span }
}

fn assemble_match(subject: Option<Expr>, mut arms: Vec<MatchArm>, default: Expr, span: Span) -> Expr {
    let ty = arms.iter().fold(default.ty.clone(), |ty, arm| unify_or_any(&ty, &arm.body.ty));
    let mut tests = subject.iter().chain(arms.iter().map(|arm| &arm.pattern));
    if ty.is_error() || tests.any(|expr| expr.ty.is_error()) {
        return failed(span);
    }
    for arm in &mut arms {
        let body = std::mem::replace(&mut arm.body, failed(span));
        arm.body = convert(body, &ty.kind);
    }
    let default = Box::new(convert(default, &ty.kind));
    Expr { kind: ExprKind::Match { subject: subject.map(Box::new), arms, default }, ty, span }
}

/// A literal with its type.
pub(super) fn literal(value: &Literal, span: Span) -> Expr {
    let kind = match value {
        Literal::Null => Kind::Null,
        Literal::Bool(_) => Kind::Bool,
        Literal::Int(_) => Kind::Int,
        Literal::Float(_) => Kind::Float,
        Literal::String(_) => Kind::String,
        Literal::Date(_) => Kind::Date,
    };
    Expr { kind: ExprKind::Literal(value.clone()), ty: Type::of(kind), span }
}
