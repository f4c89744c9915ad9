//! Random pipelines of every node kind give the same bytes whatever the memory limit, threads, batches and blocks: a
//! limit decides what is put on disk and nothing else.

use std::cell::Cell;
use std::fmt::Write;

use clinker::exec::Failure;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::exec::lab::Lab;
use crate::support::settled;

/// A node: what it reads is a position among the ports that there are before it, modulo their number. Other numbers
/// pick a variant, modulo the number of variants.
#[derive(Clone, Debug)]
enum Node {
    Transform(usize, usize),
    Route(usize),
    Merge(usize, Vec<usize>),
    Aggregate(usize, usize),
    Cull(usize, usize),
    Reshape(usize, usize),
    Sink(usize, usize),
}

fn node() -> impl Strategy<Value = Node> {
    let (input, variant) = (0..99usize, 0..99usize);
    prop_oneof![
        2 => (input.clone(), variant.clone()).prop_map(|(input, variant)| Node::Transform(input, variant)),
        1 => input.clone().prop_map(Node::Route),
        2 => (variant.clone(), prop::collection::vec(input.clone(), 2..4))
            .prop_map(|(variant, inputs)| Node::Merge(variant, inputs)),
        3 => (input.clone(), variant.clone()).prop_map(|(input, variant)| Node::Aggregate(input, variant)),
        3 => (input.clone(), variant.clone()).prop_map(|(input, variant)| Node::Cull(input, variant)),
        3 => (input.clone(), variant.clone()).prop_map(|(input, variant)| Node::Reshape(input, variant)),
        2 => (input, variant).prop_map(|(input, variant)| Node::Sink(input, variant)),
    ]
}

/// A row as it stands in a file.
fn row() -> impl Strategy<Value = String> {
    let text = prop_oneof![6 => "[a-e]", 2 => "a long common prefix [a-c]{0,2}", 1 => Just(String::new())];
    let k = prop_oneof![4 => (0..30i64).prop_map(|k| k.to_string()), 1 => Just(String::new())];
    let f = prop_oneof![4 => (-20..20i64).prop_map(|f| format!("{}", f as f64 / 8.0)), 1 => Just(String::new())];
    (0..200i64, k, text, f).prop_map(|(id, k, s, f)| format!("{id},{k},{s},{f}\n"))
}

fn source() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![1 => prop::collection::vec(row(), 0..4), 4 => prop::collection::vec(row(), 100..400)]
}

const SCHEMA: &str = "[{ name: id, type: int }, { name: k, type: { nullable: int } }, { name: s, type: string }, \
                      { name: f, type: { nullable: float } }]";

/// Programs of transforms; all keep the columns.
const TRANSFORMS: &[&str] = &[
    "filter id % 5 != 0",
    "distinct by s",
    "distinct by k",
    "let half = id / 2\\nfilter half != 3\\ndistinct by half\\nemit k = if id % 3 == 0 then null else k",
    "distinct\\nemit f = f * 2.0",
    "emit id = 100 / (id - 50) + id",
];

/// Rules of culls; some fail for some groups.
const CULLS: &[&str] = &[
    "partition_by: [s], rules: [{ name: many, drop_group_when: 'count(*) > 20' }]",
    "partition_by: [k], rules: [{ name: big, drop_group_when: 'sum(f) > 3.0' }, { name: far, drop_group_when: 'max(id) > 190' }]",
    "partition_by: [], rules: [{ name: any, drop_group_when: 'sum(if id == 13 then 1 else 0) > 0' }]",
    "partition_by: [s, k], order_by: [{ field: f, order: desc }], rules: [{ name: first, drop_group_when: 'min(id) < 40' }]",
    "partition_by: [k], rules: [{ name: sharp, drop_group_when: '100 / (max(id) - 120) > 1' }]",
    "partition_by: [s], rules: [{ name: inner, drop_group_when: 'sum(10 / (id - 77)) > 1' }]",
];

