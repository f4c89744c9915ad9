//! Dead letters: rows that failed, with the reason, written as CSV.
//!
//! Workers encode a block's dead letters up to the id and the time, which are given when the block is written, in
//! order. So ids count up in the order in which a single worker would have met the failures.

mod file;
mod letters;
mod shape;

pub(crate) use file::{LetterFile, start_files};
pub(crate) use letters::{LetterWriter, Letters, Trigger};
pub(crate) use shape::LetterShape;
