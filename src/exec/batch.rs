//! The data plane: columns, batches, bitmaps and where rows come from.
//!
//! This module and the kernels are the only places that name Arrow types. A [`Batch`] is declared columns, by their
//! position in the edge's schema, and carried columns, which operators move as one unit and no expression reads. A
//! column that nothing downstream reads is absent, so positions never have to be remapped.

mod cells;
mod gather;
mod select;
mod text;
mod validity;

use std::sync::Arc;

use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, GenericByteViewArray, Int64Array,
    StringViewArray, UInt8Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

pub use text::TextColumn;
pub use validity::Validity;

/// One bit a row.
pub type Bitmap = BooleanBuffer;

/// Values of one kind, one a row.
#[derive(Clone, Debug)]
pub enum Column {
    /// Only nulls: how many.
    Null(usize),
    /// `bool`
    Bool(BooleanArray),
    /// `int`
    Int(Int64Array),
    /// `float`
    Float(Float64Array),
    /// `decimal`
    Decimal(DecimalColumn),
    /// `string`
    String(StringViewArray),
    /// `date`: days since 1970-01-01.
    Date(Date32Array),
    /// `date_time`: nanoseconds since 1970-01-01T00:00:00, as Decimal128(38, 0).
    DateTime(Decimal128Array),
    /// `array` of one element kind.
    List(ListColumn),
    /// `any` and `map`: tagged binary values, see `exec::value`.
    Any(BinaryViewArray),
}

/// Decimal values: a mantissa for each row, and one scale for all or one for each.
#[derive(Clone, Debug)]
pub struct DecimalColumn {
    /// The mantissas; each fits 96 bits.
    pub mantissas: Decimal128Array,
    /// The scales, 0 to 28.
    pub scales: Scales,
}

/// The scales of a decimal column.
#[derive(Clone, Debug)]
pub enum Scales {
    /// All rows share one.
    Shared(u8),
    /// One for each row.
    PerRow(UInt8Array),
}

impl Scales {
    /// The scale of a row.
    pub fn at(&self, row: usize) -> u8 {
        match self {
            Scales::Shared(scale) => *scale,
            Scales::PerRow(scales) => scales.value(row),
        }
    }
}

/// List values: offsets into a column of elements.
#[derive(Clone, Debug)]
pub struct ListColumn {
    /// Where each row's elements begin and end in `elements`; one more than rows.
    pub offsets: ScalarBuffer<i32>,
    /// The elements of all rows.
    pub elements: Arc<Column>,
    /// Which rows are not null.
    pub validity: Option<NullBuffer>,
}

