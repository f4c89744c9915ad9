//! Every kind of expression and the type that the checker gives it, or what it says instead.

use super::{Analysed, analyse, around};
use crate::support::{assert_snapshot, path};
use clinker::analysis::{hir, print};
use clinker::diagnostics::{Diagnostic, SourceMap};

/// `tests/cases/analysis/*.cxl` hold one expression a line, with comments between; the snapshot shows each with its
/// type, or with the findings that it gets: the place underlined, the message, and the help.
fn table(name: &str, well_typed: bool) {
    let text = std::fs::read_to_string(path(&format!("tests/cases/analysis/{name}.cxl"))).expect("the table is there");
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        comment if comment.starts_with("# ") => comment.to_owned(),
        expression => {
            let analysed = analyse(&around(&format!("emit x = {expression}")));
            assert_eq!(analysed.pipeline.is_some(), well_typed, "{expression}");
            entry(expression, &analysed)
        }
    });
    assert_snapshot(&format!("analysis/{name}"), &lines.collect::<Vec<_>>().join("\n"));
}

fn entry(expression: &str, analysed: &Analysed) -> String {
    match &analysed.pipeline {
        Some(pipeline) => format!("{expression}  :  {}", emitted_type(pipeline)),
        None => {
            let found = analysed.diagnostics.sorted();
            let shown: Vec<String> = found.iter().map(|finding| finding_text(finding, &analysed.sources)).collect();
            format!("{expression}\n{}", shown.join("\n"))
        }
    }
}

pub(super) fn finding_text(finding: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = format!("    {}: {}", finding.code, finding.message);
    for label in &finding.labels {
        text.push_str(&format!("\n      `{}`: {}", sources.slice(label.span), label.text));
    }
    for note in &finding.notes {
        text.push_str(&format!("\n      note: {note}"));
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("\n      help: {help}"));
    }
    if let Some(fix) = &finding.fix {
        text.push_str(&format!("\n      fix: `{}` becomes `{}`", sources.slice(fix.span), fix.replacement));
    }
    text
}

fn emitted_type(pipeline: &hir::Pipeline) -> String {
    let hir::NodeKind::Transform(transform) = &pipeline.nodes[1].kind else { panic!("the second node transforms") };
    print::ty(&transform.emits[0].ty)
}

#[test]
fn expressions_have_types() {
    table("types", true);
}

#[test]
fn meaningless_expressions_are_errors() {
    table("type_errors", false);
}

/// Each fix of the table, applied, gives text that parses and takes its finding away.
#[test]
fn fixes_mend_what_they_are_for() {
    let text = std::fs::read_to_string(path("tests/cases/analysis/type_errors.cxl")).expect("the table is there");
    let mut fixed = 0;
    for expression in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let pipeline = around(&format!("emit x = {expression}"));
        for finding in analyse(&pipeline).diagnostics.iter() {
            let Some(fix) = &finding.fix else { continue };
            let (start, end) = (fix.span.start as usize, fix.span.end as usize);
            let mended = format!("{}{}{}", &pipeline[..start], fix.replacement, &pipeline[end..]);
            let left = analyse(&mended).diagnostics;
            let broken = left.iter().any(|other| matches!(other.code.as_str(), "E000" | "E202"));
            let same = left.iter().any(|other| other.labels == finding.labels && other.message == finding.message);
            assert!(!broken && !same, "{expression}: the fix `{}` mends nothing", fix.replacement);
            fixed += 1;
        }
    }
    assert!(fixed >= 15, "only {fixed} fixes were tried");
}
