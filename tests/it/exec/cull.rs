//! Culls: both ports against a naive model, whatever the workers, blocks and batches; and what stops a run.

use proptest::prelude::*;

use super::lab::Lab;
use crate::support::assert_snapshot;

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

#[test]
fn what_stops_a_cull() {
    let large = i64::MAX;
    let rows = format!("tag,lot,amt,seq\na,1,{large},1\nb,1,1,2\na,1,{large},3\nb,,0,4\nnull,2,7,5\n");
    let cases = [
        ("a sum that overflows", "tag", "sum(amt) > 5"),
        ("a rule that fails", "tag, lot", "count(*) / count(lot) > 5"),
        ("a rule that fails for the whole input", "", "count(*) / (count(lot) - 4) > 5"),
        ("an argument that fails", "tag", "sum(10 / amt) > 5"),
        ("an argument that can't be converted", "lot", "max(tag.to_int()) > 5"),
    ];
    let mut text = String::new();
    for (name, partition_by, rule) in cases {
        for strategy in ["fail_fast", "continue"] {
            let lab = Lab::new(&[("rows.csv", &rows)]);
            let handling = match strategy {
                "continue" => "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n",
                _ => "",
            };
            let failure = lab.failure(&(pipeline(partition_by, "", &[rule], false) + handling));
            if strategy == "fail_fast" {
                text += &format!("--- {name}\n{failure}\n");
            } else {
                assert!(failure.contains("exit 3"), "{name}: {failure}");
            }
            assert_eq!(lab.names(), ["rows.csv"], "{name}: nothing is left behind");
        }
    }
    assert_snapshot("exec/cull_failures", &text);
}

/// A group that an earlier rule removes is not asked for by later ones.
#[test]
fn rules_are_asked_in_order() {
    let lab = Lab::new(&[("rows.csv", "tag,lot,amt,seq\na,,1,1\nb,1,1,2\n")]);
    let rules = ["count(lot) == 0", "count(*) / count(lot) > 5"];
    lab.run(&pipeline("tag", "", &rules, false)).expect("the run completes");
    assert_eq!(lab.read("gone.csv"), "tag,lot,amt,seq\na,,1,1\n");
}

#[test]
fn what_does_not_fit_is_named() {
    let mut text = String::new();
    let few: String = (0..4000).map(|row| format!("tag{},1,1,{row}\n", row % 3)).collect();
    let many: String = (0..4000).map(|row| format!("{row},1,1,{row}\n")).collect();
    let rules = ["min(amt) + max(amt) + sum(seq) + min(seq) + max(seq) < 0", "avg(amt) + avg(seq) < 0.0"];
    let cases =
        [("rows", "tag", few.as_str(), 100_000), ("groups", "tag", &many, 300_000), ("one group", "", &few, 100_000)];
    for (name, partition_by, rows, limit) in cases {
        let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
        (lab.options.threads, lab.options.block_size) = (1, 4096);
        let memory = format!("pipeline: {{ name: p, memory: {{ limit: {limit}, backpressure: spill }} }}");
        let pipeline = pipeline(partition_by, "", &rules, false).replace("pipeline: { name: p }", &memory);
        text += &format!("--- {name}\n{}\n", lab.failure(&pipeline));
        assert_eq!(lab.names(), ["rows.csv"], "{name}: nothing is left behind");
    }
    assert_snapshot("exec/cull_does_not_fit", &text);
}
