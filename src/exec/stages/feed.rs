//! Hands out the work of a stage: blocks of a source's text, or ranges of a buffer's rows.

use crate::exec::Failure;
use crate::exec::operators::{Drain, Slice};
use crate::exec::rest::Codec;
use crate::exec::sources::{self, Source, Ticket};
use crate::formats::csv::Block;

/// What drives a stage.
#[derive(Clone, Copy)]
pub(crate) enum Driver<'a, 'p> {
    /// A source.
    Source(&'a Source<'p>),
    /// A buffer, and what turns its rows back.
    Buffer(&'a (dyn Drain + 'p), &'a Codec),
}

/// Hands out blocks, in order.
pub(super) enum Feed<'a, 'p> {
    /// Cuts files.
    Text(sources::Feed<'a, 'p>),
    /// Goes through the ports of a buffer.
    Slices(Slices),
}

/// What a worker takes next.
pub(super) enum Task {
    /// The text is in the block.
    Text(Ticket),
    /// Rows of a buffer.
    Rows(Slice),
}

impl Task {
    /// Its number in the stage, from 0.
    pub fn index(&self) -> u64 {
        match self {
            Task::Text(ticket) => ticket.index,
            Task::Rows(slice) => slice.index,
        }
    }
}

impl Feed<'_, '_> {
    /// The number of the next block.
    pub fn next_index(&self) -> u64 {
        match self {
            Feed::Text(feed) => feed.next_index(),
            Feed::Slices(slices) => slices.next_index,
        }
    }

    /// Ends the feed early.
    pub fn close(&mut self) {
        match self {
            Feed::Text(feed) => feed.close(),
            Feed::Slices(slices) => slices.ports.clear(),
        }
    }

    /// The next block; its text, if it has some, goes into `block`. `None` behind the last one.
    pub fn next(&mut self, block: &mut Block) -> Result<Option<Task>, Failure> {
        match self {
            Feed::Text(feed) => Ok(feed.next(block)?.map(Task::Text)),
            Feed::Slices(slices) => Ok(slices.next().map(Task::Rows)),
        }
    }
}

/// Cuts the rows of a buffer: those of the first port, then those of the next.
pub(super) struct Slices {
    /// The rows of each port.
    ports: Vec<u64>,
    port: usize,
    start: u64,
    next_index: u64,
    size: u64,
}

/// Most rows of a slice.
const MOST: u64 = 16 * 1024;
/// How many times as large as a block of text the rows of a slice may be.
const EXPANSION: u64 = 8;
/// Bytes of a row by which the size of text blocks becomes one of slices.
const TYPICAL_ROW: u64 = 12;

impl Slices {
    /// Slices of a buffer as large as suits blocks of `block_size` bytes: of long rows there are few in a slice.
    pub fn new(drain: &dyn Drain, block_size: usize) -> Self {
        let rows = drain.rows();
        let row = (rows.bytes() / rows.len().max(1) / EXPANSION).max(TYPICAL_ROW);
        let size = (block_size as u64 / row).clamp(1, MOST);
        Self { ports: drain.ports(), port: 0, start: 0, next_index: 0, size }
    }

    fn next(&mut self) -> Option<Slice> {
        loop {
            let rows = *self.ports.get(self.port)?;
            if self.start < rows {
                let end = rows.min(self.start + self.size);
                let slice = Slice { index: self.next_index, port: self.port, range: self.start..end };
                (self.start, self.next_index) = (end, self.next_index + 1);
                return Some(slice);
            }
            (self.port, self.start) = (self.port + 1, 0);
        }
    }
}
