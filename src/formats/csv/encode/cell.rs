//! One cell as text, whatever its type: the plain way. [`super::pens`] has faster ones for common types.

use arrow_array::{Array, BooleanArray, Date32Array, Decimal128Array, StringViewArray};
use arrow_buffer::NullBuffer;

use super::quoting::Quoting;
use crate::exec::batch::{Column, DecimalColumn, ListColumn};
use crate::exec::value::{self, Value};
use crate::formats::text;

/// The values of a written column.
pub(super) enum Cells<'a> {
    Empty,
    Bool(&'a BooleanArray),
    Int(&'a [i64], Option<&'a NullBuffer>),
    Float(&'a [f64], Option<&'a NullBuffer>),
    Decimal(&'a DecimalColumn, Option<u8>),
    String(&'a StringViewArray),
    Date(&'a Date32Array),
    DateTime(&'a Decimal128Array),
    List(&'a ListColumn, Box<Cells<'a>>),
    Any(&'a arrow_array::BinaryViewArray),
}

impl<'a> Cells<'a> {
    /// The cells of a column; `scale` rounds decimals.
    pub fn new(column: &'a Column, scale: Option<u8>) -> Self {
        match column {
            Column::Null(_) => Cells::Empty,
            Column::Bool(values) => Cells::Bool(values),
            Column::Int(values) => Cells::Int(values.values(), values.nulls()),
            Column::Float(values) => Cells::Float(values.values(), values.nulls()),
            Column::Decimal(values) => Cells::Decimal(values, scale),
            Column::String(values) => Cells::String(values),
            Column::Date(values) => Cells::Date(values),
            Column::DateTime(values) => Cells::DateTime(values),
            Column::List(values) => Cells::List(values, Box::new(Cells::new(&values.elements, scale))),
            Column::Any(values) => Cells::Any(values),
        }
    }

    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Cells::Empty => true,
            Cells::Bool(values) => values.is_null(row),
            Cells::Int(_, nulls) | Cells::Float(_, nulls) => nulls.is_some_and(|nulls| nulls.is_null(row)),
            Cells::Decimal(values, _) => values.mantissas.is_null(row),
            Cells::String(values) => values.is_null(row),
            Cells::Date(values) => values.is_null(row),
            Cells::DateTime(values) => values.is_null(row),
            Cells::List(values, _) => values.validity.as_ref().is_some_and(|nulls| nulls.is_null(row)),
            Cells::Any(values) => values.is_null(row),
        }
    }

    /// Appends a row's cell as a field. Fails with the reason why it can't be written.
    #[inline]
    pub fn write(&self, row: usize, quoting: &Quoting, out: &mut Vec<u8>) -> Result<(), String> {
        if self.is_null(row) {
            return Ok(());
        }
        let start = out.len();
        match self {
            Cells::String(values) => {
                quoting.write(values.value(row).as_bytes(), out);
                return Ok(());
            }
            Cells::List(..) | Cells::Any(_) => {
                self.write_text(row, out)?;
                quoting.mend(start, out);
            }
            _ => {
                self.write_text(row, out)?;
                if quoting.in_values {
                    quoting.mend(start, out);
                }
            }
        }
        Ok(())
    }

    /// Appends the text of a value that is not null, without quotes.
    #[inline]
    fn write_text(&self, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Cells::Empty => {}
            Cells::Bool(values) => text::write_bool(values.value(row), out),
            Cells::Int(values, _) => text::write_int(values[row], out),
            Cells::Float(values, _) => text::write_float(values[row], out),
            Cells::Decimal(values, scale) => write_decimal(values, row, *scale, out)?,
            Cells::String(values) => out.extend_from_slice(values.value(row).as_bytes()),
            Cells::Date(values) => text::write_date(values.value(row), out),
            Cells::DateTime(values) => text::write_date_time(values.value(row), out),
            Cells::List(values, elements) => write_list(values, elements, row, out)?,
            Cells::Any(values) => write_any(&value::decode(values.value(row)), out)?,
        }
        Ok(())
    }
}

fn write_decimal(values: &DecimalColumn, row: usize, wanted: Option<u8>, out: &mut Vec<u8>) -> Result<(), String> {
    let (mantissa, scale) = (values.mantissas.value(row), values.scales.at(row));
    let Some(wanted) = wanted.filter(|wanted| *wanted != scale) else {
        text::write_decimal(mantissa, scale, out);
        return Ok(());
    };
    let rounded = text::rescale(mantissa, scale, wanted).ok_or_else(|| format!("too large for {wanted} places"))?;
    text::write_decimal(rounded, wanted, out);
    Ok(())
}

fn write_list(list: &ListColumn, elements: &Cells<'_>, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let (begin, end) = (list.offsets[row] as usize, list.offsets[row + 1] as usize);
    join(begin..end, out, |element, out| match elements {
        _ if elements.is_null(element) => Ok(()),
        Cells::List(..) => Err(NESTED.into()),
        Cells::Any(values) => write_element(&value::decode(values.value(element)), out),
        _ => elements.write_text(element, out),
    })
}

/// A value as a cell shows it, without quotes; `None` if it can't be written.
pub fn cell_text(value: &Value) -> Option<String> {
    let mut text = Vec::new();
    write_any(value, &mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Appends a value whose type is known only at run time.
fn write_any(value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Array(elements) => join(elements, out, write_element),
        other => write_element(other, out),
    }
}

fn write_element(value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Array(_) => Err(NESTED.into()),
        Value::Map(_) => Err("a map, which a csv file can't hold".into()),
        other => {
            let mut text = String::new();
            other.write_text(&mut text);
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
}

const NESTED: &str = "an array inside an array, which a csv file can't hold";

/// Appends elements with `;` between them.
fn join<T>(
    elements: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    for (position, element) in elements.into_iter().enumerate() {
        if position > 0 {
            out.push(b';');
        }
        let start = out.len();
        write(element, out)?;
        if out[start..].contains(&b';') {
            let text = String::from_utf8_lossy(&out[start..]).into_owned();
            return Err(format!("an element `{text}` contains `;`, which stands between elements"));
        }
    }
    Ok(())
}
