//! Evaluating expressions, transforms and routes.

mod aggregates;
pub mod harness;
mod keys;
mod programs;
mod random;
mod tables;
mod twin;
mod values;
mod walk;
