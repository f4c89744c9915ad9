//! Clinker compiles data pipelines and runs them.
//!
//! ```text
//! pipeline.yaml ──► AST ──► HIR ──► LogicalPlan ──► PhysicalPlan ──► run
//! ```
//!
//! | step | module |
//! | --- | --- |
//! | text to AST | [`syntax`] |
//! | AST to HIR | [`analysis`] |
//! | HIR to plans | [`plan`] |
//! | text to plan, in one call | [`driver`] |
//! | run | [`exec`], [`formats`] |
//! | messages | [`diagnostics`] |
//! | command line | [`cli`] |

pub mod analysis;
pub mod cli;
pub mod diagnostics;
pub mod driver;
pub mod exec;
pub mod formats;
pub mod plan;
pub mod syntax;
