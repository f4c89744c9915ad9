//! Scalars whose line breaks fold to spaces: plain, single-quoted and double-quoted.

use super::decoded::{Decoded, break_end, is_blank};
use super::escape;

/// Which escapes a folding scalar knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// None: a plain scalar.
    None,
    /// A doubled quote.
    DoubledQuote,
    /// A backslash and what follows it.
    Backslash,
}

/// Decodes the text between `start` and `end`, quotes not included. `None` if it isn't such a scalar.
pub(super) fn decode(text: &str, start: usize, end: usize, escapes: Escapes) -> Option<Decoded> {
    let mut decoded = Decoded::default();
    let mut at = start;
    while at < end {
        at = match text.as_bytes()[at] {
            b' ' | b'\t' | b'\r' | b'\n' => white(text, at, end, escapes, false, &mut decoded),
            b'\'' if escapes == Escapes::DoubledQuote => {
                decoded.replace("'", at, at + 2);
                at + 2
            }
            b'\\' if escapes == Escapes::Backslash => backslash(text, at, end, &mut decoded)?,
            _ => content(text, at, end, escapes, &mut decoded),
        };
    }
    (at == end).then_some(decoded)
}

/// Copies up to the next byte that is not copied as it is.
fn content(text: &str, at: usize, end: usize, escapes: Escapes, decoded: &mut Decoded) -> usize {
    let special = |byte: &u8| match byte {
        b' ' | b'\t' | b'\r' | b'\n' => true,
        b'\'' => escapes == Escapes::DoubledQuote,
        b'\\' => escapes == Escapes::Backslash,
        _ => false,
    };
    let length = text.as_bytes()[at..end].iter().position(special).unwrap_or(end - at);
    decoded.copy(text, at, at + length);
    at + length
}

/// Takes a run of blanks and line breaks: kept without a break, one break a space, more breaks one line end less.
/// Behind an escaped break (`after_break`) nothing is a space any more.
fn white(text: &str, start: usize, end: usize, escapes: Escapes, after_break: bool, decoded: &mut Decoded) -> usize {
    let mut first = after_break.then_some((start, start));
    let mut folded = after_break;
    let mut at = start;
    while at < end {
        if is_blank(text, at) {
            at += 1;
        } else if let Some(next) = break_end(text, at) {
            match first {
                None => first = Some((at, next)),
                Some(_) => {
                    decoded.replace("\n", at, next);
                    folded = true;
                }
            }
            at = next;
        } else if escapes == Escapes::None && text[at..].starts_with('#') {
            // The parser lets a comment behind a tab pass between two lines of a plain scalar.
            at += text[at..end].find(['\r', '\n']).unwrap_or(end - at);
        } else {
            break;
        }
    }
    match first {
        None => decoded.copy(text, start, at),
        Some((from, to)) if !folded => decoded.replace(" ", from, to),
        Some(_) => {}
    }
    at
}

/// Takes a backslash and what belongs to it.
fn backslash(text: &str, at: usize, end: usize, decoded: &mut Decoded) -> Option<usize> {
    if let Some(next) = break_end(text, at + 1) {
        return Some(white(text, next, end, Escapes::Backslash, true, decoded));
    }
    let (character, next) = escape::read(text, at)?;
    decoded.replace(character.encode_utf8(&mut [0; 4]), at, next);
    Some(next)
}
