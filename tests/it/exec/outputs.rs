//! Where outputs go: names, folders, collisions, columns.

use clinker::diagnostics::Diagnostic;
use clinker::exec::Mode;
use clinker::plan::explain;

use super::lab::Lab;
use crate::support::assert_snapshot;

fn pipeline(sinks: &str) -> String {
    format!(
        r#"
pipeline: {{ name: outputs }}
nodes:
  - {{ type: source, name: rows, config: {{ type: csv, glob: 'in/*.csv', schema: [ {{ name: n, type: int }} ] }} }}
{sinks}
"#
    )
}

fn sink(name: &str, config: &str) -> String {
    format!("  - {{ type: sink, name: {name}, input: rows, config: {{ type: csv, {config} }} }}\n")
}

/// A pipeline may be as long as its author likes, and so may names: nothing calls itself once for each node.
#[test]
fn a_very_long_pipeline_runs_and_is_explained() {
    const NODES: usize = 4000;
    let lab = Lab::new(&[("in.csv", "n\n1\n2\n")]);
    let name = "x".repeat(70_000);
    let mut pipeline = String::from(
        "pipeline: { name: long }\nnodes:\n  - { type: source, name: n0, config: { type: csv, path: in.csv, schema: [ { \
         name: n, type: int } ] } }\n",
    );
    for node in 1..=NODES {
        let input = node - 1;
        pipeline += &format!(
            "  - {{ type: transform, name: n{node}, input: n{input}, config: {{ cxl: 'emit n = n + 1' }} }}\n"
        );
    }
    pipeline +=
        &format!("  - {{ type: sink, name: {name}, input: n{NODES}, config: {{ type: csv, path: out.csv }} }}\n");
    lab.run(&pipeline).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "n\n4001\n4002\n");
    let (plan, sources) = lab.compile(&pipeline);
    let text = explain::render(&plan, &sources, explain::Format::Text, &explain::Facts::default());
    assert!(text.contains("more below"));
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
}

#[test]
fn a_suffix_makes_a_name_unique() {
    let lab = Lab::new(&[("in/a.csv", "n\n1\n")]);
    let text = pipeline(&sink("all", "path: ./out.csv, if_exists: unique_suffix"));
    let mut paths = Vec::new();
    for _ in 0..3 {
        let report = lab.run(&text).expect("the run completes");
        paths.extend(report.outputs.into_iter().map(|file| file.path));
    }
    assert_eq!(paths, ["./out.csv", "./out-1.csv", "./out-2.csv"]);
    assert_eq!(lab.names(), ["in", "out-1.csv", "out-2.csv", "out.csv"]);
}

#[test]
fn an_output_that_is_there_is_replaced_only_if_that_is_wanted() {
    let mut lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("out.csv", "old\n")]);
    let text = pipeline(&sink("all", "path: out.csv, if_exists: error"));
    let refused = lab.failure(&text);
    assert_snapshot("exec/if_exists", &refused);
    assert_eq!(lab.read("out.csv"), "old\n");
    lab.options.force = true;
    lab.run(&text).expect("forced");
    assert_eq!(lab.read("out.csv"), "n\n1\n");
    lab.run(&pipeline(&sink("all", "path: out.csv"))).expect("replaced");
}

#[test]
fn outputs_that_can_not_be_written_are_refused() {
    let lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("folder/x", ""), ("real.csv", "")]);
    std::os::unix::fs::symlink(lab.path("in/a.csv"), lab.path("alias.csv")).expect("links work");
    std::os::unix::fs::symlink(lab.path("folder"), lab.path("other")).expect("links work");
    let cases = [
        sink("all", "path: gone/out.csv"),
        sink("all", "path: ~/out.csv"),
        sink("all", "path: folder"),
        sink("all", "path: alias.csv"),
        sink("all", "path: in/a.csv"),
        sink("one", "path: folder/out.csv") + &sink("two", "path: other/out.csv"),
        sink("one", "path: real.csv, if_exists: unique_suffix") + &sink("two", "path: real-1.csv"),
    ];
    let mut text = String::new();
    for sinks in &cases {
        text += &format!("---\n{sinks}\n{}\n", lab.preflight(&pipeline(sinks), Mode::Check));
        let failure = lab.run(&pipeline(sinks)).expect_err("refused");
        assert_eq!(failure.exit_code, 1);
    }
    assert_snapshot("exec/refused_outputs", &text);
    assert_eq!(lab.read("in/a.csv"), "n\n1\n");
}

