//! Records as they stand in the file, for people.

use super::record::{self, count_lines};
use super::{Block, Decoder, Index, RawRecord};
use crate::analysis::hir::Encoding;

impl Decoder {
    /// One record as it stands in the file. Slow; for messages and dead letters.
    pub fn raw(&self, block: &Block, index: &Index, position: u32) -> RawRecord {
        let text = &block.bytes[..block.len];
        let start = index.start(position as usize);
        let record = record::first_record(&text[start..], self.marks).unwrap_or_default();
        RawRecord {
            fields: record.fields.iter().map(|field| self.readable(field)).collect(),
            text: self.readable(&text[start..start + record.end]),
            line: self.line(block, index, position),
        }
    }

    /// The line that a record begins in. Where records have several lines, those in front of it are counted.
    pub fn line(&self, block: &Block, index: &Index, position: u32) -> u64 {
        let start = index.start(position as usize);
        block.first_line
            + if index.has_only_record_lines() { u64::from(position) } else { count_lines(&block.bytes[..start]) }
    }

    fn readable(&self, bytes: &[u8]) -> String {
        match self.encoding {
            Encoding::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Encoding::Utf8 => readable_utf8(bytes),
        }
    }
}

/// Text as it is, and the bytes that aren't as `\xHH`.
fn readable_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}
