//! Culls: both ports against a naive model, whatever the workers, blocks and batches; and what stops a run.

use proptest::prelude::*;

use super::lab::Lab;
use crate::support::{assert_snapshot, settled};

const SCHEMA: &str = "[ { name: tag, type: string }, { name: lot, type: nullable(int) }, \
                      { name: amt, type: nullable(int) }, { name: seq, type: int } ]";

fn pipeline(partition_by: &str, order_by: &str, rules: &[&str], through: bool) -> String {
    let rules: Vec<String> = rules
        .iter()
        .enumerate()
        .map(|(index, rule)| format!("        - {{ name: r{index}, drop_group_when: \"{rule}\" }}\n"))
        .collect();
    let (gone, transform) = match through {
        true => {
            ("passed", "  - { type: transform, name: passed, input: gate.gone, config: { cxl: \"emit seq = seq\" } }\n")
        }
        false => ("gate.gone", ""),
    };
    format!(
        "pipeline: {{ name: p }}\nnodes:\n  - type: source\n    name: rows\n    config: {{ type: csv, path: rows.csv, \
         schema: {SCHEMA} }}\n  - type: transform\n    name: blanks\n    input: rows\n    config: {{ cxl: \"emit tag = \
         if tag == 'null' then null else tag\" }}\n  - type: cull\n    name: gate\n    input: blanks\n    config:\n      \
         partition_by: [{partition_by}]\n      removed_to: gone\n      order_by: [{order_by}]\n      rules:\n{}\
         {transform}  - {{ type: sink, name: kept, input: gate, config: {{ type: csv, path: kept.csv }} }}\n  - {{ \
         type: sink, name: gone, input: {gone}, config: {{ type: csv, path: gone.csv }} }}\n",
        rules.concat()
    )
}

#[derive(Clone, PartialEq, Debug)]
struct Row {
    tag: Option<&'static str>,
    lot: Option<i64>,
    amt: Option<i64>,
    seq: usize,
}

fn csv(rows: &[Row], blank: &str) -> String {
    let cell = |value: Option<i64>| value.map_or(String::new(), |value| value.to_string());
    let line = |row: &Row| format!("{},{},{},{}\n", row.tag.unwrap_or(blank), cell(row.lot), cell(row.amt), row.seq);
    "tag,lot,amt,seq\n".to_string() + &rows.iter().map(line).collect::<String>()
}

/// A rule and what it means; null operands are `None`, which never removes.
type Rule = (&'static str, fn(&[Row]) -> Option<bool>);

fn amounts(rows: &[Row]) -> impl Iterator<Item = i64> + '_ {
    rows.iter().filter_map(|row| row.amt)
}

fn sum(rows: &[Row]) -> Option<i64> {
    amounts(rows).reduce(|sum, amt| sum + amt)
}

fn mean(rows: &[Row]) -> Option<f64> {
    Some(sum(rows)? as f64 / amounts(rows).count() as f64)
}

const RULES: [Rule; 13] = [
    ("count(*) > 3", |rows| Some(rows.len() > 3)),
    ("count(amt) == 1", |rows| Some(amounts(rows).count() == 1)),
    ("sum(amt) > 20", |rows| sum(rows).map(|sum| sum > 20)),
    ("not (max(amt) > 5)", |rows| amounts(rows).max().map(|max| max <= 5)),
    ("min(amt) == 7", |rows| amounts(rows).min().map(|min| min == 7)),
    ("min(amt) != 7 and count(*) > 1", |rows| amounts(rows).min().map(|min| min != 7 && rows.len() > 1)),
    ("avg(amt) >= 8.5", |rows| mean(rows).map(|mean| mean >= 8.5)),
    ("sum(if amt == 3 then 1 else 0) > 0", |rows| Some(amounts(rows).any(|amt| amt == 3))),
    ("collect(amt).length() > 4", |rows| Some(rows.len() > 4)),
    ("weighted_avg(amt, seq) < 2.0", |rows| {
        let valid = || rows.iter().filter(|row| row.amt.is_some());
        let weight: usize = valid().map(|row| row.seq).sum();
        let total: i64 = valid().filter_map(|row| Some(row.amt? * row.seq as i64)).sum();
        (weight > 0).then(|| total as f64 / (weight as f64) < 2.0)
    }),
    ("(max(amt) ?? -1) == -1 and max(tag) == 'b'", |rows| {
        rows[0].tag.map(|tag| tag == "b" && amounts(rows).max().is_none_or(|max| max == -1))
    }),
    ("max(lot) == null or max(amt) != null", |_| None),
    ("(if count(*) > 2 then min(seq) else 0) % 2 == 1", |rows| Some(rows.len() > 2 && rows[0].seq % 2 == 1)),
];

