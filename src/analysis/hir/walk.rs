//! Walking typed programs: the expressions of a statement, and those inside an expression. Trees can be as high as a
//! chain of operators is long, so no walk is a recursion.

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
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            change(expr);
            open.extend(expr.children_mut().into_iter().rev());
        }
    }

    /// This expression and every one inside it, outermost first, in the order they are written.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.children().into_iter().rev());
            Some(next)
        })
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
