//! What the grammar's actions call: parts into larger parts, with spans and bounded depth.
//!
//! Later stages walk the tree recursively, so its height is bounded here, while it is built: no tree that is too high
//! for a recursive function ever exists, not even to be dropped.

use lalrpop_util::ParseError;

use super::ast::{
    Arg, Arm, BinaryOp, Expr, ExprKind, Literal, MapEntry, Name, Statement, StatementKind, Target, UnaryOp,
};
use super::token::{Tok, Token};
use crate::diagnostics::Span;

/// How deep expressions may be nested in each other, brackets counted.
pub const MAX_NESTING: u32 = 256;

/// How many parts an expression may join in a row, as `a + b + c` joins three. Each adds a level to the tree although
/// nothing is nested. Chains of `and` and of `or` have no such limit: their trees are low.
pub const MAX_PARTS: u32 = 1500;

/// How high the tree of an expression may be: a chain of [`MAX_PARTS`], and each part nested as deep as it can be. The
/// recursive walks of all stages get along with this many levels on a thread's usual stack of 2 MB, also in debug
/// builds; a test holds them to it.
pub const MAX_HEIGHT: u32 = MAX_PARTS + MAX_NESTING;

/// How deep a part of an expression is.
#[derive(Clone, Copy, Default, Debug)]
pub struct Depth {
    /// Levels of nesting; the left operand of an operator or method counts as a neighbour, not as nested.
    nesting: u32,
    /// Levels of the tree.
    height: u32,
    /// How many parts it joins in a row.
    parts: u32,
}

impl Depth {
    fn deepest(parts: impl IntoIterator<Item = Depth>) -> Self {
        parts.into_iter().fold(Depth::default(), |a, b| Depth {
            nesting: a.nesting.max(b.nesting),
            height: a.height.max(b.height),
            parts: 0,
        })
    }

    /// The depth of what holds `left` as a neighbour and the others inside.
    fn around(left: Option<Depth>, inside: impl IntoIterator<Item = Depth>) -> Self {
        let (left, inside) = (left.unwrap_or_default(), Depth::deepest(inside));
        Depth {
            nesting: left.nesting.max(inside.nesting + 1),
            height: left.height.max(inside.height) + 1,
            parts: left.parts + 1,
        }
    }

    /// The depth of a chain of `and` or `or` with one more part; `count` are those that it had. It becomes a balanced
    /// tree.
    fn chained(self, count: usize, last: Depth) -> Self {
        let highest = self.height - levels(count);
        Depth {
            nesting: self.nesting.max(last.nesting + 1),
            height: highest.max(last.height) + levels(count + 1),
            parts: 1,
        }
    }
}

/// How many levels a balanced tree has above so many leaves.
fn levels(leaves: usize) -> u32 {
    leaves.next_power_of_two().ilog2()
}

/// An expression, as far as it is parsed.
#[derive(Debug)]
pub struct Part {
    /// The tree.
    pub expr: Expr,
    depth: Depth,
}

/// What an action refuses.
#[derive(Clone, PartialEq, Debug)]
pub enum Mistake {
    /// Nested more than [`MAX_NESTING`] levels.
    Nesting(Span),
    /// More than [`MAX_PARTS`] in a row.
    Parts(Span),
    /// More than [`MAX_PARTS`] of `if`, each the `else` of the one before; with the text that all of the conditions
    /// seem to compare, if there is one.
    Branches(Span, Option<String>),
    /// More than [`MAX_HEIGHT`] levels of operators.
    Height(Span),
    /// `emit` to a scope that can't be written.
    Target(Name),
    /// Arguments behind a variable that is not a function.
    NoFunction(Span),
}

/// The state of the parse of one statement.
#[derive(Debug)]
pub struct Builder<'input, 'b> {
    tokens: &'b [Token<'input>],
    block: Vec<Statement>,
}

type Built<'input, T = Part> = Result<T, ParseError<usize, Tok<'input>, Mistake>>;

