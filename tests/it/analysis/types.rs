//! Every kind of expression and the type that the checker gives it, or what it says instead.

use super::build::analyse_program;
use crate::support::{assert_snapshot, path};
use clinker::analysis::{hir, print};
use clinker::diagnostics::{Severity, render};

/// `tests/cases/analysis/*.cxl` hold one expression a line, with comments between; the snapshot shows each with its
/// type, or with the diagnostics that it gets.
fn table(name: &str) {
    let text = std::fs::read_to_string(path(&format!("tests/cases/analysis/{name}.cxl"))).expect("the table is there");
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        comment if comment.starts_with("# ") => comment.to_owned(),
        expression => entry(expression),
    });
    assert_snapshot(&format!("analysis/{name}"), &lines.collect::<Vec<_>>().join("\n"));
}

fn entry(expression: &str) -> String {
    let (pipeline, diagnostics, sources) = analyse_program(&format!("emit x = {expression}"));
    match pipeline {
        Some(pipeline) => format!("{expression}  :  {}", emitted_type(&pipeline)),
        None => {
            let found = diagnostics.sorted();
            let short = render::render(render::Format::Short, &sources, &found);
            assert!(found.iter().any(|finding| finding.severity == Severity::Error));
            format!("{expression}\n    {}", short.trim_end().replace('\n', "\n    "))
        }
    }
}

fn emitted_type(pipeline: &hir::Pipeline) -> String {
    let hir::NodeKind::Transform(transform) = &pipeline.nodes[1].kind else { panic!("the second node transforms") };
    print::ty(&transform.emits[0].ty)
}

#[test]
fn expressions_have_types() {
    table("types");
}

#[test]
fn meaningless_expressions_are_errors() {
    table("type_errors");
}
