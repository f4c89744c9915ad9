//! Columns to text, and back.

use std::sync::Arc;

use arrow_array::{StringViewArray, UInt8Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use clinker::analysis::types::{Kind, Type};
use clinker::exec::batch::{Column, DecimalColumn, ListColumn, Scales};
use clinker::exec::value::Value;
use clinker::formats::csv::{EncodeColumn, EncodeSource, Encoder};
use clinker::formats::text;
use proptest::prelude::*;

use super::support::{self, batch, column, decode, encode, encode_with};

fn strings(values: &[Option<&str>]) -> Column {
    Column::strings(values.iter().copied())
}

#[test]
fn every_type_has_one_spelling() {
    let valid = |bits: [bool; 3]| Some(NullBuffer::from(bits.to_vec()));
    let Column::Decimal(own) = Column::decimals(vec![15, 250, 0], 0, valid([true, true, false])) else { panic!() };
    let scales = Scales::PerRow(UInt8Array::from(vec![1, 2, 0]));
    let columns = [
        ("b", Column::bools([true, false, true].into_iter().collect(), valid([true, true, false]))),
        ("i", Column::ints(vec![1, -20_000, 9], valid([true, true, false]))),
        ("f", Column::floats(vec![2.5, 1e3, -0.0], None)),
        ("d", Column::decimals(vec![-5, 12345, 0], 2, valid([true, true, false]))),
        ("o", Column::Decimal(DecimalColumn { scales, ..own })),
        ("s", strings(&[Some("a b"), Some(""), None])),
        ("t", Column::dates(vec![0, 19_797, 0], valid([true, true, false]))),
        ("z", Column::date_times(vec![0, 1_710_498_030_250_000_000, -1], None)),
        ("n", Column::Null(3)),
    ];
    let expected = "b,i,f,d,o,s,t,z,n\n\
        true,1,2.5,-0.05,1.5,a b,1970-01-01,1970-01-01T00:00:00,\n\
        false,-20000,1000,123.45,2.50,,2024-03-15,2024-03-15T10:20:30.250,\n\
        ,,0,,,,,1969-12-31T23:59:59.999999999,\n";
    assert_eq!(encode(&columns, None).expect("writes"), expected);
}

#[test]
fn fields_are_quoted_only_where_they_must_be() {
    let cells = [
        ("a,b", "\"a,b\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("two\nlines", "\"two\nlines\""),
        ("lone\rreturn", "\"lone\rreturn\""),
        (" spaced ", " spaced "),
        ("#1", "#1"),
        ("a;b", "a;b"),
        ("'", "'"),
        ("\"", "\"\"\"\""),
        ("twelve,bytes", "\"twelve,bytes\""),
        ("a longer text, with a comma", "\"a longer text, with a comma\""),
        ("a longer text without one", "a longer text without one"),
    ];
    for (cell, expected) in cells {
        let columns = [("c", strings(&[Some(cell)])), ("d", strings(&[Some("x")]))];
        assert_eq!(encode(&columns, None).expect("writes"), format!("c,d\n{expected},x\n"));
    }
    let columns = [("c;1", strings(&[Some("a;b")])), ("d", strings(&[Some("a,b")]))];
    assert_eq!(encode_with(&columns, None, b';').expect("writes"), "\"c;1\";d\n\"a;b\";a,b\n");
}

#[test]
fn values_are_quoted_if_the_delimiter_stands_in_them() {
    let columns = [("x", Column::floats(vec![2.5, 3.0], None)), ("y", Column::ints(vec![1, 2], None))];
    assert_eq!(encode_with(&columns, None, b'.').expect("writes"), "x.y\n\"2.5\".1\n3.2\n");
    let columns = [("x", Column::ints(vec![-15], None)), ("y", Column::dates(vec![0], None))];
    assert_eq!(encode_with(&columns, None, b'-').expect("writes"), "x-y\n\"-15\"-\"1970-01-01\"\n");
}

#[test]
fn a_row_of_one_empty_field_is_not_a_blank_line() {
    let columns = [("c", strings(&[Some("a"), Some(""), None]))];
    assert_eq!(encode(&columns, None).expect("writes"), "c\na\n\"\"\n\"\"\n");
    assert_eq!(encode(&[("", Column::Null(1))], None).expect("writes"), "\"\"\n\"\"\n");
}

#[test]
fn decimals_are_rounded_to_the_scale_of_the_sink() {
    let columns = [("d", Column::decimals(vec![1125, 1135, -5], 3, None))];
    assert_eq!(encode(&columns, Some(2)).expect("writes"), "d\n1.12\n1.14\n0.00\n");
    assert_eq!(encode(&columns, Some(4)).expect("writes"), "d\n1.1250\n1.1350\n-0.0050\n");
    assert_eq!(encode(&[("d", Column::decimals(vec![-4], 3, None))], Some(0)).expect("writes"), "d\n0\n");
}

fn list(offsets: Vec<i32>, elements: Column) -> Column {
    Column::List(ListColumn { offsets: ScalarBuffer::from(offsets), elements: Arc::new(elements), validity: None })
}

#[test]
fn lists_are_joined() {
    let columns = [("l", list(vec![0, 2, 2, 3], Column::ints(vec![1, 2, 3], None))), ("e", Column::Null(3))];
    assert_eq!(encode(&columns, None).expect("writes"), "l,e\n1;2,\n,\n3,\n");
    let texts = strings(&[Some("a,b"), Some("c"), Some("d;e")]);
    let columns = [("l", list(vec![0, 2], texts.clone()))];
    assert_eq!(encode(&columns, None).expect("writes"), "l\n\"a,b;c\"\n");
    let columns = [("x", Column::Null(2)), ("l", list(vec![0, 1, 3], texts))];
    let error = encode(&columns, None).expect_err("an element contains the separator");
    assert_eq!((error.row, error.column), (1, 1));
    assert_eq!(error.reason, "an element `d;e` contains `;`, which stands between elements");
}

#[test]
fn values_of_any_type_are_written_like_typed_ones() {
    let text = |text: &str| Value::String(text.into());
    let written = |value: Value| encode(&[("a", Column::any(&[value])), ("n", Column::Null(1))], None);
    let list = Value::Array(vec![Value::Int(1), text("b,c"), Value::Null]);
    for (value, expected) in [
        (Value::Null, ""),
        (Value::Float(1e21), "1000000000000000000000"),
        (Value::Decimal { mantissa: 150, scale: 2 }, "1.50"),
        (text("say \"hi\""), "\"say \"\"hi\"\"\""),
        (list, "\"1;b,c;\""),
    ] {
        assert_eq!(written(value).expect("writes"), format!("a,n\n{expected},\n"));
    }
    let map = Value::Map(vec![("k".into(), Value::Null)]);
    for (value, reason) in [
        (map.clone(), "a map, which a csv file can't hold"),
        (Value::Array(vec![map]), "a map, which a csv file can't hold"),
        (Value::Array(vec![Value::Array(vec![])]), "an array inside an array, which a csv file can't hold"),
        (Value::Array(vec![text("a;b")]), "an element `a;b` contains `;`, which stands between elements"),
    ] {
        assert_eq!(written(value).expect_err("can't be written").reason, reason);
    }
}

#[test]
fn carried_fields_are_written_where_the_file_has_them() {
    let mut batch = batch(&[("a", Column::ints(vec![1, 2], None))]);
    batch.carried.fields.push((7, StringViewArray::from(vec!["x,y", "z"])));
    let columns =
        [EncodeSource::Carried(7), EncodeSource::Column(0), EncodeSource::Carried(8), EncodeSource::Column(5)];
    let columns = columns.map(|source| EncodeColumn { name: "n".into(), source, scale: None });
    let mut out = b"kept\n".to_vec();
    Encoder::new(columns.to_vec(), b',').encode(&batch, &mut out).expect("writes");
    assert_eq!(String::from_utf8(out).expect("text"), "kept\n\"x,y\",1,,\nz,2,,\n");
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(","),
        Just("\""),
        Just("\n"),
        Just("\r"),
        Just("abc"),
        Just("é"),
        Just(";"),
        Just("0123456789abc")
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

type Row = (String, String, Option<i64>, f64, Option<i32>, (i32, i64));

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let int = prop_oneof![any::<i64>(), -10_001_i64..10_001, -100_i64..100].prop_map(Some);
    let int = prop_oneof![9 => int, 1 => Just(None)];
    let date = proptest::option::of(-719_162_i32..=2_932_896);
    let float = prop_oneof![-1e6..1e6, any::<f64>().prop_filter("finite", |f| f.is_finite())];
    let moment = (-719_162_i32..=2_932_896, 0_i64..86_400);
    prop::collection::vec((texts(), texts(), int, float, date, moment), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_written_reads_back_the_same(rows in rows()) {
        const DAY: i128 = 86_400_000_000_000;
        let ints = rows.iter().map(|row| row.2);
        let dates = rows.iter().map(|row| row.4);
        let columns = [
            ("s", Column::strings(rows.iter().map(|row| Some(&row.0)))),
            ("i", Column::Int(ints.collect())),
            ("f", Column::floats(rows.iter().map(|row| row.3).collect(), None)),
            ("d", Column::Date(dates.collect())),
            ("z", Column::date_times(rows.iter().map(|r| i128::from(r.5.0) * DAY + i128::from(r.5.1) * 1_000_000_000).collect(), None)),
            ("t", Column::strings(rows.iter().map(|row| Some(&row.1)))),
        ];
        let written = encode(&columns, None).expect("writes");
        let (_, body) = written.split_once('\n').expect("a header");
        let kinds = [Kind::String, Kind::Int, Kind::Float, Kind::Date, Kind::DateTime, Kind::String];
        let declared: Vec<_> = kinds.into_iter().map(|kind| column("c", Type::nullable(kind))).collect();
        let (count, decoded) = decode(body, &declared);
        prop_assert_eq!((count, decoded.faults.len()), (rows.len(), 0));
        for (row, expected) in rows.iter().enumerate() {
            let text = |position: usize| support::text(decoded.columns[position].as_ref().expect("stored"), row);
            prop_assert_eq!((text(0), text(5)), (expected.0.clone(), expected.1.clone()));
            prop_assert_eq!(text(1), expected.2.map_or("null".to_owned(), |int| int.to_string()));
            let mut float = Vec::new();
            text::write_float(expected.3, &mut float);
            prop_assert_eq!(text(2).into_bytes(), float);
            prop_assert_eq!(decoded.columns[3].as_ref().expect("stored").is_null(row), expected.4.is_none());
        }
        let again: Vec<_> = ["s", "i", "f", "d", "z", "t"].into_iter().zip(decoded.columns.into_iter().flatten()).collect();
        prop_assert_eq!(encode(&again, None).expect("writes"), written);
    }
}
