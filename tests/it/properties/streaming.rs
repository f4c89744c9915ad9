//! An aggregate that streams gives what one that hashes gives, byte for byte, wherever blocks end.

use proptest::prelude::*;

use crate::exec::lab::Lab;
use crate::support::settled;

/// Two aggregates one behind the other, the second below rows that the first one made; failures of rows, of groups and
/// of rows below groups.
const PIPELINE: &str = r#"
pipeline: { name: streaming }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      path: rows.csv
      sort_order: [region, { field: shop, order: desc, null_order: first }]
      schema:
        - { name: region, type: string }
        - { name: shop, type: { nullable: int } }
        - { name: n, type: { nullable: int } }
        - { name: price, type: { nullable: decimal }, scale: 2 }
        - { name: weight, type: { nullable: float } }
        - { name: note, type: string }
  - type: transform
    name: typed
    input: rows
    config: { validations: [ { check: "n != 2" } ], cxl: "emit part = 12 / (n ?? 1)" }
  - type: aggregate
    name: per_shop
    input: typed
    config:
      group_by: [shop, region]
      strategy: STRATEGY
      cxl: |
        let share = 6 / (part - 4)
        filter note != "gone"
        emit rows = count(*)
        emit total = sum(share)
        emit most = sum(if note == "most" then 9223372036854775807 else 0)
        emit price = sum(price)
        emit mean = avg(weight)
        emit least = min(note)
        emit greatest = max(price)
        emit notes = collect(note).join("|")
        emit odd = 100 / (count(n) - 2)
  - { type: transform, name: below, input: per_shop, config: { cxl: "emit inverse = 60 / (rows - 3)\nemit made = $source.file + $source.name + $source.row.to_string()" } }
  - type: aggregate
    name: per_region
    input: per_shop
    config: { group_by: [region], strategy: STRATEGY, cxl: "emit shops = count(*)\nemit total = sum(total)\nemit odd = 7 / (sum(rows) - 5)" }
  - { type: sink, name: shops, input: below, config: { type: csv, path: shops.csv } }
  - { type: sink, name: again, input: per_shop, config: { type: csv, path: again.csv, sort_order: [rows, notes] } }
  - { type: sink, name: regions, input: per_region, config: { type: csv, path: regions.csv } }
  - { type: sink, name: direct, input: typed, config: { type: csv, path: direct.csv, include_unmapped: false } }
error_handling: { strategy: ERRORS, dlq: { path: dlq.csv } }
"#;

/// The cells of the key, and the others.
type Row = ((String, Option<i64>), String);

fn row() -> impl Strategy<Value = Row> {
    let region = prop_oneof![Just(String::new()), "[ab]", Just("a long name of a region".to_string())];
    let number = prop_oneof![1 => Just(String::new()), 6 => (-4..5i64).prop_map(|n| n.to_string())];
    let price = prop_oneof![1 => Just(String::new()), 3 => "-?[0-9]{1,2}\\.[05]0"];
    let weight = prop_oneof![1 => Just(String::new()), 3 => (-3..4i8).prop_map(|n| (f64::from(n) / 2.0).to_string())];
    let note = prop_oneof![6 => "[a-c]{0,2}", 1 => Just("gone".to_string()), 1 => Just("most".to_string())];
    let rest =
        (number, price, weight, note).prop_map(|(n, price, weight, note)| format!("{n},{price},{weight},{note}"));
    ((region, prop::option::of(0..6i64)), rest)
}

/// The file: in its order, or not.
fn file(mut rows: Vec<Row>, is_sorted: bool) -> String {
    if is_sorted {
        rows.sort_by_key(|((region, shop), _)| (region.clone(), shop.is_some(), std::cmp::Reverse(*shop)));
    }
    let line = |((region, shop), rest): &Row| {
        format!("{region},{},{rest}\n", shop.map(|shop| shop.to_string()).unwrap_or_default())
    };
    "region,shop,n,price,weight,note\n".to_string() + &rows.iter().map(line).collect::<String>()
}

/// Everything a run gives, but for what may differ from run to run.
fn everything(
    text: &str,
    (strategy, errors): (&str, &str),
    (threads, batch_size, block_size): (usize, usize, usize),
) -> String {
    let mut lab = Lab::new(&[("rows.csv", text)]);
    (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
    let pipeline = PIPELINE.replace("STRATEGY", strategy).replace("ERRORS", errors);
    let report = match lab.run(&pipeline) {
        Ok(report) => report,
        Err(failure) => return format!("{failure:?}"),
    };
    let mut text = format!("{} {} {} {} {}\n", report.total, report.ok, report.made, report.written, report.dlq);
    for node in &report.nodes {
        let counts = (node.rows_in, node.rows_out, node.rejected, node.filtered, node.duplicates, node.warned);
        text += &format!("{} {counts:?}\n", node.label);
    }
    text += &format!("{:?}\n{:?}\n", report.outputs, report.warnings);
    for name in ["shops.csv", "again.csv", "regions.csv", "direct.csv"] {
        text += &format!("--- {name}\n{}", lab.read(name));
    }
    // A run that stops at the first bad row has no dead-letter file.
    let letters = lab.path("dlq.csv").exists().then(|| settled(&lab.read("dlq.csv")));
    text + &letters.unwrap_or_default()
}

const HOW: [(usize, usize, usize); 7] =
    [(1, 2048, 1), (2, 1, 1), (7, 2048, 1), (2, 7, 60), (7, 3, 200), (3, 2048, 1000), (2, 2, 1 << 20)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streaming_is_hashing_wherever_blocks_end(
        rows in prop::collection::vec(row(), 0..90),
        is_sorted in any::<bool>(),
    ) {
        let text = file(rows, is_sorted);
        let expected = everything(&text, ("hash", "continue"), (1, 2048, 1 << 20));
        for how in HOW {
            let got = everything(&text, ("streaming", "continue"), how);
            prop_assert_eq!(&got, &expected, "threads, batch, block: {:?}", how);
        }
    }

    #[test]
    fn the_failure_is_the_same_wherever_blocks_end(rows in prop::collection::vec(row(), 0..90)) {
        let text = file(rows, true);
        let expected = everything(&text, ("streaming", "fail_fast"), (1, 2048, 1 << 20));
        for how in HOW {
            let got = everything(&text, ("streaming", "fail_fast"), how);
            prop_assert_eq!(&got, &expected, "threads, batch, block: {:?}", how);
        }
    }
}
