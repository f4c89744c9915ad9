//! Text columns made row by row, each text copied: short ones into their view, others into one buffer.

use arrow_array::{BinaryViewArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer};

use super::{Column, trusted_views};

/// A text column while it is made.
#[derive(Debug)]
pub struct TextColumn {
    views: Vec<u128>,
    long: Vec<u8>,
}

/// The most bytes of a text that stand in its view.
const INLINE: usize = 12;

impl TextColumn {
    /// An empty column with room for so many texts.
    pub fn with_capacity(rows: usize) -> Self {
        Self { views: Vec::with_capacity(rows), long: Vec::new() }
    }

    /// Adds a part of a text; panics where it does not begin and end between characters.
    #[inline]
    pub fn push_part(&mut self, text: &str, start: usize, end: usize) {
        let length = end.wrapping_sub(start);
        let inline = length <= INLINE && text.is_char_boundary(start) && text.is_char_boundary(end);
        match text.as_bytes().get(start..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(bytes) if inline => {
                // A view is the length in four bytes, then the text, then zeros.
                let kept = u128::MAX >> (8 * (INLINE - length)) & (u128::MAX << 32);
                self.views.push((u128::from_le_bytes(*bytes) << 32) & kept | length as u128);
            }
            _ => self.push(&text[start..end]),
        }
    }

    /// Adds a text.
    #[inline]
    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        if bytes.len() <= INLINE {
            view[4..4 + bytes.len()].copy_from_slice(bytes);
        } else {
            view[4..8].copy_from_slice(&bytes[..4]);
            let offset = u32::try_from(self.long.len()).expect("the texts of a batch stay below 4 GB");
            view[12..].copy_from_slice(&offset.to_le_bytes());
            self.long.extend_from_slice(bytes);
        }
        self.views.push(u128::from_le_bytes(view));
    }

    /// Adds a text of a column; that of a null may be any.
    #[inline]
    pub fn push_from(&mut self, texts: &StringViewArray, row: usize) {
        let view = texts.views()[row];
        if view as u32 as usize <= INLINE { self.views.push(view) } else { self.push(texts.value(row)) }
    }

    /// Adds empty texts up to `rows` rows.
    pub fn pad(&mut self, rows: usize) {
        self.views.resize(rows.max(self.views.len()), 0);
    }

    /// The column.
    pub fn finish(self, validity: Option<NullBuffer>) -> Column {
        Column::String(self.finish_array(validity))
    }

    /// The texts of the column.
    pub fn finish_array(self, validity: Option<NullBuffer>) -> StringViewArray {
        let buffers = if self.long.is_empty() { Vec::new() } else { vec![Buffer::from_vec(self.long)] };
        // SAFETY: views are made only by `push`, `push_part` and `pad`, from whole pieces of valid text, or taken over
        // with the text in them; and a long one points at the bytes that were appended for it to the only buffer.
        unsafe { trusted_views(self.views.into(), buffers.into(), validity) }
    }
}

impl Column {
    /// A column of encoded values from their bytes.
    pub fn encoded<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Self {
        Column::Any(values.collect::<BinaryViewArray>())
    }
}
