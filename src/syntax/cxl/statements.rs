//! Which tokens make a statement: the filter between lexer and grammar.
//!
//! A line end counts only where a statement can end: not inside brackets, not behind a token that an expression
//! can't end with, not in front of `then`, `else`, an infix operator (all but `-`) or `.`. The filter drops the
//! others and cuts the tokens at those that count, so that the grammar knows no line ends and a mistake in one
//! statement does not touch the next. It also settles what needs more than one token of foresight: the three kinds
//! of `{`, the words that are words only in their place, and the comma that a line end stands for between the arms
//! of a `match`.

use super::Source;
use super::literals;
use super::token::{Tok, Token};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// How deep `emit each` may be nested.
pub const MAX_BLOCKS: usize = 32;

/// The tokens of one statement, ready for the grammar.
#[derive(Debug, Default)]
pub struct RawStatement<'input> {
    /// Without line ends.
    pub tokens: Vec<Token<'input>>,
    /// The statements of the `{ … }` of an `emit each`, which is one [`Tok::Block`] among the tokens.
    pub block: Option<Vec<RawStatement<'input>>>,
    /// Whether a mistake in it is reported already.
    pub broken: bool,
}

/// Cuts the tokens of a text into statements. Reports brackets that do not pair, and statements that share a line.
pub fn split<'input>(
    source: &'input Source,
    tokens: Vec<Token<'input>>,
    diagnostics: &mut Diagnostics,
) -> Vec<RawStatement<'input>> {
    let mut splitter = Splitter { source, tokens: tokens.into_iter().peekable(), diagnostics, depth: 0, joined: false };
    splitter.statements().0
}

struct Splitter<'input, 'd> {
    source: &'input Source,
    tokens: std::iter::Peekable<std::vec::IntoIter<Token<'input>>>,
    diagnostics: &'d mut Diagnostics,
    /// How many blocks are open.
    depth: usize,
    /// Whether it is reported that the lines of the text were joined.
    joined: bool,
}

/// A bracket that is open in a statement.
struct Open {
    tok: Tok<'static>,
    span: Span,
    /// How many `match` of this level still wait for their brace.
    matches: usize,
}

/// The statement that is being collected.
#[derive(Default)]
struct Current<'input> {
    raw: RawStatement<'input>,
    open: Vec<Open>,
    /// How many `match` outside of brackets still wait for their brace.
    matches: usize,
    /// Whether the guard of a `trace` is being read.
    in_guard: bool,
}

