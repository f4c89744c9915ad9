//! What a rule looks at: the tokens around the place where the grammar stopped.

use std::ops::Range;

use super::Place;
use crate::diagnostics::Span;
use crate::syntax::cxl::token::{Tok, Token};

/// The place where the grammar stopped.
pub(super) struct Scene<'a, 'input> {
    /// The tokens of the statement.
    pub tokens: &'a [Token<'input>],
    /// Index of the token that could not be taken; the number of tokens at the end of the statement.
    pub at: usize,
    /// Comments behind the statement's start that look like dates.
    pub near_dates: &'a [(usize, Span)],
    /// Whether a statement is read, not an expression.
    pub statement: bool,
    /// The grammar's names of the tokens that it would have taken.
    expected: Vec<String>,
}

impl<'a, 'input> Scene<'a, 'input> {
    pub(super) fn new(place: &Place<'a, 'input>, at: usize, expected: Vec<String>) -> Self {
        let Place { tokens, near_dates, statement } = *place;
        // Separators that the filter put in are nothing that a person wrote.
        let at = at + tokens[at.min(tokens.len())..].iter().take_while(|token| token.text.is_empty()).count();
        Self { tokens, at, near_dates, statement, expected }
    }

    /// The token that could not be taken.
    pub(super) fn found(&self) -> Option<&'a Token<'input>> {
        self.tokens.get(self.at)
    }

    /// The kind of that token.
    pub(super) fn found_tok(&self) -> Option<&'a Tok<'input>> {
        self.found().map(|token| &token.tok)
    }

    /// The last token that was taken.
    pub(super) fn before(&self) -> Option<&'a Token<'input>> {
        self.written(self.at).next_back()
    }

    /// The last `n` tokens that were taken, fewer at the start.
    pub(super) fn last(&self, n: usize) -> Vec<&'a Tok<'input>> {
        let mut last: Vec<_> = self.written(self.at).rev().take(n).map(|token| &token.tok).collect();
        last.reverse();
        last
    }

    /// The tokens that a person wrote among the first `end`.
    fn written(&self, end: usize) -> impl DoubleEndedIterator<Item = &'a Token<'input>> + use<'a, 'input> {
        self.tokens[..end].iter().filter(|token| !token.text.is_empty())
    }

    /// Some of the tokens as they were written, on one line; a placeholder where that is long.
    pub(super) fn text(&self, tokens: Range<usize>) -> String {
        const LONGEST: usize = 40;
        let mut text = String::new();
        let mut end = None;
        for token in self.tokens[tokens].iter().filter(|token| !token.text.is_empty()) {
            if end.is_some_and(|end| end < token.offset) {
                text.push(' ');
            }
            text.push_str(token.text);
            end = Some(token.offset + token.text.len());
        }
        if text.chars().count() > LONGEST { "…".to_owned() } else { text }
    }

    /// The place: the token, or behind the last one.
    pub(super) fn span(&self) -> Span {
        match (self.found(), self.before()) {
            (Some(found), _) => found.span,
            (None, Some(before)) => Span::new(before.span.file, before.span.end, before.span.end),
            (None, None) => self.tokens[0].span,
        }
    }

    /// Whether the grammar would have taken this token.
    pub(super) fn expects(&self, name: &str) -> bool {
        self.expected.iter().any(|expected| expected.trim_matches('"') == name)
    }

    /// Whether a value could have stood here.
    pub(super) fn wants_value(&self) -> bool {
        self.expects("null")
    }

    /// Whether a value ended here, so that an operator could have followed. The grammar may have closed the value
    /// before it found that the token fits nowhere, so what it expects by then is not the whole answer.
    pub(super) fn wants_operator(&self) -> bool {
        let behind_name = ["=", "in", ":", "as", "by", "name"].iter().any(|name| self.expects(name));
        let behind_value = self.before().is_some_and(|token| token.tok.ends_expression());
        behind_value && !behind_name && !self.wants_value()
    }

    /// The innermost bracket that is open here, with its index.
    pub(super) fn bracket(&self) -> Option<(usize, &'a Token<'input>)> {
        let mut closed = 0;
        for (index, token) in self.tokens[..self.at].iter().enumerate().rev() {
            if token.tok.closes() {
                closed += 1;
            } else if token.tok.closer().is_some() {
                if closed == 0 {
                    return Some((index, token));
                }
                closed -= 1;
            }
        }
        None
    }

    /// Whether the innermost bracket holds arguments.
    pub(super) fn in_arguments(&self) -> bool {
        let open = self.bracket().filter(|(_, token)| token.tok == Tok::LeftParen);
        let before = open.and_then(|(index, _)| index.checked_sub(1));
        before.is_some_and(|index| matches!(self.tokens[index].tok, Tok::Ident(_)))
    }

    /// The name of a `let` or `emit` that the statement has got to, as `emit x`.
    pub(super) fn head(&self) -> Option<String> {
        match self.tokens {
            [word, name, ..] if self.at == 2 && matches!(word.tok, Tok::Let | Tok::Emit) => {
                Some(format!("{} {}", word.text, name.text))
            }
            _ => None,
        }
    }
}
