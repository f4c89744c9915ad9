//! Columns from values and values from columns.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, BinaryViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::{Column, ListColumn};
use crate::analysis::types::Kind;
use crate::exec::value::{Value, decode, encode, encode_text, is_null, text_of};

impl Column {
    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match self {
            Column::Null(_) => Value::Null,
            Column::Bool(a) => Value::Bool(a.value(row)),
            Column::Int(a) => Value::Int(a.value(row)),
            Column::Float(a) => Value::Float(a.value(row)),
            Column::Decimal(a) => Value::Decimal { mantissa: a.mantissas.value(row), scale: a.scales.at(row) },
            Column::String(a) => Value::String(a.value(row).to_owned()),
            Column::Date(a) => Value::Date(a.value(row)),
            Column::DateTime(a) => Value::DateTime(a.value(row)),
            Column::List(a) => Value::Array(a.range(row).map(|element| a.elements.value(element)).collect()),
            Column::Any(a) => decode(a.value(row)),
        }
    }

    /// Appends the encoding of the value of a row, as [`encode`] does.
    pub fn encode_value(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Column::String(a) if a.is_valid(row) => encode_text(a.value(row), out),
            Column::Any(a) if a.is_valid(row) => out.extend_from_slice(a.value(row)),
            column => encode(&column.value(row), out),
        }
    }

    /// A column of `kind` with the same value in every row. The value must be null or of that kind.
    pub fn splat(value: &Value, kind: &Kind, rows: usize) -> Column {
        let single = Column::from_values(kind, std::slice::from_ref(value));
        if rows == 1 { single } else { single.take(&vec![0; rows]) }
    }

    /// A column of `kind` with one row for each value, each of which must be null or of that kind.
    pub fn from_values(kind: &Kind, values: &[Value]) -> Column {
        match kind {
            Kind::String => {
                Column::strings(values.iter().map(|v| if let Value::String(s) = v { Some(s) } else { None }))
            }
            Kind::Array(element) => Column::List(lists(element, values)),
            Kind::Map | Kind::Any => Column::any(values),
            kind => Column::of_width(kind, values.len(), |row| Cow::Borrowed(&values[row])),
        }
    }

    /// A column of `kind` with one row for each encoded value, each of which must be null or of that kind.
    pub fn from_encoded(kind: &Kind, values: &[&[u8]]) -> Column {
        match kind {
            Kind::String => Column::strings(values.iter().map(|value| text_of(value))),
            Kind::Array(_) => Column::from_values(kind, &values.iter().map(|value| decode(value)).collect::<Vec<_>>()),
            Kind::Map | Kind::Any => Column::encoded(values.iter().map(|value| (!is_null(value)).then_some(*value))),
            kind => Column::of_width(kind, values.len(), |row| Cow::Owned(decode(values[row]))),
        }
    }

    /// A column of a kind whose values take as many bytes each, given that of each row. The values are looked at one at a
    /// time, so that they are not all there beside the column.
    fn of_width<'v>(kind: &Kind, rows: usize, value: impl Fn(usize) -> Cow<'v, Value>) -> Column {
        let validity = validity(rows, |row| value(row).is_null());
        match kind {
            Kind::Null => Column::Null(rows),
            Kind::Bool => {
                let bits = BooleanBuffer::collect_bool(rows, |row| matches!(*value(row), Value::Bool(true)));
                Column::bools(bits, validity)
            }
            Kind::Int => {
                Column::ints(cells(rows, value, |v| if let Value::Int(i) = v { Some(*i) } else { None }), validity)
            }
            Kind::Float => {
                Column::floats(cells(rows, value, |v| if let Value::Float(f) = v { Some(*f) } else { None }), validity)
            }
            Kind::Decimal { .. } => {
                let mantissas = cells(rows, &value, |v| v.as_decimal().map(|(mantissa, _)| mantissa));
                let scales = cells(rows, &value, |v| v.as_decimal().map(|(_, scale)| scale));
                Column::scaled_decimals(mantissas, scales, validity)
            }
            Kind::Date => {
                Column::dates(cells(rows, value, |v| if let Value::Date(d) = v { Some(*d) } else { None }), validity)
            }
            Kind::DateTime => Column::date_times(
                cells(rows, value, |v| if let Value::DateTime(t) = v { Some(*t) } else { None }),
                validity,
            ),
            Kind::String | Kind::Array(_) | Kind::Map | Kind::Any => unreachable!("their values differ in length"),
            Kind::Error => unreachable!("a pipeline with errors is not run"),
        }
    }

    /// A column of encoded values.
    pub fn any(values: &[Value]) -> Column {
        let mut bytes = Vec::new();
        let encoded = values.iter().map(|value| {
            bytes.clear();
            encode(value, &mut bytes);
            (!value.is_null()).then(|| bytes.clone())
        });
        Column::Any(encoded.collect::<BinaryViewArray>())
    }
}

impl ListColumn {
    /// Where the elements of a row stand in `elements`.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }
}

fn validity(rows: usize, is_null: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let validity = NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| !is_null(row)));
    (validity.null_count() > 0).then_some(validity)
}

fn cells<'v, T: Default>(
    rows: usize,
    value: impl Fn(usize) -> Cow<'v, Value>,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<T> {
    (0..rows).map(|row| read(&value(row)).unwrap_or_default()).collect()
}

fn lists(element: &Kind, values: &[Value]) -> ListColumn {
    let validity = validity(values.len(), |row| values[row].is_null());
    let mut offsets = vec![0];
    let mut elements = Vec::new();
    for value in values {
        if let Value::Array(items) = value {
            elements.extend(items.iter().cloned());
        }
        offsets.push(elements.len() as i32);
    }
    let elements = Arc::new(Column::from_values(element, &elements));
    ListColumn { offsets: offsets.into(), elements, validity }
}
