//! Paths as they are written: what they may not hold, and when two of them are one file.

use std::ops::Range;

use crate::analysis::{Options, inner_span};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};

/// Endings of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".zip"];

/// Checks a path of the pipeline file: not empty (E200), no `..`, absolute only where that is allowed (E-SEC-001), and
/// not that of a compressed file (E199).
pub(super) fn check(path: &Spanned<String>, options: &Options, diagnostics: &mut Diagnostics) {
    let text = path.value.as_str();
    if text.is_empty() {
        diagnostics.push(Diagnostic::error(Code::E200, "the path is empty").label(path.span, "no file is named"));
    }
    if let Some(position) = parent_position(text) {
        let span = inner_span(path.span, text, &(position..position + 2));
        let diagnostic = Diagnostic::error(Code::ESEC001, format!("the path `{text}` leaves its folder by `..`"))
            .label(span, "not allowed")
            .help("write paths that lie below the base directory, or choose another one with `--base-dir`");
        diagnostics.push(diagnostic);
    }
    if is_absolute(text) && !options.allow_absolute_paths {
        let diagnostic = Diagnostic::error(Code::ESEC001, format!("the path `{text}` is absolute"))
            .label(path.span, "absolute paths are not allowed")
            .help("write it relative to the base directory, or allow it with `--allow-absolute-paths`");
        diagnostics.push(diagnostic);
    }
    if let Some(ending) = compressed_ending(text) {
        let message = format!("compressed files such as `{text}` are not read or written by this version yet");
        let diagnostic = Diagnostic::error(Code::E199, message)
            .label(inner_span(path.span, text, &ending), "compressed")
            .help("name the file without this ending, and compress or unpack it outside of the pipeline");
        diagnostics.push(diagnostic);
    }
}

/// The path with its needless parts left out, so that two ways to write one file are equal.
pub(super) fn normal(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if is_absolute(path) { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Where the ending of a compressed file stands.
fn compressed_ending(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let ending = COMPRESSED.into_iter().find(|ending| lower.ends_with(ending))?;
    Some(text.len() - ending.len()..text.len())
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// Where a `..` stands that is a whole part of the path.
fn parent_position(path: &str) -> Option<usize> {
    let mut offset = 0;
    for part in path.split('/') {
        if part == ".." {
            return Some(offset);
        }
        offset += part.len() + 1;
    }
    None
}
