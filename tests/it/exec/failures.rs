//! `fail_fast`, and inputs that stop a run: what is said, and that nothing is published.

use super::lab::Lab;
use crate::support::assert_snapshot;

const TRIPS: &str = r#"
pipeline: { name: trips }
nodes:
  - type: source
    name: trips
    config:
      type: csv
      path: trips.csv
      schema:
        - { name: km, type: int }
        - { name: mins, type: int }
        - { name: driver, type: string, source_name: Driver }
  - type: route
    name: split
    input: trips
    config: { conditions: { far: "km / (mins - 9) != 0" }, default: near }
  - type: transform
    name: pace
    input: split.far
    config:
      validations: [ { check: "km < 1000", message: too far } ]
      cxl: |
        let hours = mins - 5
        emit speed = km * 60 / hours
  - { type: sink, name: far, input: pace, config: { type: csv, path: far.csv } }
  - { type: sink, name: near, input: split.near, config: { type: csv, path: near.csv } }
"#;

#[test]
fn failures_name_the_place_and_the_cause() {
    let cases: [(&str, &[u8]); 13] = [
        ("a value of another type", b"km,mins,Driver\n30,20,Ana\n5,1O,Bo\n"),
        ("an empty cell", b"km,mins,Driver\n30,20,\"Ana\nmaria\"\n,10,Bo\n"),
        ("too few fields", b"km,mins,Driver\n30,20\n"),
        ("not UTF-8", b"km,mins,Driver\n30,20,Ren\xe9\n"),
        ("an open quote", b"km,mins,Driver\n30,20,Ana\n30,20,\"Bo\n30,20,Cy\n"),
        ("an expression", b"km,mins,Driver\n30,20,Ana\n30,5,Bo\n"),
        ("a condition", b"km,mins,Driver\n30,9,Ana\n"),
        ("a validation", b"km,mins,Driver\n3000,20,Ana\n"),
        ("no file content", b""),
        ("a column that is not there", b"km,minutes,driver\n1,2,Ana\n"),
        ("a column that is there twice", b"km,mins,Driver,mins\n1,2,Ana,3\n"),
        ("columns without a name", b"km,mins,Driver,,\n1,2,Ana,3,4\n"),
        ("a header in another encoding", b"km,mins,Driver,Stra\xdfe\n1,2,Ana,x\n"),
    ];
    let mut text = String::new();
    for (name, csv) in cases {
        let lab = Lab::new(&[]);
        lab.write("trips.csv", csv);
        text += &format!("--- {name}\n{}\n", lab.failure(TRIPS));
        assert_eq!(lab.names(), ["trips.csv"], "{name}: nothing is left behind");
    }
    assert_snapshot("exec/failures", &text);
}

const READINGS: &str = "
pipeline: { name: readings }
nodes:
  - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [{ name: c, TYPE }] } }
  - { type: transform, name: t, input: rows, config: { cxl: 'CXL' } }
  - { type: sink, name: out, input: t, config: { type: csv, path: out.csv, include_header: false } }
";

/// A type, a cell that does not fit it, and what the column holds when the help is followed; `None` where it says nothing.
const CELLS: &[(&str, &str, Option<&str>)] = &[
    ("int", "", Some("")),
    ("date", "", Some("")),
    ("decimal", "", Some("")),
    ("int", "NULL", Some("")),
    ("nullable(int)", "N/A", Some("")),
    ("bool", "-", Some("")),
    ("date", "n/a", Some("")),
    ("date_time", "None", Some("")),
    ("decimal", "\\N", Some("")),
    ("int", " 12", Some("12")),
    ("decimal", "1.50 ", Some("1.50")),
    ("int", "1,234", Some("1234")),
    ("int", "1.234.567", Some("1234567")),
    ("int", "-1 234", Some("-1234")),
    ("int", "1,5", None),
    ("int", "12a", None),
    ("int", "1.5", Some("1.5")),
    ("decimal", "1.234,50", Some("1234.50")),
    ("decimal", "1,50", Some("1.50")),
    ("decimal", "-1,234.50", Some("-1234.50")),
    ("float", "1'234.5", Some("1234.5")),
    ("float", "1,234,567", Some("1234567")),
    ("decimal, scale: 1", "1.505", None),
    ("decimal", "abc", None),
    ("bool", "maybe", None),
    ("date", "27.01.2024", Some("2024-01-27")),
    ("date", "27.01.24", Some("2024-01-27")),
    ("date", "27/01/2024", Some("2024-01-27")),
    ("date", "20240127", Some("2024-01-27")),
    ("date", "27 Jan 2024", Some("2024-01-27")),
    ("date", "2024-13-01", None),
    ("date_time", "27.01.2024 10:20", Some("2024-01-27T10:20:00")),
    ("date_time", "2024-01-27", Some("2024-01-27")),
    ("date_time", "soon", None),
];

