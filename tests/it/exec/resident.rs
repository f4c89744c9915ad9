//! The memory that the process takes, as the system tells it.

use std::fmt::Write;
use std::process::Command;

use super::lab::Lab;

const NODES: &str = "pipeline: { name: p, memory: { backpressure: spill } }\nnodes:\n  \
    - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [{ name: id, type: int }, \
        { name: city, type: string }, { name: amount, type: decimal, scale: 2 }, { name: note, type: string }] } }\n  \
    - { type: transform, name: next, input: rows, config: { cxl: 'emit tag = city.upper() + note' } }\n";
const STREAMS: &str = "  - { type: sink, name: out, input: next, config: { type: csv, path: out.csv } }\n";
const SORTS: &str =
    "  - { type: sink, name: out, input: next, config: { type: csv, path: out.csv, sort_order: [city] } }\n";

const BY_CITY: &str = "  - { type: aggregate, name: cities, input: next, config: { group_by: [city], strategy: hash, cxl: \"emit \
    n = count(*)\\nemit ids = collect(id)\\nemit least = min(amount)\\nemit most = max(amount)\\nemit sum = sum(amount)\\n\
    emit mean = avg(amount)\\nemit by_id = weighted_avg(amount, id)\\nemit last = max(note)\\nemit tags = max(tag)\" } }\n  \
    - { type: sink, name: out, input: cities, config: { type: csv, path: out.csv } }\n";

/// The most that the process had resident, in megabytes, as its summary says.
fn peak(lab: &Lab, pipeline: &str, threads: usize) -> f64 {
    lab.write("pipeline.yaml", pipeline);
    let program = Command::new(env!("CARGO_BIN_EXE_clinker"))
        .args(["run", "pipeline.yaml", "--memory-limit", "24M", "--threads", &threads.to_string()])
        .current_dir(&lab.options.base_dir)
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&program.stdout);
    assert!(program.status.success(), "{said}{}", String::from_utf8_lossy(&program.stderr));
    let (_, figure) = said.split_once("peak memory ").expect("it tells the peak");
    figure.split_once('M').expect("a few megabytes").0.parse().expect("a number")
}

/// So many rows, each of a city of its own.
fn lab(count: usize) -> Lab {
    let text = (0..count).fold("id,city,amount,note\n".to_string(), |mut text, n| {
        let city = n * 7919 % count;
        writeln!(text, "{n},city number {city},{}.50,a note that is some bytes long", n % 1000).expect("memory");
        text
    });
    Lab::new(&[("in.csv", &text)])
}

#[test]
fn what_is_resident_stays_close_to_the_limit() {
    let (lab, streams, sorts) = (lab(250_000), NODES.to_owned() + STREAMS, NODES.to_owned() + SORTS);
    for threads in [2, 8, 16] {
        let (streaming, sorting) = (peak(&lab, &streams, threads), peak(&lab, &sorts, threads));
        assert!(streaming < 40.0 && sorting < 56.0, "{threads} threads: {streaming}M, and {sorting}M with a sort");
    }
}

/// Blocks and batches become smaller where they come to far more than their text.
#[test]
fn texts_that_grow_take_no_more() {
    let lab = lab(20_000);
    let more = "  - { type: transform, name: more, input: next, config: { cxl: 'emit long = note.repeat(100)' } }\n";
    let sorted =
        "  - { type: sink, name: out, input: more, config: { type: csv, path: out.csv, sort_order: [long, city] } }\n";
    let sink = |name: &str, key: &str| {
        format!(
            "  - {{ type: sink, name: {name}, input: next, config: {{ type: csv, path: {name}.csv, sort_order: [{key}] }} }}\n"
        )
    };
    let many: String = (0..10).map(|n| sink(&format!("out{n}"), ["id", "city", "amount", "note"][n % 4])).collect();
    for nodes in [more.to_owned() + sorted, many] {
        for threads in [2, 8] {
            let peak = peak(&lab, &format!("{NODES}{nodes}"), threads);
            assert!(peak < 56.0, "{threads} threads: {peak}M");
        }
    }
}

#[test]
fn the_smallest_batches_take_no_more() {
    let lab = lab(60_000);
    let pipeline = NODES.replacen("{ name: p,", "{ name: p, batch_size: 1,", 1);
    for nodes in [SORTS, BY_CITY] {
        for threads in [1, 4] {
            let peak = peak(&lab, &format!("{pipeline}{nodes}"), threads);
            assert!(peak < 56.0, "{threads} threads: {peak}M");
        }
    }
}
