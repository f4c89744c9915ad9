//! Analysis: names, types, rows, and what it says about mistakes.

mod build;
mod types;
