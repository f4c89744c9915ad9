//! What a block came to: what is written when its turn comes.

use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::dlq::Letters;
use crate::exec::sources::Ticket;
use crate::formats::csv::Block;

use super::Tree;

/// What a block came to. Reused: `clear` keeps the buffers.
#[derive(Default)]
pub(crate) struct BlockResult {
    /// Records in the block.
    pub records: u32,
    /// Bytes in the block.
    pub bytes: u64,
    /// The number across the source's files of its first record, from 1.
    pub source_row: u64,
    /// For each operator of the stage, what it did.
    pub counts: Vec<Counts>,
    /// For each sink, the bytes to append.
    pub sinks: Vec<Vec<u8>>,
    /// Records written to at least one sink.
    pub ok: u64,
    /// The records that could not be typed, ascending, as positions in the block.
    pub untyped: Vec<u32>,
    /// Its dead letters, in order.
    pub letters: Letters,
    /// `warn` validations that did not hold.
    pub warned: Vec<Warned>,
    /// What stops the run here.
    pub failure: Option<Failure>,
    /// One bit a record: whether a sink got it. Only kept where there are several sinks.
    pub written: Vec<u64>,
}

/// What one operator did with a block.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// Rows in.
    pub rows_in: u64,
    /// Rows out over all ports.
    pub rows_out: u64,
    /// Rows that failed.
    pub rejected: u64,
    /// Rows that a filter took out.
    pub filtered: u64,
    /// Rows that `distinct` took out.
    pub duplicates: u64,
    /// `warn` validations that did not hold.
    pub warned: u64,
}

/// A `warn` validation and the rows of a block for which it did not hold.
pub(crate) struct Warned {
    /// The operator, as a position in the stage.
    pub node: usize,
    /// The validation, as a position.
    pub validation: usize,
    /// How many.
    pub count: u64,
    /// What to say about the first few.
    pub samples: Vec<Diagnostic>,
}

/// Rows of each `warn` validation that are spelled out.
pub(crate) const WARNING_SAMPLES: usize = 5;

impl BlockResult {
    /// Forgets all but the buffers, and makes ready for a block.
    pub fn clear(&mut self, tree: &Tree<'_>, ticket: &Ticket, block: &Block) {
        self.records = block.records;
        self.bytes = block.len as u64;
        self.source_row = ticket.source_row;
        self.counts.clear();
        self.counts.resize(tree.nodes.len(), Counts::default());
        self.sinks.resize_with(tree.sinks.len(), Vec::new);
        self.sinks.iter_mut().for_each(Vec::clear);
        self.ok = 0;
        self.untyped.clear();
        self.letters.clear();
        self.warned.clear();
        self.failure = None;
        self.written.clear();
        let several = tree.sinks.len() > 1;
        self.written.resize(if several { (block.records as usize).div_ceil(64) } else { 0 }, 0);
    }

    /// Notes that the run stops here.
    pub fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }
}

impl Counts {
    /// Adds up.
    pub fn add(&mut self, other: &Counts) {
        self.rows_in += other.rows_in;
        self.rows_out += other.rows_out;
        self.rejected += other.rejected;
        self.filtered += other.filtered;
        self.duplicates += other.duplicates;
        self.warned += other.warned;
    }
}
