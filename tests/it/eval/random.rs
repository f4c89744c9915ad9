//! Random programs over random batches: evaluating columns gives what a walk over the tree of each row gives, failures
//! included.

use clinker::diagnostics::Span;
use clinker::exec::batch::{Batch, Column};
use clinker::exec::eval::Transformed;
use clinker::exec::value::Value;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::harness::{batch, kind, transform};
use super::values::LARGEST;
use super::walk::Walk;

const COLUMNS: [(&str, &str); 11] = [
    ("i", "{ nullable: int }"),
    ("j", "int"),
    ("f", "{ nullable: float }"),
    ("g", "float"),
    ("d", "{ nullable: decimal }"),
    ("s", "{ nullable: string }"),
    ("t", "string"),
    ("b", "{ nullable: bool }"),
    ("c", "bool"),
    ("day", "{ nullable: date }"),
    ("at", "{ nullable: date_time }"),
];

/// What an expression gives.
#[derive(Clone, Copy)]
enum Ty {
    Int,
    Float,
    Decimal,
    String,
    Bool,
    Date,
    DateTime,
}

/// Forms of each type: `#` is a number, int by default, and each letter in braces an operand of that type.
fn forms(ty: Ty) -> (&'static [&'static str], &'static [&'static str]) {
    match ty {
        Ty::Int => (
            &["i", "j", "0", "1", "(-3)", "9223372036854775807", "(-9223372036854775808)", "$source.row"],
            &[
                "({i} + {i})",
                "({i} - {i})",
                "({i} * {i})",
                "({i} / {i})",
                "({i} % {i})",
                "(-{i})",
                "{i}.abs()",
                "{f}.floor()",
                "{f}.ceil()",
                "{i}.min({i})",
                "{i}.max({i})",
                "{i}.clamp({i}, {i})",
                "{i}.round()",
                "{s}.length()",
                "{s}.split(\"a\").length()",
                "{s}.to_int()",
                "{s}.try_int()",
                "{f}.to_int()",
                "{d}.to_int()",
                "{b}.to_int()",
                "{n}.year()",
                "{n}.day()",
                "{m}.hour()",
                "{n}.diff_days({n})",
                "{m}.diff_months({n})",
                "{i}.catch({i})",
            ],
        ),
        Ty::Float => (
            &["f", "g", "0.0", "1.5", "(-2.5)", "$vars.rate"],
            &[
                "({f} + {f})",
                "({f} - {i})",
                "({i} * {f})",
                "({f} / {f})",
                "({f} % {f})",
                "(-{f})",
                "{f}.abs()",
                "{f}.round({i})",
                "{f}.round_to(2)",
                "{f}.min({i})",
                "{f}.max({f})",
                "{f}.clamp({f}, {f})",
                "{s}.to_float()",
                "{s}.try_float()",
                "{i}.to_float()",
                "{d}.to_float()",
                "{f}.catch({f})",
            ],
        ),
        Ty::Decimal => (
            &["d", "\"1.50\".to_decimal()", "\"0\".to_decimal()"],
            &[
                "({d} + {d})",
                "({d} - {i})",
                "({d} * {d})",
                "({d} / {d})",
                "({d} % {d})",
                "(-{d})",
                "{d}.abs()",
                "{d}.ceil()",
                "{d}.round({i})",
                "{d}.min({d})",
                "{d}.clamp({i}, {d})",
                "{s}.try_decimal()",
                "{f}.try_decimal()",
                "{i}.to_decimal()",
                "{d}.catch({d})",
            ],
        ),
        Ty::String => (
            &["s", "t", "\"\"", "\"a\"", "\"twelve bytes and more\"", "$source.file", "$pipeline.name"],
            &[
                "({s} + {s})",
                "{s}.upper()",
                "{s}.lower()",
                "{s}.trim()",
                "{s}.replace({s}, {s})",
                "{s}.reverse()",
                "{s}.substring({i})",
                "{s}.substring({i}, {i})",
                "{s}.left({i})",
                "{s}.right({i})",
                "{s}.pad_left({i} % 20, {s})",
                "{s}.pad_right(7)",
                "{s}.repeat({i} % 4)",
                "{s}.split({s}).join({s})",
                "{s}.capture(\"(.)a\", 1)",
                "{s}.concat({s}, {i}, {f}, {d}, {n}, {m}, {b})",
                "{i}.to_string()",
                "{f}.to_string()",
                "{d}.to_string()",
                "{b}.to_string()",
                "{n}.to_string()",
                "{m}.to_string()",
                "{n}.format_date(\"%d.%m.%Y\")",
                "{m}.format_date(\"%H:%M\")",
                "{s}.type_of()",
                "{i}.type_of()",
                "{s}.file_name()",
                "{s}.parent()",
                "{s}.extension()",
                "{s}.catch({s})",
                "(if {b} then {s} else {i}).type_of()",
                "(if {b} then {s} else {i}).to_string()",
                "(if {b} then {s} else {i}).upper()",
            ],
        ),
        Ty::Bool => (
            &["b", "c", "true", "false"],
            &[
                "({i} == {i})",
                "({i} < {i})",
                "({f} >= {i})",
                "({i} != {f})",
                "({f} <= {f})",
                "({d} > {d})",
                "({d} == {i})",
                "({s} == {s})",
                "({s} < {s})",
                "({n} < {n})",
                "({m} >= {m})",
                "({b} == {b})",
                "({b} and {b})",
                "({b} or {b})",
                "(not {b})",
                "{s}.is_null()",
                "{i}.is_null()",
                "{s}.is_empty()",
                "{s}.contains({s})",
                "{s}.starts_with({s})",
                "{s}.matches(\"a.*\")",
                "{s}.find({s}.left(1))",
                "{i}.to_bool()",
                "{s}.try_bool()",
                "({i} == null)",
                "(null != {s})",
                "((if {b} then {s} else {i}) == {s})",
                "((if {b} then {f} else {s}) < {i})",
            ],
        ),
        Ty::Date => (
            &["day", "#2024-02-29#", "#0001-01-01#"],
            &[
                "{n}.add_days({i} % 1000)",
                "{n}.add_months({i})",
                "{n}.add_years({i} % 9)",
                "{m}.to_date()",
                "{s}.try_date()",
            ],
        ),
        Ty::DateTime => (
            &["at", "now"],
            &["{m}.add_days({i} % 1000)", "{m}.add_months({i} % 99)", "{n}.to_datetime()", "{s}.try_datetime()"],
        ),
    }
}

