//! Rows at rest decode to what they were, and rest as the bytes that a sink would write.

use clinker::analysis::hir::{Column as SchemaColumn, Schema};
use clinker::analysis::types::{Kind, Type};
use clinker::diagnostics::{FileId, Span};
use clinker::exec::batch::{Batch, Carried, Column, KeptOrigins, Origin, Positions};
use clinker::exec::rest::{Chunk, Codec, Rows};
use clinker::exec::value::Value;
use clinker::formats::csv::{EncodeColumn, EncodeSource, Encoder};
use clinker::plan::physical::{ColumnSet, Rest, RestForm};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-é]{0,12}", "[a-c,\"\n]{13,40}", "x{250,260}"]
}

fn value(kind: &Kind) -> BoxedStrategy<Value> {
    let some = match kind {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Int => any::<i64>().prop_map(Value::Int).boxed(),
        Kind::Float => (-1e9..1e9).prop_map(Value::Float).boxed(),
        Kind::Decimal { .. } => (-(1_i128 << 96) + 1..1_i128 << 96, 0..29u8)
            .prop_map(|(mantissa, scale)| Value::Decimal { mantissa, scale })
            .boxed(),
        Kind::String => text().prop_map(Value::String).boxed(),
        Kind::Date => any::<i32>().prop_map(Value::Date).boxed(),
        Kind::DateTime => any::<i64>().prop_map(|n| Value::DateTime(i128::from(n) * 1000 - 1)).boxed(),
        Kind::Array(element) => prop::collection::vec(value(element), 0..3).prop_map(Value::Array).boxed(),
        Kind::Any => prop_oneof![value(&Kind::Int), value(&Kind::String), value(&Kind::Float)].boxed(),
        _ => Just(Value::Null).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 4 => some].boxed()
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Null,
        Kind::Bool,
        Kind::Int,
        Kind::Float,
        Kind::Decimal { scale: None },
        Kind::String,
        Kind::Date,
        Kind::DateTime,
        Kind::Array(Box::new(Kind::Int)),
        Kind::Any,
    ])
}

type Columns = Vec<(Kind, bool, Vec<Value>)>;
type Extras = Vec<(u32, Vec<Option<String>>)>;

/// Columns, whether each is kept, and undeclared fields.
fn table() -> impl Strategy<Value = (usize, Columns, Extras)> {
    (0..20usize, 0..12usize).prop_flat_map(|(rows, columns)| {
        let column = (kind(), any::<bool>()).prop_flat_map(move |(kind, kept)| {
            prop::collection::vec(value(&kind), rows).prop_map(move |values| (kind.clone(), kept, values))
        });
        let ids = prop::sample::subsequence(vec![0, 3, 254, 255, 70_000], 0..4);
        let extras = ids.prop_flat_map(move |ids| {
            let field =
                move |id: u32| prop::collection::vec(prop::option::of(text()), rows).prop_map(move |texts| (id, texts));
            ids.into_iter().map(field).collect::<Vec<_>>()
        });
        (Just(rows), prop::collection::vec(column, columns), extras)
    })
}

fn schema(columns: &Columns) -> Schema {
    let span = Span::new(FileId(0), 0, 0);
    let columns = columns.iter().enumerate().map(|(number, (kind, _, _))| SchemaColumn {
        name: format!("c{number}"),
        ty: Type { kind: kind.clone(), nullable: true },
        span,
        hidden: false,
    });
    Schema { columns: columns.collect(), carries: true }
}

fn batch(rows: usize, columns: &Columns, extras: &Extras) -> Batch {
    let fields = extras.iter().filter_map(|(id, texts)| match Column::strings(texts.clone()) {
        Column::String(values) => Some((*id, values)),
        _ => None,
    });
    let origin =
        Origin { source: 2, file: 3, block_row: 10, block_source_row: 100, positions: Positions::From(5), kept: None };
    Batch {
        rows,
        columns: columns.iter().map(|(kind, _, values)| Some(Column::from_values(kind, values))).collect(),
        carried: Carried { fields: fields.collect() },
        origin,
    }
}

