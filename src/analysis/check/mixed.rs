//! Values whose type is known only at run time because they come from branches of several types: which these are.

use std::collections::HashMap;

use super::Checker;
use super::describe::article;
use crate::analysis::functions::Function;
use crate::analysis::hir::{Expr, ExprKind, Schema};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Diagnostic, Span};

/// A branch of an `if`, a `match` or a `??`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::analysis) struct Branch {
    /// The type of its value.
    ty: Type,
    /// Where it stands.
    span: Span,
}

/// The branches that values of columns come from, by the place where the column was emitted.
pub(in crate::analysis) type Mixes = HashMap<Span, Vec<Branch>>;

impl Checker<'_> {
    /// The branches that a value comes from, the first of each kind, if its type is known only at run time; none where
    /// it was declared so.
    pub(super) fn branches(&self, value: &Expr) -> Vec<Branch> {
        let mut branches = Vec::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            let inner = match &value.kind {
                ExprKind::Convert(inner) => inner,
                _ => value,
            };
            if inner.ty.kind != Kind::Any {
                add(&mut branches, &Branch { ty: inner.ty.clone(), span: inner.span });
                continue;
            }
            match &inner.kind {
                ExprKind::Let(slot) => add_all(&mut branches, self.let_branches.get(*slot)),
                ExprKind::Emit(slot) => add_all(&mut branches, self.emit_branches.get(*slot)),
                ExprKind::Column(column) => add_all(&mut branches, Some(&self.column_branches(*column))),
                _ => open.extend(results(inner)),
            }
        }
        branches
    }

    fn column_branches(&self, column: usize) -> Vec<Branch> {
        let column = match &self.group {
            Some(group) if self.sees_groups() => group.shared.get(column).copied(),
            _ => Some(column),
        };
        column.map(|column| column_branches(self.mixes, &self.row.schema, column)).unwrap_or_default()
    }
}

/// Adds a branch if there is none of its kind. Without this the branches of a value would double with each `if` that
/// reads another twice.
fn add(branches: &mut Vec<Branch>, branch: &Branch) {
    if !branches.iter().any(|other| article(&other.ty) == article(&branch.ty)) {
        branches.push(branch.clone());
    }
}

fn add_all(branches: &mut Vec<Branch>, more: Option<&Vec<Branch>>) {
    more.into_iter().flatten().for_each(|branch| add(branches, branch));
}

/// What an expression gives one of, last first.
fn results(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::If { consequence, alternative, .. } => {
            alternative.iter().chain([consequence]).map(AsRef::as_ref).collect()
        }
        ExprKind::Match { arms, default, .. } => {
            [&**default].into_iter().chain(arms.iter().rev().map(|arm| &arm.body)).collect()
        }
        ExprKind::Coalesce(left, right) => vec![right, left],
        ExprKind::Call { function: Function::Catch, receiver, args } => {
            args.iter().rev().chain([&**receiver]).collect()
        }
        _ => Vec::new(),
    }
}

/// The branches that the values of a column come from.
pub(in crate::analysis) fn column_branches(mixes: &Mixes, schema: &Schema, column: usize) -> Vec<Branch> {
    mixes.get(&schema.columns[column].span).cloned().unwrap_or_default()
}

/// The kinds that branches give, for people: `an int or a string`. `None` if there is no branch.
pub(in crate::analysis) fn kinds_of(branches: &[Branch]) -> Option<String> {
    let mut kinds: Vec<String> = first_of_each(branches).map(|branch| article(&branch.ty)).collect();
    let last = kinds.pop()?;
    Some(if kinds.is_empty() { last } else { format!("{} or {last}", kinds.join(", ")) })
}

/// Points at a branch of each kind.
pub(in crate::analysis) fn with_branches(diagnostic: Diagnostic, branches: &[Branch]) -> Diagnostic {
    first_of_each(branches)
        .fold(diagnostic, |diagnostic, branch| diagnostic.label(branch.span, format!("{} here", article(&branch.ty))))
}

/// The first branch of each kind that is not null alone.
fn first_of_each(branches: &[Branch]) -> impl Iterator<Item = &Branch> {
    branches.iter().enumerate().filter_map(|(position, branch)| {
        let same = |other: &Branch| article(&other.ty) == article(&branch.ty);
        (branch.ty.kind != Kind::Null && !branches[..position].iter().any(same)).then_some(branch)
    })
}
