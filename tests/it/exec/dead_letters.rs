//! The dead-letter file: what it shows, in which order, and the ceilings on it.

use super::lab::Lab;
use crate::support::{assert_snapshot, settled};

const PARCELS: &str = r#"
pipeline: { name: parcels }
nodes:
  - type: source
    name: parcels
    config:
      type: csv
      path: parcels.csv
      schema:
        - { name: id, type: int }
        - { name: kilos, type: { nullable: int } }
        - { name: sent, type: { nullable: date } }
        - { name: note, type: string }
  - type: route
    name: by_weight
    input: parcels
    config:
      conditions: { heavy: "100 / (kilos - 7) > 3", light: "kilos > 0" }
      default: odd
  - type: transform
    name: price
    input: by_weight.light
    config:
      validations:
        - { check: not_empty, field: note, name: has_note, message: a note is wanted }
      cxl: |
        emit unit = 60 / (kilos - 3)
        emit id = id * 10
  - type: transform
    name: label
    input: price
    config: { cxl: "emit code = 1 / (unit - 30)" }
  - { type: sink, name: light, input: label, config: { type: csv, path: light.csv, mapping: [id, code], include_unmapped: false } }
  - { type: sink, name: heavy, input: by_weight.heavy, config: { type: csv, path: heavy.csv } }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
"#;

const PARCELS_CSV: &[u8] = b"id,kilos,sent,note,depot
1,40,2024-05-01,fine,north
2,7,2024-05-02,divides by zero in the route,north
3,3,2024-05-03,divides by zero in the transform,south
x4,5,2024-05-04,\"no number,
on two lines\",south
5,5,2024-05-05,divides by zero in the second transform,west
6,5
7,5,2024-05-07,one,two,three
8,5,2024-05-08,bad \xff byte,east
9,5,01.05.2024,no date,east
10,2,2024-05-10,,east
11,,2024-05-11,unread,east
12,1,2024-05-12,light,east
";

#[test]
fn dead_letters_tell_the_whole_story() {
    let lab = Lab::new(&[]);
    lab.write("parcels.csv", PARCELS_CSV);
    let report = lab.run(PARCELS).expect("the run completes");
    let files = ["dlq.csv", "light.csv", "heavy.csv"].map(|name| {
        let text = lab.read(name);
        format!("--- {name}\n{}", if name == "dlq.csv" { settled(&text) } else { text })
    });
    let counts = format!("{} total, {} ok, {} written, {} dlq", report.total, report.ok, report.written, report.dlq);
    assert_snapshot("exec/dead_letters", &format!("{}--- {counts}\n", files.concat()));
}

#[test]
fn a_file_without_dead_letters_has_its_header() {
    let lab = Lab::new(&[("parcels.csv", "id,kilos,sent,note\n"), ("dlq.csv", "yesterday's\n")]);
    let report = lab.run(PARCELS).expect("the run completes");
    assert_eq!(report.dlq, 0);
    let expected = "_cxl_dlq_id,_cxl_dlq_trigger_id,_cxl_dlq_timestamp,_cxl_dlq_source_file,_cxl_dlq_source_name,\
                    _cxl_dlq_source_row,_cxl_dlq_triggering_field,_cxl_dlq_triggering_value,\
                    _cxl_dlq_error_category,_cxl_dlq_error_detail,_cxl_dlq_stage,_cxl_dlq_route,_cxl_dlq_trigger,\
                    _cxl_dlq_raw,id,kilos,sent,note,unit,code\n";
    assert_eq!(lab.read("dlq.csv"), expected);
    assert_eq!(lab.read("light.csv"), "id,code\n");
    assert_eq!(lab.read("heavy.csv"), "id,kilos,sent,note\n");
}

#[test]
fn reason_and_row_can_be_left_out() {
    let lab = Lab::new(&[("parcels.csv", "id,kilos,sent,note\nx,1,,\n")]);
    let bare = PARCELS.replace("path: dlq.csv", "path: dlq.csv, include_reason: false, include_source_row: false");
    lab.run(&bare).expect("the run completes");
    let expected = "_cxl_dlq_id,_cxl_dlq_trigger_id,_cxl_dlq_timestamp,_cxl_dlq_source_file,_cxl_dlq_source_name,\
                    _cxl_dlq_source_row,_cxl_dlq_triggering_field,_cxl_dlq_triggering_value,_cxl_dlq_stage,\
                    _cxl_dlq_route,_cxl_dlq_trigger\nd1,d1,T,parcels.csv,parcels,1,id,x,source,,true\n";
    assert_eq!(settled(&lab.read("dlq.csv")), expected);
}