fn rest(columns: &Columns, identity: bool, carries: bool) -> Rest {
    let mut kept = ColumnSet::none(columns.len());
    columns.iter().enumerate().filter(|(_, (_, keep, _))| *keep).for_each(|(number, _)| kept.insert(number));
    Rest { form: RestForm::Row, columns: kept, carries, identity, consumer: 0 }
}

fn resting(codec: &Codec, batch: &Batch) -> Rows {
    let mut chunk = Chunk::default();
    // Twice, so that a batch begins in the middle of a chunk.
    codec.encode(batch, &mut chunk).expect("writable");
    codec.encode(batch, &mut chunk).expect("writable");
    let mut rows = Rows::default();
    rows.push(chunk.bytes.into(), chunk.offsets.len());
    rows
}

fn kept_rows(origins: &KeptOrigins) -> Vec<(u32, u32, u64, u64)> {
    let row = |row: usize| (origins.sources[row], origins.files[row], origins.file_rows[row], origins.source_rows[row]);
    (0..origins.sources.len()).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_decode_to_what_they_were((rows, columns, extras) in table(), identity: bool, carries: bool) {
        let before = batch(rows, &columns, &extras);
        let codec = Codec::new(&rest(&columns, identity, carries), &schema(&columns), None);
        let resting = resting(&codec, &before);
        let mut places = Vec::new();
        resting.places(rows as u64..2 * rows as u64, &mut places);
        // In another order than they came.
        places.reverse();
        let bytes: Vec<&[u8]> = places.iter().map(|place| resting.row(*place)).collect();
        let after = codec.decode(&bytes);
        prop_assert_eq!(after.rows, rows);
        for (number, (_, kept, values)) in columns.iter().enumerate() {
            let Some(column) = &after.columns[number] else {
                prop_assert!(!kept);
                continue;
            };
            let decoded: Vec<Value> = (0..rows).rev().map(|row| column.value(row)).collect();
            prop_assert_eq!(&decoded, values);
        }
        for (id, texts) in extras.iter().filter(|_| carries) {
            let field = after.carried.fields.iter().find(|(other, _)| other == id).map(|(_, v)| Column::String(v.clone()));
            let text = |row: usize| field.as_ref().map_or(Value::Null, |field| field.value(row));
            let decoded: Vec<Value> = (0..rows).rev().map(text).collect();
            let expected: Vec<Value> = texts.iter().map(|t| t.clone().map_or(Value::Null, Value::String)).collect();
            prop_assert_eq!(decoded, expected);
        }
        let expected = (0..rows as u64).rev().map(|row| (2, 3, 15 + row, 105 + row)).collect();
        prop_assert_eq!(codec.origins(&bytes).as_deref().map(kept_rows), identity.then_some(expected));
    }

    #[test]
    fn rows_rest_as_a_sink_writes_them((rows, columns, extras) in table(), identity: bool) {
        let batch = batch(rows, &columns, &extras);
        let written = columns.iter().enumerate().filter(|(_, (kind, ..))| !matches!(kind, Kind::Array(_)));
        let encoded = written.map(|(number, _)| EncodeColumn {
            name: format!("c{number}"),
            source: EncodeSource::Column(number),
            scale: None,
        });
        let encoder = Encoder::new(encoded.collect(), b',');
        let mut expected = Vec::new();
        encoder.encode(&batch, &mut expected).expect("writable");
        let codec = Codec::new(&rest(&columns, identity, false), &schema(&columns), Some(encoder));
        let resting = resting(&codec, &batch);
        let mut places = Vec::new();
        resting.places(0..rows as u64, &mut places);
        let bytes: Vec<u8> = places.iter().flat_map(|place| codec.bytes(resting.row(*place))).copied().collect();
        prop_assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
    }
}
