//! What rules read of the key: the values that the first row of each group has in it.

use std::ops::Range;

use crate::exec::batch::Column;
use crate::exec::memory::Segments;
use crate::exec::value::Value;
use crate::plan::physical::CullOperator;

/// The values that a group's first row has in the partition columns that rules read.
pub(super) struct Firsts {
    /// Positions among the partition columns.
    positions: Vec<usize>,
    values: Vec<Segments<Value>>,
}

impl Firsts {
    /// Nothing yet for these partition columns.
    pub fn new(positions: Vec<usize>) -> Self {
        Self { values: positions.iter().map(|_| Segments::default()).collect(), positions }
    }

    /// What the values of so many more groups take at most, but for texts, in bytes.
    pub fn growth(&self, groups: usize) -> u64 {
        self.values.iter().map(|values| values.bound(values.len() + groups) - values.bytes()).sum()
    }

    /// What is held but for texts, in bytes.
    pub fn bytes(&self) -> u64 {
        self.values.iter().map(Segments::bytes).sum()
    }

    /// Adds the values of a row that begins a group.
    pub fn add(&mut self, columns: &[Column], row: usize) {
        self.values.iter_mut().zip(columns).for_each(|(values, column)| values.push(column.value(row)));
    }

    /// The partition columns of some groups; those that no rule reads are absent.
    pub fn columns(&self, spec: &CullOperator, groups: Range<u32>) -> Vec<Option<Column>> {
        let mut columns: Vec<Option<Column>> = spec.cull.partition_by.iter().map(|_| None).collect();
        for (position, values) in self.positions.iter().zip(&self.values) {
            let column = &spec.schema.columns[spec.cull.partition_by[*position]];
            let values: Vec<Value> = values.range(groups.clone()).cloned().collect();
            columns[*position] = Some(Column::from_values(&column.ty.kind, &values));
        }
        columns
    }
}

/// The bytes of the texts that some rows have in some columns.
pub(super) fn text_bytes(columns: &[Column], rows: impl Iterator<Item = usize> + Clone) -> u64 {
    let of_column = |column: &Column| match column {
        Column::String(a) => rows.clone().map(|row| a.value(row).len() as u64).sum(),
        _ => 0,
    };
    columns.iter().map(of_column).sum()
}
