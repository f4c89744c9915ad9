//! A disk that fails while a run spills stops the run, and leaves everything as it was.
//!
//! What spills is a row of the table: a pipeline, and what it reads.

use clinker::diagnostics::Code;
use clinker::exec::spill::DiskFaults;

use super::lab::Lab;
use crate::support::assert_snapshot;

/// A pipeline that spills under a limit of a few kilobytes. It writes `out.csv`.
struct Case {
    name: &'static str,
    nodes: &'static str,
}

const SETTINGS: &str = "pipeline: { name: failing }\nnodes:\n";
const SOURCE: &str = "  - { type: source, name: rows, config: { type: csv, path: in.csv, \
                      schema: [{ name: k, type: string }, { name: n, type: int }] } }\n";
const CASES: &[Case] = &[
    Case {
        name: "sort",
        nodes: "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv, sort_order: [k] } }\n",
    },
    Case {
        name: "park",
        nodes: "  - { type: merge, name: both, inputs: [rows, rows], config: { mode: concat } }\n  \
                - { type: transform, name: next, input: both, config: { cxl: 'emit m = n + 1' } }\n  \
                - { type: sink, name: out, input: next, config: { type: csv, path: out.csv } }\n",
    },
    Case {
        name: "distinct",
        nodes: "  - { type: transform, name: once, input: rows, config: { cxl: 'distinct by k' } }\n  \
                - { type: sink, name: out, input: once, config: { type: csv, path: out.csv } }\n",
    },
    Case {
        name: "dead_letters",
        nodes: "  - { type: route, name: split, input: rows, config: { conditions: { few: 'n < 9' }, default: many } }\n  \
                - { type: merge, name: both, inputs: [split.many, split.few], config: { mode: concat } }\n  \
                - { type: transform, name: next, input: both, config: { cxl: 'emit m = n', validations: [{ check: 'n < 2' }] } }\n  \
                - { type: sink, name: out, input: next, config: { type: csv, path: out.csv } }\n\
                error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n",
    },
    Case {
        name: "cull",
        nodes: "  - { type: transform, name: next, input: rows, config: { cxl: 'emit g = n % 20' } }\n  \
                - { type: cull, name: gate, input: next, config: { partition_by: [g], removed_to: gone, \
                    rules: [{ name: few, drop_group_when: 'sum(n) % 3 == 0' }] } }\n  \
                - { type: sink, name: out, input: gate, config: { type: csv, path: out.csv } }\n",
    },
    Case {
        name: "reshape",
        nodes: "  - { type: transform, name: next, input: rows, config: { cxl: 'emit g = n % 20' } }\n  \
                - { type: reshape, name: shape, input: next, config: { partition_by: [g], \
                    rules: [{ name: one, when: 'n % 7 == 0', mutate: { set: { n: 'n + 1' } } }] } }\n  \
                - { type: sink, name: out, input: shape, config: { type: csv, path: out.csv } }\n",
    },
    Case {
        name: "aggregate",
        nodes: "  - { type: aggregate, name: sums, input: rows, config: { group_by: [k], cxl: 'emit total = sum(n)' } }\n  \
                - { type: sink, name: out, input: sums, config: { type: csv, path: out.csv } }\n",
    },
];

/// Operations that fail, one in each run.
fn chosen() -> impl Iterator<Item = u64> {
    1..=200
}

const OLD: &str = "what an earlier run wrote\n";

fn lab() -> Lab {
    let text = (0..1500).fold("k,n\n".to_string(), |text, n| text + &format!("key {},{n}\n", n * 7 % 1500));
    let mut lab = Lab::new(&[("in.csv", &text), ("out.csv", OLD), ("spilled/.keep", "")]);
    (lab.memory_limit, lab.options.block_size) = (Some(12 << 10), 1500);
    lab.options.spill_dir = Some(lab.path("spilled"));
    lab
}

/// A message without the bytes of what could not be written, which change with how rows rest.
fn without_sizes(message: &str) -> String {
    let is_size = |word: &str| word.strip_suffix('B').is_some_and(|number| number.parse::<u64>().is_ok_and(|n| n > 0));
    let words = message.split_inclusive([' ', '\n']).map(|word| {
        let (text, end) = word.split_at(word.trim_end().len());
        format!("{}{end}", if is_size(text) { "<size>" } else { text })
    });
    words.collect()
}

fn left_in_spill_folder(lab: &Lab) -> usize {
    std::fs::read_dir(lab.path("spilled")).expect("the folder is there").count() - 1
}

/// Runs the cases whose position has this remainder.
fn check(remainder: usize) {
    CASES.iter().skip(remainder).step_by(2).for_each(fails_cleanly);
}

#[test]
fn a_disk_that_fails_stops_the_run_and_leaves_nothing_behind() {
    check(0);
}

#[test]
fn a_disk_that_fails_stops_the_run_and_leaves_nothing_behind_in_the_other_half() {
    check(1);
}

fn fails_cleanly(Case { name, nodes }: &Case) {
    let mut messages = String::new();
    let (mut lab, pipeline) = (lab(), format!("{SETTINGS}{SOURCE}{nodes}"));
    for (kind, code) in [("write", Code::E320), ("full", Code::E321), ("read", Code::E320)] {
        let mut failed = 0;
        for number in chosen() {
            let of = |other: &str| (kind == other).then_some(number);
            let (write, full, read) = (of("write"), of("full"), of("read"));
            lab.options.disk_faults = DiskFaults { write, full, read, damage: None };
            match lab.run(&pipeline) {
                Ok(_) => break,
                Err(failure) => {
                    assert_eq!(failure.exit_code, 4, "{name}: {kind} {number}");
                    assert_eq!(failure.diagnostic.expect("a reason").code, code, "{name}: {kind} {number}");
                }
            }
            assert_eq!(lab.names(), ["in.csv", "out.csv", "spilled"], "{name}: {kind} {number}");
            assert_eq!(lab.read("out.csv"), OLD, "{name}: {kind} {number}");
            assert_eq!(left_in_spill_folder(&lab), 0, "{name}: {kind} {number}");
            if number == 1 {
                messages += &format!("--- {kind}\n{}", without_sizes(&lab.failure(&pipeline)));
            }
            failed += 1;
        }
        assert!(failed > 20, "{name}: {failed} operations to {kind}");
        lab.write("out.csv", OLD);
        let _ = std::fs::remove_file(lab.path("dlq.csv"));
    }
    assert_snapshot(&format!("exec/disk_failures/{name}"), &messages);
}
