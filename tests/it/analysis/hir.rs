//! What analysis makes of good pipelines.

use super::analyse;
use crate::support::{assert_snapshot, path};
use clinker::analysis::print;
use clinker::diagnostics::{Code, Diagnostic};

fn printed(name: &str) {
    let text = std::fs::read_to_string(path(&format!("tests/cases/analysis/{name}.yaml"))).expect("the file is there");
    let analysed = analyse(&text);
    // They show what a name means behind an emit of that name, which gets a warning.
    let shown = |finding: &&Diagnostic| finding.code != Code::W208;
    let found: Vec<_> = analysed.diagnostics.iter().filter(shown).map(|finding| finding.message.clone()).collect();
    assert!(found.is_empty(), "{found:?}");
    let pipeline = analysed.pipeline.expect("nothing was found");
    assert_snapshot(&format!("analysis/{name}"), &print::pipeline(&pipeline));
}

#[test]
fn a_pipeline_with_everything() {
    printed("everything");
}

#[test]
fn sinks_choose_their_columns() {
    printed("sinks");
}

#[test]
fn groups_orders_and_keys() {
    printed("groups");
}

#[test]
fn aggregates_are_two_programs() {
    printed("aggregates");
}

#[test]
fn reshapes_and_their_stamps() {
    printed("reshapes");
}
