//! Cells to typed columns: the fast ways must agree with the strict ones of `formats::parse`.

use clinker::analysis::hir::SourceColumn;
use clinker::analysis::types::{Kind, Type};
use clinker::exec::batch::{Column, Scales};
use clinker::formats::csv::{Decoded, RecordFaultKind};
use clinker::formats::dates::DateParser;
use clinker::formats::{parse, text};
use proptest::prelude::*;

use super::support::{self, column, decode};

/// Decodes cells of one column; each as it is written again, or the reason why it failed.
fn cells_of(column: SourceColumn, cells: &[&str]) -> Vec<String> {
    let lines: Vec<String> = cells.iter().map(|cell| format!("{cell},\n")).collect();
    let columns = [column, support::column("end", Type::of(Kind::String))];
    let (rows, decoded) = decode(&lines.concat(), &columns);
    assert_eq!(rows, cells.len());
    shown(&decoded, rows)
}

fn shown(decoded: &Decoded, rows: usize) -> Vec<String> {
    let values = decoded.columns[0].as_ref().expect("stored");
    let row = |row: usize| match decoded.faults.iter().find(|fault| fault.position as usize == row) {
        None => support::text(values, row),
        Some(fault) => match &fault.kind {
            RecordFaultKind::Value { column: 0, reason } => format!("! {reason}"),
            other => panic!("{other:?}"),
        },
    };
    (0..rows).map(row).collect()
}

fn check(ty: Type, cells: &[(&str, &str)]) {
    let (texts, expected): (Vec<&str>, Vec<&str>) = cells.iter().copied().unzip();
    let empty = format!("{EMPTY}({})", ty.kind);
    let expected: Vec<&str> = expected.iter().map(|cell| if *cell == EMPTY { &empty } else { *cell }).collect();
    assert_eq!(cells_of(column("c", ty), &texts), expected);
}

/// What is said of an empty cell, up to the type.
const EMPTY: &str = "! empty, and the column is not nullable";

#[test]
fn ints() {
    let cells = [
        ("5", "5"),
        ("-5", "-5"),
        ("+5", "5"),
        ("-0", "0"),
        ("007", "7"),
        ("12345678", "12345678"),
        ("-1234567", "-1234567"),
        ("123456789", "123456789"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "! too large for a 64-bit whole number"),
        ("6.0", "! not a whole number"),
        (" 8", "! not a whole number"),
        ("8 ", "! not a whole number"),
        ("-", "! not a whole number"),
        ("1-", "! not a whole number"),
        ("12:4", "! not a whole number"),
        ("\"42\"", "42"),
        ("", EMPTY),
        ("\"\"", EMPTY),
    ];
    check(Type::of(Kind::Int), &cells);
    check(Type::nullable(Kind::Int), &[("1", "1"), ("", "null"), ("\"\"", "null"), ("x", "! not a whole number")]);
}

