//! Every kind of expression and the type that the checker gives it, or what it says instead.

use super::{Analysed, analyse, around};
use crate::support::{assert_snapshot, path};
use clinker::analysis::formats::{FormatUse, in_strftime};
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

/// What stands for minutes, and what is read otherwise than it is meant, is told by what is around it.
#[test]
fn formats_of_other_tools_are_told_in_strftime() {
    let told = |format: &str| in_strftime(format, FormatUse::WriteDateTime).unwrap_or_default();
    for (format, meant) in [
        ("dd.mm.yyyy", "%d.%m.%Y"),
        ("hh:mm dd/mm/yyyy", "%H:%M %d/%m/%Y"),
        ("DD/MM/YYYY HH:MM", "%d/%m/%Y %H:%M"),
        ("yyyy-MM-dd HH:mm:ss", "%Y-%m-%d %H:%M:%S"),
        ("mm:ss", "%M:%S"),
        ("yyyymmddhhmmss", "%Y%m%d%H%M%S"),
        ("HH24:MI", "%H:%M"),
        ("YYYY-MM-DDTHH24:MI:SSZ", "%Y-%m-%dT%H:%M:%SZ"),
        ("HH12:MI", ""),
        ("yyyy-MM-dd'T'HH:mm", ""),
        ("\"on\" dd.mm.", ""),
        ("dd.mm.2024", ""),
        ("Q", ""),
    ] {
        assert_eq!(told(format), meant, "{format}");
    }
}

/// The call that an emit gives stands in another emit, whose value is written.
#[test]
fn an_emit_further_up_is_not_mended() {
    let find = |program: &str| {
        let text = around("emit x = 1");
        let (head, tail) = text.split_once("type: transform").expect("a transform");
        let (_, tail) = tail.split_once("emit x = 1\n").expect("its program");
        let node = "type: aggregate\n    name: t\n    input: rows\n    config:\n      group_by: [id]\n      cxl: |";
        let found = analyse(&format!("{head}{node}\n        {program}\n{tail}")).diagnostics.sorted();
        let [finding] = &found[..] else { panic!("{program}: {found:#?}") };
        assert_eq!(finding.code.as_str(), "E200", "{program}");
        (finding.help.clone().unwrap_or_default(), finding.fix.is_some())
    };
    let help = "write `max(name.to_date())` to compare dates".to_owned();
    assert_eq!(find("emit y = max(name)\n        emit z = min(day) == y"), (help.clone(), false));
    assert_eq!(find("emit z = min(day) == max(name)"), (help, true));
    assert!(!find("emit y = max(name)\n        emit z = y - 1").1);
}
