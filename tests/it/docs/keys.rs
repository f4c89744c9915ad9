//! Every key that a pipeline may hold is named in the manual.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use super::pages;
use crate::support;

/// The keys are those in the lists called `read` of the readers; what is refused has a message of its own.
#[test]
fn the_manual_names_every_key() {
    let lists = Regex::new(r"read: &\[([^\]]*)\]").expect("the pattern is valid");
    let names = Regex::new(r#""(\w+)""#).expect("the pattern is valid");
    let mut keys = BTreeSet::new();
    for file in support::files_below(&support::path("src/syntax/pipeline")) {
        let source = fs::read_to_string(file).expect("source is text");
        for list in lists.captures_iter(&source) {
            keys.extend(names.captures_iter(&list[1]).map(|name| name[1].to_owned()));
        }
    }
    assert!(keys.len() > 70, "the keys were not found: {keys:?}");
    let named = named();
    let missing: Vec<_> = keys.iter().filter(|key| !named.contains(*key)).collect();
    assert!(missing.is_empty(), "the manual does not name {missing:?}");
}

/// The words between backticks on the pages, those of the diagnostics left out.
fn named() -> BTreeSet<String> {
    let code = Regex::new(r"`([^`\n]+)`").expect("the pattern is valid");
    let word = Regex::new(r"\w+").expect("the pattern is valid");
    let mut named = BTreeSet::new();
    for page in pages().iter().filter(|page| !page.starts_with(support::path("docs/src/diagnostics"))) {
        let text = fs::read_to_string(page).expect("a page is text");
        for span in code.captures_iter(&text) {
            named.extend(word.find_iter(&span[1]).map(|word| word.as_str().to_owned()));
        }
    }
    named
}
