//! Whether rows come in the order of their keys. Workers look at some rows each; what they find is put together.

use super::order::OrderKeys;

/// What is known of some rows that stand one behind the other.
pub struct Ends {
    first: Vec<u8>,
    first_row: u64,
    last: Vec<u8>,
    late: Option<u64>,
}

impl Ends {
    /// Looks at rows, given the position of each among the keys and its number; `None` if there are none.
    pub fn of(keys: &OrderKeys, mut rows: impl Iterator<Item = (usize, u64)>) -> Option<Self> {
        let (first, first_row) = rows.next()?;
        let mut last = first;
        let late = rows.find_map(|(row, number)| {
            let is_late = keys.key(row) < keys.key(last);
            last = if is_late { last } else { row };
            is_late.then_some(number)
        });
        Some(Self { first: keys.key(first).to_vec(), first_row, last: keys.key(last).to_vec(), late })
    }

    /// Whether one of the rows should have come earlier.
    pub fn is_broken(&self) -> bool {
        self.late.is_some()
    }
}

/// Rows that are looked at in their order.
#[derive(Default)]
pub struct Sequence {
    last: Option<Vec<u8>>,
    late: Option<u64>,
}

impl Sequence {
    /// Adds the rows that come next.
    pub fn add(&mut self, ends: Ends) {
        if self.late.is_some() {
            return;
        }
        let is_late = self.last.as_ref().is_some_and(|last| ends.first < *last);
        self.late = if is_late { Some(ends.first_row) } else { ends.late };
        self.last = Some(ends.last);
    }

    /// The number of the first row that should have come earlier.
    pub fn late(&self) -> Option<u64> {
        self.late
    }
}
