//! What a worker takes through the tree at a time: a block of a file, a range of a buffer's rows, or rows that an
//! interleaving merge took in turn.

use std::ops::Range;
use std::sync::Arc;

use crate::exec::batch::{Batch, KeptOrigins};
use crate::exec::rest::{Chunk, Codec};
use crate::exec::sources::{Source, Ticket};
use crate::formats::csv::{Block, Index};

use super::aggregate::Held;
use super::buffer::Drain;
use super::lost::Lost;

/// A block of work.
#[derive(Clone, Copy)]
pub(crate) enum Unit<'a, 'p> {
    /// Text of a file, with the index of its fields.
    Text {
        /// Its source.
        source: &'a Source<'p>,
        /// What the feed says about it.
        ticket: &'a Ticket,
        /// The text.
        block: &'a Block,
        /// Where its fields stand.
        index: &'a Index,
    },
    /// Rows of a buffer.
    Resting {
        /// Where they are.
        rows: Resting<'a, 'p>,
        /// What turns them back.
        codec: &'a Codec,
        /// Which rows.
        slice: &'a Slice,
    },
    /// Rows out of several batches.
    Mixed(&'a Mixed),
    /// No rows: what comes behind the last block of a segment, where groups are open until then.
    End {
        /// Its number in the segment, from 0.
        index: u64,
    },
}

/// Where the rows of a unit are.
#[derive(Clone, Copy)]
pub(crate) enum Resting<'a, 'p> {
    /// In a buffer, at the range of the slice.
    Drain(&'a (dyn Drain + 'p)),
    /// Read from disk: they are all there is in the chunk. If they are of failed groups, what happened to each.
    Read(&'a Chunk, &'a [Lost]),
    /// Groups of an aggregate, at the range of the slice.
    Groups(&'a Held<'p>),
}

/// Some rows of one port of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    /// Its number in the segment, from 0.
    pub index: u64,
    /// The port.
    pub port: usize,
    /// The rows, by their position among those of the port.
    pub range: Range<u64>,
}

/// Rows that an interleaving merge took in turn.
pub(crate) struct Mixed {
    /// Its number in the segment, from 0.
    pub index: u64,
    /// What they come from: batches of the merge's columns.
    pub batches: Vec<Arc<Batch>>,
    /// The rows, each as a batch and its position there.
    pub picks: Vec<(u32, u32)>,
}

impl Mixed {
    /// Where the rows come from.
    pub fn origins(&self) -> KeptOrigins {
        let mut kept = KeptOrigins::default();
        for &(batch, row) in &self.picks {
            let (origin, row) = (&self.batches[batch as usize].origin, row as usize);
            kept.sources.push(origin.source_of(row));
            kept.files.push(origin.file_of(row));
            kept.file_rows.push(origin.file_row(row));
            kept.source_rows.push(origin.source_row(row));
        }
        kept
    }
}

impl Unit<'_, '_> {
    /// Its number in the segment, from 0.
    pub fn index(&self) -> u64 {
        match self {
            Unit::Text { ticket, .. } => ticket.index,
            Unit::Resting { slice, .. } => slice.index,
            Unit::Mixed(mixed) => mixed.index,
            Unit::End { index } => *index,
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match self {
            Unit::Text { block, .. } => block.records as usize,
            Unit::Resting { slice, .. } => (slice.range.end - slice.range.start) as usize,
            Unit::Mixed(mixed) => mixed.picks.len(),
            Unit::End { .. } => 0,
        }
    }
}
