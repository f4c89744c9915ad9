//! Characters and operators that CXL does not have, and what to write in their place.

use super::forms::{conversion, one_by_one};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::lexer::{Lexer, word_len};
use crate::syntax::cxl::token::{Tok, Token};

/// Operators of other languages: spelling, what to write, and a certain replacement.
const FOREIGN: &[(&str, &str, Option<&str>)] = &[
    ("===", "`==` compares", Some("==")),
    ("!==", "`!=` compares", Some("!=")),
    ("<=>", "compare with `<`, `==` or `>`", None),
    ("&&", "write `and`", Some("and")),
    ("||", "write `or`; texts are joined with `+`", None),
    ("<>", "write `!=`", Some("!=")),
    ("=<", "write `<=`", Some("<=")),
    ("::", "members are written with one `.`", Some(".")),
    ("->", "write `=>`", Some("=>")),
    ("**", "there is no power operator; multiply instead", None),
    ("++", "write `+ 1`; texts are joined with one `+`", None),
    ("+=", "write the whole sum, as in `emit total = total + 1`", None),
    ("-=", "write the whole difference, as in `emit rest = rest - 1`", None),
    ("*=", "write the whole product", None),
    ("/=", "`!=` compares; `/` divides", None),
    ("//", "a comment starts with `#`; `/` divides", None),
    ("/*", "a comment starts with `#` and ends with the line", None),
    ("?.", "write `.`: a member of null is null", Some(".")),
    ("&", "write `and`", Some("and")),
    ("|", "write `or`", Some("or")),
    (";", "write each statement on a line of its own, without `;`", None),
    ("?", "`a ?? b` gives `b` where `a` is null; a choice is written `if … then … else …`", None),
    ("^", "there is no power operator; multiply instead", None),
    ("~", "a text is searched with `.find(\"pattern\")`", None),
    ("@", "a column is read by its plain name", None),
    ("\\", "a line goes on by itself inside brackets and behind an operator", None),
];

/// The operator of another language at the lexer's place, with its length.
pub(in crate::syntax::cxl) fn symbol(lexer: &Lexer<'_, '_>) -> Option<(usize, Diagnostic)> {
    let rest = lexer.rest();
    if rest.starts_with("!") && !rest.starts_with("!=") {
        return Some((1, bang(lexer)));
    }
    let known = foreign_quotes(lexer).or_else(|| type_behind(lexer)).or_else(|| alternative(lexer));
    if known.is_some() {
        return known;
    }
    let (text, help, replacement) =
        FOREIGN.iter().find(|(text, ..)| rest.starts_with(text) && !rest.starts_with("??"))?;
    let span = lexer.span(lexer.at, lexer.at + text.len());
    let kind = if matches!(*text, "/*" | "//" | "@" | "\\" | ";") { "not part of CXL" } else { "not an operator" };
    let diagnostic = Diagnostic::error(Code::E202, format!("`{text}` is {kind}")).label(span, "").help(*help);
    let fixed = match replacement {
        Some(replacement) => diagnostic.fix(span, *replacement),
        None => diagnostic,
    };
    Some((text.len(), fixed))
}

fn bang(lexer: &Lexer<'_, '_>) -> Diagnostic {
    let span = lexer.span(lexer.at, lexer.at + 1);
    let diagnostic = Diagnostic::error(Code::E202, "`!` is not an operator").label(span, "");
    if lexer.behind_value() {
        return diagnostic.help("write `!=` to compare, `not` to negate");
    }
    let spaced = lexer.rest()[1..].starts_with([' ', '\t']);
    diagnostic.help("write `not`").fix(span, if spaced { "not" } else { "not " })
}

/// `quantity::int`
fn type_behind(lexer: &Lexer<'_, '_>) -> Option<(usize, Diagnostic)> {
    let ty = lexer.rest().strip_prefix("::")?;
    let ty = &ty[..word_len(ty)];
    let method = conversion(ty)?;
    let span = lexer.span(lexer.at, lexer.at + 2 + ty.len());
    let diagnostic = Diagnostic::error(Code::E202, "`::` is not an operator")
        .label(span, "")
        .help(format!("a value is converted by a method: `.{method}()`"));
    let is_whole = !lexer.rest()[2 + ty.len()..].starts_with('(');
    Some((2 + ty.len(), if is_whole { diagnostic.fix(span, format!(".{method}()")) } else { diagnostic }))
}

/// `match region { "N" | "S" => 1, _ => 2 }`
fn alternative(lexer: &Lexer<'_, '_>) -> Option<(usize, Diagnostic)> {
    let len = lexer.rest().bytes().take_while(|byte| *byte == b'|').count();
    // The way back over the tokens is as long as the text: few symbols may go it.
    let subject = if len > 0 { subject_of_pattern(lexer.tokens())? } else { return None };
    let diagnostic = Diagnostic::error(Code::E202, "an arm of a `match` has one pattern")
        .label(lexer.span(lexer.at, lexer.at + len), "");
    Some((len, diagnostic.help(one_by_one(subject))))
}

