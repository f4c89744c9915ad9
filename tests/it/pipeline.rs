//! Tests of the readers from YAML to the AST.

use std::fs;

use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::pipeline::{self, ast::Pipeline};
use proptest::prelude::*;
use regex::Regex;

use crate::support::{assert_snapshot, path};
use crate::yaml::show_findings;

/// A file with its AST and what was said about it.
struct Read {
    map: SourceMap,
    pipeline: Option<Pipeline>,
    diagnostics: Diagnostics,
}

fn read(text: &str) -> Read {
    let mut map = SourceMap::new();
    let file = map.add("pipeline.yaml", text);
    let mut diagnostics = Diagnostics::new();
    let pipeline = pipeline::read(file, text, &mut diagnostics);
    Read { map, pipeline, diagnostics }
}

fn file(name: &str) -> String {
    fs::read_to_string(path("tests/syntax").join(name)).expect("the file is there")
}

/// Files with mistakes in `tests/syntax`; each has a snapshot of what is said about it.
const MISTAKES: &[&str] = &[
    "aggregates",
    "broken",
    "cxl_styles",
    "empty",
    "forms",
    "groups",
    "habits",
    "list",
    "missing_keys",
    "nodes",
    "not_run_yet",
    "paths",
    "reshape",
    "settings",
    "sink",
    "source",
    "unknown_keys",
    "value_kinds",
];

#[test]
fn all_mistakes_of_a_file_are_reported() {
    for name in MISTAKES {
        let text = file(&format!("{name}.yaml"));
        let read = read(&text);
        let mut out = String::new();
        show_findings(&read.map, &text, &read.diagnostics, &mut out);
        assert_snapshot(&format!("pipeline/{name}"), &out);
    }
}

#[test]
fn each_fix_mends_what_it_is_for() {
    for name in MISTAKES {
        let text = file(&format!("{name}.yaml"));
        for diagnostic in read(&text).diagnostics.sorted() {
            let Some(fix) = &diagnostic.fix else { continue };
            let mut mended = text.clone();
            mended.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.replacement);
            let count = |text: &str| {
                let same = |other: &&clinker::diagnostics::Diagnostic| {
                    other.code == diagnostic.code && other.message == diagnostic.message
                };
                read(text).diagnostics.iter().filter(same).count()
            };
            assert_eq!(count(&mended) + 1, count(&text), "{name}: {}", diagnostic.message);
        }
    }
}

