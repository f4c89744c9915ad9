//! CXL comments that take in what was written on further lines.
//!
//! A comment goes on to the end of its line. Where YAML joins lines, as `>` does, what stands below the comment is part
//! of it, and the text means less than it shows.

use super::fields::Reader;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl;
use crate::syntax::yaml::Scalar;

/// Reports (W202) the first line of a text that a comment above it takes in, unless it is a comment itself.
pub(super) fn line(reader: &mut Reader<'_>, scalar: &Scalar, source: &cxl::Source) {
    if reader.first_line(scalar.span) == scalar.span {
        return;
    }
    let comments = cxl::comments(source).into_iter();
    let spans = comments.map(|comment| source.map.span(comment.start as u32, comment.end as u32));
    let Some((comment, line)) = spans.filter_map(|comment| Some((comment, taken_in(reader, comment)?))).next() else {
        return;
    };
    let finding = Diagnostic::warning(Code::W202, "a comment takes in the line below it, so that line does nothing")
        .label(reader.first_line(comment), "the comment")
        .label(line, "joined to the comment's line by YAML");
    reader.report(match source.folds {
        true => {
            let header = Span::new(scalar.span.file, scalar.span.start, scalar.span.start + 1);
            finding.help("write `|` in the place of `>`, which keeps the lines apart").fix(header, "|")
        }
        false => finding.help("write the text as a block behind `|`, which keeps the lines apart"),
    });
}

/// The first line below that of the comment which is no comment itself.
fn taken_in(reader: &Reader<'_>, comment: Span) -> Option<Span> {
    let mut start = comment.start;
    for (index, line) in reader.written(comment).split('\n').enumerate() {
        let text = line.trim();
        if index > 0 && !text.is_empty() && !text.starts_with('#') {
            let start = start + (line.len() - line.trim_start().len()) as u32;
            return Some(Span::new(comment.file, start, start + text.len() as u32));
        }
        start += line.len() as u32 + 1;
    }
    None
}
