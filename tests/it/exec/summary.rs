//! What a run reports: counts, warnings, memory.

use clinker::exec::NodeReport;

use super::lab::{Lab, Recorder};
use crate::support::assert_snapshot;

const SORTING: &str = r#"
pipeline: { name: sorting, memory: { limit: 64K, backpressure: spill } }
nodes:
  - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [ { name: n, type: int }, { name: k, type: string } ] } }
  - type: route
    name: split
    input: rows
    config: { mode: inclusive, conditions: { even: "n % 2 == 0", third: "n % 3 == 0", bad: "10 / (n - 7) > 100" }, default: rest }
  - type: transform
    name: clean
    input: split.third
    config:
      validations:
        - { check: "n < 12", severity: warn, message: large, name: size }
        - { check: "k != 'x'", severity: warn }
      cxl: |
        filter n > 0
        distinct by k
  - { type: sink, name: even, input: split.even, config: { type: csv, path: even.csv } }
  - { type: sink, name: third, input: clean, config: { type: csv, path: third.csv } }
  - { type: sink, name: again, input: split.even, config: { type: csv, path: again.csv } }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
"#;

fn rows(count: usize, key: impl Fn(usize) -> String) -> String {
    let lines: String = (0..count).map(|n| format!("{n},{}\n", key(n))).collect();
    format!("n,k\n{lines}")
}

#[test]
fn every_row_is_accounted_for() {
    let mut lab = Lab::new(&[("in.csv", &rows(40, |n| if n == 30 { "x".into() } else { format!("k{}", n % 6) }))]);
    (lab.options.block_size, lab.batch_size) = (40, Some(3));
    let recorder = Recorder::default();
    let (plan, sources) = lab.compile(SORTING);
    let report = clinker::exec::run(&plan, &lab.options, &recorder).expect("the run completes");
    let mut text = format!(
        "{} total, {} ok, {} written, {} dlq, {} bytes\n",
        report.total, report.ok, report.written, report.dlq, report.bytes_read
    );
    for NodeReport { label, rows_in, rows_out, rejected, filtered, duplicates, warned, .. } in &report.nodes {
        let counts = [rows_in, rows_out, rejected, filtered, duplicates, warned];
        text += &format!("{label}: in, out, rejected, filtered, duplicates, warned {counts:?}\n");
    }
    let bytes = |label: &str| report.nodes.iter().find(|node| node.label == label).expect("it is there").bytes;
    assert_eq!(bytes("source.rows"), report.bytes_read, "what its source read");
    assert_eq!(bytes("output.third") + "n,k\n".len() as u64, lab.read("third.csv").len() as u64);
    assert!(bytes("distinct.clean") > 0 && bytes("transform.clean") == 0, "only what rests, and what comes and goes");
    assert!(report.nodes.iter().all(|node| node.busy.is_zero()), "nobody asked for times");
    report.outputs.iter().for_each(|file| text += &format!("{file:?}\n"));
    let warnings = recorder.warnings.into_inner().expect("not poisoned");
    warnings.iter().for_each(|warning| text += &format!("while running: {warning}\n"));
    text += &super::lab::render(&sources, &report.warnings);
    assert_snapshot("exec/summary", &text);
    assert_eq!(lab.read("third.csv"), "n,k\n3,k3\n6,k0\n30,x\n");
    assert!(report.peak_reserved > 0);
}

