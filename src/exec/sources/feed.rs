//! Hands out the blocks of a source's files, in order.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::exec::Failure;
use crate::exec::batch::Column;
use crate::formats::csv::{Binding, Block, Cutter, Decoded, Decoder, Index};
use crate::plan::physical::{ColumnSet, SourceOperator};

use super::Source;
use super::open::{BoundFile, WatchedFile, read_failure, reopen};

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
    pub(super) fn new(spec: &SourceOperator, stored: &ColumnSet, binding: Binding, carried: Vec<u32>) -> Self {
        let source = &spec.source;
        let declared = with_keys(spec, stored);
        let decoder = Decoder::new(&source.columns, binding.clone(), &declared, spec.carries, &source.csv);
        Self { decoder, binding, carried, full: OnceLock::new() }
    }

    /// Decodes some records: the columns of the source's schema, which ends with copies of the key columns.
    pub fn decode(&self, spec: &SourceOperator, block: &Block, index: &Index, range: Range<u32>) -> Decoded {
        let mut decoded = self.decoder.decode(block, index, range);
        add_keys(spec, &spec.stored, &mut decoded.columns);
        decoded
    }

    /// Decodes some records with every column of the source's schema.
    pub fn decode_all(
        &self,
        spec: &SourceOperator,
        block: &Block,
        index: &Index,
        range: Range<u32>,
    ) -> Vec<Option<Column>> {
        let all = ColumnSet::all(spec.schema.columns.len());
        let full = self.full.get_or_init(|| {
            let source = &spec.source;
            Decoder::new(&source.columns, self.binding.clone(), &all, false, &source.csv)
        });
        let mut columns = full.decode(block, index, range).columns;
        add_keys(spec, &all, &mut columns);
        columns
    }
}

/// The columns to decode: a key column that is not stored itself, too, where its copy is.
fn with_keys(spec: &SourceOperator, stored: &ColumnSet) -> ColumnSet {
    let mut decoded = stored.clone();
    for (number, key) in spec.source.correlation_key.iter().enumerate() {
        if stored.contains(spec.source.columns.len() + number) {
            decoded.insert(*key);
        }
    }
    decoded
}

/// Adds the copies of the key columns that are stored.
fn add_keys(spec: &SourceOperator, stored: &ColumnSet, columns: &mut Vec<Option<Column>>) {
    let declared = columns.len();
    for (number, key) in spec.source.correlation_key.iter().enumerate() {
        let copy = stored.contains(declared + number).then(|| columns[*key].clone()).flatten();
        columns.push(copy);
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

/// The file that is being cut.
struct Opened {
    cutter: Cutter,
    decoder: Arc<FileDecoder>,
    watched: Option<WatchedFile>,
}

/// Cuts the files of one source into blocks.
pub(crate) struct Feed<'a, 'p> {
    source: &'a Source<'p>,
    files: Vec<BoundFile>,
    open: Option<Opened>,
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

    /// Makes further blocks of so many bytes.
    pub fn set_block_size(&mut self, block_size: usize) {
        self.block_size = block_size;
        if let Some(Opened { cutter, .. }) = &mut self.open {
            cutter.set_block_size(block_size);
        }
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
            let Some(Opened { cutter, decoder, watched }) = &mut self.open else { return Ok(None) };
            let file = self.next_file - 1;
            let filled = cutter.next_block(block);
            if filled.map_err(|error| read_failure(self.source, &self.source.files[file], &error))? {
                let decoder = Arc::clone(decoder);
                return Ok(Some(self.ticket(file as u32, block, decoder)));
            }
            if let Some(watched) = watched {
                watched.check(self.source, &self.source.files[file])?;
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
        let (cutter, watched) = match bound.opened.take() {
            Some(mut cutter) => {
                cutter.set_block_size(self.block_size);
                (cutter, None)
            }
            None => {
                let reopened = reopen(self.source, &self.source.files[self.next_file], bound, self.block_size)?;
                (reopened.0, Some(reopened.1))
            }
        };
        let decoder = FileDecoder::new(
            self.source.spec,
            &self.source.spec.stored,
            bound.binding.clone(),
            std::mem::take(&mut bound.carried),
        );
        self.open = Some(Opened { cutter, decoder: Arc::new(decoder), watched });
        self.next_file += 1;
        Ok(true)
    }
}
