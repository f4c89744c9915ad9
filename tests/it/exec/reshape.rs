//! Reshapes: rows and dead letters against a naive model, whatever the workers, blocks, batches and memory.

use std::collections::BTreeMap;

use clinker::exec::Report;
use proptest::prelude::*;

use super::lab::Lab;
use crate::support::{assert_snapshot, settled};

const SCHEMA: &str = "[ { name: tag, type: string }, { name: lot, type: nullable(int) }, \
                      { name: amt, type: nullable(int) }, { name: seq, type: int }, { name: note, type: nullable(string) } ]";

#[derive(Clone, PartialEq, Debug)]
struct Row {
    tag: Option<&'static str>,
    lot: Option<i64>,
    amt: Option<i64>,
    seq: i64,
    note: Option<&'static str>,
}

/// What a rule makes of the row that triggers it, or why it fails.
type Add = fn(&Row) -> Result<Row, &'static str>;

/// What a rule does to the row that triggers it.
type Set = fn(&mut Row);

/// A rule, and what it does to a row that triggers it.
struct Rule {
    text: &'static str,
    /// Whether it is triggered, or fails.
    when: fn(&Row) -> Result<bool, &'static str>,
    /// What it sets: the column and the change.
    set: Option<(&'static str, Set)>,
    /// The row that it adds, or a failure.
    add: Option<Add>,
}

const RULES: [Rule; 7] = [
    Rule {
        text: "{ name: NAME, when: \"amt > 5\", mutate: { set: { amt: \"amt - 5\" } } }",
        when: |row| Ok(row.amt.is_some_and(|amt| amt > 5)),
        set: Some(("amt", |row| row.amt = row.amt.map(|amt| amt - 5))),
        add: None,
    },
    Rule {
        text: "{ name: NAME, when: \"lot == 1\", synthesize: { copy_from: trigger, overrides: { seq: \"seq + 1000\" } } }",
        when: |row| Ok(row.lot == Some(1)),
        set: None,
        add: Some(|row| Ok(Row { seq: row.seq + 1000, ..row.clone() })),
    },
    Rule {
        text: "{ name: NAME, when: \"amt < 3\", mutate: { set: { note: \"'low'\" } }, synthesize: { copy_from: none, \
               overrides: { tag: tag, lot: lot, amt: \"0 - seq\", seq: seq, note: \"null\" } } }",
        when: |row| Ok(row.amt.is_some_and(|amt| amt < 3)),
        set: Some(("note", |row| row.note = Some("low"))),
        add: Some(|row| Ok(Row { amt: Some(-row.seq), note: None, ..row.clone() })),
    },
    Rule {
        text: "{ name: NAME, when: \"seq % 7 == 0\", mutate: { set: { note: \"'seventh'\" } } }",
        when: |row| Ok(row.seq % 7 == 0),
        set: Some(("note", |row| row.note = Some("seventh"))),
        add: None,
    },
    Rule {
        text: "{ name: NAME, when: \"10 / (amt - 7) > 4\", synthesize: { copy_from: trigger, overrides: { note: \"'near'\" } } }",
        when: |row| match row.amt {
            Some(7) => Err("division by zero"),
            Some(amt) => Ok(10 / (amt - 7) > 4),
            None => Ok(false),
        },
        set: None,
        add: Some(|row| Ok(Row { note: Some("near"), ..row.clone() })),
    },
    Rule {
        text: "{ name: NAME, when: \"lot == 2\", synthesize: { copy_from: trigger, overrides: { amt: \"6 / (seq % 5)\" } } }",
        when: |row| Ok(row.lot == Some(2)),
        set: None,
        add: Some(|row| match row.seq % 5 {
            0 => Err("division by zero"),
            rest => Ok(Row { amt: Some(6 / rest), ..row.clone() }),
        }),
    },
    Rule {
        text: "{ name: NAME, when: \"tag == 'a' or lot == 0\", mutate: { set: { note: \"if note == 'n' then null else note\" } } }",
        when: |row| Ok(row.tag == Some("a") || row.lot == Some(0)),
        set: Some(("note", |row| row.note = row.note.filter(|note| *note != "n"))),
        add: None,
    },
];

fn pipeline(partition_by: &str, order_by: &str, rules: &[usize], limit: &str) -> String {
    let rules: String = (0..)
        .zip(rules)
        .map(|(n, rule)| format!("        - {}\n", RULES[*rule].text.replace("NAME", &format!("r{n}"))))
        .collect();
    format!(
        "pipeline: {{ name: p, memory: {{ limit: {limit}, backpressure: spill }} }}\nnodes:\n  - type: source\n    name: rows\n    \
         config: {{ type: csv, path: rows.csv, schema: {SCHEMA} }}\n  - type: transform\n    name: blanks\n    input: rows\n    \
         config: {{ cxl: \"emit tag = if tag == 'null' then null else tag\" }}\n  - type: reshape\n    name: shape\n    \
         input: blanks\n    config:\n      partition_by: [{partition_by}]\n      order_by: [{order_by}]\n      rules:\n{rules}  \
         - {{ type: sink, name: out, input: shape, config: {{ type: csv, path: out.csv }} }}\n"
    )
}

const CONTINUE: &str = "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";

fn csv(rows: &[Row], blank: &str) -> String {
    let cell = |value: Option<i64>| value.map_or(String::new(), |value| value.to_string());
    let line = |row: &Row| {
        let (tag, note) = (row.tag.unwrap_or(blank), row.note.unwrap_or_default());
        format!("{tag},{},{},{},{note}\n", cell(row.lot), cell(row.amt), row.seq)
    };
    "tag,lot,amt,seq,note\n".to_string() + &rows.iter().map(line).collect::<String>()
}

/// The first failure of a row: stage and category.
fn failure(row: &Row, rules: &[usize]) -> Option<(String, &'static str)> {
    let triggered = |rule: &usize| RULES[*rule].when(row) == Ok(true);
    for (n, rule) in rules.iter().enumerate() {
        let rule = &RULES[*rule];
        match (rule.when)(row) {
            Err(_) => return Some((format!("reshape:shape:r{n}"), "type_error")),
            Ok(false) => continue,
            Ok(true) => {}
        }
        let sets = |other: &usize| {
            triggered(other)
                && RULES[*other].set.is_some_and(|(column, _)| rule.set.is_some_and(|(own, _)| own == column))
        };
        if let Some(earlier) = rules[..n].iter().position(sets) {
            return Some((format!("reshape:shape:r{earlier}+r{n}"), "mutation_conflict"));
        }
        if rule.add.is_some_and(|add| add(row).is_err()) {
            return Some((format!("reshape:shape:r{n}"), "type_error"));
        }
    }
    None
}

impl Rule {
    fn when(&self, row: &Row) -> Result<bool, &'static str> {
        (self.when)(row)
    }
}

