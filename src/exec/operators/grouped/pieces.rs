//! Rows of a batch in pieces that fit.

use std::ops::Range;

/// Goes through rows in order: as many at a time as are sure to fit, down to a single one, of which it is tried.
///
/// What many rows may take at most is far more than what they do take. So whether there is room is told in the end by
/// single rows, and doesn't depend on how many come at a time.
pub(in crate::exec::operators) struct Pieces(Vec<Range<usize>>);

impl Pieces {
    /// All of so many rows.
    pub fn of(rows: usize) -> Self {
        let all = 0..rows;
        Self(if all.is_empty() { Vec::new() } else { vec![all] })
    }

    /// The next rows: several only if these `fit`.
    pub fn next(&mut self, fit: impl Fn(&Range<usize>) -> bool) -> Option<Range<usize>> {
        let (rows, _) = self.next_reserved(|rows| fit(rows).then_some(()))?;
        Some(rows)
    }

    /// The next rows: several only with what `reserve` has for all that they may take, a single one without.
    pub fn next_reserved<R>(
        &mut self,
        reserve: impl Fn(&Range<usize>) -> Option<R>,
    ) -> Option<(Range<usize>, Option<R>)> {
        let mut rows = self.0.pop()?;
        while rows.len() > 1 {
            if let Some(reserved) = reserve(&rows) {
                return Some((rows, Some(reserved)));
            }
            rows.end = self.put_back_half(&rows);
        }
        Some((rows, None))
    }

    /// Takes up several rows again, in halves: they didn't fit after all.
    pub fn divide(&mut self, rows: Range<usize>) {
        let middle = self.put_back_half(&rows);
        self.0.push(rows.start..middle);
    }

    /// Puts the second half of some rows back. Gives where it starts.
    fn put_back_half(&mut self, rows: &Range<usize>) -> usize {
        let middle = rows.start + rows.len() / 2;
        self.0.push(middle..rows.end);
        middle
    }
}