/// Reshapes; some have conflicts, some fail.
const RESHAPES: &[&str] = &[
    "partition_by: [s], rules: [{ name: cap, when: 'id > 150', mutate: { set: { id: '150' } }, \
     synthesize: { copy_from: trigger, overrides: { id: 'id - 150', f: 'null' } } }]",
    "partition_by: [k], order_by: [{ field: id, order: desc }, { field: s }], rules: [{ name: mark, when: 'f > 1.0', \
     mutate: { set: { s: \"s + '!'\" } } }, { name: pad, when: 'id % 9 == 0', \
     synthesize: { copy_from: none, overrides: { id: '0 - id', k: 'k', s: \"'new'\", f: '0.5' } } }]",
    "partition_by: [k], rules: [{ name: one, when: 'id < 20', mutate: { set: { f: '1.0' } } }, \
     { name: two, when: 'id > 18', mutate: { set: { f: '2.0' } } }]",
    "partition_by: [s], rules: [{ name: inverse, when: 'id > 100', mutate: { set: { id: '1000 / (id - 111)' } } }]",
    "partition_by: [], rules: [{ name: flip, when: 'k == 3', mutate: { set: { f: '0.0 - f' } } }]",
];

/// Aggregates; the last ones fail for some rows or groups.
const AGGREGATES: &[(&str, &str)] = &[
    ("[s]", "emit i = max(id)\\nemit kk = min(k)\\nemit ff = sum(f)"),
    ("[k]", "emit i = count(*)\\nemit ss = min(s)\\nemit ff = avg(f)"),
    ("[]", "emit i = sum(id)\\nemit kk = count(k)\\nemit ss = max(s)\\nemit ff = weighted_avg(f, 1.5)"),
    ("[id, k]", "emit ss = max(s)\\nemit ff = sum(f) / 3.0"),
    ("[f]", "filter id > 20\\nlet twice = id * 2\\nemit i = sum(twice)\\nemit n = collect(s).length()"),
    ("[s]", "emit i = sum(100 / (id - 30))\\nemit kk = max(k)"),
    ("[k]", "emit i = 100 / (max(id) - 150)\\nemit ff = max(f)"),
];

const ORDERS: &[&str] = &[
    "",
    "sort_order: [id, s]",
    "sort_order: [{ field: f, order: desc, null_order: first }]",
    "sort_order: [s, { field: k, null_order: drop }]",
];

/// A pipeline as it grows.
struct Draft {
    yaml: String,
    ports: Vec<String>,
    outputs: Vec<String>,
}

impl Draft {
    fn new(sources: usize, nodes: &[Node], settings: &str) -> Self {
        let yaml = format!("pipeline: {{ name: memory{settings} }}\nnodes:\n");
        let mut draft = Self { yaml, ports: Vec::new(), outputs: Vec::new() };
        for number in 0..sources {
            draft.add(&format!(
                "{{ type: source, name: s{number}, config: {{ type: csv, path: s{number}.csv, on_unmapped: {{ mode: drop }}, schema: {SCHEMA} }} }}"
            ));
            draft.ports.push(format!("s{number}"));
        }
        for (number, node) in nodes.iter().enumerate() {
            draft.node(&format!("n{number}"), node);
        }
        for (number, port) in draft.ports.clone().into_iter().enumerate() {
            draft.sink(&format!("open{number}"), &port, "");
        }
        draft.yaml += "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
        draft
    }

    fn add(&mut self, node: &str) {
        writeln!(self.yaml, "  - {node}").expect("memory");
    }

    fn port(&self, input: usize) -> String {
        self.ports[input % self.ports.len()].clone()
    }

