//! What is kept of a group besides its key and its states, and how a group is put on disk.
//!
//! The record of a group is, ints in as few bytes as they need:
//!
//! 1. its key behind its length;
//! 2. when it was first seen: how often all groups had been put on disk before, then its number since;
//! 3. the numbers of its first row and of that row's file, where these have to be known;
//! 4. the first values of those columns of the key that the key doesn't tell, behind their length, where there are some;
//! 5. the state of each aggregate behind its length.

use std::sync::Arc;

use crate::analysis::hir::Aggregation;
use crate::analysis::types::Kind;
use crate::exec::aggregate::Accumulator;
use crate::exec::batch::{Batch, Column, Origin};
use crate::exec::eval::Constants;
use crate::exec::keys::KeyColumns;
use crate::exec::rest::{Chunk, Codec};
use crate::exec::varint;
use crate::plan::physical::{ColumnSet, Rest};

/// What is kept of each group.
pub(super) struct GroupLayout {
    /// Makes columns of keys.
    keys: KeyColumns,
    /// Keeps the first values of the columns that keys don't tell, if there are some.
    firsts: Option<Codec>,
    /// Whether it is kept which row a group begins with.
    pub names_rows: bool,
    constants: Arc<Constants>,
}

/// The row that a group begins with.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct FirstRow {
    /// Its number in its file.
    pub row: u64,
    /// The [number](crate::exec::batch::FileNumbers) of the file.
    pub file: u32,
}

/// A group's record.
pub(super) struct Record<'r> {
    /// The key.
    pub key: &'r [u8],
    /// When it was first seen.
    pub seen: u64,
    /// Its first row, if that is kept.
    pub first_row: FirstRow,
    /// The first values of columns.
    pub firsts: &'r [u8],
    /// The states of its aggregates.
    pub states: &'r [u8],
}

impl GroupLayout {
    /// For the groups of an aggregate.
    pub fn new(aggregation: &Aggregation, names_rows: bool, constants: Arc<Constants>) -> Self {
        let schema = &aggregation.grouped;
        let kinds: Vec<Kind> = schema.columns[..aggregation.key].iter().map(|column| column.ty.kind.clone()).collect();
        let mut columns = ColumnSet::none(schema.columns.len());
        let untold = kinds.iter().enumerate().filter(|(_, kind)| !KeyColumns::tells(kind));
        untold.for_each(|(position, _)| columns.insert(position));
        let rest = Rest { columns, ..Rest::undecided(0) };
        let has_firsts = rest.columns.iter().next().is_some();
        let firsts = has_firsts.then(|| Codec::new(&rest, schema, None));
        Self { keys: KeyColumns::new(kinds), firsts, names_rows, constants }
    }

    /// A row that a group begins with.
    pub fn first_row(&self, origin: &Origin, row: usize) -> FirstRow {
        if !self.names_rows {
            return FirstRow::default();
        }
        let file = self.constants.file_numbers.number(origin.source_of(row), origin.file_of(row));
        FirstRow { row: origin.file_row(row), file }
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
    pub fn write_head(&self, head: &Record<'_>, out: &mut Vec<u8>) {
        put_part(head.key, out);
        varint::put(head.seen >> 32, out);
        varint::put(head.seen & u64::from(u32::MAX), out);
        if self.names_rows {
            varint::put(head.first_row.row, out);
            varint::put(u64::from(head.first_row.file), out);
        }
        if self.has_firsts() {
            put_part(head.firsts, out);
        }
    }

    /// Reads a record.
    pub fn read<'r>(&self, mut record: &'r [u8]) -> Record<'r> {
        let key = varint::take_part(&mut record);
        let seen = varint::take(&mut record) << 32 | varint::take(&mut record);
        let mut first_row = FirstRow::default();
        if self.names_rows {
            first_row = FirstRow { row: varint::take(&mut record), file: varint::take(&mut record) as u32 };
        }
        let firsts = if self.has_firsts() { varint::take_part(&mut record) } else { &[] };
        Record { key, seen, first_row, firsts, states: record }
    }

    /// The key of a record.
    pub fn key_of(mut record: &[u8]) -> &[u8] {
        varint::take_part(&mut record)
    }
}

/// Appends the state of a group behind its length, which is hardly ever more than a byte.
pub(super) fn put_state(accumulator: &Accumulator, group: u32, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    accumulator.encode(group, out);
    let length = out.len() - start - 1;
    match u8::try_from(length).ok().filter(|length| *length < 0x80) {
        Some(length) => out[start] = length,
        None => {
            let mut bytes = Vec::new();
            varint::put(length as u64, &mut bytes);
            out.splice(start..=start, bytes);
        }
    }
}

fn put_part(part: &[u8], out: &mut Vec<u8>) {
    varint::put(part.len() as u64, out);
    out.extend_from_slice(part);
}

/// New accumulators for the aggregates of a node.
pub(super) fn accumulators(aggregation: &Aggregation) -> Vec<Accumulator> {
    aggregation.aggregates.iter().map(Accumulator::new).collect()
}
