//! Hands out the work of a segment: blocks of a source's text, or ranges of a buffer's rows.

use std::sync::Mutex;

use crate::exec::operators::{Full, Held, Lost, Mixed, Portion, Scan, Slice};
use crate::exec::rest::{Chunk, Codec};
use crate::exec::sources::{self, Source, Ticket};
use crate::exec::{Failure, lock};
use crate::formats::csv::Block;
use crate::plan::physical::MergeOperator;

/// Where the rows of a segment come from.
#[derive(Clone, Copy)]
pub(crate) enum Head<'a, 'p> {
    /// A source.
    Source(&'a Source<'p>),
    /// A buffer, and what turns its rows back.
    Buffer(&'a Full<'p>, &'a Codec),
    /// An interleaving merge, which takes them in turn from other segments.
    Merge(&'p MergeOperator),
}

/// Hands out blocks, in order.
pub(super) enum Feed<'a, 'p> {
    /// Cuts files.
    Text(sources::Feed<'a, 'p>),
    /// Goes through the ports of a buffer.
    Slices(Slices),
    /// Goes through the groups of an aggregate.
    Groups(Portions<'a, 'p>),
    /// Reads a buffer from disk.
    Scan(Scanned<'a, 'p>),
    /// Has nothing: the board hands out what is taken in turn.
    Turns,
}

/// A buffer that is read from disk.
pub(super) struct Scanned<'a, 'p> {
    scan: &'a Mutex<Box<dyn Scan + 'p>>,
    portion: Portion,
    next_index: u64,
    /// How many rows were read of each port.
    read: Vec<u64>,
    closed: bool,
}

/// What a worker takes next.
pub(super) enum Task {
    /// The text is in the block.
    Text(Ticket),
    /// Rows of a buffer.
    Rows(Slice),
    /// Rows of a buffer, which are in the chunk. If they are of failed groups, what happened to each.
    Read(Slice, Vec<Lost>),
    /// Rows that were taken in turn.
    Mixed(Mixed),
    /// No rows: what comes behind the last block, of this number.
    End(u64),
}

impl Task {
    /// Its number in the segment, from 0.
    pub fn index(&self) -> u64 {
        match self {
            Task::Text(ticket) => ticket.index,
            Task::Rows(slice) | Task::Read(slice, _) => slice.index,
            Task::Mixed(mixed) => mixed.index,
            Task::End(index) => *index,
        }
    }
}

impl<'a, 'p> Feed<'a, 'p> {
    /// Goes through a full buffer, in portions that suit blocks of `block_size` bytes.
    pub fn of_buffer(full: &'a Full<'p>, block_size: usize) -> Self {
        match full {
            Full::Resident(drain) => {
                let rows = drain.rows();
                Feed::Slices(Slices::new(drain.ports(), rows.len(), rows.bytes(), block_size))
            }
            Full::Groups(groups) => Feed::Groups(Portions::new(groups, block_size)),
            Full::OnDisk(scan) => Feed::Scan(Scanned::new(scan, block_size)),
        }
    }

    /// The number of the next block.
    pub fn next_index(&self) -> u64 {
        match self {
            Feed::Text(feed) => feed.next_index(),
            Feed::Slices(slices) => slices.next_index,
            Feed::Groups(portions) => portions.next_index,
            Feed::Scan(scanned) => scanned.next_index,
            Feed::Turns => 0,
        }
    }

    /// Makes further blocks of text of so many bytes.
    pub fn set_block_size(&mut self, block_size: usize) {
        if let Feed::Text(feed) = self {
            feed.set_block_size(block_size);
        }
    }

    /// Ends the feed early.
    pub fn close(&mut self) {
        match self {
            Feed::Text(feed) => feed.close(),
            Feed::Slices(slices) => slices.ports.clear(),
            Feed::Groups(portions) => portions.start = portions.groups.len() as u64,
            Feed::Scan(scanned) => scanned.closed = true,
            Feed::Turns => {}
        }
    }

    /// The next block; its text, if it has some, goes into `block`, rows from disk into `chunk`. `None` behind the last
    /// one.
    pub fn next(&mut self, block: &mut Block, chunk: &mut Chunk) -> Result<Option<Task>, Failure> {
        match self {
            Feed::Text(feed) => Ok(feed.next(block)?.map(Task::Text)),
            Feed::Slices(slices) => Ok(slices.next().map(Task::Rows)),
            Feed::Groups(portions) => Ok(portions.next().map(Task::Rows)),
            Feed::Scan(scanned) => scanned.next(chunk),
            Feed::Turns => Ok(None),
        }
    }
}

impl<'a, 'p> Scanned<'a, 'p> {
    fn new(scan: &'a Mutex<Box<dyn Scan + 'p>>, block_size: usize) -> Self {
        let portion = Portion { rows: MOST as usize, bytes: bytes_of_a_portion(block_size) };
        Self { scan, portion, next_index: 0, read: Vec::new(), closed: false }
    }

    fn next(&mut self, chunk: &mut Chunk) -> Result<Option<Task>, Failure> {
        chunk.clear();
        if self.closed {
            return Ok(None);
        }
        let mut scan = lock(self.scan);
        let Some(port) = scan.next(self.portion, chunk)? else { return Ok(None) };
        let lost = scan.lost();
        drop(scan);
        Ok(Some(Task::Read(self.slice(port, chunk.offsets.len() as u64), lost)))
    }

    fn slice(&mut self, port: usize, rows: u64) -> Slice {
        if self.read.len() <= port {
            self.read.resize(port + 1, 0);
        }
        let start = self.read[port];
        self.read[port] += rows;
        self.next_index += 1;
        Slice { index: self.next_index - 1, port, range: start..start + rows }
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

/// Bytes behind which no more is added to what is read from disk, or made of groups, at a time.
fn bytes_of_a_portion(block_size: usize) -> usize {
    block_size * EXPANSION as usize / 4
}

/// Cuts the groups of an aggregate: few, where their results are large.
pub(super) struct Portions<'a, 'p> {
    groups: &'a Held<'p>,
    start: u64,
    next_index: u64,
    size: u64,
    bytes: u64,
}

impl<'a, 'p> Portions<'a, 'p> {
    fn new(groups: &'a Held<'p>, block_size: usize) -> Self {
        let size = slice_size(groups.len() as u64, groups.bytes(), block_size);
        Self { groups, start: 0, next_index: 0, size, bytes: bytes_of_a_portion(block_size) as u64 }
    }

    fn next(&mut self) -> Option<Slice> {
        let start = self.start;
        if start == self.groups.len() as u64 {
            return None;
        }
        self.start = self.groups.portion(start, self.size, self.bytes);
        self.next_index += 1;
        Some(Slice { index: self.next_index - 1, port: 0, range: start..self.start })
    }
}

/// How many rows suit a block of `block_size` bytes, of so many that take so many bytes in all: few, if they are long.
fn slice_size(rows: u64, bytes: u64, block_size: usize) -> u64 {
    let row = (bytes / rows.max(1) / EXPANSION).max(TYPICAL_ROW);
    (block_size as u64 / row).clamp(1, MOST)
}

/// The rows of a block of `block_size` bytes of which nothing is known.
pub(super) fn rows_of_a_block(block_size: usize) -> usize {
    (block_size as u64 / TYPICAL_ROW).clamp(1, MOST) as usize
}

impl Slices {
    /// Slices of the rows of some ports, which take so many bytes in all, as large as suits blocks of `block_size`
    /// bytes: of long rows there are few in a slice.
    pub fn new(ports: Vec<u64>, rows: u64, bytes: u64, block_size: usize) -> Self {
        Self { ports, port: 0, start: 0, next_index: 0, size: slice_size(rows, bytes, block_size) }
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
