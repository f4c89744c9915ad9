//! The few loops of the csv code that need `unsafe`: vector instructions, unchecked stores, text known to be valid.
//!
//! Every function here is safe to call. The loops that find bytes have plain twins in [`checked`], and tests compare
//! the two on random input.

pub mod checked;
mod lanes;
mod pen;
mod scan;
mod utf8;

pub use pen::{Pen, shapes};
#[cfg(target_arch = "x86_64")]
pub use scan::sse2;
pub use scan::{separators, structurals, survey};
pub use utf8::valid_text;

/// The bytes that shape a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields.
    pub quote: u8,
}

/// How the first look at a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Survey {
    /// Whether the text is regular: no blank line, no CR but in front of an LF, no opening quote inside a field. If it
    /// isn't, the other numbers say nothing.
    pub regular: bool,
    /// How many records end with a line end.
    pub records: u32,
    /// Line ends up to `end`, those inside quotes too.
    pub lines: u32,
    /// Where the last of them ends, its line end included.
    pub end: usize,
}

/// What is known of the separators of a text besides where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Separated {
    /// How many of them are LFs.
    pub feeds: u32,
    /// How many of them are CRs.
    pub returns: u32,
    /// Whether a closing quote is followed by something else than a separator: a doubled quote, or more text.
    pub untidy: bool,
}
