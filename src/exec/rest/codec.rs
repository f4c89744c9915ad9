//! Turns rows into resting rows and back, in whichever form the plan chose.

use std::sync::Arc;

use super::layout::Layout;
use super::{Chunk, HEAD};
use crate::analysis::hir::Schema;
use crate::exec::batch::{Batch, Column, KeptOrigins, Origin, RowId};
use crate::formats::csv::{EncodeError, Encoder};
use crate::plan::physical::Rest;

/// Turns rows into resting rows and back. Shared by all workers.
#[derive(Debug)]
pub struct Codec {
    form: Form,
    identity: bool,
}

#[derive(Debug)]
enum Form {
    Bytes(Encoder),
    Row(Layout),
}

impl Codec {
    /// A codec for rows of a schema. `sink` writes them where they become the bytes of a sink.
    pub fn new(rest: &Rest, schema: &Schema, sink: Option<Encoder>) -> Self {
        let form = match sink {
            Some(encoder) => Form::Bytes(encoder),
            None => Form::Row(Layout::new(rest, schema)),
        };
        Self { form, identity: rest.identity }
    }

    /// Whether rows become what a sink writes.
    pub fn is_bytes(&self) -> bool {
        matches!(self.form, Form::Bytes(_))
    }

    /// Whether rows keep where they came from.
    pub fn keeps_identity(&self) -> bool {
        self.identity
    }

    /// Appends the rows of a batch to a chunk. Fails with the first row that the sink can't write, where rows become
    /// sink bytes.
    pub fn encode(&self, batch: &Batch, chunk: &mut Chunk) -> Result<(), EncodeError> {
        let first = chunk.offsets.len();
        let head = if self.identity { IDENTITY } else { 0 };
        match &self.form {
            Form::Bytes(encoder) => encoder.encode_framed(batch, head, &mut chunk.bytes, &mut chunk.offsets)?,
            Form::Row(layout) => layout.encode(batch, head, chunk),
        }
        // Places count in 32 bits: rather no result than that of other rows.
        assert!(u32::try_from(chunk.bytes.len()).is_ok(), "the rows of a block stay below 4 GiB");
        if self.identity {
            self.write_identity(&batch.origin, first, chunk);
        }
        Ok(())
    }

    fn write_identity(&self, origin: &Origin, first: usize, chunk: &mut Chunk) {
        for (row, offset) in chunk.offsets[first..].iter().enumerate() {
            let start = *offset as usize + HEAD;
            chunk.bytes[start..start + IDENTITY].copy_from_slice(&to_bytes(origin.row_id(row)));
        }
    }

    /// What a sink writes for a resting row; the row must rest as such bytes.
    pub fn bytes<'r>(&self, row: &'r [u8]) -> &'r [u8] {
        if self.identity { &row[IDENTITY..] } else { row }
    }

    /// The batch that some resting rows are, in that order; they must not rest as sink bytes. Its origin says nothing:
    /// see [`Self::origins`].
    pub fn decode(&self, rows: &[&[u8]]) -> Batch {
        let Form::Row(layout) = &self.form else { unreachable!("the bytes of a sink are not turned back") };
        layout.decode(rows, if self.identity { IDENTITY } else { 0 })
    }

    /// Where some resting rows came from, if that is kept.
    pub fn origins(&self, rows: &[&[u8]]) -> Option<Arc<KeptOrigins>> {
        self.identity.then(|| {
            let mut kept = KeptOrigins::default();
            for identity in rows.iter().map(|row| from_bytes(row)) {
                kept.sources.push(identity.source);
                kept.files.push(identity.file);
                kept.file_rows.push(identity.file_row);
                kept.source_rows.push(identity.source_row);
            }
            Arc::new(kept)
        })
    }

    /// Where a resting row came from, if that is kept.
    pub fn row_id(&self, row: &[u8]) -> Option<RowId> {
        self.identity.then(|| from_bytes(row))
    }

    /// The column of a kind of which nothing is known but nulls.
    pub fn nulls(kind: &crate::analysis::types::Kind, rows: usize) -> Column {
        Column::splat(&crate::exec::value::Value::Null, kind, rows)
    }
}

/// Bytes of a row's identity, which stands in front of the row.
const IDENTITY: usize = 24;

fn to_bytes(RowId { source, file, file_row, source_row }: RowId) -> [u8; IDENTITY] {
    let mut bytes = [0; IDENTITY];
    bytes[..4].copy_from_slice(&source.to_le_bytes());
    bytes[4..8].copy_from_slice(&file.to_le_bytes());
    bytes[8..16].copy_from_slice(&file_row.to_le_bytes());
    bytes[16..].copy_from_slice(&source_row.to_le_bytes());
    bytes
}

fn from_bytes(row: &[u8]) -> RowId {
    let (source, rest) = row.split_first_chunk().expect("a row with identity begins with it");
    let (file, rest) = rest.split_first_chunk().expect("a row with identity begins with it");
    let (file_row, rest) = rest.split_first_chunk().expect("a row with identity begins with it");
    let (source_row, _) = rest.split_first_chunk().expect("a row with identity begins with it");
    RowId {
        source: u32::from_le_bytes(*source),
        file: u32::from_le_bytes(*file),
        file_row: u64::from_le_bytes(*file_row),
        source_row: u64::from_le_bytes(*source_row),
    }
}
