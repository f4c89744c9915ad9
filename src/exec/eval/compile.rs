//! From typed expressions to the form that is run.
//!
//! Whatever depends on constants only is computed here, unless it fails: a failure belongs to the rows that reach it.

use super::Constants;
use super::frame::Frame;
use super::functions::Prepared;
use super::live::Live;
use super::node::{Node, Op};
use crate::analysis::hir::{BinaryOp, Expr, ExprKind, Variable};
use crate::exec::eval::datum::Datum;
use crate::exec::value::Value;

/// Prepares an expression. What it begins with can be as deep as a chain of operators is long, so it is not walked by
/// recursion.
pub fn compile(expr: &Expr, constants: &Constants) -> Node {
    let (mut outer, mut first) = (Vec::new(), expr);
    while let Some(operand) = first_operand(&first.kind) {
        outer.push(first);
        first = operand;
    }
    let node = |expr: &Expr, op| fold(Node { op, kind: expr.ty.kind.clone(), span: expr.span });
    let innermost = node(first, single(&first.kind, constants));
    outer.into_iter().rev().fold(innermost, |first, expr| node(expr, around(first, &expr.kind, constants)))
}

fn boxed(expr: &Expr, constants: &Constants) -> Box<Node> {
    Box::new(compile(expr, constants))
}

/// The operand that an operation begins with.
fn first_operand(kind: &ExprKind) -> Option<&Expr> {
    match kind {
        ExprKind::Convert(operand) | ExprKind::Negate(operand) | ExprKind::Not(operand) => Some(operand),
        ExprKind::Arithmetic { left, .. } | ExprKind::Compare { left, .. } | ExprKind::Logic { left, .. } => Some(left),
        ExprKind::Call { receiver, .. } => Some(receiver),
        _ => None,
    }
}

/// An operation, behind its first operand.
fn around(first: Node, kind: &ExprKind, constants: &Constants) -> Op {
    let node = |expr| boxed(expr, constants);
    match kind {
        ExprKind::Convert(_) => Op::Convert(Box::new(first)),
        ExprKind::Negate(_) => Op::Negate(Box::new(first)),
        ExprKind::Not(_) => Op::Not(Box::new(first)),
        ExprKind::Arithmetic { op, right, .. } => Op::Arithmetic(*op, Box::new(first), node(right)),
        ExprKind::Compare { null_is_unknown, op, right, .. } => {
            Op::Compare(*op, *null_is_unknown, Box::new(first), node(right))
        }
        ExprKind::Logic { op, right, .. } => Op::Logic(*op == BinaryOp::Or, Box::new(first), node(right)),
        ExprKind::Call { function, args, .. } => {
            let inputs: Vec<Node> =
                std::iter::once(first).chain(args.iter().map(|arg| compile(arg, constants))).collect();
            let prepared = Prepared::new(*function, &inputs);
            Op::Call(*function, inputs, prepared)
        }
        _ => unreachable!("only an operation has a first operand"),
    }
}

/// What has no first operand.
fn single(kind: &ExprKind, constants: &Constants) -> Op {
    let node = |expr| boxed(expr, constants);
    match kind {
        ExprKind::Literal(literal) => Op::Constant(literal.into()),
        ExprKind::Column(position) => Op::Column(*position),
        ExprKind::Let(slot) => Op::Let(*slot),
        ExprKind::Emit(slot) => Op::Emit(*slot),
        ExprKind::Variable(variable) => self::variable(*variable, constants),
        ExprKind::Coalesce(..) => coalesce(kind, constants),
        ExprKind::If { .. } => branches(kind, constants),
        ExprKind::Match { subject, arms, default } => {
            let arms = arms.iter().map(|arm| (compile(&arm.pattern, constants), compile(&arm.body, constants)));
            Op::Match(subject.as_deref().map(node), arms.collect(), node(default))
        }
        ExprKind::Subject => Op::Subject,
        _ => unreachable!("every operation has a first operand"),
    }
}

fn coalesce(mut kind: &ExprKind, constants: &Constants) -> Op {
    let mut operands = Vec::new();
    while let ExprKind::Coalesce(left, right) = kind {
        operands.push(compile(left, constants));
        match right.kind {
            ExprKind::Coalesce(..) => {}
            _ => operands.push(compile(right, constants)),
        }
        kind = &right.kind;
    }
    Op::Coalesce(operands)
}

fn branches(mut kind: &ExprKind, constants: &Constants) -> Op {
    let (mut branches, mut last) = (Vec::new(), None);
    while let ExprKind::If { condition, consequence, alternative } = kind {
        branches.push((compile(condition, constants), compile(consequence, constants)));
        match alternative.as_deref() {
            Some(Expr { kind: next @ ExprKind::If { .. }, .. }) => kind = next,
            other => {
                last = other.map(|other| boxed(other, constants));
                break;
            }
        }
    }
    Op::If(branches, last)
}

fn variable(variable: Variable, constants: &Constants) -> Op {
    Op::Constant(match variable {
        Variable::PipelineName => Value::String(constants.pipeline_name.clone()),
        Variable::ExecutionId => Value::String(constants.execution_id.clone()),
        Variable::BatchId => Value::String(constants.batch_id.clone()),
        Variable::StartTime => Value::DateTime(constants.start_time),
        Variable::Var(position) => (&constants.vars[position]).into(),
        Variable::SourceFile => return Op::SourceFile,
        Variable::SourceName => return Op::SourceName,
        Variable::SourceRow => return Op::SourceRow,
    })
}

fn fold(node: Node) -> Node {
    let is_constant = |node: &Node| node.constant().is_some();
    let foldable = match &node.op {
        Op::Convert(operand) | Op::Negate(operand) | Op::Not(operand) => is_constant(operand),
        Op::Arithmetic(_, left, right) | Op::Compare(_, _, left, right) | Op::Logic(_, left, right) => {
            is_constant(left) && is_constant(right)
        }
        Op::Coalesce(operands) => operands.iter().all(is_constant),
        Op::Call(_, inputs, _) => inputs.iter().all(is_constant),
        _ => false,
    };
    match foldable.then(|| constant_result(&node)).flatten() {
        Some(value) => Node { op: Op::Constant(value), ..node },
        None => node,
    }
}

fn constant_result(node: &Node) -> Option<Value> {
    let (batch, constants) = (super::frame::single_row(), Constants::default());
    let mut frame = Frame::new(&batch, &constants, 0, 0);
    match frame.eval(node, &Live::all(1)) {
        Datum::Scalar(value) if frame.faults.is_empty() => Some(value),
        _ => None,
    }
}
