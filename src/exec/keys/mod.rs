//! Keys for grouping, joining, sorting and partitioning: the one place that decides which values are equal.

pub mod equality;
pub mod order;

pub use equality::{Keys, NoKey};
pub use order::OrderKeys;