impl Column {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Null(rows) => *rows,
            Column::Bool(a) => a.len(),
            Column::Int(a) => a.len(),
            Column::Float(a) => a.len(),
            Column::Decimal(a) => a.mantissas.len(),
            Column::String(a) => a.len(),
            Column::Date(a) => a.len(),
            Column::DateTime(a) => a.len(),
            Column::List(a) => a.offsets.len() - 1,
            Column::Any(a) => a.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which rows are not null; `None` if none is null (or, for [`Column::Null`], if there are no rows).
    pub fn validity(&self) -> Option<NullBuffer> {
        match self {
            Column::Null(rows) => (*rows > 0).then(|| NullBuffer::new_null(*rows)),
            Column::Bool(a) => a.nulls().cloned(),
            Column::Int(a) => a.nulls().cloned(),
            Column::Float(a) => a.nulls().cloned(),
            Column::Decimal(a) => a.mantissas.nulls().cloned(),
            Column::String(a) => a.nulls().cloned(),
            Column::Date(a) => a.nulls().cloned(),
            Column::DateTime(a) => a.nulls().cloned(),
            Column::List(a) => a.validity.clone(),
            Column::Any(a) => a.nulls().cloned(),
        }
    }

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Null(_) => true,
            Column::Bool(a) => a.is_null(row),
            Column::Int(a) => a.is_null(row),
            Column::Float(a) => a.is_null(row),
            Column::Decimal(a) => a.mantissas.is_null(row),
            Column::String(a) => a.is_null(row),
            Column::Date(a) => a.is_null(row),
            Column::DateTime(a) => a.is_null(row),
            Column::List(a) => a.validity.as_ref().is_some_and(|v| v.is_null(row)),
            Column::Any(a) => a.is_null(row),
        }
    }

    /// An int column.
    pub fn ints(values: Vec<i64>, validity: Option<NullBuffer>) -> Self {
        Column::Int(Int64Array::new(values.into(), validity))
    }

    /// A float column.
    pub fn floats(values: Vec<f64>, validity: Option<NullBuffer>) -> Self {
        Column::Float(Float64Array::new(values.into(), validity))
    }

    /// A bool column.
    pub fn bools(values: Bitmap, validity: Option<NullBuffer>) -> Self {
        Column::Bool(BooleanArray::new(values, validity))
    }

    /// A date column from days since 1970-01-01.
    pub fn dates(days: Vec<i32>, validity: Option<NullBuffer>) -> Self {
        Column::Date(Date32Array::new(days.into(), validity))
    }

    /// A date_time column from nanoseconds since 1970-01-01T00:00:00.
    pub fn date_times(nanoseconds: Vec<i128>, validity: Option<NullBuffer>) -> Self {
        let array = Decimal128Array::new(nanoseconds.into(), validity);
        Column::DateTime(array.with_precision_and_scale(38, 0).expect("38 digits and no scale are valid"))
    }

    /// A decimal column of one scale.
    pub fn decimals(mantissas: Vec<i128>, scale: u8, validity: Option<NullBuffer>) -> Self {
        Column::Decimal(DecimalColumn {
            mantissas: Decimal128Array::new(mantissas.into(), validity),
            scales: Scales::Shared(scale),
        })
    }

    /// A decimal column from the mantissa and scale of each row; the scale of a null doesn't matter.
    pub fn scaled_decimals(mantissas: Vec<i128>, scales: Vec<u8>, validity: Option<NullBuffer>) -> Self {
        let is_valid = |row: usize| validity.as_ref().is_none_or(|validity| validity.is_valid(row));
        let mut used = scales.iter().enumerate().filter(|(row, _)| is_valid(*row)).map(|(_, scale)| *scale);
        let shared = used.next().unwrap_or(0);
        if used.all(|scale| scale == shared) {
            return Column::decimals(mantissas, shared, validity);
        }
        Column::Decimal(DecimalColumn {
            mantissas: Decimal128Array::new(mantissas.into(), validity),
            scales: Scales::PerRow(UInt8Array::new(scales.into(), None)),
        })
    }

    /// A string column from Arrow string views and the buffers they point into.
    ///
    /// # Safety
    /// Every view must be well formed, point inside its buffer and cover valid UTF-8.
    pub unsafe fn string_views(views: Vec<u128>, buffers: Vec<Buffer>, validity: Option<NullBuffer>) -> Self {
        // SAFETY: the caller vouches for the views.
        Column::String(unsafe { trusted_views(views.into(), buffers.into(), validity) })
    }

    /// A string column from texts.
    pub fn strings<T: AsRef<str>>(values: impl IntoIterator<Item = Option<T>>) -> Self {
        Column::String(values.into_iter().collect())
    }
}

/// An array of views that are not looked at, but in debug builds, and so in tests, where Arrow checks each of them.
///
/// # Safety
/// Every view must be well formed, point inside its buffer and cover what the array holds.
unsafe fn trusted_views<T: ByteViewType>(
    views: ScalarBuffer<u128>,
    buffers: Arc<[Buffer]>,
    validity: Option<NullBuffer>,
) -> GenericByteViewArray<T> {
    debug_assert_eq!(T::validate(&views, &buffers).map_err(|error| error.to_string()), Ok(()));
    // SAFETY: the caller vouches for the views.
    unsafe { GenericByteViewArray::new_unchecked(views, buffers, validity) }
}

/// The undeclared fields of a batch: names interned for the run, with their values.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// The fields that the batch's file has: an id in the run's list of carried names, and the values.
    pub fields: Vec<(u32, StringViewArray)>,
}

/// Where the rows of a batch come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The source, as a position among the plan's sources.
    pub source: u32,
    /// The file, as a position among the source's files.
    pub file: u32,
    /// The number in its file of the block's first record, from 1.
    pub block_row: u64,
    /// The number across the source's files of the block's first record, from 1.
    pub block_source_row: u64,
    /// For each row of the batch, its record's position in the block.
    pub positions: Positions,
    /// Behind a buffer or an interleaving merge, where the rows of the block come from; the fields above then say nothing
    /// but `positions`.
    pub kept: Option<Arc<KeptOrigins>>,
}

/// Where a row comes from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RowId {
    /// What made it, as a position among the plan's makers of rows: a source, or behind all sources an aggregate.
    pub source: u32,
    /// The file, as a position among the source's files; of a group's row the [number](FileNumbers) of the file of the
    /// group's first row.
    pub file: u32,
    /// The number of its record in the file, from 1; of a group's row that of the group's first row.
    pub file_row: u64,
    /// The number of its record across the source's files, or among the aggregate's groups, from 1.
    pub source_row: u64,
}

