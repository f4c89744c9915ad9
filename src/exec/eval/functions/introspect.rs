//! Methods of any value, null included.

use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::eval::datum::Datum;
use crate::exec::eval::operators::choose::choose;
use crate::exec::eval::rows::Rows;
use crate::exec::value::Value;

/// `receiver.is_null()`
pub fn is_null(receiver: &Datum, rows: &Rows<'_>) -> Datum {
    Datum::Column(Column::bools(receiver.null_bits(rows.len()), None))
}

/// `receiver.is_empty()`: null, an empty text or an empty list.
pub fn is_empty(receiver: &Datum, rows: &Rows<'_>) -> Datum {
    let nulls = receiver.null_bits(rows.len());
    let empty = match receiver {
        Datum::Column(Column::String(a)) => Bitmap::collect_bool(rows.len(), |row| a.views()[row] as u32 == 0),
        Datum::Column(Column::List(list)) => Bitmap::collect_bool(rows.len(), |row| list.range(row).is_empty()),
        Datum::Column(column @ Column::Any(_)) => Bitmap::collect_bool(rows.len(), |row| match column.value(row) {
            Value::String(s) => s.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        }),
        _ => Bitmap::new_unset(rows.len()),
    };
    Datum::Column(Column::bools(&nulls | &empty, None))
}

/// `receiver.type_of()`
pub fn type_of(receiver: &Datum, rows: &mut Rows<'_>) -> Datum {
    if let Datum::Column(column @ Column::Any(_)) = receiver {
        return Datum::Column(rows.texts(|row, out| {
            out.push_str(column.value(row).type_name());
            Ok(true)
        }));
    }
    let nulls = rows.live.and(&receiver.null_bits(rows.len()));
    let named = |name: &str| Datum::Scalar(Value::String(name.to_owned()));
    let parts = vec![(rows.live.minus(&nulls), named(type_name(receiver))), (nulls, named("null"))];
    choose(parts, &Kind::String, rows.len())
}

fn type_name(datum: &Datum) -> &'static str {
    match datum {
        Datum::Scalar(value) => value.type_name(),
        Datum::Column(Column::Null(_)) => "null",
        Datum::Column(Column::Bool(_)) => "bool",
        Datum::Column(Column::Int(_)) => "int",
        Datum::Column(Column::Float(_)) => "float",
        Datum::Column(Column::Decimal(_)) => "decimal",
        Datum::Column(Column::String(_)) => "string",
        Datum::Column(Column::Date(_)) => "date",
        Datum::Column(Column::DateTime(_)) => "datetime",
        Datum::Column(Column::List(_)) => "array",
        Datum::Column(Column::Any(_)) => unreachable!("its rows are asked one by one"),
    }
}

/// `receiver.catch(other)`: both were evaluated.
pub fn catch(receiver: &Datum, other: &Datum, kind: &Kind, rows: &Rows<'_>) -> Datum {
    let nulls = rows.live.and(&receiver.null_bits(rows.len()));
    choose(vec![(rows.live.minus(&nulls), receiver.clone()), (nulls, other.clone())], kind, rows.len())
}
