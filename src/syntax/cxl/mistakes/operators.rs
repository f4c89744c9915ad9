//! Slips around operators and punctuation.

use super::forms::{comma_between, end_of_arguments, outside_of_brackets, subject_of_match};
use super::scene::Scene;
use super::vocabulary::{describe, whole};
use super::{Rule, error};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::token::{Tok, Token};

pub(super) const RULES: &[Rule] = &[
    called_if,
    near_date,
    single_equals,
    chained_comparison,
    coalesce_in_condition,
    colon_in_match,
    compared_in_match,
    no_brace,
    no_message,
    no_then,
    stray_else,
    bare_fraction,
    bare_point,
    prefix_plus,
    trailing_comma,
    stray_comma,
    arrow,
];

/// `emit d = #2024-1-5#`, where the date is read as a comment.
fn near_date(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let last = scene.before().filter(|_| scene.found().is_none())?;
    let (_, span) = scene.near_dates.iter().find(|(offset, _)| *offset >= last.offset + last.text.len())?;
    Some(
        error(format!("expected a value after {}, but the rest of the line is a comment", describe(last)), *span)
            .help("a date is written `#YYYY-MM-DD#`, with all its digits"),
    )
}

/// `if(a, 1, 2)`
fn called_if(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Comma)?;
    let (open, bracket) = scene.bracket()?;
    let word = scene.tokens.get(open.checked_sub(1)?)?;
    let called = bracket.tok == Tok::LeftParen && word.tok == Tok::If && scene.wants_operator();
    let condition = scene.text(open + 1..scene.at);
    let (behind, end) = (scene.at + 1, end_of_arguments(scene));
    let (value, other) = match comma_between(scene, behind, end) {
        Some(comma) => (scene.text(behind..comma), scene.text(comma + 1..end)),
        None => ("…".to_owned(), "…".to_owned()),
    };
    called.then(|| {
        error("`if` is not a function", word.span.to(found.span))
            .help(format!("write `if {condition} then {value} else {other}`"))
    })
}

/// `filter a = 5`
fn single_equals(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Equal && scene.wants_operator())?;
    let assignment = scene.statement && scene.at == 1;
    (!assignment).then(|| error("`=` does not compare", found.span).help("write `==`").fix(found.span, "=="))
}

/// `a < b < c`
fn chained_comparison(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found =
        scene.found().filter(|token| token.tok.is_comparison() && !scene.expects("==") && !scene.wants_value())?;
    let first = scene.tokens[..scene.at].iter().rposition(|token| token.tok.is_comparison())?;
    if !scene.wants_operator() {
        return None;
    }
    let diagnostic =
        error("comparisons are not chainable", found.span).label(scene.tokens[first].span, "the first one");
    let [middle] = &scene.tokens[first + 1..scene.at] else {
        return Some(diagnostic.help("write two comparisons and join them with `and`"));
    };
    let (first, name) = (scene.tokens[first].text, middle.text);
    let diagnostic = diagnostic.help(format!("write `… {first} {name} and {name} {} …`", found.text));
    let ordered = |text: &str| text.starts_with(['<', '>']);
    let place = Span::new(found.span.file, found.span.start, found.span.start);
    let fixable = ordered(first) && ordered(found.text);
    Some(if fixable { diagnostic.fix(place, format!("and {name} ")) } else { diagnostic })
}

/// `if a ?? b then c`
fn coalesce_in_condition(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Coalesce && scene.expects("then"))?;
    Some(error("`??` needs parentheses in the condition of an `if`", found.span).help("write `if (a ?? b) then …`"))
}

/// `match x { 1: "a" }`
fn colon_in_match(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let in_match = scene.bracket().is_some_and(|(_, open)| open.tok == Tok::MatchBrace);
    let found = scene.found().filter(|token| in_match && matches!(token.tok, Tok::Colon | Tok::Then | Tok::Equal))?;
    scene.expects("=>").then(|| {
        error(format!("expected `=>` between pattern and value, found `{}`", found.text), found.span)
            .help("write `=>`; a map that is matched stands in parentheses")
            .fix(found.span, if touches(scene) { " =>" } else { "=>" })
    })
}

/// `match x { > 1 => "a" }`
fn compared_in_match(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok.is_comparison() && scene.wants_value())?;
    let (open, bracket) = scene.bracket()?;
    if bracket.tok != Tok::MatchBrace || !matches!(scene.before()?.tok, Tok::MatchBrace | Tok::Comma) {
        return None;
    }
    let subject = subject_of_match(scene, open)?;
    let value = compared_value(scene).unwrap_or_else(|| "…".to_owned());
    Some(
        error("an arm of a `match` has a value in front of `=>`", found.span)
            .help(format!("compare in the arm: `match {{ {subject} {} {value} => …, _ => … }}`", found.text)),
    )
}

