//! `distinct` keeps what a set of keys in memory would keep, however little memory there is.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::exec::lab::Lab;

/// One set over two sources behind a filter, twice in one program; another in each of two branches.
const PIPELINE: &str = r#"
pipeline: { name: distinct }
nodes:
  - { type: source, name: a, config: { type: csv, path: a.csv, schema: SCHEMA } }
  - { type: source, name: b, config: { type: csv, path: b.csv, schema: SCHEMA } }
  - { type: merge, name: both, inputs: [a, b] }
  - type: transform
    name: twice
    input: both
    config:
      cxl: |
        filter id % 5 != 0
        let text = if t == '' then null else t
        let value = i.catch(text).catch(f)
        distinct by value
        emit mixed = if id % 2 == 0 then d else e
        distinct by mixed
        emit next = id + 1
  - { type: transform, name: narrow, input: both, config: { cxl: "emit x = i\nemit y = f", include_unmapped: false } }
  - { type: transform, name: pairs, input: narrow, config: { cxl: distinct } }
  - { type: route, name: split, input: both, config: { conditions: { even: "id % 2 == 0" }, default: odd } }
  - { type: transform, name: texts, input: split.odd, config: { cxl: "distinct by t" } }
  - { type: sink, name: twice_out, input: twice, config: { type: csv, path: twice.csv, mapping: [id, next, t], include_unmapped: false } }
  - { type: sink, name: pairs_out, input: pairs, config: { type: csv, path: pairs.csv } }
  - { type: sink, name: texts_out, input: texts, config: { type: csv, path: texts.csv, mapping: [id, t], include_unmapped: false } }
"#;

const SCHEMA: &str = "[{ name: id, type: int }, { name: i, type: { nullable: int } }, \
                      { name: t, type: { nullable: string } }, { name: f, type: { nullable: float } }, \
                      { name: d, type: { nullable: decimal }, scale: 2 }, { name: e, type: { nullable: decimal }, scale: 1 }]";

/// A row: of a decimal, how many halves it is.
#[derive(Clone, Debug)]
struct Row {
    i: Option<i64>,
    t: Option<String>,
    f: Option<f64>,
    d: Option<i64>,
    e: Option<i64>,
}

fn row() -> impl Strategy<Value = Row> {
    let text = prop_oneof![
        2 => Just(None),
        2 => "[a12]".prop_map(Some),
        8 => (0..900u32).prop_map(|n| Some(format!("one of many keys that are longer than they need be: {n}"))),
    ];
    let int = prop_oneof![1 => prop::option::of(0..5i64), 3 => Just(None)];
    let float = prop::option::of((-3..4i8).prop_map(|n| f64::from(n) / 2.0));
    let decimal = || prop::option::of(0..600i64);
    (int, text, float, decimal(), decimal()).prop_map(|(i, t, f, d, e)| Row { i, t, f, d, e })
}

/// A value of a column of any type. An int and a float of the same value are one key.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Any {
    Null,
    Halves(i64),
    Text(String),
}

impl Row {
    fn value(&self) -> Any {
        let int = self.i.map(|i| Any::Halves(2 * i));
        let text = self.t.clone().map(Any::Text);
        int.or(text).or(self.f.map(|f| Any::Halves((2.0 * f) as i64))).unwrap_or(Any::Null)
    }

    fn line(&self, id: usize) -> String {
        let Self { i, t, f, d, e } = self;
        let (i, f) = (i.map(|i| i.to_string()), f.map(|f| f.to_string()));
        let d = d.map(|d| format!("{}.{}", d / 2, if d % 2 == 0 { "00" } else { "50" }));
        let e = e.map(|e| format!("{}.{}", e / 2, if e % 2 == 0 { 0 } else { 5 }));
        let [i, t, f, d, e] = [i, t.clone(), f, d, e].map(Option::unwrap_or_default);
        format!("{id},{i},{t},{f},{d},{e}\n")
    }
}

