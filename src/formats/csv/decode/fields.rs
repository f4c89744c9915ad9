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
    /// The fields of a range. Where its text is not valid, it is repaired in `repaired`, and `report` is told the first
    /// bad field of each bad record.
    pub fn new(
        block: &'a Block,
        index: &'a Index,
        range: Range<u32>,
        width: usize,
        repaired: &'a mut Vec<u8>,
        report: impl FnMut(u32, usize),
    ) -> Self {
        let span = span(index, &range, width);
        let mut bytes = &index.text(block)[span.start..];
        let text = match valid_text(&bytes[..span.len()]) {
            Some(text) => text,
            None => {
                *repaired = repair(&bytes[..span.len()], span.start, index, range.clone(), width, report);
                bytes = repaired;
                valid_text(&bytes[..span.len()]).expect("a repaired text is valid")
            }
        };
        let positions = &index.positions[range.start as usize * index.stride..];
        let (stride, step, base) = (index.stride, index.step, span.start as u32);
        Self { bytes, text, positions, stride, step, rows: range.len(), base }
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

/// The text with question marks for the fields that are not valid, and slack behind it. `base` is where in the index's
/// text it begins.
#[cold]
fn repair(
    text: &[u8],
    base: usize,
    index: &Index,
    range: Range<u32>,
    width: usize,
    mut report: impl FnMut(u32, usize),
) -> Vec<u8> {
    let mut repaired = vec![b'?'; text.len() + SLACK];
    for record in range {
        for field in 0..width {
            let (start, end) = index.field(record as usize, field);
            let place = start - base..end - base;
            if std::str::from_utf8(&text[place.clone()]).is_ok() {
                repaired[place.clone()].copy_from_slice(&text[place]);
            } else {
                report(record, field);
            }
        }
    }
    repaired
}
