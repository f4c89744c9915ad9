//! CXL text as a tree, and a tree as text.
//!
//! The lexer (`lexer`) turns text into tokens whose spans are already those of the file; `statements` decides where a
//! line end ends a statement and cuts the tokens there; the LALRPOP grammar in `grammar/cxl.lalrpop`, with the actions
//! of `builder`, makes the tree (`ast`) of each statement, so that every broken statement is reported and the others
//! survive. `mistakes` puts what the grammar refuses into words, `print` writes a tree back as text. Nothing here knows
//! what a name refers to or whether this version runs what is written.

pub mod ast;
mod builder;
pub mod lexer;
mod literals;
mod mistakes;
mod parse;
pub mod print;
pub mod statements;
pub mod token;

pub use builder::{MAX_HEIGHT, MAX_NESTING, MAX_PARTS};
pub(crate) use mistakes::{NO_COUNT_OF_DISTINCT, NO_WINDOWS, one_by_one};
pub use parse::{MAX_BYTES, parse_expression, parse_program};

use std::ops::Range;

use crate::diagnostics::{Diagnostics, Span};
use crate::syntax::text_map::TextMap;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::disallowed_types, missing_docs, unused, reason = "generated code")]
    grammar,
    "/cxl.rs"
);

/// Where the comments of a text are.
pub fn comments(source: &Source) -> Vec<Range<usize>> {
    lexer::lex(source, &mut Diagnostics::new()).comments
}

/// A CXL text as it stands in a pipeline file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The decoded text.
    pub text: String,
    /// Where its bytes stand.
    pub map: TextMap,
    /// The whole scalar in the file.
    pub span: Span,
    /// Whether it is a block whose lines are joined: `span` begins with its `>`.
    pub folds: bool,
}
