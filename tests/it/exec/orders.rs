//! Declared orders: what a run makes of files that keep them, of files that break them, and of what can be read once.

use std::process::Command;
use std::thread;

use clinker::exec::Report;

use super::lab::Lab;

/// A source of files with a claim, and nodes that read it.
fn pipeline(source: &str, nodes: &str) -> String {
    format!(
        "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: rows, config: {{ type: csv, {source}, schema: \
         [{{ name: k, type: string }}, {{ name: n, type: {{ nullable: int }} }}] }} }}\n{nodes}"
    )
}

const SINK: &str = "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv } }\n";

/// Asks for one order over all files.
const ASKING: &str = "  - { type: aggregate, name: each, input: rows, config: { group_by: [n], strategy: streaming, cxl: \
                      'emit rows = count(*)' } }\n  - { type: sink, name: groups, input: each, config: { type: csv, path: \
                      groups.csv } }\n";

fn warnings(report: &Report) -> Vec<&str> {
    let places = report.warnings.iter().map(|warning| (warning.code.to_string(), &warning.message));
    places
        .map(|(code, message)| (code == "W307").then(|| message.split(':').next().unwrap_or_default()))
        .map(|place| place.expect("a file out of order"))
        .collect()
}

#[test]
fn files_in_their_order_are_held_only_where_one_order_is_asked_for() {
    let lab = Lab::new(&[("in/a.csv", "k,n\na,2\na,9\n"), ("in/b.csv", "k,n\nb,1\nb,2\nb,\n"), ("in/c.csv", "k,n\n")]);
    let source = "glob: 'in/*.csv', sort_order: [n]";
    let report = lab.run(&pipeline(source, SINK)).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "k,n\na,2\na,9\nb,1\nb,2\nb,\n");
    assert_eq!((warnings(&report), report.peak_reserved), (vec![], 0));
    let sorted = SINK.replace("path: out.csv", "path: out.csv, sort_order: [k]");
    lab.run(&pipeline(source, &sorted)).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "k,n\na,2\na,9\nb,1\nb,2\nb,\n", "a sink that sorts asks for nothing");
    let report = lab.run(&pipeline(source, &format!("{SINK}{ASKING}"))).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "k,n\nb,1\na,2\nb,2\na,9\nb,\n");
    assert_eq!(lab.read("groups.csv"), "n,rows\n1,1\n2,2\n9,1\n,1\n");
    assert!(report.peak_reserved > 0 && warnings(&report).is_empty());
}

#[test]
fn each_file_that_breaks_its_order_is_named_and_sorted_on_its_own() {
    let files = [
        ("in/a.csv", "k,n\na,2\na,9\n"),
        ("in/b.csv", "k,n\nb,5\nb,\nb,1\nb,2\nc,1\n"),
        ("in/c.csv", "k,n\nc,3\nc,0\n"),
    ];
    let mut lab = Lab::new(&files);
    let source = "glob: 'in/*.csv', sort_order: [{ field: n, null_order: first }]";
    for (threads, block_size, limit) in [(1, 1 << 20, None), (4, 1, None), (2, 4, Some(4096))] {
        (lab.options.threads, lab.options.block_size, lab.memory_limit) = (threads, block_size, limit);
        let report = lab.run(&pipeline(source, SINK)).expect("the run completes");
        assert_eq!(lab.read("out.csv"), "k,n\na,2\na,9\nb,\nb,1\nc,1\nb,2\nb,5\nc,0\nc,3\n");
        assert_eq!(warnings(&report), ["in/b.csv, row 2, line 3", "in/c.csv, row 2, line 3"]);
        let failure = lab.run(&pipeline(&format!("{source}, on_unsorted: error"), SINK)).expect_err("it stops");
        let message = failure.diagnostic.expect("a reason").message;
        assert!(failure.exit_code == 3 && message.starts_with("in/b.csv, row 2, line 3: "), "{message}");
    }
}