const TWO: &str = r#"
pipeline: { name: two }
nodes:
  - { type: source, name: a, config: { type: csv, path: a.csv, schema: [ { name: n, type: int } ] } }
  - { type: source, name: b, config: { type: csv, path: b.csv, schema: [ { name: m, type: int } ] } }
  - { type: sink, name: all_a, input: a, config: { type: csv, path: out_a.csv } }
  - { type: sink, name: all_b, input: b, config: { type: csv, path: out_b.csv } }
error_handling: { strategy: continue, DLQ }
"#;

fn two(errors: &str) -> String {
    TWO.replace("DLQ", errors)
}

#[test]
fn each_source_writes_to_its_own_file() {
    let lab = Lab::new(&[("a.csv", "n\n1\nx\n"), ("b.csv", "m\ny\n2\n")]);
    lab.run(&two("dlq: { path: all.csv, include_reason: false, per_source: { b: { path: b_dlq.csv } } }"))
        .expect("the run completes");
    assert!(settled(&lab.read("all.csv")).ends_with(",_cxl_dlq_raw,n\nd1,d1,T,a.csv,a,2,n,x,source,,true,x,x\n"));
    assert!(settled(&lab.read("b_dlq.csv")).ends_with(",_cxl_dlq_raw,m\nd1,d1,T,b.csv,b,1,m,y,source,,true,y,y\n"));
}

#[test]
fn sources_share_a_file_in_plan_order() {
    let lab = Lab::new(&[("a.csv", "n\n1\nx\n"), ("b.csv", "m\ny\n2\n")]);
    let report = lab.run(&two("dlq: { path: all.csv, include_reason: false }")).expect("the run completes");
    let all = settled(&lab.read("all.csv"));
    assert!(all.ends_with(
        ",_cxl_dlq_raw,n,m\nd1,d1,T,a.csv,a,2,n,x,source,,true,x,x,\nd2,d2,T,b.csv,b,1,m,y,source,,true,y,,y\n"
    ));
    let dead = report.outputs.iter().filter(|file| file.dead_letters).map(|file| (file.path.as_str(), file.rows));
    assert_eq!(dead.collect::<Vec<_>>(), [("all.csv", 2)]);
}

#[test]
fn without_a_path_dead_letters_are_only_counted() {
    let lab = Lab::new(&[("a.csv", "n\n1\nx\n"), ("b.csv", "m\ny\n2\n")]);
    let report = lab.run(&two("dlq: { per_source: { b: { path: b_dlq.csv } } }")).expect("the run completes");
    assert_eq!((report.dlq, report.total, report.ok), (2, 4, 2));
    assert_eq!(lab.names(), ["a.csv", "b.csv", "b_dlq.csv", "out_a.csv", "out_b.csv"]);
}

#[test]
fn too_many_dead_letters_stop_the_run() {
    let bad_every_second: String = (0..10).map(|n| if n % 2 == 0 { format!("{n}\n") } else { "x\n".into() }).collect();
    let lab = Lab::new(&[("a.csv", &format!("n\n{bad_every_second}")), ("b.csv", "m\n1\n2\n3\n4\ny\n")]);
    let cases = [
        "dlq: { path: d.csv, max_rate: 0.4, min_records: 15 }",
        "dlq: { path: d.csv, max_rate: 0.4, min_records: 16 }",
        "dlq: { path: d.csv, max_rate: 0.41, min_records: 1 }",
        "dlq: { path: d.csv, max_rate: 0.1, min_records: 1, per_source: { b: { max_rate: 0.2, min_records: 5 } } }",
        "dlq: { max_rate: 0.4, min_records: 1 }",
    ];
    let mut text = String::new();
    for case in cases {
        let outcome = match lab.run(&two(case)) {
            Ok(report) => format!("completes: {} of {} rows are dead letters\n", report.dlq, report.total),
            Err(_) => {
                assert!(!lab.path("out_a.csv").exists() && !lab.path("d.csv").exists(), "nothing is published");
                lab.failure(&two(case))
            }
        };
        text += &format!("--- {case}\n{outcome}");
        for name in ["out_a.csv", "out_b.csv", "d.csv"] {
            let _ = std::fs::remove_file(lab.path(name));
        }
    }
    text += &format!("--- d.csv.failed\n{}", settled(&lab.read("d.csv.failed")));
    assert_snapshot("exec/dead_letter_rates", &text);
    assert_eq!(lab.names(), ["a.csv", "b.csv", "d.csv.failed"]);
}

