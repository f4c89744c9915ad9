//! Kernels of the operators.

pub mod arithmetic;
pub mod choose;
pub mod compare;
pub mod convert;
pub mod decimal;
pub mod logic;
pub mod sides;
pub mod wide;
