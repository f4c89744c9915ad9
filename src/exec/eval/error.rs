//! What can go wrong with a single row, and the collector of such failures.

use std::sync::Arc;

use crate::diagnostics::Span;
use crate::exec::batch::Bitmap;
use crate::exec::eval::live::Live;
use crate::exec::fault::{Fault, FaultKind};

/// Most bytes of a text that an expression may build from shorter ones.
pub const MAX_TEXT: usize = 10_485_760;

/// Why a value could not be computed.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// `/` or `%` by zero.
    DivisionByZero,
    /// An int result that needs more than 64 bits.
    IntegerOverflow(&'static str),
    /// A decimal result that needs more than 96 bits.
    DecimalOverflow(&'static str),
    /// A conversion that doesn't accept the value.
    Conversion {
        /// The value's text.
        value: String,
        /// The type it was to become.
        target: &'static str,
    },
    /// A text that would be larger than [`MAX_TEXT`].
    TextTooLarge(usize),
    /// A pattern made at run time that is not a regex.
    Regex {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A format made at run time that can't format.
    DateFormat(String),
}

impl Error {
    /// The message that people read.
    pub fn message(&self) -> String {
        match self {
            Error::DivisionByZero => "division by zero".into(),
            Error::IntegerOverflow(operation) => format!("integer overflow in {operation} operation"),
            Error::DecimalOverflow(operation) => format!("decimal overflow in {operation} operation"),
            Error::Conversion { value, target } => {
                format!("conversion failed: cannot convert '{value}' to {target}")
            }
            Error::TextTooLarge(bytes) => {
                format!("string output exceeds maximum size ({bytes} bytes, limit {MAX_TEXT})")
            }
            Error::Regex { pattern, reason } => format!("invalid regex '{pattern}': {reason}"),
            Error::DateFormat(format) => format!("invalid date format '{format}'"),
        }
    }

    /// The offending value, where the failure carries one.
    fn value(self) -> Option<String> {
        match self {
            Error::Conversion { value, .. } => Some(value),
            Error::Regex { pattern, .. } => Some(pattern),
            Error::DateFormat(format) => Some(format),
            _ => None,
        }
    }
}

/// Refuses a text of `bytes` bytes, unless a text of `original` bytes that it is made from is that large already.
pub fn check_size(bytes: usize, original: usize) -> Result<(), Error> {
    if bytes > MAX_TEXT.max(original) { Err(Error::TextTooLarge(bytes)) } else { Ok(()) }
}

/// The failures of a batch: for each row the first that is reported.
#[derive(Debug)]
pub struct Faults {
    rows: usize,
    /// One bit a row; empty until a row fails.
    failed: Vec<u64>,
    list: Vec<Fault>,
    field: Option<Arc<str>>,
}

impl Faults {
    /// No failure so far in a batch of `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self { rows, failed: Vec::new(), list: Vec::new(), field: None }
    }

    /// Names the column that is computed from now on.
    pub fn set_field(&mut self, field: Option<Arc<str>>) {
        self.field = field;
    }

    /// Whether no row failed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Reports that a row failed; does nothing if it failed before.
    #[cold]
    pub fn add(&mut self, row: usize, error: Error, span: Span) {
        if self.mark(row) {
            let (kind, field, message) = (FaultKind::TypeError, self.field.clone(), error.message());
            self.list.push(Fault { row, kind, field, value: error.value(), message, span, other: None });
        }
    }

    /// Reports a failure that is not an [`Error`]; does nothing if the row failed before.
    pub fn push(&mut self, fault: Fault) {
        if self.mark(fault.row) {
            self.list.push(fault);
        }
    }

    /// Reports for every live row the failure of an expression that is the same for all of them.
    pub fn add_to_all(&mut self, live: &Live, fault: &Fault) {
        let field = self.field.clone();
        live.for_each(|row| self.push(Fault { row, field: field.clone(), ..fault.clone() }));
    }

    /// The failure of the only row of a batch of one.
    pub fn single(self) -> Option<Fault> {
        self.list.into_iter().next()
    }

    /// The rows that failed; `None` if there are none.
    pub fn failed(&self) -> Option<Bitmap> {
        (!self.list.is_empty()).then(|| Bitmap::new(self.failed.clone().into(), 0, self.rows))
    }

    /// The failures, ascending by row.
    pub fn into_sorted(mut self) -> Vec<Fault> {
        self.list.sort_by_key(|fault| fault.row);
        self.list
    }

    /// Marks a row as failed; false if it was already.
    fn mark(&mut self, row: usize) -> bool {
        if self.failed.is_empty() {
            self.failed = vec![0; self.rows.div_ceil(64)];
        }
        let (word, bit) = (&mut self.failed[row / 64], 1 << (row % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }
}
