//! Forms of other languages that take several tokens: texts and dates behind a word, casts, several values for one arm.

use super::scene::Scene;
use super::{Rule, error};
use crate::diagnostics::{Diagnostic, Span};
use crate::syntax::cxl::token::{Tok, Token};

pub(super) const RULES: &[Rule] = &[cast, prefixed_text, interval, extract, alternatives, where_inside, subquery];

/// The names of types in other languages, and the method that makes a value of one.
const CONVERSIONS: &[(&str, &str)] = &[
    ("bigint", "to_int"),
    ("bool", "to_bool"),
    ("boolean", "to_bool"),
    ("char", "to_string"),
    ("date", "to_date"),
    ("date_time", "to_datetime"),
    ("datetime", "to_datetime"),
    ("decimal", "to_decimal"),
    ("double", "to_float"),
    ("float", "to_float"),
    ("int", "to_int"),
    ("integer", "to_int"),
    ("numeric", "to_decimal"),
    ("real", "to_float"),
    ("signed", "to_int"),
    ("smallint", "to_int"),
    ("str", "to_string"),
    ("string", "to_string"),
    ("text", "to_string"),
    ("timestamp", "to_datetime"),
    ("varchar", "to_string"),
];

/// Parts of a date, each the name of the method that gives it.
const DATE_PARTS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];

/// The method that makes a value of a type.
pub(super) fn conversion(ty: &str) -> Option<&'static str> {
    CONVERSIONS.iter().find(|(word, _)| ty.eq_ignore_ascii_case(word)).map(|(_, method)| *method)
}

/// What to do about several values where a `match` takes one; `subject` is what is matched, if it is short.
pub(crate) fn one_by_one(subject: Option<&str>) -> String {
    let alike = match subject {
        Some(subject) => format!("{subject} == … or {subject} == …"),
        None => "… or …".to_owned(),
    };
    format!("write an arm for each value, or compare in the arm: `match {{ {alike} => …, _ => … }}`")
}

/// `cast(a as int)`, `CAST(a AS INT)`
fn cast(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("as") && scene.in_arguments())?;
    let (open, _) = scene.bracket()?;
    let cast = &scene.tokens[open - 1];
    let is_cast = ["cast", "try_cast", "convert"].iter().any(|word| cast.text.eq_ignore_ascii_case(word));
    let ty = scene.tokens.get(scene.at + 1).map(|token| token.text).unwrap_or_default();
    let diagnostic = error(format!("`{}` is not part of CXL", cast.text), cast.span.to(found.span));
    let help = match conversion(ty) {
        Some(method) => format!("write `{}.{method}()`", operand(scene, open + 1, scene.at)),
        None => "convert with a method of the value, such as `x.to_int()` or `x.to_string()`".to_owned(),
    };
    is_cast.then(|| diagnostic.help(help))
}

/// `DATE '2024-01-31'`, `f"{name}"`
fn prefixed_text(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let (word, found) = (scene.before()?, scene.found()?);
    let (Tok::Ident(_), Tok::String(text)) = (&word.tok, &found.tok) else { return None };
    let place = word.span.to(found.span);
    match word.text.to_ascii_lowercase().as_str() {
        "date" => Some(date(text, word, place)),
        "timestamp" | "datetime" => Some(
            error(format!("a time is not written with `{}`", word.text), place)
                .help("write it as a text and convert it: `\"2024-01-31T10:20:30\".to_datetime()`"),
        ),
        "f" if touch(word, found) => Some(
            error("a text holds no values of columns", place)
                .help("join the parts: `\"order \".concat(id, \": \", status)`"),
        ),
        "r" | "b" | "u" | "n" | "e" if touch(word, found) => {
            Some(error(format!("a text begins with its quote, without `{}`", word.text), place))
        }
        _ => None,
    }
}

fn date(text: &str, word: &Token<'_>, place: Span) -> Diagnostic {
    let diagnostic = error(format!("a date is not written with `{}`", word.text), place);
    let is_date = text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok();
    match is_date {
        true => diagnostic.help(format!("write `#{text}#`")).fix(place, format!("#{text}#")),
        false => diagnostic.help("write it as `#YYYY-MM-DD#`"),
    }
}

/// `interval 1 day`
fn interval(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let (word, found) = (scene.before()?, scene.found()?);
    let is_interval = word.text.eq_ignore_ascii_case("interval") && matches!(found.tok, Tok::Int(_) | Tok::String(_));
    is_interval.then(|| {
        error(format!("`{}` is not part of CXL", word.text), word.span.to(found.span))
            .help("a date is moved by a method: `.add_days(…)`, `.add_months(…)` or `.add_years(…)`")
    })
}

