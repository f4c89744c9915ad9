//! Paths of files that a run writes. Braces are for tokens, so a brace of a file's name is doubled.

use super::fields::{Given, Reader};
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::{Scalar, Value};

/// The path, with `{{` and `}}` read as braces. Other braces are reported, and kept as they are.
pub(super) fn written(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<String>> {
    let written = reader.string(given)?;
    let Value::Scalar(scalar) = &given.node.value else { return None };
    let mut path = String::new();
    let mut rest = written.value.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        path.push_str(&rest[..at]);
        let brace = &rest[at..];
        let doubled = brace.starts_with("{{") || brace.starts_with("}}");
        if !doubled {
            reader.report(single_brace(scalar, brace));
            return Some(written);
        }
        path.push_str(&brace[..1]);
        rest = &brace[2..];
    }
    path.push_str(rest);
    Some(Spanned::new(path, written.span))
}

/// What to say about a text that begins with a brace that is not doubled.
fn single_brace(scalar: &Scalar, from: &str) -> Diagnostic {
    let start = scalar.text.len() - from.len();
    let span = |length: usize| scalar.map.span(start as u32, (start + length) as u32);
    match from.find('}') {
        Some(0) => stray(span(1), "`}` closes no brace in this path", "write `}}` for a brace in a file's name"),
        None => stray(span(1), "`{` is not closed in this path", "write `{{` for a brace in a file's name"),
        Some(end) => {
            let token = &from[..=end];
            Diagnostic::error(Code::E199, format!("tokens such as `{token}` in a path are not run by this version yet"))
                .label(span(token.len()), "not run yet")
                .help("write the path out; write `{{` for a brace in a file's name")
        }
    }
}

fn stray(span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::error(Code::E000, message).label(span, "a single brace").help(help)
}
