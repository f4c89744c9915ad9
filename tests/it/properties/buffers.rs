//! Random pipelines of ordered sources, transforms, routes, merges, aggregates of whole inputs and sorted sinks give what
//! a model of each node gives, byte for byte, for any threads, batches and blocks.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write;

use clinker::exec::Failure;
use proptest::prelude::*;

use crate::exec::lab::Lab;
use crate::support::settled;

/// A row, and the record it was.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    source: usize,
    number: usize,
    id: i64,
    k: Option<i64>,
    s: String,
    f: Option<f64>,
}

type Rows = Vec<Row>;

/// The cells of a row, in the order of the columns.
type Cells = (i64, Option<i64>, String, Option<f64>);

/// A node: what it reads are positions among the ports that there are before it, modulo their number.
#[derive(Clone, Debug)]
enum Node {
    Filter(usize),
    Distinct(usize),
    Route(usize),
    Merge(Mode, Vec<usize>),
    Whole(usize),
    Sink(usize, Vec<Key>),
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Concat,
    Interleave,
    Seeded(i64),
}

/// A sort key: a column, whether it is descending, and where nulls are: last, first or nowhere.
#[derive(Clone, Copy, Debug)]
struct Key(&'static str, bool, u8);

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let columns = Just(vec!["id", "k", "s", "f"]).prop_shuffle();
    (columns, prop::collection::vec((any::<bool>(), 0..3u8), 0..4)).prop_map(|(columns, orders)| {
        columns.into_iter().zip(orders).map(|(column, (descending, nulls))| Key(column, descending, nulls)).collect()
    })
}

fn node() -> impl Strategy<Value = Node> {
    let mode =
        prop_oneof![1 => Just(Mode::Concat), 2 => Just(Mode::Interleave), 1 => (-9..9i64).prop_map(Mode::Seeded)];
    prop_oneof![
        2 => (0..99usize).prop_map(Node::Filter),
        1 => (0..99usize).prop_map(Node::Distinct),
        2 => (0..99usize).prop_map(Node::Route),
        4 => (mode, prop::collection::vec(0..99usize, 2..4)).prop_map(|(mode, inputs)| Node::Merge(mode, inputs)),
        2 => (0..99usize).prop_map(Node::Whole),
        2 => (0..99usize, keys()).prop_map(|(input, keys)| Node::Sink(input, keys)),
    ]
}

fn row() -> impl Strategy<Value = Cells> {
    let text = prop_oneof![3 => "[ab]", 1 => "a long common prefix, [a-c]{0,2}", 1 => Just(String::new())];
    (0..40i64, prop::option::of(0..4i64), text, prop::option::of((-2..3i8).prop_map(|n| f64::from(n) / 2.0)))
}

/// A source: its rows, and whether it claims to be in the order of `id`. Some keep that.
fn source() -> impl Strategy<Value = (Vec<Cells>, bool)> {
    (prop::collection::vec(row(), 0..30), any::<bool>(), any::<bool>()).prop_map(|(mut rows, claims, keeps)| {
        if keeps {
            rows.sort_by_key(|row| row.0);
        }
        (rows, claims)
    })
}

/// The nodes as YAML, and what the model says comes of them.
#[derive(Default)]
struct Model {
    yaml: String,
    ports: Vec<(String, Rows)>,
    sinks: Vec<(String, Rows)>,
    letters: Vec<(usize, usize)>,
}

const SCHEMA: &str = "[{ name: id, type: int }, { name: k, type: { nullable: int } }, { name: s, type: string }, \
                      { name: f, type: { nullable: float } }]";

impl Model {
    fn new(sources: &[(Rows, bool)], nodes: &[Node]) -> Self {
        let mut model = Self { yaml: "pipeline: { name: buffers }\nnodes:\n".to_string(), ..Self::default() };
        for (number, (rows, claims)) in sources.iter().enumerate() {
            let order = if *claims { ", sort_order: [id]" } else { "" };
            model.add(format!(
                "{{ type: source, name: s{number}, \
                 config: {{ type: csv, path: s{number}.csv, schema: {SCHEMA}{order} }} }}"
            ));
            let mut rows = rows.clone();
            if *claims {
                rows.sort_by_key(|row| row.id);
            }
            model.ports.push((format!("s{number}"), rows));
        }
        for (number, node) in nodes.iter().enumerate() {
            model.node(&format!("n{number}"), node);
        }
        let open = model.ports.clone();
        for (number, (port, rows)) in open.into_iter().enumerate() {
            model.sink(&format!("open{number}"), &port, &[], rows);
        }
        model.yaml += "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
        model
    }

    fn add(&mut self, node: String) {
        writeln!(self.yaml, "  - {node}").expect("memory");
    }

    fn port(&self, input: usize) -> (String, Rows) {
        self.ports[input % self.ports.len()].clone()
    }

