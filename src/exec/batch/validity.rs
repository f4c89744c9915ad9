//! Which rows of a column are null, collected row by row.

use arrow_buffer::{BooleanBuffer, NullBuffer};

/// Collects which rows are null; all are valid until told otherwise.
pub struct Validity {
    rows: usize,
    words: Vec<u64>,
}

impl Validity {
    /// Every one of `rows` rows is valid.
    pub fn new(rows: usize) -> Self {
        Self { rows, words: Vec::new() }
    }

    /// Makes a row null.
    #[inline]
    pub fn set_null(&mut self, row: usize) {
        if self.words.is_empty() {
            self.words = vec![u64::MAX; self.rows.div_ceil(64)];
        }
        self.words[row / 64] &= !(1 << (row % 64));
    }

    /// `None` if no row is null.
    pub fn finish(self) -> Option<NullBuffer> {
        (!self.words.is_empty()).then(|| NullBuffer::new(BooleanBuffer::new(self.words.into(), 0, self.rows)))
    }
}