/// What the pipeline has to write, and how many duplicates each distinct has to find.
fn model(rows: &[Row]) -> (String, [u64; 4]) {
    let (mut values, mut mixed, mut pairs, mut texts) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut outputs, mut duplicates) = (["id,next,t\n", "x,y\n", "id,t\n"].map(str::to_string), [0; 4]);
    for (id, row) in rows.iter().enumerate() {
        let t = row.t.clone().unwrap_or_default();
        if id % 5 != 0 && is_new(values.insert(row.value()), &mut duplicates[0]) {
            let chosen = if id % 2 == 0 { row.d } else { row.e };
            if is_new(mixed.insert(chosen), &mut duplicates[1]) {
                outputs[0] += &format!("{id},{},{t}\n", id + 1);
            }
        }
        let (x, y) = (row.i, row.f.map(|f| if f == 0.0 { 0.0 } else { f }));
        if is_new(pairs.insert((x, y.map(f64::to_bits))), &mut duplicates[2]) {
            let shown = [x.map(|x| x.to_string()), row.f.map(|f| f.to_string())].map(Option::unwrap_or_default);
            outputs[1] += &format!("{}\n", shown.join(","));
        }
        if id % 2 != 0 && is_new(texts.insert(row.t.clone()), &mut duplicates[3]) {
            outputs[2] += &format!("{id},{t}\n");
        }
    }
    (outputs.concat(), duplicates)
}

fn is_new(inserted: bool, duplicates: &mut u64) -> bool {
    *duplicates += u64::from(!inserted);
    inserted
}

/// How a run is made: memory limit, threads, batch size, block size.
type How = (u64, usize, usize, usize);

/// What the pipeline writes, how many duplicates each distinct found, and how many bytes they spilled.
fn written(rows: &[Row], middle: usize, (limit, threads, batch_size, block_size): How) -> (String, [u64; 4], u64) {
    let lines = |range: std::ops::Range<usize>| range.map(|id| rows[id].line(id)).collect::<String>();
    let file = |range| format!("id,i,t,f,d,e\n{}", lines(range));
    let mut lab = Lab::new(&[("a.csv", &file(0..middle)), ("b.csv", &file(middle..rows.len()))]);
    (lab.options.threads, lab.options.block_size) = (threads, block_size);
    (lab.batch_size, lab.memory_limit) = (Some(batch_size), Some(limit));
    let pipeline = PIPELINE.replace("SCHEMA", SCHEMA);
    let report = lab.run(&pipeline).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert!(report.peak_reserved <= limit);
    let text = ["twice.csv", "pairs.csv", "texts.csv"].map(|name| lab.read(name)).concat();
    let found = |label: &str| report.nodes.iter().find(|node| node.label == label).expect("it is there").duplicates;
    let labels = ["distinct.twice", "distinct.twice.2", "distinct.pairs", "distinct.texts"];
    let spilled = report.consumers.iter().filter(|consumer| consumer.name.starts_with("distinct."));
    (text, labels.map(found), spilled.map(|consumer| consumer.spilled.raw).sum())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_first_row_of_each_key_is_kept_however_little_memory_there_is(
        rows in prop::collection::vec(row(), 0..3000),
        split in 0.0..1.0f64,
    ) {
        let (expected, middle) = (model(&rows), (rows.len() as f64 * split) as usize);
        for limit in [1 << 30, 1 << 20, 200 << 10, 64 << 10] {
            for (threads, batch_size, block_size) in [(1, 2048, 1 << 20), (2, 7, 700), (7, 2048, 9000)] {
                let how = (limit, threads, batch_size, block_size);
                let (text, duplicates, spilled) = written(&rows, middle, how);
                prop_assert!(text == expected.0, "limit, threads, batch, block: {:?}", how);
                prop_assert_eq!(duplicates, expected.1, "limit, threads, batch, block: {:?}", how);
                prop_assert!(spilled > 0 || limit > 64 << 10 || rows.len() < 1000, "{:?} spills nothing", how);
                prop_assert!(spilled == 0 || limit <= 1 << 20, "{:?} spills {}", how, spilled);
            }
        }
    }
}