/// What stands between the comparison that was found and its `=>`; `None` if that is more than a value.
fn compared_value(scene: &Scene<'_, '_>) -> Option<String> {
    let joins = |tok: &Tok<'_>| matches!(tok, Tok::Arrow | Tok::Comma | Tok::And | Tok::Or | Tok::Coalesce);
    let end = outside_of_brackets(scene, scene.at + 1, |tok| joins(tok) || tok.closes() || tok.is_comparison())?;
    (scene.tokens[end].tok == Tok::Arrow && end > scene.at + 1).then(|| scene.text(scene.at + 1..end))
}

/// Whether what was found follows without a space.
fn touches(scene: &Scene<'_, '_>) -> bool {
    scene.before().is_some_and(|before| before.span.end == scene.span().start)
}

/// "found …" or "but the statement ends"
fn found_or_end(scene: &Scene<'_, '_>) -> String {
    match scene.found() {
        Some(found) => format!("found {}", describe(found)),
        None => format!("but the {} ends", whole(scene)),
    }
}

/// `match a 1 => 2`, `emit each a in b`
fn no_brace(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let part = match (scene.expects("match {"), scene.expects("block")) {
        (true, _) => "the subject of `match`",
        (_, true) => "the source of `emit each`",
        _ => return None,
    };
    let found = found_or_end(scene);
    scene.wants_operator().then(|| error(format!("expected `{{` after {part}, {found}"), scene.span()))
}

/// `trace info if a`
fn no_message(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = found_or_end(scene);
    let guard = scene.expects("guard end") && scene.wants_operator();
    guard.then(|| error(format!("expected a message after the condition of `trace`, {found}"), scene.span()))
}

/// `if a { b }`, `if a else b`
fn no_then(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    if !scene.expects("then") || !scene.wants_operator() {
        return None;
    }
    let condition = scene.tokens[..scene.at].iter().rfind(|token| token.tok == Tok::If)?;
    let found = found_or_end(scene);
    Some(
        error(format!("expected `then` after the condition, {found}"), scene.span())
            .label(condition.span, "the condition of this `if`")
            .help("write `if condition then value else other`"),
    )
}

/// `a else b`
fn stray_else(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| matches!(token.tok, Tok::Else | Tok::Then) && scene.wants_operator())?;
    let opening = if found.tok == Tok::Else { "if … then" } else { "if" };
    Some(error(format!("`{}` has no `{opening}` in front of it", found.text), found.span))
}

/// `.5`
fn bare_fraction(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Dot && scene.wants_value())?;
    let next = scene.tokens.get(scene.at + 1).filter(|token| matches!(token.tok, Tok::Int(_)))?;
    Some(
        error(format!("`.{}` is not a number", next.text), found.span.to(next.span))
            .help(format!("write `0.{}`", next.text))
            .fix(found.span, "0."),
    )
}

/// `1.`
fn bare_point(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let [number @ Tok::Int(_), Tok::Dot] = scene.last(2)[..] else { return None };
    let number = scene.tokens[..scene.at].iter().rfind(|token| token.tok == *number)?;
    let span = number.span.to(scene.before()?.span);
    Some(
        error(format!("`{}.` is not a number", number.text), span)
            .help(format!("write `{}.0`", number.text))
            .fix(span, format!("{}.0", number.text)),
    )
}

/// `+5`
fn prefix_plus(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Plus && scene.wants_value())?;
    let behind_value = scene.before().is_some_and(|token| token.tok.ends_expression());
    (!behind_value).then(|| error("`+` needs a value in front of it", found.span))
}

/// `f(a, )`
fn trailing_comma(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let comma = scene.before().filter(|token| token.tok == Tok::Comma)?;
    let found = scene.found().filter(|token| token.tok == Tok::RightParen)?;
    Some(
        error(format!("expected a value after `,`, found {}", describe(found)), found.span)
            .help("remove the `,`")
            .fix(comma.span, ""),
    )
}

/// `emit a = 1,`
fn stray_comma(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Comma && scene.bracket().is_none())?;
    let statement = scene.statement && scene.wants_operator();
    statement.then(|| {
        error("`,` does not separate statements", found.span).help("write each statement on a line of its own")
    })
}

/// `x => x + 1`, `a => b` meant as a comparison.
fn arrow(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Arrow && scene.wants_operator())?;
    let before = scene.before()?;
    match &before.tok {
        Tok::Ident(_) if scene.in_arguments() && starts_argument(scene, before) => Some(
            error(format!("the parameter of a closure is `it`, found `{}`", before.text), before.span)
                .help("write `it => …`, and `it` for each element"),
        ),
        Tok::It => Some(closure_alone(before.span.to(found.span))),
        _ => Some(
            error("`=>` does not compare", found.span)
                .help("`>=` means at least; `=>` stands between the pattern and the value of a `match`"),
        ),
    }
}

/// `it => …` where no method takes it: a name that is not known there.
fn closure_alone(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E203, "`it => …` can stand only among the arguments of a method")
        .label(span, "no method takes this closure")
}

fn starts_argument(scene: &Scene<'_, '_>, token: &Token<'_>) -> bool {
    let index = scene.tokens.iter().position(|other| std::ptr::eq(other, token));
    let before = index.and_then(|index| index.checked_sub(1)).map(|index| &scene.tokens[index].tok);
    matches!(before, Some(Tok::LeftParen | Tok::Comma))
}
