//! What a plan expects of a run beside what the run came to: figures that are called "at most" are never passed, others
//! are right within a factor of two.

use clinker::diagnostics::Code;
use clinker::exec;
use clinker::plan::explain::{Estimate, Facts, estimates};

use super::lab::Lab;

/// Rows of data that look in some way.
struct Data {
    name: &'static str,
    /// What the header has behind the declared columns.
    undeclared: &'static str,
    rows: usize,
    row: fn(usize) -> String,
    /// Whether its rows are not much longer than short ones with these types.
    is_compact: bool,
}

const HEADER: &str = "id,station,value,day,note";

fn usual(n: usize) -> String {
    let shuffled = n * 7919 % 1_000_003;
    format!("{shuffled},station {},{}.25,2024-0{}-1{},a short note\n", n % 500, n % 9_000, n % 9 + 1, n % 9)
}

fn short(n: usize) -> String {
    format!("{},st{},{}.5,2024-01-0{},ok {}\n", n % 9_000, n % 70, n % 90, n % 9 + 1, n % 90)
}

fn long(n: usize) -> String {
    let note = "a note of some length, about whatever there was to say of the reading";
    format!(
        "{},\"station number {} of the north\",{}.015625,2024-02-01,\"{note} {n}\"\n",
        1_000_000_000 + n,
        n % 3_000,
        n * 31
    )
}

/// Most of it in columns that the source doesn't declare.
fn wide(n: usize) -> String {
    format!("{},{}, {n} of them,left {} right,,\n", short(n).trim_end(), n * 31, "and ".repeat(n % 9))
}

const DATA: [Data; 4] = [
    Data { name: "usual", undeclared: "", rows: 20_000, row: usual, is_compact: true },
    Data { name: "short", undeclared: "", rows: 20_000, row: short, is_compact: true },
    Data { name: "long", undeclared: "", rows: 10_000, row: long, is_compact: false },
    Data { name: "wide", undeclared: ",a,b,c,d,e", rows: 10_000, row: wide, is_compact: false },
];

const SOURCE: &str = "- { type: source, name: readings, config: { type: csv, path: in.csv, schema: [ { name: id, type: int }, \
                      { name: station, type: string }, { name: value, type: float }, { name: day, type: date }, \
                      { name: note, type: string } ] } }\n";

/// A pipeline.
struct Work {
    name: &'static str,
    /// Whether each row counts as much as it can.
    takes_all: bool,
    /// What stands behind the source.
    nodes: &'static str,
}

const PIPELINES: [Work; 15] = [
    Work {
        name: "sort by text",
        takes_all: true,
        nodes: "- { type: sink, name: out, input: readings, config: { type: csv, path: out.csv, sort_order: [note, id] } }\n",
    },
    Work {
        name: "sort by number",
        takes_all: true,
        nodes: "- { type: sink, name: out, input: readings, config: { type: csv, path: out.csv, sort_order: [id] } }\n",
    },
    Work {
        name: "sort of some",
        takes_all: true,
        nodes: "- { type: transform, name: some, input: readings, config: { cxl: \"filter value >= 0.0\\nemit double = value * 2.0\" } }\n\
         - { type: sink, name: out, input: some, config: { type: csv, path: out.csv, sort_order: [station] } }\n",
    },
    Work {
        name: "cull of few groups",
        takes_all: false,
        nodes: "- { type: cull, name: gate, input: readings, config: { partition_by: [station], removed_to: gone, rules: [ { name: many, drop_group_when: 'sum(value) < 0.0' } ] } }\n\
         - { type: sink, name: out, input: gate, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "cull of many groups",
        takes_all: false,
        nodes: "- { type: cull, name: gate, input: readings, config: { partition_by: [id, note], order_by: [day], removed_to: gone, rules: [ { name: many, drop_group_when: 'count(*) > 100 or max(note) == \"x\"' } ] } }\n\
         - { type: transform, name: next, input: gate, config: { cxl: 'emit size = note.length()' } }\n\
         - { type: sink, name: out, input: next, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "cull that reads its key",
        takes_all: false,
        nodes: "- { type: cull, name: gate, input: readings, config: { partition_by: [id, note], removed_to: gone, rules: [ { name: some, drop_group_when: 'id > 500 and note != \"x\"' } ] } }\n\
         - { type: sink, name: out, input: gate, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "reshape that adds",
        takes_all: false,
        nodes: "- { type: reshape, name: shape, input: readings, config: { partition_by: [station], order_by: [id], rules: [ { name: more, when: 'id % 2 == 0', mutate: { set: { value: 'value * 2.0' } }, synthesize: { copy_from: trigger, overrides: { note: \"'new'\" } } } ] } }\n\
         - { type: sink, name: out, input: shape, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "reshape that may fail",
        takes_all: false,
        nodes: "- { type: reshape, name: shape, input: readings, config: { partition_by: [station], rules: [ { name: more, when: 'id >= 0', mutate: { set: { value: '1000.0 / (id + 1).to_float()' } } } ] } }\n\
         - { type: sink, name: out, input: shape, config: { type: csv, path: out.csv } }\n\
         error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n",
    },
    Work {
        name: "aggregate by id",
        takes_all: true,
        nodes: "- { type: aggregate, name: sums, input: readings, config: { group_by: [id], cxl: \"emit n = count(*)\\nemit total = sum(value)\\nemit last = max(day)\" } }\n\
         - { type: sink, name: out, input: sums, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "aggregate of few groups",
        takes_all: false,
        nodes: "- { type: aggregate, name: sums, input: readings, config: { group_by: [station], cxl: \"emit n = avg(value)\\nemit note = min(note)\" } }\n\
         - { type: sink, name: out, input: sums, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "aggregate by text",
        takes_all: false,
        nodes: "- { type: aggregate, name: sums, input: readings, config: { group_by: [note, station], cxl: \"emit n = sum(id)\\nemit w = weighted_avg(value, 2.0)\" } }\n\
         - { type: sink, name: out, input: sums, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "collect",
        takes_all: false,
        nodes: "- { type: aggregate, name: lists, input: readings, config: { group_by: [station], cxl: \"emit notes = collect(note).length()\\nemit ids = collect(id).length()\" } }\n\
         - { type: sink, name: out, input: lists, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "collect of all",
        takes_all: false,
        nodes: "- { type: aggregate, name: lists, input: readings, config: { group_by: [], cxl: \"emit ids = collect(id).length()\" } }\n\
         - { type: sink, name: out, input: lists, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "distinct by id",
        takes_all: true,
        nodes: "- { type: transform, name: once, input: readings, config: { cxl: 'distinct by id' } }\n\
         - { type: sink, name: out, input: once, config: { type: csv, path: out.csv } }\n",
    },
    Work {
        name: "distinct rows",
        takes_all: true,
        nodes: "- { type: transform, name: once, input: readings, config: { cxl: 'distinct' } }\n\
         - { type: sink, name: out, input: once, config: { type: csv, path: out.csv } }\n",
    },
];

