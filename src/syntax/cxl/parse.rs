//! Programs and expressions, statement by statement.

use super::Source;
use super::ast::{Expr, ExprKind, Name, Program, Statement, StatementKind, Target};
use super::builder::Builder;
use super::grammar::{ExprParser, StatementParser};
use super::lexer::{self, Lexed};
use super::mistakes::{self, Place};
use super::statements::{self, RawStatement};
use super::token::{Tok, Token};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// How long a program may be.
pub const MAX_BYTES: usize = 65_536;

/// Parses a program. Reports E202 for each statement that does not parse. Where it was to bind a name, it stays as one
/// whose value is [`ExprKind::Error`]; else it is left out, with [`Program::complete`] set to false.
pub fn parse_program(source: &Source, diagnostics: &mut Diagnostics) -> Program {
    let mut program = Program { statements: Vec::new(), complete: true, span: source.span };
    let Some((raws, near_dates)) = read(source, diagnostics) else {
        return Program { complete: false, ..program };
    };
    let mut parser = Parser { diagnostics, near_dates: &near_dates, complete: true };
    program.statements = parser.statements(raws);
    program.complete = parser.complete;
    mistakes::late_use(&program.statements, diagnostics);
    program
}

/// Parses a single expression. Reports E202 and gives [`ExprKind::Error`] where it does not parse.
pub fn parse_expression(source: &Source, diagnostics: &mut Diagnostics) -> Expr {
    let error = Expr { kind: ExprKind::Error, span: source.span };
    let Some((raws, near_dates)) = read(source, diagnostics) else { return error };
    let mut raws = raws.into_iter();
    let Some(raw) = raws.next() else {
        diagnostics.push(mistakes::empty(source.span));
        return error;
    };
    let next = raws.next();
    if raw.broken || raws.any(|raw| raw.broken) {
        return error;
    }
    let place = Place { tokens: &raw.tokens, near_dates: &near_dates, statement: false };
    let parsed = match (mistakes::not_an_expression(&raw), next) {
        (Some(diagnostic), _) => Err(Box::new(diagnostic)),
        (None, Some(next)) => expression(&raw, &place).and_then(|_| Err(Box::new(mistakes::second_line(&next)))),
        (None, None) => expression(&raw, &place),
    };
    parsed.unwrap_or_else(|diagnostic| {
        diagnostics.push(*diagnostic);
        error
    })
}

type NearDates = Vec<(usize, Span)>;

/// The statements of a text. `None` if it is too long to be read.
fn read<'input>(
    source: &'input Source,
    diagnostics: &mut Diagnostics,
) -> Option<(Vec<RawStatement<'input>>, NearDates)> {
    if source.text.len() > MAX_BYTES {
        let message = format!("a CXL text of {} bytes is too long", source.text.len());
        diagnostics.push(
            Diagnostic::error(Code::E202, message)
                .label(source.span, "")
                .help(format!("a text may have {MAX_BYTES} bytes; share the work between several transforms")),
        );
        return None;
    }
    let Lexed { tokens, near_dates, .. } = lexer::lex(source, diagnostics);
    Some((statements::split(source, tokens, diagnostics), near_dates))
}

fn expression(raw: &RawStatement<'_>, place: &Place<'_, '_>) -> Result<Expr, Box<Diagnostic>> {
    let mut builder = Builder::new(&raw.tokens, Vec::new());
    let parsed = ExprParser::new().parse(&mut builder, numbered(&raw.tokens));
    parsed.map(|part| part.expr).map_err(|error| Box::new(mistakes::explain(place, error)))
}

type Numbered<'input> = Result<(usize, Tok<'input>, usize), super::builder::Mistake>;

fn numbered<'input>(tokens: &[Token<'input>]) -> impl Iterator<Item = Numbered<'input>> {
    tokens.iter().enumerate().map(|(index, token)| Ok((index, token.tok.clone(), index + 1)))
}

/// What a statement that does not parse was to bind, and whether that is all of it for sure.
fn binding(tokens: &[Token<'_>]) -> Option<(StatementKind, bool)> {
    let [word, named, rest @ ..] = tokens else { return None };
    let Tok::Ident(text) = named.tok else { return None };
    let name = Name { text: text.to_owned(), span: named.span };
    let value = match rest {
        [_, value @ ..] if !value.is_empty() => Expr { kind: ExprKind::Error, span: whole(value) },
        _ => Expr { kind: ExprKind::Error, span: whole(tokens) },
    };
    let kind = match word.tok {
        Tok::Let => StatementKind::Let { name, value },
        Tok::Emit => StatementKind::Emit { target: Target::Column(name), value },
        Tok::Fn => return Some((StatementKind::Function { name }, true)),
        _ => return None,
    };
    Some((kind, rest.first().is_some_and(|next| next.tok == Tok::Equal)))
}

fn whole(tokens: &[Token<'_>]) -> Span {
    tokens[0].span.to(tokens[tokens.len() - 1].span)
}

struct Parser<'d, 'n> {
    diagnostics: &'d mut Diagnostics,
    near_dates: &'n [(usize, Span)],
    complete: bool,
}

impl Parser<'_, '_> {
    fn statements(&mut self, raws: Vec<RawStatement<'_>>) -> Vec<Statement> {
        raws.into_iter().filter_map(|raw| self.statement(raw)).collect()
    }

    fn statement(&mut self, raw: RawStatement<'_>) -> Option<Statement> {
        let block = raw.block.map(|raws| self.block(raws)).unwrap_or_default();
        let parsed = if raw.broken { None } else { self.parse(&raw.tokens, block) };
        parsed.or_else(|| {
            let (kind, is_whole) = binding(&raw.tokens).unzip();
            self.complete &= is_whole.unwrap_or(false);
            Some(Statement { kind: kind?, span: whole(&raw.tokens) })
        })
    }

    fn parse(&mut self, tokens: &[Token<'_>], block: Vec<Statement>) -> Option<Statement> {
        let mut builder = Builder::new(tokens, block);
        match StatementParser::new().parse(&mut builder, numbered(tokens)) {
            Ok(kind) => Some(Statement { kind, span: builder.span(0, tokens.len()) }),
            Err(error) => {
                let place = Place { tokens, near_dates: self.near_dates, statement: true };
                self.diagnostics.push(mistakes::explain(&place, error));
                None
            }
        }
    }

    /// The statements of an `emit each`, which may only bind, emit and trace.
    fn block(&mut self, raws: Vec<RawStatement<'_>>) -> Vec<Statement> {
        let statements = self.statements(raws);
        for statement in &statements {
            let name = match &statement.kind {
                StatementKind::Filter { .. } => "`filter`",
                StatementKind::Distinct { .. } => "`distinct`",
                StatementKind::Use { .. } => "`use`",
                StatementKind::Expr(_) => "a bare expression",
                _ => continue,
            };
            self.diagnostics.push(mistakes::not_in_block(name, statement.span));
        }
        statements
    }
}
