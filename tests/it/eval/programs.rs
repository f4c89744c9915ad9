//! Whole programs and routes over batches: which rows are left, which failed and why.

use std::fmt::Write;

use clinker::analysis::types::Kind;
use clinker::exec::batch::{Batch, Carried, Column, Positions};
use clinker::exec::eval::{Route, Transform, Transformed};
use clinker::exec::value::Value;
use clinker::plan::physical::ColumnSet;

use super::harness::{Checked, batch, check, kind, shown, transform};
use crate::support::assert_snapshot;

const COLUMNS: [(&str, &str); 5] = [
    ("id", "int"),
    ("a", "{ nullable: int }"),
    ("b", "{ nullable: int }"),
    ("s", "{ nullable: string }"),
    ("f", "{ nullable: float }"),
];

fn rows() -> Batch {
    let int = |i: i64| Value::Int(i);
    let text = |s: &str| Value::String(s.into());
    let columns: [Vec<Value>; 5] = [
        (1..=6).map(Value::Int).collect(),
        vec![int(6), int(7), Value::Null, int(9), int(i64::MAX), int(-4)],
        vec![int(2), int(0), int(0), Value::Null, int(1), int(-2)],
        vec![text("12"), text("x"), Value::Null, text("a text of more than twelve bytes"), text(""), text("12")],
        vec![1.5, f64::NAN, -0.0, 0.0, f64::INFINITY, 2.0].into_iter().map(Value::Float).collect(),
    ];
    let columns = COLUMNS.iter().zip(&columns).map(|((_, ty), values)| Column::from_values(&kind(ty), values));
    batch(6, columns.collect())
}

fn shown_rows(batch: &Batch, names: &[String]) -> String {
    let mut text = format!("row: {}\n", names.join(" | "));
    for row in 0..batch.rows {
        let cell = |column: &Option<Column>| column.as_ref().map_or("(not stored)".into(), |c| shown(&c.value(row)));
        let cells: Vec<String> = batch.columns.iter().map(cell).collect();
        writeln!(text, "{:>3}: {}", batch.origin.source_row(row), cells.join(" | ")).unwrap();
    }
    text
}

fn shown_result(checked: &Checked, result: &Transformed) -> String {
    let node = checked.hir.nodes.iter().find(|node| node.name == "t").expect("the transform");
    let names: Vec<String> = node.ports[0].schema.columns.iter().map(|column| column.name.clone()).collect();
    let mut text = shown_rows(&result.batch, &names);
    for fault in &result.faults {
        writeln!(text, "failed: {}", checked.shown_fault(fault)).unwrap();
    }
    if !result.warned.is_empty() {
        let warned = result.warned.iter().map(|warning| {
            let failure = warning.failure.as_ref().map(|fault| checked.shown_fault(fault));
            format!(
                "({}, {}{})",
                warning.row,
                warning.validation,
                failure.map(|it| format!(": {it}")).unwrap_or_default()
            )
        });
        writeln!(text, "warned (row, validation): {}", warned.collect::<Vec<_>>().join(", ")).unwrap();
    }
    writeln!(text, "kept: {:?}, filtered: {}", result.kept, result.filtered).unwrap();
    text
}

/// A program with its config, and what it does to the six rows.
fn run(program: &str, config: &str) -> String {
    let checked = transform(&COLUMNS, program, config).unwrap_or_else(|errors| panic!("{program}: {errors}"));
    let result = checked.run(&rows());
    format!("{program}\n{config}{}\n", shown_result(&checked, &result))
}

#[test]
fn programs() {
    let only = "    include_unmapped: false\n";
    let programs = [
        ("emit sum = a + b\nemit quotient = a / b", only),
        ("emit n = s.to_int()", only),
        ("let n = s.try_int()\nemit id = id * 10\nemit m = n\nemit again = id", only),
        ("filter b != 0\nemit q = a / b", only),
        ("emit q = a / b\nfilter b != 0", only),
        ("emit q = if b == 0 then 0 else a / b", only),
        ("emit q = b != 0 and a / b > 2", only),
        ("emit q = b == 0 or a / b > 2", only),
        ("emit q = (b ?? 0) == 0 or a / b > 2", only),
        ("emit q = a ?? 1 / b", only),
        ("emit c = match { a > 8 => 'large', a > 6 => 'a class of more than twelve bytes', _ => s }", only),
        ("emit c = match s { '12' => 'dozen', 'x' => s + s, null => 'none', _ => s }", only),
        ("emit c = if a > 6 then s else 'small'\nemit t = c.type_of()", only),
        ("emit c = if a > 6 then s else a\nemit t = c.type_of()\nemit m = (c + 1)", only),
        ("emit parts = s.split(' ')\nemit n = parts.length()\nemit joined = parts.join('+')", only),
        ("emit fixed = 7\nemit name = $source.file\nemit row = $source.row\nemit nothing = null", only),
        ("filter true\nemit x = 1", only),
        ("filter a > 1000000000 and b == 5\nemit x = s.to_int()", only),
        ("1 / b\nemit x = 1", only),
        ("emit floor = f.floor()\nemit fine = f * 2", only),
        ("emit x = a + 1\nemit y = s.to_int()", only),
    ];
    let text: String = programs.iter().map(|(program, config)| run(program, config)).collect();
    assert_snapshot("eval/programs", &text);
}

