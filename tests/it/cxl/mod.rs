//! CXL texts into trees and back.

mod accepted;
mod errors;
mod properties;
mod random;
mod sexpr;
mod styles;

use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::cxl::{self, Source, ast};
use clinker::syntax::text_map::TextMap;

/// A text that is a file of its own.
pub fn source(text: &str) -> (SourceMap, Source) {
    let mut map = SourceMap::new();
    let file = map.add("program.cxl", text);
    let identity = TextMap::identity(file, 0, text.len() as u32);
    let span = identity.span(0, text.len() as u32);
    (map, Source { text: text.to_owned(), map: identity, span, folds: false })
}

pub fn program(text: &str) -> (ast::Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let program = cxl::parse_program(&source(text).1, &mut diagnostics);
    (program, diagnostics)
}

pub fn expression(text: &str) -> (ast::Expr, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let expr = cxl::parse_expression(&source(text).1, &mut diagnostics);
    (expr, diagnostics)
}
