//! Where the bytes of a decoded scalar stand in the file.
//!
//! The text of a YAML scalar is not a slice of the file: escapes, doubled quotes, folded lines and removed
//! indentation lie between. A [`TextMap`] keeps, piece by piece, where each decoded byte came from, so that a span
//! inside CXL is the exact place in the YAML file whatever the scalar's style.

use crate::diagnostics::{FileId, Span};

/// One piece of a [`TextMap`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Offset of the piece in the decoded text.
    pub decoded: u32,
    /// Offset of the piece in the file.
    pub file: u32,
    /// Bytes the piece takes in the decoded text.
    pub decoded_len: u32,
    /// Bytes the piece takes in the file. Equal to `decoded_len` for a piece copied byte by byte; any other length
    /// is an escape or a fold, which is mapped as a whole.
    pub file_len: u32,
}

/// Maps offsets in a decoded scalar to offsets in its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextMap {
    file: FileId,
    /// In order of `decoded`, without gaps in the decoded text. Empty pieces are left out.
    pieces: Vec<Piece>,
    /// Where in the file the place behind the last decoded byte is.
    end: u32,
}

impl TextMap {
    /// The map of a text that stands in `file` byte for byte from `start` on.
    pub fn identity(file: FileId, start: u32, len: u32) -> Self {
        let piece = Piece { decoded: 0, file: start, decoded_len: len, file_len: len };
        Self { file, pieces: if len == 0 { Vec::new() } else { vec![piece] }, end: start + len }
    }

    /// A map from its pieces, which must be in order and without gaps in the decoded text; `end` is the file offset
    /// behind the last decoded byte.
    pub fn new(file: FileId, pieces: Vec<Piece>, end: u32) -> Self {
        Self { file, pieces, end }
    }

    /// The file the text stands in.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// File offset of the decoded byte at `decoded`; the text's end for an offset behind the last byte.
    pub fn start(&self, decoded: u32) -> u32 {
        match self.piece_at(decoded) {
            Some(piece) if piece.file_len == piece.decoded_len => piece.file + (decoded - piece.decoded),
            Some(piece) => piece.file,
            None => self.end,
        }
    }

    /// File offset behind the decoded byte in front of `decoded`: where a span that ends there ends.
    pub fn end(&self, decoded: u32) -> u32 {
        let Some(last) = decoded.checked_sub(1) else { return self.start(0) };
        match self.piece_at(last) {
            Some(piece) if piece.file_len == piece.decoded_len => piece.file + (decoded - piece.decoded),
            Some(piece) => piece.file + piece.file_len,
            None => self.end,
        }
    }

    /// The file span of the decoded range.
    pub fn span(&self, start: u32, end: u32) -> Span {
        let from = self.start(start);
        Span::new(self.file, from, if start == end { from } else { self.end(end) })
    }

    fn piece_at(&self, decoded: u32) -> Option<&Piece> {
        let index = self.pieces.partition_point(|piece| piece.decoded + piece.decoded_len <= decoded);
        self.pieces.get(index)
    }
}