/// What a group becomes, if no row fails.
fn reshaped(group: &[Row], rules: &[usize]) -> Vec<Row> {
    let mut out: Vec<Row> = group.to_vec();
    for row in &mut out {
        let original = row.clone();
        for rule in rules.iter().map(|rule| &RULES[*rule]).filter(|rule| rule.when(&original) == Ok(true)) {
            rule.set.iter().for_each(|(_, set)| set(row));
        }
    }
    for rule in rules.iter().map(|rule| &RULES[*rule]) {
        let triggers = group.iter().filter(|row| rule.when(row) == Ok(true));
        out.extend(triggers.filter_map(|row| rule.add.and_then(|add| add(row).ok())));
    }
    out
}

/// For each dead letter: row, category, stage, and the row of its trigger.
type Letters = Vec<(i64, String, String, i64)>;

fn letters(text: &str) -> Letters {
    let text = settled(text);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().expect("a header").clone();
    let at = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    let (id, trigger, row) = (at("_cxl_dlq_id"), at("_cxl_dlq_trigger_id"), at("seq"));
    let (category, stage) = (at("_cxl_dlq_error_category"), at("_cxl_dlq_stage"));
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("CSV")).collect();
    let rows: BTreeMap<&str, i64> =
        records.iter().map(|record| (&record[id], record[row].parse().expect("a number"))).collect();
    records
        .iter()
        .map(|record| (rows[&record[id]], record[category].into(), record[stage].into(), rows[&record[trigger]]))
        .collect()
}

/// What a naive reshape gives: rows, and dead letters.
fn model(rows: &[Row], keys: usize, order: usize, rules: &[usize]) -> (Vec<Row>, Letters) {
    let tag = |row: &Row| row.tag.filter(|tag| !tag.is_empty());
    let key = |row: &Row| match keys {
        0 => (None, None),
        1 => (tag(row), None),
        2 => (None, row.lot),
        _ => (tag(row), row.lot),
    };
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| key(&group[0]) == key(row)) {
            Some(group) => group.push(row.clone()),
            None => groups.push(vec![row.clone()]),
        }
    }
    let (mut out, mut lost) = (Vec::new(), Vec::new());
    for group in &mut groups {
        let first = group.iter().find_map(|row| failure(row, rules).map(|_| row.seq));
        if let Some(first) = first {
            lost.extend(group.iter().map(|row| match failure(row, rules) {
                Some((stage, category)) => (row.seq, category.into(), stage, row.seq),
                None => (row.seq, "correlated".into(), "correlation_commit".into(), first),
            }));
            continue;
        }
        group.sort_by_key(|row| {
            let amt = row.amt.map_or(i64::MAX, |amt| if order == 2 { -amt } else { amt });
            if order == 0 { 0 } else { amt }
        });
        out.extend(reshaped(group, rules));
    }
    lost.sort();
    (out, lost)
}