#[test]
fn the_type_error_threshold_counts_row_by_row() {
    let cases = [
        ("0.5", "1\nx\n", Ok(1)),                  // Exactly the threshold is fine.
        ("0.5", "x\n1\n1\n1\n", Err(1)),           // 1 of 1.
        ("0.34", "1\n1\nx\n1\nx\nx\nx\n", Err(2)), // 2 of 5, though 1 of 3 was fine.
        ("0", "1\n1\n", Ok(0)),
    ];
    for (threshold, rows, expected) in cases {
        for (block_size, batch_size) in [(1, 1), (4, 2), (1 << 20, 2048)] {
            let mut lab = Lab::new(&[("a.csv", &format!("n\n{rows}")), ("b.csv", "m\n")]);
            lab.options.block_size = block_size;
            lab.batch_size = Some(batch_size);
            let errors = format!("type_error_threshold: {threshold}, dlq: {{ path: d.csv }}");
            let failed = lab.run(&two(&errors)).map(|report| report.dlq).map_err(|failure| {
                assert_eq!(failure.exit_code, 3);
                lab.read("d.csv.failed").lines().count() as u64 - 1
            });
            assert_eq!(failed, expected, "threshold {threshold}, rows {rows:?}");
        }
    }
}

/// Rows reach `check` in another order than they have in their files.
const WAITING: &str = r#"
pipeline: { name: waiting }
nodes:
  - { type: source, name: one, config: { type: csv, glob: 'one/*.csv', schema: [ { name: n, type: int } ] } }
  - { type: source, name: two, config: { type: csv, path: two.csv, schema: [ { name: n, type: int } ] } }
  - { type: route, name: split, input: one, config: { conditions: { even: "n % 2 == 0" }, default: odd } }
  - { type: merge, name: all, inputs: [two, split.odd, split.even], config: { mode: concat } }
  - { type: transform, name: check, input: all, config: { cxl: "emit m = n", validations: [ { check: "n % 10 == 0" } ] } }
  - { type: transform, name: twice, input: check, config: { cxl: "emit m = n", validations: [ { check: "n % 20 == 0" } ] } }
  - { type: sink, name: out, input: twice, config: { type: csv, path: out.csv } }
error_handling: { strategy: continue, dlq: { path: dlq.csv, per_source: { two: { path: two_dlq.csv } } } }
"#;

#[test]
fn dead_letters_that_do_not_fit_the_limit_wait_on_disk() {
    let rows = |count: usize| (0..count).fold("n\n".to_string(), |text, n| text + &format!("{}\n", n * 7 % count));
    let mut expected = None;
    for (limit, threads, block_size) in
        [(1 << 30, 1, 1 << 20), (64 << 10, 1, 5000), (64 << 10, 4, 3000), (1 << 20, 2, 900)]
    {
        let mut lab = Lab::new(&[("one/a.csv", &rows(3000)), ("one/b.csv", &rows(1000)), ("two.csv", &rows(2000))]);
        lab.write("spilled/.keep", "");
        lab.options.spill_dir = Some(lab.path("spilled"));
        (lab.options.threads, lab.options.block_size, lab.memory_limit) = (threads, block_size, Some(limit));
        let report = lab.run(WAITING).expect("the run completes");
        assert_eq!((report.total, report.dlq, report.ok), (6000, 5700, 300));
        let files = (settled(&lab.read("dlq.csv")), settled(&lab.read("two_dlq.csv")));
        assert!(expected.get_or_insert_with(|| files.clone()) == &files, "{limit} {threads} {block_size}");
        let letters = report.consumers.last().expect("some waited");
        assert_eq!(letters.name, "dead_letters");
        assert_eq!(letters.spilled.raw > 0, limit < 1 << 30, "{limit}");
        assert!(letters.peak_reserved <= limit / 4, "{}", letters.peak_reserved);
        assert!(report.peak_reserved <= limit);
    }
    let (text, two) = expected.expect("there were runs");
    let places = |text: &str| {
        let records = csv::Reader::from_reader(text.as_bytes()).into_records().map(|record| record.expect("CSV"));
        records.map(|record| (record[3].to_string(), record[5].parse().expect("a number"))).collect::<Vec<(_, u64)>>()
    };
    let (places, two) = (places(&text), places(&two));
    assert!(places.is_sorted() && two.is_sorted() && places.len() == 3800 && two.len() == 1900);
}
