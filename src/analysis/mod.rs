//! From names to things: the binder and the type checker.
//!
//! Takes the pipeline's AST and gives the HIR (`hir`): every name resolved to a node, port or column, a type on
//! every expression, a schema on every edge. All independent errors are reported together; what failed gets an error
//! type, and an edge below a failed node an unknown schema, which silence their followers.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod bind;
mod check;
pub mod formats;
pub mod functions;
pub mod hir;
pub mod orders;
pub mod print;
pub mod types;

use std::ops::Range;

use crate::diagnostics::{Diagnostics, Span};
use crate::syntax::pipeline::ast;

/// Facts about the command line that checks need.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--allow-absolute-paths`
    pub allow_absolute_paths: bool,
}

/// Binds and checks a pipeline.
///
/// Gives the HIR if nothing failed, here or before; otherwise the errors are in `diagnostics`.
pub fn analyse(pipeline: &ast::Pipeline, options: &Options, diagnostics: &mut Diagnostics) -> Option<hir::Pipeline> {
    bind::bind(pipeline, options, diagnostics)
}

/// The place of a byte range within a text that stands at `span`, quoted or not; all of `span` where the text has
/// escapes or folds, so that its bytes can't be counted off.
fn inner_span(span: Span, text: &str, range: &Range<usize>) -> Span {
    let written = (span.end - span.start) as usize;
    let quotes = match written.checked_sub(text.len()) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return span,
    };
    let offset = |at: usize| span.start + quotes + at as u32;
    Span::new(span.file, offset(range.start), offset(range.end.max(range.start)))
}
