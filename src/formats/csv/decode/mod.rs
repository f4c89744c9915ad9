//! Turns the fields of a block into typed columns: one loop for each column, its type chosen outside the loop.
//!
//! A loop tries the common spelling first, in a few instructions; whatever that does not take is read strictly by
//! [`crate::formats::parse`]. Why a cell failed is worked out at the end, for the cells that count.

mod date;
mod fields;
mod number;
mod read;
mod text;

use std::ops::Range;

use self::fields::Fields;
use self::read::Outcome;
use super::{Binding, Block, Decoded, Decoder, Index, RecordFault, RecordFaultKind};
use crate::analysis::hir::{CsvReadOptions, SourceColumn};
use crate::analysis::types::Kind;
use crate::formats::dates::DateParser;
use crate::formats::parse;
use crate::plan::physical::ColumnSet;

/// How a declared column is read.
pub(super) struct ColumnReader {
    field: usize,
    nullable: bool,
    stored: bool,
    kind: Kind,
    ty: Reader,
}

/// What a cell is read as.
enum Reader {
    Null,
    Bool,
    Int,
    Float,
    Decimal {
        scale: Option<u8>,
        precision: Option<u8>,
    },
    String,
    Any,
    Date(DateParser),
    DateTime(DateParser),
    /// A type that one cell of text can't hold.
    Unreadable,
}

impl Reader {
    fn new(column: &SourceColumn) -> Self {
        match column.ty.kind {
            Kind::Null => Reader::Null,
            Kind::Bool => Reader::Bool,
            Kind::Int => Reader::Int,
            Kind::Float => Reader::Float,
            Kind::Decimal { scale } => Reader::Decimal { scale, precision: column.precision },
            Kind::String => Reader::String,
            Kind::Any => Reader::Any,
            Kind::Date => Reader::Date(DateParser::for_column(&column.formats, false)),
            Kind::DateTime => Reader::DateTime(DateParser::for_column(&column.formats, true)),
            Kind::Array(_) | Kind::Map | Kind::Error => Reader::Unreadable,
        }
    }

    /// Why a cell that is not empty was refused.
    fn reason(&self, cell: &[u8]) -> String {
        let reason = match self {
            Reader::Null => Some("not empty, and the column holds only nulls".into()),
            Reader::Bool => parse::bool(cell).err().map(Into::into),
            Reader::Int => parse::int(cell).err().map(Into::into),
            Reader::Float => parse::float(cell).err().map(Into::into),
            Reader::Decimal { scale, precision } => parse::decimal(cell, *scale, *precision).err(),
            Reader::Date(parser) => parser.date(cell).err().map(|fault| parser.reason(fault).into()),
            Reader::DateTime(parser) => parser.date_time(cell).err().map(|fault| parser.reason(fault).into()),
            Reader::Unreadable => Some("not of a type that a csv file can hold".into()),
            Reader::String | Reader::Any => None,
        };
        reason.expect("only a cell that can't be read is refused").into_owned()
    }
}

impl Decoder {
    /// A decoder for files bound by `binding`. Every declared column is validated; only those in `stored` are kept,
    /// and the extra fields only if `carries`.
    pub fn new(
        columns: &[SourceColumn],
        binding: Binding,
        stored: &ColumnSet,
        carries: bool,
        options: &CsvReadOptions,
    ) -> Self {
        let readers = columns.iter().zip(&binding.declared).enumerate().map(|(position, (column, field))| {
            let (nullable, stored) = (column.ty.nullable, stored.contains(position));
            ColumnReader { field: *field, nullable, stored, kind: column.ty.kind.clone(), ty: Reader::new(column) }
        });
        Self {
            columns: readers.collect(),
            extra: binding.extra.iter().map(|(field, _)| *field).filter(|_| carries).collect(),
            width: binding.width,
            marks: super::Marks { delimiter: options.delimiter, quote: options.quote },
            encoding: options.encoding,
        }
    }

    /// Decodes the records at `range` (positions in the block).
    pub fn decode(&self, block: &Block, index: &Index, range: Range<u32>) -> Decoded {
        let mut faults = Faults::new(range.clone(), &index.misshapen);
        let mut repaired = Vec::new();
        let fields = Fields::new(block, index, range.clone(), self.width, &mut repaired, |record, field| {
            faults.add(record - range.start, || RecordFaultKind::Encoding { field });
        });
        let columns = self.columns.iter().enumerate().map(|(column, reader)| {
            let outcome = reader.read(&fields);
            for record in outcome.refused {
                let reason = || reader.reason_for(fields.cell(record as usize, reader.field));
                faults.add(record, || RecordFaultKind::Value { column, reason: reason() });
            }
            outcome.column
        });
        let columns = columns.collect();
        let extra = self.extra.iter().map(|field| text::strings(&fields, *field)).collect();
        Decoded { columns, extra, faults: faults.finish() }
    }
}

impl ColumnReader {
    /// Reads the column.
    fn read(&self, fields: &Fields<'_>) -> Outcome {
        let cells = fields.column(self.field, self.nullable, self.stored);
        match &self.ty {
            Reader::Null => read::nulls(&cells),
            Reader::Bool => read::bools(&cells),
            Reader::Int => number::ints(&cells),
            Reader::Float => number::floats(&cells),
            Reader::Decimal { scale, precision } => number::decimals(&cells, *scale, *precision),
            Reader::Date(parser) => date::dates(&cells, parser),
            Reader::DateTime(parser) => date::date_times(&cells, parser),
            Reader::String => Outcome::sound(self.stored.then(|| text::strings(fields, self.field))),
            Reader::Any => Outcome::sound(self.stored.then(|| text::any(fields, self.field))),
            Reader::Unreadable => read::nothing(&cells),
        }
    }

    fn reason_for(&self, cell: &[u8]) -> String {
        match cell.is_empty() {
            true => format!("empty, and the column is not nullable({})", self.kind),
            false => self.ty.reason(cell),
        }
    }
}

/// The faults of a range of records: the first of each record counts.
struct Faults {
    first: u32,
    failed: Vec<bool>,
    found: Vec<RecordFault>,
}

impl Faults {
    fn new(range: Range<u32>, misshapen: &[RecordFault]) -> Self {
        let mut faults = Self { first: range.start, failed: Vec::new(), found: Vec::new() };
        if misshapen.is_empty() {
            return faults;
        }
        for fault in misshapen.iter().filter(|fault| range.contains(&fault.position)) {
            faults.add(fault.position - range.start, || fault.kind.clone());
        }
        faults
    }

    /// Adds a fault of a record, counted from the first of the range.
    fn add(&mut self, record: u32, kind: impl FnOnce() -> RecordFaultKind) {
        let record = record as usize;
        if self.failed.len() <= record {
            self.failed.resize(record + 1, false);
        }
        if !std::mem::replace(&mut self.failed[record], true) {
            self.found.push(RecordFault { position: self.first + record as u32, kind: kind() });
        }
    }

    fn finish(mut self) -> Vec<RecordFault> {
        self.found.sort_by_key(|fault| fault.position);
        self.found
    }
}
