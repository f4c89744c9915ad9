//! Delimited text: cutting, finding fields, typing, writing; and values from and to text.

mod blocks;
mod encode;
mod kernels;
mod support;
mod typing;
mod values;
