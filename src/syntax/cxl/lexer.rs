//! CXL text into tokens whose spans are those of the file.
//!
//! The lexer reads the decoded text of a scalar and sends every offset through the scalar's
//! [`TextMap`](crate::syntax::text_map::TextMap). What it can't read is reported here, once, and becomes
//! [`Tok::Bad`]; the statement around it is then left out without a second message. Line ends are tokens: which of
//! them end a statement is for `statements` to decide.

use std::ops::Range;

use super::Source;
use super::literals;
use super::mistakes::characters;
use super::token::{Tok, Token};
use crate::diagnostics::{Diagnostic, Diagnostics, Span};

/// A text as tokens.
#[derive(Debug)]
pub struct Lexed<'input> {
    /// In order, line ends included.
    pub tokens: Vec<Token<'input>>,
    /// Comments that look like a date that went wrong (`#2024-1-5#`): the offset in the decoded text and the span.
    pub near_dates: Vec<(usize, Span)>,
    /// Where the comments are in the decoded text, from the `#` to the line end.
    pub comments: Vec<Range<usize>>,
}

/// Splits a text into tokens. Reports E202 for what is no token, and goes on behind it.
pub fn lex<'input>(source: &'input Source, diagnostics: &mut Diagnostics) -> Lexed<'input> {
    let lexed = Lexed { tokens: Vec::new(), near_dates: Vec::new(), comments: Vec::new() };
    let mut lexer = Lexer { source, text: &source.text, at: 0, out: lexed, diagnostics };
    while lexer.at < lexer.text.len() {
        lexer.step();
    }
    lexer.out
}

pub(super) struct Lexer<'input, 'd> {
    source: &'input Source,
    pub(super) text: &'input str,
    /// Offset of the next byte to read.
    pub(super) at: usize,
    out: Lexed<'input>,
    diagnostics: &'d mut Diagnostics,
}

impl<'input> Lexer<'input, '_> {
    fn step(&mut self) {
        let byte = self.text.as_bytes()[self.at];
        match byte {
            b' ' | b'\t' => self.at += 1,
            b'\n' | b'\r' => self.newline(),
            b'#' => self.date_or_comment(),
            b'"' | b'\'' => literals::string(self, byte as char),
            b'0'..=b'9' => literals::number(self),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'$' => self.scope(),
            _ => self.symbol(),
        }
    }

    /// The text that is still to be read.
    pub(super) fn rest(&self) -> &'input str {
        &self.text[self.at..]
    }

    /// The span of a range of the decoded text in the file.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        self.source.map.span(start as u32, end as u32)
    }

    /// Adds the token that ends `len` bytes on, and steps over it.
    pub(super) fn push(&mut self, tok: Tok<'input>, len: usize) {
        let (start, end) = (self.at, self.at + len);
        let token = Token { tok, span: self.span(start, end), text: &self.text[start..end], offset: start };
        self.out.tokens.push(token);
        self.at = end;
    }

    /// Reports what the next `len` bytes are and steps over them.
    pub(super) fn refuse(&mut self, diagnostic: Diagnostic, len: usize) {
        self.diagnostics.push(diagnostic);
        self.push(Tok::Bad, len);
    }

    /// Adds a finding about a part of the token that is being read.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The tokens in front of the lexer's place.
    pub(super) fn tokens(&self) -> &[Token<'input>] {
        &self.out.tokens
    }

    /// Whether a value ends in front of the lexer's place.
    pub(super) fn behind_value(&self) -> bool {
        self.out.tokens.last().is_some_and(|token| token.tok.ends_expression())
    }

    fn newline(&mut self) {
        let len = if self.rest().starts_with("\r\n") { 2 } else { 1 };
        self.push(Tok::Newline, len);
    }

    fn date_or_comment(&mut self) {
        if literals::date(self) {
            return;
        }
        let len = self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        if self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            let end = self.rest()[1..len].find([' ', '\t', '#']).map_or(len, |at| at + 1);
            let end = if self.rest()[end..].starts_with('#') { end + 1 } else { end };
            let span = self.span(self.at, self.at + end);
            self.out.near_dates.push((self.at, span));
        }
        self.out.comments.push(self.at..self.at + len);
        self.at += len;
    }

    fn word(&mut self) {
        let len = word_len(self.rest());
        let word = &self.rest()[..len];
        let member = self.member_place();
        let tok = match Tok::keyword(word) {
            Some(keyword) if !member => keyword,
            _ if word == "_" => Tok::Underscore,
            _ => Tok::Ident(word),
        };
        self.push(tok, len);
    }

    /// Whether the next word names a member: the last token, line ends aside, is a `.`.
    fn member_place(&self) -> bool {
        self.out.tokens.iter().rev().find(|token| token.tok != Tok::Newline).is_some_and(|token| token.tok == Tok::Dot)
    }

    /// A word with letters that names can't have; what was read of it already is taken back.
    fn foreign_name(&mut self) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        let end = self.at + len;
        let touching = |token: &Token<'_>| {
            token.offset + token.text.len() == self.at && token.text.chars().all(is_word) && token.tok != Tok::Bad
        };
        if self.out.tokens.last().is_some_and(touching) {
            self.at = self.out.tokens.pop().map_or(self.at, |token| token.offset);
        }
        let diagnostic = characters::foreign_name(&self.text[self.at..end], self.span(self.at, end));
        self.refuse(diagnostic, end - self.at);
    }

    fn scope(&mut self) {
        let name = &self.rest()[1..];
        let len = word_len(name);
        if len == 0 || name.starts_with(|c: char| c.is_ascii_digit()) {
            return self.refuse(characters::lone_dollar(self.span(self.at, self.at + 1)), 1);
        }
        self.push(Tok::Scope(&name[..len]), len + 1);
    }

    fn symbol(&mut self) {
        if let Some((len, diagnostic)) = characters::symbol(self) {
            return self.refuse(diagnostic, len);
        }
        let pair = self.rest().get(..2).and_then(operator);
        let single = self.rest().get(..1).and_then(operator);
        match (pair, single) {
            (Some(tok), _) => self.push(tok, 2),
            (None, Some(tok)) => self.push(tok, 1),
            (None, None) => {
                let c = self.rest().chars().next().expect("a step is taken only in front of a character");
                if c.is_alphabetic() {
                    return self.foreign_name();
                }
                self.refuse(characters::character(c, self.span(self.at, self.at + c.len_utf8())), c.len_utf8());
            }
        }
    }
}

/// The bytes that the word at the start of `text` takes.
pub(super) fn word_len(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn operator(text: &str) -> Option<Tok<'static>> {
    const OPERATORS: &[Tok<'static>] = &[
        Tok::Plus,
        Tok::Minus,
        Tok::Star,
        Tok::Slash,
        Tok::Percent,
        Tok::EqualEqual,
        Tok::NotEqual,
        Tok::Less,
        Tok::LessEqual,
        Tok::Greater,
        Tok::GreaterEqual,
        Tok::Coalesce,
        Tok::Arrow,
        Tok::Equal,
        Tok::Dot,
        Tok::Comma,
        Tok::Colon,
        Tok::LeftParen,
        Tok::RightParen,
        Tok::LeftBracket,
        Tok::RightBracket,
        Tok::LeftBrace,
        Tok::RightBrace,
    ];
    OPERATORS.iter().find(|tok| tok.spelling() == Some(text)).cloned()
}