/// The declaration of a column and the program that a help asks for, where it asks for any.
fn advice(help: &str, ty: &str) -> Option<(String, String)> {
    let quoted: Vec<&str> = help.split("; or mend the row").next()?.split('`').collect();
    Some(match quoted.as_slice() {
        [before, declared, ..] if before.starts_with("declare the column as") => {
            let program = quoted.iter().find(|part| part.starts_with("emit ")).copied();
            (format!("type: {declared}"), program.unwrap_or_default().to_owned())
        }
        [_, format, ..] if format.starts_with("format: ") => (format!("type: {ty}, {format}"), String::new()),
        _ => return None,
    })
}

#[test]
fn the_help_for_a_cell_makes_it_fit() {
    let mut shown = String::new();
    for (ty, cell, wanted) in CELLS {
        let lab = Lab::new(&[("in.csv", &format!("c\n\"{cell}\"\n"))]);
        let pipeline = READINGS.replace("TYPE", &format!("type: {ty}")).replace("CXL", "");
        let failure = lab.run(&pipeline).expect_err("the cell does not fit");
        let help = failure.diagnostic.expect("a reason").help.expect("a help");
        shown += &format!("{ty} {cell:?}: {help}\n");
        let followed = advice(&help, ty).map(|(declared, program)| {
            let program = program.replace('\'', "''");
            lab.run(&READINGS.replace("TYPE", &declared).replace("CXL", &program)).expect("the cell fits");
            lab.read("out.csv").trim_end().trim_matches('"').to_owned()
        });
        assert_eq!(followed.as_deref(), *wanted, "{ty} {cell:?}: {help}");
    }
    assert_snapshot("exec/cell_helps", &shown);
}

#[test]
fn some_inputs_stop_a_run_that_continues_on_errors() {
    let pipeline = TRIPS.to_string() + "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
    for csv in ["km,mins,Driver\n30,20,Ana\n30,20,\"Bo\n", "km,Driver\n1,Ana\n", ""] {
        let lab = Lab::new(&[("trips.csv", csv)]);
        let failure = lab.run(&pipeline).expect_err("the run stops");
        assert_eq!(failure.exit_code, 4, "{csv}");
        assert_eq!(lab.names(), ["trips.csv"]);
    }
}

#[test]
fn undeclared_columns_can_be_refused() {
    let pipeline = TRIPS.replace("path: trips.csv", "path: trips.csv\n      on_unmapped: { mode: reject }");
    let lab = Lab::new(&[("trips.csv", "km,a,mins,Driver,b,\n1,,2,,,\n")]);
    assert_snapshot("exec/refused_columns", &lab.failure(&pipeline));
}

/// The delimiter that is in use is no help where it stands inside of a name.
#[test]
fn a_header_is_told_of_the_delimiters_that_are_not_in_use() {
    let help = |header: &str, options: &str| {
        let lab = Lab::new(&[("in.csv", &format!("{header}\n1,2\n"))]);
        let failure = lab.failure(&format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, path: in.csv, {options} \
             schema: [{{ name: k, type: int }}] }} }}\n  - {{ type: sink, name: o, input: s, config: {{ type: csv, path: \
             out.csv }} }}\n"
        ));
        let line = failure.lines().find_map(|line| line.split_once("help: ")).expect("help");
        line.1.to_owned()
    };
    let comma = "its fields are separated by `,`: set `options: { delimiter: \",\" }`";
    assert_eq!(help("k,n", "options: { delimiter: ';' },"), comma);
    assert!(!help("\"k, n\",v", "").contains("delimiter"));
    assert!(!help("\"k;n\";v", "options: { delimiter: ';' },").contains("delimiter"));
}

#[test]
fn rows_without_a_header_need_a_field_for_each_column() {
    let pipeline = |columns: &str| {
        format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, path: in.csv, options: \
             {{ has_header: false }}, schema: [{columns}] }} }}\n  - {{ type: sink, name: o, input: s, config: {{ type: \
             csv, path: out.csv }} }}\n"
        )
    };
    let mut text = String::new();
    for (csv, columns) in
        [("1\n", "{ name: a, type: int }, { name: b, type: int }"), ("1;2\n", "{ name: a, type: int }")]
    {
        let lab = Lab::new(&[("in.csv", csv)]);
        text += &lab.failure(&pipeline(columns));
    }
    assert_snapshot("exec/narrow_rows", &text);
}

