//! What to do, and how: the logical and the physical plan, the passes between, and how they are shown.
//!
//! Nothing here does IO or names an Arrow type. The interpreter runs the physical plan that `explain` prints.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod explain;
pub mod logical;
pub mod passes;
pub mod physical;

use crate::analysis::hir;
use crate::diagnostics::Diagnostics;

/// Plans a checked pipeline: lowers it to the logical plan, runs the logical passes, lowers that to the physical
/// plan and runs the physical passes, in the order that `passes` lists.
///
/// Warnings (a port that nothing reads) go to `diagnostics`. `None` if a pass refuses the pipeline; none does so far.
pub fn plan(pipeline: &hir::Pipeline, diagnostics: &mut Diagnostics) -> Option<physical::PhysicalPlan> {
    Some(passes::run(pipeline, diagnostics, &mut passes::Unwatched))
}
