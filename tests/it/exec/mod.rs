//! Whole runs: from pipeline text to published files, and what is left behind when a run fails.

pub mod lab;
mod large_lists;
mod least_limit;

mod aggregates;
mod buffers;
mod cull;
mod dead_letters;
mod disk_failures;
mod distinct;
mod expectations;
mod failures;
mod inputs;
mod memory;
mod order_keys;
mod orders;
mod outputs;
mod publication;
mod reshape;
#[cfg(target_os = "linux")]
mod resident;
mod rest;
mod sorter;
mod spill;
mod streaming;
mod summary;
mod turns;
