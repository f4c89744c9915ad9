//! Error handling: dead-letter files, ceilings, and the sources with settings of their own.

use super::names::{Found, Names};
use super::paths;
use crate::analysis::Options;
use crate::analysis::check::{did_you_mean, there_are};
use crate::analysis::hir::{ErrorHandling, NodeId, Rate, SourceErrorHandling};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span, Spanned};
use crate::syntax::pipeline::ast::{self, DeadLetters, NodeKind, Pipeline, SourceDeadLetters};

/// How many rows a ceiling waits for.
const MIN_RECORDS: u64 = 100;

/// Fills in defaults; reports E317, E-SEC-001 and W318. `None` where a source could not be found.
pub(super) fn bind(
    pipeline: &Pipeline,
    options: &Options,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Option<ErrorHandling> {
    let handling = &pipeline.error_handling;
    let errors = diagnostics.error_count();
    let default = DeadLetters {
        span: pipeline.name.span,
        path: None,
        include_reason: true,
        include_source_row: true,
        rate: ast::Rate::default(),
        per_source: Vec::new(),
    };
    let dlq = handling.dlq.as_ref().unwrap_or(&default);
    let dlq_path = path(&dlq.path, options, diagnostics);
    let rate = rate(&dlq.rate);
    let mut per_source = Vec::with_capacity(dlq.per_source.len());
    for (name, own) in &dlq.per_source {
        per_source.push(source(name, own, pipeline, options, names, diagnostics));
    }
    if diagnostics.error_count() == errors {
        unwritten(handling, diagnostics);
    }
    Some(ErrorHandling {
        continue_on_error: handling.continue_on_error,
        type_error_threshold: handling.type_error_threshold.clone(),
        include_reason: dlq.include_reason,
        include_source_row: dlq.include_source_row,
        dlq_path,
        rate,
        per_source: per_source.into_iter().collect::<Option<Vec<_>>>()?,
    })
}

fn path(path: &Option<Spanned<String>>, options: &Options, diagnostics: &mut Diagnostics) -> Option<(String, Span)> {
    let path = path.as_ref()?;
    paths::check(path, options, diagnostics);
    Some((path.value.clone(), path.span))
}

fn source(
    name: &Spanned<String>,
    own: &SourceDeadLetters,
    pipeline: &Pipeline,
    options: &Options,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Option<SourceErrorHandling> {
    let dlq_path = path(&own.path, options, diagnostics);
    let rate = rate(&own.rate);
    let node = match names.find(&name.value) {
        Found::Node(index) => match &pipeline.nodes[index].kind {
            NodeKind::Source(_) => index,
            NodeKind::Error { .. } => return None,
            _ => {
                no_source(name, pipeline, diagnostics);
                return None;
            }
        },
        Found::Several => return None,
        Found::Nothing => {
            if pipeline.nodes_complete {
                no_source(name, pipeline, diagnostics);
            }
            return None;
        }
    };
    Some(SourceErrorHandling { source: NodeId(node as u32), dlq_path, rate })
}

fn no_source(name: &Spanned<String>, pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    let is_source = |node: &&ast::Node| matches!(node.kind, NodeKind::Source(_));
    let sources: Vec<&str> = pipeline.nodes.iter().filter(is_source).map(|node| node.name.value.as_str()).collect();
    let message = format!("`per_source` has settings for `{}`, which is not a source", name.value);
    let diagnostic =
        Diagnostic::error(Code::E317, message).label(name.span, "not a source").note(there_are("source", &sources));
    diagnostics.push(did_you_mean(diagnostic, &name.value, name.span, sources));
}

/// A ceiling, if `max_rate` is given.
fn rate(rate: &ast::Rate) -> Option<Rate> {
    let max_rate = rate.max_rate.as_ref()?;
    let min_records = rate.min_records.as_ref().map_or(MIN_RECORDS, |min_records| min_records.value);
    Some(Rate { max_rate: max_rate.value, min_records, span: max_rate.span })
}

/// W318: `continue` without any dead-letter file.
fn unwritten(handling: &ast::ErrorHandling, diagnostics: &mut Diagnostics) {
    let has_path = |dlq: &DeadLetters| dlq.path.is_some() || dlq.per_source.iter().any(|(_, own)| own.path.is_some());
    let Some(span) = handling.strategy_span.filter(|_| handling.continue_on_error) else { return };
    if handling.dlq.as_ref().is_some_and(has_path) {
        return;
    }
    let diagnostic = Diagnostic::warning(Code::W318, "bad rows are skipped and counted, but written nowhere")
        .label(span, "skips bad rows")
        .help("name a file for them: `dlq: { path: rejects.csv }` in `error_handling`");
    diagnostics.push(diagnostic);
}
