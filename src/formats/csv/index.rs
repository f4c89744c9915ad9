//! Where the fields of a block are.
//!
//! A regular block, which has no quotes and whose lines all end in the same way, is one run over its bytes: each
//! delimiter and line end, in order, is all there is to know. Other blocks get a pair for each field, quotes taken off.

use super::kernels::{self, Separated};
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
    /// The text that the positions are about, unless it is empty: then it is the block's. With doubled quotes resolved,
    /// or transcoded.
    rewritten: Vec<u8>,
    /// Where each record begins in the block; empty for a regular block.
    starts: Vec<u32>,
    /// Scratch space.
    marked: Vec<u32>,
    /// The fields, as places in `positions`, whose text must be put together: with doubled quotes, or with text behind
    /// a closing quote.
    unresolved: Vec<usize>,
}

impl Index {
    /// The text that the positions are about; slack follows what they cover.
    pub(super) fn text<'a>(&'a self, block: &'a Block) -> &'a [u8] {
        if self.rewritten.is_empty() { &block.bytes } else { &self.rewritten }
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
        self.rewritten.clear();
        self.unresolved.clear();
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
        if !transcoded && self.find_separators::<false>(text, records, returns, index).is_some() {
            return;
        }
        match self.find_separators::<true>(text, records, returns, index) {
            Some(untidy) => self.pair_up(text, untidy, index),
            None => self.walk(text, index),
        }
        if !index.unresolved.is_empty() {
            self.resolve(text, index);
        }
        if transcoded {
            let mut positions = std::mem::take(&mut index.positions);
            index.rewritten = transcode(index.text(block), &mut positions);
            index.positions = positions;
        }
    }

    /// Finds the separators of a block of regular lines, and whether its quotes are untidy. Nothing if the block isn't one.
    fn find_separators<const QUOTES: bool>(
        &self,
        text: &[u8],
        records: usize,
        returns: bool,
        index: &mut Index,
    ) -> Option<bool> {
        index.step = 1;
        index.stride = self.width + usize::from(returns);
        index.positions.clear();
        index.positions.push(u32::MAX);
        let found = if returns {
            kernels::separators::<QUOTES, true>(text, self.marks, &mut index.positions)
        } else {
            kernels::separators::<QUOTES, false>(text, self.marks, &mut index.positions)
        };
        let Separated { mut feeds, returns: mut found_returns, untidy } = found?;
        if !text.ends_with(b"\n") {
            // As if the line end that the file's last line may lack were there.
            let end = text.len() as u32;
            index.positions.extend(end..=end + u32::from(returns));
            (feeds, found_returns) = (feeds + 1, found_returns + u32::from(returns));
        }
        let expected = (records as u32, if returns { records as u32 } else { 0 });
        let counts_fit = (feeds, found_returns) == expected && index.positions.len() == records * index.stride + 1;
        (counts_fit && self.lines_fit(text, index, returns)).then_some(untidy)
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

/// The exact ways. Each leaves a pair of positions for every field.
impl Decoder {
    /// Takes the fields of regular lines with quotes, whose separators are found. Where quotes are not untidy, what
    /// begins with one ends with one, and that is all.
    fn pair_up(&self, text: &[u8], untidy: bool, index: &mut Index) {
        let separators = std::mem::replace(&mut index.positions, std::mem::take(&mut index.marked));
        let stride = index.stride;
        index.positions.clear();
        index.positions.reserve(2 * separators.len());
        for first in (0..separators.len() - 1).step_by(stride) {
            let ends = &separators[first..=first + self.width];
            index.starts.push(ends[0].wrapping_add(1));
            for pair in ends.windows(2) {
                let (start, end) = (pair[0].wrapping_add(1) as usize, pair[1] as usize);
                if untidy {
                    self.add(text, start, end, index);
                } else {
                    let quoted = u32::from(start < end && text[start] == self.marks.quote);
                    index.positions.extend_from_slice(&[pair[0].wrapping_add(quoted), pair[1] - quoted]);
                }
            }
        }
        index.marked = separators;
        (index.step, index.stride) = (2, 2 * self.width);
    }

    /// Finds the fields of any text, mark by mark.
    fn walk(&self, text: &[u8], index: &mut Index) {
        index.positions.clear();
        (index.step, index.stride) = (2, 2 * self.width);
        let mut marked = std::mem::take(&mut index.marked);
        marked.clear();
        kernels::structurals(text, self.marks, &mut marked);
        let (mut record, mut field) = (0, 0);
        let mut quoting = Quoting::default();
        for at in marked.iter().map(|at| *at as usize) {
            let byte = text[at];
            if byte == self.marks.quote {
                quoting.quote(text, at, field, byte);
            } else if !quoting.open {
                let ends_record = byte != self.marks.delimiter;
                let blank = ends_record && at == record;
                if !blank {
                    self.add(text, field, at, index);
                }
                field = at + 1;
                if ends_record && !blank {
                    self.end_record(record, index);
                }
                record = if ends_record { field } else { record };
            }
        }
        if record < text.len() {
            self.add(text, field, text.len(), index);
            self.end_record(record, index);
        }
        index.marked = marked;
    }

    /// Ends a record that began at `start`. If it has a wrong width, its fields become empty ones.
    fn end_record(&self, start: usize, index: &mut Index) {
        let base = index.starts.len() * index.stride;
        let found = (index.positions.len() - base) / 2;
        if found != self.width {
            let position = index.starts.len() as u32;
            let kind = RecordFaultKind::Width { expected: self.width, found };
            index.misshapen.push(RecordFault { position, kind });
            index.positions.truncate(base);
            while index.unresolved.last().is_some_and(|at| *at >= base) {
                index.unresolved.pop();
            }
            let empty = [(start as u32).wrapping_sub(1), start as u32];
            index.positions.extend(empty.iter().cycle().take(index.stride));
        }
        index.starts.push(start as u32);
    }

    /// Takes a field as it stands in the text.
    fn add(&self, text: &[u8], start: usize, end: usize, index: &mut Index) {
        let (mut start, mut end) = (start, end);
        if start < end && text[start] == self.marks.quote {
            let inner = &text[start + 1..end];
            if memchr::memchr(self.marks.quote, inner) == Some(inner.len().wrapping_sub(1)) {
                (start, end) = (start + 1, end - 1);
            } else {
                index.unresolved.push(index.positions.len());
            }
        }
        index.positions.extend_from_slice(&[(start as u32).wrapping_sub(1), end as u32]);
    }

    /// Rewrites the text so that every field is readable as it is.
    fn resolve(&self, text: &[u8], index: &mut Index) {
        let rewritten = &mut index.rewritten;
        rewritten.extend_from_slice(text);
        rewritten.resize(text.len() + SLACK, 0);
        for &at in &index.unresolved {
            let (start, end) = (index.positions[at].wrapping_add(1) as usize, index.positions[at + 1] as usize);
            let (field, _) = record::field(&text[..end], start, self.marks);
            rewritten[start..start + field.len()].copy_from_slice(&field);
            // What is left of the old text could begin inside a character.
            rewritten[start + field.len()..end].fill(b' ');
            index.positions[at + 1] = (start + field.len()) as u32;
        }
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
