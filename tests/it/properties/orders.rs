//! Declared orders over several files: what comes out is what a model says, however a run is cut. And what is proven to
//! stand together: an aggregate that streams gives what one that hashes gives.

use std::cmp::Ordering;
use std::fmt::Write;

use clinker::diagnostics::Code;
use clinker::exec::{Failure, Report};
use proptest::prelude::*;

use crate::exec::lab::Lab;

/// The key's text, its number, and where the row stands: file and row.
type Row = (String, Option<i64>, (usize, usize));

/// A claim: the fields as YAML, and what they say of two rows.
type Claim = (&'static str, fn(&Row, &Row) -> Ordering);

const CLAIMS: [Claim; 4] = [
    ("[k]", |left, right| left.0.cmp(&right.0)),
    ("[{ field: n, order: desc }]", |left, right| number(left, false, true).cmp(&number(right, false, true))),
    ("[k, { field: n, null_order: first }]", |left, right| {
        (&left.0, number(left, true, false)).cmp(&(&right.0, number(right, true, false)))
    }),
    ("[{ field: n, order: desc, null_order: first }, k]", |left, right| {
        (number(left, true, true), &left.0).cmp(&(number(right, true, true), &right.0))
    }),
];

/// Compares as numbers do that may be null.
fn number(row: &Row, nulls_first: bool, descending: bool) -> (bool, i64) {
    let value = row.1.unwrap_or(0);
    (row.1.is_some() == nulls_first, if descending { -value } else { value })
}

/// What reads the source: nothing that asks for an order over its files, or an aggregate or a correlation key that does.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reader {
    Sink,
    Hash,
    Auto,
    Streaming,
    Renamed,
    Keyed,
}

use Reader::{Auto, Hash, Keyed, Renamed, Sink, Streaming};

impl Reader {
    fn asks(self) -> bool {
        matches!(self, Streaming | Renamed | Keyed)
    }
}

/// The pipeline: the rows as they come go to `rows.csv`, groups of the claim's first field to `groups.csv`.
fn pipeline(files: usize, claim: usize, reader: Reader) -> String {
    let first = if claim.is_multiple_of(2) { "k" } else { "n" };
    let key = if reader == Keyed { format!(", correlation_key: {first}") } else { String::new() };
    let paths: Vec<String> = (0..files).map(|file| format!("{file}.csv")).collect();
    let mut text = format!(
        "pipeline: {{ name: orders }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, paths: [{}], \
         sort_order: {}{key}, schema: [{{ name: k, type: string }}, {{ name: n, type: {{ nullable: int }} }}, {{ name: id, \
         type: string }}] }} }}\n  - {{ type: sink, name: rows, input: s, config: {{ type: csv, path: rows.csv }} }}\n",
        paths.join(", "),
        CLAIMS[claim].0
    );
    let (input, group_by, strategy) = match reader {
        Sink | Keyed => return text,
        Renamed => ("m", "g", "streaming"),
        Hash => ("s", first, "hash"),
        Auto => ("s", first, "auto"),
        Streaming => ("s", first, "streaming"),
    };
    if reader == Renamed {
        let cxl = format!("filter id != '0.1'\\nemit {first} = {first}\\nemit g = {first}\\nemit id = id");
        writeln!(text, "  - {{ type: transform, name: m, input: s, config: {{ cxl: \"{cxl}\" }} }}").expect("memory");
    }
    let cxl = "emit ids = collect(id).join('|')";
    writeln!(
        text,
        "  - {{ type: aggregate, name: a, input: {input}, config: {{ group_by: [{group_by}], strategy: {strategy}, cxl: \
         \"{cxl}\" }} }}\n  - {{ type: sink, name: groups, input: a, config: {{ type: csv, path: groups.csv }} }}"
    )
    .expect("memory");
    text
}