/// A run with a pipe that is written into meanwhile.
fn run_with_pipe(lab: &Lab, text: &str, pipeline: &str) -> Report {
    let pipe = lab.path("pipe.csv");
    if !pipe.exists() {
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    }
    let text = text.to_owned();
    let writer = thread::spawn(move || std::fs::write(pipe, text));
    let report = lab.run(pipeline).expect("the run completes");
    writer.join().expect("no panic").expect("written");
    report
}

#[test]
fn a_pipe_that_breaks_its_order_is_named_when_it_has_been_read() {
    let rows = |numbers: &[i64]| numbers.iter().fold("k,n\n".to_string(), |text, n| text + &format!("p,{n}\n"));
    for (numbers, late) in [
        (vec![], None),
        (vec![7], None),
        (vec![1, 2, 2, 3, 90], None),
        (vec![2, 1, 3], Some(2)),
        (vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 0], Some(10)),
        (vec![1, 5, 4, 3, 9, 8], Some(3)),
    ] {
        for (threads, block_size, limit) in [(1, 1 << 20, None), (4, 1, None), (2, 9, Some(4096))] {
            let mut lab = Lab::new(&[]);
            (lab.options.threads, lab.options.block_size, lab.memory_limit) = (threads, block_size, limit);
            let report = run_with_pipe(&lab, &rows(&numbers), &pipeline("path: pipe.csv, sort_order: [n]", SINK));
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(lab.read("out.csv"), rows(&sorted));
            let place = late.map(|row| format!("pipe.csv, row {row}"));
            assert_eq!(warnings(&report), place.iter().map(String::as_str).collect::<Vec<_>>(), "{numbers:?}");
        }
    }
}

/// Whatever the sort is for, it looks at the order that is claimed, and at all files; rows that don't fit their types
/// don't count.
#[test]
fn a_pipe_among_files_leaves_the_order_of_all_to_the_sort() {
    let text = "k,n\nb,4\nb,bad\na,5\na,\nc,3\n";
    let letters = "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
    for (source, nodes, letters, expected) in [
        ("sort_order: [n]", SINK.to_owned(), letters, "k,n\nx,1\nx,2\nc,3\nb,4\na,5\na,\ny,9\n"),
        ("sort_order: [n]", format!("{SINK}{ASKING}"), letters, "k,n\nx,1\nx,2\nc,3\nb,4\na,5\ny,9\na,\n"),
        ("sort_order: [n], correlation_key: k", SINK.to_owned(), "", "k,n\na,5\na,\nb,4\nc,3\nx,1\nx,2\ny,9\n"),
    ] {
        let lab = Lab::new(&[("a.csv", "k,n\nx,2\nx,1\n"), ("z.csv", "k,n\ny,9\n")]);
        let source = format!("paths: [a.csv, pipe.csv, z.csv], {source}");
        let (text, row) = if letters.is_empty() { (text.replace("b,bad\n", ""), 4) } else { (text.to_owned(), 5) };
        let report = run_with_pipe(&lab, &text, &format!("{}{letters}", pipeline(&source, &nodes)));
        assert_eq!(lab.read("out.csv"), expected);
        assert_eq!(warnings(&report), ["a.csv, row 2", &format!("pipe.csv, row {row}")]);
    }
}

/// The one group of a whole input is in hand, whatever comes of the rows.
#[test]
fn the_group_of_a_whole_input_takes_no_table() {
    let rows: String = (0..20_000).map(|n| format!("key {n},{n}\n")).collect();
    let lab = Lab::new(&[("rows.csv", &format!("k,n\n{rows}"))]);
    let nodes = "  - { type: aggregate, name: all, input: rows, config: { group_by: [], cxl: \"emit rows = count(*)\\nemit n = \
                 sum(n)\\nemit last = max(k)\" } }\n  - { type: sink, name: out, input: all, config: { type: csv, path: \
                 out.csv } }\n";
    let report = lab.run(&pipeline("path: rows.csv", nodes)).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "rows,n,last\n20000,199990000,key 9999\n");
    assert!(report.peak_reserved < 1000, "{} bytes", report.peak_reserved);
}
