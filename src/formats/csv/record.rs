//! One record, read byte by byte: for headers and messages, where exactness matters and speed doesn't.

use super::kernels::Marks;

/// A record and where it stands in the text it was read from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Record {
    /// The fields, unquoted.
    pub fields: Vec<Vec<u8>>,
    /// Where it begins, blank lines skipped.
    pub start: usize,
    /// Where its text ends, the line end not counted.
    pub end: usize,
    /// Line ends in front of it.
    pub lines_before: u64,
}

/// Reads the first record of `text`; `None` if there are only blank lines.
pub(super) fn first_record(text: &[u8], marks: Marks) -> Option<Record> {
    let start = text.iter().position(|byte| !is_line_end(*byte))?;
    let mut record = Record { start, lines_before: count_lines(&text[..start]), ..Record::default() };
    let mut at = start;
    loop {
        let (field, end) = field(text, at, marks);
        record.fields.push(field);
        if text.get(end) != Some(&marks.delimiter) {
            record.end = end;
            return Some(record);
        }
        at = end + 1;
    }
}

/// A field and where it ends: at a delimiter, a line end or the end of the text.
pub(super) fn field(text: &[u8], start: usize, Marks { delimiter, quote }: Marks) -> (Vec<u8>, usize) {
    let mut field = Vec::new();
    let mut at = start;
    if text.get(at) == Some(&quote) {
        at += 1;
        while let Some(&byte) = text.get(at) {
            at += 1;
            if byte == quote {
                if text.get(at) != Some(&quote) {
                    break;
                }
                at += 1;
            }
            field.push(byte);
        }
    }
    // What follows a closing quote is text like any other.
    while let Some(&byte) = text.get(at).filter(|byte| **byte != delimiter && !is_line_end(**byte)) {
        field.push(byte);
        at += 1;
    }
    (field, at)
}

pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Line ends in a text: LF, CRLF and a lone CR.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    let ends = text.iter().enumerate().filter(|(at, byte)| ends_line(text, *at, **byte));
    ends.count() as u64
}

/// Whether the byte at a position ends a line; a CR in front of an LF leaves that to the LF.
pub(super) fn ends_line(text: &[u8], at: usize, byte: u8) -> bool {
    byte == b'\n' || (byte == b'\r' && text.get(at + 1) != Some(&b'\n'))
}

/// Whether a walk over the marks of a text is inside quotes.
#[derive(Default)]
pub(super) struct Quoting {
    /// It is.
    pub open: bool,
    /// The second of a doubled quote, which is to be passed over.
    doubled: Option<usize>,
}

impl Quoting {
    /// Passes the quote at a position, in a field that began at `field`.
    pub fn quote(&mut self, text: &[u8], at: usize, field: usize, quote: u8) {
        if self.doubled == Some(at) {
            self.doubled = None;
        } else if !self.open {
            self.open = at == field;
        } else if text.get(at + 1) == Some(&quote) {
            self.doubled = Some(at + 1);
        } else {
            self.open = false;
        }
    }
}
