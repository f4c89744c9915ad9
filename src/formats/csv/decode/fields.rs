//! The cells of a range of records, as text that is known to be valid.

use std::ops::Range;

use super::super::kernels::valid_text;
use super::super::{Block, Index, SLACK};

/// The fields of a range of records.
pub(super) struct Fields<'a> {
    /// The text of the range, and more behind it.
    bytes: &'a [u8],
    /// The text of the range.
    text: &'a str,
    /// The positions from the first record's on.
    positions: &'a [u32],
    stride: usize,
    step: usize,
    rows: usize,
    /// Where in the index's text `bytes` begins.
    base: u32,
}

/// The cells of a column.
pub(super) struct Cells<'a> {
    pub bytes: &'a [u8],
    pub nullable: bool,
    pub stored: bool,
    pub rows: usize,
    positions: &'a [u32],
    stride: usize,
    base: u32,
}

/// The part of the index's text that the range's fields lie in.
fn span(index: &Index, range: &Range<u32>, width: usize) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    index.field(range.start as usize, 0).0..index.field(range.end as usize - 1, width - 1).1
}

impl<'a> Fields<'a> {
    /// The fields of a range whose text is valid, as [`repair`] found.
    pub fn new(block: &'a Block, index: &'a Index, range: Range<u32>, width: usize) -> Self {
        let span = span(index, &range, width);
        let bytes = &index.text(block)[span.start..];
        let text = valid_text(&bytes[..span.len()]).expect("the text was found to be valid");
        Self::build(bytes, text, index, range, span.start)
    }

    /// The fields of a range over a repaired text.
    pub fn over(text: &'a Repaired, index: &'a Index, range: Range<u32>) -> Self {
        let length = text.bytes.len() - SLACK;
        let valid = valid_text(&text.bytes[..length]).expect("a repaired text is valid");
        Self::build(&text.bytes, valid, index, range, text.base)
    }

    fn build(bytes: &'a [u8], text: &'a str, index: &'a Index, range: Range<u32>, base: usize) -> Self {
        let positions = &index.positions[range.start as usize * index.stride..];
        let (stride, step) = (index.stride, index.step);
        Self { bytes, text, positions, stride, step, rows: range.len(), base: base as u32 }
    }

    /// The number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The text that the cells lie in.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The cells of a field.
    pub fn column(&self, field: usize, nullable: bool, stored: bool) -> Cells<'a> {
        let positions = &self.positions[(field * self.step).min(self.positions.len())..];
        Cells { bytes: self.bytes, nullable, stored, rows: self.rows, positions, stride: self.stride, base: self.base }
    }

    /// One cell.
    pub fn cell(&self, record: usize, field: usize) -> &'a [u8] {
        let (start, end) = self.column(field, false, false).place(record);
        &self.bytes[start..end]
    }
}

impl Cells<'_> {
    /// Where a row's cell begins and ends.
    #[inline(always)]
    pub fn place(&self, row: usize) -> (usize, usize) {
        let at = row * self.stride;
        let pair = &self.positions[at..at + 2];
        (pair[0].wrapping_add(1).wrapping_sub(self.base) as usize, pair[1].wrapping_sub(self.base) as usize)
    }
}

/// A text in which the fields that were not valid are made of question marks.
pub(super) struct Repaired {
    bytes: Vec<u8>,
    base: usize,
}

/// Repairs the text of a range, if it is not valid, and reports the first bad field of each record.
pub(super) fn repair(
    block: &Block,
    index: &Index,
    range: Range<u32>,
    width: usize,
    mut report: impl FnMut(u32, usize),
) -> Option<Repaired> {
    let span = span(index, &range, width);
    let text = index.text(block);
    if valid_text(&text[span.clone()]).is_some() {
        return None;
    }
    let mut bytes = vec![b'?'; span.len() + SLACK];
    for record in range {
        for field in 0..width {
            let (start, end) = index.field(record as usize, field);
            let cell = &text[start..end];
            if std::str::from_utf8(cell).is_ok() {
                bytes[start - span.start..end - span.start].copy_from_slice(cell);
            } else {
                report(record, field);
            }
        }
    }
    Some(Repaired { bytes, base: span.start })
}
