//! Typed expressions, and the aggregates over them.

use crate::analysis::functions::Function;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::Span;
pub use crate::syntax::cxl::ast::{BinaryOp, Literal};

/// A typed expression. It can't be of the error type: a pipeline with errors has no HIR.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// What a typed expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// A column of the input, by position.
    Column(usize),
    /// A let slot.
    Let(usize),
    /// An earlier emit's slot.
    Emit(usize),
    /// A variable of the run or the row.
    Variable(Variable),
    /// A change of representation that never fails on a row: null to any type, int to float (nearest) or decimal,
    /// decimals to a common scale column, any type to `any`, arrays element by element. The checker puts one
    /// wherever two types meet, so that kernels see equal kinds.
    Convert(Box<Expr>),
    /// `-operand`
    Negate(Box<Expr>),
    /// `not operand`
    Not(Box<Expr>),
    /// `+ - * / %` on two operands of one kind (int, float, decimal; strings for `+`), or on `any`.
    Arithmetic {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `== != < <= > >=` on two operands of one kind, on an int and a float (compared exactly), or on `any`.
    Compare {
        /// Whether `==` and `!=` with a null are null, too, as in a cull's predicate; elsewhere they never are.
        null_is_unknown: bool,
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `and` or `or` on booleans.
    Logic {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `left ?? right`, both of this expression's kind.
    Coalesce(Box<Expr>, Box<Expr>),
    /// `if`, both branches of this expression's kind; without an alternative it is null.
    If {
        /// Boolean; only exactly true takes the consequence.
        condition: Box<Expr>,
        /// Taken when true.
        consequence: Box<Expr>,
        /// Taken otherwise.
        alternative: Option<Box<Expr>>,
    },
    /// `match`: the first arm whose pattern holds. With a subject a pattern is compared by `==` (`pattern` is that
    /// comparison, reading the subject as [`ExprKind::Subject`]); without, it must be exactly true. Arms behind `_`
    /// are left out.
    Match {
        /// Evaluated once.
        subject: Option<Box<Expr>>,
        /// The arms in front of `_`.
        arms: Vec<MatchArm>,
        /// The arm of `_`.
        default: Box<Expr>,
    },
    /// The subject of the innermost `match` around it.
    Subject,
    /// A method.
    Call {
        /// Which.
        function: Function,
        /// What it is called on.
        receiver: Box<Expr>,
        /// Its arguments; for a float where an int is wanted, the kernel truncates.
        args: Vec<Expr>,
    },
}

/// An arm of a typed `match`.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchArm {
    /// Boolean.
    pub pattern: Expr,
    /// Of the match's kind.
    pub body: Expr,
}

/// A value that comes from the run or the row's origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// `$pipeline.name`
    PipelineName,
    /// `$pipeline.execution_id`
    ExecutionId,
    /// `$pipeline.batch_id`
    BatchId,
    /// `$pipeline.start_time` and `now`
    StartTime,
    /// `$source.file`: the file's path as configured or matched.
    SourceFile,
    /// `$source.name`
    SourceName,
    /// `$source.row`: counted across the source's files, from 1.
    SourceRow,
    /// `$vars.*`, by position.
    Var(usize),
}

/// One aggregate over the rows of a group.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggregate {
    /// Which.
    pub function: AggregateFunction,
    /// Row-level expressions over the input: none for `count(*)`, two for `weighted_avg`, else one.
    pub args: Vec<Expr>,
    /// Its result.
    pub ty: Type,
    /// The call.
    pub span: Span,
}

/// An aggregate function. Nulls are skipped by all but `count(*)` and `collect`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AggregateFunction {
    /// `count(*)`, `count()`: rows.
    CountRows,
    /// `count(e)`
    Count,
    /// `sum(e)`: exact; a float sum is rounded once.
    Sum,
    /// `avg(e)`: a float for ints and floats, a decimal to 28 places for decimals.
    Avg,
    /// `min(e)`
    Min,
    /// `max(e)`
    Max,
    /// `collect(e)`: in order, nulls kept.
    Collect,
    /// `weighted_avg(v, w)`: two numbers of one kind.
    WeightedAvg,
}

impl AggregateFunction {
    /// The name it is called by.
    pub fn name(self) -> &'static str {
        match self {
            AggregateFunction::CountRows | AggregateFunction::Count => "count",
            AggregateFunction::Sum => "sum",
            AggregateFunction::Avg => "avg",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
            AggregateFunction::Collect => "collect",
            AggregateFunction::WeightedAvg => "weighted_avg",
        }
    }
}

/// Whether a kind can be ordered by `<`.
pub fn is_ordered(kind: &Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Float | Kind::Decimal { .. } | Kind::String | Kind::Date | Kind::DateTime)
}
