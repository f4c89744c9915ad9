//! Expressions in the form that is run: constants folded, patterns and formats prepared.

use crate::analysis::functions::Function;
use crate::analysis::hir::BinaryOp;
use crate::analysis::types::Kind;
use crate::diagnostics::Span;
use crate::exec::eval::functions::Prepared;
use crate::exec::value::Value;

/// An expression.
#[derive(Debug)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// The kind of its values.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression computes.
#[derive(Debug)]
pub enum Op {
    /// The same value for every row of the run.
    Constant(Value),
    /// A column of the input.
    Column(usize),
    /// A let.
    Let(usize),
    /// An earlier emit.
    Emit(usize),
    /// The subject of the innermost `match`.
    Subject,
    /// `$source.file`
    SourceFile,
    /// `$source.name`
    SourceName,
    /// `$source.row`
    SourceRow,
    /// A change of representation to the node's kind.
    Convert(Box<Node>),
    /// `-operand`
    Negate(Box<Node>),
    /// `not operand`
    Not(Box<Node>),
    /// `+ - * / %`
    Arithmetic(BinaryOp, Box<Node>, Box<Node>),
    /// `== != < <= > >=`, and whether `==` and `!=` with a null are null.
    Compare(BinaryOp, bool, Box<Node>, Box<Node>),
    /// `and`, `or`: the truth value that decides it, and the operands.
    Logic(bool, Box<Node>, Box<Node>),
    /// `a ?? b ?? c`
    Coalesce(Vec<Node>),
    /// `if … else if … else …`: the conditions with what they choose, and the last `else`.
    If(Vec<(Node, Node)>, Option<Box<Node>>),
    /// `match`: the subject, the arms as pattern and body, the default.
    Match(Option<Box<Node>>, Vec<(Node, Node)>, Box<Node>),
    /// A method: receiver first.
    Call(Function, Vec<Node>, Prepared),
}

impl Node {
    /// The operands of an operation that evaluates all of them first, in order; none for others.
    pub fn strict_operands(&self) -> Vec<&Node> {
        match &self.op {
            Op::Convert(operand) | Op::Negate(operand) | Op::Not(operand) => vec![operand],
            Op::Arithmetic(_, left, right) | Op::Compare(_, _, left, right) => vec![left, right],
            Op::Call(_, inputs, _) => inputs.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The value, if it is the same for every row of the run.
    pub fn constant(&self) -> Option<&Value> {
        match &self.op {
            Op::Constant(value) => Some(value),
            _ => None,
        }
    }
}