/// `EXTRACT(MONTH FROM placed)`
fn extract(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("from") && scene.in_arguments())?;
    let (open, _) = scene.bracket()?;
    let (name, part) = (&scene.tokens[open - 1], scene.before()?);
    let method = DATE_PARTS.into_iter().find(|method| part.text.eq_ignore_ascii_case(method));
    let date = operand(scene, scene.at + 1, end_of_arguments(scene));
    let help = match method {
        Some(method) if !date.is_empty() => format!("write `{date}.{method}()`"),
        _ => "a date has `.year()`, `.month()` and `.day()`".to_owned(),
    };
    name.text
        .eq_ignore_ascii_case("extract")
        .then(|| error(format!("`{}` is not part of CXL", name.text), name.span.to(found.span)).help(help))
}

/// `match region { "N", "S" => 1, _ => 2 }`
fn alternatives(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Comma && scene.wants_operator())?;
    let (open, bracket) = scene.bracket()?;
    if bracket.tok != Tok::MatchBrace || !scene.expects("=>") {
        return None;
    }
    let subject = subject_of_match(scene, open)?;
    let subject = Some(subject.as_str()).filter(|subject| !subject.is_empty() && *subject != "…");
    Some(error("an arm of a `match` has one pattern", found.span).help(one_by_one(subject)))
}

/// What is matched by the `match` whose bracket opens there; a placeholder if it is long.
pub(super) fn subject_of_match(scene: &Scene<'_, '_>, open: usize) -> Option<String> {
    let keyword = scene.tokens[..open].iter().rposition(|token| token.tok == Tok::Match)?;
    Some(scene.text(keyword + 1..open))
}

/// `count(* where a > 1)`, `sum(b where a > 1)`
fn where_inside(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("where") && scene.in_arguments())?;
    let (open, _) = scene.bracket()?;
    let (function, value) = (scene.tokens[open - 1].text, scene.text(open + 1..scene.at));
    let condition = scene.text(scene.at + 1..end_of_arguments(scene));
    let call = match value.as_str() {
        "*" | "" => format!("sum(if {condition} then 1 else 0)"),
        value => format!("{function}(if {condition} then {value})"),
    };
    Some(error(format!("`{}` can't stand in a call", found.text), found.span).help(format!("write `{call}`")))
}

/// `exists(select 1)`
fn subquery(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let word = scene.before().filter(|token| token.text.eq_ignore_ascii_case("select") && scene.bracket().is_some())?;
    scene
        .found()
        .filter(|token| token.tok.starts_expression() || token.tok == Tok::Star || token.tok == Tok::Distinct)?;
    Some(
        error("an expression can't read rows of its own", word.span)
            .help("rows of two inputs are joined by `combine`, which this version does not run yet"),
    )
}

/// The place behind the arguments that are read, or the end of the statement.
pub(super) fn end_of_arguments(scene: &Scene<'_, '_>) -> usize {
    let end = outside_of_brackets(scene, scene.at + 1, |tok| tok.closes());
    end.unwrap_or(scene.tokens.len())
}

/// The first comma among some tokens that stands in no bracket of theirs.
pub(super) fn comma_between(scene: &Scene<'_, '_>, start: usize, end: usize) -> Option<usize> {
    outside_of_brackets(scene, start, |tok| *tok == Tok::Comma).filter(|comma| *comma < end)
}

/// The first token from `start` on that is wanted and stands in no bracket that opens there.
pub(super) fn outside_of_brackets(
    scene: &Scene<'_, '_>,
    start: usize,
    wanted: impl Fn(&Tok<'_>) -> bool,
) -> Option<usize> {
    let mut open = 0_usize;
    scene.tokens.iter().enumerate().skip(start).find_map(|(index, token)| {
        let found = open == 0 && wanted(&token.tok);
        if token.tok.closes() {
            open = open.saturating_sub(1);
        } else if token.tok.closer().is_some() {
            open += 1;
        }
        found.then_some(index)
    })
}

/// Some of the tokens as what a method is called on.
fn operand(scene: &Scene<'_, '_>, start: usize, end: usize) -> String {
    let text = scene.text(start..end.max(start));
    if end > start + 1 && text != "…" { format!("({text})") } else { text }
}

/// Whether nothing stands between two tokens.
fn touch(first: &Token<'_>, second: &Token<'_>) -> bool {
    first.offset + first.text.len() == second.offset
}