fn row() -> impl Strategy<Value = (Option<&'static str>, Option<i64>, Option<i64>)> {
    let tag = prop_oneof![
        Just(None),
        Just(Some("")),
        Just(Some("a")),
        Just(Some("b")),
        Just(Some("a longer text than a view"))
    ];
    (tag, prop::option::of(0_i64..3), prop::option::of(-2_i64..12))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn ports_are_those_of_a_naive_model(
        rows in prop::collection::vec(row(), 0..60),
        picked in prop::collection::vec(0..RULES.len(), 1..4),
        keys in 0_usize..4,
        order in 0_usize..4,
        (threads, block_size, batch_size) in (1_usize..4, 64_usize..600, 1_usize..12),
        through in any::<bool>(),
    ) {
        let rows: Vec<Row> = rows
            .into_iter()
            .enumerate()
            .map(|(index, (tag, lot, amt))| Row { tag, lot, amt, seq: index + 1 })
            .collect();
        let key = |row: &Row| match keys {
            0 => (None, None),
            1 => (Some(row.tag), None),
            2 => (None, Some(row.lot)),
            _ => (Some(row.tag), Some(row.lot)),
        };
        let mut groups: Vec<Vec<Row>> = Vec::new();
        for row in &rows {
            match groups.iter_mut().find(|group| key(&group[0]) == key(row)) {
                Some(group) => group.push(row.clone()),
                None => groups.push(vec![row.clone()]),
            }
        }
        let removed: Vec<bool> = groups
            .iter()
            .map(|group| picked.iter().any(|rule| {
                // A rule about the first tag is about a group with one tag only.
                let same = group.iter().map(|row| row.tag).max();
                let mut group = group.clone();
                group[0].tag = same.flatten();
                RULES[*rule].1(&group) == Some(true)
            }))
            .collect();
        let order_by = ["", "amt", "{ field: amt, order: desc }", "{ field: amt, order: asc }, { field: seq, order: desc }"][order];
        for group in &mut groups {
            group.sort_by_key(|row| {
                let amt = row.amt.map_or(i64::MAX, |amt| if order == 2 { -amt } else { amt });
                match order {
                    0 => (0, 0),
                    3 => (amt, -(row.seq as i64)),
                    _ => (amt, 0),
                }
            });
        }
        let of = |port: bool| -> Vec<Row> {
            groups.iter().zip(&removed).filter(|(_, removed)| **removed == port).flat_map(|(group, _)| group.clone()).collect()
        };
        let mut lab = Lab::new(&[("rows.csv", &csv(&rows, "null"))]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        let partition_by = ["", "tag", "lot", "tag, lot"][keys];
        let rules: Vec<&str> = picked.iter().map(|rule| RULES[*rule].0).collect();
        let text = pipeline(partition_by, order_by, &rules, through);
        lab.run(&text).unwrap_or_else(|failure| panic!("{failure:?}"));
        prop_assert_eq!(lab.read("kept.csv"), csv(&of(false), ""));
        prop_assert_eq!(lab.read("gone.csv"), csv(&of(true), ""));
    }
}

#[test]
fn lists_follow_the_order() {
    let rows = "tag,lot,amt,seq\na,1,5,1\nb,1,9,2\na,2,4,3\nb,2,8,4\na,3,,5\n";
    let lab = Lab::new(&[("rows.csv", rows)]);
    lab.run(&pipeline("tag", "amt", &["collect(seq).join('-') == '3-1-5'"], false)).expect("the run completes");
    assert_eq!(lab.read("gone.csv"), "tag,lot,amt,seq\na,2,4,3\na,1,5,1\na,3,,5\n");
    assert_eq!(lab.read("kept.csv"), "tag,lot,amt,seq\nb,2,8,4\nb,1,9,2\n");
}

/// Rules that can't be computed for some groups of [`failing_rows`]: a name, `partition_by`, and the rule.
const FAILING: [(&str, &str, &str); 5] = [
    ("a sum that overflows", "tag", "sum(amt) > 5"),
    ("a rule that fails", "tag, lot", "count(*) / count(lot) > 5"),
    ("a rule that fails for the whole input", "", "count(*) / (count(lot) - 4) > 5"),
    ("an argument that fails", "tag", "sum(10 / amt) > 5"),
    ("an argument that can't be converted", "lot", "max(tag.to_int()) > 5"),
];

fn failing_rows() -> String {
    let large = i64::MAX;
    format!("tag,lot,amt,seq\na,1,{large},1\nb,1,1,2\na,1,{large},3\nb,,0,4\nnull,2,7,5\n")
}

/// A list shows the order of its group also where rows are on disk: what orders them is part of what is decided on.
#[test]
fn lists_follow_the_order_of_rows_on_disk() {
    let note = "a note that takes much more room in memory than the number that is collected from the row ".repeat(3);
    let amount = |n: usize| n * 7919 % 1000;
    let rows: String = (0..3000).map(|n| format!("{note}{},{},{},{n}\n", n % 50, n % 50, amount(n))).collect();
    let lists = (0..50).map(|tag| {
        let mut group: Vec<usize> = (0..3000).filter(|n| n % 50 == tag).collect();
        group.sort_by_key(|n| (amount(*n), *n));
        let list = group.iter().map(usize::to_string).collect::<Vec<_>>().join("-");
        (group, list)
    });
    let lists: Vec<_> = lists.collect();
    let rule = format!("collect(seq).join('-') == '{}' or collect(seq).join('-') == '{}'", lists[7].1, lists[30].1);
    for (limit, spills) in [("64M", false), ("900K", true)] {
        let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
        lab.options.block_size = 1 << 13;
        let report = lab.run(&limited(&pipeline("tag", "amt", &[&rule], false), limit)).expect("the run completes");
        assert_eq!(report.consumers.iter().any(|consumer| consumer.spilled.raw > 0), spills, "{report:?}");
        let gone = lab.read("gone.csv");
        let sequence: Vec<&str> = gone.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
        assert_eq!(sequence.join("-"), format!("{}-{}", lists[7].1, lists[30].1));
    }
}

#[test]
fn what_stops_a_cull() {
    let mut text = String::new();
    for (name, partition_by, rule) in FAILING {
        let lab = Lab::new(&[("rows.csv", &failing_rows())]);
        text += &format!("--- {name}\n{}\n", lab.failure(&pipeline(partition_by, "", &[rule], false)));
        assert_eq!(lab.names(), ["rows.csv"], "{name}: nothing is left behind");
    }
    assert_snapshot("exec/cull_failures", &text);
}

/// Under `continue` a group that can't be decided on is lost alone: its first row is the trigger of all.
#[test]
fn groups_that_fail_become_dead_letters() {
    let mut text = String::new();
    for (name, partition_by, rule) in FAILING {
        for (threads, block_size, limit) in [(2, 1 << 20, "512M"), (1, 16, "16K")] {
            let mut lab = Lab::new(&[("rows.csv", &failing_rows())]);
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            let handling = "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
            let pipeline = limited(&pipeline(partition_by, "", &[rule], false), limit) + handling;
            let report = lab.run(&pipeline).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            let files = ["kept.csv", "gone.csv"].map(|file| format!("{file}\n{}", lab.read(file))).concat();
            let found = format!("--- {name}\n{files}dlq.csv\n{}\n", settled(&lab.read("dlq.csv")));
            assert_eq!(report.dlq + report.ok, 5, "{name}: each row ends somewhere");
            match limit {
                "512M" => text += &found,
                _ => assert!(text.ends_with(&found), "{name}: the same in small blocks: {found}"),
            }
        }
    }
    assert_snapshot("exec/cull_failed_groups", &text);
}

/// The first dead letter under `continue`: the number of its row, and its detail.
fn first_letter(letters: &str) -> (u64, String) {
    let mut reader = csv::Reader::from_reader(letters.as_bytes());
    let headers = reader.headers().expect("a header").clone();
    let first = reader.records().next().expect("a dead letter").expect("CSV");
    let at = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    assert_eq!(&first[at("_cxl_dlq_trigger")], "true", "a trigger stands first: {letters}");
    (first[at("_cxl_dlq_source_row")].parse().expect("a number"), first[at("_cxl_dlq_error_detail")].to_owned())
}

/// The group that ends a run is the one whose dead letters would come first, whatever is met first: of its rows the first
/// by source and number is the trigger, also where another order or another source comes first to the cull.
#[test]
fn the_first_failed_group_ends_the_run() {
    let source = |name: &str| {
        format!(
            "  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, schema: [ {{ name: k, type: \
             string }}, {{ name: t, type: string }} ] }} }}\n"
        )
    };
    let cull = |order: &str| {
        format!(
            "  - {{ type: cull, name: gate, input: both, config: {{ partition_by: [k], removed_to: gone, order_by: \
             [{order}], rules: [ {{ name: big, drop_group_when: \"sum(t.to_int()) > 8\" }} ] }} }}\n  - {{ type: sink, \
             name: out, input: gate, config: {{ type: csv, path: out.csv }} }}\n"
        )
    };
    let merge = |inputs: &str, mode: &str| {
        format!("  - {{ type: merge, name: both, inputs: [{inputs}], config: {{ mode: {mode} }} }}\n")
    };
    let handling = "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
    let (one, two) = ("k,t\nA,1\nB,2\nB,y\n\nA,4\nA,x\nC,9\n", "k,t\nC,z\nB,3\nA,2\nD,w\n");
    let mut text = String::new();
    for (inputs, mode, order) in [
        ("one, two", "concat", ""),
        ("two, one", "concat", "{ field: t, order: desc }"),
        ("two, one", "interleave", "t"),
    ] {
        let nodes = format!("{}{}{}{}", source("one"), source("two"), merge(inputs, mode), cull(order));
        let pipeline = format!("pipeline: {{ name: p }}\nnodes:\n{nodes}");
        let mut found = None;
        for (threads, block_size, batch_size) in [(1, 1 << 18, 2048), (4, 4, 1), (2, 13, 2)] {
            let mut lab = Lab::new(&[("one.csv", one), ("two.csv", two)]);
            (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
            let message = lab.failure(&pipeline);
            lab.run(&format!("{pipeline}{handling}")).expect("the run goes on");
            let letters = settled(&lab.read("dlq.csv"));
            let (row, detail) = first_letter(&letters);
            assert!(message.contains(&format!("the group begins with row {row} of one.csv")), "{message}{detail}");
            assert_eq!(found.get_or_insert_with(|| (message.clone(), letters.clone())), &(message, letters));
        }
        let (message, letters) = found.expect("it was run");
        text += &format!("--- {mode} of {inputs} by [{order}]\n{message}{letters}\n");
    }
    assert_snapshot("exec/cull_first_failure", &text);
}

fn limited(pipeline: &str, limit: &str) -> String {
    let memory = format!("pipeline: {{ name: p, memory: {{ limit: {limit}, backpressure: spill }} }}");
    pipeline.replace("pipeline: { name: p }", &memory)
}

/// A group that an earlier rule removes is not asked for by later ones.
#[test]
fn rules_are_asked_in_order() {
    let lab = Lab::new(&[("rows.csv", "tag,lot,amt,seq\na,,1,1\nb,1,1,2\n")]);
    let rules = ["count(lot) == 0", "count(*) / count(lot) > 5"];
    lab.run(&pipeline("tag", "", &rules, false)).expect("the run completes");
    assert_eq!(lab.read("gone.csv"), "tag,lot,amt,seq\na,,1,1\n");
}

/// Lists of texts that are full give back what they have to spare, which may be more than a row takes.
#[test]
fn what_is_kept_may_shrink_while_rows_come() {
    let tag = |n: usize| format!("a tag of some length that tells {n} from all others");
    let rows: String = (0..2500).map(|n| format!("{},1,1,{n}\n", tag(n))).collect();
    let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
    lab.batch_size = Some(1);
    for (partition_by, order_by, rule) in
        [("tag", "", "tag == 'none' or count(*) > 1"), ("lot", "tag", "collect(seq).length() < 2500")]
    {
        let report = lab.run(&pipeline(partition_by, order_by, &[rule], false)).expect("the run completes");
        assert_eq!(report.ok, 2500);
        assert_eq!(lab.read("kept.csv").lines().count(), 2501, "{rule}");
    }
}

/// What rules read of the key is held beside the keys and counts: texts, too, in a column of any type as well.
#[test]
fn what_rules_read_of_the_key_counts() {
    let tag = |n: usize| format!("a tag of some length that tells {n} from all others");
    let rows: String = (0..500).map(|n| format!("{},1,1,{n}\n", tag(n))).collect();
    let texts: usize = (0..500).map(|n| tag(n).len()).sum();
    let lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
    for tag in ["tag", "if seq < 0 then seq else tag"] {
        let peak = |rule: &str| {
            let text = pipeline("tag", "", &[rule], false).replace("if tag == 'null' then null else tag", tag);
            let report = lab.run(&text).expect("the run completes");
            report.consumers.iter().map(|consumer| consumer.peak_reserved).sum::<u64>()
        };
        let (unread, read) = (peak("count(*) > 9"), peak("tag != null and count(*) > 9"));
        assert!(read >= unread + texts as u64, "{tag}: {read} with the tags, {unread} without");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let mut text = String::new();
    let few: String = (0..4000).map(|row| format!("tag{},1,1,{row}\n", row / 3900)).collect();
    let many: String = (0..4000).map(|row| format!("{row},1,1,{row}\n")).collect();
    let rules = ["min(amt) + max(amt) + sum(seq) + min(seq) + max(seq) < 0", "avg(amt) + avg(seq) < 0.0"];
    let cases = [
        ("many groups", "tag", &many, "300000"),
        ("a large group", "tag", &few, "100000"),
        ("one group", "", &few, "100000"),
        ("a very small limit", "tag", &few, "8192"),
    ];
    for (name, partition_by, rows, limit) in cases {
        let mut messages = Vec::new();
        for (threads, block_size) in [(1, 4096), (7, 512), (2, 1 << 20)] {
            let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            let message = lab.failure(&limited(&pipeline(partition_by, "", &rules, false), limit));
            assert_eq!(lab.names(), ["rows.csv"], "{name}: nothing is left behind");
            messages.push(message);
        }
        text += &format!("--- {name}\n{}\n", messages[0]);
        assert!(messages.iter().all(|message| *message == messages[0]), "{name}: {messages:?}");
    }
    assert_snapshot("exec/cull_does_not_fit", &text);
}

/// Rows that take several times the limit, in groups of all sizes, one of which is much larger than the others: what is on
/// disk, and in which runs, never shows.
#[test]
fn rows_of_all_groups_need_not_fit() {
    let note = "a note that takes some room in memory";
    let row = |n: usize| match n {
        0..1700 => format!("giant,0,{},{n}\n", n * 7919 % 1000),
        _ => format!("tag{},{},{},{n}\n", n * n % 97 % (1 + n % 40), n % 3, n * 7919 % 1000),
    };
    let rows: String = (0..6000).map(row).collect();
    let rows = rows.replace("tag1,", &format!("{note},"));
    for order_by in ["", "amt", "{ field: amt, order: desc }"] {
        let rules = ["sum(amt) % 2 == 0", "count(*) > 300 and max(lot) == 1"];
        let text = pipeline("tag, lot", order_by, &rules, order_by.is_empty());
        let mut expected = None;
        for (limit, threads, block_size) in
            [("64M", 2, 1 << 17), ("256K", 1, 1 << 12), ("100K", 2, 1 << 11), ("100K", 7, 300), ("160K", 2, 1 << 20)]
        {
            let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            let report = lab.run(&limited(&text, limit)).unwrap_or_else(|failure| panic!("{limit}: {failure:?}"));
            let spilled = report.consumers.iter().map(|consumer| consumer.spilled.raw).sum::<u64>();
            assert_eq!(spilled > 0, limit != "64M", "{limit}: {report:?}");
            let found = (lab.read("kept.csv"), lab.read("gone.csv"));
            assert!(expected.get_or_insert_with(|| found.clone()) == &found, "{limit}, {order_by}");
        }
    }
}
