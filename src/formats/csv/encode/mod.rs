//! Turns batches into delimited text, row by row.
//!
//! Lines end with LF. A field is quoted only where it has to be: if it holds the delimiter, a quote, a CR or an LF.
//! Null and the empty text are both empty; a row that is one empty field is `""`, so that it is not a blank line.

mod cell;

use self::cell::{Cells, Quoting};
use super::{EncodeColumn, EncodeError, EncodeSource, Encoder};
use crate::exec::batch::Batch;

impl Encoder {
    /// An encoder of these columns.
    pub fn new(columns: Vec<EncodeColumn>, delimiter: u8) -> Self {
        Self { columns, delimiter }
    }

    /// Appends the header line.
    pub fn header(&self, out: &mut Vec<u8>) {
        let quoting = Quoting::new(self.delimiter);
        let start = out.len();
        for column in &self.columns {
            quoting.write(column.name.as_bytes(), out);
            out.push(self.delimiter);
        }
        self.end_row(start, out);
    }

    /// Appends the rows of a batch. Fails with the first row that can't be written: a list with an element that holds
    /// `;`, or a map. What was appended by then is to be dropped.
    pub fn encode(&self, batch: &Batch, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let cells: Vec<Cells<'_>> = self.columns.iter().map(|column| cells_of(column, batch)).collect();
        let quoting = Quoting::new(self.delimiter);
        for row in 0..batch.rows {
            let start = out.len();
            for (column, cells) in cells.iter().enumerate() {
                if let Err(reason) = cells.write(row, &quoting, out) {
                    return Err(EncodeError { row, column, reason });
                }
                out.push(self.delimiter);
            }
            self.end_row(start, out);
        }
        Ok(())
    }

    /// Makes the last delimiter of the row that began at `start` its line end.
    #[inline]
    fn end_row(&self, start: usize, out: &mut Vec<u8>) {
        let length = out.len() - start;
        if length <= 1 {
            out.truncate(start);
            out.extend_from_slice(if self.columns.is_empty() { b"\n" } else { b"\"\"\n" });
        } else if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }
}

fn cells_of<'a>(column: &EncodeColumn, batch: &'a Batch) -> Cells<'a> {
    match column.source {
        EncodeSource::Column(position) => match batch.columns.get(position) {
            Some(Some(values)) => Cells::new(values, column.scale),
            _ => Cells::Empty,
        },
        EncodeSource::Carried(id) => {
            let field = batch.carried.fields.iter().find(|(name, _)| *name == id);
            field.map_or(Cells::Empty, |(_, values)| Cells::texts(values))
        }
    }
}
