//! What the grammar refuses, in words.

use lalrpop_util::ParseError;

use super::ast::Statement;
use super::builder::Mistake;
use super::statements::RawStatement;
use super::token::{Tok, Token};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// The statement that a mistake stands in.
pub(super) struct Place<'a, 'input> {
    /// Its tokens.
    pub tokens: &'a [Token<'input>],
    /// Comments that look like dates, in the whole text.
    pub near_dates: &'a [(usize, Span)],
    /// Whether a statement is read, not an expression.
    pub statement: bool,
}

/// Says what is wrong.
pub(super) fn explain(place: &Place<'_, '_>, error: ParseError<usize, Tok<'_>, Mistake>) -> Diagnostic {
    let _ = (place.near_dates, place.statement);
    let at = match error {
        ParseError::UnrecognizedToken { token: (at, ..), .. } => at,
        _ => place.tokens.len() - 1,
    };
    Diagnostic::error(Code::E202, "the CXL text does not parse").label(place.tokens[at].span, "")
}
pub(super) fn late_use(statements: &[Statement], diagnostics: &mut Diagnostics) {
    let _ = (statements, diagnostics);
}
pub(super) fn empty(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, "an expression is missing").label(span, "")
}
pub(super) fn not_an_expression(raw: &RawStatement<'_>) -> Option<Diagnostic> {
    let _ = raw;
    None
}
pub(super) fn second_line(raw: &RawStatement<'_>) -> Diagnostic {
    let _ = raw;
    Diagnostic::error(Code::E202, "second line").label(raw.tokens[0].span, "")
}
pub(super) fn not_in_block(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, format!("{name} can't stand in an `emit each`")).label(span, "")
}