/// Whatever the scheduling, the failure that is reported is the first by row, and for one row the first in the plan.
#[test]
fn the_first_failure_is_reported() {
    let mut rows: String = (0..500).map(|n| format!("{n},20,Driver {n}\n")).collect();
    rows += "30,5,fails in the transform\n30,9,fails in the route\nx,1,can't be typed\n";
    for (threads, block_size, batch_size) in [(1, 1 << 20, 2048), (3, 64, 2), (7, 1, 1), (2, 700, 2048)] {
        let mut lab = Lab::new(&[("trips.csv", &format!("km,mins,Driver\n{rows}"))]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        let failure = lab.run(TRIPS).expect_err("the run fails");
        let message = failure.diagnostic.expect("a reason").message;
        assert_eq!(message, "row 501: field 'speed': division by zero");
    }
}

/// Two sources of ids; what reads them is given.
fn two_sources(nodes: &str) -> String {
    let source = |name: &str| {
        format!(
            "  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, schema: [{{ name: id, type: int }}] }} }}\n"
        )
    };
    format!("pipeline: {{ name: p }}\nnodes:\n{}{}{nodes}", source("a"), source("b"))
}

/// A transform that fails on the row with this id; none does where it is 0.
fn failing(name: &str, input: &str, id: u32) -> String {
    format!("  - {{ type: transform, name: {name}, input: {input}, config: {{ cxl: 'emit x = 1 / (id - {id})' }} }}\n")
}

/// Of failures in several stages it is the first of the first stage, with any number of threads.
#[test]
fn the_first_stage_that_fails_says_why_a_run_stops() {
    let sink = |name: &str, input: &str| {
        format!("  - {{ type: sink, name: {name}, input: {input}, config: {{ type: csv, path: {name}.csv }} }}\n")
    };
    let apart = |a, b| failing("ta", "a", a) + &failing("tb", "b", b) + &sink("oa", "ta") + &sink("ob", "tb");
    let behind = |a, b, both| {
        let merge = "  - { type: merge, name: m, inputs: [tb, ta] }\n";
        failing("ta", "a", a) + &failing("tb", "b", b) + merge + &failing("tm", "m", both) + &sink("o", "tm")
    };
    let sorted = |before, after| {
        let sort = "  - { type: cull, name: s, input: a, config: { partition_by: [], order_by: [{ field: id, order: desc }], \
                    removed_to: gone, rules: [{ name: none, drop_group_when: 'count(*) < 0' }] } }\n";
        let below = failing("t1", "s", after) + &failing("t2", "t1", 100) + &sink("o1", "t2");
        sort.to_owned()
            + &sink("og", "s.gone")
            + &failing("t0", "a", before)
            + &sink("o0", "t0")
            + &below
            + &sink("ob", "b")
    };
    let cases = [
        (apart(900, 1), "row 900 of a.csv"),
        (apart(0, 1), "row 1 of b.csv"),
        // A merge has its inputs one behind the other, whatever the order of the sources.
        (behind(1, 800, 0), "row 800 of b.csv"),
        (behind(5, 0, 3), "row 3 of b.csv"),
        (behind(5, 0, 0), "row 5 of a.csv"),
        // What is below a buffer has a stage of its own, in which rows have another order.
        (sorted(850, 1), "row 850 of a.csv"),
        (sorted(0, 99), "row 100 of a.csv"),
        (sorted(0, 101), "row 101 of a.csv"),
    ];
    let rows = (1..=1000).fold("id\n".to_owned(), |text, id| text + &format!("{id}\n"));
    for (nodes, place) in cases {
        for (threads, block_size, batch_size) in [(1, 1 << 20, 2048), (2, 700, 7), (4, 64, 100), (7, 1, 1)] {
            let mut lab = Lab::new(&[("a.csv", &rows), ("b.csv", &rows)]);
            (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
            let message = lab.failure(&two_sources(&nodes));
            assert!(message.contains(place), "{threads} threads, blocks of {block_size}: {message}\n{nodes}");
        }
    }
}

#[test]
fn a_file_that_goes_away_stops_the_run() {
    let pipeline = TRIPS.replace("path: trips.csv", "paths: [trips.csv, more.csv]");
    let rows = "1,20,Ana\n".repeat(100);
    let mut lab = Lab::new(&[("trips.csv", &format!("km,mins,Driver\n{rows}")), ("more.csv", "km,mins,Driver\n")]);
    (lab.options.threads, lab.options.block_size) = (1, 100);
    struct Remover(std::path::PathBuf);
    impl clinker::exec::Observer for Remover {
        fn progress(&self, _: u64, _: u64, _: u64) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
    let shown = lab.failure_observed(&pipeline, &Remover(lab.path("more.csv")));
    assert_snapshot("exec/gone_input", &shown);
    assert_eq!(lab.names(), ["trips.csv"]);
}

#[test]
fn a_panic_is_contained() {
    struct Clumsy;
    impl clinker::exec::Observer for Clumsy {
        fn progress(&self, rows: u64, _: u64, _: u64) {
            assert!(rows < 50, "clumsy at row {rows}");
        }
    }
    for threads in [1, 7] {
        let mut lab = Lab::new(&[("trips.csv", &format!("km,mins,Driver\n{}", "1,20,Ana\n".repeat(100)))]);
        (lab.options.threads, lab.options.block_size) = (threads, 20);
        assert_snapshot("exec/panic", &lab.failure_observed(TRIPS, &Clumsy));
        assert_eq!(lab.names(), ["trips.csv"]);
    }
}
