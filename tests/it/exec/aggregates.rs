//! Aggregates: rows against a naive model, and the same bytes whatever the memory, the workers, blocks and batches.

use proptest::prelude::*;

use super::lab::Lab;

const SCHEMA: &str = "[ { name: tag, type: string }, { name: lot, type: nullable(int) }, \
                      { name: amt, type: nullable(int) }, { name: seq, type: int } ]";

const MEMORY: &str = "pipeline: { name: p, memory: { backpressure: spill } }\n";

/// A pipeline that groups the rows of `rows.csv`. The text `null` is null.
fn pipeline(group_by: &str, cxl: &str) -> String {
    let cxl: String = cxl.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "{MEMORY}nodes:\n  - {{ type: source, name: rows, config: {{ type: csv, path: rows.csv, schema: {SCHEMA} }} }}\n  \
         - {{ type: transform, name: blanks, input: rows, config: {{ cxl: \"emit tag = if tag == 'null' then null else \
         tag\" }} }}\n  - type: aggregate\n    name: totals\n    input: blanks\n    config:\n      group_by: \
         [{group_by}]\n      strategy: hash\n      cxl: |\n{cxl}  - {{ type: sink, name: out, input: totals, config: \
         {{ type: csv, path: out.csv }} }}\n"
    )
}

