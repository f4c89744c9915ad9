//! File formats, one folder each, and what they share: values from text and values to text.

pub mod calendar;
pub mod csv;
pub mod dates;
pub mod parse;
pub mod text;
