//! Evaluating expressions, transforms and routes.

mod harness;
mod keys;
mod programs;
mod random;
mod tables;
mod values;
mod walk;