#[derive(Clone, PartialEq, Debug)]
struct Row {
    tag: Option<&'static str>,
    lot: Option<i64>,
    amt: Option<i64>,
    seq: usize,
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn csv(rows: &[Row]) -> String {
    let line = |row: &Row| format!("{},{},{},{}\n", row.tag.unwrap_or("null"), cell(row.lot), cell(row.amt), row.seq);
    "tag,lot,amt,seq\n".to_string() + &rows.iter().map(line).collect::<String>()
}

const CXL: &str = "let double = amt * 2
filter (amt ?? 0) != 5
emit rows = count(*)
emit counted = count(amt)
emit total = sum(double)
emit least = min(amt)
emit greatest = max(amt)
emit spread = max(amt) - min(amt)
emit seen = collect(seq).length()
emit order = collect(seq.to_string()).join(' ')
emit mean = avg(amt)";

/// What the cells of a group are, its key aside.
fn results(rows: &[Row]) -> String {
    let amounts: Vec<i64> = rows.iter().filter_map(|row| row.amt).collect();
    let (least, greatest) = (amounts.iter().min(), amounts.iter().max());
    let sum: i64 = amounts.iter().sum();
    let some = !amounts.is_empty();
    let order: Vec<String> = rows.iter().map(|row| row.seq.to_string()).collect();
    let mean = some.then(|| format!("{}", sum as f64 / amounts.len() as f64));
    let cells = [
        rows.len().to_string(),
        amounts.len().to_string(),
        cell(some.then_some(2 * sum)),
        cell(least),
        cell(greatest),
        cell(greatest.map(|greatest| greatest - least.expect("there is one"))),
        rows.len().to_string(),
        order.join(" "),
        cell(mean),
    ];
    cells.join(",")
}

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
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_a_naive_model(
        rows in prop::collection::vec(row(), 0..80),
        keys in 0_usize..4,
        (threads, block_size, batch_size) in (1_usize..4, 64_usize..600, 1_usize..12),
        limit in prop_oneof![Just(64 << 20), 20_000_u64..60_000],
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
        if keys == 0 {
            groups.push(Vec::new());
        }
        for row in rows.iter().filter(|row| row.amt != Some(5)) {
            match groups.iter_mut().find(|group| group.first().is_none_or(|first| key(first) == key(row))) {
                Some(group) => group.push(row.clone()),
                None => groups.push(vec![row.clone()]),
            }
        }
        let (group_by, header) = [("", ""), ("tag", "tag,"), ("lot", "lot,"), ("tag, lot", "tag,lot,")][keys];
        let mut expected = format!("{header}rows,counted,total,least,greatest,spread,seen,order,mean\n");
        for group in &groups {
            let tag = |row: &Row| format!("{},", cell(row.tag));
            let lot = |row: &Row| format!("{},", cell(row.lot));
            let key = match keys {
                0 => String::new(),
                1 => tag(&group[0]),
                2 => lot(&group[0]),
                _ => tag(&group[0]) + &lot(&group[0]),
            };
            expected += &format!("{key}{}\n", results(group));
        }
        let mut lab = Lab::new(&[("rows.csv", &csv(&rows))]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        lab.memory_limit = Some(limit);
        let report = lab.run(&pipeline(group_by, CXL)).expect("the run completes");
        prop_assert_eq!(lab.read("out.csv"), expected);
        prop_assert_eq!((report.total, report.ok), (rows.len() as u64, 0), "no row that was read");
        prop_assert_eq!((report.made, report.written), (groups.len() as u64, groups.len() as u64));
    }
}

/// Rows of every type, of some hundred groups, a few of which have very many rows.
fn table(count: usize) -> String {
    let mut text = "name,lot,amt,f,d,day\n".to_string();
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for _ in 0..count {
        let group = if next() % 3 == 0 { next() % 4 } else { next() % 400 };
        let amt = if next() % 7 == 0 { String::new() } else { (next() as i64 % 1000).to_string() };
        let f = [format!("{}", (next() % 8) as f64 / 4.0), "-0.0".into(), "0.0".into(), String::new()];
        let d = [format!("{}.{}", next() % 5, next() % 2), format!("{}.00", next() % 5), String::new()];
        let (f, d) = (&f[(next() % 4) as usize], &d[(next() % 3) as usize]);
        text +=
            &format!("name of group {group},{},{amt},{f},{d},20{:02}-01-0{}\n", group % 9, group % 50, 1 + next() % 3);
    }
    text
}

const TYPED: &str = "[ { name: name, type: string }, { name: lot, type: nullable(int) }, { name: amt, type: \
                     nullable(int) }, { name: f, type: nullable(float) }, { name: d, type: nullable(decimal) }, { \
                     name: day, type: date } ]";

fn typed(group_by: &str, cxl: &str) -> String {
    pipeline(group_by, cxl).replace(SCHEMA, TYPED).replace("emit tag = if tag == 'null' then null else tag", MIXED)
}

/// A column with values of all types, some of which are equal numbers.
const MIXED: &str =
    "emit f = f * 1.0\\nemit mixed = match lot % 6 { 0 => f, 1 => d, 2 => day, 3 => lot / 9, 4 => amt > 9, _ => name }";

const EVERYTHING: &str = "emit rows = count(*)
emit amt_sum = sum(amt)
emit amt_mean = avg(amt)
emit f_sum = sum(f)
emit f_mean = avg(f)
emit f_min = min(f)
emit d_sum = sum(d)
emit d_max = max(d)
emit d_min = min(d)
emit d_mean = avg(d)
emit last = max(day)
emit first = min(name)
emit weight = weighted_avg(amt, lot)
emit listed = collect(amt).length()
emit list = collect(amt.to_string()).join(' ')";

#[test]
fn the_memory_limit_never_shows() {
    let text = table(6_000);
    for group_by in ["name", "name, day", "f", "d", "mixed", "lot, f, d, day", ""] {
        let mut expected = None;
        // A few groups would have lists as long as the table.
        let has_many = group_by.contains(',') || group_by == "name";
        let lines = EVERYTHING.lines().filter(|line| has_many || !line.contains("collect"));
        let cxl = lines.collect::<Vec<_>>().join("\n");
        let settings =
            [(1 << 30, 1, 1 << 18, 2048), (200_000, 2, 20_000, 100), (110_000, 7, 3_000, 7), (140_000, 1, 9_000, 1000)];
        for (limit, threads, block_size, batch_size) in settings {
            let mut lab = Lab::new(&[("rows.csv", &text)]);
            (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
            lab.memory_limit = Some(limit);
            let report =
                lab.run(&typed(group_by, &cxl)).unwrap_or_else(|failure| panic!("{group_by} {limit} {failure:?}"));
            let out = lab.read("out.csv");
            assert!(expected.get_or_insert_with(|| out.clone()) == &out, "{group_by} {limit}");
            let [consumer] = report.consumers.as_slice() else { panic!("{:?}", report.consumers) };
            assert_eq!(consumer.name, "aggregation.totals");
            if has_many || limit == 1 << 30 {
                assert_eq!(consumer.spilled.raw > 0, limit < 1 << 30, "{group_by} {limit}");
            }
            assert!((1..=limit).contains(&consumer.peak_reserved), "{}", consumer.peak_reserved);
            assert_eq!((report.ok, report.made), (0, report.written));
            assert_eq!(lab.names(), ["out.csv", "rows.csv"], "nothing is left behind");
        }
    }
}

#[test]
fn far_more_groups_than_fit_come_in_the_order_of_their_first_rows() {
    let groups = 20_000;
    // Each group twice, the second time in another order, and some once more at the end.
    let numbers = (0..groups).chain((0..groups).map(|n| n * 7919 % groups)).chain((0..groups).step_by(10));
    let rows: String = numbers.map(|n| format!("group {n},{},{},{n}\n", n % 2, n % 100)).collect();
    let mut expected = "tag,rows,total,list\n".to_string();
    for n in 0..groups {
        let rows = 2 + usize::from(n % 10 == 0);
        expected += &format!("group {n},{rows},{},{}\n", rows * (n % 100), vec![n.to_string(); rows].join(" "));
    }
    for (limit, threads) in [(64 << 10, 1), (100 << 10, 4)] {
        let mut lab = Lab::new(&[("rows.csv", &format!("tag,lot,amt,seq\n{rows}"))]);
        (lab.options.threads, lab.options.block_size, lab.memory_limit) = (threads, 20_000, Some(limit));
        let cxl = "emit rows = count(*)\nemit total = sum(amt)\nemit list = collect(seq.to_string()).join(' ')";
        let report = lab.run(&pipeline("tag", cxl)).expect("the run completes");
        assert!(lab.read("out.csv") == expected, "{limit}");
        let [consumer] = report.consumers.as_slice() else { panic!("{:?}", report.consumers) };
        assert!((1..=limit).contains(&consumer.peak_reserved), "{}", consumer.peak_reserved);
        assert!(consumer.spilled.raw > 3 * expected.len() as u64, "parts were divided again: {:?}", consumer.spilled);
    }
}
