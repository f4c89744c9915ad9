//! The tree of a CXL text. Every part has its span in the pipeline file.

#![expect(missing_docs, reason = "each variant shows the syntax that its fields are named after")]

use crate::diagnostics::Span;

/// A name as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A sequence of statements.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// In order of writing.
    pub statements: Vec<Statement>,
    /// Whether all names that statements bind are known; if not, followers stay silent about names that are missing.
    pub complete: bool,
    /// The whole text.
    pub span: Span,
}

/// One statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// The whole statement.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    /// `let name = value`
    Let { name: Name, value: Expr },
    /// `emit target = value`
    Emit { target: Target, value: Expr },
    /// `filter predicate`
    Filter { predicate: Expr },
    /// `distinct`, `distinct by name`
    Distinct { by: Option<Name> },
    /// `trace level if guard message`
    Trace { level: Option<Name>, guard: Option<Expr>, message: Expr },
    /// `use a.b as c`
    Use { path: Vec<Name>, alias: Option<Name> },
    /// `emit each binding in source outer { body }`
    EmitEach { binding: Name, source: Expr, outer: bool, body: Vec<Statement> },
    /// `fn name(…) = …`, which a program can't hold; already reported.
    Function { name: Name },
    /// An expression whose value is dropped.
    Expr(Expr),
}

/// What an `emit` writes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// An output column.
    Column(Name),
    /// `$scope.name`
    Scoped { scope: Name, name: Name },
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The whole expression, parentheses around it not included.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// `now`
    Now,
    /// `it`
    It,
    /// `_` (legal only as a pattern)
    Wildcard,
    /// A bare name.
    Name(String),
    /// `a.b` or `a.b.c`, each part a name: a qualified field, a map member, or a method without parentheses; the
    /// binder decides.
    Path(Vec<Name>),
    /// `$scope.name`, `$scope.name.member`, or `$window.f(args)`; parts without the `$`.
    System { path: Vec<Name>, args: Option<Vec<Arg>> },
    /// `-operand`, `not operand`
    Unary { op: UnaryOp, op_span: Span, operand: Box<Expr> },
    /// `left op right`; `and` and `or` are a [`ExprKind::Chain`].
    Binary { op: BinaryOp, op_span: Span, left: Box<Expr>, right: Box<Expr> },
    /// `a and b and c`, `a or b or c`: at least two parts. The first is no chain of the same operator.
    Chain { op: BinaryOp, parts: Vec<Expr> },
    /// `if condition then consequence else alternative`
    If { condition: Box<Expr>, consequence: Box<Expr>, alternative: Option<Box<Expr>> },
    /// `match subject { arms }`
    Match { subject: Option<Box<Expr>>, arms: Vec<Arm> },
    /// `receiver.method(args)`; `args` is `None` for `receiver.method` behind anything but a name.
    Method { receiver: Box<Expr>, method: Name, args: Option<Vec<Arg>> },
    /// `name(args)`: an aggregate, or a call of an unknown function; `count(*)` has [`Arg::Star`].
    Call { function: Name, args: Vec<Arg> },
    /// `base[index]`
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[body for binding in source if predicate]`
    Comprehension { body: Box<Expr>, binding: Name, source: Box<Expr>, predicate: Option<Box<Expr>> },
    /// `{ key: value }`
    Map(Vec<MapEntry>),
    /// What did not parse; already reported.
    Error,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A value.
    Expr(Expr),
    /// `it => body`
    Closure { span: Span, body: Expr },
    /// `*`
    Star(Span),
}

/// An entry of a map literal.
#[derive(Clone, PartialEq, Debug)]
pub struct MapEntry {
    /// The key: a name or string gives a literal, `[e]` an expression.
    pub key: Expr,
    /// Whether the key was written in brackets.
    pub computed: bool,
    /// The value.
    pub value: Expr,
}

/// An arm of a `match`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// The pattern or guard; [`ExprKind::Wildcard`] for `_`.
    pub pattern: Expr,
    /// The value.
    pub body: Expr,
}

/// A literal value.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    String(String),
    /// `#YYYY-MM-DD#`, as days since 1970-01-01.
    Date(i32),
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `not`
    Not,
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `and`
    And,
    /// `or`
    Or,
    /// `??`
    Coalesce,
}

impl BinaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Coalesce => "??",
        }
    }
}
