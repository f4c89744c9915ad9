//! Where the fields of a block are.
//!
//! A regular block, which has no quotes and whose lines all end in the same way, is one run over its bytes: each
//! delimiter and line end, in order, is all there is to know. Other blocks get a pair for each field, quotes taken off.

use super::kernels::{self, LineEnds, Marks};
use super::record::{self, Quoting};
use super::{Block, Decoder, RecordFault, RecordFaultKind, SLACK};
use crate::analysis::hir::Encoding;

/// A worker's own scratch space: the index of its current block.
///
/// Field `f` of record `r` begins one behind `positions[r * stride + f * step]` and ends at the position that follows
/// there. In a regular block a field's end is what the next one begins behind, so steps are 1; a first position of
/// `u32::MAX` stands for the place in front of the text. Elsewhere every field has a pair of its own.
#[derive(Default)]
pub struct Index {
    pub(super) positions: Vec<u32>,
    pub(super) stride: usize,
    pub(super) step: usize,
    /// The records of a wrong width, ascending. Their fields are shown empty.
    pub(super) misshapen: Vec<RecordFault>,
    /// The text that the positions are about, if it isn't the block's: with doubled quotes resolved, or transcoded.
    rewritten: Option<Vec<u8>>,
    /// Where each record begins in the block; empty for a regular block.
    starts: Vec<u32>,
    /// Scratch space.
    marked: Vec<u32>,
}

impl Index {
    /// The text that the positions are about; slack follows what they cover.
    pub(super) fn text<'a>(&'a self, block: &'a Block) -> &'a [u8] {
        self.rewritten.as_deref().unwrap_or(&block.bytes)
    }

    /// Where a field begins and ends in the text.
    pub(super) fn field(&self, record: usize, field: usize) -> (usize, usize) {
        let at = record * self.stride + field * self.step;
        (self.positions[at].wrapping_add(1) as usize, self.positions[at + 1] as usize)
    }

    /// Where a record begins in the block.
    pub(super) fn start(&self, record: usize) -> usize {
        self.starts.get(record).map_or_else(|| self.field(record, 0).0, |start| *start as usize)
    }

    /// Whether every line of the block is a record.
    pub(super) fn has_only_record_lines(&self) -> bool {
        self.starts.is_empty()
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.misshapen.clear();
        self.starts.clear();
        self.rewritten = None;
    }
}

impl Decoder {
    /// Finds every field of a block.
    pub fn index(&self, block: &Block, index: &mut Index) {
        index.clear();
        let text = &block.bytes[..block.len];
        let transcoded = self.encoding == Encoding::Latin1 && !text.is_ascii();
        let returns = first_line_ends_with_return(text);
        let records = block.records as usize;
        if !transcoded && self.find_separators::<false>(text, records, returns, index) {
            return;
        }
        let mut pairs = Pairs::new(text, self.marks, self.width);
        if self.find_separators::<true>(text, records, returns, index) {
            pairs.add_all(&index.positions, index.stride);
        } else {
            index.marked.clear();
            kernels::structurals(text, self.marks, &mut index.marked);
            pairs.walk(&index.marked);
        }
        pairs.finish(transcoded, index);
    }

    /// Finds the separators of a block of regular lines. False if it isn't one; the index is then of no use.
    fn find_separators<const QUOTES: bool>(
        &self,
        text: &[u8],
        records: usize,
        returns: bool,
        index: &mut Index,
    ) -> bool {
        index.step = 1;
        index.stride = self.width + usize::from(returns);
        index.positions.clear();
        index.positions.push(u32::MAX);
        let found = if returns {
            kernels::separators::<QUOTES, true>(text, self.marks, &mut index.positions)
        } else {
            kernels::separators::<QUOTES, false>(text, self.marks, &mut index.positions)
        };
        let Some(mut ends) = found else { return false };
        if !text.ends_with(b"\n") {
            // As if the line end that the file's last line may lack were there.
            let end = text.len() as u32;
            index.positions.extend(end..=end + u32::from(returns));
            ends = LineEnds { feeds: ends.feeds + 1, returns: ends.returns + u32::from(returns) };
        }
        let expected = LineEnds { feeds: records as u32, returns: if returns { records as u32 } else { 0 } };
        let counts_fit = ends == expected && index.positions.len() == records * index.stride + 1;
        counts_fit && self.lines_fit(text, index, returns)
    }

    /// Whether every line ends where its width says, and none is blank. With as many line ends as there are records,
    /// the other separators are delimiters.
    fn lines_fit(&self, text: &[u8], index: &Index, returns: bool) -> bool {
        let is = |at: u32, byte: u8| text.get(at as usize).is_none_or(|found| *found == byte);
        let mut begin = 0;
        index.positions[1..].chunks_exact(index.stride).all(|line| {
            let last = line[index.stride - 1];
            let blank = line[0] == begin && self.width == 1;
            begin = last + 1;
            let return_fits = !returns || {
                let at = line[index.stride - 2];
                at + 1 == last && is(at, b'\r')
            };
            is(last, b'\n') && return_fits && !blank
        })
    }
}

