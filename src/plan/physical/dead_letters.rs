//! Where bad rows go, and what a dead-letter file looks like.

use super::OperatorId;
use crate::analysis::hir;
use crate::diagnostics::{Span, Spanned};

/// Where bad rows go.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeadLetters {
    /// Whether bad rows are dead-lettered instead of stopping the run.
    pub continue_on_error: bool,
    /// The files, the pipeline-wide one first.
    pub files: Vec<DeadLetterFile>,
    /// For each maker of rows ([`super::PhysicalPlan::makers`]), the position of its file in `files`.
    pub routes: Vec<(OperatorId, Option<usize>)>,
    /// The file of rows without a source: those that aggregates make.
    pub merged: Option<usize>,
    /// The run's ceiling.
    pub rate: Option<hir::Rate>,
    /// Ceilings of single sources.
    pub source_rates: Vec<(OperatorId, hir::Rate)>,
    /// The memory consumer of dead letters that wait until those of all stages are there; `None` if none has to.
    pub consumer: Option<usize>,
    /// Ceiling on the share of rows that do not fit their types, for each source.
    pub type_error_threshold: Option<Spanned<f64>>,
}

/// A dead-letter file.
#[derive(Clone, PartialEq, Debug)]
pub struct DeadLetterFile {
    /// The path, relative to the base directory unless absolute.
    pub path: (String, Span),
    /// Whether category and detail are written.
    pub include_reason: bool,
    /// Whether raw text and record columns are written.
    pub include_source_row: bool,
    /// The record columns: the union of every record shape that can reach the file, in plan order.
    pub columns: Vec<String>,
}

impl DeadLetterFile {
    /// The header line: the columns of every dead letter, then the record columns.
    pub fn header(&self) -> Vec<String> {
        let reason = ["_cxl_dlq_error_category", "_cxl_dlq_error_detail"].into_iter().filter(|_| self.include_reason);
        let place = ["_cxl_dlq_stage", "_cxl_dlq_route", "_cxl_dlq_trigger"];
        let raw = ["_cxl_dlq_raw"].into_iter().filter(|_| self.include_source_row);
        let fixed = DEAD_LETTER_HEAD.into_iter().chain(reason).chain(place).chain(raw);
        fixed.map(str::to_string).chain(self.columns.iter().cloned()).collect()
    }
}

/// The columns that every dead-letter file begins with.
const DEAD_LETTER_HEAD: [&str; 8] = [
    "_cxl_dlq_id",
    "_cxl_dlq_trigger_id",
    "_cxl_dlq_timestamp",
    "_cxl_dlq_source_file",
    "_cxl_dlq_source_name",
    "_cxl_dlq_source_row",
    "_cxl_dlq_triggering_field",
    "_cxl_dlq_triggering_value",
];