fn row() -> impl Strategy<Value = (Option<&'static str>, Option<i64>, Option<i64>, Option<&'static str>)> {
    let long = "a longer text than a view has room for";
    let tag = prop_oneof![Just(None), Just(Some("")), Just(Some("a")), Just(Some("b")), Just(Some(long))];
    (
        tag,
        prop::option::of(0_i64..4),
        prop::option::of(0_i64..12),
        prop_oneof![Just(None), Just(Some("n")), Just(Some(long))],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn rows_and_dead_letters_are_those_of_a_naive_model(
        rows in prop::collection::vec(row(), 0..250),
        picked in prop::collection::vec(0..RULES.len(), 1..4),
        (keys, order) in (0_usize..4, 0_usize..3),
        (threads, block_size, batch_size) in (prop::sample::select(vec![1_usize, 2, 7]), 64_usize..2000, 1_usize..40),
        starving in any::<bool>(),
    ) {
        let rows: Vec<Row> = rows
            .into_iter()
            .zip(1..)
            .map(|((tag, lot, amt, note), seq)| Row { tag, lot, amt, seq, note })
            .collect();
        let mut picked = picked;
        picked.sort_unstable();
        picked.dedup();
        let (out, lost) = model(&rows, keys, order, &picked);
        let mut lab = Lab::new(&[("rows.csv", &csv(&rows, "null"))]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        let partition_by = ["", "tag", "lot", "tag, lot"][keys];
        let order_by = ["", "amt", "{ field: amt, order: desc }"][order];
        let limit = if starving { "40K" } else { "64M" };
        let text = pipeline(partition_by, order_by, &picked, limit);
        match lab.run(&(text.clone() + CONTINUE)) {
            Ok(report) => {
                prop_assert_eq!(lab.read("out.csv"), csv(&out, ""));
                prop_assert_eq!(letters(&lab.read("dlq.csv")), lost.clone());
                prop_assert_eq!(report.dlq, lost.len() as u64);
            }
            // A group that is more than the whole limit.
            Err(failure) => prop_assert!(starving && failure.exit_code == 1, "{:?}", failure),
        }
        match lab.run(&text) {
            Ok(_) => {
                prop_assert!(lost.is_empty());
                prop_assert_eq!(lab.read("out.csv"), csv(&out, ""));
            }
            Err(failure) if failure.exit_code == 3 => prop_assert!(!lost.is_empty()),
            Err(failure) => prop_assert!(starving && failure.exit_code == 1, "{:?}", failure),
        }
    }
}

/// Many rows in groups of all sizes, some of which fail: what is on disk, and in which runs, never shows.
#[test]
fn rows_of_all_groups_need_not_fit() {
    let notes = ["n", "a note that takes some room in memory", ""];
    let row = |n: i64| {
        let amt = Some(n * 7919 % 12).filter(|amt| *amt != 7 || n % 397 == 0);
        let note = Some(notes[(n % 3) as usize]).filter(|note| !note.is_empty());
        Row {
            tag: [Some("a"), Some("b"), None, Some("c")][(n * n % 7 % 4) as usize],
            lot: Some(n % 60),
            amt,
            seq: n,
            note,
        }
    };
    let rows: Vec<Row> = (1..5000).map(row).collect();
    for (rules, order, fails) in [(vec![0, 1, 2], 0, false), (vec![0, 1, 4], 1, true), (vec![2, 5, 6], 2, true)] {
        let order_by = ["", "amt", "{ field: amt, order: desc }"][order];
        let (out, lost) = model(&rows, 3, order, &rules);
        assert_eq!(!lost.is_empty() && !out.is_empty(), fails);
        for (limit, threads, block_size) in
            [("64M", 2, 1 << 17), ("200K", 1, 1 << 12), ("120K", 2, 1 << 11), ("120K", 7, 1 << 17)]
        {
            let mut lab = Lab::new(&[("rows.csv", &csv(&rows, "null"))]);
            (lab.options.threads, lab.options.block_size) = (threads, block_size);
            let report = lab.run(&(pipeline("tag, lot", order_by, &rules, limit) + CONTINUE));
            let report = report.unwrap_or_else(|failure| panic!("{limit}, {rules:?}: {failure:?}"));
            assert_eq!(spilled(&report) > 0, limit != "64M", "{report:?}");
            assert!(lab.read("out.csv") == csv(&out, ""), "{limit}, {rules:?}");
            assert!(letters(&lab.read("dlq.csv")) == lost, "{limit}, {rules:?}");
        }
    }
}

fn spilled(report: &Report) -> u64 {
    let rows = report.consumers.iter().filter(|consumer| consumer.name == "reshape.shape");
    rows.map(|consumer| consumer.spilled.raw).sum()
}

#[test]
fn what_does_not_fit_is_named() {
    let mut text = String::new();
    let few: String = (0..4000).map(|row| format!("tag{},1,1,{row},\n", row / 3900)).collect();
    let many: String = (0..9000).map(|row| format!("{row},1,1,{row},\n")).collect();
    let cases = [
        ("many groups", "tag", &many, "300000"),
        ("a large group", "tag", &few, "100000"),
        ("one group", "", &few, "100000"),
        ("a very small limit", "tag", &few, "8192"),
    ];
    for (name, partition_by, rows, limit) in cases {
        let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq,note\n{rows}"))]);
        (lab.options.threads, lab.options.block_size) = (1, 4096);
        text += &format!("--- {name}\n{}\n", lab.failure(&pipeline(partition_by, "", &[0], limit)));
        assert_eq!(lab.names(), ["rows.csv"], "{name}: nothing is left behind");
    }
    assert_snapshot("exec/reshape_does_not_fit", &text);
}
