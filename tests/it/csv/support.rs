//! Reads and writes csv text with as little ceremony as possible.

use std::io::Read;

use clinker::analysis::hir::{CsvReadOptions, SourceColumn};
use clinker::analysis::types::Type;
use clinker::diagnostics::{FileId, Span};
use clinker::exec::batch::{Batch, Carried, Column, Origin, Positions};
use clinker::formats::csv::{
    Block, Cutter, Decoded, Decoder, EncodeColumn, EncodeError, EncodeSource, Encoder, Index, RawRecord, ReadError,
    bind,
};
use clinker::plan::physical::ColumnSet;

/// A reader that gives at most `most` bytes at a time.
pub struct Trickle {
    text: Vec<u8>,
    from: usize,
    most: usize,
}

impl Trickle {
    pub fn new(text: &[u8], most: usize) -> Box<Self> {
        Box::new(Self { text: text.to_vec(), from: 0, most })
    }
}

impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(self.most).min(self.text.len() - self.from);
        into[..count].copy_from_slice(&self.text[self.from..][..count]);
        self.from += count;
        Ok(count)
    }
}

pub fn without_header() -> CsvReadOptions {
    CsvReadOptions { has_header: false, ..CsvReadOptions::default() }
}

pub fn column(name: &str, ty: Type) -> SourceColumn {
    SourceColumn {
        name: name.into(),
        header: name.into(),
        header_span: Span::new(FileId(0), 0, 0),
        ty,
        formats: Vec::new(),
        precision: None,
        span: Span::new(FileId(0), 0, 0),
    }
}

/// A record with where it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub row: u64,
    pub raw: RawRecord,
}

/// Every record of a text, and what its cells hold as strings (those of records of a wrong width excepted).
pub struct Reading {
    pub header: Option<Vec<String>>,
    pub width: Option<usize>,
    pub records: Vec<Found>,
    pub cells: Vec<Vec<String>>,
    pub blocks: usize,
    /// Records of a wrong width.
    pub misshapen: Vec<u64>,
}

/// Reads a text through cutter, index and decoder, every field as a string.
pub fn read(text: &[u8], options: &CsvReadOptions, block_size: usize) -> Result<Reading, ReadError> {
    let (mut cutter, header) = Cutter::open(Trickle::new(text, 1 + block_size * 2 / 3), options, block_size)?;
    let width = cutter.width();
    let mut reading = Reading { header, width, records: vec![], cells: vec![], blocks: 0, misshapen: Vec::new() };
    let (mut block, mut index) = (Block::default(), Index::default());
    while cutter.next_block(&mut block)? {
        let width = width.expect("a file with rows has a width");
        let binding = bind(&[], None, width, true).expect("no column is declared");
        let decoder = Decoder::new(&[], binding, &ColumnSet::none(0), true, options);
        decoder.index(&block, &mut index);
        reading.blocks += 1;
        add(&mut reading, &decoder, &block, &index);
    }
    Ok(reading)
}

fn add(reading: &mut Reading, decoder: &Decoder, block: &Block, index: &Index) {
    // In two parts, so that ranges inside a block are covered.
    let half = block.records / 2;
    for range in [0..half, half..block.records] {
        let decoded = decoder.decode(block, index, range.clone());
        let failed: Vec<u32> = decoded.faults.iter().map(|fault| fault.position).collect();
        reading.misshapen.extend(failed.iter().map(|position| block.first_row + u64::from(*position)));
        for position in range.clone() {
            let raw = decoder.raw(block, index, position);
            let row = block.first_row + u64::from(position);
            if !failed.contains(&position) {
                reading.cells.push(decoded.extra.iter().map(|c| text(c, (position - range.start) as usize)).collect());
            }
            reading.records.push(Found { row, raw });
        }
    }
}

/// A cell as the encoder writes it, null as `null`.
pub fn text(column: &Column, row: usize) -> String {
    match column {
        _ if column.is_null(row) => "null".into(),
        Column::String(values) => values.value(row).into(),
        Column::Any(_) => column.value(row).to_string(),
        other => {
            let lines = encode(&[("c", other.clone())], None).expect("the value can be written");
            lines.lines().nth(row + 1).expect("a line for each row").into()
        }
    }
}

/// Decodes a headerless text of these columns as one block; the columns and the faults.
pub fn decode(text: &str, columns: &[SourceColumn]) -> (usize, Decoded) {
    let options = without_header();
    let (mut cutter, _) = Cutter::open(Trickle::new(text.as_bytes(), usize::MAX), &options, 1 << 20).expect("opens");
    let mut block = Block::default();
    assert!(cutter.next_block(&mut block).expect("reads"));
    let binding = bind(columns, None, cutter.width().expect("known"), false).expect("binds");
    let decoder = Decoder::new(columns, binding, &ColumnSet::all(columns.len()), false, &options);
    let mut index = Index::default();
    decoder.index(&block, &mut index);
    let rows = block.records;
    (rows as usize, decoder.decode(&block, &index, 0..rows))
}

/// Writes columns with a header.
pub fn encode(columns: &[(&str, Column)], scale: Option<u8>) -> Result<String, EncodeError> {
    encode_with(columns, scale, b',')
}

pub fn encode_with(columns: &[(&str, Column)], scale: Option<u8>, delimiter: u8) -> Result<String, EncodeError> {
    let written = columns.iter().enumerate().map(|(position, (name, _))| EncodeColumn {
        name: (*name).into(),
        source: EncodeSource::Column(position),
        scale,
    });
    let encoder = Encoder::new(written.collect(), delimiter);
    let mut out = Vec::new();
    encoder.header(&mut out);
    encoder.encode(&batch(columns), &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

pub fn batch(columns: &[(&str, Column)]) -> Batch {
    Batch {
        rows: columns.first().map_or(0, |(_, column)| column.len()),
        columns: columns.iter().map(|(_, column)| Some(column.clone())).collect(),
        carried: Carried::default(),
        origin: Origin {
            source: 0,
            file: 0,
            block_row: 1,
            block_source_row: 1,
            positions: Positions::From(0),
            kept: None,
        },
    }
}
