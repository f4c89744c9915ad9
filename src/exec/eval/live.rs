//! The rows that an expression is evaluated for.

use crate::exec::batch::Bitmap;

/// A set of rows of a batch. Values of other rows are unspecified, and nothing fails there.
#[derive(Clone, Debug)]
pub struct Live {
    rows: usize,
    /// `None` if every row is live.
    bits: Option<Bitmap>,
    count: usize,
}

impl Live {
    /// Every row of a batch of `rows` rows.
    pub fn all(rows: usize) -> Self {
        Self { rows, bits: None, count: rows }
    }

    /// The rows whose bit is set.
    pub fn of(bits: Bitmap) -> Self {
        let (rows, count) = (bits.len(), bits.count_set_bits());
        Self { rows, bits: (count < rows).then_some(bits), count }
    }

    /// The number of rows of the batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of live rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether no row is live.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether every row is live.
    pub fn is_all(&self) -> bool {
        self.bits.is_none()
    }

    /// One bit a row, set where it is live.
    pub fn bits(&self) -> Bitmap {
        self.bits.clone().unwrap_or_else(|| Bitmap::new_set(self.rows))
    }

    /// The live rows whose bit is set.
    pub fn and(&self, bits: &Bitmap) -> Live {
        match &self.bits {
            None => Live::of(bits.clone()),
            Some(live) => Live::of(live & bits),
        }
    }

    /// The live rows whose bit is not set.
    pub fn and_not(&self, bits: &Bitmap) -> Live {
        self.and(&!bits)
    }

    /// The live rows that are not in `other`.
    pub fn minus(&self, other: &Live) -> Live {
        if other.is_empty() { self.clone() } else { self.and_not(&other.bits()) }
    }

    /// Calls `visit` with each live row, ascending.
    #[inline]
    pub fn for_each(&self, visit: impl FnMut(usize)) {
        match &self.bits {
            None => (0..self.rows).for_each(visit),
            Some(bits) => bits.set_indices().for_each(visit),
        }
    }

    /// The live rows, ascending.
    pub fn indices(&self) -> Vec<u32> {
        match &self.bits {
            None => (0..self.rows as u32).collect(),
            Some(bits) => bits.set_indices_u32().collect(),
        }
    }
}
