//! Merges that interleave: rows are taken in turn while they come, and little is held.

use std::fmt::Write;

use super::lab::{Lab, Recorder};

/// A source of ids and texts.
fn source(name: &str) -> String {
    format!(
        "  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, schema: \
         [{{ name: id, type: int }}, {{ name: v, type: string }}] }} }}\n"
    )
}

fn merge(name: &str, inputs: &str, mode: &str) -> String {
    format!("  - {{ type: merge, name: {name}, inputs: [{inputs}], config: {{ mode: {mode} }} }}\n")
}

fn transform(name: &str, input: &str, cxl: &str) -> String {
    format!("  - {{ type: transform, name: {name}, input: {input}, config: {{ cxl: '{cxl}' }} }}\n")
}

fn sink(name: &str, input: &str) -> String {
    format!("  - {{ type: sink, name: {name}, input: {input}, config: {{ type: csv, path: {name}.csv }} }}\n")
}

fn pipeline(nodes: &[String]) -> String {
    let settings = "pipeline: { name: turns, memory: { limit: 10K, backpressure: spill } }\nnodes:\n";
    format!("{settings}{}", nodes.concat())
}

/// Rows `1,a1`, `2,a2`, …
fn rows(name: &str, count: usize) -> String {
    let numbers = 1..=count;
    numbers.fold("id,v\n".to_string(), |mut text, n| {
        writeln!(text, "{n},{name}{n}").expect("memory");
        text
    })
}

/// What remains of inputs when a row of each is taken in turn.
fn in_turn(inputs: &[Vec<String>]) -> String {
    let longest = inputs.iter().map(Vec::len).max().unwrap_or_default();
    let rows = (0..longest).flat_map(|turn| inputs.iter().filter_map(move |input| input.get(turn)));
    rows.fold("id,v\n".to_string(), |text, row| text + row + "\n")
}

fn numbered(name: &str, numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|n| format!("{n},{name}{n}")).collect()
}

/// Threads and block sizes that wirings are tried with.
const WAYS: [(usize, usize); 4] = [(1, 1 << 20), (2, 700), (4, 3000), (7, 60)];

