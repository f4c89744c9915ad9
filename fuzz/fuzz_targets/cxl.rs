//! Any text ends in a tree or an error, and a tree prints to a text that parses to it again.

#![no_main]

use clinker::diagnostics::{Diagnostics, FileId};
use clinker::syntax::cxl::{Source, parse_expression, parse_program};
use clinker::syntax::text_map::TextMap;
use libfuzzer_sys::fuzz_target;

fn source(text: &str) -> Source {
    let map = TextMap::identity(FileId(0), 0, text.len() as u32);
    Source { text: text.to_owned(), span: map.span(0, text.len() as u32), map, folds: false }
}

fuzz_target!(|text: &str| {
    let mut diagnostics = Diagnostics::new();
    let program = parse_program(&source(text), &mut diagnostics);
    assert!(program.complete || diagnostics.has_errors());
    if !diagnostics.has_errors() {
        let printed = program.to_string();
        assert_eq!(parse_program(&source(&printed), &mut diagnostics).to_string(), printed);
    }
    parse_expression(&source(text), &mut Diagnostics::new());
});
