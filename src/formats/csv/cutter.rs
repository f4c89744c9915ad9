//! Splits a file into blocks at record boundaries.
//!
//! Workers cut in turns, under a lock, so a cut is one read and one look at the text. Only a text with blank lines,
//! lone CRs or quotes inside fields is walked mark by mark.

use std::io::{ErrorKind, Read};

use super::kernels::{self, Marks};
use super::record::{self, Quoting, Record};
use super::{Block, Cutter, ReadError, SLACK};
use crate::analysis::hir::{CsvReadOptions, Encoding};

/// The largest record that is read.
pub const MAX_RECORD: usize = 64 * 1024 * 1024;

/// What compressed files begin with.
const MAGIC: [(&str, &[u8]); 5] = [
    ("gzip", b"\x1F\x8B\x08"),
    ("zstd", b"\x28\xB5\x2F\xFD"),
    ("xz", b"\xFD7zXZ\0"),
    ("bzip2", b"BZh91AY&SY"),
    ("zip", b"PK\x03\x04"),
];
const LONGEST_MAGIC: usize = 10;

/// A part of a text that ends with a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Cut {
    /// Where it ends.
    end: usize,
    records: u32,
    /// Line ends in it.
    lines: u64,
    /// If the text ends inside quotes: the line ends in front of where they opened.
    open_quote: Option<u64>,
}

impl Cutter {
    /// Starts reading: skips a byte order mark and reads the header, if there is one.
    ///
    /// `block_size` is the wanted length of a block in bytes; a longer record makes a longer block.
    /// Gives the header's names, or `None` without a header or for an empty file without one.
    pub fn open(
        reader: Box<dyn Read + Send>,
        options: &CsvReadOptions,
        block_size: usize,
    ) -> Result<(Self, Option<Vec<String>>), ReadError> {
        let mut cutter = Self {
            reader,
            marks: Marks { delimiter: options.delimiter, quote: options.quote },
            block_size: block_size.max(1),
            rest: Vec::new(),
            from: 0,
            at_end: false,
            row: 1,
            line: 1,
            width: None,
            marked: Vec::new(),
        };
        cutter.refuse_compressed()?;
        cutter.skip_byte_order_mark()?;
        let first = cutter.first_record()?;
        cutter.width = first.as_ref().map(|record| record.fields.len());
        if !options.has_header {
            return Ok((cutter, None));
        }
        let header = cutter.take_header(&first.ok_or(ReadError::Empty)?, options.encoding)?;
        Ok((cutter, Some(header)))
    }

    /// Makes further blocks of so many bytes.
    pub fn set_block_size(&mut self, block_size: usize) {
        self.block_size = block_size.max(1);
    }

