//! Values that can't tell groups apart, as nulls: where a missing value is one group, whatever it looks like.

use arrow_array::{Array, Float64Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::exec::batch::Column;
use crate::exec::value::Value;

/// The column with null in the place of empty texts, NaN, lists and maps, and how many these are. `None` if it has
/// nothing of this.
pub fn folded(column: &Column) -> Option<(Column, usize)> {
    let rows = column.len();
    match column {
        Column::String(a) => {
            let validity = without(column, |row| a.views()[row] as u32 == 0)?;
            let folded = validity.null_count() - a.null_count();
            let texts = StringViewArray::new(a.views().clone(), a.data_buffers().to_vec(), Some(validity));
            Some((Column::String(texts), folded))
        }
        Column::Float(a) => {
            let validity = without(column, |row| a.values()[row].is_nan())?;
            let folded = validity.null_count() - a.null_count();
            Some((Column::Float(Float64Array::new(a.values().clone(), Some(validity))), folded))
        }
        Column::List(_) => Some((Column::Null(rows), (0..rows).filter(|row| !column.is_null(*row)).count())),
        Column::Any(_) => {
            let values: Vec<Value> = (0..rows).map(|row| column.value(row)).collect();
            let folded = values.iter().filter(|value| is_folded(value)).count();
            let kept = |value: Value| if is_folded(&value) { Value::Null } else { value };
            (folded > 0).then(|| (Column::any(&values.into_iter().map(kept).collect::<Vec<_>>()), folded))
        }
        _ => None,
    }
}

/// The rows that are neither null nor such; `None` if no row that isn't null is such.
fn without(column: &Column, is_such: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let valid = BooleanBuffer::collect_bool(column.len(), |row| !is_such(row) && !column.is_null(row));
    let validity = NullBuffer::new(valid);
    let nulls = column.validity().map_or(0, |validity| validity.null_count());
    (validity.null_count() > nulls).then_some(validity)
}

fn is_folded(value: &Value) -> bool {
    match value {
        Value::Float(float) => float.is_nan(),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Map(_) => true,
        _ => false,
    }
}