const TYPES: [(&str, Ty); 7] = [
    ("{i}", Ty::Int),
    ("{f}", Ty::Float),
    ("{d}", Ty::Decimal),
    ("{s}", Ty::String),
    ("{b}", Ty::Bool),
    ("{n}", Ty::Date),
    ("{m}", Ty::DateTime),
];

/// Forms that every type has, `{x}` being an operand of it.
const CHOICES: [&str; 5] = [
    "(if {b} then {x} else {x})",
    "(if {b} then {x})",
    "({x} ?? {x})",
    "(match {i} { 1 => {x}, {i} => {x}, _ => {x} })",
    "(match { {b} => {x}, {b} => {x}, _ => {x} })",
];

fn expr(ty: Ty, depth: u32) -> BoxedStrategy<String> {
    let (leaves, inner) = forms(ty);
    let leaf = prop::sample::select(leaves).prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    let own = prop::sample::select(inner).prop_flat_map(move |form| fill(form, ty, depth - 1));
    let choice = prop::sample::select(&CHOICES[..]).prop_flat_map(move |form| fill(form, ty, depth - 1));
    prop_oneof![1 => leaf, 4 => own, 2 => choice].boxed()
}

/// The form with each operand filled in.
fn fill(form: &str, ty: Ty, depth: u32) -> BoxedStrategy<String> {
    let first = TYPES
        .into_iter()
        .chain([("{x}", ty)])
        .filter_map(|(hole, ty)| Some((form.find(hole)?, hole, ty)))
        .min_by_key(|found| found.0);
    match first {
        None => Just(form.to_owned()).boxed(),
        Some((at, hole, wanted)) => {
            let (head, tail) = (form[..at].to_owned(), form[at + hole.len()..].to_owned());
            (expr(wanted, depth), fill(&tail, ty, depth))
                .prop_map(move |(part, rest)| format!("{head}{part}{rest}"))
                .boxed()
        }
    }
}

fn any_expr(depth: u32) -> BoxedStrategy<String> {
    Union::new(TYPES.map(|(_, ty)| expr(ty, depth))).boxed()
}