fn shown(number: Option<i64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn table(rows: &[Row]) -> String {
    rows.iter()
        .fold("k,n,id\n".to_string(), |text, (k, n, (file, row))| text + &format!("{k},{},{file}.{row}\n", shown(*n)))
}

/// The groups of rows by the claim's first field, in the order of their first rows.
fn groups(rows: &[Row], claim: usize, reader: Reader) -> String {
    let value = |(k, n, _): &Row| if claim.is_multiple_of(2) { k.clone() } else { shown(*n) };
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| reader != Renamed || row.2 != (0, 1)) {
        let id = format!("{}.{}", row.2.0, row.2.1);
        match groups.iter_mut().find(|(key, _)| *key == value(row)) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((value(row), vec![id])),
        }
    }
    let name = if reader == Renamed { "g" } else { ["k", "n"][claim % 2] };
    groups.iter().fold(format!("{name},ids\n"), |text, (key, ids)| text + &format!("{key},{}\n", ids.join("|")))
}

/// The number of the first row of a file that should have come earlier.
fn late(rows: &[Row], claim: usize) -> Option<usize> {
    let (_, compare) = CLAIMS[claim];
    rows.windows(2).position(|pair| compare(&pair[1], &pair[0]).is_lt()).map(|position| position + 2)
}

/// Whether a run doesn't fit its memory limit.
fn exceeds(failure: &Failure) -> bool {
    failure.diagnostic.as_ref().is_some_and(|diagnostic| diagnostic.code == Code::E310)
}

/// The rows of a file, and whether they are put in order.
type Rows = (Vec<(String, Option<i64>)>, bool);

fn files() -> impl Strategy<Value = Vec<Rows>> {
    let k = prop_oneof![1 => Just(String::new()), 4 => "[ab]", 1 => "a name with more than sixteen bytes [ab]"];
    let row = (k, prop::option::of(-2..3i64));
    prop::collection::vec((prop::collection::vec(row, 0..25), any::<bool>()), 1..4)
}

/// Workers, rows of a batch, bytes of a block, and whether memory is as scarce as it may be.
const HOW: [(usize, usize, usize, bool); 5] =
    [(1, 2048, 1 << 20, false), (2, 1, 1, false), (4, 7, 60, false), (3, 2048, 200, true), (2, 3, 30, true)];

