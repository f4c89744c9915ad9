//! Taking some rows out of columns and batches.
//!
//! Strings that are stored outside their view keep pointing into the buffers they came with, so a taken column may
//! hold more than its rows need. That is right for rows in motion; who keeps rows must copy their strings out.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, ByteViewType};
use arrow_array::{Array, BooleanArray, GenericByteViewArray, PrimitiveArray, UInt8Array};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};

use super::{Batch, Carried, Column, DecimalColumn, ListColumn, Origin, Positions, Scales, trusted_views};

impl Column {
    /// The values at `rows`, in that order; a row may stand there several times. Every row must lie inside.
    pub fn take(&self, rows: &[u32]) -> Column {
        match self {
            Column::Null(_) => Column::Null(rows.len()),
            Column::Bool(a) => {
                Column::Bool(BooleanArray::new(take_bits(a.values(), rows), take_validity(a.nulls(), rows)))
            }
            Column::Int(a) => Column::Int(take_values(a, rows)),
            Column::Float(a) => Column::Float(take_values(a, rows)),
            Column::Decimal(a) => Column::Decimal(take_decimals(a, rows)),
            Column::String(a) => Column::String(take_views(a, rows)),
            Column::Date(a) => Column::Date(take_values(a, rows)),
            Column::DateTime(a) => Column::DateTime(take_values(a, rows)),
            Column::List(a) => Column::List(take_lists(a, rows)),
            Column::Any(a) => Column::Any(take_views(a, rows)),
        }
    }
}

impl Carried {
    /// The fields at `rows`, in that order.
    pub fn take(&self, rows: &[u32]) -> Carried {
        Carried { fields: self.fields.iter().map(|(name, values)| (*name, take_views(values, rows))).collect() }
    }
}

impl Origin {
    /// The origin of the rows at `rows`, in that order.
    pub fn take(&self, rows: &[u32]) -> Origin {
        let positions = rows.iter().map(|&row| self.positions.at(row as usize)).collect();
        Origin { positions: Positions::List(Arc::new(positions)), ..self.clone() }
    }
}

impl Batch {
    /// The rows at `rows`, in that order.
    pub fn take(&self, rows: &[u32]) -> Batch {
        Batch {
            rows: rows.len(),
            columns: self.columns.iter().map(|column| column.as_ref().map(|c| c.take(rows))).collect(),
            carried: self.carried.take(rows),
            origin: self.origin.take(rows),
        }
    }
}

fn take_bits(bits: &BooleanBuffer, rows: &[u32]) -> BooleanBuffer {
    BooleanBuffer::collect_bool(rows.len(), |i| bits.value(rows[i] as usize))
}

fn take_validity(validity: Option<&NullBuffer>, rows: &[u32]) -> Option<NullBuffer> {
    let taken = NullBuffer::new(take_bits(validity?.inner(), rows));
    (taken.null_count() > 0).then_some(taken)
}

fn gather<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

fn take_values<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, rows: &[u32]) -> PrimitiveArray<T> {
    let values = gather(array.values(), rows);
    PrimitiveArray::new(values.into(), take_validity(array.nulls(), rows)).with_data_type(array.data_type().clone())
}

fn take_views<T: ByteViewType>(array: &GenericByteViewArray<T>, rows: &[u32]) -> GenericByteViewArray<T> {
    let views = ScalarBuffer::from(gather(array.views(), rows));
    let validity = take_validity(array.nulls(), rows);
    // SAFETY: every view comes from `array`, whose buffers are kept.
    unsafe { trusted_views(views, array.data_buffers().clone(), validity) }
}

fn take_decimals(column: &DecimalColumn, rows: &[u32]) -> DecimalColumn {
    let scales = match &column.scales {
        Scales::Shared(scale) => Scales::Shared(*scale),
        Scales::PerRow(scales) => Scales::PerRow(UInt8Array::new(gather(scales.values(), rows).into(), None)),
    };
    DecimalColumn { mantissas: take_values(&column.mantissas, rows), scales }
}

fn take_lists(column: &ListColumn, rows: &[u32]) -> ListColumn {
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    let mut elements = Vec::new();
    offsets.push(0);
    for &row in rows {
        let row = row as usize;
        elements.extend(column.offsets[row] as u32..column.offsets[row + 1] as u32);
        offsets.push(i32::try_from(elements.len()).expect("a batch has fewer list elements than an offset can count"));
    }
    ListColumn {
        offsets: offsets.into(),
        elements: Arc::new(column.elements.take(&elements)),
        validity: take_validity(column.validity.as_ref(), rows),
    }
}
