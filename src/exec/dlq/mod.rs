//! Dead letters: rows that failed, with the reason, written as CSV.
//!
//! Workers encode a block's dead letters up to the id and the time, which are given when the block is written, in
//! order. So ids count up in the order in which a single worker would have met the failures. Where rows cross a buffer, the
//! failures of a row are met in several stages; dead letters are then put aside, and written at the end by row.

mod file;
mod letters;
mod shape;
mod spool;

pub(crate) use file::{LetterFile, start_files};
pub(crate) use letters::{LetterRow, LetterWriter, Letters, Trigger};
pub(crate) use shape::LetterShape;
pub(crate) use spool::Spool;