#[test]
fn validations() {
    let checks = [
        "    validations:\n    - { check: not_empty, field: s, severity: error, name: text_needed }\n",
        "    validations:\n    - { check: 'a / b > 0', severity: error, message: the ratio is wrong }\n",
        "    validations:\n    - { check: 'a / b > 0', severity: warn }\n    - { check: 'b > 0', severity: warn }\n",
        "    validations:\n    - { check: 'a > 6', field: b, severity: error, name: limit, message: too small }\n    \
         - { check: 's.to_int() == 12', field: s, severity: error }\n    - { check: 'b != null', severity: warn }\n",
    ];
    let only = "    include_unmapped: false\n";
    let text: String = checks.iter().map(|config| run("emit q = a / b", &format!("{only}{config}"))).collect();
    assert_snapshot("eval/validations", &text);
}

fn run_route(mode: &str, conditions: &[(&str, &str)]) -> String {
    let mut node = format!("- type: route\n  name: r\n  input: rows\n  config:\n    mode: {mode}\n    conditions:\n");
    for (branch, condition) in conditions {
        writeln!(node, "      {branch}: \"{condition}\"").unwrap();
    }
    node +=
        "    default: rest\n- { type: sink, name: out, input: r.rest, config: { name: out, type: csv, path: o.csv } }";
    let checked = check(&COLUMNS, &node).unwrap_or_else(|errors| panic!("{node}: {errors}"));
    let routed = Route::new(checked.route(), checked.constants()).run(&rows());
    let mut text = format!("{mode}: {conditions:?}\n");
    let names = conditions.iter().map(|(branch, _)| *branch).chain(["rest"]);
    for (name, branch) in names.zip(&routed.branches) {
        let ids = branch.as_ref().map_or("none".into(), |batch| {
            let ids = batch.columns[0].as_ref().expect("ids are stored");
            (0..batch.rows).map(|row| ids.value(row).to_string()).collect::<Vec<_>>().join(" ")
        });
        writeln!(text, "  {name}: {ids}").unwrap();
    }
    for fault in &routed.faults {
        writeln!(text, "  failed: {}", checked.shown_fault(fault)).unwrap();
    }
    text
}

#[test]
fn routes() {
    let mut text = String::new();
    for mode in ["exclusive", "inclusive"] {
        text += &run_route(mode, &[("large", "a > 6"), ("odd", "a % 2 == 1"), ("null_b", "b == null")]);
        text += &run_route(mode, &[("first", "a > 6"), ("ratio", "a / b > 2")]);
        text += &run_route(mode, &[("all", "id > 0"), ("more", "1 / 0 > 0")]);
        text += &run_route(mode, &[("never", "a > 0 and a < 0")]);
    }
    assert_snapshot("eval/routes", &text);
}

#[test]
fn batches_without_rows_pass() {
    let program = "let n = s.to_int()\nfilter n > 1 / b\nemit c = match s { 'x' => a / b, _ => n }";
    let checked = transform(&COLUMNS, program, "").unwrap();
    let columns = COLUMNS.iter().map(|(_, ty)| Column::from_values(&kind(ty), &[])).collect();
    let result = checked.run(&batch(0, columns));
    assert_eq!((result.batch.rows, result.faults.len(), result.kept), (0, 0, None));
    assert!(result.batch.columns.iter().flatten().all(Column::is_empty));
}

#[test]
fn only_stored_columns_are_made_and_carried_fields_follow_their_rows() {
    let checked = transform(&COLUMNS, "filter a > 6\nemit c = b", "").unwrap();
    let mut stored = ColumnSet::none(6);
    stored.insert(0);
    stored.insert(5);
    let mut input = rows();
    input.carried = Carried { fields: vec![(3, ["p", "q", "r", "s", "t", "u"].into_iter().map(Some).collect())] };
    let compiled = Transform::new(checked.transform(), &stored, checked.constants());
    let result = compiled.run(&input);
    let held: Vec<bool> = result.batch.columns.iter().map(Option::is_some).collect();
    assert_eq!(held, [true, false, false, false, false, true]);
    let (name, carried) = &result.batch.carried.fields[0];
    assert_eq!((*name, carried.iter().collect::<Vec<_>>()), (3, vec![Some("q"), Some("s"), Some("t")]));
    assert!(matches!(&result.batch.origin.positions, Positions::List(list) if **list == [1, 3, 4]));
    assert_eq!((result.batch.origin.file_row(1), result.batch.origin.source_row(1)), (14, 104));
}

#[test]
fn taken_rows_keep_their_values() {
    let kinds = [
        (Kind::Null, vec![Value::Null, Value::Null, Value::Null]),
        (Kind::Bool, vec![Value::Bool(true), Value::Null, Value::Bool(false)]),
        (Kind::Decimal { scale: None }, vec![decimal(15, 1), Value::Null, decimal(150, 2)]),
        (Kind::String, vec![Value::String("short".into()), Value::Null, Value::String("longer than a view".into())]),
        (Kind::Array(Box::new(Kind::Int)), vec![list(&[1, 2]), Value::Null, list(&[])]),
        (Kind::Any, vec![list(&[3]), Value::Null, Value::String("a".into())]),
    ];
    for (kind, values) in kinds {
        let column = Column::from_values(&kind, &values);
        let taken = column.take(&[2, 0, 0, 1]);
        let expected = [2, 0, 0, 1].map(|row: usize| values[row].clone());
        assert_eq!((0..4).map(|row| taken.value(row)).collect::<Vec<_>>(), expected, "{kind}");
        assert!(column.take(&[]).is_empty());
    }
}

fn decimal(mantissa: i128, scale: u8) -> Value {
    Value::Decimal { mantissa, scale }
}

fn list(items: &[i64]) -> Value {
    Value::Array(items.iter().map(|item| Value::Int(*item)).collect())
}
