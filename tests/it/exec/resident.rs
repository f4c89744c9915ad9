//! The memory that the process takes, as the system tells it.

use std::fmt::Write;
use std::process::Command;

use super::lab::Lab;

const NODES: &str = "pipeline: { name: p }\nnodes:\n  \
    - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [{ name: id, type: int }, \
        { name: city, type: string }, { name: amount, type: decimal, scale: 2 }, { name: note, type: string }] } }\n  \
    - { type: transform, name: next, input: rows, config: { cxl: 'emit tag = city.upper() + note' } }\n";
const STREAMS: &str = "  - { type: sink, name: out, input: next, config: { type: csv, path: out.csv } }\n";
const SORTS: &str =
    "  - { type: sink, name: out, input: next, config: { type: csv, path: out.csv, sort_order: [city] } }\n";

/// The most that the process had resident, in megabytes, as its summary says.
fn peak(lab: &Lab, nodes: &str, threads: usize) -> f64 {
    lab.write("pipeline.yaml", format!("{NODES}{nodes}"));
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

#[test]
fn what_is_resident_stays_close_to_the_limit() {
    let text = (0..250_000).fold("id,city,amount,note\n".to_string(), |mut text, n| {
        let city = n * 7919 % 250_000;
        writeln!(text, "{n},city number {city},{}.50,a note that is some bytes long", n % 1000).expect("memory");
        text
    });
    let lab = Lab::new(&[("in.csv", &text)]);
    for threads in [2, 8, 16] {
        let (streaming, sorting) = (peak(&lab, STREAMS, threads), peak(&lab, SORTS, threads));
        assert!(streaming < 40.0 && sorting < 56.0, "{threads} threads: {streaming}M, and {sorting}M with a sort");
    }
}
