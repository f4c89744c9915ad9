//! From names to things: the binder and the type checker.
//!
//! Takes the pipeline's AST and gives the HIR (`hir`): every name resolved to a node, port or column, a type on
//! every expression, a schema on every edge. All independent errors are reported together; what failed gets an error
//! type, and an edge below a failed node an unknown schema, which silence their followers.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod functions;
pub mod hir;
pub mod types;

use crate::diagnostics::Diagnostics;
use crate::syntax::pipeline::ast;

/// Facts about the command line that checks need.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--allow-absolute-paths`
    pub allow_absolute_paths: bool,
}

/// Binds and checks a pipeline.
///
/// Gives the HIR if nothing failed; otherwise the errors are in `diagnostics`.
pub fn analyse(pipeline: &ast::Pipeline, options: &Options, diagnostics: &mut Diagnostics) -> Option<hir::Pipeline> {
    let _ = (pipeline, options, diagnostics);
    None
}
