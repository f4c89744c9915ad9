//! Dead letters: rows that failed, with the reason, written as CSV.
//!
//! Workers encode a block's dead letters up to the id and the time, which are given when the block is written, in
//! order. So ids count up in the order in which a single worker would have met the failures. Where rows cross a buffer, the
//! failures of a row are met in several stages; dead letters are then put aside, and written at the end by row.
//!
//! What fails with a group is lost with it: its dead letters have a [`Bond`], which makes them name the group's first
//! trigger.

mod bound;
mod file;
mod ids;
mod letters;
mod shape;
mod spool;

pub(crate) use file::{LetterFile, start_files};
pub(crate) use letters::{Bond, LetterRow, LetterWriter, Letters, Trigger};
pub(crate) use shape::{LetterShape, cell_text};
pub(crate) use spool::{Room, Spool};