#[test]
fn inputs_far_larger_than_the_limit_are_not_held() {
    let nodes = [
        source("a"),
        source("b"),
        source("c"),
        transform("few", "b", "filter id % 400 == 0"),
        merge("m", "a, few, c", "interleave"),
        sink("out", "m"),
    ];
    let expected = in_turn(&[
        numbered("a", 1..=9_000),
        numbered("b", (1..=20_000).filter(|n| n % 400 == 0)),
        numbered("c", 1..=3),
    ]);
    for (threads, block_size) in WAYS {
        let mut lab =
            Lab::new(&[("a.csv", &rows("a", 9_000)), ("b.csv", &rows("b", 20_000)), ("c.csv", &rows("c", 3))]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let report = lab.run(&pipeline(&nodes)).expect("the run completes");
        assert!(lab.read("out.csv") == expected, "{threads} threads, blocks of {block_size}");
        assert_eq!((report.total, report.ok, report.peak_reserved), (29_003, 9_053, 0));
        assert_eq!(report.consumers, [], "nothing is held");
    }
}

#[test]
fn merges_of_merges_are_not_held() {
    let nodes = [
        source("a"),
        source("b"),
        source("c"),
        source("d"),
        merge("ab", "a, b", "interleave"),
        merge("bcd", "c, d", "concat"),
        merge("m", "ab, bcd", "interleave"),
        merge("n", "m, e", "concat"),
        sink("out", "n"),
        sink("first", "a"),
        sink("inner", "bcd"),
    ];
    let nodes = [&[source("e")], &nodes[..]].concat();
    let ab = |n: usize| [numbered("a", n..=n), numbered("b", n..=n)].concat();
    let cd = [numbered("c", 1..=800), numbered("d", 1..=900)].concat();
    let turns = in_turn(&[(1..=700).flat_map(ab).collect(), cd.clone()]);
    for (threads, block_size) in WAYS {
        let counts = [("a", 700), ("b", 700), ("c", 800), ("d", 900), ("e", 5)];
        let mut lab = Lab::new(&[]);
        counts.iter().for_each(|(name, count)| lab.write(&format!("{name}.csv"), rows(name, *count)));
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let report = lab.run(&pipeline(&nodes)).expect("the run completes");
        let e = numbered("e", 1..=5).join("\n");
        assert!(lab.read("out.csv") == format!("{turns}{e}\n"), "{threads} threads, blocks of {block_size}");
        assert_eq!(lab.read("first.csv"), rows("a", 700));
        assert_eq!(lab.read("inner.csv"), format!("id,v\n{}\n", cd.join("\n")));
        assert!(report.consumers.iter().all(|consumer| consumer.name.ends_with("(rows written)")));
        assert_eq!((report.total, report.ok), (3105, 3105));
        assert_eq!(report.written, 3105 + 700 + 1700);
    }
}

#[test]
fn the_first_input_that_fails_says_why_a_run_stops() {
    let nodes = [
        source("a"),
        source("b"),
        transform("late", "a", "emit q = 1 / (id - 4000)"),
        transform("early", "b", "emit q = 1 / (id - 2)"),
        merge("m", "late, early", "interleave"),
        transform("below", "m", "emit r = 1 / (id - 1)"),
        sink("out", "below"),
    ];
    for (threads, block_size) in WAYS {
        let mut lab = Lab::new(&[("a.csv", &rows("a", 5_000)), ("b.csv", &rows("b", 5_000))]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let message = lab.failure(&pipeline(&nodes));
        assert!(message.contains("row 4000 of a.csv"), "{threads} threads, blocks of {block_size}: {message}");
        let message = lab.failure(&pipeline(&nodes).replace("(id - 4000)", "(id + 1)"));
        assert!(message.contains("row 2 of b.csv"), "{threads} threads, blocks of {block_size}: {message}");
        let message = lab.failure(&pipeline(&nodes).replace("(id - 4000)", "7").replace("(id - 2)", "7"));
        assert!(message.contains("row 1 of a.csv"), "{threads} threads, blocks of {block_size}: {message}");
        assert_eq!(lab.names(), ["a.csv", "b.csv"], "nothing is left behind");
    }
}

#[test]
fn warnings_come_in_the_order_of_the_plan() {
    let warns = |name: &str, input: &str| {
        format!(
            "  - {{ type: transform, name: {name}, input: {input}, config: {{ cxl: 'emit id = id', validations: \
             [{{ check: 'id % 50 > 0', severity: warn, message: said by {name} }}] }} }}\n"
        )
    };
    let nodes = [
        source("a"),
        source("b"),
        warns("x", "a"),
        warns("y", "b"),
        merge("m", "x, y", "interleave"),
        warns("z", "m"),
        sink("out", "z"),
    ];
    let mut expected: Option<Vec<String>> = None;
    for (threads, block_size) in WAYS {
        let mut lab = Lab::new(&[("a.csv", &rows("a", 3_000)), ("b.csv", &rows("b", 3_000))]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let recorder = Recorder::default();
        lab.run_observed(&pipeline(&nodes), &recorder).expect("the run completes");
        let warnings = recorder.warnings.into_inner().expect("not poisoned");
        assert_eq!(warnings.len(), 15, "{warnings:?}");
        assert!(warnings[14].starts_with("a.csv, row 150: said by z"), "{warnings:?}");
        assert_eq!(expected.get_or_insert_with(|| warnings.clone()), &warnings);
    }
}

#[test]
fn dead_letters_of_a_run_that_stops_don_t_depend_on_chance() {
    let nodes = [
        source("a"),
        source("b"),
        source("c"),
        transform("bad", "a", "emit q = 1 / (id % 100)"),
        transform("same", "b", "emit q = 1 / (id % 70)"),
        transform("more", "c", "emit q = 1 / (id % 50)"),
        merge("m", "bad, same, more", "interleave"),
        transform("below", "m", "emit r = 1 / (id % 30)"),
        sink("out", "below"),
        "error_handling: { strategy: continue, dlq: { path: dlq.csv }, type_error_threshold: 0.01 }\n".to_string(),
    ];
    let b = rows("b", 3_000).replace("\n2001,", "\nnone,").replace("\n2000,", "\nnone,");
    let b = (0..40).fold(b, |text, n| text + &format!("none,{n}\n"));
    let mut expected = None;
    for (threads, block_size) in WAYS {
        let mut lab = Lab::new(&[("a.csv", &rows("a", 4_000)), ("b.csv", &b), ("c.csv", &rows("c", 9_000))]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let message = lab.failure(&pipeline(&nodes));
        assert!(message.contains("E368") && message.contains("source `b`"), "{message}");
        let kept = lab.names().into_iter().find(|name| name.starts_with("dlq")).expect("they are kept");
        let text = crate::support::settled(&lab.read(&kept));
        assert!(text.lines().count() > 40 + 43 + 30, "those of both inputs are there: {text}");
        assert!(expected.get_or_insert_with(|| text.clone()) == &text, "{threads} threads, blocks of {block_size}");
    }
}

/// Columns of all kinds, decimals with other places, other undeclared fields in each file, and lists.
#[test]
fn columns_of_all_kinds_come_through() {
    let schema = |places: &str| {
        format!(
            "schema: [{{ name: n, type: {{ nullable: int }} }}, {{ name: f, type: {{ nullable: float }} }}, \
             {{ name: b, type: {{ nullable: bool }} }}, {{ name: d, type: {{ nullable: date }} }}, \
             {{ name: t, type: {{ nullable: date_time }} }}, \
             {{ name: m, type: {{ nullable: decimal }}{places} }}, {{ name: s, type: string }}]"
        )
    };
    let source = |name: &str, places: &str| {
        let schema = schema(places);
        format!("  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, {schema} }} }}\n")
    };
    let split = |name: &str, input: &str| transform(name, input, r#"emit parts = s.split(" ")"#);
    let nodes = [
        source("a", ", scale: 2"),
        source("b", ", scale: 4"),
        split("c", "a"),
        split("d", "b"),
        merge("m", "c, d", "interleave"),
        transform("e", "m", "emit parts = parts.length()"),
        sink("out", "e"),
    ];
    let header = "n,f,b,d,t,m,s";
    let row = |n: usize, m: &str| match n % 4 {
        0 => ",,,,,,".to_string(),
        _ => format!(
            "{n},{}.5,{},2024-02-{:02},2024-02-{:02}T10:00:00,{m},{} of some words that are long",
            n % 7,
            n.is_multiple_of(3),
            n % 28 + 1,
            n % 28 + 1,
            "word ".repeat(n % 5).trim_end(),
        ),
    };
    let a: Vec<String> = (0..500).map(|n| row(n, &format!("{n}.25"))).collect();
    let b: Vec<String> = (0..400).map(|n| row(n + 3, &format!("{n}.1250"))).collect();
    let parts = |row: &String| match row.split(',').nth(6).expect("a text") {
        "" => 1,
        text => text.split(' ').count(),
    };
    let written = |row: &String, undeclared: String| format!("{row},{},{undeclared}", parts(row));
    let inputs = [
        a.iter().enumerate().map(|(n, row)| written(row, format!("left {n},"))).collect(),
        b.iter().enumerate().map(|(n, row)| written(row, format!(",right {n}"))).collect(),
    ];
    let expected = in_turn(&inputs).replacen("id,v", &format!("{header},parts,left,right"), 1);
    let file = |rows: &[String], more: &str| {
        let rows = rows.iter().enumerate().map(|(n, row)| format!("{row},{more} {n}\n"));
        format!("{header},{more}\n{}", rows.collect::<String>())
    };
    for (threads, block_size) in WAYS {
        for batch_size in [1, 7, 2048] {
            let mut lab = Lab::new(&[("a.csv", &file(&a, "left")), ("b.csv", &file(&b, "right"))]);
            (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
            lab.run(&pipeline(&nodes)).expect("the run completes");
            assert_eq!(lab.read("out.csv"), expected, "{threads} threads, blocks of {block_size}");
        }
    }
}

/// Aggregates that stream bring a last row behind their last block.
#[test]
fn groups_of_aggregates_that_stream_take_turns() {
    let ordered = |name: &str| source(name).replace("schema:", "sort_order: [id], schema:");
    let aggregate = |name: &str, input: &str| {
        format!(
            "  - {{ type: aggregate, name: {name}, input: {input}, config: {{ group_by: [id], strategy: streaming, \
             cxl: 'emit v = max(v)' }} }}\n"
        )
    };
    let nodes = [
        ordered("a"),
        ordered("b"),
        aggregate("c", "a"),
        aggregate("d", "b"),
        merge("m", "c, d", "interleave"),
        merge("only", "m", "interleave"),
        sink("out", "only"),
    ];
    let groups = |name: &str, count: usize| {
        let rows = (1..=count).flat_map(|n| (0..n % 5).map(move |k| (n, k)));
        rows.fold("id,v\n".to_string(), |text, (n, k)| text + &format!("{n},{name}{k}\n"))
    };
    let last = |name: &str, count: usize| {
        (1..=count).filter(|n| n % 5 > 0).map(|n| format!("{n},{name}{}", n % 5 - 1)).collect::<Vec<_>>()
    };
    let expected = in_turn(&[last("a", 900), last("b", 333)]);
    for (threads, block_size) in WAYS {
        let mut lab = Lab::new(&[("a.csv", &groups("a", 900)), ("b.csv", &groups("b", 333))]);
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        let report = lab.run(&pipeline(&nodes)).expect("the run completes");
        assert_eq!(lab.read("out.csv"), expected, "{threads} threads, blocks of {block_size}");
        assert_eq!(report.written, 720 + 267);
        assert!(report.consumers.iter().all(|consumer| consumer.spilled.raw == 0), "{:?}", report.consumers);
    }
}

/// However many inputs there are, each brings a row in its turn.
#[test]
fn many_inputs_take_turns() {
    let names: Vec<String> = (0..120).map(|n| format!("s{n}")).collect();
    let nodes = names.iter().map(|name| source(name));
    let nodes: Vec<String> = nodes.chain([merge("m", &names.join(", "), "interleave"), sink("out", "m")]).collect();
    let counts = |n: usize| 7 * n % 50;
    let inputs: Vec<_> = names.iter().enumerate().map(|(n, name)| numbered(name, 1..=counts(n))).collect();
    for (threads, block_size) in WAYS {
        let mut lab = Lab::new(&[]);
        names.iter().enumerate().for_each(|(n, name)| lab.write(&format!("{name}.csv"), rows(name, counts(n))));
        (lab.options.threads, lab.options.block_size) = (threads, block_size);
        lab.run(&pipeline(&nodes)).expect("the run completes");
        assert!(lab.read("out.csv") == in_turn(&inputs), "{threads} threads, blocks of {block_size}");
    }
}
