//! A row that failed: data, not an error of the program.

use std::sync::Arc;

use crate::diagnostics::Span;

/// One failure of one row at one operator.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// The row, as a position in the batch that the operator was given.
    pub row: usize,
    /// What kind of failure.
    pub kind: FaultKind,
    /// The column that was being computed or checked.
    pub field: Option<Arc<str>>,
    /// The offending value, where the failure carries one.
    pub value: Option<String>,
    /// What went wrong: `division by zero`.
    pub message: String,
    /// The expression that failed, or the validation; of a conflict, where the later rule sets the column.
    pub span: Span,
    /// Of a conflict, where the earlier rule sets the column.
    pub other: Option<Span>,
}

/// What kind of failure a fault is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A value could not be computed, or did not fit its declared type.
    TypeError,
    /// A validation of severity `error` did not hold.
    ValidationFailed,
    /// What is computed for a whole group could not be.
    GroupFailed,
    /// Two rules write one cell.
    Conflict,
    /// A row is to be in a group, but has a value that can't be a key.
    NoKey,
}

impl FaultKind {
    /// All kinds, in order.
    pub const ALL: [FaultKind; 5] = [
        FaultKind::TypeError,
        FaultKind::ValidationFailed,
        FaultKind::GroupFailed,
        FaultKind::Conflict,
        FaultKind::NoKey,
    ];

    /// The category that the dead-letter file shows.
    pub fn category(self) -> &'static str {
        match self {
            FaultKind::TypeError => "type_error",
            FaultKind::ValidationFailed => "validation_failed",
            FaultKind::GroupFailed | FaultKind::NoKey => "aggregate_finalize",
            FaultKind::Conflict => "mutation_conflict",
        }
    }
}