    fn node(&mut self, name: &str, node: &Node) {
        match node {
            Node::Transform(input, variant) => {
                let (port, program) = (self.port(*input), TRANSFORMS[variant % TRANSFORMS.len()]);
                self.transform(name, &port, &format!("cxl: \"{program}\""));
            }
            Node::Route(input) => {
                let port = self.port(*input);
                self.add(&format!(
                    "{{ type: route, name: {name}, input: {port}, config: {{ mode: inclusive, \
                     conditions: {{ even: 'id % 2 == 0', low: 'id < 90' }}, default: rest }} }}"
                ));
                self.ports.extend(["even", "low", "rest"].map(|branch| format!("{name}.{branch}")));
            }
            Node::Merge(variant, inputs) => {
                let ports: Vec<_> = inputs.iter().map(|input| self.port(*input)).collect();
                let modes = ["mode: concat", "mode: interleave", "mode: interleave, interleave_seed: 5"];
                let (ports, mode) = (ports.join(", "), modes[variant % modes.len()]);
                self.add(&format!("{{ type: merge, name: {name}, inputs: [{ports}], config: {{ {mode} }} }}"));
                self.ports.push(name.to_string());
            }
            Node::Aggregate(input, variant) => self.aggregate(name, *input, *variant),
            Node::Cull(input, variant) => {
                let (port, config) = (self.port(*input), CULLS[variant % CULLS.len()]);
                self.add(&format!(
                    "{{ type: cull, name: {name}, input: {port}, config: {{ removed_to: gone, {config} }} }}"
                ));
                self.ports.extend([name.to_string(), format!("{name}.gone")]);
            }
            Node::Reshape(input, variant) => {
                let (port, config) = (self.port(*input), RESHAPES[variant % RESHAPES.len()]);
                self.add(&format!("{{ type: reshape, name: {name}, input: {port}, config: {{ {config} }} }}"));
                self.ports.push(name.to_string());
            }
            Node::Sink(input, variant) => {
                let port = self.port(*input);
                self.sink(name, &port, ORDERS[variant % ORDERS.len()]);
            }
        }
    }

    /// An aggregate, and behind it transforms that give its rows the columns of all others, in their order.
    fn aggregate(&mut self, name: &str, input: usize, variant: usize) {
        let (port, (keys, program)) = (self.port(input), AGGREGATES[variant % AGGREGATES.len()]);
        self.add(&format!(
            "{{ type: aggregate, name: {name}, input: {port}, config: {{ group_by: {keys}, cxl: \"{program}\" }} }}"
        ));
        let has = |column: &str, emitted: &str, missing: &str| match () {
            () if keys.contains(column) => column.to_string(),
            () if program.contains(&format!("emit {emitted} =")) => emitted.to_string(),
            () => missing.to_string(),
        };
        // A null without a type has no greatest value of one.
        let (no_int, no_float) = ("if 1 > 2 then 1 else null", "if 1 > 2 then 1.0 else null");
        let (id, k) = (has("id", "i", "null"), has("k", "kk", no_int));
        let (s, f) = (has("s", "ss", "null"), has("f", "ff", no_float));
        let values = format!("emit a = {id} ?? 7\\nemit b = {k}\\nemit c = {s} ?? ''\\nemit d = {f}");
        self.add(&format!(
            "{{ type: transform, name: {name}_values, input: {name}, \
             config: {{ include_unmapped: false, cxl: \"{values}\" }} }}"
        ));
        let row = "emit id = a\\nemit k = b\\nemit s = c\\nemit f = d";
        self.transform(
            &format!("{name}_row"),
            &format!("{name}_values"),
            &format!("include_unmapped: false, cxl: \"{row}\""),
        );
    }

    fn transform(&mut self, name: &str, port: &str, config: &str) {
        self.add(&format!("{{ type: transform, name: {name}, input: {port}, config: {{ {config} }} }}"));
        self.ports.push(name.to_string());
    }

    fn sink(&mut self, name: &str, port: &str, order: &str) {
        let more = if order.is_empty() { String::new() } else { format!(", {order}") };
        self.add(&format!(
            "{{ type: sink, name: {name}, input: {port}, config: {{ type: csv, path: {name}.csv{more} }} }}"
        ));
        self.outputs.push(format!("{name}.csv"));
    }
}

