//! Keys for grouping, joining, sorting and partitioning: the one place that decides which values are equal.

mod arena;
mod columns;
pub mod equality;
mod fold;
pub mod groups;
pub mod order;
mod records;
mod sequence;

pub use arena::Arena;
pub use columns::KeyColumns;
pub use equality::{Keys, NoKey};
pub use fold::{Blanks, folded};
pub use groups::{GroupTable, KeyHasher};
pub use order::OrderKeys;
pub use sequence::{CheckedRow, Late, Section, Sequence};
