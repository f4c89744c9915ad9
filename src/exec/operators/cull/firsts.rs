//! What rules read of the key: the values that the first row of each group has in it.

use std::ops::Range;

use crate::exec::batch::Column;
use crate::exec::value::Value;
use crate::plan::physical::CullOperator;

/// The values that a group's first row has in the partition columns that rules read.
pub(super) struct Firsts {
    /// Positions among the partition columns.
    positions: Vec<usize>,
    values: Vec<Vec<Value>>,
}

impl Firsts {
    /// Nothing yet for these partition columns.
    pub fn new(positions: Vec<usize>) -> Self {
        Self { values: positions.iter().map(|_| Vec::new()).collect(), positions }
    }

    /// What adding the groups of a batch from number `before` on takes at most, in bytes.
    pub fn cost(&self, columns: &[Column], groups: &[u32], before: usize) -> u64 {
        let fresh = || new_groups(groups, before);
        let text = |column: &Column| match column {
            Column::String(a) => fresh().map(|row| a.value(row).len() as u64).sum(),
            _ => 0,
        };
        // Values move to twice the room when they fill it.
        columns.iter().map(|column| 3 * (fresh().count() * size_of::<Value>()) as u64 + text(column)).sum()
    }

    /// Adds the groups of a batch from number `before` on.
    pub fn add(&mut self, columns: &[Column], groups: &[u32], before: usize) {
        for (values, column) in self.values.iter_mut().zip(columns) {
            values.extend(new_groups(groups, before).map(|row| column.value(row)));
        }
    }

    /// The partition columns of some groups; those that no rule reads are absent.
    pub fn columns(&self, spec: &CullOperator, groups: Range<u32>) -> Vec<Option<Column>> {
        let mut columns: Vec<Option<Column>> = spec.cull.partition_by.iter().map(|_| None).collect();
        for (position, values) in self.positions.iter().zip(&self.values) {
            let column = &spec.schema.columns[spec.cull.partition_by[*position]];
            let values = &values[groups.start as usize..groups.end as usize];
            columns[*position] = Some(Column::from_values(&column.ty.kind, values));
        }
        columns
    }
}

/// The rows that begin a group, from group `before` on.
fn new_groups(groups: &[u32], before: usize) -> impl Iterator<Item = usize> + '_ {
    let mut next = before as u32;
    groups.iter().enumerate().filter_map(move |(row, group)| {
        let is_first = *group == next;
        next += u32::from(is_first);
        is_first.then_some(row)
    })
}
