//! `distinct` where memory is tight.

use super::lab::Lab;
use crate::support::assert_snapshot;

const PIPELINE: &str = r#"
pipeline: { name: distinct }
nodes:
  - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [ { name: k, type: string }, { name: n, type: int } ] } }
  - { type: transform, name: once, input: rows, config: { cxl: "distinct by k" } }
  - { type: sink, name: out, input: once, config: { type: csv, path: out.csv } }
"#;

fn lab(rows: impl Iterator<Item = (String, usize)>) -> Lab {
    let text = rows.fold("k,n\n".to_string(), |text, (k, n)| text + &format!("{k},{n}\n"));
    let mut lab = Lab::new(&[("in.csv", &text)]);
    (lab.options.threads, lab.options.block_size) = (2, 4000);
    lab
}

#[test]
fn keys_that_are_on_disk_are_not_forgotten() {
    let key = |n: usize| format!("the key number {}", n % 4000);
    let mut lab = lab((0..12_000).map(|n| (key(n), n)));
    lab.memory_limit = Some(64 << 10);
    let report = lab.run(PIPELINE).expect("it completes");
    let expected = (0..4000).fold("k,n\n".to_string(), |text, n| text + &format!("{},{n}\n", key(n)));
    assert_eq!(lab.read("out.csv"), expected);
    let node = &report.nodes[1];
    assert_eq!(
        (node.label.as_str(), node.rows_in, node.rows_out, node.duplicates),
        ("distinct.once", 12_000, 4000, 8000)
    );
    assert!(report.consumers[0].spilled.raw > 400_000, "{} bytes are on disk", report.consumers[0].spilled.raw);
}

#[test]
fn rows_go_to_disk_before_keys() {
    let key = |n: usize| format!("{}", n % 400);
    let mut lab = lab((0..1200).map(|n| (key(n) + &" ".repeat(200), n)));
    lab.memory_limit = Some(250 << 10);
    let report = lab.run(PIPELINE).expect("it completes");
    assert_eq!(lab.read("out.csv").lines().count(), 401);
    // Had keys been there, too, it would be some 80K more.
    let spilled = report.consumers[0].spilled.raw;
    assert!((70_000..100_000).contains(&spilled), "{spilled} bytes are on disk");
}

#[test]
fn one_row_that_does_not_fit_stops_the_run() {
    let many = |n: usize| format!("key {n} {}", "x".repeat(if n == 700 { 100_000 } else { 20 }));
    let mut lab = lab((0..1000).map(|n| (many(n), n)));
    lab.memory_limit = Some(64 << 10);
    assert_snapshot("exec/distinct_does_not_fit", &lab.failure(PIPELINE));
    assert_eq!(lab.names(), ["in.csv"]);
    lab.memory_limit = Some(1 << 20);
    assert_eq!(lab.run(PIPELINE).expect("it completes").written, 1000);
}

#[test]
fn rows_without_a_key_are_dead_letters_wherever_batches_end() {
    let pipeline = PIPELINE.replace("distinct by k", "let x = k.to_float()\\ndistinct by x")
        + "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
    let key = |n: usize| if n.is_multiple_of(5) { "NaN".to_string() } else { format!("{}", n % 700) };
    let mut expected = "k,n\n".to_string();
    (0..700).filter(|n| n % 5 != 0).for_each(|n| expected += &format!("{n},{n}\n"));
    for (limit, batch_size) in [(1 << 20, 2048), (32 << 10, 1), (32 << 10, 7), (32 << 10, 300)] {
        let mut lab = lab((0..2000).map(|n| (key(n), n)));
        (lab.memory_limit, lab.batch_size) = (Some(limit), Some(batch_size));
        let report = lab.run(&pipeline).expect("it completes");
        assert_eq!(lab.read("out.csv"), expected);
        assert_eq!((report.dlq, lab.read("dlq.csv").lines().count()), (400, 401));
    }
}
