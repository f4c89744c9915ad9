//! Walking typed programs: the expressions of a statement, and those inside an expression.

use super::{Expr, ExprKind, Statement};

impl Statement {
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
