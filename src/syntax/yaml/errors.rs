//! What is said about values that a pipeline file may not hold.

use crate::diagnostics::{Code, Diagnostic, FileId, Span};

/// The text doesn't fit the offsets.
pub(super) fn too_large(file: FileId) -> Diagnostic {
    Diagnostic::error(Code::E000, "the file is larger than 4 GB").label(Span::new(file, 0, 0), "")
}

/// `*name` without `&name` in front of it.
pub(super) fn unknown_anchor(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(Code::E000, format!("there is no anchor `&{name}` above this `*{name}`"))
        .label(span, "refers to nothing")
        .note("a value that begins with `*` repeats the value that an anchor `&` has marked")
        .help(format!("put the value in quotes if it is text: `\"*{name}\"`"))
}

/// An alias inside the value that it stands for.
pub(super) fn anchor_in_itself(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, "a value can't repeat itself").label(span, "stands inside the value it repeats")
}

/// Aliases of aliases that would fill the memory.
pub(super) fn too_much_copied(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, "the repeated values of this file are too large")
        .label(span, "the limit is passed here")
        .help("repeat less with `*`")
}

/// A `---` behind the first document.
pub(super) fn second_document(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, "a file holds one pipeline, and a second document begins here")
        .label(span, "second document")
        .help("move it to a file of its own, or remove this line")
}

/// `!tag`
pub(super) fn tag(span: Span, tag: &str) -> Diagnostic {
    Diagnostic::error(Code::E000, format!("tags such as `{tag}` are not used in pipeline files"))
        .label(span, "tag")
        .help("remove the tag, or put the value in quotes if it is text that begins with `!`")
}

/// Too many lists and mappings inside each other.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, format!("values are nested deeper than {} levels", super::tree::DEPTH_LIMIT))
        .label(span, "too deep")
}

/// A list or mapping as a key.
pub(super) fn key_not_scalar(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, "a key must be text, not a list or a mapping").label(span, "used as a key")
}

/// `<<:`
pub(super) fn merge_key(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, "merge keys `<<` are not supported")
        .label(span, "merge key")
        .help("write the keys out, or repeat whole values with `*`")
}

/// The same key twice.
pub(super) fn duplicate_key(key: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(Code::E000, format!("the key `{key}` is given twice"))
        .label(span, "given again")
        .label(first, "first given here")
        .help("remove or rename one of the two")
}