/// How a pipeline is run: threads, rows of a batch, bytes of a block, memory limit.
#[derive(Clone, Copy, Debug)]
struct How(usize, usize, usize, &'static str);

const GENEROUS: How = How(1, 2048, 1 << 20, "512M");

const WAYS: &[How] = &[
    How(7, 1, 40, "512M"),
    How(1, 2048, 1 << 20, "64K"),
    How(2, 7, 300, "64K"),
    How(7, 2048, 2000, "24K"),
    How(2, 2048, 1 << 20, "12K"),
];

/// What a run gives, but for what may differ from run to run; and how much it spilled.
fn everything(sources: &[Vec<String>], nodes: &[Node], how: How) -> Result<(String, u64), Failure> {
    let How(threads, batch_size, block_size, limit) = how;
    let settings = format!(", memory: {{ limit: {limit}, backpressure: spill }}");
    let draft = Draft::new(sources.len(), nodes, &settings);
    let mut lab = Lab::new(&[]);
    (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
    for (number, rows) in sources.iter().enumerate() {
        lab.write(&format!("s{number}.csv"), format!("id,k,s,f\n{}", rows.concat()));
    }
    let report = lab.run(&draft.yaml)?;
    let mut text = format!("{} {} {} {} {}\n", report.total, report.ok, report.made, report.written, report.dlq);
    for node in &report.nodes {
        let counts = (node.rows_in, node.rows_out, node.rejected, node.filtered, node.duplicates);
        writeln!(text, "{} {counts:?}", node.label).expect("memory");
    }
    for output in &draft.outputs {
        write!(text, "--- {output}\n{}", lab.read(output)).expect("memory");
    }
    assert_eq!(lab.names().len(), sources.len() + draft.outputs.len() + 1, "nothing is left behind");
    let spilled = report.consumers.iter().map(|consumer| consumer.spilled.raw).sum();
    Ok((text + &settled(&lab.read("dlq.csv")), spilled))
}

/// How often a small limit was kept, of how many runs, and how many of these spilled.
#[derive(Default)]
struct Tally {
    runs: Cell<u32>,
    kept: Cell<u32>,
    spilled: Cell<u32>,
}

fn check(sources: &[Vec<String>], nodes: &[Node], tally: &Tally) -> Result<(), TestCaseError> {
    let yaml = || Draft::new(sources.len(), nodes, "").yaml;
    let (expected, _) = everything(sources, nodes, GENEROUS)
        .map_err(|failure| TestCaseError::fail(format!("{failure:?}\n{}", yaml())))?;
    for &how in WAYS {
        tally.runs.set(tally.runs.get() + 1);
        match everything(sources, nodes, how) {
            Ok((got, spilled)) => {
                tally.kept.set(tally.kept.get() + 1);
                tally.spilled.set(tally.spilled.get() + u32::from(spilled > 0));
                prop_assert_eq!(&got, &expected, "{:?}\n{}", how, yaml());
            }
            // A group, or what is kept for each group, may be larger than a limit of a few kilobytes.
            Err(failure) => {
                let code = failure.diagnostic.as_ref().map(|diagnostic| diagnostic.code.to_string());
                prop_assert_eq!(code.as_deref(), Some("E310"), "{:?}\n{:?}\n{}", how, failure, yaml());
            }
        }
    }
    Ok(())
}

#[test]
fn a_memory_limit_never_changes_a_byte() {
    let config = Config { cases: 80, failure_persistence: None, ..Config::default() };
    let inputs = (prop::collection::vec(source(), 1..3), prop::collection::vec(node(), 1..7));
    let tally = Tally::default();
    let result = TestRunner::new(config).run(&inputs, |(sources, nodes)| check(&sources, &nodes, &tally));
    if let Err(error) = result {
        panic!("{error}");
    }
    let Tally { runs, kept, spilled } = tally;
    assert!(kept.get() * 10 >= runs.get() * 6, "{} of {} runs kept their limit", kept.get(), runs.get());
    assert!(spilled.get() * 10 >= runs.get() * 2, "{} of {} runs spilled", spilled.get(), runs.get());
}