/// Runs a pipeline; where memory is `scarce` under the first limit of 500 bytes, twice as much, and so on, with which it
/// completes.
fn run(lab: &mut Lab, text: &str, scarce: bool) -> Result<Report, TestCaseError> {
    let limits = (0..12).map(|doublings| 500 << doublings);
    for limit in limits.filter(|_| scarce) {
        lab.memory_limit = Some(limit);
        match lab.run(text) {
            Err(failure) if exceeds(&failure) => {}
            done => return done.map_err(|failure| TestCaseError::fail(format!("{failure:?}\n{text}"))),
        }
    }
    prop_assert!(!scarce, "no limit is enough\n{}", text);
    lab.memory_limit = None;
    lab.run(text).map_err(|failure| TestCaseError::fail(format!("{failure:?}\n{text}")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_stay_in_their_order_unless_another_is_asked_for(
        files in files(),
        claim in 0..CLAIMS.len(),
        reader in prop::sample::select(vec![Sink, Hash, Auto, Streaming, Renamed, Keyed]),
    ) {
        let (_, compare) = CLAIMS[claim];
        let mut read: Vec<Vec<Row>> = Vec::new();
        for (file, (rows, is_sorted)) in files.into_iter().enumerate() {
            let mut rows: Vec<Row> = rows.into_iter().map(|(k, n)| (k, n, (0, 0))).collect();
            if is_sorted {
                rows.sort_by(compare);
            }
            rows.iter_mut().enumerate().for_each(|(number, row)| row.2 = (file, number));
            read.push(rows);
        }
        let late: Vec<String> = read.iter().enumerate()
            .filter_map(|(file, rows)| Some(format!("{file}.csv, row {}", late(rows, claim)?)))
            .collect();
        let texts: Vec<(String, String)> =
            read.iter().enumerate().map(|(file, rows)| (format!("{file}.csv"), table(rows))).collect();
        read.iter_mut().for_each(|rows| rows.sort_by(compare));
        let mut expected: Vec<Row> = read.concat();
        if reader.asks() {
            expected.sort_by(compare);
        }
        let text = pipeline(read.len(), claim, reader);
        for (threads, batch_size, block_size, scarce) in HOW {
            let mut lab = Lab::new(&texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>());
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            lab.batch_size = Some(batch_size);
            let report = run(&mut lab, &text, scarce)?;
            prop_assert_eq!(lab.read("rows.csv"), table(&expected), "{}", text);
            if text.contains("groups.csv") {
                prop_assert_eq!(lab.read("groups.csv"), groups(&expected, claim, reader), "{}", text);
            }
            let said: Vec<&str> =
                report.warnings.iter().filter_map(|warning| warning.message.split(", line ").next()).collect();
            prop_assert_eq!(&said, &late, "{}", text);
        }
    }
}

/// What puts the rows of groups of `k` and `n` side by side in `last`, or keeps them there, for any rows.
const BETWEEN: [&str; 7] = [
    "  - { type: cull, name: last, input: s, config: { partition_by: [n, k], removed_to: gone, rules: [RULE] } }\n",
    "  - { type: cull, name: c, input: s, config: { partition_by: [k, n], order_by: [{ field: id, order: desc }], removed_to: \
     gone, rules: [RULE] } }\n  - { type: transform, name: last, input: c.gone, config: { cxl: \"filter id != '0.2'\" } }\n",
    "  - { type: reshape, name: last, input: s, config: { partition_by: [k, n], order_by: [id], rules: [ADD, SET] } }\n",
    "  - { type: reshape, name: r, input: s, config: { partition_by: [n, k], rules: [ADD] } }\n  - { type: transform, name: last, \
     input: r, config: { cxl: \"let x = k\\nemit y = n\\ndistinct by id\\nemit n = 7\\nemit k = x\" } }\n",
    "  - { type: reshape, name: r, input: s, config: { partition_by: [k, n], rules: [ADD] } }\n  - { type: cull, name: last, input: \
     r, config: { partition_by: [n, k], removed_to: gone, rules: [RULE] } }\n",
    "  - { type: reshape, name: r, input: s, config: { partition_by: [k], rules: [SET] } }\n  - { type: transform, name: last, \
     input: r, config: { cxl: \"emit y = k\\nemit k = 'x'\" } }\n",
    "  - { type: cull, name: c, input: s, config: { partition_by: [k], removed_to: gone, rules: [RULE] } }\n  - { type: aggregate, \
     name: last, input: c, config: { group_by: [n, k], strategy: hash, cxl: \"emit y = k\\nemit id = collect(id).join('+')\" } }\n",
];

/// By what each of these is grouped.
const GROUP_BY: [&str; 7] = ["k, n", "n, k", "n, k", "k, y", "k, n", "y", "y"];

/// The pipeline with an aggregate that reads `last`.
fn behind(between: usize, strategy: &str) -> String {
    let nodes = BETWEEN[between]
        .replace("RULE", "{ name: few, drop_group_when: 'count(*) < 3' }")
        .replace(
            "ADD",
            "{ name: add, when: \"id != '0.4'\", synthesize: { copy_from: trigger, overrides: { id: \"id + '!'\" } } }",
        )
        .replace("SET", "{ name: set, when: \"n == 1\", mutate: { set: { id: \"id + '?'\" } } }");
    format!(
        "pipeline: {{ name: behind }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, path: 0.csv, schema: [{{ name: \
         k, type: string }}, {{ name: n, type: {{ nullable: int }} }}, {{ name: id, type: string }}] }} }}\n{nodes}  - {{ type: \
         aggregate, name: a, input: last, config: {{ group_by: [{}], strategy: {strategy}, cxl: \"emit ids = \
         collect(id).join('|')\" }} }}\n  - {{ type: sink, name: groups, input: a, config: {{ type: csv, path: groups.csv }} }}\n",
        GROUP_BY[between]
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streaming_behind_groups_is_hashing(files in files(), between in 0..BETWEEN.len()) {
        let rows = files.into_iter().flat_map(|(rows, _)| rows).enumerate();
        let rows: Vec<Row> = rows.map(|(number, (k, n))| (k, n, (0, number))).collect();
        let mut lab = Lab::new(&[("0.csv", &table(&rows))]);
        lab.run(&behind(between, "hash")).expect("the run completes");
        let expected = lab.read("groups.csv");
        let streaming = behind(between, "streaming");
        for (threads, batch_size, block_size, scarce) in HOW {
            (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
            run(&mut lab, &streaming, scarce)?;
            prop_assert_eq!(lab.read("groups.csv"), &expected[..], "{}", streaming);
        }
    }
}
