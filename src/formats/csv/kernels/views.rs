//! Text that is known to be valid, and columns of it.

use arrow_buffer::{Buffer, NullBuffer};

use crate::exec::batch::Column;

/// The text as a `str`, if it is valid UTF-8.
#[inline]
pub fn valid_text(bytes: &[u8]) -> Option<&str> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).ok()
}

/// A string column in the making: up to twelve bytes stand in the view itself, longer texts in a side buffer.
#[derive(Default)]
pub struct Views {
    views: Vec<u128>,
    long: Vec<u8>,
}

/// The most bytes of a text that stand in its view.
const INLINE: usize = 12;

impl Views {
    /// Room for so many texts.
    pub fn with_capacity(rows: usize) -> Self {
        Self { views: Vec::with_capacity(rows), long: Vec::new() }
    }

    /// Appends a part of a text; panics where it does not begin and end between characters.
    #[inline]
    pub fn push_part(&mut self, text: &str, start: usize, end: usize) {
        let length = end - start;
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

    /// Appends a text.
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

    /// The column.
    pub fn finish(self, validity: Option<NullBuffer>) -> Column {
        let buffers = if self.long.is_empty() { Vec::new() } else { vec![Buffer::from_vec(self.long)] };
        // SAFETY: views are made only by `push` and `push_part`, from whole pieces of valid text, and a long one
        // points at the bytes that were appended for it to the only buffer.
        unsafe { Column::string_views(self.views, buffers, validity) }
    }

    /// The values of a string column.
    pub fn finish_array(self) -> arrow_array::StringViewArray {
        match self.finish(None) {
            Column::String(array) => array,
            _ => unreachable!("a string column holds strings"),
        }
    }
}
