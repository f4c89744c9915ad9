//! Delimited text: a cutter that splits a file into blocks at record boundaries, a decoder that turns the rows of a
//! block into typed columns, and an encoder that turns batches into bytes.
//!
//! The hot path works on whole blocks: every delimiter is indexed once, then each column is read in one loop whose
//! type is chosen outside it. Nothing is done per record but where a record is bad.

mod bind;
mod cutter;
mod decode;
mod encode;
mod index;
pub mod kernels;
mod raw;
mod record;

use std::io::Read;

pub use bind::bind;
pub use cutter::MAX_RECORD;
pub use encode::cell_text;
pub use index::Index;

use self::kernels::Marks;
use crate::analysis::hir::Encoding;
use crate::exec::batch::Column;

/// What stops the reading of a file.
#[derive(Debug)]
pub enum ReadError {
    /// The operating system could not read on.
    Io(std::io::Error),
    /// A quote was opened in this physical line (from 1) and never closed.
    OpenQuote {
        /// The line.
        line: u64,
    },
    /// The file is empty although its first line should be a header.
    Empty,
    /// It begins like a compressed file.
    Compressed {
        /// What kind, such as `gzip`.
        kind: &'static str,
    },
    /// A byte order mark says that it is UTF-16.
    Utf16,
    /// The header could not be decoded: not valid in the declared encoding.
    HeaderEncoding {
        /// The line.
        line: u64,
    },
    /// A single record is larger than this many bytes.
    RecordTooLarge {
        /// Where it begins.
        line: u64,
        /// The bound.
        bound: usize,
    },
}

/// Part of a file, cut at record boundaries, with what is needed to place its records.
#[derive(Debug, Default)]
pub struct Block {
    /// The bytes, as they stand in the file. At least [`SLACK`] readable bytes lie behind `len`.
    pub bytes: Vec<u8>,
    /// How many of `bytes` belong to the block.
    pub len: usize,
    /// The number in the file of its first record, from 1 (the header not counted).
    pub first_row: u64,
    /// The physical line of its first byte, from 1.
    pub first_line: u64,
    /// How many records it holds; blank lines are not records.
    pub records: u32,
}

/// Bytes that may be read behind the end of a block's text.
pub const SLACK: usize = 64;

/// Splits one file into blocks.
pub struct Cutter {
    reader: Box<dyn Read + Send>,
    marks: Marks,
    block_size: usize,
    /// What was read behind the last block; used up before `from`.
    rest: Vec<u8>,
    from: usize,
    /// The reader has nothing more.
    at_end: bool,
    /// The number of the next record.
    row: u64,
    /// The physical line of the next byte.
    line: u64,
    width: Option<usize>,
    /// Scratch space.
    marked: Vec<u32>,
}

/// Which field of a file each declared and carried column is read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// For each declared column, its field (from 0).
    pub declared: Vec<usize>,
    /// The other fields: position and name (`col_<i>` without a header).
    pub extra: Vec<(usize, String)>,
    /// Fields of a row.
    pub width: usize,
}

/// Why a header can't serve a schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BindingError {
    /// Declared columns are not in the header.
    Missing {
        /// Positions among the declared columns.
        columns: Vec<usize>,
    },
    /// A header that the schema needs stands twice.
    Duplicate {
        /// Position among the declared columns.
        column: usize,
        /// Both positions, from 0.
        positions: (usize, usize),
    },
    /// Without a header, a row has too few fields for the schema.
    TooNarrow {
        /// Fields found.
        found: usize,
    },
    /// Two fields that no column declares have one name, and would be carried.
    DuplicateExtra {
        /// The name.
        name: String,
        /// Both positions, from 0.
        positions: (usize, usize),
    },
}

/// A record that could not be typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordFault {
    /// The record, as a position in the block.
    pub position: u32,
    /// What is wrong with it.
    pub kind: RecordFaultKind,
}

/// What is wrong with a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordFaultKind {
    /// It has another number of fields than the file's first row.
    Width {
        /// Fields wanted.
        expected: usize,
        /// Fields there.
        found: usize,
    },
    /// It is not valid in the declared encoding.
    Encoding {
        /// The field (from 0) of the first bad byte.
        field: usize,
    },
    /// A value does not fit its declared type.
    Value {
        /// Position among the declared columns.
        column: usize,
        /// Why: `not a whole number`.
        reason: String,
    },
}

/// The rows of a part of a block.
#[derive(Debug)]
pub struct Decoded {
    /// By declared column; `None` where the column is not stored. One value for each record of the range; where a
    /// record failed the value is unspecified.
    pub columns: Vec<Option<Column>>,
    /// The extra fields, in the order of [`Binding::extra`], if they are stored.
    pub extra: Vec<Column>,
    /// The records that failed, ascending, one fault each: the first in this order: width, encoding, columns.
    pub faults: Vec<RecordFault>,
}

/// Decodes the blocks of one file. Shared by all workers.
pub struct Decoder {
    columns: Vec<decode::ColumnReader>,
    /// The field of each extra column that is stored.
    extra: Vec<usize>,
    width: usize,
    marks: Marks,
    encoding: Encoding,
}

/// A record as it stands in the file, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawRecord {
    /// The fields, unquoted; bytes that are not valid text as `\xHH`.
    pub fields: Vec<String>,
    /// The exact text, without its line end; bytes that are not valid text as `\xHH`.
    pub text: String,
    /// The physical line it begins in, from 1.
    pub line: u64,
}

/// Where a written column comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeSource {
    /// A declared column of the batch, by position.
    Column(usize),
    /// A carried field, by its id in the run; empty on rows whose file doesn't have it.
    Carried(u32),
}

/// A column of the written file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodeColumn {
    /// Its name.
    pub name: String,
    /// Where its values come from.
    pub source: EncodeSource,
    /// The scale decimals are rounded to, half to even.
    pub scale: Option<u8>,
}

/// A row that can't be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodeError {
    /// The row, as a position in the batch.
    pub row: usize,
    /// Position among the written columns.
    pub column: usize,
    /// Why.
    pub reason: String,
}

/// Writes batches as delimited text. Shared by all workers.
#[derive(Clone, Debug)]
pub struct Encoder {
    columns: Vec<EncodeColumn>,
    delimiter: u8,
}
