//! What rules read of the key: the values that the first row of each group has in it.

use std::ops::Range;

use crate::exec::batch::Column;
use crate::exec::memory::Strings;
use crate::exec::value::MOST_ENCODED;
use crate::plan::physical::CullOperator;

/// The values that a group's first row has in the partition columns that rules read.
pub(super) struct Firsts {
    /// Positions among the partition columns.
    positions: Vec<usize>,
    /// For each of these, the values by group, encoded.
    values: Vec<Strings>,
}

impl Firsts {
    /// Nothing yet for these partition columns.
    pub fn new(positions: Vec<usize>) -> Self {
        Self { values: positions.iter().map(|_| Strings::default()).collect(), positions }
    }

    /// The most that adding so many of some rows takes, in bytes.
    pub fn growth(&self, columns: &[Column], rows: impl Iterator<Item = usize> + Clone, groups: usize) -> u64 {
        let of_column = |(values, column): (&Strings, &Column)| {
            let encoded = text_bytes(column, rows.clone()) + groups * MOST_ENCODED;
            values.bound(groups, encoded) - values.bytes()
        };
        self.values.iter().zip(columns).map(of_column).sum()
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.values.iter().map(Strings::bytes).sum()
    }

    /// Adds the values of a row that begins a group.
    pub fn add(&mut self, columns: &[Column], row: usize) {
        let columns = self.values.iter_mut().zip(columns);
        columns.for_each(|(values, column)| {
            values.push(|bytes| column.encode_value(row, bytes));
        });
    }

    /// The partition columns of some groups; those that no rule reads are absent.
    pub fn columns(&self, spec: &CullOperator, groups: Range<u32>) -> Vec<Option<Column>> {
        let mut columns: Vec<Option<Column>> = spec.cull.partition_by.iter().map(|_| None).collect();
        for (position, values) in self.positions.iter().zip(&self.values) {
            let column = &spec.schema.columns[spec.cull.partition_by[*position]];
            let values: Vec<&[u8]> = groups.clone().map(|group| values.get(group as usize)).collect();
            columns[*position] = Some(Column::from_encoded(&column.ty.kind, &values));
        }
        columns
    }
}

/// The bytes of the texts that some rows have in a column; of one of any type, those of all its values.
fn text_bytes(column: &Column, rows: impl Iterator<Item = usize>) -> usize {
    match column {
        Column::String(a) => rows.map(|row| a.value(row).len()).sum(),
        Column::Any(a) => rows.map(|row| a.value(row).len()).sum(),
        _ => 0,
    }
}
