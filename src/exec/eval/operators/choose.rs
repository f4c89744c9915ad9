//! One result out of several that were computed for different rows: the ends of `if`, `match`, `??` and `catch`.

use arrow_buffer::{Buffer, NullBuffer};

use super::convert::convert;
use super::sides::{Native, Side};
use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::eval::datum::Datum;
use crate::exec::eval::live::Live;
use crate::exec::value::Value;

/// A result and the rows that it is for.
pub type Part = (Live, Datum);

/// The value of each row from the part that it is in; parts have no row in common, and rows in none are unspecified.
pub fn choose(mut parts: Vec<Part>, kind: &Kind, rows: usize) -> Datum {
    parts.retain(|(live, _)| !live.is_empty());
    if parts.iter().all(|(_, datum)| datum.is_null()) {
        return Datum::NULL;
    }
    for (_, datum) in &mut parts {
        *datum = convert(std::mem::replace(datum, Datum::NULL), kind);
    }
    if parts.len() == 1 {
        return parts.remove(0).1;
    }
    Datum::Column(chosen(&parts, kind, rows))
}

fn chosen(parts: &[Part], kind: &Kind, rows: usize) -> Column {
    match kind {
        Kind::Bool => Column::bools(bits(parts, rows), validity(parts, rows)),
        Kind::Int => Column::ints(natives(parts, rows), validity(parts, rows)),
        Kind::Float => Column::floats(natives(parts, rows), validity(parts, rows)),
        Kind::Date => Column::dates(natives(parts, rows), validity(parts, rows)),
        Kind::DateTime => Column::date_times(natives(parts, rows), validity(parts, rows)),
        Kind::String => strings(parts, rows),
        _ => by_value(parts, kind, rows),
    }
}

fn validity(parts: &[Part], rows: usize) -> Option<NullBuffer> {
    let mut valid = Bitmap::new_set(rows);
    for (live, datum) in parts {
        if datum.is_null() || datum.validity().is_some() {
            valid = &valid & &!&(&live.bits() & &datum.null_bits(rows));
        }
    }
    Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0)
}

fn bits(parts: &[Part], rows: usize) -> Bitmap {
    parts.iter().fold(Bitmap::new_unset(rows), |all, (live, datum)| &all | &(&live.bits() & &datum.true_bits(rows)))
}

fn natives<T: Native + Default>(parts: &[Part], rows: usize) -> Vec<T> {
    let mut values = vec![T::default(); rows];
    for (live, datum) in parts {
        match Side::<T>::of(datum) {
            Some(Side::Scalar(value)) => live.for_each(|row| values[row] = value),
            Some(Side::Column(column)) => live.for_each(|row| values[row] = column[row]),
            None => {}
        }
    }
    values
}

fn strings(parts: &[Part], rows: usize) -> Column {
    let (mut views, mut buffers) = (vec![0_u128; rows], Vec::<Buffer>::new());
    for (live, datum) in parts {
        match datum {
            Datum::Scalar(Value::String(text)) => {
                let view = arrow_array::builder::make_view(text.as_bytes(), buffers.len() as u32, 0);
                live.for_each(|row| views[row] = view);
                if text.len() > 12 {
                    buffers.push(text.as_bytes().into());
                }
            }
            Datum::Column(Column::String(column)) => {
                let moved = buffers.len() as u32;
                live.for_each(|row| views[row] = moved_view(column.views()[row], moved));
                buffers.extend(column.data_buffers().iter().cloned());
            }
            _ => {}
        }
    }
    // SAFETY: each view is of a text that lies in the view or in the buffer that was added for it.
    unsafe { Column::string_views(views, buffers, validity(parts, rows)) }
}

/// The same view when its buffers have `moved` others in front of them.
#[inline]
fn moved_view(view: u128, moved: u32) -> u128 {
    // Length, then the text itself or: four bytes of it, the buffer's position, the offset; 32 bits each.
    if view as u32 <= 12 { view } else { view + (u128::from(moved) << 64) }
}

/// Decimals, lists and values whose type is known only at run time.
fn by_value(parts: &[Part], kind: &Kind, rows: usize) -> Column {
    let mut values = vec![Value::Null; rows];
    for (live, datum) in parts {
        live.for_each(|row| values[row] = datum.value(row));
    }
    Column::from_values(kind, &values)
}
