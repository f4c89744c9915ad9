//! Keys are equal exactly if the values are.

use clinker::analysis::types::Kind;
use clinker::exec::batch::{Bitmap, Column};
use clinker::exec::keys::{Blanks, GroupTable, KeyHasher, Keys, equality, folded};
use clinker::exec::memory::{Arbitrator, Charge};
use clinker::exec::value::Value;
use proptest::prelude::*;

use super::values::LARGEST;

fn keys(columns: &[Column]) -> (Keys, Vec<(usize, &'static str)>) {
    let (keys, refused) = Keys::encode(columns, &Bitmap::new_set(columns[0].len()));
    (keys, refused.into_iter().map(|no_key| (no_key.row, no_key.found)).collect())
}

#[test]
fn values_that_are_one_key() {
    let text = |s: &str| Value::String(s.into());
    let decimal = |mantissa, scale| Value::Decimal { mantissa, scale };
    let groups: Vec<Vec<Value>> = vec![
        vec![Value::Null, Value::Null],
        vec![text("")],
        vec![text("a"), text("a")],
        vec![text("twelve bytes and more"), text("twelve bytes and more")],
        vec![Value::Int(0), Value::Float(0.0), Value::Float(-0.0), decimal(0, 5)],
        vec![Value::Int(1), Value::Float(1.0), decimal(100, 2), decimal(1, 0)],
        vec![decimal(250, 2), decimal(25, 1)],
        vec![Value::Float(2.5)],
        vec![Value::Int(i64::MAX), decimal(i128::from(i64::MAX) * 10, 1)],
        vec![Value::Int(i64::MAX - 1)],
        vec![Value::Float(9_223_372_036_854_775_808.0)],
        vec![Value::Int(i64::MIN), Value::Float(-9_223_372_036_854_775_808.0)],
        vec![Value::Int(9_007_199_254_740_993)],
        vec![Value::Int(9_007_199_254_740_992), Value::Float(9_007_199_254_740_992.0)],
        vec![decimal(LARGEST, 0)],
        vec![Value::Bool(false)],
        vec![Value::Bool(true)],
        vec![Value::Date(0)],
        vec![Value::DateTime(0)],
        vec![Value::Float(f64::INFINITY)],
    ];
    let labelled: Vec<(usize, &Value)> =
        groups.iter().enumerate().flat_map(|(group, values)| values.iter().map(move |value| (group, value))).collect();
    let values: Vec<Value> = labelled.iter().map(|(_, value)| (*value).clone()).collect();
    let (keys, refused) = keys(&[Column::from_values(&Kind::Any, &values)]);
    assert!(refused.is_empty());
    for (a, (group_a, value_a)) in labelled.iter().enumerate() {
        for (b, (group_b, value_b)) in labelled.iter().enumerate() {
            assert_eq!(keys.key(a) == keys.key(b), group_a == group_b, "{value_a:?} and {value_b:?}");
        }
    }
}

#[test]
fn typed_columns_have_the_keys_of_their_values() {
    let cases = [
        (Kind::Bool, vec![Value::Bool(true), Value::Null, Value::Bool(false)]),
        (Kind::Int, vec![Value::Int(i64::MIN), Value::Null, Value::Int(9_007_199_254_740_993)]),
        (Kind::Float, vec![Value::Float(-0.0), Value::Null, Value::Float(2.5)]),
        (Kind::Decimal { scale: None }, vec![Value::Decimal { mantissa: 250, scale: 2 }, Value::Null]),
        (Kind::String, vec![Value::String(String::new()), Value::Null, Value::String("a longer text".into())]),
        (Kind::Date, vec![Value::Date(-1), Value::Null]),
        (Kind::DateTime, vec![Value::DateTime(-1), Value::Null]),
        (Kind::Null, vec![Value::Null]),
    ];
    for (kind, values) in cases {
        let (typed, _) = keys(&[Column::from_values(&kind, &values)]);
        let (any, _) = keys(&[Column::from_values(&Kind::Any, &values)]);
        for (row, value) in values.iter().enumerate() {
            assert_eq!(typed.key(row), any.key(row), "{value:?} as {kind}");
        }
    }
}

#[test]
fn what_has_no_key_is_told_once() {
    let floats = Column::floats(vec![1.0, f64::NAN, f64::NAN], None);
    let list = Kind::Array(Box::new(Kind::Int));
    let lists = Column::from_values(&list, &[Value::Null, Value::Null, Value::Array(vec![])]);
    let anything = [Value::Map(vec![]), Value::Int(1), Value::Float(f64::NAN)];
    let (_, refused) = keys(&[floats, lists, Column::from_values(&Kind::Any, &anything)]);
    assert_eq!(refused, [(0, "map"), (1, "NaN"), (2, "NaN")]);
}

#[test]
fn rows_that_are_not_live_are_not_looked_at() {
    let floats = Column::floats(vec![1.0, f64::NAN, 2.0], None);
    let (keys, refused) = Keys::encode(&[floats], &[true, false, true].into_iter().collect::<Bitmap>());
    assert!(refused.is_empty());
    assert_ne!(keys.key(0), keys.key(2));
    assert!(Keys::encode(&[Column::ints(vec![], None)], &Bitmap::new_unset(0)).0.is_empty());
}

proptest! {
    /// The parts of a key can't run into each other.
    #[test]
    fn two_texts_make_one_key_only_if_both_are_equal(
        a in ("[ab]{0,3}", "[ab]{0,3}"), b in ("[ab]{0,3}", "[ab]{0,3}")
    ) {
        let first = Column::strings([Some(&a.0), Some(&b.0)]);
        let second = Column::strings([Some(&a.1), Some(&b.1)]);
        let (keys, _) = keys(&[first, second]);
        prop_assert_eq!(keys.key(0) == keys.key(1), a == b);
    }

    #[test]
    fn ints_are_one_key_only_if_they_are_equal(a in any::<i64>(), off in -2_i64..=2) {
        let b = a.saturating_add(off);
        let (keys, _) = keys(&[Column::ints(vec![a, b], None)]);
        prop_assert_eq!(keys.key(0) == keys.key(1), a == b);
    }
}

/// Numbers come back as ints where they are whole, and decimals without zeros at their end.
#[test]
fn keys_tell_what_they_are_made_of() {
    let decimal = |mantissa, scale| Value::Decimal { mantissa, scale };
    let values = [
        (Value::Null, Value::Null),
        (Value::Bool(true), Value::Bool(true)),
        (Value::Int(i64::MAX), Value::Int(i64::MAX)),
        (Value::Int(i64::MIN), Value::Int(i64::MIN)),
        (Value::Float(-0.0), Value::Int(0)),
        (Value::Float(2.5), Value::Float(2.5)),
        (Value::Float(f64::NEG_INFINITY), Value::Float(f64::NEG_INFINITY)),
        (Value::Float(9_223_372_036_854_775_808.0), Value::Float(9_223_372_036_854_775_808.0)),
        (decimal(250, 2), decimal(25, 1)),
        (decimal(300, 2), Value::Int(3)),
        (decimal(-LARGEST, 28), decimal(-LARGEST, 28)),
        (Value::String("no view holds this text".into()), Value::String("no view holds this text".into())),
        (Value::Date(-1), Value::Date(-1)),
        (Value::DateTime(i128::MIN), Value::DateTime(i128::MIN)),
    ];
    let columns: Vec<Column> =
        values.iter().map(|(value, _)| Column::from_values(&Kind::Any, std::slice::from_ref(value))).collect();
    let (keys, _) = keys(&columns);
    let expected: Vec<Value> = values.iter().map(|(_, expected)| expected.clone()).collect();
    assert_eq!(equality::values(keys.key(0)), expected);
}

proptest! {
    #[test]
    fn groups_are_numbered_as_they_are_first_seen(
        values in prop::collection::vec(prop::option::of(0_i64..300), 1..900),
        batch in 1_usize..100,
    ) {
        let arbitrator = Arbitrator::new(u64::MAX, ["groups".to_string()]);
        let hasher = KeyHasher::default();
        let mut table = GroupTable::new(Charge::new(&arbitrator, 0));
        let mut seen: Vec<Option<i64>> = Vec::new();
        for part in values.chunks(batch) {
            let column = Column::ints(
                part.iter().map(|value| value.unwrap_or_default()).collect(),
                Some(part.iter().map(Option::is_some).collect::<Vec<bool>>().into()),
            );
            let (keys, _) = Keys::encode(&[column], &Bitmap::new_set(part.len()));
            let mut groups = Vec::new();
            let admitted = table.admit_rows(&keys, &hasher.hash(&keys), 0..part.len(), &mut groups);
            admitted.expect("there is no limit");
            for (value, group) in part.iter().zip(groups) {
                let known = seen.iter().position(|other| other == value).unwrap_or_else(|| {
                    seen.push(*value);
                    seen.len() - 1
                });
                prop_assert_eq!(group as usize, known);
            }
        }
        prop_assert_eq!(table.len(), seen.len());
        for (group, value) in seen.iter().enumerate() {
            let key = equality::values(table.key(group as u32));
            prop_assert_eq!(key, vec![value.map_or(Value::Null, Value::Int)]);
        }
        drop(table);
        prop_assert_eq!(arbitrator.reserve(0, u64::MAX), Ok(()));
    }
}

/// What can't tell groups apart becomes null, and is counted by what it is; nulls are counted, too.
#[test]
fn values_that_count_as_none() {
    let text = |text: &str| Value::String(text.into());
    let list = || Value::Array(vec![Value::Int(1)]);
    let map = || Value::Map(vec![("a".into(), Value::Int(1))]);
    let none = Blanks::default();
    let cases = [
        (Kind::String, vec![text(""), Value::Null, text(" "), text("")], Blanks { nulls: 1, texts: 2, ..none }),
        (Kind::String, vec![text("a"), Value::Null], Blanks { nulls: 1, ..none }),
        (Kind::Float, vec![Value::Float(f64::NAN), Value::Float(0.0)], Blanks { nans: 1, ..none }),
        (Kind::Int, vec![Value::Null, Value::Null, Value::Int(0)], Blanks { nulls: 2, ..none }),
        (Kind::Array(Box::new(Kind::Int)), vec![list(), Value::Null], Blanks { nulls: 1, lists: 1, ..none }),
        (
            Kind::Any,
            vec![map(), list(), Value::Null, text(""), Value::Float(f64::NAN), Value::Int(1), map()],
            Blanks { nulls: 1, texts: 1, nans: 1, lists: 1, maps: 2 },
        ),
        (Kind::Any, Vec::new(), none),
    ];
    for (kind, values, expected) in cases {
        let (column, blanks) = folded(Column::from_values(&kind, &values));
        assert_eq!(blanks, expected, "{values:?}");
        let nulls = (0..column.len()).filter(|row| column.is_null(*row)).count() as u64;
        assert_eq!(nulls, blanks.nulls + blanks.not_null(), "{values:?}");
    }
}
