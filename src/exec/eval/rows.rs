//! Kernels that compute one row after another: the dear ones, which work on live rows only, and those that are rare.
//!
//! Text results are appended to one buffer for all rows, and what fits a view is moved into it, so no row allocates.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

use super::error::{Error, Faults};
use super::live::Live;
use crate::analysis::types::Kind;
use crate::diagnostics::Span;
use crate::exec::batch::{Column, Validity};
use crate::exec::value::Value;

/// The rows that a kernel computes, and where it reports those that fail.
pub struct Rows<'a> {
    /// Which rows.
    pub live: &'a Live,
    /// The expression.
    pub span: Span,
    /// Takes the failures.
    pub faults: &'a mut Faults,
}

/// What a kernel gives for a row: a value, null, or a failure.
pub type Cell<T> = Result<Option<T>, Error>;

impl Rows<'_> {
    /// The number of rows of the batch.
    pub fn len(&self) -> usize {
        self.live.rows()
    }

    /// Fixed-width values and their validity.
    pub fn cells<T: Copy + Default>(&mut self, mut compute: impl FnMut(usize) -> Cell<T>) -> Cells<T> {
        let (mut values, mut validity) = (vec![T::default(); self.len()], Validity::new(self.len()));
        self.live.for_each(|row| match compute(row) {
            Ok(Some(value)) => values[row] = value,
            Ok(None) => validity.set_null(row),
            Err(error) => self.faults.add(row, error, self.span),
        });
        Cells { values, validity: validity.finish() }
    }

    /// An int column.
    pub fn ints(&mut self, compute: impl FnMut(usize) -> Cell<i64>) -> Column {
        let Cells { values, validity } = self.cells(compute);
        Column::ints(values, validity)
    }

    /// A float column.
    pub fn floats(&mut self, compute: impl FnMut(usize) -> Cell<f64>) -> Column {
        let Cells { values, validity } = self.cells(compute);
        Column::floats(values, validity)
    }

    /// A bool column.
    pub fn bools(&mut self, compute: impl FnMut(usize) -> Cell<bool>) -> Column {
        let Cells { values, validity } = self.cells(compute);
        Column::bools(BooleanBuffer::from(values), validity)
    }

    /// A date column.
    pub fn dates(&mut self, compute: impl FnMut(usize) -> Cell<i32>) -> Column {
        let Cells { values, validity } = self.cells(compute);
        Column::dates(values, validity)
    }

    /// A date_time column.
    pub fn date_times(&mut self, compute: impl FnMut(usize) -> Cell<i128>) -> Column {
        let Cells { values, validity } = self.cells(compute);
        Column::date_times(values, validity)
    }

    /// A decimal column, from mantissa and scale of each row.
    pub fn decimals(&mut self, mut compute: impl FnMut(usize) -> Cell<(i128, u8)>) -> Column {
        // Rows that are not computed take the scale of the row in front of them, so that they don't spoil a shared one.
        let mut scales = Vec::with_capacity(self.len());
        let mut fill = 0;
        let Cells { values, validity } = self.cells(|row| {
            let cell = compute(row)?;
            if let Some((_, scale)) = cell {
                fill = if scales.is_empty() { scale } else { fill };
                scales.resize(row, fill);
                scales.push(scale);
                fill = scale;
            }
            Ok(cell.map(|(mantissa, _)| mantissa))
        });
        scales.resize(self.len(), fill);
        Column::scaled_decimals(values, scales, validity)
    }

    /// A string column. `append` appends a row's text and says whether there is one; what it appended counts only
    /// then.
    pub fn texts(&mut self, mut append: impl FnMut(usize, &mut String) -> Result<bool, Error>) -> Column {
        let (mut texts, mut validity) = (Texts::new(self.len()), Validity::new(self.len()));
        self.live.for_each(|row| match texts.set(row, |out| append(row, out)) {
            Ok(true) => {}
            Ok(false) => validity.set_null(row),
            Err(error) => self.faults.add(row, error, self.span),
        });
        texts.finish(validity.finish())
    }

    /// A column of any kind, from values.
    pub fn values(&mut self, kind: &Kind, mut compute: impl FnMut(usize) -> Result<Value, Error>) -> Column {
        let mut values = vec![Value::Null; self.len()];
        self.live.for_each(|row| match compute(row) {
            Ok(value) => values[row] = value,
            Err(error) => self.faults.add(row, error, self.span),
        });
        Column::from_values(kind, &values)
    }
}

/// Fixed-width values and which of them are not null.
pub struct Cells<T> {
    /// One a row.
    pub values: Vec<T>,
    /// `None` if none is null.
    pub validity: Option<NullBuffer>,
}

/// Longest text that a view holds itself.
const INLINE: usize = 12;
/// A buffer takes no further text when it holds this many bytes.
const BUFFER: usize = 1 << 28;
/// Most bytes of one text: what a view can count.
const LONGEST: usize = 1 << 30;

/// Builds a string column: texts of up to twelve bytes in their views, others in shared buffers.
pub struct Texts {
    views: Vec<u128>,
    full: Vec<Buffer>,
    current: String,
}

impl Texts {
    /// Empty texts in `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self { views: vec![0; rows], full: Vec::new(), current: String::new() }
    }

    /// Sets a row to what `append` appends, if it gives true.
    #[inline]
    pub fn set(&mut self, row: usize, append: impl FnOnce(&mut String) -> Result<bool, Error>) -> Result<bool, Error> {
        if self.current.len() > BUFFER {
            self.full.push(Buffer::from_vec(std::mem::take(&mut self.current).into_bytes()));
        }
        let start = self.current.len();
        let valid = append(&mut self.current);
        let len = self.current.len() - start;
        if valid != Ok(true) || len > LONGEST {
            self.current.truncate(start);
            return valid.and(if len > LONGEST { Err(Error::TextTooLarge(len)) } else { Ok(false) });
        }
        self.views[row] = self.view(start);
        if len <= INLINE {
            self.current.truncate(start);
        }
        Ok(true)
    }

    /// The column.
    pub fn finish(mut self, validity: Option<NullBuffer>) -> Column {
        if !self.current.is_empty() {
            self.full.push(Buffer::from_vec(self.current.into_bytes()));
        }
        // SAFETY: each view was made by `view` from a whole text in the buffer it names, and buffers only grow.
        unsafe { Column::string_views(self.views, self.full, validity) }
    }

    fn view(&self, start: usize) -> u128 {
        arrow_array::builder::make_view(&self.current.as_bytes()[start..], self.full.len() as u32, start as u32)
    }
}