#[test]
fn floats() {
    let cells = [
        ("20.50", "20.5"),
        ("1e3", "1000"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0", "0"),
        ("0.1", "0.1"),
        ("123456789012345678", "123456789012345680"),
        ("nan", "! not a finite number"),
        ("1e999", "! too large for a 64-bit float"),
        ("1.2.3", "! not a number"),
        (".", "! not a number"),
        ("", EMPTY),
    ];
    check(Type::of(Kind::Float), &cells);
    check(Type::nullable(Kind::Float), &[("", "null"), ("2.50", "2.5")]);
}

#[test]
fn truth_values() {
    let wrong = "! not one of true/false, yes/no, on/off, 1/0";
    check(
        Type::of(Kind::Bool),
        &[("true", "true"), ("NO", "false"), ("On", "true"), ("0", "false"), ("maybe", wrong), ("", EMPTY)],
    );
    check(Type::nullable(Kind::Bool), &[("", "null"), ("yes", "true")]);
}

#[test]
fn texts() {
    let long = "a text of more than twelve bytes";
    let cells = [
        ("", ""),
        ("a", "a"),
        ("exactly 12 b", "exactly 12 b"),
        ("exactly 13 by", "exactly 13 by"),
        (long, long),
        (" spaced ", " spaced "),
        ("\"a, \"\"b\"\"\"", "a, \"b\""),
        ("größe", "größe"),
        ("NULL", "NULL"),
    ];
    check(Type::of(Kind::String), &cells);
    check(Type::nullable(Kind::String), &cells);
    // The same, as values whose type is known only at run time.
    check(Type::of(Kind::Any), &cells);
}

#[test]
fn dates() {
    let cells = [
        ("2031-01-01", "2031-01-01"),
        ("2031-02-30", "! no such day"),
        ("03/10/2031", "2031-03-10"),
        ("2031-01-01", "2031-01-01"),
        ("2024-02-29", "2024-02-29"),
        ("", EMPTY),
    ];
    check(Type::of(Kind::Date), &cells);
    check(Type::nullable(Kind::Date), &[("", "null"), ("2031-12-01", "2031-12-01")]);
    let formatted = SourceColumn { formats: vec!["%m/%d/%Y".into()], ..column("c", Type::of(Kind::Date)) };
    let cells = cells_of(formatted, &["03/10/2031", "2031-03-10"]);
    assert_eq!(cells, ["2031-03-10", "! does not match the format %m/%d/%Y"]);
}

#[test]
fn date_times() {
    let cells = [
        ("2013-01-01T10:00:00Z", "2013-01-01T10:00:00"),
        ("2013-01-01T10:00:01", "2013-01-01T10:00:01"),
        ("2013-01-01T23:59:59", "2013-01-01T23:59:59"),
        ("2013-01-01T24:00:00", "! no such time of day"),
        ("2013-01-02T10:00:00X", &format!("! matches none of the formats {}", chain())),
        ("2013-01-02 10:00:00.5", "2013-01-02T10:00:00.500"),
        ("2013-02-29T10:00:00Z", "! no such day"),
        ("", EMPTY),
    ];
    check(Type::of(Kind::DateTime), &cells);
    let exact = SourceColumn { formats: vec!["%Y-%m-%dT%H:%M:%S".into()], ..column("c", Type::of(Kind::DateTime)) };
    let cells = cells_of(exact, &["2013-01-01T10:00:00", "2013-01-01T10:00:00Z", "2013-01-01T10:00:00.5"]);
    let wrong = "! does not match the format %Y-%m-%dT%H:%M:%S";
    assert_eq!(cells, ["2013-01-01T10:00:00", wrong, wrong]);
}

fn chain() -> String {
    clinker::analysis::formats::DATE_TIME_FORMATS.join(", ").replace("%+", "RFC 3339")
}

#[test]
fn decimals_of_a_declared_scale_share_it() {
    let ty = Type::of(Kind::Decimal { scale: Some(2) });
    let cells = [
        ("1.50", "1.50"),
        ("2", "2.00"),
        ("-0.5", "-0.50"),
        ("1.505", "! has 3 decimal places, the column allows 2"),
        ("1.5x", "! not a decimal number"),
        ("", EMPTY),
    ];
    check(ty.clone(), &cells);
    let precise = SourceColumn { precision: Some(4), ..column("c", ty) };
    assert_eq!(
        cells_of(precise, &["12.34", "123.45"]),
        ["12.34", "! has 3 digits before the point, the column allows 2"]
    );
}

#[test]
fn decimals_without_a_scale_keep_their_own() {
    let columns = [
        column("c", Type::nullable(Kind::Decimal { scale: None })),
        column("d", Type::of(Kind::Decimal { scale: None })),
    ];
    let (rows, decoded) = decode("1.5,1.5\n2.50,2.5\n,0.0\n7,-1.1\n", &columns);
    assert_eq!(shown(&decoded, rows), ["1.5", "2.50", "null", "7"]);
    let scales = |position: usize| match decoded.columns[position].as_ref() {
        Some(Column::Decimal(decimals)) => matches!(decimals.scales, Scales::Shared(_)),
        other => panic!("{other:?}"),
    };
    assert_eq!((scales(0), scales(1)), (false, true));
}

#[test]
fn only_nulls() {
    check(Type::of(Kind::Null), &[("", "null"), ("x", "! not empty, and the column holds only nulls")]);
}

#[test]
fn the_first_fault_in_declared_order_counts() {
    let columns = [column("a", Type::of(Kind::Int)), column("b", Type::of(Kind::Bool))];
    let (_, decoded) = decode("x,x\n1,x\nx,true\n1,1\n", &columns);
    let faults = decoded.faults.iter().map(|fault| match &fault.kind {
        RecordFaultKind::Value { column, .. } => (fault.position, *column),
        other => panic!("{other:?}"),
    });
    let faults: Vec<_> = faults.collect();
    assert_eq!(faults, [(0, 0), (1, 1), (2, 0)]);
}

fn spelled(column: &Type, cell: &str) -> Option<String> {
    let mut out = Vec::new();
    let bytes = cell.as_bytes();
    match column.kind {
        Kind::Int => text::write_int(parse::int(bytes).ok()?, &mut out),
        Kind::Float => text::write_float(parse::float(bytes).ok()?, &mut out),
        Kind::Decimal { scale } => {
            let (mantissa, scale) = parse::decimal(bytes, scale, None).ok()?;
            text::write_decimal(mantissa, scale, &mut out);
        }
        Kind::Date => text::write_date(DateParser::for_column(&[], false).date(bytes).ok()?, &mut out),
        Kind::DateTime => text::write_date_time(DateParser::for_column(&[], true).date_time(bytes).ok()?, &mut out),
        _ => text::write_bool(parse::bool(bytes).ok()?, &mut out),
    }
    Some(String::from_utf8(out).expect("text"))
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Int),
        Just(Kind::Float),
        Just(Kind::Bool),
        Just(Kind::Date),
        Just(Kind::DateTime),
        Just(Kind::Decimal { scale: None }),
        Just(Kind::Decimal { scale: Some(3) }),
    ]
}

fn cells() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[-+]?[0-9]{1,20}", 2 => "-?[0-9]{0,9}\\.[0-9]{0,12}", 1 => "[-+0-9.:/eT ]{1,10}",
        1 => "(true|FALSE|yes|no|1|0)", 2 => "20[0-9]{2}-[01][0-9]-[0-3][0-9]",
        2 => "20[0-9]{2}-0[0-9]-[0-2][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z?", 1 => "[0-9]{8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn columns_are_read_like_single_values(kind in kinds(), cells in prop::collection::vec(cells(), 1..70)) {
        let ty = Type::of(kind);
        let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
        let read = cells_of(column("c", ty.clone()), &texts);
        for (cell, read) in cells.iter().zip(read) {
            match spelled(&ty, cell) {
                Some(expected) => prop_assert_eq!(read, expected, "{}", cell),
                None => prop_assert!(read.starts_with("! "), "{} was read as {}", cell, read),
            }
        }
    }
}