    fn node(&mut self, name: &str, node: &Node) {
        match node {
            Node::Filter(input) => {
                let (port, rows) = self.port(*input);
                self.add(format!(
                    "{{ type: transform, name: {name}, input: {port}, config: {{ validations: [{{ check: 'id != 7' }}], \
                     cxl: 'filter id % 5 != 0' }} }}"
                ));
                let (good, bad): (Rows, Rows) = rows.into_iter().partition(|row| row.id != 7);
                self.letters.extend(bad.iter().map(|row| (row.source, row.number)));
                self.ports.push((name.to_string(), good.into_iter().filter(|row| row.id % 5 != 0).collect()));
            }
            Node::Distinct(input) => {
                let (port, rows) = self.port(*input);
                self.add(format!(
                    "{{ type: transform, name: {name}, input: {port}, config: {{ cxl: 'distinct by s' }} }}"
                ));
                let mut seen = BTreeSet::new();
                let first = rows.into_iter().filter(|row| seen.insert(row.s.clone())).collect();
                self.ports.push((name.to_string(), first));
            }
            Node::Route(input) => {
                let (port, rows) = self.port(*input);
                self.add(format!(
                    "{{ type: route, name: {name}, input: {port}, config: {{ mode: exclusive, \
                     conditions: {{ even: 'id % 2 == 0' }}, default: odd }} }}"
                ));
                let (even, odd) = rows.into_iter().partition(|row| row.id % 2 == 0);
                self.ports.push((format!("{name}.even"), even));
                self.ports.push((format!("{name}.odd"), odd));
            }
            Node::Merge(mode, inputs) => {
                let (ports, rows): (Vec<_>, Vec<_>) = inputs.iter().map(|input| self.port(*input)).unzip();
                let config = match mode {
                    Mode::Concat => "mode: concat".to_string(),
                    Mode::Interleave => "mode: interleave".to_string(),
                    Mode::Seeded(seed) => format!("mode: interleave, interleave_seed: {seed}"),
                };
                self.add(format!(
                    "{{ type: merge, name: {name}, inputs: [{}], config: {{ {config} }} }}",
                    ports.join(", ")
                ));
                self.ports.push((name.to_string(), merged(*mode, rows)));
            }
            Node::Whole(input) => {
                let (port, rows) = self.port(*input);
                self.add(format!(
                    "{{ type: aggregate, name: {name}, input: {port}, config: {{ group_by: [], cxl: \"emit id = 1000 + \
                     count(*)\\nemit k = sum(k)\\nemit s = collect(id.to_string()).join('|')\\nemit f = max(f)\" }} }}"
                ));
                // A maker of its own, of one row.
                let source = 1000 + self.ports.len();
                self.ports.push((name.to_string(), vec![Row::whole(source, &rows)]));
            }
            Node::Sink(input, keys) => {
                let (port, rows) = self.port(*input);
                self.sink(name, &port, keys, rows);
            }
        }
    }

    fn sink(&mut self, name: &str, port: &str, keys: &[Key], mut rows: Rows) {
        let orders: Vec<String> = keys
            .iter()
            .map(|Key(column, descending, nulls)| {
                let (order, nulls) =
                    (if *descending { "desc" } else { "asc" }, ["last", "first", "drop"][*nulls as usize]);
                format!("{{ field: {column}, order: {order}, null_order: {nulls} }}")
            })
            .collect();
        self.add(format!(
            "{{ type: sink, name: {name}, input: {port}, config: {{ type: csv, path: {name}.csv, sort_order: [{}] }} }}",
            orders.join(", ")
        ));
        rows.retain(|row| keys.iter().all(|Key(column, _, nulls)| *nulls != 2 || !row.is_null(column)));
        rows.sort_by(|left, right| {
            keys.iter().fold(Ordering::Equal, |order, key| order.then_with(|| left.compare(right, *key)))
        });
        self.sinks.push((format!("{name}.csv"), rows));
    }
}

impl Row {
    /// What an aggregate makes of all rows.
    fn whole(source: usize, rows: &[Row]) -> Row {
        let ids: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
        let numbers: Vec<i64> = rows.iter().filter_map(|row| row.k).collect();
        Row {
            source,
            number: 1,
            id: 1000 + rows.len() as i64,
            k: (!numbers.is_empty()).then(|| numbers.iter().sum()),
            s: ids.join("|"),
            f: rows.iter().filter_map(|row| row.f).max_by(f64::total_cmp),
        }
    }

    fn is_null(&self, column: &str) -> bool {
        column == "k" && self.k.is_none() || column == "f" && self.f.is_none()
    }

    fn compare(&self, other: &Row, Key(column, descending, nulls): Key) -> Ordering {
        match (self.is_null(column), other.is_null(column)) {
            (false, false) => {}
            (left, right) => return if nulls == 1 { right.cmp(&left) } else { left.cmp(&right) },
        }
        let order = match column {
            "id" => self.id.cmp(&other.id),
            "k" => self.k.cmp(&other.k),
            "s" => self.s.as_bytes().cmp(other.s.as_bytes()),
            _ => self.f.partial_cmp(&other.f).expect("no NaN comes from text"),
        };
        if descending { order.reverse() } else { order }
    }

    fn text(&self) -> String {
        let (k, f) = (self.k.map(|k| k.to_string()), self.f.map(|f| f.to_string()));
        let s = if self.s.contains(',') { format!("\"{}\"", self.s) } else { self.s.clone() };
        format!("{},{},{s},{}\n", self.id, k.unwrap_or_default(), f.unwrap_or_default())
    }
}

