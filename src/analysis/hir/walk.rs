//! Walking typed programs: the expressions of a statement, and those inside an expression.

use super::{Expr, ExprKind, Statement};

impl Statement {
    /// Its own expressions, in order, to change them.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Statement::Let { value, .. } | Statement::Emit { value, .. } => vec![value],
            Statement::Filter(value) | Statement::Discard(value) => vec![value],
            Statement::Distinct { key, .. } => key.iter_mut().collect(),
        }
    }

    /// Its own expressions, in order.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Statement::Let { value, .. } | Statement::Emit { value, .. } => vec![value],
            Statement::Filter(value) | Statement::Discard(value) => vec![value],
            Statement::Distinct { key, .. } => key.iter().collect(),
        }
    }
}

impl Expr {
    /// Changes this expression and then every one inside it.
    pub fn rewrite(&mut self, change: &mut impl FnMut(&mut Expr)) {
        change(self);
        self.children_mut().into_iter().for_each(|child| child.rewrite(change));
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Let(_)
            | ExprKind::Emit(_)
            | ExprKind::Variable(_)
            | ExprKind::Subject => Vec::new(),
            ExprKind::Convert(operand) | ExprKind::Negate(operand) | ExprKind::Not(operand) => vec![operand],
            ExprKind::Arithmetic { left, right, .. }
            | ExprKind::Compare { left, right, .. }
            | ExprKind::Logic { left, right, .. }
            | ExprKind::Coalesce(left, right) => vec![left, right],
            ExprKind::If { condition, consequence, alternative } => {
                [condition, consequence].into_iter().chain(alternative).map(AsMut::as_mut).collect()
            }
            ExprKind::Match { subject, arms, default } => {
                let arms = arms.iter_mut().flat_map(|arm| [&mut arm.pattern, &mut arm.body]);
                subject.iter_mut().map(AsMut::as_mut).chain(arms).chain([default.as_mut()]).collect()
            }
            ExprKind::Call { receiver, args, .. } => std::iter::once(receiver.as_mut()).chain(args).collect(),
        }
    }

    /// The expressions directly inside this one, in the order they are written.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Let(_)
            | ExprKind::Emit(_)
            | ExprKind::Variable(_)
            | ExprKind::Subject => Vec::new(),
            ExprKind::Convert(operand) | ExprKind::Negate(operand) | ExprKind::Not(operand) => vec![operand],
            ExprKind::Arithmetic { left, right, .. }
            | ExprKind::Compare { left, right, .. }
            | ExprKind::Logic { left, right, .. }
            | ExprKind::Coalesce(left, right) => vec![left, right],
            ExprKind::If { condition, consequence, alternative } => {
                [condition, consequence].into_iter().chain(alternative).map(AsRef::as_ref).collect()
            }
            ExprKind::Match { subject, arms, default } => {
                let arms = arms.iter().flat_map(|arm| [&arm.pattern, &arm.body]);
                subject.iter().map(AsRef::as_ref).chain(arms).chain([default.as_ref()]).collect()
            }
            ExprKind::Call { receiver, args, .. } => std::iter::once(receiver.as_ref()).chain(args).collect(),
        }
    }
}
