//! Groups with lists that are a large part of what a run may hold.

use std::fmt::Write;

use super::lab::Lab;
use crate::support::assert_snapshot;

/// One group with a third of the rows among small ones: anywhere, or side by side.
fn rows(count: usize, is_sorted: bool) -> String {
    (0..count).fold("k,text\n".to_owned(), |mut text, n| {
        let is_large = if is_sorted { n >= count / 3 * 2 } else { n % 3 == 0 };
        let group = if is_large { "large".to_owned() } else { format!("{:08}", n / 2) };
        writeln!(text, "{group},{}{n}", "x".repeat(100)).expect("memory");
        text
    })
}

/// The list of each group, by a strategy; `order` is what the source says of the order of its rows.
fn lists(strategy: &str, order: &str) -> String {
    format!(
        "pipeline: {{ name: p, batch_size: 64 }}\nnodes:\n  \
         - {{ type: source, name: rows, config: {{ type: csv, path: in.csv, {order}schema: [ {{ name: k, type: string }}, \
         {{ name: text, type: string }} ] }} }}\n  \
         - {{ type: aggregate, name: lists, input: rows, config: {{ group_by: [k], strategy: {strategy}, cxl: 'emit texts = \
         collect(text)' }} }}\n  - {{ type: sink, name: out, input: lists, config: {{ type: csv, path: out.csv }} }}\n"
    )
}

/// A list is there as a state, and then as a column and as a text. Whether that fits is no matter of chance.
#[test]
fn a_large_list_fits_or_not_for_all_numbers_of_threads() {
    for (strategy, order) in [("hash", ""), ("streaming", "sort_order: [k], ")] {
        let (mut lab, pipeline) = (Lab::new(&[("in.csv", &rows(30_000, !order.is_empty()))]), lists(strategy, order));
        let mut expected = None;
        for (limit, fits) in [(16 << 20, true), (6 << 20, true), (3 << 20, false), (1 << 20, false)] {
            for threads in [1, 2, 4] {
                lab.memory_limit = Some(limit);
                (lab.options.threads, lab.options.block_size) = (threads, 32 << 10);
                if fits {
                    let report = lab.run(&pipeline).expect("it completes");
                    assert!(report.peak_reserved > 3 << 20, "{} bytes", report.peak_reserved);
                    let text = lab.read("out.csv");
                    assert!(*expected.get_or_insert_with(|| text.clone()) == text, "{strategy}, {threads}, {limit}");
                } else {
                    let failure = lab.failure(&pipeline);
                    assert!(failure.contains("error[E310]") && failure.contains("[k=\"large\"]"), "{failure}");
                }
            }
        }
    }
}

/// What the nodes below an aggregate make of its lists is known only when it is there.
#[test]
fn a_row_that_becomes_larger_than_its_list_does_not_fit() {
    let mut lab = Lab::new(&[("in.csv", &rows(3_000, false))]);
    let cxl = r#"cxl: "emit all = texts.join('; ')\nemit twice = all + all""#;
    let more = format!("  - {{ type: transform, name: more, input: lists, config: {{ {cxl} }} }}\n");
    let pipeline = lists("hash", "").replace("input: lists", "input: more") + &more;
    (lab.memory_limit, lab.options.block_size) = (Some(800 << 10), 16 << 10);
    assert_snapshot("exec/large_lists_row_does_not_fit", &lab.failure(&pipeline));
    assert_eq!(lab.names(), ["in.csv"]);
    lab.memory_limit = Some(2 << 20);
    lab.run(&pipeline).expect("it completes");
}

/// The last groups of an aggregate below another one end together, behind the last row: the row of one is made before
/// there has to be room for that of the next.
#[test]
fn the_last_rows_of_chained_aggregates_do_not_wait_for_each_other() {
    let pipeline = "pipeline: { name: p }\nnodes:\n  \
        - { type: source, name: rows, config: { type: csv, path: in.csv, sort_order: [a, b], schema: [ { name: a, type: string }, \
        { name: b, type: int }, { name: text, type: string } ] } }\n  \
        - { type: aggregate, name: first, input: rows, config: { group_by: [a, b], cxl: 'emit text = max(text)' } }\n  \
        - { type: aggregate, name: second, input: first, config: { group_by: [a], cxl: 'emit texts = collect(text)' } }\n  \
        - { type: sink, name: out, input: second, config: { type: csv, path: out.csv } }\n";
    let text = "x".repeat(150_000);
    let rows: String = (0..3).map(|b| format!("y,{b},{text}\n")).collect();
    let mut lab = Lab::new(&[("in.csv", &format!("a,b,text\n{rows}z,0,{text}\n"))]);
    lab.run(pipeline).expect("it completes");
    let expected = lab.read("out.csv");
    assert_eq!(expected.matches(&text).count(), 4);
    let (mut completed, mut refused) = (0, 0);
    for step in 0..40 {
        for threads in [1, 2] {
            (lab.memory_limit, lab.options.threads) = (Some(400_000 + step * 60_000), threads);
            match lab.run(pipeline) {
                Ok(_) => {
                    completed += 1;
                    assert!(lab.read("out.csv") == expected);
                }
                Err(failure) => {
                    refused += 1;
                    assert_eq!(failure.exit_code, 1);
                }
            }
        }
    }
    assert!(completed > 10 && refused > 10, "{completed} completed, {refused} refused");
}