/// What is matched where a pattern is read, if it is one name; `None` where no pattern is.
fn subject_of_pattern<'t>(tokens: &[Token<'t>]) -> Option<Option<&'t str>> {
    let mut closed = 0;
    let open = tokens.iter().rposition(|token| match &token.tok {
        tok if tok.closes() => {
            closed += 1;
            false
        }
        Tok::LeftBrace | Tok::LeftParen | Tok::LeftBracket if closed > 0 => {
            closed -= 1;
            false
        }
        Tok::LeftBrace | Tok::LeftParen | Tok::LeftBracket => true,
        _ => false,
    })?;
    let pattern = tokens[open + 1..].iter().rev().take_while(|token| token.tok != Tok::Comma);
    let in_pattern = tokens[open].tok == Tok::LeftBrace && pattern.into_iter().all(|token| token.tok != Tok::Arrow);
    match &tokens[..open] {
        [.., Token { tok: Tok::Match, .. }, subject] if in_pattern && matches!(subject.tok, Tok::Ident(_)) => {
            Some(Some(subject.text))
        }
        [.., Token { tok: Tok::Match, .. }] => None,
        before if in_pattern && before.iter().any(|token| token.tok == Tok::Match) => Some(None),
        _ => None,
    }
}

/// A name or text in quotes that CXL does not have, with its length: `` `a` ``, `“a”`.
fn foreign_quotes(lexer: &Lexer<'_, '_>) -> Option<(usize, Diagnostic)> {
    const OPENING: &[char] = &['`', '“', '”', '„', '‘', '’', '«', '»'];
    let rest = lexer.rest();
    let open = rest.chars().next().filter(|c| OPENING.contains(c))?;
    let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    let inside = &line[open.len_utf8()..];
    let (at, close) = inside.char_indices().find(|(_, c)| OPENING.contains(c)).unwrap_or((inside.len(), '\0'));
    let closed = close != '\0';
    let len = open.len_utf8() + at + if closed { close.len_utf8() } else { 0 };
    let span = lexer.span(lexer.at, lexer.at + len);
    let inside = &inside[..at];
    Some((len, if open == '`' { backticks(inside, span) } else { curly_quotes(inside, span, closed) }))
}

fn backticks(inside: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::E202, "a name stands in backticks").label(span, "");
    let plain = word_len(inside) == inside.len() && !inside.starts_with(|c: char| c.is_ascii_digit());
    if plain && !inside.is_empty() {
        diagnostic.help(format!("write `{inside}`")).fix(span, inside)
    } else {
        diagnostic.help("a name stands alone, a text in `\"` or `'`")
    }
}

fn curly_quotes(inside: &str, span: Span, closed: bool) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::E202, "a text stands in curly quotes")
        .label(span, "")
        .help("write straight quotes, `\"` or `'`");
    let plain = closed && !inside.contains(['"', '\\']);
    if plain { diagnostic.fix(span, format!("\"{inside}\"")) } else { diagnostic }
}

/// A name with letters that CXL's names can't have, as the whole word around the lexer's place.
pub(in crate::syntax::cxl) fn foreign_name(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, format!("`{name}` can't be read as a name"))
        .label(span, "")
        .help("names in CXL are made of the letters a to z, digits and `_`")
}

/// A `$` without a name.
pub(in crate::syntax::cxl) fn lone_dollar(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, "a name is missing behind `$`")
        .label(span, "")
        .help("variables are written like `$vars.rate` or `$pipeline.name`")
}

/// A character that stands nowhere in CXL outside of texts.
pub(in crate::syntax::cxl) fn character(c: char, span: Span) -> Diagnostic {
    let shown: String = c.escape_debug().collect();
    let diagnostic =
        Diagnostic::error(Code::E202, format!("the character `{shown}` is not part of CXL")).label(span, "");
    match c {
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{3000}' | '\u{feff}' | '\u{200b}' => {
            diagnostic.help("it looks like a space: write a plain one").fix(span, " ")
        }
        '−' | '–' | '—' => diagnostic.help("write `-`").fix(span, "-"),
        '×' => diagnostic.help("write `*`").fix(span, "*"),
        '÷' => diagnostic.help("write `/`").fix(span, "/"),
        '≤' => diagnostic.help("write `<=`").fix(span, "<="),
        '≥' => diagnostic.help("write `>=`").fix(span, ">="),
        '≠' => diagnostic.help("write `!=`").fix(span, "!="),
        _ => diagnostic,
    }
}
