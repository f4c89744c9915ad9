//! Changes of representation that never fail.

use std::sync::Arc;

use arrow_array::Array;

use crate::analysis::types::Kind;
use crate::exec::batch::{Column, ListColumn};
use crate::exec::eval::datum::Datum;
use crate::exec::value::Value;

/// The datum with the values of `kind`; one that is of it already, or that has no conversion to it, stays as it is.
pub fn convert(datum: Datum, kind: &Kind) -> Datum {
    match datum {
        Datum::Scalar(value) => Datum::Scalar(convert_value(value, kind)),
        Datum::Column(Column::Null(_)) => Datum::NULL,
        Datum::Column(column) => Datum::Column(convert_column(column, kind)),
    }
}

fn convert_column(column: Column, kind: &Kind) -> Column {
    match (column, kind) {
        (Column::Int(a), Kind::Float) => {
            Column::floats(a.values().iter().map(|i| *i as f64).collect(), a.nulls().cloned())
        }
        (Column::Int(a), Kind::Decimal { .. }) => {
            Column::decimals(a.values().iter().map(|i| i128::from(*i)).collect(), 0, a.nulls().cloned())
        }
        (Column::List(list), Kind::Array(element)) => {
            let elements = convert_elements(&list.elements, element);
            Column::List(ListColumn { elements: Arc::new(elements), ..list })
        }
        (column @ Column::Any(_), _) => column,
        (column, Kind::Any) => Column::any(&(0..column.len()).map(|row| column.value(row)).collect::<Vec<_>>()),
        (column, _) => column,
    }
}

fn convert_elements(elements: &Column, kind: &Kind) -> Column {
    match elements {
        Column::Null(rows) => Column::splat(&Value::Null, kind, *rows),
        _ => convert_column(elements.clone(), kind),
    }
}

/// The value as one of `kind`; one that has no conversion to it stays as it is.
pub fn convert_value(value: Value, kind: &Kind) -> Value {
    match (value, kind) {
        (Value::Int(i), Kind::Float) => Value::Float(i as f64),
        (Value::Int(i), Kind::Decimal { .. }) => Value::Decimal { mantissa: i128::from(i), scale: 0 },
        (Value::Array(items), Kind::Array(element)) => {
            Value::Array(items.into_iter().map(|item| convert_value(item, element)).collect())
        }
        (value, _) => value,
    }
}
