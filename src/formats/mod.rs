//! File formats, one folder each.

pub mod csv;
