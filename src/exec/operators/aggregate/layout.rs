//! What is kept of a group besides its key and its states, and how a group is put on disk.
//!
//! The record of a group has its key in front or as its sort key; behind it stand, little-endian:
//!
//! 1. when it was first seen, in 8 bytes: how often all groups had been put on disk before, then its number since;
//! 2. the number of its first row, in 8 bytes, where that has to be known;
//! 3. the first values of those columns of the key that the key doesn't tell, behind their length, where there are some;
//! 4. the state of each aggregate, which tells where it ends.

use crate::analysis::hir::Aggregation;
use crate::analysis::types::Kind;
use crate::exec::aggregate::Accumulator;
use crate::exec::batch::{Batch, Column};
use crate::exec::keys::KeyColumns;
use crate::exec::rest::{Chunk, Codec};
use crate::plan::physical::{ColumnSet, Rest};

/// What is kept of each group.
pub(super) struct GroupLayout {
    /// Makes columns of keys.
    keys: KeyColumns,
    /// Keeps the first values of the columns that keys don't tell, if there are some.
    firsts: Option<Codec>,
    /// Whether the number of a group's first row is kept.
    pub names_rows: bool,
}

/// A group's record, its key aside.
pub(super) struct Record<'r> {
    /// When it was first seen.
    pub seen: u64,
    /// The number of its first row, or 0.
    pub first_row: u64,
    /// The first values of columns.
    pub firsts: &'r [u8],
    /// The states of its aggregates.
    pub states: &'r [u8],
}

impl GroupLayout {
    /// For the groups of an aggregate.
    pub fn new(aggregation: &Aggregation, names_rows: bool) -> Self {
        let schema = &aggregation.grouped;
        let kinds: Vec<Kind> = schema.columns[..aggregation.key].iter().map(|column| column.ty.kind.clone()).collect();
        let mut columns = ColumnSet::none(schema.columns.len());
        let untold = kinds.iter().enumerate().filter(|(_, kind)| !KeyColumns::tells(kind));
        untold.for_each(|(position, _)| columns.insert(position));
        let rest = Rest { columns, ..Rest::undecided(0) };
        let has_firsts = rest.columns.iter().next().is_some();
        let firsts = has_firsts.then(|| Codec::new(&rest, schema, None));
        Self { keys: KeyColumns::new(kinds), firsts, names_rows }
    }

    /// Whether keys don't tell the values of all columns.
    pub fn has_firsts(&self) -> bool {
        self.firsts.is_some()
    }

    /// Appends, for each row of a batch of keys and arguments, the values that its key doesn't tell.
    pub fn encode_firsts(&self, batch: &Batch, chunk: &mut Chunk) {
        if let Some(codec) = &self.firsts {
            codec.encode(batch, chunk).expect("rows that don't become the bytes of a sink can't be refused");
        }
    }

    /// The columns of the key of some groups, given their keys and first values.
    pub fn key_columns<'g>(
        &self,
        keys: impl ExactSizeIterator<Item = &'g [u8]>,
        firsts: impl Iterator<Item = &'g [u8]>,
    ) -> Vec<Option<Column>> {
        let mut columns = self.keys.decode(keys);
        if let Some(codec) = &self.firsts {
            let rows: Vec<&[u8]> = firsts.collect();
            let told = codec.decode(&rows).columns;
            columns.iter_mut().zip(told).for_each(|(column, first)| *column = column.take().or(first));
        }
        columns
    }

    /// Appends all of a record but the states.
    pub fn write_head(&self, seen: u64, first_row: u64, firsts: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&seen.to_le_bytes());
        if self.names_rows {
            out.extend_from_slice(&first_row.to_le_bytes());
        }
        if self.has_firsts() {
            out.extend_from_slice(&(firsts.len() as u32).to_le_bytes());
            out.extend_from_slice(firsts);
        }
    }

    /// Reads a record.
    pub fn read<'r>(&self, mut record: &'r [u8]) -> Record<'r> {
        let seen = u64::from_le_bytes(fixed(&mut record));
        let first_row = if self.names_rows { u64::from_le_bytes(fixed(&mut record)) } else { 0 };
        let firsts = if self.has_firsts() { part(&mut record) } else { &[] };
        Record { seen, first_row, firsts, states: record }
    }

    /// Begins a record that has its key in front.
    pub fn write_key(key: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&(key.len() as u32).to_le_bytes());
        out.extend_from_slice(key);
    }

    /// Takes the key off the front of a record that begins with it.
    pub fn split_key(mut record: &[u8]) -> (&[u8], &[u8]) {
        let key = part(&mut record);
        (key, record)
    }
}

/// New accumulators for the aggregates of a node.
pub(super) fn accumulators(aggregation: &Aggregation) -> Vec<Accumulator> {
    aggregation.aggregates.iter().map(Accumulator::new).collect()
}

fn fixed<const N: usize>(record: &mut &[u8]) -> [u8; N] {
    let (first, rest) = record.split_first_chunk().expect("a record is whole");
    *record = rest;
    *first
}

fn part<'r>(record: &mut &'r [u8]) -> &'r [u8] {
    let length = u32::from_le_bytes(fixed(record)) as usize;
    let (part, rest) = record.split_at(length);
    *record = rest;
    part
}
