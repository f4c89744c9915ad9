//! Evaluates typed expressions, a column at a time.
//!
//! A kernel takes whole columns and gives values, validity and, if it can fail, faults; faults count only where the
//! row is live and the operand valid. `if`, `and`, `or`, `??`, `match` and `filter` narrow the live bitmap, so an
//! error in a branch that a row does not take can't happen.

mod compile;
mod datum;
mod error;
mod frame;
mod functions;
mod group;
mod live;
mod node;
mod operands;
mod operators;
mod reshape;
mod route;
mod rows;
mod transform;

use crate::analysis::hir;
use crate::exec::batch::{Batch, FileNumbers};
use crate::exec::fault::Fault;

pub use group::{Arguments, Rules};
pub(in crate::exec) use operators::wide;
pub use reshape::{Added, Reshape, Reshaped, RuleFault};
pub use route::Route;
pub use transform::Transform;

/// What is the same for every row of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Constants {
    /// `$pipeline.name`
    pub pipeline_name: String,
    /// `$pipeline.execution_id`
    pub execution_id: String,
    /// `$pipeline.batch_id`
    pub batch_id: String,
    /// `$pipeline.start_time` and `now`: nanoseconds since 1970-01-01T00:00:00.
    pub start_time: i128,
    /// `$vars.*`, by position.
    pub vars: Vec<hir::ConstantValue>,
    /// The names of the sources, by position among the plan's sources ([`crate::exec::batch::Origin::source`]).
    pub source_names: Vec<String>,
    /// The files of each source, as configured or matched.
    pub source_files: Vec<Vec<String>>,
    /// Numbers for these files.
    pub file_numbers: FileNumbers,
}

/// What stands in place of file and source for a row that comes of several.
pub const MERGED: &str = "<merged>";

impl Constants {
    /// The file of a row that comes from a source.
    pub fn file(&self, source: u32, file: u32) -> Option<&str> {
        Some(&self.source_files.get(source as usize)?[file as usize])
    }
}

/// What a program did to a batch.
#[derive(Debug)]
pub struct Transformed {
    /// The rows that are left, with the output columns.
    pub batch: Batch,
    /// For each row of `batch`, its position in the input batch; `None` if no row was taken out.
    pub kept: Option<Vec<u32>>,
    /// Rows that a filter took out.
    pub filtered: usize,
    /// The failures, one for each failed row, ascending by row: its first error in statement order.
    pub faults: Vec<Fault>,
    /// `warn` validations that did not hold, by row and then by validation.
    pub warned: Vec<Warning>,
}

/// A `warn` validation that did not hold for a row.
#[derive(Clone, PartialEq, Debug)]
pub struct Warning {
    /// The row, as a position in the input batch.
    pub row: usize,
    /// The validation, as a position among the transform's.
    pub validation: usize,
    /// Why it could not be computed; `None` if it could.
    pub failure: Option<Fault>,
}

/// What a route did to a batch.
#[derive(Debug)]
pub struct Routed {
    /// The rows of each branch, the default last: `None` for an empty branch.
    pub branches: Vec<Option<Batch>>,
    /// The failures, one for each failed row, ascending by row.
    pub faults: Vec<Fault>,
}
