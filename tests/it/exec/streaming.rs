//! Aggregates that stream: one group is held at a time, and one that is too large is named.

use std::sync::atomic::{AtomicUsize, Ordering};

use clinker::exec::Observer;

use super::lab::Lab;
use crate::support::assert_snapshot;

const PIPELINE: &str = r#"
pipeline: { name: streaming }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      path: rows.csv
      sort_order: [k]
      schema: [ { name: k, type: string }, { name: n, type: int }, { name: text, type: string } ]
  - type: aggregate
    name: per_key
    input: rows
    config:
      group_by: [k]
      strategy: streaming
      cxl: |
        emit rows = count(*)
        emit total = sum(n)
        emit texts = collect(text).join(" ").length()
  - { type: sink, name: out, input: per_key, config: { type: csv, path: out.csv } }
  - { type: sink, name: again, input: per_key, config: { type: csv, path: again.csv } }
"#;

/// Rows of some groups: for each, how many rows it has.
fn lab(groups: &[(&str, usize)]) -> Lab {
    let row = |k: &str, n: usize| format!("{k},{n},the text of row {n}\n");
    let rows = groups.iter().flat_map(|(k, count)| (0..*count).map(move |n| row(k, n)));
    let mut lab = Lab::new(&[("rows.csv", &("k,n,text\n".to_string() + &rows.collect::<String>()))]);
    (lab.options.threads, lab.options.block_size) = (2, 2000);
    lab
}

fn expected(groups: &[(&str, usize)]) -> String {
    groups.iter().fold("k,rows,total,texts\n".to_string(), |text, (k, count)| {
        let lengths: usize = (0..*count).map(|n| format!("the text of row {n} ").len()).sum();
        text + &format!("{k},{count},{},{}\n", (0..*count).sum::<usize>(), lengths.saturating_sub(1))
    })
}

#[test]
fn groups_of_any_size_come_out_whole() {
    let cases: [&[(&str, usize)]; 5] = [
        &[],
        &[("a", 1)],
        &[("a", 5000)],
        &[("a", 1), ("b", 3000), ("c", 1), ("d", 2000), ("e", 1)],
        &[("a", 40), ("b", 1), ("c", 1), ("d", 70), ("e", 300), ("f", 2)],
    ];
    for groups in cases {
        let lab = lab(groups);
        let report = lab.run(PIPELINE).expect("it completes");
        assert_eq!(lab.read("out.csv"), expected(groups));
        assert_eq!(lab.read("again.csv"), expected(groups));
        let rows = groups.iter().map(|(_, count)| *count as u64).sum::<u64>();
        let count = groups.len() as u64;
        assert_eq!((report.total, report.made, report.written), (rows, count, 2 * count));
        let node = &report.nodes[2];
        assert_eq!((node.label.as_str(), node.rows_in, node.rows_out), ("aggregation.per_key", rows, count));
    }
}

#[test]
fn only_the_group_in_hand_is_held() {
    let names: Vec<String> = (0..400).map(|group| format!("group {group:03}")).collect();
    let groups: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 30)).collect();
    let lab = lab(&groups);
    let report = lab.run(PIPELINE).expect("it completes");
    assert_eq!(lab.read("out.csv"), expected(&groups));
    // The rows take some 400 KB.
    assert!((1..40_000).contains(&report.peak_reserved), "{} bytes", report.peak_reserved);
}

/// All rows of one group, which `collect` keeps, in two files.
fn whole_lab() -> Lab {
    let text = "x".repeat(400);
    let rows: String = (0..5000).map(|n| format!("{n},{text}\n")).collect();
    let text = "n,text\n".to_string() + &rows;
    let mut lab = Lab::new(&[("one.csv", &text), ("two.csv", &text)]);
    (lab.options.threads, lab.options.block_size) = (2, 20_000);
    lab
}

/// What `collect` keeps of the rows of one input, or of two, one behind the other.
fn whole_pipeline(inputs: &str) -> String {
    let source = |name: &str| {
        format!(
            "  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, schema: [ {{ name: n, type: int }}, \
             {{ name: text, type: string }} ] }} }}\n"
        )
    };
    format!(
        "pipeline: {{ name: p }}\nnodes:\n{}{}  - {{ type: merge, name: both, inputs: [{inputs}], config: {{ mode: concat }} }}\n  \
         - {{ type: aggregate, name: all, input: both, config: {{ group_by: [], cxl: \"emit count = \
         collect(text).length()\" }} }}\n  - {{ type: sink, name: out, input: all, config: {{ type: csv, path: out.csv }} }}\n",
        source("one"),
        source("two"),
    )
}

