//! Text columns made row by row, each text copied: short ones into their view, others into one buffer.

use arrow_array::{BinaryViewArray, StringViewArray};
use arrow_buffer::Buffer;

use super::{Bitmap, Column};

/// A text column while it is made.
#[derive(Debug)]
pub struct TextColumn {
    views: Vec<u128>,
    buffer: Vec<u8>,
}

/// Bytes that fit a view.
const INLINE: usize = 12;

impl TextColumn {
    /// An empty column with room for some rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self { views: Vec::with_capacity(rows), buffer: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Safety
    /// The text must be UTF-8.
    #[inline]
    pub unsafe fn push(&mut self, text: &[u8]) {
        let length = text.len();
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(length as u32).to_le_bytes());
        if length <= INLINE {
            view[4..4 + length].copy_from_slice(text);
        } else {
            let start = u32::try_from(self.buffer.len()).expect("a batch holds less than 4 GiB of text");
            view[4..8].copy_from_slice(&text[..4]);
            view[12..].copy_from_slice(&start.to_le_bytes());
            self.buffer.extend_from_slice(text);
        }
        self.views.push(u128::from_le_bytes(view));
    }

    /// Adds empty texts up to `rows` rows.
    pub fn pad(&mut self, rows: usize) {
        self.views.resize(rows.max(self.views.len()), 0);
    }

    /// The column, with a bit for each row that is not null.
    pub fn finish(self, valid: Option<Bitmap>) -> Column {
        let buffers = if self.buffer.is_empty() { Vec::new() } else { vec![Buffer::from_vec(self.buffer)] };
        // SAFETY: `push` makes views that are well formed and point into the one buffer, and its caller vouches for
        // the text.
        Column::String(unsafe {
            StringViewArray::new_unchecked(self.views.into(), buffers.into(), valid.map(Into::into))
        })
    }
}

impl Column {
    /// A column of encoded values from their bytes.
    pub fn encoded<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Self {
        Column::Any(values.collect::<BinaryViewArray>())
    }
}