/// Whatever name an output gives it: the file that a run was read from is no place to write to.
#[test]
fn no_output_replaces_the_pipeline() {
    let mut lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("p.yaml", "text\n"), ("bad.failed", "text\n")]);
    std::os::unix::fs::symlink("p.yaml", lab.path("alias.csv")).expect("links work");
    std::os::unix::fs::symlink(".", lab.path("here")).expect("links work");
    let letters = |settings: &str| sink("all", "path: out.csv") + &format!("error_handling: {settings}\n");
    let cases = [
        ("p.yaml", sink("all", "path: p.yaml")),
        ("p.yaml", sink("all", "path: ./here/p.yaml")),
        ("p.yaml", sink("all", "path: alias.csv")),
        ("alias.csv", sink("all", "path: p.yaml")),
        ("p.yaml", letters("{ strategy: continue, dlq: { path: p.yaml } }")),
        ("p.yaml", letters("{ strategy: continue, dlq: { per_source: { rows: { path: here/p.yaml } } } }")),
        ("bad.failed", letters("{ strategy: continue, dlq: { path: bad, max_rate: 0.5 } }")),
    ];
    let mut text = String::new();
    for (file, rest) in &cases {
        lab.options.pipeline_file = Some(lab.path(file));
        text += &format!("---\n{rest}\n{}\n", lab.preflight(&pipeline(rest), Mode::Check));
        let failure = lab.run(&pipeline(rest)).expect_err("refused");
        assert_eq!((failure.exit_code, failure.diagnostic.map(|d| d.code.as_str())), (1, Some("E322")));
    }
    assert_snapshot("exec/over_the_pipeline", &text);
    assert_eq!((lab.read("p.yaml"), lab.read("bad.failed")), ("text\n".to_owned(), "text\n".to_owned()));
    // A suffix gets out of its way.
    lab.options.pipeline_file = Some(lab.path("p.yaml"));
    lab.run(&pipeline(&sink("all", "path: p.yaml, if_exists: unique_suffix"))).expect("the run completes");
    assert_eq!((lab.read("p-1.yaml"), lab.read("p.yaml")), ("n\n1\n".to_owned(), "text\n".to_owned()));
}

/// Which columns there are is known when the headers have been read: a file of empty lines is not begun.
#[test]
fn a_sink_that_excludes_every_column_of_its_files_is_refused() {
    let lab = Lab::new(&[("in/a.csv", "n,m\n1,x\n"), ("in/b.csv", "n\nno number\n")]);
    let text = pipeline(&(sink("none", "path: out.csv, exclude: [n, m]") + &sink("all", "path: all.csv")));
    assert_snapshot("exec/every_column_excluded", &lab.failure(&text));
    assert_eq!(lab.names(), ["in"]);
    lab.write("in/b.csv", "n,other\n1,y\n");
    lab.run(&text).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "other\n\"\"\ny\n");
}

#[test]
fn a_folder_that_can_not_be_written_to_fails_the_run() {
    let lab = Lab::new(&[("in/a.csv", "n\n1\n")]);
    let failure = lab.run(&pipeline(&sink("all", "path: /proc/out.csv"))).expect_err("fails");
    assert_eq!(failure.exit_code, 4);
    let diagnostic = failure.diagnostic.expect("a reason");
    assert_eq!(diagnostic.code.as_str(), "E394");
    assert!(diagnostic.message.contains("/proc"), "{}", diagnostic.message);
}

#[test]
fn warnings_about_carried_columns_come_with_the_report() {
    let lab = Lab::new(&[("in/a.csv", "n,note,m\n1,x,y\n")]);
    let sinks = sink("all", "path: out.csv, mapping: [ { note: n }, { other: nota } ], exclude: [nott, z]");
    let (plan, sources) = lab.compile(&pipeline(&sinks));
    let report = clinker::exec::run(&plan, &lab.options, &clinker::exec::Silent).expect("the run completes");
    assert_snapshot("exec/carried_warnings", &super::lab::render(&sources, &report.warnings));
    assert_eq!(lab.read("out.csv"), "note,other,m\n1,,y\n");
}

#[test]
fn a_link_to_an_output_stays_a_link() {
    let lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("store/real.csv", "old\n")]);
    std::os::unix::fs::symlink("store/real.csv", lab.path("out.csv")).expect("links work");
    lab.run(&pipeline(&sink("all", "path: out.csv"))).expect("the run completes");
    assert!(lab.path("out.csv").is_symlink());
    assert_eq!(lab.read("store/real.csv"), "n\n1\n");
}

#[test]
fn an_output_keeps_the_permissions_of_the_file_it_replaces() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("out.csv", "old\n")]);
    std::fs::set_permissions(lab.path("out.csv"), PermissionsExt::from_mode(0o640)).expect("own file");
    lab.run(&pipeline(&sink("all", "path: out.csv"))).expect("the run completes");
    let mode = std::fs::metadata(lab.path("out.csv")).expect("published").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// What is wrong with a name in `exclude` is said once: at the run only where fields may come that no schema declares.
#[test]
fn excluded_names_are_warned_of_once_and_only_where_they_matter() {
    let run = |source: &str, config: &str| {
        let lab = Lab::new(&[("in/a.csv", "n,note\n1,x\n")]);
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: rows, config: {{ type: csv, path: in/a.csv, \
             {source} schema: [{{ name: n, type: int }}] }} }}\n  - {{ type: sink, name: all, input: rows, config: \
             {{ type: csv, path: out.csv, {config} }} }}\n"
        );
        let (plan, _) = lab.compile(&text);
        let report = clinker::exec::run(&plan, &lab.options, &clinker::exec::Silent).expect("the run completes");
        let told = |warning: &Diagnostic| format!("{} {}", warning.code, warning.help.as_deref().unwrap_or_default());
        report.warnings.iter().map(told).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(run("", "exclude: [note, noted]"), "W364 did you mean `note`?");
    assert_eq!(run("on_unmapped: { mode: drop },", "exclude: [noted]"), "");
    assert_eq!(run("", "include_unmapped: false, exclude: [note]"), "");
    assert_eq!(run("correlation_key: [n],", "exclude: [$ck.n], include_correlation_keys: true"), "");
    assert_eq!(run("", "mapping: [n as N]"), "W365 the name in the file comes first: `{ N: n }`");
}