/// `ok` never is more than `total`: what aggregates made counts apart, wherever it meets rows that were read.
#[test]
fn rows_of_aggregates_count_apart() {
    let pipeline = |sinks: &str| {
        format!(
            "pipeline: {{ name: p }}\nnodes:\n\
             - {{ type: source, name: rows, config: {{ type: csv, path: in.csv, schema: [ {{ name: n, type: int }}, {{ name: k, type: string }} ] }} }}\n\
             - {{ type: transform, name: some, input: rows, config: {{ cxl: 'filter n < 600' }} }}\n\
             - {{ type: aggregate, name: sums, input: rows, config: {{ group_by: [k], cxl: 'emit a = sum(n)' }} }}\n\
             - {{ type: transform, name: named, input: sums, config: {{ cxl: \"emit c = a\\nemit b = k\", include_unmapped: false }} }}\n\
             - {{ type: transform, name: shaped, input: named, config: {{ cxl: \"emit n = c\\nemit k = b\", include_unmapped: false }} }}\n\
             - {{ type: merge, name: both, inputs: [some, shaped], config: {{ mode: MODE }} }}\n{sinks}"
        )
    };
    let sink = |name: &str, input: &str, order: &str| {
        format!("- {{ type: sink, name: {name}, input: {input}, config: {{ type: csv, path: {name}.csv{order} }} }}\n")
    };
    let (sorted, plain) = (sink("sorted", "both", ", sort_order: [n]"), sink("plain", "both", ""));
    let groups = sink("groups", "shaped", "");
    let sinks = [sorted.clone(), plain.clone(), sorted.clone() + &plain, sorted + &plain + &groups];
    let limits = [512 << 20, 12 << 10].into_iter();
    for (limit, mode) in limits.flat_map(|limit| [(limit, "concat"), (limit, "interleave")]) {
        for sinks in &sinks {
            let mut lab = Lab::new(&[("in.csv", &rows(1000, |n| format!("k{}", n % 7)))]);
            (lab.options.block_size, lab.memory_limit) = (900, Some(limit));
            let report = lab.run(&pipeline(sinks).replace("MODE", mode)).expect("the run completes");
            assert_eq!((report.total, report.ok, report.made), (1000, 600, 7), "{mode} {limit} {sinks}");
        }
    }
    let mut lab = Lab::new(&[("in.csv", &rows(100, |n| format!("k{}", n % 7)))]);
    lab.options.threads = 3;
    let report = lab.run(&pipeline(&groups).replace("MODE", "concat")).expect("the run completes");
    assert_eq!((report.total, report.ok, report.made), (100, 0, 7), "no row that was read");
}

#[test]
fn a_limit_below_the_program_itself_is_refused() {
    let lab = Lab::new(&[("in.csv", &rows(1, |_| String::new()))]);
    let failure = lab.run(&SORTING.replace(", backpressure: spill", "")).expect_err("refused");
    assert_eq!(failure.exit_code, 1);
    let message = failure.diagnostic.expect("a reason").message;
    assert!(message.starts_with("the memory limit of 64K is below the program's own size of "), "{message}");
}

#[test]
fn rows_of_an_unread_port_are_counted() {
    let lab = Lab::new(&[("in.csv", &rows(10, |_| String::new()))]);
    let report = lab.run(SORTING).expect("the run completes");
    let unread = report.nodes.iter().filter(|node| node.label.starts_with("discard."));
    let unread: Vec<_> = unread.map(|node| (node.label.as_str(), node.rows_in)).collect();
    assert_eq!(unread, [("discard.split.bad", 0), ("discard.split.rest", 2)]);
}

#[test]
fn rows_are_warned_of_in_their_order() {
    let pipeline = "pipeline: { name: p }\nnodes:\n  \
        - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [{ name: n, type: int }] } }\n  \
        - { type: transform, name: one, input: rows, config: { validations: [ { check: 'n % 50 != 0', severity: warn } ], \
        cxl: 'filter n > 10' } }\n  \
        - { type: transform, name: two, input: one, config: { validations: [ { check: 'n % 7 != 0', severity: warn } ], cxl: \
        'emit m = n' } }\n  \
        - { type: sink, name: out, input: two, config: { type: csv, path: out.csv } }\n";
    let text = (1..300).fold("n\n".to_owned(), |text, n| text + &format!("{n}\n"));
    let mut lab = Lab::new(&[("in.csv", &text)]);
    let mut expected = None;
    for (threads, block_size, batch_size) in [(1, 1 << 20, 2048), (1, 40, 3), (3, 90, 1), (7, 300, 20)] {
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        let recorder = Recorder::default();
        lab.run_observed(pipeline, &recorder).expect("it completes");
        let warnings = recorder.warnings.into_inner().expect("not poisoned");
        let first = expected.get_or_insert_with(|| warnings.clone());
        assert_eq!(first, &warnings, "{threads} threads, blocks of {block_size}, batches of {batch_size}");
    }
    let rows: Vec<String> = expected.into_iter().flatten().collect();
    assert!(rows[0].contains("row 14:") && rows[5].contains("row 50:") && rows.len() == 10, "{rows:#?}");
}
