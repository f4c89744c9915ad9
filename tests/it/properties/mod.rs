//! What holds for any input: threads, batches and blocks never change a byte.

mod buffers;
mod distinct;
mod groups;
mod memory;
mod orders;
mod spilling;
mod streaming;

use clinker::exec::NodeReport;
use clinker::exec::spill::Volume;
use proptest::prelude::*;

use crate::exec::lab::Lab;
use crate::support::settled;

/// What operators did, without what depends on threads, blocks and the memory limit.
fn counted(nodes: &[NodeReport]) -> Vec<NodeReport> {
    let counted =
        |node: &NodeReport| NodeReport { bytes: 0, peak_reserved: 0, spilled: Volume::default(), ..node.clone() };
    nodes.iter().map(counted).collect()
}

const PIPELINE: &str = r#"
pipeline: { name: properties, vars: { unit: { type: int, default: 3 } } }
nodes:
  - type: source
    name: items
    config:
      type: csv
      glob: 'in/*.csv'
      schema:
        - { name: id, type: int }
        - { name: size, type: { nullable: float } }
        - { name: price, type: { nullable: decimal }, scale: 2 }
        - { name: tag, type: string }
  - type: transform
    name: clean
    input: items
    config:
      validations:
        - { check: "tag != 'v'", message: not this one }
        - { check: "id < 90", severity: warn, message: large }
      cxl: |
        let half = id / 2
        filter half != 3
        let key = tag + (id % 7).to_string()
        distinct by key
        distinct by half
        emit per = 100 / (id - 5)
        emit row = $source.row
        emit size = if id % 2 == 0 then size else null
  - type: route
    name: split
    input: clean
    config:
      mode: inclusive
      conditions: { even: "id % 2 == 0", heavy: "size > 1.5", odd_price: "10 / (id - 8) > 0" }
      default: rest
  - type: transform
    name: late
    input: split.even
    config: { cxl: "distinct\nemit ratio = per / (id - 10)\nemit tag = tag.upper()", include_unmapped: false }
  - { type: sink, name: even, input: late, config: { type: csv, path: even.csv } }
  - { type: sink, name: heavy, input: split.heavy, config: { type: csv, path: heavy.csv, exclude: [row] } }
  - { type: sink, name: rest, input: split.rest, config: { type: csv, path: rest.csv, mapping: [tag, { number: id }] } }
  - { type: sink, name: direct, input: items, config: { type: csv, path: direct.csv, include_unmapped: false } }
error_handling: { strategy: STRATEGY, dlq: { path: dlq.csv } }
"#;

/// A cell as it stands in a file, quoted or not.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-c]",
        2 => Just(String::new()),
        1 => Just("v".to_string()),
        1 => Just("\"a, \"\"b\"\"\nc\"".to_string()),
        1 => Just("\"\"".to_string()),
        1 => Just("größer".to_string()),
    ]
}

fn row() -> impl Strategy<Value = String> {
    let id = prop_oneof![12 => (0..100i32).prop_map(|n| n.to_string()), 1 => Just("x1".to_string())];
    let size = prop_oneof![4 => "[0-3]\\.[0-9]", 2 => Just(String::new()), 1 => Just("1.5.5".to_string())];
    let price = prop_oneof![6 => "[0-9]{1,3}\\.[0-9]{2}", 1 => Just("1.234".to_string()), 1 => Just(String::new())];
    let end = prop_oneof![20 => Just(""), 1 => Just(",surplus"), 1 => Just("\n\n")];
    (id, size, price, cell(), cell(), end)
        .prop_map(|(id, size, price, tag, extra, end)| format!("{id},{size},{price},{tag},{extra}{end}\n"))
}

fn files() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(row(), 0..40), 1..4)
}

/// Everything a run gives, but for what may differ from run to run.
fn everything(files: &[Vec<String>], strategy: &str, threads: usize, batch_size: usize, block_size: usize) -> String {
    let mut lab = Lab::new(&[]);
    for (number, rows) in files.iter().enumerate() {
        let header = if number % 2 == 0 { "id,size,price,tag,more" } else { "id,size,price,tag,other" };
        lab.write(&format!("in/{number}.csv"), format!("{header}\n{}", rows.concat()));
    }
    (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
    match lab.run(&PIPELINE.replace("STRATEGY", strategy)) {
        Err(failure) => format!("{failure:?}"),
        Ok(report) => {
            let mut text =
                format!("{} {} {} {} {}\n", report.total, report.ok, report.made, report.written, report.dlq);
            text += &format!("{:?}\n{:?}\n{:?}\n", counted(&report.nodes), report.outputs, report.warnings);
            for name in ["even.csv", "heavy.csv", "rest.csv", "direct.csv"] {
                text += &format!("--- {name}\n{}", lab.read(name));
            }
            // A run that stops at the first bad row has no dead-letter file.
            let letters = lab.path("dlq.csv").exists().then(|| settled(&lab.read("dlq.csv")));
            text + &letters.unwrap_or_default()
        }
    }
}

fn check(files: &[Vec<String>], strategy: &str) -> Result<(), TestCaseError> {
    let expected = everything(files, strategy, 1, 2048, 1 << 20);
    for threads in [1, 2, 7] {
        for batch_size in [1, 7, 2048] {
            for block_size in [1, 150, 1 << 20] {
                let got = everything(files, strategy, threads, batch_size, block_size);
                prop_assert_eq!(&got, &expected, "threads {}, batch {}, block {}", threads, batch_size, block_size);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_batches_and_blocks_never_change_a_byte(files in files()) {
        check(&files, "continue")?;
    }

    #[test]
    fn threads_batches_and_blocks_never_change_the_failure(files in files()) {
        check(&files, "fail_fast")?;
    }
}
