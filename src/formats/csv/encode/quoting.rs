//! When and how a field is quoted.

use super::super::kernels::{Marks, shapes};

/// Which bytes make a field need quotes.
pub(super) struct Quoting {
    pub marks: Marks,
    /// The delimiter can stand in a number, a date or a truth value.
    pub in_values: bool,
}

impl Quoting {
    pub fn new(delimiter: u8) -> Self {
        let in_values = delimiter.is_ascii_alphanumeric() || b"+-.:".contains(&delimiter);
        Self { marks: Marks { delimiter, quote: b'"' }, in_values }
    }

    /// Whether a field needs quotes.
    #[inline]
    pub fn needed(&self, field: &[u8]) -> bool {
        let (chunks, rest) = field.as_chunks();
        let mut padded = [0; 16];
        padded[..rest.len()].copy_from_slice(rest);
        // Padding is taken for text only if the delimiter is the zero byte; then quotes do no harm.
        chunks.iter().any(|chunk| shapes(*chunk, self.marks)) || shapes(padded, self.marks)
    }

    /// Appends a field, in quotes if it needs them.
    pub fn write(&self, field: &[u8], out: &mut Vec<u8>) {
        if self.needed(field) {
            write_quoted(field, out);
        } else {
            out.extend_from_slice(field);
        }
    }

    /// Puts what was appended from `start` on in quotes if it needs them.
    pub fn mend(&self, start: usize, out: &mut Vec<u8>) {
        if self.needed(&out[start..]) {
            let field = out.split_off(start);
            write_quoted(&field, out);
        }
    }
}

fn write_quoted(field: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = field;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        out.push(b'"');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
