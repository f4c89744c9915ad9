//! What does not parse, in words.
//!
//! The grammar says which token it could not take and which ones it could have. [`explain`] turns that into one
//! sentence: first the rules that know a common slip (`names`, `forms`, `operators`, `habits`), then the plain
//! "expected …, found …" of `vocabulary`. `characters` is for what is not even a token.

pub(super) mod characters;
mod forms;
mod habits;
mod names;
mod operators;
mod scene;
mod vocabulary;

pub(crate) use forms::one_by_one;
pub(crate) use habits::NO_WINDOWS;
pub(crate) use names::NO_COUNT_OF_DISTINCT;

use lalrpop_util::ParseError;

use super::ast::{Name, Statement, StatementKind};
use super::builder::{MAX_HEIGHT, MAX_NESTING, MAX_PARTS, Mistake};
use super::statements::RawStatement;
use super::token::{Tok, Token};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use scene::Scene;

/// The statement or expression that a mistake stands in.
pub(super) struct Place<'a, 'input> {
    /// Its tokens.
    pub tokens: &'a [Token<'input>],
    /// Comments that look like dates, in the whole text.
    pub near_dates: &'a [(usize, Span)],
    /// Whether a statement is read, not an expression.
    pub statement: bool,
}

/// A rule for one kind of slip; `None` if this is another one.
type Rule = fn(&Scene<'_, '_>) -> Option<Diagnostic>;

/// The rules, the more special ones first.
const RULES: &[&[Rule]] = &[names::RULES, forms::RULES, operators::RULES, habits::RULES];

/// Says what is wrong with a statement.
pub(super) fn explain(place: &Place<'_, '_>, error: ParseError<usize, Tok<'_>, Mistake>) -> Diagnostic {
    let (at, expected) = match error {
        ParseError::User { error } => return refused(error),
        ParseError::UnrecognizedToken { token: (at, ..), expected } => (at, expected),
        ParseError::ExtraToken { token: (at, ..) } => (at, Vec::new()),
        ParseError::UnrecognizedEof { expected, .. } => (place.tokens.len(), expected),
        ParseError::InvalidToken { location } => (location, Vec::new()),
    };
    let scene = Scene::new(place, at, expected);
    RULES.iter().copied().flatten().find_map(|rule| rule(&scene)).unwrap_or_else(|| vocabulary::plain(&scene))
}

/// An error with its first line and its place.
fn error(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, message).label(span, "")
}

fn refused(mistake: Mistake) -> Diagnostic {
    match mistake {
        Mistake::Nesting(span) => error(format!("the expression is nested more than {MAX_NESTING} levels deep"), span)
            .help("give names to its parts with `let`"),
        Mistake::Parts(span) => error(format!("the expression joins more than {MAX_PARTS} parts in a row"), span)
            .help("give names to its parts with `let`"),
        Mistake::Branches(span, compared) => branches(span, compared.as_deref()),
        Mistake::Height(span) => error(format!("the expression has more than {MAX_HEIGHT} levels of operators"), span)
            .help("give names to its parts with `let`"),
        Mistake::Target(scope) => target(&scope),
        Mistake::NoFunction(span) => {
            error("a variable is not called", span).help("leave out the parentheses; only `$window` has functions")
        }
    }
}

fn branches(span: Span, compared: Option<&str>) -> Diagnostic {
    let form = match compared.filter(|value| value.len() <= 40) {
        Some(value) => format!("match {value} {{ first => …, second => …, _ => … }}"),
        None => "match { condition => value, …, _ => other }".to_owned(),
    };
    error(format!("the expression has more than {MAX_PARTS} branches of `if … else if`"), span)
        .help(format!("write a `match`, which may have any number of arms: `{form}`"))
}

fn target(scope: &Name) -> Diagnostic {
    let diagnostic = error(format!("`emit` can't write to `${}`", scope.text), scope.span);
    match scope.text.as_str() {
        "vars" | "config" => diagnostic.help("its values are the same for the whole run"),
        _ => diagnostic.help("`emit` writes columns, `$record`, `$source` and `$pipeline`"),
    }
}

/// Reports each `use` that stands behind another statement.
pub(super) fn late_use(statements: &[Statement], diagnostics: &mut Diagnostics) {
    let is_use = |statement: &&Statement| matches!(statement.kind, StatementKind::Use { .. });
    let first = statements.iter().position(|statement| !is_use(&statement)).unwrap_or(statements.len());
    for statement in statements[first..].iter().filter(is_use) {
        diagnostics.push(
            error("`use` must stand in front of all other statements", statement.span)
                .help("move it to the start of the program"),
        );
    }
}

/// A text that should hold an expression and holds nothing.
pub(super) fn empty(span: Span) -> Diagnostic {
    error("an expression is missing", span)
}

/// A statement where an expression should stand.
pub(super) fn not_an_expression(raw: &RawStatement<'_>) -> Option<Diagnostic> {
    let first = raw.tokens.first().filter(|token| token.tok.starts_statement())?;
    let diagnostic = error(format!("`{}` can't stand here, only an expression", first.text), first.span);
    Some(match (&first.tok, raw.tokens.get(1)) {
        (Tok::Filter, Some(next)) => {
            let word = Span::new(first.span.file, first.span.start, next.span.start);
            diagnostic.help("leave out `filter`").fix(word, "")
        }
        _ => diagnostic.help("write the value itself"),
    })
}

/// A line behind one that ended the expression.
pub(super) fn second_line(next: &RawStatement<'_>) -> Diagnostic {
    let first = &next.tokens[0];
    let diagnostic = error("the expression ended on the line before", first.span);
    match first.tok {
        Tok::Minus => diagnostic.help("move the `-` to the end of the line before"),
        _ => diagnostic.help("join the lines with an operator such as `and`"),
    }
}

/// A statement that an `emit each` can't hold.
pub(super) fn not_in_block(what: &str, span: Span) -> Diagnostic {
    error(format!("{what} can't stand inside `emit each`"), span)
        .help("inside stand `let`, `emit`, `trace` and further `emit each`")
}