#[test]
fn each_file_with_mistakes_is_tested() {
    let mut names: Vec<String> = fs::read_dir(path("tests/syntax"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .filter(|name| name != "rich")
        .collect();
    names.sort();
    assert_eq!(names, MISTAKES);
}

/// The AST with the text of each span in its place.
fn show(read: &Read) -> String {
    let debug = format!("{:#?}", read.pipeline);
    let span = Regex::new(r"Span \{\s+file: FileId\(\s+0,\s+\),\s+start: (\d+),\s+end: (\d+),\s+\}").expect("a regex");
    let text = read.map.text(clinker::diagnostics::FileId(0));
    let shown = span.replace_all(&debug, |found: &regex::Captures<'_>| {
        let [start, end] = [1, 2].map(|group| found[group].parse::<usize>().expect("an offset"));
        let source = text[start..end].replace('\n', "⏎");
        match source.char_indices().nth(30) {
            Some((cut, _)) => format!("«{}…»", &source[..cut]),
            None => format!("«{source}»"),
        }
    });
    let spanned = Regex::new(r"Spanned \{\s+value: ([^\n]+),\s+span: («[^»]*»),\s+\}").expect("a regex");
    let name = Regex::new(r"Name \{\s+text: ([^\n]+),\s+span: («[^»]*»),\s+\}").expect("a regex");
    let some = Regex::new(r"Some\(\s+([^\n]+),\s+\)").expect("a regex");
    let shown = spanned.replace_all(&shown, "$1 $2").into_owned();
    let shown = name.replace_all(&shown, "$1 $2").into_owned();
    some.replace_all(&shown, "Some($1)").into_owned()
}

#[test]
fn a_rich_pipeline_is_read_whole() {
    let read = read(&file("rich.yaml"));
    let mut findings = String::new();
    show_findings(&read.map, "", &read.diagnostics, &mut findings);
    assert_eq!(findings.trim(), "");
    assert_snapshot("pipeline/rich", &show(&read));
}

#[test]
fn sizes_are_digits_with_one_unit() {
    let limit = |size: &str| {
        let read = read(&format!("pipeline: {{ name: x, memory: {{ limit: {size} }} }}\nnodes: []\n"));
        let limit = read.pipeline.expect("a pipeline").settings.memory_limit.map(|limit| limit.value);
        assert_eq!(limit.is_none(), read.diagnostics.has_errors(), "{size}");
        limit
    };
    for (size, bytes) in [
        ("0", Some(0)),
        ("1048576", Some(1 << 20)),
        ("64k", Some(64 << 10)),
        ("64K", Some(64 << 10)),
        ("'  2m '", Some(2 << 20)),
        ("3G", Some(3 << 30)),
        ("4GB", None),
        ("1.5G", None),
        ("'64 M'", None),
        ("-1", None),
        ("M", None),
        ("17179869184G", None),
        ("99999999999999999999", None),
    ] {
        assert_eq!(limit(size), bytes, "{size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A whole file with parts cut out, doubled and replaced.
    #[test]
    fn no_mutation_panics_and_labels_stay_inside(
        name in prop::sample::select(&["rich.yaml", "cxl_styles.yaml", "value_kinds.yaml", "nodes.yaml", "groups.yaml"][..]),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize), 1..6),
        inserts in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(&[
                "", "\n", "  ", "\t", ": ", "- ", "[", "]", "{", "}", "\"", "'", "é", "|", "*a", "&a ", "#", ",", "~", "<<: 1\n",
            ][..])), 0..6),
    ) {
        let mut characters: Vec<char> = file(name).chars().collect();
        for (at, length) in cuts {
            let at = at.index(characters.len());
            characters.drain(at..(at + length).min(characters.len()));
        }
        for (at, part) in inserts {
            let at = at.index(characters.len());
            characters.splice(at..at, part.chars());
        }
        let text: String = characters.into_iter().collect();
        let read = read(&text);
        let debug = format!("{:?}", read.pipeline);
        let span = Regex::new(r"Span \{ file: FileId\(0\), start: (\d+), end: (\d+) \}").expect("a regex");
        for found in span.captures_iter(&debug) {
            let [start, end] = [1, 2].map(|group| found[group].parse::<usize>().expect("an offset"));
            prop_assert!(text.get(start..end).is_some(), "{}..{} in {:?}", start, end, text);
        }
        for diagnostic in read.diagnostics.sorted() {
            prop_assert!(!diagnostic.labels.is_empty(), "{:?}", diagnostic);
            let fix = diagnostic.fix.iter().map(|fix| fix.span);
            for span in diagnostic.labels.iter().map(|label| label.span).chain(fix) {
                prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{:?} in {:?}", diagnostic, text);
            }
        }
    }
}

#[test]
fn a_threshold_out_of_every_range_is_out_of_its_range() {
    for text in [".nan", ".NaN", ".inf", "-.Inf", "0", "-0.1", "0.8"] {
        let read = read(&format!("pipeline: {{ name: p, memory: {{ resume_threshold: {text} }} }}\nnodes: []\n"));
        let codes: Vec<_> = read.diagnostics.sorted().iter().map(|finding| finding.code.to_string()).collect();
        assert!(codes.contains(&"E324".to_string()), "{text}: {codes:?}");
    }
}

/// Keys that are the name and the condition of one branch are a mistake, unless they are read as branches.
#[test]
fn branches_that_are_read_may_have_any_name() {
    let found = |input: &str| {
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: route, name: r, input: s, config: {{ conditions: {{ name: \
             where, check: n > 1 }}, default: rest }} }}\n  - {{ type: sink, name: o, input: {input}, config: {{ type: \
             csv, path: o.csv }} }}\n"
        );
        read(&text).diagnostics.iter().map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    let mistake = ["a branch of route `r` is written as its name and its condition"];
    assert_eq!(found("r.name"), [""; 0]);
    assert_eq!(found("r.check"), [""; 0]);
    assert_eq!(found("r.where"), mistake);
    assert_eq!(found("r.names"), mistake);
    assert_eq!(found("other.name"), mistake);
}