impl<'input> Splitter<'input, '_> {
    /// The statements up to the `}` of the block they stand in, or the end; the second value is that `}`.
    fn statements(&mut self) -> (Vec<RawStatement<'input>>, Option<Token<'input>>) {
        let mut done = Vec::new();
        let mut current = Current::default();
        let mut new_line = true;
        while let Some(token) = self.tokens.next() {
            if token.tok == Tok::Newline {
                new_line = true;
                if self.line_ends_statement(&current) && !self.goes_on_by_mistake(&mut current) {
                    self.finish(&mut current, &mut done);
                }
                continue;
            }
            if token.tok == Tok::RightBrace && current.open.is_empty() && self.depth > 0 {
                self.finish(&mut current, &mut done);
                return (done, Some(token));
            }
            if token.tok.starts_statement() && !current.is_empty() && (new_line || self.shares_line(&current, &token)) {
                self.finish(&mut current, &mut done);
            }
            self.take(&mut current, token, new_line);
            new_line = false;
        }
        self.finish(&mut current, &mut done);
        (done, None)
    }

    /// Whether a line end here ends the statement, by what stands before and what comes next.
    fn line_ends_statement(&mut self, current: &Current<'input>) -> bool {
        while self.tokens.next_if(|token| token.tok == Tok::Newline).is_some() {}
        let goes_on = self.tokens.peek().is_some_and(|next| next.tok.continues_line());
        current.open.is_empty() && current.matches == 0 && !goes_on && current.ends_expression()
    }

    /// Whether the next line can only belong to the statement although a line end ended it; reports it.
    fn goes_on_by_mistake(&mut self, current: &mut Current<'input>) -> bool {
        let Some(next) = self.tokens.peek() else { return false };
        let head = match (current.raw.tokens.as_slice(), &next.tok) {
            ([word, name], Tok::Equal) if matches!((&word.tok, &name.tok), (Tok::Let | Tok::Emit, Tok::Ident(_))) => {
                format!("{} {} = …", word.text, name.text)
            }
            ([word], Tok::By) if word.tok == Tok::Distinct => "distinct by …".to_owned(),
            _ => return false,
        };
        if !current.raw.broken {
            self.diagnostics.push(
                Diagnostic::error(Code::E202, format!("`{}` can't begin a line", next.text))
                    .label(next.span, "belongs to the line above")
                    .help(format!("write `{head}` on one line")),
            );
        }
        current.raw.broken = true;
        true
    }

    /// Whether a statement starts although the one before has not ended with its line; reports it.
    fn shares_line(&mut self, current: &Current<'input>, token: &Token<'input>) -> bool {
        let shares = current.open.is_empty() && current.ends_expression() && !current.is_block_head();
        if shares && !current.raw.broken && !self.joined {
            let finding = Diagnostic::error(Code::E202, format!("`{}` must start on a new line", token.text))
                .label(token.span, "a second statement on the line");
            self.joined = folded(current, token);
            self.diagnostics.push(match self.joined {
                true => self.joined_lines(finding),
                false => finding.help("write each statement on a line of its own"),
            });
        }
        shares
    }

    /// Says what to do about lines that YAML joined, which all statements suffer from.
    fn joined_lines(&self, finding: Diagnostic) -> Diagnostic {
        let Source { span, folds, .. } = self.source;
        if !folds {
            return finding.help("without `|` YAML joins the lines: write `cxl: |` and the statements below it");
        }
        let header = Span::new(span.file, span.start, span.start + 1);
        finding.help("behind `>` YAML joins the lines: write `cxl: |`").fix(header, "|")
    }

    /// Ends the current statement.
    fn finish(&mut self, current: &mut Current<'input>, done: &mut Vec<RawStatement<'input>>) {
        let mut ended = std::mem::take(current);
        if let (Some(open), false) = (ended.open.last(), ended.raw.broken) {
            let (opener, closer) = (bracket(&open.tok), open.tok.closer().as_ref().map_or("", bracket));
            self.diagnostics.push(
                Diagnostic::error(Code::E202, format!("`{opener}` is never closed"))
                    .label(open.span, "opened here")
                    .help(format!("add the `{closer}` that belongs to it")),
            );
            ended.raw.broken = true;
        }
        if !ended.raw.tokens.is_empty() {
            done.push(ended.raw);
        }
    }

    /// Adds a token to the statement.
    fn take(&mut self, current: &mut Current<'input>, mut token: Token<'input>, new_line: bool) {
        current.raw.broken |= token.tok == Tok::Bad;
        token.tok = self.in_its_place(current, token.tok);
        if token.tok == Tok::Magnitude {
            return self.magnitude(current, token);
        }
        current.separate(&token, new_line);
        match &token.tok {
            Tok::Match => *current.pending_matches() += 1,
            Tok::MatchBrace => *current.pending_matches() -= 1,
            Tok::Block => return self.block(current, token),
            tok if tok.closes() => return self.close(current, token),
            _ => {}
        }
        if let Some(tok) = opener(&token.tok) {
            current.open.push(Open { tok, span: token.span, matches: 0 });
        }
        current.raw.tokens.push(token);
    }

    /// The token that `tok` is where it stands.
    fn in_its_place(&mut self, current: &mut Current<'input>, tok: Tok<'input>) -> Tok<'input> {
        let pending = *current.pending_matches() > 0;
        let last = current.raw.tokens.last().map(|token| &token.tok);
        let next = self.tokens.peek().map(|token| &token.tok);
        match tok {
            Tok::Ident("each") if current.is_at(&[Tok::Emit]) => Tok::Each,
            Tok::Ident("outer")
                if current.is_block_head() && current.ends_expression() && next == Some(&Tok::LeftBrace) =>
            {
                Tok::Outer
            }
            Tok::Ident(word @ ("debug" | "info" | "warn" | "error"))
                if current.is_at(&[Tok::Trace]) && next.is_some_and(Tok::starts_expression) =>
            {
                Tok::Level(word)
            }
            Tok::LeftBrace if pending && (last == Some(&Tok::Match) || current.ends_expression()) => Tok::MatchBrace,
            Tok::LeftBrace if current.is_block_head() && (current.ends_expression() || last == Some(&Tok::Outer)) => {
                Tok::Block
            }
            tok => tok,
        }
    }

    /// Makes the smallest whole number of a prefix minus and its magnitude, which has no sign-less form.
    fn magnitude(&mut self, current: &mut Current<'input>, mut token: Token<'input>) {
        let goes_on = self.tokens.peek().is_some_and(|next| matches!(next.tok, Tok::Dot | Tok::LeftBracket));
        let tokens = &mut current.raw.tokens;
        let negated = match tokens.as_slice() {
            [.., before, minus] => minus.tok == Tok::Minus && !before.tok.ends_expression(),
            [minus] => minus.tok == Tok::Minus,
            [] => false,
        };
        if let (true, false, Some(minus)) = (negated, goes_on, tokens.last_mut()) {
            minus.tok = Tok::Int(i64::MIN);
            minus.span = minus.span.to(token.span);
            minus.text = &self.source.text[minus.offset..token.offset + token.text.len()];
            return;
        }
        if !current.raw.broken {
            self.diagnostics.push(literals::too_large(token.text, token.span));
        }
        current.raw.broken = true;
        token.tok = Tok::Bad;
        tokens.push(token);
    }

    /// Reads the statements of a block, whose `{` is `token`.
    fn block(&mut self, current: &mut Current<'input>, mut token: Token<'input>) {
        if self.depth == MAX_BLOCKS {
            return self.too_deep(current, token);
        }
        self.depth += 1;
        let (statements, close) = self.statements();
        self.depth -= 1;
        match close {
            Some(close) => token.span = token.span.to(close.span),
            None => current.open.push(Open { tok: Tok::LeftBrace, span: token.span, matches: 0 }),
        }
        current.raw.block = Some(statements);
        current.raw.tokens.push(token);
    }

    /// Reports a block that is nested too deeply and steps over it.
    fn too_deep(&mut self, current: &mut Current<'input>, token: Token<'input>) {
        let message = format!("`emit each` is nested more than {MAX_BLOCKS} levels deep");
        self.diagnostics.push(Diagnostic::error(Code::E202, message).label(token.span, ""));
        current.raw.broken = true;
        let mut open = 1;
        while open > 0 {
            match self.tokens.next().map(|token| token.tok) {
                Some(Tok::LeftBrace) => open += 1,
                Some(Tok::RightBrace) => open -= 1,
                Some(_) => {}
                None => break,
            }
        }
        current.raw.tokens.push(token);
    }

    /// Closes the innermost bracket, or reports that the token does not close it.
    fn close(&mut self, current: &mut Current<'input>, token: Token<'input>) {
        let fits = |open: &Open| open.tok.closer().as_ref() == Some(&token.tok);
        if !current.open.last().is_some_and(fits) && !current.raw.broken {
            current.raw.broken = true;
            self.diagnostics.push(mismatch(current.open.last(), &token));
        }
        let opened = current.open.iter().rposition(fits).unwrap_or(current.open.len());
        current.open.truncate(opened);
        current.raw.tokens.push(token);
    }
}

