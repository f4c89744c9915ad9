//! The short form: `orders.yaml:24:31: error[E203]: message`, one line each.

use codespan_reporting::diagnostic::{Diagnostic as Drawn, Label as DrawnLabel, Severity as DrawnSeverity};
use codespan_reporting::term::{Config, DisplayStyle, emit_into_string};

use super::text;
use crate::diagnostics::{Diagnostic, Severity, SourceMap};

/// Renders findings as one line each. A finding without a place begins with its severity.
pub fn short(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| line(sources, diagnostic)).collect()
}

fn line(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let config = Config { display_style: DisplayStyle::Short, ..Config::default() };
    let drawn = drawn(sources, diagnostic);
    emit_into_string(&config, sources.files(), &drawn).unwrap_or_else(|_| plain(diagnostic))
}

fn drawn(sources: &SourceMap, diagnostic: &Diagnostic) -> Drawn<usize> {
    let severity = match diagnostic.severity {
        Severity::Error => DrawnSeverity::Error,
        Severity::Warning => DrawnSeverity::Warning,
    };
    let place = diagnostic
        .span()
        .filter(|span| sources.contains(span.file))
        .map(|span| DrawnLabel::primary(span.file.0 as usize, text::fit(span, sources.text(span.file))));
    Drawn::new(severity)
        .with_code(diagnostic.code.as_str())
        .with_message(text::one_line(&diagnostic.message))
        .with_labels(place.into_iter().collect())
}

/// The line without a place, for a file that the map doesn't know.
fn plain(diagnostic: &Diagnostic) -> String {
    let severity = text::severity_name(diagnostic.severity);
    format!("{severity}[{}]: {}\n", diagnostic.code, text::one_line(&diagnostic.message))
}
