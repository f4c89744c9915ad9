//! The one test binary.

mod analysis;
mod cases;
mod cli;
mod csv;
mod cxl;
mod diagnostics;
mod docs;
mod eval;
mod exec;
mod layers;
mod pipeline;
mod plan;
mod properties;
mod support;
mod yaml;