fn first_line_ends_with_return(text: &[u8]) -> bool {
    memchr::memchr(b'\n', text).is_some_and(|at| at > 0 && text[at - 1] == b'\r')
}

/// Collects a pair of positions for each field of a block.
struct Pairs<'a> {
    text: &'a [u8],
    marks: Marks,
    width: usize,
    positions: Vec<u32>,
    starts: Vec<u32>,
    misshapen: Vec<RecordFault>,
    /// The fields, as positions in `positions`, whose text must be put together: with doubled quotes, or with text
    /// behind a closing quote.
    unresolved: Vec<usize>,
}

impl<'a> Pairs<'a> {
    fn new(text: &'a [u8], marks: Marks, width: usize) -> Self {
        Self {
            text,
            marks,
            width,
            positions: Vec::new(),
            starts: Vec::new(),
            misshapen: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// Takes the fields of regular lines.
    fn add_all(&mut self, separators: &[u32], stride: usize) {
        let records = (separators.len() - 1) / stride;
        self.positions.reserve(2 * records * self.width);
        for record in 0..records {
            let ends = &separators[record * stride..][..=self.width];
            self.starts.push(ends[0].wrapping_add(1));
            for pair in ends.windows(2) {
                self.add(pair[0].wrapping_add(1) as usize, pair[1] as usize);
            }
        }
    }

    /// Finds the fields of any text, mark by mark.
    fn walk(&mut self, marked: &[u32]) {
        let (mut record, mut field, mut base) = (0, 0, 0);
        let mut quoting = Quoting::default();
        for at in marked.iter().map(|at| *at as usize) {
            let byte = self.text[at];
            if byte == self.marks.quote {
                quoting.quote(self.text, at, field, byte);
            } else if !quoting.open {
                let blank = byte != self.marks.delimiter && at == record;
                if !blank {
                    self.add(field, at);
                }
                field = at + 1;
                if byte != self.marks.delimiter {
                    if !blank {
                        base = self.end_record(record, base);
                    }
                    record = field;
                }
            }
        }
        if record < self.text.len() {
            self.add(field, self.text.len());
            self.end_record(record, base);
        }
    }

    /// Ends a record whose fields stand from `base` on, and gives where the next one's will.
    fn end_record(&mut self, start: usize, base: usize) -> usize {
        let found = (self.positions.len() - base) / 2;
        if found != self.width {
            let position = self.starts.len() as u32;
            let kind = RecordFaultKind::Width { expected: self.width, found };
            self.misshapen.push(RecordFault { position, kind });
            self.positions.truncate(base);
            self.unresolved.retain(|at| *at < base);
            self.positions.extend([(start as u32).wrapping_sub(1), start as u32].repeat(self.width));
        }
        self.starts.push(start as u32);
        self.positions.len()
    }

    /// Takes a field as it stands in the text.
    #[inline]
    fn add(&mut self, start: usize, end: usize) {
        let (mut start, mut end) = (start, end);
        if start < end && self.text[start] == self.marks.quote {
            let inner = &self.text[start + 1..end];
            if memchr::memchr(self.marks.quote, inner) == Some(inner.len().wrapping_sub(1)) {
                (start, end) = (start + 1, end - 1);
            } else {
                self.unresolved.push(self.positions.len());
            }
        }
        self.positions.extend_from_slice(&[(start as u32).wrapping_sub(1), end as u32]);
    }

    fn finish(mut self, transcoded: bool, index: &mut Index) {
        let mut text = None;
        if !self.unresolved.is_empty() {
            text = Some(self.resolve());
        }
        if transcoded {
            text = Some(transcode(text.as_deref().unwrap_or(self.text), &mut self.positions));
        }
        index.rewritten = text;
        index.positions = self.positions;
        index.starts = self.starts;
        index.misshapen = self.misshapen;
        index.step = 2;
        index.stride = 2 * self.width;
    }

    /// The text with every field readable as it is.
    fn resolve(&mut self) -> Vec<u8> {
        let mut text = self.text.to_vec();
        text.resize(text.len() + SLACK, 0);
        for &at in &self.unresolved {
            let (start, end) = (self.positions[at].wrapping_add(1) as usize, self.positions[at + 1] as usize);
            let (field, _) = record::field(&self.text[..end], start, self.marks);
            text[start..start + field.len()].copy_from_slice(&field);
            // What is left of the old text could begin inside a character.
            text[start + field.len()..end].fill(b' ');
            self.positions[at + 1] = (start + field.len()) as u32;
        }
        text
    }
}

/// Writes the fields of a latin-1 text as UTF-8, and moves the positions to where they then are.
fn transcode(text: &[u8], positions: &mut [u32]) -> Vec<u8> {
    let mut utf8 = String::with_capacity(text.len() + text.len() / 8 + SLACK);
    for pair in positions.chunks_exact_mut(2) {
        let field = &text[pair[0].wrapping_add(1) as usize..pair[1] as usize];
        pair[0] = (utf8.len() as u32).wrapping_sub(1);
        utf8.extend(field.iter().map(|byte| char::from(*byte)));
        pair[1] = utf8.len() as u32;
    }
    let mut utf8 = utf8.into_bytes();
    utf8.resize(utf8.len() + SLACK, 0);
    utf8
}
