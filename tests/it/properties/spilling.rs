//! What holds however little memory there is: the files are the same, byte for byte.

use proptest::prelude::*;

use super::counted;
use crate::exec::lab::Lab;
use crate::support::settled;

/// Rows that are sorted, parked and culled; dead letters of rows on both sides of a park, and of groups.
const PIPELINE: &str = r#"
pipeline: { name: spilling }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      glob: 'in/*.csv'
      schema:
        - { name: id, type: int }
        - { name: number, type: { nullable: string } }
        - { name: text, type: string }
        - { name: price, type: { nullable: decimal }, scale: 2 }
  - type: transform
    name: typed
    input: rows
    config:
      validations: [ { check: "id % 13 != 5" } ]
      cxl: "emit value = number.to_float()"
  - { type: route, name: split, input: typed, config: { conditions: { even: "id % 2 == 0" }, default: odd } }
  - { type: merge, name: both, inputs: [split.odd, split.even, typed], config: { mode: concat } }
  - type: transform
    name: late
    input: both
    config: { validations: [ { check: "id % 7 != 3" } ], cxl: "emit size = text.length()" }
  - type: cull
    name: gate
    input: typed
    config:
      partition_by: [id]
      removed_to: removed
      rules: [ { name: odd, drop_group_when: "10 / (count(*) - 3) > 2" } ]
  - { type: sink, name: gone, input: gate.removed, config: { type: csv, path: gone.csv } }
  - { type: sink, name: kept, input: gate, config: { type: csv, path: kept.csv, sort_order: [text] } }
  - { type: sink, name: by_key, input: late, config: { type: csv, path: by_key.csv, sort_order: KEYS } }
  - { type: sink, name: by_text, input: typed, config: { type: csv, path: by_text.csv, sort_order: [text] } }
  - { type: sink, name: as_it_came, input: late, config: { type: csv, path: as_it_came.csv } }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
"#;

const OUTPUTS: [&str; 5] = ["by_key.csv", "by_text.csv", "as_it_came.csv", "gone.csv", "kept.csv"];

fn row() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        2 => Just(String::new()),
        1 => Just("NaN".to_string()),
        1 => Just("-inf".to_string()),
        6 => (-3..4i32).prop_map(|number| format!("{number}.5")),
    ];
    let text = prop_oneof![
        4 => "[a-c]{0,2}",
        2 => "a common prefix of all, [a-c]{0,2}",
        2 => "x{200,900}[ab]",
        1 => Just("\"with a quote: \"\"\"".to_string()),
    ];
    let price = prop_oneof![2 => Just(String::new()), 5 => "-?[0-9]{1,2}\\.[0-9]{2}"];
    (0..90i64, number, text.prop_map(quoted), price)
        .prop_map(|(id, number, text, price)| format!("{id},{number},{text},{price}\n"))
}

fn quoted(text: String) -> String {
    if text.contains(',') { format!("\"{text}\"") } else { text }
}

fn keys() -> impl Strategy<Value = String> {
    let columns = Just(vec!["id", "value", "text", "price", "size"]).prop_shuffle();
    let orders = prop::collection::vec((any::<bool>(), 0..3usize), 1..4);
    (columns, orders).prop_map(|(columns, orders)| {
        let key = |(column, (descending, nulls)): (&str, (bool, usize))| {
            let (order, nulls) = (if descending { "desc" } else { "asc" }, ["last", "first", "drop"][nulls]);
            format!("{{ field: {column}, order: {order}, null_order: {nulls} }}")
        };
        format!("[ {} ]", columns.into_iter().zip(orders).map(key).collect::<Vec<_>>().join(", "))
    })
}

/// How a run is made.
type How = (u64, usize, usize, usize);

/// Everything a run gives, but for what may differ from run to run, and how many bytes it spilled.
fn everything(files: &[Vec<String>], keys: &str, (limit, threads, batch_size, block_size): How) -> (String, u64) {
    let mut lab = Lab::new(&[]);
    for (number, rows) in files.iter().enumerate() {
        lab.write(&format!("in/{number}.csv"), format!("id,number,text,price\n{}", rows.concat()));
    }
    (lab.options.threads, lab.options.block_size) = (threads, block_size);
    (lab.batch_size, lab.memory_limit) = (Some(batch_size), Some(limit));
    let report = lab.run(&PIPELINE.replace("KEYS", keys)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let mut text = format!("{} {} {} {} {}\n", report.total, report.ok, report.made, report.written, report.dlq);
    text += &format!("{:?}\n{:?}\n", counted(&report.nodes), report.outputs);
    OUTPUTS.iter().for_each(|name| text += &format!("--- {name}\n{}", lab.read(name)));
    text += &settled(&lab.read("dlq.csv"));
    assert_eq!(lab.names().len(), OUTPUTS.len() + 2, "nothing is left behind");
    assert!(report.peak_reserved <= limit);
    (text, report.consumers.iter().map(|consumer| consumer.spilled.raw).sum())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_memory_limit_never_changes_a_byte(
        files in prop::collection::vec(prop::collection::vec(row(), 0..250), 1..3),
        keys in keys(),
    ) {
        let (expected, spilled) = everything(&files, &keys, (1 << 30, 1, 2048, 1 << 20));
        prop_assert_eq!(spilled, 0);
        let bytes: usize = files.iter().flatten().map(String::len).sum();
        for limit in [48 << 10, 100 << 10, 400 << 10] {
            for how in [(limit, 1, 2048, 1 << 20), (limit, 2, 7, 700), (limit, 7, 2048, 5000), (limit, 2, 1, 40_000)] {
                let (got, spilled) = everything(&files, &keys, how);
                prop_assert!(got == expected, "limit, threads, batch, block: {:?}", how);
                prop_assert!(spilled > 0 || (bytes as u64) < limit, "{} of {} bytes", spilled, bytes);
            }
        }
    }
}