/// The documented order of each mode.
fn merged(mode: Mode, inputs: Vec<Rows>) -> Rows {
    let mut left: Vec<std::collections::VecDeque<Row>> = inputs.into_iter().map(Into::into).collect();
    let mut rows = Vec::new();
    match mode {
        Mode::Concat => left.into_iter().for_each(|input| rows.extend(input)),
        Mode::Interleave => {
            while left.iter().any(|input| !input.is_empty()) {
                rows.extend(left.iter_mut().filter_map(std::collections::VecDeque::pop_front));
            }
        }
        Mode::Seeded(seed) => {
            let mut state = seed as u64;
            loop {
                left.retain(|input| !input.is_empty());
                let picked = match left.len() {
                    0 => return rows,
                    1 => 0,
                    inputs => ((u128::from(split_mix(&mut state)) * inputs as u128) >> 64) as usize,
                };
                rows.extend(left[picked].pop_front());
            }
        }
    }
    rows
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

fn rows_of(source: usize, rows: &[Cells]) -> Rows {
    let numbered = rows.iter().enumerate();
    let row = |(number, (id, k, s, f)): (usize, &Cells)| Row {
        source,
        number: number + 1,
        id: *id,
        k: *k,
        s: s.clone(),
        f: *f,
    };
    numbered.map(row).collect()
}

fn check(sources: &[(Rows, bool)], nodes: &[Node]) -> Result<(), TestCaseError> {
    let model = Model::new(sources, nodes);
    let (mut letters, mut failure) = (None, None);
    for (threads, batch_size, block_size) in
        [(1, 2048, 1 << 20), (1, 1, 1), (2, 7, 1), (7, 1, 40), (2, 2048, 100), (7, 7, 1 << 20)]
    {
        let mut lab = Lab::new(&[]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        for (number, (rows, _)) in sources.iter().enumerate() {
            let text: String = rows.iter().map(Row::text).collect();
            lab.write(&format!("s{number}.csv"), format!("id,k,s,f\n{text}"));
        }
        let report =
            lab.run(&model.yaml).map_err(|failure| TestCaseError::fail(format!("{failure:?}\n{}", model.yaml)))?;
        for (name, rows) in &model.sinks {
            let expected: String =
                std::iter::once("id,k,s,f\n".to_string()).chain(rows.iter().map(Row::text)).collect();
            prop_assert_eq!(lab.read(name), expected, "{}: threads {}\n{}", name, threads, &model.yaml);
        }
        let written: BTreeSet<_> =
            model.sinks.iter().flat_map(|(_, rows)| rows).map(|r| (r.source, r.number)).collect();
        let read = written.iter().filter(|(source, _)| *source < sources.len()).count();
        let reached = (read as u64, (written.len() - read) as u64);
        prop_assert_eq!((report.ok, report.made), reached, "rows that reached an output\n{}", &model.yaml);
        prop_assert_eq!(report.written, model.sinks.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>());
        prop_assert_eq!(report.dlq, model.letters.len() as u64);
        check_letters(&model, &lab.read("dlq.csv"), &mut letters)?;
        check_failure(&model, &lab, &mut failure)?;
        prop_assert_eq!(lab.names().len(), sources.len() + model.sinks.len() + 1, "nothing is left behind");
    }
    Ok(())
}

/// Without dead letters a row that fails stops the run: always the same one.
fn check_failure(model: &Model, lab: &Lab, before: &mut Option<Option<Failure>>) -> Result<(), TestCaseError> {
    let yaml = model.yaml.replace("strategy: continue, dlq: { path: dlq.csv }", "strategy: fail_fast");
    let failure = lab.run(&yaml).err();
    prop_assert_eq!(failure.is_some(), !model.letters.is_empty(), "{}", &yaml);
    prop_assert_eq!(before.get_or_insert_with(|| failure.clone()), &failure, "{}", &yaml);
    Ok(())
}

/// Dead letters are in the order of their records, and always the same.
fn check_letters(model: &Model, text: &str, before: &mut Option<String>) -> Result<(), TestCaseError> {
    let text = settled(text);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.records().map(|record| {
        let record = record.expect("valid");
        let source = record[4].strip_prefix('s').and_then(|number| number.parse().ok()).expect("a source");
        (source, record[5].parse::<usize>().expect("a number"))
    });
    let mut expected = model.letters.clone();
    expected.sort_unstable();
    prop_assert_eq!(rows.collect::<Vec<(usize, usize)>>(), expected, "{}", &model.yaml);
    prop_assert_eq!(before.get_or_insert_with(|| text.clone()), &text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_wiring_gives_what_its_nodes_promise(
        sources in prop::collection::vec(source(), 1..4),
        nodes in prop::collection::vec(node(), 1..8),
    ) {
        let sources: Vec<_> =
            sources.iter().enumerate().map(|(number, (rows, claims))| (rows_of(number, rows), *claims)).collect();
        check(&sources, &nodes)?;
    }
}
