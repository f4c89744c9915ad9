//! Builds the text of a scalar together with the map of where each byte came from.

use crate::diagnostics::FileId;
use crate::syntax::text_map::{Piece, TextMap};

/// The text decoded so far.
#[derive(Default)]
pub(super) struct Decoded {
    text: String,
    pieces: Vec<Piece>,
}

impl Decoded {
    /// Adds the part of the file from `start` up to `end` as it is.
    pub(super) fn copy(&mut self, file_text: &str, start: usize, end: usize) {
        self.replace(&file_text[start..end], start, end);
    }

    /// Adds `text`, which stands in the file as what is between `start` and `end`.
    pub(super) fn replace(&mut self, text: &str, start: usize, end: usize) {
        if text.is_empty() {
            return;
        }
        let piece = Piece {
            decoded: offset(self.text.len()),
            file: offset(start),
            decoded_len: offset(text.len()),
            file_len: offset(end - start),
        };
        self.text.push_str(text);
        match self.pieces.last_mut() {
            Some(last) if continues(last, &piece) => {
                last.decoded_len += piece.decoded_len;
                last.file_len += piece.file_len;
            }
            _ => self.pieces.push(piece),
        }
    }

    /// The text and its map; a text without a byte stands at `empty_at`.
    pub(super) fn finish(self, file: FileId, empty_at: usize) -> (String, TextMap) {
        let end = self.pieces.last().map_or(offset(empty_at), |last| last.file + last.file_len);
        (self.text, TextMap::new(file, self.pieces, end))
    }
}

/// Whether two pieces are one run of bytes copied as they are.
fn continues(last: &Piece, next: &Piece) -> bool {
    let copied = last.decoded_len == last.file_len && next.decoded_len == next.file_len;
    copied && last.file + last.file_len == next.file
}

/// An offset as the map holds it. Larger files are refused before anything is decoded.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The line break at `at`, as its end; `None` where there is no break.
pub(super) fn break_end(text: &str, at: usize) -> Option<usize> {
    match text.as_bytes().get(at..)? {
        [b'\r', b'\n', ..] => Some(at + 2),
        [b'\r' | b'\n', ..] => Some(at + 1),
        _ => None,
    }
}

/// Whether the byte at `at` is a space or a tab.
pub(super) fn is_blank(text: &str, at: usize) -> bool {
    matches!(text.as_bytes().get(at), Some(b' ' | b'\t'))
}