impl<'input, 'b> Builder<'input, 'b> {
    /// A builder over the tokens of one statement and the statements of its block, if it has one.
    pub fn new(tokens: &'b [Token<'input>], block: Vec<Statement>) -> Self {
        Self { tokens, block }
    }

    /// The span of the tokens from `l` up to `r`.
    pub fn span(&self, l: usize, r: usize) -> Span {
        self.tokens[l].span.to(self.tokens[r - 1].span)
    }

    /// A name with its place.
    pub fn name(&self, l: usize, text: &str, r: usize) -> Name {
        Name { text: text.to_owned(), span: self.span(l, r) }
    }

    /// The statements of the block.
    pub fn take_block(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.block)
    }

    /// `trace`, whose message starts at `l`. A bare `if … then …` without `else` is a guard with its message.
    pub fn trace(&self, level: Option<Name>, l: usize, message: Part) -> StatementKind {
        let bare = self.tokens[l].span.start == message.expr.span.start;
        match message.expr.kind {
            ExprKind::If { condition, consequence, alternative: None } if bare => {
                StatementKind::Trace { level, guard: Some(*condition), message: *consequence }
            }
            kind => StatementKind::Trace { level, guard: None, message: Expr { kind, span: message.expr.span } },
        }
    }

    /// A variable that `emit` writes.
    pub fn target(&self, scope: Name, name: Name) -> Built<'input, Target> {
        match scope.text.as_str() {
            "pipeline" | "source" | "record" => Ok(Target::Scoped { scope, name }),
            _ => Err(refuse(Mistake::Target(scope))),
        }
    }

    /// `left op right`
    pub fn binary(&self, l: usize, left: Part, op: (usize, BinaryOp), right: Part, r: usize) -> Built<'input> {
        let (at, op) = op;
        let depth = match op {
            BinaryOp::And | BinaryOp::Or => return self.chain(l, left, op, right, r),
            BinaryOp::Coalesce => Depth::around(Some(right.depth), [left.depth]),
            _ => Depth::around(Some(left.depth), [right.depth]),
        };
        let op_span = self.span(at, at + 1);
        let kind = ExprKind::Binary { op, op_span, left: Box::new(left.expr), right: Box::new(right.expr) };
        self.part(l, kind, depth, r)
    }

    /// `left and right`, where `left` may be such a chain already; `or` likewise.
    fn chain(&self, l: usize, left: Part, op: BinaryOp, right: Part, r: usize) -> Built<'input> {
        let mut parts = match left.expr.kind {
            ExprKind::Chain { op: same, parts } if same == op => parts,
            _ => vec![left.expr],
        };
        let depth = left.depth.chained(parts.len(), right.depth);
        parts.push(right.expr);
        self.part(l, ExprKind::Chain { op, parts }, depth, r)
    }

    /// `-operand`, `not operand`; the operator ends at `op_end`.
    pub fn unary(&self, l: usize, op: UnaryOp, op_end: usize, operand: Part, r: usize) -> Built<'input> {
        let kind = ExprKind::Unary { op, op_span: self.span(l, op_end), operand: Box::new(operand.expr) };
        self.part(l, kind, Depth::around(None, [operand.depth]), r)
    }

    /// `if condition then consequence else alternative`. The alternative counts as a neighbour, so that a long chain
    /// of `else if` is not nested.
    pub fn conditional(
        &self,
        l: usize,
        condition: Part,
        consequence: Part,
        alternative: Option<Part>,
        r: usize,
    ) -> Built<'input> {
        let (alternative, neighbour) = alternative.map(|part| (Box::new(part.expr), part.depth)).unzip();
        let is_chain = alternative.as_ref().is_some_and(|other| matches!(other.kind, ExprKind::If { .. }));
        let mut depth = Depth::around(neighbour, [condition.depth, consequence.depth]);
        depth.parts = if is_chain { depth.parts } else { 1 };
        if depth.parts > MAX_PARTS {
            return Err(refuse(Mistake::Branches(self.span(l, r), compared(&condition.expr))));
        }
        let (condition, consequence) = (Box::new(condition.expr), Box::new(consequence.expr));
        self.part(l, ExprKind::If { condition, consequence, alternative }, depth, r)
    }

    /// `a`, `a.b`, `a.b.c`; names behind the third are methods.
    pub fn path(&self, l: usize, mut names: Vec<Name>, r: usize) -> Built<'input> {
        let methods = names.split_off(names.len().min(3));
        let span = names[0].span.to(names[names.len() - 1].span);
        let kind = match names.len() {
            1 => ExprKind::Name(names.swap_remove(0).text),
            _ => ExprKind::Path(names),
        };
        let head = Part { expr: Expr { kind, span }, depth: Depth::around(None, []) };
        self.members(l, head, methods, r)
    }

    /// `$scope.name`, for `$source` and `$doc` also `$scope.name.member`; names behind are methods.
    pub fn system(&self, l: usize, mut path: Vec<Name>, r: usize) -> Built<'input> {
        let most = if matches!(path[0].text.as_str(), "source" | "doc") { 3 } else { 2 };
        let methods = path.split_off(path.len().min(most));
        let span = path[0].span.to(path[path.len() - 1].span);
        let kind = ExprKind::System { path, args: None };
        let head = Part { expr: Expr { kind, span }, depth: Depth::around(None, []) };
        self.members(l, head, methods, r)
    }

    /// `$window.f(args)`, or a method of a variable; the path ends at `end`.
    pub fn system_call(
        &self,
        l: usize,
        mut path: Vec<Name>,
        end: usize,
        args: Vec<(Arg, Depth)>,
        r: usize,
    ) -> Built<'input> {
        if let [scope, _] = path.as_slice() {
            if scope.text != "window" {
                return Err(refuse(Mistake::NoFunction(self.span(l, end))));
            }
            let (args, depths) = split(args);
            return self.part(l, ExprKind::System { path, args: Some(args) }, Depth::around(None, depths), r);
        }
        let method = path.pop().expect("a variable has a scope and a name");
        let receiver = self.system(l, path, end - 2)?;
        self.method(l, receiver, method, Some(args), r)
    }

    fn members(&self, l: usize, head: Part, methods: Vec<Name>, r: usize) -> Built<'input> {
        let behind = methods.len();
        methods.into_iter().enumerate().try_fold(head, |receiver, (index, method)| {
            // Each member is a dot and a name.
            let end = r - 2 * (behind - 1 - index);
            self.method(l, receiver, method, None, end)
        })
    }

    /// `receiver.method(args)`
    pub fn method(
        &self,
        l: usize,
        receiver: Part,
        method: Name,
        args: Option<Vec<(Arg, Depth)>>,
        r: usize,
    ) -> Built<'input> {
        let (args, depths) = args.map(split).unzip();
        let depth = Depth::around(Some(receiver.depth), depths.unwrap_or_default());
        self.part(l, ExprKind::Method { receiver: Box::new(receiver.expr), method, args }, depth, r)
    }

    /// `name(args)`
    pub fn call(&self, l: usize, function: Name, args: Vec<(Arg, Depth)>, r: usize) -> Built<'input> {
        let (args, depths) = split(args);
        self.part(l, ExprKind::Call { function, args }, Depth::around(None, depths), r)
    }

    /// `base[index]`
    pub fn index(&self, l: usize, base: Part, index: Part, r: usize) -> Built<'input> {
        let depth = Depth::around(Some(base.depth), [index.depth]);
        self.part(l, ExprKind::Index { base: Box::new(base.expr), index: Box::new(index.expr) }, depth, r)
    }

    /// `(inner)`: the tree and its span stay those of `inner`.
    pub fn parenthesised(&self, l: usize, inner: Part, r: usize) -> Built<'input> {
        let nesting = inner.depth.nesting + 1;
        if nesting > MAX_NESTING {
            return Err(refuse(Mistake::Nesting(self.span(l, r))));
        }
        Ok(Part { expr: inner.expr, depth: Depth { nesting, ..inner.depth } })
    }

    /// `match subject { arms }`
    pub fn match_of(&self, l: usize, subject: Option<Part>, arms: Vec<(Part, Part)>, r: usize) -> Built<'input> {
        let parts = arms.iter().flat_map(|(pattern, body)| [pattern.depth, body.depth]);
        let depth = Depth::around(None, parts.chain(subject.as_ref().map(|part| part.depth)));
        let arms = arms.into_iter().map(|(pattern, body)| Arm { pattern: pattern.expr, body: body.expr }).collect();
        self.part(l, ExprKind::Match { subject: subject.map(|part| Box::new(part.expr)), arms }, depth, r)
    }

    /// `[items]`
    pub fn array(&self, l: usize, items: Vec<Part>, r: usize) -> Built<'input> {
        let depth = Depth::around(None, items.iter().map(|item| item.depth));
        self.part(l, ExprKind::Array(items.into_iter().map(|item| item.expr).collect()), depth, r)
    }

    /// `[body for binding in source if predicate]`
    pub fn comprehension(
        &self,
        l: usize,
        body: Part,
        binding: Name,
        source: Part,
        predicate: Option<Part>,
        r: usize,
    ) -> Built<'input> {
        let (predicate, inside) = predicate.map(|part| (Box::new(part.expr), part.depth)).unzip();
        let depth = Depth::around(None, [body.depth, source.depth].into_iter().chain(inside));
        let (body, source) = (Box::new(body.expr), Box::new(source.expr));
        self.part(l, ExprKind::Comprehension { body, binding, source, predicate }, depth, r)
    }

    /// `{ entries }`
    pub fn map(&self, l: usize, entries: Vec<(Part, bool, Part)>, r: usize) -> Built<'input> {
        let depth = Depth::around(None, entries.iter().flat_map(|(key, _, value)| [key.depth, value.depth]));
        let entry =
            |(key, computed, value): (Part, bool, Part)| MapEntry { key: key.expr, computed, value: value.expr };
        self.part(l, ExprKind::Map(entries.into_iter().map(entry).collect()), depth, r)
    }

    /// The key of a map entry, written as a name or a text.
    pub fn key(&self, l: usize, key: String, r: usize) -> Part {
        self.literal(l, Literal::String(key), r)
    }

    /// A literal.
    pub fn literal(&self, l: usize, literal: Literal, r: usize) -> Part {
        self.leaf(l, ExprKind::Literal(literal), r)
    }

    /// A word that is an expression by itself.
    pub fn leaf(&self, l: usize, kind: ExprKind, r: usize) -> Part {
        Part { expr: Expr { kind, span: self.span(l, r) }, depth: Depth::around(None, []) }
    }

    /// An argument that is a value.
    pub fn argument(&self, value: Part) -> (Arg, Depth) {
        (Arg::Expr(value.expr), value.depth)
    }

    /// `it => body`
    pub fn closure(&self, l: usize, body: Part, r: usize) -> (Arg, Depth) {
        (Arg::Closure { span: self.span(l, r), body: body.expr }, body.depth)
    }

    fn part(&self, l: usize, kind: ExprKind, depth: Depth, r: usize) -> Built<'input> {
        let span = self.span(l, r);
        if depth.nesting > MAX_NESTING {
            return Err(refuse(Mistake::Nesting(span)));
        }
        if depth.parts > MAX_PARTS {
            return Err(refuse(Mistake::Parts(span)));
        }
        if depth.height > MAX_HEIGHT {
            return Err(refuse(Mistake::Height(span)));
        }
        Ok(Part { expr: Expr { kind, span }, depth })
    }
}

/// What a condition compares for equality, as it is written.
fn compared(condition: &Expr) -> Option<String> {
    match &condition.kind {
        ExprKind::Binary { op: BinaryOp::Equal, left, .. } => Some(left.to_string()),
        _ => None,
    }
}

fn split(args: Vec<(Arg, Depth)>) -> (Vec<Arg>, Vec<Depth>) {
    args.into_iter().unzip()
}

fn refuse<'input>(mistake: Mistake) -> ParseError<usize, Tok<'input>, Mistake> {
    ParseError::User { error: mistake }
}
