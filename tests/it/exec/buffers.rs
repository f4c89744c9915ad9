//! Buffers: memory limits, declared orders, and what stops a stage that a buffer drives.

use std::sync::atomic::{AtomicUsize, Ordering};

use clinker::exec::{ConsumerReport, Observer};

use super::lab::Lab;
use crate::support::assert_snapshot;

const SCHEMA: &str = "schema: [{ name: k, type: string }, { name: n, type: int }]";

fn pipeline(source: &str, rest: &str) -> String {
    let settings = "pipeline: { name: buffers, memory: { limit: 100K, backpressure: spill } }";
    format!(
        "{settings}\nnodes:\n  - {{ type: source, name: rows, config: {{ type: csv, glob: 'in/*.csv', {SCHEMA}{source} }} }}\n{rest}"
    )
}

fn rows(count: usize) -> String {
    (0..count).fold("k,n\n".to_string(), |text, n| text + &format!("key number {},{n}\n", n * 7 % count))
}

const SORT: &str =
    "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv, sort_order: [k] } }\n";

fn merge(mode: &str) -> String {
    format!(
        "  - {{ type: merge, name: both, inputs: [rows, rows], config: {{ mode: {mode} }} }}\n  \
         - {{ type: sink, name: out, input: both, config: {{ type: csv, path: out.csv }} }}\n"
    )
}

#[test]
fn rows_that_do_not_fit_the_limit_wait_on_disk() {
    for (rest, spills) in [(SORT.to_string(), "sort.__sink_out"), (merge("concat"), "park.both.2")] {
        let mut expected = None;
        for (limit, threads) in [(1 << 30, 1), (100 << 10, 1), (100 << 10, 4), (10 << 10, 2)] {
            let mut lab = Lab::new(&[("in/a.csv", &rows(20_000))]);
            (lab.options.threads, lab.options.block_size, lab.memory_limit) = (threads, 10_000, Some(limit));
            let report = lab.run(&pipeline("", &rest)).expect("the run completes");
            let out = lab.read("out.csv");
            assert!(expected.get_or_insert_with(|| out.clone()) == &out, "{spills} {limit} {threads}");
            let holding = |consumer: &&ConsumerReport| !consumer.name.ends_with("(rows written)");
            let consumers: Vec<_> = report.consumers.iter().filter(holding).collect();
            let [consumer] = consumers.as_slice() else { panic!("{:?}", report.consumers) };
            assert_eq!(consumer.name, spills);
            assert_eq!(consumer.spilled.raw > 0, limit < 1 << 30);
            assert!((1..=limit).contains(&consumer.peak_reserved), "{}", consumer.peak_reserved);
            assert_eq!(lab.names(), ["in", "out.csv"], "nothing is left behind");
        }
    }
}

/// Every other row is written, by two ways.
#[test]
fn rows_that_are_counted_one_by_one_have_to_fit() {
    let rest = "  - { type: transform, name: even, input: rows, config: { cxl: \"filter n % 2 == 0\" } }\n  \
                - { type: merge, name: both, inputs: [even, even], config: { mode: interleave } }\n  \
                - { type: sink, name: out, input: both, config: { type: csv, path: out.csv } }\n";
    let mut lab = Lab::new(&[("in/a.csv", &rows(200_000))]);
    lab.memory_limit = Some(12 << 10);
    let message = lab.failure(&pipeline("", rest));
    assert!(message.starts_with("error[E310]: written_rows: arena exceeded budget ("), "{message}");
    assert!(message.contains("[one bit for each row that is written]"), "{message}");
    assert!(message.contains("each counts once in the summary"), "{message}");
    assert!(message.contains("source.rows (rows written) holds"), "{message}");
    assert_eq!(lab.names(), ["in"], "nothing is left behind");
    // 200,000 bits, and a little around them.
    lab.memory_limit = Some(40 << 10);
    let report = lab.run(&pipeline("", rest)).expect("the run completes");
    assert_eq!((report.total, report.ok, report.written), (200_000, 100_000, 200_000));
}

/// Where all rows are written there is little to know.
#[test]
fn rows_that_are_all_written_take_little() {
    let mut lab = Lab::new(&[("in/a.csv", &rows(200_000))]);
    lab.memory_limit = Some(12 << 10);
    let report = lab.run(&pipeline("", &merge("interleave"))).expect("the run completes");
    assert_eq!((report.total, report.ok, report.written), (200_000, 200_000, 400_000));
}

#[test]
fn rows_that_do_not_fit_the_limit_stop_the_run() {
    let long = format!("k,n\n{},1\nb,2\n", "x".repeat(200_000));
    let mut messages = String::new();
    for rest in [SORT.to_string(), merge("concat"), merge("interleave")] {
        for threads in [1, 4] {
            let mut lab = Lab::new(&[("in/a.csv", &long)]);
            (lab.options.threads, lab.options.block_size) = (threads, 10_000);
            let message = lab.failure(&pipeline("", &rest));
            assert_eq!(lab.names(), ["in"], "nothing is left behind");
            match threads {
                1 => messages += &message,
                _ => assert!(messages.ends_with(&message), "the limit is met at the same row whatever the threads"),
            }
        }
    }
    assert_snapshot("exec/buffers_do_not_fit", &messages);
}

