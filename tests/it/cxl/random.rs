//! Random trees, as the parser could have made them.

use clinker::diagnostics::{FileId, Span};
use clinker::syntax::cxl::ast::{
    Arg, Arm, BinaryOp, Expr, ExprKind, Literal, MapEntry, Name, Program, Statement, StatementKind, Target, UnaryOp,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0 };

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: NOWHERE }
}

fn named(text: &str) -> Name {
    Name { text: text.to_owned(), span: NOWHERE }
}

fn name() -> impl Strategy<Value = Name> {
    select(&["a", "b", "amount", "sum", "each", "outer", "info", "debug", "x1", "_y"][..]).prop_map(named)
}

/// A name behind a dot, which may be a keyword.
fn member() -> impl Strategy<Value = Name> {
    prop_oneof![name(), select(&["if", "filter", "in", "null", "now", "match"][..]).prop_map(named)]
}

fn path(head: BoxedStrategy<Name>, len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Name>> {
    (head, vec(member(), len)).prop_map(|(head, rest)| [head].into_iter().chain(rest).collect())
}

fn system() -> impl Strategy<Value = ExprKind> {
    let short = path(select(&["pipeline", "vars", "config", "record"][..]).prop_map(named).boxed(), 1..2);
    let long = path(select(&["source", "doc"][..]).prop_map(named).boxed(), 1..3);
    prop_oneof![short, long].prop_map(|path| ExprKind::System { path, args: None })
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        prop_oneof![0..=i64::MAX, Just(i64::MIN), 0..10_i64].prop_map(Literal::Int),
        prop_oneof![0.0..1e300_f64, 0.0..1.0_f64, Just(0.0), Just(3.0)].prop_map(Literal::Float),
        any::<String>().prop_map(Literal::String),
        (-719_162..=2_932_896_i32).prop_map(Literal::Date),
    ]
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        3 => literal().prop_map(ExprKind::Literal),
        3 => name().prop_map(|name| ExprKind::Name(name.text)),
        2 => path(name().boxed(), 1..3).prop_map(ExprKind::Path),
        1 => system(),
        1 => select(&[ExprKind::Now, ExprKind::It, ExprKind::Wildcard][..]),
    ]
    .prop_map(expr)
}

const OPERATORS: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Coalesce,
];

fn args(inner: impl Strategy<Value = Expr> + Clone) -> impl Strategy<Value = Vec<Arg>> {
    vec(
        prop_oneof![inner.clone().prop_map(Arg::Expr), inner.prop_map(|body| Arg::Closure { span: NOWHERE, body }),],
        0..3,
    )
}

/// A chain whose first part is none of the same operator.
fn chain(op: BinaryOp, mut parts: Vec<Expr>) -> ExprKind {
    match parts[0].kind.clone() {
        ExprKind::Chain { op: same, parts: first } if same == op => {
            parts.splice(..1, first);
        }
        _ => {}
    }
    ExprKind::Chain { op, parts }
}

/// Expressions of every kind.
pub fn expression() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(6, 40, 4, |inner| {
        let inner = inner.boxed();
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let arm = (inner.clone(), inner.clone()).prop_map(|(pattern, body)| Arm { pattern, body });
        let key = any::<String>().prop_map(|key| (false, expr(ExprKind::Literal(Literal::String(key)))));
        let word = name().prop_map(|name| (false, expr(ExprKind::Literal(Literal::String(name.text)))));
        let computed = inner.clone().prop_map(|key| (true, key));
        let entry = (prop_oneof![key, word, computed], inner.clone());
        let entry = entry.prop_map(|((computed, key), value)| MapEntry { key, computed, value });
        let star = Just(vec![Arg::Star(NOWHERE)]);
        prop_oneof![
            6 => (select(OPERATORS), boxed.clone(), boxed.clone())
                .prop_map(|(op, left, right)| ExprKind::Binary { op, op_span: NOWHERE, left, right }),
            3 => (select(&[BinaryOp::And, BinaryOp::Or][..]), vec(inner.clone(), 2..4)).prop_map(|(op, parts)| chain(op, parts)),
            3 => (select(&[UnaryOp::Negate, UnaryOp::Not][..]), boxed.clone())
                .prop_map(|(op, operand)| ExprKind::Unary { op, op_span: NOWHERE, operand }),
            3 => (boxed.clone(), boxed.clone(), option::of(boxed.clone())).prop_map(
                |(condition, consequence, alternative)| ExprKind::If { condition, consequence, alternative }
            ),
            2 => (option::of(boxed.clone()), vec(arm, 0..3))
                .prop_map(|(subject, arms)| ExprKind::Match { subject, arms }),
            3 => (boxed.clone(), member(), option::of(args(inner.clone())))
                .prop_map(|(receiver, method, args)| ExprKind::Method { receiver, method, args }),
            1 => (name(), prop_oneof![args(inner.clone()), star])
                .prop_map(|(function, args)| ExprKind::Call { function, args }),
            1 => (member(), args(inner.clone()))
                .prop_map(|(f, args)| ExprKind::System { path: vec![named("window"), f], args: Some(args) }),
            1 => (boxed.clone(), boxed.clone()).prop_map(|(base, index)| ExprKind::Index { base, index }),
            1 => vec(inner.clone(), 0..3).prop_map(ExprKind::Array),
            1 => (boxed.clone(), name(), boxed.clone(), option::of(boxed)).prop_map(
                |(body, binding, source, predicate)| ExprKind::Comprehension { body, binding, source, predicate }
            ),
            1 => vec(entry, 0..3).prop_map(ExprKind::Map),
        ]
        .prop_map(expr)
    })
}

