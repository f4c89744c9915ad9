//! Hands out the blocks of a source's files, in order.

use std::sync::{Arc, OnceLock};

use crate::exec::Failure;
use crate::formats::csv::{Binding, Block, Cutter, Decoder};
use crate::plan::physical::{ColumnSet, SourceOperator};

use super::Source;
use super::open::{BoundFile, read_failure, reopen};

/// What decodes the blocks of one file.
pub(crate) struct FileDecoder {
    /// Keeps what the plan reads.
    pub decoder: Decoder,
    /// Which fields the columns are read from.
    pub binding: Binding,
    /// The ids of the extra fields, in the order of the binding; empty unless they are carried.
    pub carried: Vec<u32>,
    /// Keeps every declared column; made for the first dead letter that shows a dropped one.
    full: OnceLock<Decoder>,
}

impl FileDecoder {
    fn new(spec: &SourceOperator, binding: Binding, carried: Vec<u32>) -> Self {
        let source = &spec.source;
        let decoder = Decoder::new(&source.columns, binding.clone(), &spec.stored, spec.carries, &source.csv);
        Self { decoder, binding, carried, full: OnceLock::new() }
    }

    /// A decoder of the same file that keeps every declared column.
    pub fn full(&self, spec: &SourceOperator) -> &Decoder {
        self.full.get_or_init(|| {
            let (source, all) = (&spec.source, ColumnSet::all(spec.source.columns.len()));
            Decoder::new(&source.columns, self.binding.clone(), &all, false, &source.csv)
        })
    }
}

/// One block, ready for a worker.
pub(crate) struct Ticket {
    /// Its number in the stage, from 0.
    pub index: u64,
    /// Its file, as a position among the source's files.
    pub file: u32,
    /// The number across the source's files of its first record, from 1.
    pub source_row: u64,
    /// What decodes it.
    pub decoder: Arc<FileDecoder>,
}

/// Cuts the files of one source into blocks.
pub(crate) struct Feed<'a, 'p> {
    source: &'a Source<'p>,
    files: Vec<BoundFile>,
    open: Option<(Cutter, Arc<FileDecoder>)>,
    next_file: usize,
    next_index: u64,
    next_row: u64,
    block_size: usize,
}

impl<'a, 'p> Feed<'a, 'p> {
    /// A feed of a source's files, bound as `files` say, from the first row on.
    pub fn new(source: &'a Source<'p>, files: Vec<BoundFile>, block_size: usize) -> Self {
        Self { source, files, open: None, next_file: 0, next_index: 0, next_row: 1, block_size }
    }

    /// Ends the feed early.
    pub fn close(&mut self) {
        self.open = None;
        self.next_file = self.files.len();
    }

    /// The number of the next block.
    pub fn next_index(&self) -> u64 {
        self.next_index
    }

    /// Fills `block` with the next records; `None` behind the last file.
    pub fn next(&mut self, block: &mut Block) -> Result<Option<Ticket>, Failure> {
        loop {
            if self.open.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some((cutter, decoder)) = &mut self.open else { return Ok(None) };
            let file = self.next_file - 1;
            let filled = cutter.next_block(block);
            if filled.map_err(|error| read_failure(self.source, &self.source.files[file], &error))? {
                let decoder = Arc::clone(decoder);
                return Ok(Some(self.ticket(file as u32, block, decoder)));
            }
            self.open = None;
        }
    }

    fn ticket(&mut self, file: u32, block: &Block, decoder: Arc<FileDecoder>) -> Ticket {
        let ticket = Ticket { index: self.next_index, file, source_row: self.next_row, decoder };
        self.next_index += 1;
        self.next_row += u64::from(block.records);
        ticket
    }

    fn open_next(&mut self) -> Result<bool, Failure> {
        let Some(bound) = self.files.get_mut(self.next_file) else { return Ok(false) };
        let cutter = match bound.opened.take() {
            Some(cutter) => cutter,
            None => reopen(self.source, &self.source.files[self.next_file], bound, self.block_size)?,
        };
        let decoder = FileDecoder::new(self.source.spec, bound.binding.clone(), std::mem::take(&mut bound.carried));
        self.open = Some((cutter, Arc::new(decoder)));
        self.next_file += 1;
        Ok(true)
    }
}