#[test]
fn a_broken_order_is_found_at_its_first_row() {
    let sink = "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv } }\n";
    for broken in [None, Some(1), Some(499), Some(998)] {
        let numbers: Vec<usize> = (0..1000).map(|n| if Some(n) == broken { 0 } else { n + 1 }).collect();
        let text = numbers.iter().map(|n| format!("x,{n}\n")).collect::<String>();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        let expected = sorted.iter().map(|n| format!("x,{n}\n")).collect::<String>();
        for (threads, block_size) in [(1, 1 << 20), (4, 1), (3, 100)] {
            let mut lab = Lab::new(&[("in/a.csv", &format!("k,n\n{text}"))]);
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            let claim = pipeline(", sort_order: [n]", sink).replace("glob: 'in/*.csv'", "path: in/a.csv");
            let claim = claim.replace("100K", "10M");
            let report = lab.run(&claim).expect("the run completes");
            assert_eq!(lab.read("out.csv"), format!("k,n\n{expected}"));
            let warnings: Vec<_> = report.warnings.iter().map(|warning| warning.message.as_str()).collect();
            let row = broken.map(|row| format!("in/a.csv, row {}, line {}: ", row + 1, row + 2));
            assert_eq!(warnings.len(), usize::from(row.is_some()));
            let values = broken.map(|row| (numbers[row], numbers[row - 1]));
            let values = values.map(|(this, before)| format!("`n` is '{this}', below a row with '{before}'; "));
            assert!(
                warnings.iter().all(|warning| {
                    warning.starts_with(row.as_deref().unwrap_or_default())
                        && warning.contains(values.as_deref().unwrap_or_default())
                }),
                "{warnings:?}"
            );
            assert_eq!(report.ok, 1000);
            assert_eq!(report.peak_reserved > 0, broken.is_some(), "rows that are in order are not held");
            let error = lab
                .run(&claim.replace("[n],", "[n], on_unsorted: error,").replace("[n] }", "[n], on_unsorted: error }"));
            assert_eq!(error.map_err(|failure| failure.exit_code).err(), broken.map(|_| 3));
        }
    }
}

#[test]
fn files_that_are_in_order_are_merged_where_that_is_asked_for() {
    let sink = "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv } }\n  - { type: aggregate, name: \
                each, input: rows, config: { group_by: [n], strategy: streaming, cxl: 'emit rows = count(*)' } }\n";
    let lab = Lab::new(&[("in/a.csv", "k,n\na,1\na,3\na,5\n"), ("in/b.csv", "k,n\nb,1\nb,4\nb,2\n")]);
    let report = lab.run(&pipeline(", sort_order: [n]", sink)).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "k,n\na,1\nb,1\nb,2\na,3\nb,4\na,5\n");
    let warnings: Vec<_> = report.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(matches!(warnings.as_slice(), [one] if one.starts_with("in/b.csv, row 3, line 4:")), "{warnings:?}");
}

#[test]
fn a_broken_order_is_found_where_a_key_wants_another() {
    let sink = "  - { type: sink, name: out, input: rows, config: { type: csv, path: out.csv } }\n";
    let keyed = |more: &str| pipeline(&format!(", correlation_key: k, sort_order: [n]{more}"), sink);
    for (text, broken) in [("k,n\nb,1\na,2\nb,3\n", None), ("k,n\nb,3\na,2\nb,1\n", Some("in/a.csv, row 2, line 3:"))] {
        let lab = Lab::new(&[("in/a.csv", text)]);
        let report = lab.run(&keyed("")).expect("the run completes");
        assert_eq!(lab.read("out.csv"), "k,n\na,2\nb,1\nb,3\n", "the key's order, then the declared one");
        let warnings: Vec<_> = report.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(warnings.len(), usize::from(broken.is_some()), "{warnings:?}");
        assert!(warnings.iter().all(|warning| warning.starts_with(broken.unwrap_or_default())), "{warnings:?}");
        let exit = lab.run(&keyed(", on_unsorted: error")).map_err(|failure| failure.exit_code);
        assert_eq!(exit.err(), broken.map(|_| 3));
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
fn an_interruption_ends_any_stage_and_any_merging_of_runs() {
    for limit in [1 << 20, 8 << 10] {
        let run = |patience: usize| {
            let mut lab = Lab::new(&[("in/a.csv", &rows(600))]);
            (lab.options.threads, lab.options.block_size, lab.memory_limit) = (2, 150, Some(limit));
            let patient = Impatient(AtomicUsize::new(patience));
            let outcome = lab.run_observed(&pipeline("", SORT), &patient);
            (outcome, lab.names(), patience.wrapping_sub(patient.0.into_inner()))
        };
        let (outcome, _, questions) = run(usize::MAX);
        assert!(outcome.is_ok());
        for patience in (1..questions).step_by(questions.div_ceil(40)) {
            match run(patience) {
                // How often the question is asked depends on how threads meet.
                (Ok(_), ..) => assert!(patience > questions / 2, "{patience} of {questions}"),
                (Err(failure), names, _) => {
                    assert_eq!((failure.exit_code, failure.diagnostic), (130, None), "{patience}");
                    assert_eq!(names, ["in"], "nothing is left behind");
                }
            }
        }
    }
}

#[test]
fn a_failure_below_a_buffer_names_its_row() {
    let rest = "  - { type: merge, name: both, inputs: [rows, rows], config: { mode: interleave } }\n  \
                - { type: transform, name: divide, input: both, config: { cxl: 'emit q = 10 / (n - 3)' } }\n  \
                - { type: sink, name: out, input: divide, config: { type: csv, path: out.csv } }\n";
    let mut messages = Vec::new();
    for (threads, block_size) in [(1, 1 << 20), (4, 1)] {
        let mut lab = Lab::new(&[("in/a.csv", "k,n\na,1\nb,2\n"), ("in/b.csv", "k,n\nc,4\nd,3\ne,3\n")]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        messages.push(lab.failure(&pipeline("", rest)));
        assert_eq!(lab.names(), ["in"]);
    }
    assert_eq!(messages[0], messages[1]);
    assert_snapshot("exec/failure_below_a_buffer", &messages[0]);
}