fn cell(ty: &str) -> BoxedStrategy<Value> {
    let value = match ty.trim_start_matches("{ nullable: ").trim_end_matches(" }") {
        "int" => prop_oneof![
            4 => (-3_i64..=3).prop_map(Value::Int),
            1 => prop::sample::select(&[i64::MIN, i64::MAX, i64::MAX - 1, 1 << 53][..]).prop_map(Value::Int),
        ]
        .boxed(),
        "float" => prop_oneof![
            4 => prop::sample::select(&[0.0, -0.0, 0.5, -1.5, 2.0, 2.675][..]).prop_map(Value::Float),
            1 => prop::sample::select(&[f64::NAN, f64::INFINITY, 1e300, -9.3e18, 1e-300][..]).prop_map(Value::Float),
        ]
        .boxed(),
        "decimal" => prop_oneof![
            4 => (-300_i128..=300, 2_u8..=2).prop_map(|(mantissa, scale)| Value::Decimal { mantissa, scale }),
            1 => (Just(LARGEST), 0_u8..=28).prop_map(|(mantissa, scale)| Value::Decimal { mantissa, scale }),
        ]
        .boxed(),
        "string" => {
            let texts = [
                "",
                "a",
                "ab",
                "12",
                "-7",
                "1.5",
                "Éa",
                "true",
                "2024-03-15",
                "2024-03-15T10:20:30",
                "a/b.txt",
                "twelve bytes",
                "thirteen byte",
                "a much longer text, (with a bracket",
            ];
            prop::sample::select(texts.map(str::to_owned).to_vec()).prop_map(Value::String).boxed()
        }
        "bool" => any::<bool>().prop_map(Value::Bool).boxed(),
        "date" => prop::sample::select(&[0, -719_162, 2_932_896, 19_782][..]).prop_map(Value::Date).boxed(),
        _ => prop::sample::select(&[0, -1, 1_710_498_030_250_000_000, -62_135_596_800_000_000_000][..])
            .prop_map(Value::DateTime)
            .boxed(),
    };
    if ty.contains("nullable") { prop_oneof![1 => Just(Value::Null), 4 => value].boxed() } else { value }
}

fn row() -> Vec<BoxedStrategy<Value>> {
    COLUMNS.iter().map(|(_, ty)| cell(ty)).collect()
}

fn to_batch(rows: &[Vec<Value>]) -> Batch {
    let column = |(position, (_, ty)): (usize, &(&str, &str))| {
        let cells: Vec<Value> = rows.iter().map(|row| row[position].clone()).collect();
        Column::from_values(&kind(ty), &cells)
    };
    batch(rows.len(), COLUMNS.iter().enumerate().map(column).collect())
}

/// What became of each row: its output, its failure, or nothing.
fn outcomes(rows: usize, done: &Transformed) -> Vec<String> {
    let kept = done.kept.clone().unwrap_or_else(|| (0..rows as u32).collect());
    let outcome = |row: usize| {
        let fault = done.faults.iter().find(|fault| fault.row == row);
        match (kept.iter().position(|kept| *kept as usize == row), fault) {
            (Some(_), Some(_)) => panic!("row {row} was kept and failed"),
            (Some(at), None) => {
                let values = done.batch.columns.iter().flatten().map(|column| column.value(at));
                format!("{:?}", values.collect::<Vec<_>>())
            }
            (None, Some(fault)) => failed(&fault.message, fault.span),
            (None, None) => "filtered".into(),
        }
    };
    (0..rows).map(outcome).collect()
}

fn failed(message: &str, span: Span) -> String {
    format!("{message} at {}", span.start)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn columns_give_what_a_walk_over_each_row_gives(
        first in any_expr(2), predicate in expr(Ty::Bool, 2), second in any_expr(3), third in any_expr(2),
        rows in prop::collection::vec(row(), 1..80),
    ) {
        let program = format!("let x = {first}\nemit y = {second}\nfilter {predicate}\nemit z = {third}\nemit w = x\n");
        let checked = transform(&COLUMNS, &program, "    include_unmapped: false")
            .unwrap_or_else(|errors| panic!("{program}: {errors}"));
        let whole = checked.run(&to_batch(&rows));
        prop_assert!(whole.faults.is_sorted_by_key(|fault| fault.row));
        let constants = checked.constants();
        for ((row, values), found) in rows.iter().enumerate().zip(outcomes(rows.len(), &whole)) {
            let mut walk = Walk::new(&constants, values, 101 + row as i64, checked.transform());
            let expected = match walk.program(checked.transform()) {
                Ok(Some(values)) => format!("{values:?}"),
                Ok(None) => "filtered".to_owned(),
                Err((message, span)) => failed(&message, span),
            };
            prop_assert_eq!(found, expected, "row {} {:?} of\n{}", row, values, program);
        }
    }
}
