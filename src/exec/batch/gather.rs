//! Putting rows of several batches together.
//!
//! Long texts are copied, so that what was gathered holds no more than its rows need.

use std::sync::Arc;

use arrow_array::{Array, StringViewArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, ScalarBuffer};

use super::{Batch, Carried, Column, TextColumn};
use crate::analysis::types::Kind;

/// Rows, each as the position of a batch and its own there.
pub type Picks = [(u32, u32)];

impl Batch {
    /// The columns and undeclared fields at `picks` out of some batches of one schema, whose columns are of `kinds`.
    pub fn gather(batches: &[Arc<Batch>], picks: &Picks, kinds: &[&Kind]) -> (Vec<Option<Column>>, Carried) {
        let column = |(position, kind): (usize, &&Kind)| {
            let columns: Option<Vec<&Column>> = batches.iter().map(|batch| batch.columns[position].as_ref()).collect();
            columns.map(|columns| Column::gather(&columns, picks, kind))
        };
        let columns = kinds.iter().enumerate().map(column).collect();
        let carried: Vec<&Carried> = batches.iter().map(|batch| &batch.carried).collect();
        (columns, Carried::gather(&carried, picks))
    }

    /// The same rows, with texts of their own: those of rows that were left out are not kept for their sake.
    pub fn with_own_texts(self) -> Self {
        let columns = self.columns.into_iter().map(|column| column.map(Column::with_own_texts)).collect();
        let fields = self.carried.fields.into_iter().map(|(name, texts)| (name, texts.gc())).collect();
        Self { columns, carried: Carried { fields }, ..self }
    }

    /// Bytes of the texts, lists and maps of all rows.
    pub fn text_bytes(&self) -> usize {
        let carried = self.carried.fields.iter().map(|(_, texts)| lengths(texts.lengths())).sum::<usize>();
        carried + self.columns.iter().flatten().map(Column::text_bytes).sum::<usize>()
    }
}

impl Column {
    fn with_own_texts(self) -> Self {
        match self {
            Column::String(a) => Column::String(a.gc()),
            Column::Any(a) => Column::Any(a.gc()),
            column => column,
        }
    }

    /// Bytes of its texts, lists and maps.
    fn text_bytes(&self) -> usize {
        match self {
            Column::String(a) => lengths(a.lengths()),
            Column::Any(a) => lengths(a.lengths()),
            Column::List(a) => a.elements.text_bytes() + a.elements.len() * size_of::<u128>(),
            _ => 0,
        }
    }
}

fn lengths(lengths: impl Iterator<Item = u32>) -> usize {
    lengths.map(|length| length as usize).sum()
}

impl Column {
    /// The values at `picks` out of some columns of one kind.
    pub fn gather(columns: &[&Column], picks: &Picks, kind: &Kind) -> Column {
        let validity = || gather_validity(columns, picks);
        let gathered = match kind {
            Kind::Int => natives(columns, picks, |c| if let Column::Int(a) = c { Some(a.values()) } else { None })
                .map(|values| Column::ints(values, validity())),
            Kind::Float => natives(columns, picks, |c| if let Column::Float(a) = c { Some(a.values()) } else { None })
                .map(|values| Column::floats(values, validity())),
            Kind::Date => natives(columns, picks, |c| if let Column::Date(a) = c { Some(a.values()) } else { None })
                .map(|values| Column::dates(values, validity())),
            Kind::DateTime => {
                natives(columns, picks, |c| if let Column::DateTime(a) = c { Some(a.values()) } else { None })
                    .map(|values| Column::date_times(values, validity()))
            }
            Kind::Bool => gather_bits(columns, picks).map(|bits| Column::bools(bits, validity())),
            Kind::String => gather_texts(columns, picks).map(|texts| texts.finish(validity())),
            Kind::Any | Kind::Map => gather_encoded(columns, picks),
            Kind::Decimal { .. } => gather_decimals(columns, picks, validity()),
            Kind::Null | Kind::Array(_) | Kind::Error => None,
        };
        gathered.unwrap_or_else(|| {
            let value = |&(column, row): &(u32, u32)| columns[column as usize].value(row as usize);
            Column::from_values(kind, &picks.iter().map(value).collect::<Vec<_>>())
        })
    }
}

