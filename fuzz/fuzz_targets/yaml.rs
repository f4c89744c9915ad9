//! Any text ends in a tree or an error.

#![no_main]

use clinker::diagnostics::{Diagnostics, FileId};
use clinker::syntax::yaml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut diagnostics = Diagnostics::new();
    let tree = yaml::parse(FileId(0), text, &mut diagnostics);
    assert!(tree.is_some() || diagnostics.has_errors() || text.trim().is_empty());
});
