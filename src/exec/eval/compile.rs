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

/// Prepares an expression.
pub fn compile(expr: &Expr, constants: &Constants) -> Node {
    let op = operation(&expr.kind, constants);
    fold(Node { op, kind: expr.ty.kind.clone(), span: expr.span })
}

fn boxed(expr: &Expr, constants: &Constants) -> Box<Node> {
    Box::new(compile(expr, constants))
}

fn operation(kind: &ExprKind, constants: &Constants) -> Op {
    let node = |expr| boxed(expr, constants);
    match kind {
        ExprKind::Literal(literal) => Op::Constant(literal.into()),
        ExprKind::Column(position) => Op::Column(*position),
        ExprKind::Let(slot) => Op::Let(*slot),
        ExprKind::Emit(slot) => Op::Emit(*slot),
        ExprKind::Variable(variable) => self::variable(*variable, constants),
        ExprKind::Convert(operand) => Op::Convert(node(operand)),
        ExprKind::Negate(operand) => Op::Negate(node(operand)),
        ExprKind::Not(operand) => Op::Not(node(operand)),
        ExprKind::Arithmetic { op, left, right } => Op::Arithmetic(*op, node(left), node(right)),
        ExprKind::Compare { null_is_unknown, op, left, right } => {
            Op::Compare(*op, *null_is_unknown, node(left), node(right))
        }
        ExprKind::Logic { op, left, right } => Op::Logic(*op == BinaryOp::Or, node(left), node(right)),
        ExprKind::Coalesce(left, right) => Op::Coalesce(node(left), node(right)),
        ExprKind::If { condition, consequence, alternative } => {
            Op::If(node(condition), node(consequence), alternative.as_deref().map(node))
        }
        ExprKind::Match { subject, arms, default } => {
            let arms = arms.iter().map(|arm| (compile(&arm.pattern, constants), compile(&arm.body, constants)));
            Op::Match(subject.as_deref().map(node), arms.collect(), node(default))
        }
        ExprKind::Subject => Op::Subject,
        ExprKind::Call { function, receiver, args } => {
            let inputs: Vec<Node> =
                std::iter::once(&**receiver).chain(args).map(|expr| compile(expr, constants)).collect();
            let prepared = Prepared::new(*function, &inputs);
            Op::Call(*function, inputs, prepared)
        }
    }
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
        Op::Coalesce(left, right) => is_constant(left) && is_constant(right),
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