fn target() -> impl Strategy<Value = Target> {
    let scope = select(&["pipeline", "source", "record"][..]).prop_map(named);
    prop_oneof![
        // `emit each` is the start of a loop.
        3 => name().prop_filter("not a name here", |name| name.text != "each").prop_map(Target::Column),
        1 => (scope, name()).prop_map(|(scope, name)| Target::Scoped { scope, name }),
    ]
}

fn inner_statement() -> impl Strategy<Value = StatementKind> {
    let level = select(&["debug", "info", "warn", "error"][..]).prop_map(named);
    prop_oneof![
        (name(), expression()).prop_map(|(name, value)| StatementKind::Let { name, value }),
        (target(), expression()).prop_map(|(target, value)| StatementKind::Emit { target, value }),
        (option::of(level), option::of(expression()), expression())
            .prop_map(|(level, guard, message)| StatementKind::Trace { level, guard, message }),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let whole = |kind| Statement { kind, span: NOWHERE };
    let binding = prop_oneof![name(), Just(named("it"))];
    let body = vec(inner_statement().prop_map(whole), 0..3);
    prop_oneof![
        4 => inner_statement(),
        1 => expression().prop_map(|predicate| StatementKind::Filter { predicate }),
        1 => option::of(name()).prop_map(|by| StatementKind::Distinct { by }),
        1 => expression().prop_map(StatementKind::Expr),
        1 => (binding, expression(), any::<bool>(), body)
            .prop_map(|(binding, source, outer, body)| StatementKind::EmitEach { binding, source, outer, body }),
    ]
    .prop_map(whole)
}

/// Programs of every kind of statement.
pub fn program() -> impl Strategy<Value = Program> {
    let uses = (path(name().boxed(), 0..3), option::of(name()))
        .prop_map(|(path, alias)| Statement { kind: StatementKind::Use { path, alias }, span: NOWHERE });
    (vec(uses, 0..2), vec(statement(), 0..5)).prop_map(|(uses, statements)| Program {
        statements: uses.into_iter().chain(statements).collect(),
        complete: true,
        span: NOWHERE,
    })
}

/// Texts made of pieces of CXL in any order.
pub fn soup() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "let ",
        "emit ",
        "emit each ",
        "filter ",
        "distinct ",
        "by ",
        "trace ",
        "info ",
        "use ",
        "as ",
        "fn ",
        "if ",
        "then ",
        "else ",
        "match ",
        "for ",
        "in ",
        "outer ",
        "and ",
        "or ",
        "not ",
        "null ",
        "true ",
        "now",
        "it ",
        "_ ",
        "a",
        "b ",
        "sum",
        "$",
        "$vars",
        "$window",
        ".",
        ",",
        ":",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=",
        "==",
        "!=",
        "<",
        "<=",
        "=>",
        "??",
        "+",
        "-",
        "*",
        "/",
        "%",
        "1",
        "2.5",
        "9223372036854775808",
        "\"text\"",
        "'",
        "\"",
        "\\",
        "#2024-01-01#",
        "#2024-1-1#",
        "# note",
        "\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        "é",
        "“",
        "&&",
        "||",
        "!",
        ";",
        "1e5",
    ];
    vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}