impl<'input> Current<'input> {
    fn is_empty(&self) -> bool {
        self.raw.tokens.is_empty()
    }

    fn ends_expression(&self) -> bool {
        self.raw.tokens.last().is_some_and(|token| token.tok.ends_expression())
    }

    /// Whether the statement so far is exactly this.
    fn is_at(&self, tokens: &[Tok<'_>]) -> bool {
        self.raw.tokens.len() == tokens.len()
            && self.raw.tokens.iter().zip(tokens).all(|(token, tok)| token.tok == *tok)
    }

    /// Whether the next token belongs to `emit each … in …` and stands outside of brackets.
    fn is_block_head(&self) -> bool {
        let each = self.raw.tokens.get(1).is_some_and(|token| token.tok == Tok::Each);
        each && self.open.is_empty() && self.raw.block.is_none()
    }

    /// The `match`es of the innermost open bracket that still wait for their brace.
    fn pending_matches(&mut self) -> &mut usize {
        match self.open.last_mut() {
            Some(open) => &mut open.matches,
            None => &mut self.matches,
        }
    }

    /// Puts a separator in front of `next` where two expressions stand side by side: between the arms of a `match`
    /// and behind the guard of a `trace`.
    fn separate(&mut self, next: &Token<'input>, new_line: bool) {
        if self.is_at(&[Tok::Trace])
            || matches!(self.raw.tokens.as_slice(), [_, level] if matches!(level.tok, Tok::Level(_)))
        {
            self.in_guard = next.tok == Tok::If;
        }
        let side_by_side = self.ends_expression() && *self.pending_matches() == 0 && next.tok.starts_operand();
        let in_match = self.open.last().is_some_and(|open| open.tok == Tok::MatchBrace);
        let new_arm = new_line && self.ends_expression() && next.tok.starts_expression();
        let separator = if in_match && *self.pending_matches() == 0 && (side_by_side || new_arm) {
            Tok::Comma
        } else if self.in_guard && self.open.is_empty() && side_by_side {
            self.in_guard = false;
            Tok::GuardEnd
        } else {
            return;
        };
        let last = self.raw.tokens.last().expect("an expression ends in front of the separator");
        let span = Span::new(last.span.file, last.span.end, last.span.end);
        let offset = last.offset + last.text.len();
        self.raw.tokens.push(Token { tok: separator, span, text: "", offset });
    }
}

fn opener(tok: &Tok<'_>) -> Option<Tok<'static>> {
    match tok {
        Tok::LeftParen => Some(Tok::LeftParen),
        Tok::LeftBracket => Some(Tok::LeftBracket),
        Tok::LeftBrace => Some(Tok::LeftBrace),
        Tok::MatchBrace => Some(Tok::MatchBrace),
        _ => None,
    }
}

/// Whether the file has more between two tokens than their text has: YAML joined lines there.
fn folded(current: &Current<'_>, token: &Token<'_>) -> bool {
    current.raw.tokens.last().is_some_and(|before| {
        let in_text = token.offset.saturating_sub(before.offset + before.text.len());
        let in_file = token.span.start.saturating_sub(before.span.end) as usize;
        in_file > in_text
    })
}

fn bracket(tok: &Tok<'_>) -> &'static str {
    tok.spelling().unwrap_or("{")
}

fn mismatch(open: Option<&Open>, close: &Token<'_>) -> Diagnostic {
    let found = close.text;
    match open {
        None => Diagnostic::error(Code::E202, format!("`{found}` closes nothing"))
            .label(close.span, "")
            .help(format!("remove the `{found}`, or add what opens it")),
        Some(open) => {
            let (opener, closer) = (bracket(&open.tok), open.tok.closer().as_ref().map_or("", bracket));
            Diagnostic::error(Code::E202, format!("`{opener}` is closed by `{found}`"))
                .label(close.span, format!("`{closer}` is expected here"))
                .label(open.span, "opened here")
        }
    }
}
