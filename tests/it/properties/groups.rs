//! Chains of nodes that hold groups give the same files, byte for byte, however little memory there is, whoever works,
//! and however rows come.

use proptest::prelude::*;

use super::counted;
use crate::exec::lab::Lab;
use crate::support::settled;

/// A cull, a reshape behind it and a cull behind that; groups that fail in each; ports with several readers, which meet
/// again in merges.
const PIPELINE: &str = r#"
pipeline: { name: groups }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      glob: 'in/*.csv'
      on_unmapped: { mode: auto_widen }
      schema:
        - { name: id, type: int }
        - { name: key, type: string }
        - { name: amount, type: { nullable: int } }
        - { name: text, type: string }
  - type: cull
    name: screen
    input: rows
    config:
      partition_by: [key]
      removed_to: held
      order_by: ORDER
      rules:
        - { name: some, drop_group_when: "10 / (count(*) - 4) > 1" }
        - { name: late, drop_group_when: "max(text) > 'x'" }
  - type: reshape
    name: shape
    input: screen
    config:
      partition_by: [key]
      order_by: ORDER
      rules:
        - name: cap
          when: "amount > 5"
          mutate: { set: { amount: "5" } }
          synthesize: { copy_from: trigger, overrides: { amount: "amount - 5", id: "100 / (id % 19)" } }
        - { name: even, when: "id % 2 == 0", synthesize: { copy_from: none, overrides: { id: id, key: key, amount: "null", text: text } } }
        - { name: ninth, when: "id % 9 == 0 and key != 'k0'", mutate: { set: { amount: "0 - 9" } } }
  - type: cull
    name: gate
    input: shape
    config:
      partition_by: [key]
      removed_to: removed
      order_by: [ { field: id, order: desc } ]
      rules:
        - { name: sizes, drop_group_when: "20 / (count(*) % 7 - 3) > 0" }
        - { name: made, drop_group_when: "sum(if $meta.synthetic then 1 else 0) > 9" }
  - { type: merge, name: both, inputs: [gate.removed, gate], config: { mode: concat } }
  - { type: merge, name: woven, inputs: [gate, screen.held, gate.removed], config: { mode: interleave } }
  - type: transform
    name: shown
    input: both
    config: { validations: [ { check: "id != 7" } ], cxl: "emit made_by = $meta.synthesized_by + '/' + $meta.mutated_by" }
  - { type: transform, name: few, input: gate.removed, config: { cxl: "filter amount > 3" } }
  - { type: sink, name: kept, input: gate, config: { type: csv, path: kept.csv } }
  - { type: sink, name: held, input: screen.held, config: { type: csv, path: held.csv, sort_order: [text, id] } }
  - { type: sink, name: all, input: shown, config: { type: csv, path: all.csv } }
  - { type: sink, name: woven_rows, input: woven, config: { type: csv, path: woven.csv } }
  - { type: sink, name: some, input: few, config: { type: csv, path: few.csv } }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
"#;

const OUTPUTS: [&str; 5] = ["kept.csv", "held.csv", "all.csv", "woven.csv", "few.csv"];

fn row() -> impl Strategy<Value = String> {
    let key = prop_oneof![8 => (0..60u8).prop_map(|key| format!("k{key}")), 1 => Just(String::new())];
    let amount = prop_oneof![1 => Just(String::new()), 6 => (0..9i64).prop_map(|amount| amount.to_string())];
    let text = prop_oneof![6 => "[a-c]{0,2}", 1 => "[a-c]{150}", 1 => Just("\"with a quote: \"\"\"".to_string())];
    (0..400i64, key, amount, text, 0..3u8)
        .prop_map(|(id, key, amount, text, note)| format!("{id},{key},{amount},{text},note {note}\n"))
}

/// How a run is made.
type How = (u64, usize, usize, usize);

/// Everything a run gives, but for what may differ from run to run, and how many bytes of rows it spilled.
fn everything(files: &[Vec<String>], order: &str, (limit, threads, batch_size, block_size): How) -> (String, u64) {
    let mut lab = Lab::new(&[]);
    for (number, rows) in files.iter().enumerate() {
        lab.write(&format!("in/{number}.csv"), format!("id,key,amount,text,note\n{}", rows.concat()));
    }
    (lab.options.threads, lab.options.block_size) = (threads, block_size);
    (lab.batch_size, lab.memory_limit) = (Some(batch_size), Some(limit));
    let report = lab.run(&PIPELINE.replace("ORDER", order)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let mut text = format!("{} {} {} {} {}\n", report.total, report.ok, report.made, report.written, report.dlq);
    text += &format!("{:?}\n{:?}\n", counted(&report.nodes), report.outputs);
    let warnings: Vec<_> = report.warnings.iter().map(|warning| &warning.message).collect();
    text += &format!("{warnings:?}\n");
    OUTPUTS.iter().for_each(|name| text += &format!("--- {name}\n{}", lab.read(name)));
    text += &settled(&lab.read("dlq.csv"));
    assert_eq!(lab.names().len(), OUTPUTS.len() + 2, "nothing is left behind");
    assert!(report.peak_reserved <= limit);
    let rows = report.consumers.iter().filter(|consumer| consumer.name != "dead_letters");
    (text, rows.map(|consumer| consumer.spilled.raw).sum())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_come_out_the_same_wherever_their_rows_were(
        files in prop::collection::vec(prop::collection::vec(row(), 0..500), 1..3),
        order in prop::sample::select(vec!["[]", "[ amount ]", "[ { field: amount, order: desc }, { field: text } ]"]),
    ) {
        let (expected, spilled) = everything(&files, order, (1 << 30, 1, 2048, 1 << 20));
        prop_assert_eq!(spilled, 0);
        let bytes: usize = files.iter().flatten().map(String::len).sum();
        for limit in [64 << 10, 160 << 10, 8 << 20] {
            for how in [(limit, 1, 2048, 1 << 20), (limit, 2, 7, 700), (limit, 7, 2048, 5000), (limit, 2, 1, 40_000)] {
                let (got, spilled) = everything(&files, order, how);
                prop_assert!(got == expected, "limit, threads, batch, block: {:?}", how);
                prop_assert!(spilled > 0 || (bytes as u64) < limit, "{} of {} bytes", spilled, bytes);
            }
        }
    }
}

/// The rows above meet everything that the pipeline has: rows on each port, and groups that fail in each way.
#[test]
fn groups_go_every_way() {
    let row = |n: u64| {
        let dice = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let key = if n.is_multiple_of(3) { dice % 90 } else { dice % 12 };
        let text = if key % 10 == 3 { "y" } else { "a" };
        format!("{},k{key},{},{text},note\n", dice / 128 % 400, dice / 65536 % 9)
    };
    let (everything, _) = everything(&[(1..600).map(row).collect()], "[]", (1 << 30, 2, 2048, 4096));
    for output in OUTPUTS {
        let (_, behind) = everything.split_once(&format!("--- {output}\n")).expect("it is shown");
        let lines = behind.lines().take_while(|line| !line.starts_with("---")).count();
        assert!(lines > 5, "{output} has {lines} lines");
    }
    for cause in ["aggregate_finalize", "type_error", "mutation_conflict", "correlated", "validation_failed"] {
        assert!(everything.contains(&format!(",{cause},")), "nothing is a dead letter for {cause}");
    }
    for stage in ["cull:screen:some", "reshape:shape:cap", "reshape:shape:cap+ninth", "cull:gate:sizes"] {
        assert!(everything.contains(&format!(",{stage},")), "nothing fails at {stage}");
    }
}
