//! Whether two expressions say the same, wherever they stand.

use crate::analysis::hir::{Expr, ExprKind};

/// Whether two expressions over the same input are equal but for their places.
pub(in crate::analysis) fn alike(left: &Expr, right: &Expr) -> bool {
    left.ty == right.ty && same_kind(&left.kind, &right.kind)
}

fn same_kind(left: &ExprKind, right: &ExprKind) -> bool {
    use ExprKind::*;
    match (left, right) {
        (Convert(left), Convert(right)) | (Negate(left), Negate(right)) | (Not(left), Not(right)) => alike(left, right),
        (Arithmetic { op, left, right }, Arithmetic { op: other_op, left: other_left, right: other_right })
        | (Logic { op, left, right }, Logic { op: other_op, left: other_left, right: other_right }) => {
            op == other_op && alike(left, other_left) && alike(right, other_right)
        }
        (
            Compare { null_is_unknown, op, left, right },
            Compare { null_is_unknown: other_unknown, op: other_op, left: other_left, right: other_right },
        ) => (null_is_unknown, op) == (other_unknown, other_op) && alike(left, other_left) && alike(right, other_right),
        (Coalesce(left, right), Coalesce(other_left, other_right)) => {
            alike(left, other_left) && alike(right, other_right)
        }
        (
            If { condition, consequence, alternative },
            If { condition: other_condition, consequence: other_consequence, alternative: other_alternative },
        ) => {
            alike(condition, other_condition)
                && alike(consequence, other_consequence)
                && both(alternative.as_deref(), other_alternative.as_deref())
        }
        (
            Match { subject, arms, default },
            Match { subject: other_subject, arms: other_arms, default: other_default },
        ) => {
            let mut pairs = arms.iter().zip(other_arms);
            both(subject.as_deref(), other_subject.as_deref())
                && arms.len() == other_arms.len()
                && pairs.all(|(arm, other)| alike(&arm.pattern, &other.pattern) && alike(&arm.body, &other.body))
                && alike(default, other_default)
        }
        (
            Call { function, receiver, args },
            Call { function: other_function, receiver: other_receiver, args: other_args },
        ) => {
            let mut pairs = args.iter().zip(other_args);
            function == other_function
                && alike(receiver, other_receiver)
                && args.len() == other_args.len()
                && pairs.all(|(arg, other)| alike(arg, other))
        }
        // What has no parts has no places inside.
        (left, right) => left == right,
    }
}

fn both(left: Option<&Expr>, right: Option<&Expr>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => alike(left, right),
        (None, None) => true,
        _ => false,
    }
}