/// What a run came to beside what was expected of it.
struct Pair {
    what: String,
    actual: u64,
    expected: u64,
    at_most: bool,
}

/// Runs a pipeline and gives its figures: rows, memory and spilled bytes of each operator.
fn figures(lab: &Lab, nodes: &str) -> Option<Vec<Pair>> {
    let pipeline = format!("pipeline: {{ name: p }}\nnodes:\n{SOURCE}{nodes}");
    let (plan, _) = lab.compile(&pipeline);
    let facts = Facts { inputs: exec::inputs(&plan, &lab.options), spill_root: None };
    let expected = estimates(&plan, &facts);
    let report = match lab.run(&pipeline) {
        Ok(report) => report,
        Err(failure) => {
            let code = failure.diagnostic.map(|diagnostic| diagnostic.code);
            assert_eq!(code, Some(Code::E310), "what can't be cut may not fit");
            return None;
        }
    };
    let limit = lab.memory_limit.expect("it is set");
    let mut pairs = Vec::new();
    for (node, expected) in report.nodes.iter().zip(expected) {
        let Estimate { rows, at_most, peak, peak_at_most, spilled, spilled_at_most } = expected;
        let (peak, label) = (peak.expect("the size is known"), &node.label);
        assert!(peak <= limit && node.peak_reserved <= limit, "{label}: {peak} expected under {limit}");
        let mut pair = |figure: &str, actual, expected: Option<u64>, at_most| {
            let expected = expected.expect("the size is known");
            pairs.push(Pair { what: format!("{label} {figure}"), actual, expected, at_most });
        };
        pair("rows", node.rows_out, rows, at_most);
        pair("peak", node.peak_reserved, Some(peak), peak_at_most);
        pair("spilled", node.spilled.raw, spilled, spilled_at_most);
    }
    Some(pairs)
}

#[test]
fn a_plan_expects_what_comes() {
    let mut spilled = 0;
    for Data { name: data, undeclared, rows, row, is_compact } in &DATA {
        let text: String = (0..*rows).map(row).collect();
        for Work { name, nodes, takes_all } in &PIPELINES {
            for limit in [512 << 20, 400 << 10] {
                let mut lab = Lab::new(&[("in.csv", &format!("{HEADER}{undeclared}\n{text}"))]);
                lab.memory_limit = Some(limit);
                for Pair { what, actual, expected, at_most } in figures(&lab, nodes).into_iter().flatten() {
                    let all = format!("{name}, {data}, {limit}: {what} {actual}, expected {expected}");
                    spilled += u64::from(what.ends_with("spilled") && actual > 0);
                    assert!(!at_most || actual <= expected, "{all} at most");
                    let is_near = actual <= 2 * expected && expected <= 2 * actual;
                    assert!(at_most || is_near, "{all}");
                    let is_useful = expected <= 5 * actual;
                    assert!(!at_most || !is_compact || !takes_all || is_useful, "{all} is no help");
                }
            }
        }
    }
    assert!(spilled > 30, "{spilled} of them spilled");
}