    /// Fills `block` (whose buffer is reused) with the next records. False at the end of the file.
    pub fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let mut wanted = self.block_size;
        let mut filled = 0;
        loop {
            filled = self.fill(&mut block.bytes, filled, wanted)?;
            let complete = self.at_end && self.from == self.rest.len();
            let cut = self.cut(&block.bytes[..filled], complete);
            if cut.end == 0 && !complete {
                wanted = self.grown(filled, &cut)?;
                continue;
            }
            if cut.end == 0 && filled > 0 {
                return Err(ReadError::OpenQuote { line: self.line + cut.open_quote.unwrap_or(0) });
            }
            self.keep_rest(&block.bytes[cut.end..filled]);
            self.place(block, &cut);
            if cut.records > 0 || filled == 0 {
                return Ok(cut.records > 0);
            }
            // Blank lines only: on to the next records.
            filled = 0;
        }
    }

    /// The number of fields of the file's first row: what every row must have. Known once the file is open; `None`
    /// if it holds no row.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Tells the block where it stands, and moves on behind it.
    fn place(&mut self, block: &mut Block, cut: &Cut) {
        block.len = cut.end;
        block.first_row = self.row;
        block.first_line = self.line;
        block.records = cut.records;
        self.row += u64::from(cut.records);
        self.line += cut.lines;
    }

    /// The length to try next when not even one record fits `filled` bytes.
    fn grown(&self, filled: usize, cut: &Cut) -> Result<usize, ReadError> {
        if filled >= MAX_RECORD {
            return Err(ReadError::RecordTooLarge { line: self.line + cut.lines, bound: MAX_RECORD });
        }
        Ok((filled * 2).max(filled + self.block_size).min(MAX_RECORD))
    }

    /// Fills `bytes` from `filled` up to `wanted`, from what was left over and then from the file. Slack follows.
    fn fill(&mut self, bytes: &mut Vec<u8>, filled: usize, wanted: usize) -> Result<usize, ReadError> {
        if bytes.len() < wanted + SLACK {
            bytes.resize(wanted + SLACK, 0);
        }
        let left = &self.rest[self.from..];
        let taken = left.len().min(wanted - filled);
        bytes[filled..filled + taken].copy_from_slice(&left[..taken]);
        self.from += taken;
        let mut filled = filled + taken;
        while filled < wanted && !self.at_end {
            filled += self.read(&mut bytes[filled..wanted])?;
        }
        Ok(filled)
    }

    fn read(&mut self, into: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            match self.reader.read(into) {
                Ok(count) => {
                    self.at_end = count == 0;
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
    }

    /// Puts bytes that were taken back in front of what is left over.
    fn keep_rest(&mut self, tail: &[u8]) {
        if tail.len() <= self.from {
            // They are those that were taken last, or replace what was used up.
            self.from -= tail.len();
            self.rest[self.from..self.from + tail.len()].copy_from_slice(tail);
        } else {
            self.rest.splice(..self.from, tail.iter().copied());
            self.from = 0;
        }
        if self.from == self.rest.len() {
            self.rest.clear();
            self.from = 0;
        }
    }

    /// Finds the last record that ends in `text`. `complete` says that nothing follows the text.
    fn cut(&mut self, text: &[u8], complete: bool) -> Cut {
        let survey = kernels::survey(text, self.marks);
        let cut = Cut {
            end: survey.end,
            records: survey.records,
            lines: survey.lines.into(),
            // Whether quotes are open is asked only where no record ends.
            open_quote: None,
        };
        match (survey.regular, complete) {
            (true, false) => cut,
            (true, true) if cut.end == text.len() => cut,
            (true, true) => cut.and(self.walk(&text[cut.end..], true)),
            _ => self.walk(text, complete),
        }
    }

    /// The exact way.
    fn walk(&mut self, text: &[u8], complete: bool) -> Cut {
        let mut marked = std::mem::take(&mut self.marked);
        marked.clear();
        kernels::structurals(text, self.marks, &mut marked);
        let mut walk = Walk { text, marks: self.marks, complete, ..Walk::default() };
        for &at in &marked {
            if !walk.step(at as usize) {
                break;
            }
        }
        self.marked = marked;
        walk.finish()
    }

    /// What a compressed file begins with is no text in any encoding, but could be taken for a strange header.
    /// Reads no further than it has to: what writes into a pipe may be waiting for an answer.
    fn refuse_compressed(&mut self) -> Result<(), ReadError> {
        let is_begun = |rest: &[u8]| MAGIC.iter().any(|(_, magic)| magic.len() > rest.len() && magic.starts_with(rest));
        while !self.at_end && is_begun(&self.rest) {
            self.read_more(LONGEST_MAGIC - self.rest.len())?;
        }
        match MAGIC.iter().find(|(_, magic)| self.rest.starts_with(magic)) {
            Some((kind, _)) => Err(ReadError::Compressed { kind }),
            None => Ok(()),
        }
    }

    fn skip_byte_order_mark(&mut self) -> Result<(), ReadError> {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        const UTF_16: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];
        while self.rest.len() < MARK.len() && !self.at_end {
            self.read_more(MARK.len())?;
        }
        if self.rest.starts_with(MARK) {
            self.from = MARK.len();
        }
        if UTF_16.iter().any(|mark| self.rest.starts_with(mark)) { Err(ReadError::Utf16) } else { Ok(()) }
    }

    /// Reads up to so many bytes more behind what is left over.
    fn read_more(&mut self, count: usize) -> Result<(), ReadError> {
        let length = self.rest.len();
        let mut rest = std::mem::take(&mut self.rest);
        rest.resize(length + count, 0);
        let read = self.read(&mut rest[length..]);
        rest.truncate(length + *read.as_ref().unwrap_or(&0));
        self.rest = rest;
        read.map(|_| ())
    }

    /// Looks at the first record without taking it.
    fn first_record(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            let rest = std::mem::take(&mut self.rest);
            let cut = self.walk(&rest[self.from..], self.at_end);
            self.rest = rest;
            let text = &self.rest[self.from..];
            if cut.records > 0 {
                return Ok(record::first_record(text, self.marks));
            }
            match (self.at_end, cut.open_quote) {
                (true, Some(lines)) => return Err(ReadError::OpenQuote { line: self.line + lines }),
                (true, None) => return Ok(None),
                (false, _) => {
                    let more = self.grown(text.len(), &cut)? - text.len();
                    self.read_more(more)?;
                }
            }
        }
    }

    /// Takes the header, which is the first record, with its line end.
    fn take_header(&mut self, header: &Record, encoding: Encoding) -> Result<Vec<String>, ReadError> {
        let line = self.line + header.lines_before;
        let names = header.fields.iter().map(|field| match encoding {
            Encoding::Utf8 => String::from_utf8(field.clone()).map_err(|_| ReadError::HeaderEncoding { line }),
            Encoding::Latin1 => Ok(field.iter().map(|byte| char::from(*byte)).collect()),
        });
        let names = names.collect::<Result<_, _>>()?;
        let text = &self.rest[self.from..];
        let line_end = match &text[header.end..] {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let taken = header.end + line_end;
        self.line += record::count_lines(&text[..taken]);
        self.from += taken;
        Ok(names)
    }
}

