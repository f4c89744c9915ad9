//! The form for programs: one JSON array of objects, always the same keys.
//!
//! Lines and columns count from 1, columns count characters, an end is the place behind the last character. What a
//! finding doesn't have is `null` or an empty list.

use serde::Serialize;

use super::text;
use crate::diagnostics::{Diagnostic, SourceMap, Span};

#[derive(Serialize)]
struct Object<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: OptionalPlace<'a>,
    help: Option<&'a str>,
    labels: Vec<Label<'a>>,
    notes: &'a [String],
    fix: Option<Fix<'a>>,
}

#[derive(Serialize)]
struct Label<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    text: &'a str,
}

#[derive(Serialize)]
struct Fix<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    replacement: &'a str,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// [`Place`], with every key there even when there is no place.
#[derive(Serialize, Default)]
struct OptionalPlace<'a> {
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

/// Renders findings as a JSON array.
pub fn json(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let objects: Vec<_> = diagnostics.iter().map(|diagnostic| object(sources, diagnostic)).collect();
    let mut text = serde_json::to_string_pretty(&objects).expect("maps with text keys are always JSON");
    text.push('\n');
    text
}

fn object<'a>(sources: &'a SourceMap, diagnostic: &'a Diagnostic) -> Object<'a> {
    let label = |label: &'a crate::diagnostics::Label| Label { place: place(sources, label.span), text: &label.text };
    let fix = |fix: &'a crate::diagnostics::Fix| Fix { place: place(sources, fix.span), replacement: &fix.replacement };
    Object {
        code: diagnostic.code.as_str(),
        severity: text::severity_name(diagnostic.severity),
        message: &diagnostic.message,
        place: diagnostic.span().map(|span| place(sources, span).into()).unwrap_or_default(),
        help: diagnostic.help.as_deref(),
        labels: diagnostic.labels.iter().map(label).collect(),
        notes: &diagnostic.notes,
        fix: diagnostic.fix.as_ref().map(fix),
    }
}

fn place(sources: &SourceMap, span: Span) -> Place<'_> {
    let range = text::fit(span, sources.text(span.file));
    let start = sources.line_column(span.file, range.start as u32);
    let end = sources.line_column(span.file, range.end as u32);
    Place {
        file: sources.name(span.file),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

impl<'a> From<Place<'a>> for OptionalPlace<'a> {
    fn from(place: Place<'a>) -> Self {
        Self {
            file: Some(place.file),
            line: Some(place.line),
            column: Some(place.column),
            end_line: Some(place.end_line),
            end_column: Some(place.end_column),
        }
    }
}