/// A block adds to a list without moving what is in it; only the list of a whole segment is there twice, once encoded, when
/// it is put behind that of another.
#[test]
fn a_collected_group_takes_little_more_than_its_values() {
    let lab = whole_lab();
    let report = lab.run(&whole_pipeline("one, two")).expect("it completes");
    assert_eq!(lab.read("out.csv"), "count\n10000\n");
    // What one segment has: the values, and what they take as elements of a list.
    let segment = 5000 * (400 + 40);
    assert!(report.peak_reserved > 4 * segment, "{} bytes", report.peak_reserved);
    assert!(report.peak_reserved < 6 * segment, "{} bytes", report.peak_reserved);
}

#[test]
fn a_group_that_does_not_fit_is_named() {
    let groups = [("small", 100), ("the large one", 20_000), ("very small", 1)];
    let mut lab = lab(&groups);
    lab.memory_limit = Some(256 << 10);
    assert_snapshot("exec/streaming_does_not_fit", &lab.failure(PIPELINE));
    assert_eq!(lab.names(), ["rows.csv"]);
    lab.memory_limit = Some(8 << 20);
    lab.run(PIPELINE).expect("it completes");
    assert_eq!(lab.read("out.csv"), expected(&groups));
}

#[test]
fn a_group_has_room_where_others_can_spill() {
    let groups = [("a", 400), ("b", 400), ("c", 400)];
    let sorted = "  - { type: sink, name: all, input: rows, config: { type: csv, path: all.csv, sort_order: [n] } }\n";
    let mut lab = lab(&groups);
    // A group takes some 36 KB, the rows that are sorted up to 50 KB.
    lab.memory_limit = Some(52 << 10);
    let report = lab.run(&format!("{PIPELINE}{sorted}")).expect("it completes");
    assert_eq!(lab.read("out.csv"), expected(&groups));
    let of = |name: &str| report.consumers.iter().find(|consumer| consumer.name == name).expect("it is there");
    let (sort, group) = (of("sort.__sink_all"), of("aggregation.per_key (group)"));
    assert!(
        sort.peak_reserved + group.peak_reserved > lab.memory_limit.unwrap_or_default(),
        "{} and {}",
        sort.peak_reserved,
        group.peak_reserved
    );
    assert!(sort.spilled.raw > 0);
}

#[test]
fn a_row_of_a_group_has_no_file_but_a_number() {
    let variables = "  - { type: transform, name: from, input: per_key, config: { cxl: \"emit texts = $source.file\\nemit \
                     total = $source.row\" } }\n  - { type: sink, name: out, input: from, config: { type: csv, path: \
                     out.csv } }\n";
    let (nodes, _) = PIPELINE.split_once("  - { type: sink").expect("there are sinks");
    for strategy in ["streaming", "hash"] {
        let lab = lab(&[("a", 2), ("b", 500), ("c", 1)]);
        let pipeline = format!("{}{variables}", nodes.replace("streaming", strategy));
        lab.run(&pipeline).expect("it completes");
        let expected = "k,rows,total,texts\na,2,1,<merged>\nb,500,2,<merged>\nc,1,3,<merged>\n";
        assert_eq!(lab.read("out.csv"), expected, "{strategy}");
    }
}

/// Asks the run to stop after some questions.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn interrupted(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

#[test]
fn an_interruption_leaves_no_block_waiting() {
    let groups = [("a", 900), ("b", 1), ("c", 300)];
    let mut stopped = 0;
    for patience in (1..120).step_by(3) {
        let mut lab = lab(&groups);
        lab.options.threads = 4;
        match lab.run_observed(PIPELINE, &Impatient(AtomicUsize::new(patience))) {
            Ok(_) => assert_eq!(lab.read("out.csv"), expected(&groups)),
            Err(failure) => {
                stopped += 1;
                assert_eq!((failure.exit_code, failure.diagnostic), (130, None));
                assert_eq!(lab.names(), ["rows.csv"], "nothing is left behind");
            }
        }
    }
    assert!((5..39).contains(&stopped), "{stopped} of 40 were stopped");
}
