//! Turns batches into delimited text, row by row.
//!
//! Lines end with LF. A field is quoted only where it has to be: if it holds the delimiter, a quote, a CR or an LF.
//! Null and the empty text are both empty; a row that is one empty field is `""`, so that it is not a blank line.

mod cell;
mod pens;
mod quoting;

pub use self::cell::cell_text;

use self::cell::Cells;
use self::pens::Writer;
use self::quoting::Quoting;
use super::kernels::Pen;
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
        for (position, column) in self.columns.iter().enumerate() {
            if position > 0 {
                out.push(self.delimiter);
            }
            quoting.write(column.name.as_bytes(), out);
        }
        self.end_row(start, out);
    }

    /// Appends the rows of a batch. Fails with the first row that can't be written: a list with an element that holds
    /// `;`, or a map; how much was appended by then is open.
    pub fn encode(&self, batch: &Batch, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.encode_rows(batch, &mut Plain, out)
    }

    /// Appends the rows of a batch, each behind its length in four bytes and `head` zero bytes that count as part of
    /// it. Adds to `offsets` where each begins. Fails as [`Self::encode`] does.
    pub fn encode_framed(
        &self,
        batch: &Batch,
        head: usize,
        out: &mut Vec<u8>,
        offsets: &mut Vec<u32>,
    ) -> Result<(), EncodeError> {
        let first = offsets.len();
        self.encode_rows(batch, &mut Framed { head, offsets }, out)?;
        let ends = offsets[first..].iter().skip(1).copied().chain([out.len() as u32]);
        for (start, end) in offsets[first..].iter().zip(ends) {
            let length = end - start - LENGTH as u32;
            out[*start as usize..*start as usize + LENGTH].copy_from_slice(&length.to_le_bytes());
        }
        Ok(())
    }

    fn encode_rows(&self, batch: &Batch, frame: &mut impl Frame, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let quoting = Quoting::new(self.delimiter);
        let cells: Vec<Cells<'_>> = self.columns.iter().map(|column| cells_of(column, batch)).collect();
        match cells.as_slice() {
            [] => (0..batch.rows).for_each(|_| {
                frame.begin_in(out);
                out.push(b'\n');
            }),
            [single] => self.encode_single(single, batch.rows, &quoting, frame, out)?,
            several => encode_rows(several, batch.rows, &quoting, frame, out)?,
        }
        Ok(())
    }

    /// Appends rows of one field, which must not be blank lines.
    fn encode_single(
        &self,
        cells: &Cells<'_>,
        rows: usize,
        quoting: &Quoting,
        frame: &mut impl Frame,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        for row in 0..rows {
            frame.begin_in(out);
            let start = out.len();
            cells.write(row, quoting, out).map_err(|reason| EncodeError { row, column: 0, reason })?;
            self.end_row(start, out);
        }
        Ok(())
    }

    /// Ends the row that began at `start`.
    fn end_row(&self, start: usize, out: &mut Vec<u8>) {
        if out.len() == start && self.columns.len() == 1 {
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
    }
}

/// Appends rows of several fields: each field with the byte that follows it.
fn encode_rows(
    cells: &[Cells<'_>],
    rows: usize,
    quoting: &Quoting,
    frame: &mut impl Frame,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut writers: Vec<Writer<'_>> = cells.iter().map(|cells| Writer::new(cells, quoting)).collect();
    let mut pen = Pen::new(out);
    let last = writers.len() - 1;
    for row in 0..rows {
        frame.begin(&mut pen);
        for (column, writer) in writers.iter_mut().enumerate() {
            let end = if column == last { b'\n' } else { quoting.marks.delimiter };
            writer.write(row, end, quoting, &mut pen).map_err(|reason| EncodeError { row, column, reason })?;
        }
    }
    pen.finish();
    Ok(())
}

/// What stands in front of each row.
trait Frame {
    /// Begins a row.
    fn begin(&mut self, pen: &mut Pen<'_>);

    /// Begins a row at the end of a vector.
    fn begin_in(&mut self, out: &mut Vec<u8>);
}

/// Nothing.
struct Plain;

impl Frame for Plain {
    #[inline(always)]
    fn begin(&mut self, _: &mut Pen<'_>) {}

    fn begin_in(&mut self, _: &mut Vec<u8>) {}
}

/// Room for its length and for what identifies it.
struct Framed<'a> {
    head: usize,
    offsets: &'a mut Vec<u32>,
}

/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();

impl Frame for Framed<'_> {
    #[inline(always)]
    fn begin(&mut self, pen: &mut Pen<'_>) {
        self.offsets.push(pen.len() as u32);
        match self.head {
            0 => pen.put([0; LENGTH], LENGTH),
            head => pen.append(|out| out.resize(out.len() + LENGTH + head, 0)),
        }
    }

    fn begin_in(&mut self, out: &mut Vec<u8>) {
        self.offsets.push(out.len() as u32);
        out.resize(out.len() + LENGTH + self.head, 0);
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
            field.map_or(Cells::Empty, |(_, values)| Cells::String(values))
        }
    }
}