impl Carried {
    /// The fields at `picks`; a row lacks those that its batch lacks.
    fn gather(batches: &[&Carried], picks: &Picks) -> Carried {
        let mut ids: Vec<u32> = batches.iter().flat_map(|carried| &carried.fields).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let field = |id: u32| {
            let find = |carried: &&Carried| carried.fields.iter().position(|(other, _)| *other == id);
            let positions: Vec<Option<usize>> = batches.iter().map(find).collect();
            let texts = |batch: usize| positions[batch].map(|position| &batches[batch].fields[position].1);
            (id, gather_fields(texts, picks))
        };
        Carried { fields: ids.into_iter().map(field).collect() }
    }
}

/// The values at `picks` out of columns of fixed width, if all are of that kind.
fn natives<'a, T: ArrowNativeType>(
    columns: &[&'a Column],
    picks: &Picks,
    values: impl Fn(&'a Column) -> Option<&'a ScalarBuffer<T>>,
) -> Option<Vec<T>> {
    let values: Option<Vec<&[T]>> = columns.iter().map(|column| values(column).map(|values| &values[..])).collect();
    let values = values?;
    Some(picks.iter().map(|(column, row)| values[*column as usize][*row as usize]).collect())
}

fn gather_validity(columns: &[&Column], picks: &Picks) -> Option<NullBuffer> {
    let validity: Vec<Option<NullBuffer>> = columns.iter().map(|column| column.validity()).collect();
    if validity.iter().all(Option::is_none) {
        return None;
    }
    let is_valid = |position: usize| {
        let (column, row) = picks[position];
        validity[column as usize].as_ref().is_none_or(|validity| validity.is_valid(row as usize))
    };
    let gathered = NullBuffer::new(BooleanBuffer::collect_bool(picks.len(), is_valid));
    (gathered.null_count() > 0).then_some(gathered)
}

fn gather_bits(columns: &[&Column], picks: &Picks) -> Option<BooleanBuffer> {
    let bits = |column: &&Column| if let Column::Bool(a) = column { Some(a.values().clone()) } else { None };
    let bits: Vec<BooleanBuffer> = columns.iter().map(bits).collect::<Option<_>>()?;
    let bit = |(column, row): (u32, u32)| bits[column as usize].value(row as usize);
    Some(BooleanBuffer::collect_bool(picks.len(), |position| bit(picks[position])))
}

fn gather_texts(columns: &[&Column], picks: &Picks) -> Option<TextColumn> {
    let arrays = columns.iter().map(|column| if let Column::String(a) = column { Some(a) } else { None });
    let arrays: Vec<&StringViewArray> = arrays.collect::<Option<_>>()?;
    let mut texts = TextColumn::with_capacity(picks.len());
    picks.iter().for_each(|(column, row)| texts.push_from(arrays[*column as usize], *row as usize));
    Some(texts)
}

fn gather_encoded(columns: &[&Column], picks: &Picks) -> Option<Column> {
    let arrays = columns.iter().map(|column| if let Column::Any(a) = column { Some(a) } else { None });
    let arrays: Vec<_> = arrays.collect::<Option<_>>()?;
    let value = |&(column, row): &(u32, u32)| {
        let (array, row) = (arrays[column as usize], row as usize);
        array.is_valid(row).then(|| array.value(row))
    };
    Some(Column::encoded(picks.iter().map(value)))
}

/// Decimals at `picks`: their columns may have different scales.
fn gather_decimals(columns: &[&Column], picks: &Picks, validity: Option<NullBuffer>) -> Option<Column> {
    let decimals = columns.iter().map(|column| if let Column::Decimal(d) = column { Some(d) } else { None });
    let decimals: Vec<_> = decimals.collect::<Option<_>>()?;
    let cell = |&(column, row): &(u32, u32)| {
        let (column, row) = (decimals[column as usize], row as usize);
        (column.mantissas.value(row), column.scales.at(row))
    };
    let (mantissas, scales) = picks.iter().map(cell).unzip();
    Some(Column::scaled_decimals(mantissas, scales, validity))
}

/// The texts at `picks`, with null where there are none for a batch.
fn gather_fields<'a>(texts: impl Fn(usize) -> Option<&'a StringViewArray>, picks: &Picks) -> StringViewArray {
    let mut column = TextColumn::with_capacity(picks.len());
    let mut valid = Vec::with_capacity(picks.len());
    for &(batch, row) in picks {
        let array = texts(batch as usize).filter(|array| array.is_valid(row as usize));
        valid.push(array.is_some());
        match array {
            Some(array) => column.push_from(array, row as usize),
            None => column.push(""),
        }
    }
    let validity = Some(NullBuffer::from(valid)).filter(|validity| validity.null_count() > 0);
    column.finish_array(validity)
}