impl Cut {
    /// This part and the next one, as one.
    fn and(self, next: Cut) -> Cut {
        Cut {
            end: self.end + next.end,
            records: self.records + next.records,
            lines: self.lines + next.lines,
            open_quote: next.open_quote.map(|lines| self.lines + lines),
        }
    }
}

/// A walk over the marks of a text that begins with a record.
#[derive(Default)]
struct Walk<'a> {
    text: &'a [u8],
    marks: Marks,
    /// Nothing follows the text.
    complete: bool,
    /// Up to the last record that ended.
    done: Cut,
    records: u32,
    lines: u64,
    /// Where the current record began.
    start: usize,
    quoting: Quoting,
    /// The line ends in front of the last quote that opened.
    opened: u64,
}

impl Walk<'_> {
    /// Takes the next mark. False if what it means depends on what follows the text.
    fn step(&mut self, at: usize) -> bool {
        let byte = self.text[at];
        let next = self.text.get(at + 1).copied();
        if next.is_none() && !self.complete && (byte == b'\r' || (byte == self.marks.quote && self.quoting.open)) {
            return false;
        }
        if byte == self.marks.quote {
            self.quote(at);
        } else if record::is_line_end(byte) {
            self.line_end(at, byte, next);
        }
        true
    }

    fn quote(&mut self, at: usize) {
        let begins_field = at == self.start || self.text[at - 1] == self.marks.delimiter;
        if begins_field && !self.quoting.open {
            self.opened = self.lines;
        }
        self.quoting.quote(self.text, at, if begins_field { at } else { self.start }, self.marks.quote);
    }

    fn line_end(&mut self, at: usize, byte: u8, next: Option<u8>) {
        if byte == b'\r' && next == Some(b'\n') {
            return;
        }
        self.lines += 1;
        if self.quoting.open {
            return;
        }
        let blank = matches!(&self.text[self.start..at], [] | [b'\r']);
        self.records += u32::from(!blank);
        self.start = at + 1;
        self.done = Cut { end: at + 1, records: self.records, lines: self.lines, open_quote: None };
    }

    fn finish(mut self) -> Cut {
        if self.complete && !self.quoting.open && self.start < self.text.len() {
            self.done = Cut { end: self.text.len(), records: self.records + 1, lines: self.lines, open_quote: None };
        }
        self.done.open_quote = self.quoting.open.then_some(self.opened);
        self.done
    }
}
