//! Keys for sorting compare as their values do.

use std::cmp::Ordering;

use clinker::analysis::hir::SortKey;
use clinker::analysis::types::Kind;
use clinker::exec::batch::Column;
use clinker::exec::keys::OrderKeys;
use clinker::exec::value::Value;
use proptest::prelude::*;

fn value(kind: &Kind) -> BoxedStrategy<Value> {
    let some = match kind {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Int => prop_oneof![-3..3i64, any::<i64>()].prop_map(Value::Int).boxed(),
        Kind::Float => {
            let odd =
                prop::sample::select(vec![0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324]);
            prop_oneof![odd, any::<f64>(), (-2..3i8).prop_map(f64::from)].prop_map(Value::Float).boxed()
        }
        Kind::Decimal { .. } => {
            let mantissa =
                prop_oneof![-120..120i128, -(1_i128 << 96) + 1..1_i128 << 96, (0..29u32).prop_map(|n| 10_i128.pow(n))];
            (mantissa, 0..29u8).prop_map(|(mantissa, scale)| Value::Decimal { mantissa, scale }).boxed()
        }
        Kind::String => prop_oneof!["[ab\u{0}\u{1}\u{2}é]{0,3}", "a long prefix that is common [ab\u{0}\u{1}]{0,3}"]
            .prop_map(Value::String)
            .boxed(),
        Kind::Date => prop_oneof![-3..3i32, any::<i32>()].prop_map(Value::Date).boxed(),
        _ => prop_oneof![-3..3i128, any::<i64>().prop_map(|n| i128::from(n) * 1_000)].prop_map(Value::DateTime).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 6 => some].boxed()
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Bool,
        Kind::Int,
        Kind::Float,
        Kind::Decimal { scale: None },
        Kind::String,
        Kind::Date,
        Kind::DateTime,
    ])
}

fn columns() -> impl Strategy<Value = Vec<(Kind, SortKey, Vec<Value>)>> {
    (1..4usize, 2..12usize).prop_flat_map(|(columns, rows)| {
        let column = (kind(), any::<bool>(), any::<bool>()).prop_flat_map(move |(kind, descending, nulls_first)| {
            let key = SortKey { column: 0, descending, nulls_first };
            prop::collection::vec(value(&kind), rows).prop_map(move |values| (kind.clone(), key, values))
        });
        prop::collection::vec(column, columns)
    })
}

fn compare(key: &SortKey, left: &Value, right: &Value) -> Ordering {
    // Nulls by wish; NaN behind all other numbers, whichever way these go.
    let rank = |value: &Value| match value {
        Value::Null if key.nulls_first => 0,
        Value::Null => 3,
        Value::Float(f) if f.is_nan() => 2,
        _ => 1,
    };
    if (rank(left), rank(right)) != (1, 1) {
        return rank(left).cmp(&rank(right));
    }
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        _ => left.order(right).expect("values of one type"),
    };
    if key.descending { order.reverse() } else { order }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_compare_as_their_rows_do(columns in columns()) {
        let keys: Vec<SortKey> = columns.iter().enumerate().map(|(column, (_, key, _))| SortKey { column, ..*key }).collect();
        let rows = columns[0].2.len();
        let batch: Vec<_> = columns.iter().map(|(kind, _, values)| Some(Column::from_values(kind, values))).collect();
        let encoded = OrderKeys::encode(&keys, &batch, rows);
        for left in 0..rows {
            for right in 0..rows {
                let expected = columns.iter().fold(Ordering::Equal, |order, (_, key, values)| {
                    order.then_with(|| compare(key, &values[left], &values[right]))
                });
                prop_assert_eq!(encoded.key(left).cmp(encoded.key(right)), expected, "{:?}", (left, right));
                // The way a sort compares: the first bytes, then the rest.
                let parts = |row| (encoded.prefix(row), encoded.rest(row));
                prop_assert_eq!(parts(left).cmp(&parts(right)), expected, "{:?}", (left, right));
            }
        }
    }
}