/// Numbers for the files of all sources, source by source.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FileNumbers(Vec<u32>);

impl FileNumbers {
    /// Numbers the files of sources that have so many.
    pub fn new(files: impl IntoIterator<Item = usize>) -> Self {
        let numbered = files.into_iter().scan(0, |next, count| {
            let first = *next;
            *next += count as u32;
            Some(first)
        });
        Self(numbered.collect())
    }

    /// The number of the file of a row, given as a [`RowId`] has it: of a group's row it is one already.
    pub fn number(&self, source: u32, file: u32) -> u32 {
        self.0.get(source as usize).map_or(file, |first| first + file)
    }

    /// The source and the file that a number stands for; `None` if there are no sources.
    pub fn file(&self, number: u32) -> Option<(u32, u32)> {
        let source = self.0.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((source as u32, number - self.0[source]))
    }
}

/// Where the rows of a block that comes out of a buffer or an interleaving merge come from, by position in the block.
#[derive(Clone, Debug, Default)]
pub struct KeptOrigins {
    /// The sources.
    pub sources: Vec<u32>,
    /// The files, as a [`RowId`] has them.
    pub files: Vec<u32>,
    /// The numbers of the records in their files, from 1.
    pub file_rows: Vec<u64>,
    /// The numbers of the records across their sources' files, from 1.
    pub source_rows: Vec<u64>,
    /// For rows that an aggregate made of groups in this very block, by position among them: the position of the row that
    /// ended the group. Empty for rows that came in with the block.
    pub ends: Vec<u32>,
}

/// For each row of a batch, its record's position in the block.
#[derive(Clone, Debug)]
pub enum Positions {
    /// Consecutive records from this one on.
    From(u32),
    /// One position for each row.
    List(Arc<Vec<u32>>),
}

impl Positions {
    /// The position of a row.
    pub fn at(&self, row: usize) -> u32 {
        match self {
            Positions::From(first) => first + row as u32,
            Positions::List(list) => list[row],
        }
    }
}

impl Origin {
    /// The origin of rows of which nothing is known but their positions in the block, from `first` on.
    pub fn unknown(first: u32) -> Self {
        let positions = Positions::From(first);
        Self { source: u32::MAX, file: 0, block_row: 0, block_source_row: 0, positions, kept: None }
    }

    /// Whether it says where the rows come from.
    pub fn is_known(&self) -> bool {
        self.kept.is_some() || self.source != u32::MAX
    }

    /// Where a row stands among all rows of its block: the position of its record, or of the row that ended its group.
    pub fn position(&self, row: usize) -> u32 {
        let position = self.positions.at(row);
        match &self.kept {
            Some(kept) if !kept.ends.is_empty() => kept.ends[position as usize],
            _ => position,
        }
    }

    /// Whether an aggregate made the rows of groups in this very block.
    pub fn is_made(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| !kept.ends.is_empty())
    }

    /// Where a row comes from, as far as that is known.
    pub fn row_id(&self, row: usize) -> RowId {
        let (source, file) = (self.source_of(row), self.file_of(row));
        RowId { source, file, file_row: self.file_row(row), source_row: self.source_row(row) }
    }

    /// The source of a row, as a position among the plan's sources.
    pub fn source_of(&self, row: usize) -> u32 {
        match &self.kept {
            None => self.source,
            Some(kept) => kept.sources[self.positions.at(row) as usize],
        }
    }

    /// The file of a row, as a position among its source's files.
    pub fn file_of(&self, row: usize) -> u32 {
        match &self.kept {
            None => self.file,
            Some(kept) => kept.files[self.positions.at(row) as usize],
        }
    }

    /// The number of a row's record in its file, from 1.
    pub fn file_row(&self, row: usize) -> u64 {
        match &self.kept {
            None => self.block_row + u64::from(self.positions.at(row)),
            Some(kept) => kept.file_rows[self.positions.at(row) as usize],
        }
    }

    /// The number of a row's record across the source's files, from 1.
    pub fn source_row(&self, row: usize) -> u64 {
        match &self.kept {
            None => self.block_source_row + u64::from(self.positions.at(row)),
            Some(kept) => kept.source_rows[self.positions.at(row) as usize],
        }
    }
}

/// Some rows of one file.
#[derive(Clone, Debug)]
pub struct Batch {
    /// How many.
    pub rows: usize,
    /// By position in the edge's schema; `None` where nothing downstream reads the column.
    pub columns: Vec<Option<Column>>,
    /// The undeclared fields.
    pub carried: Carried,
    /// Where the rows come from.
    pub origin: Origin,
}
