//! What the renderers share about texts: characters that must not reach a terminal, spans that fit their text.

use std::ops::Range;

use crate::diagnostics::{Fix, Severity, SourceMap, Span};

/// How a severity is spelled.
pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A visible stand-in for a character that would move the cursor, change colours or turn the text around.
///
/// One character stays one character, so columns stay right.
pub(super) fn visible(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{85}' | '\u{2028}' | '\u{2029}' => '\u{2424}',
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// The longest message, in bytes, that is shown whole.
const LONGEST: usize = 2000;

/// A message on one line, without its middle if it is as long as a name of a hundred thousand letters makes it.
pub(super) fn one_line(message: &str) -> String {
    let message = message.trim_end();
    let shown = |part: &str| part.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { visible(c) }).collect();
    if message.len() <= LONGEST {
        return shown(message);
    }
    let (head, tail) = (floor(message, LONGEST / 2), ceil(message, message.len() - LONGEST / 4));
    let (head, tail): (String, String) = (shown(&message[..head]), shown(&message[tail..]));
    format!("{head} … {tail}")
}

/// A message that may have several lines.
pub(super) fn lines(message: &str) -> Vec<String> {
    message.lines().map(one_line).collect()
}

/// The bytes of `text` that a span covers, moved inside the text and out to whole characters.
pub(super) fn fit(span: Span, text: &str) -> Range<usize> {
    let start = floor(text, span.start as usize);
    let end = ceil(text, span.end as usize).max(start);
    start..end
}

fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// A fix in words: what to write in place of what.
pub(super) fn fix_in_words(fix: &Fix, sources: &SourceMap) -> String {
    let text = sources.text(fix.span.file);
    let old = quoted(&text[fit(fix.span, text)]);
    let new = quoted(&fix.replacement);
    match (fix.span.start == fix.span.end, fix.replacement.is_empty()) {
        (true, _) if fix.replacement == " " => "insert a blank".to_owned(),
        (true, _) => format!("insert {new}"),
        (false, true) => format!("remove {old}"),
        (false, false) => format!("write {new} instead of {old}"),
    }
}

fn quoted(text: &str) -> String {
    let mut lines = text.lines();
    let first = one_line(lines.next().unwrap_or_default());
    if lines.next().is_some() { format!("`{first} …`") } else { format!("`{first}`") }
}
