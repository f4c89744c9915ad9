//! Whether rows come in the order of their keys. Workers look at some rows each; what they find is put together.

use super::order::OrderKeys;
use crate::exec::value::Value;

/// A row of a file whose order is looked at.
#[derive(Clone, Debug)]
pub struct CheckedRow {
    /// Its number in the file.
    pub number: u64,
    /// The physical line it begins in, if that is known still.
    pub line: Option<u64>,
    /// What it has in the columns of the key.
    pub values: Vec<Value>,
}

/// A row that should have come earlier.
#[derive(Clone, Debug)]
pub struct Late {
    /// The row in front of it.
    pub before: CheckedRow,
    /// The row.
    pub row: CheckedRow,
}

impl Late {
    /// The first column of the key, by its position there, in which the two rows differ.
    pub fn column(&self) -> usize {
        let values = self.before.values.iter().zip(&self.row.values);
        values.take_while(|(before, value)| before.equals(value)).count().min(self.row.values.len().saturating_sub(1))
    }
}

/// What is known of some rows that stand one behind the other.
pub struct Section {
    first: (Vec<u8>, CheckedRow),
    last: (Vec<u8>, CheckedRow),
    late: Option<Late>,
}

impl Section {
    /// Looks at rows, given the position of each among the keys, and what says more about one; `None` if there are none.
    pub fn of(
        keys: &OrderKeys,
        mut rows: impl Iterator<Item = usize>,
        checked: impl Fn(usize) -> CheckedRow,
    ) -> Option<Self> {
        let first = rows.next()?;
        let mut last = first;
        let late = rows.find_map(|row| {
            let before = last;
            last = row;
            (keys.key(row) < keys.key(before)).then(|| Late { before: checked(before), row: checked(row) })
        });
        let end = |row: usize| (keys.key(row).to_vec(), checked(row));
        Some(Self { first: end(first), last: end(last), late })
    }

    /// Whether one of the rows should have come earlier.
    pub fn is_broken(&self) -> bool {
        self.late.is_some()
    }
}

/// Rows that are looked at in their order.
#[derive(Default)]
pub struct Sequence {
    last: Option<(Vec<u8>, CheckedRow)>,
    late: Option<Late>,
}

impl Sequence {
    /// Adds the rows that come next.
    pub fn add(&mut self, section: Section) {
        if self.late.is_some() {
            return;
        }
        let Section { first, last, late } = section;
        self.late = match self.last.take() {
            Some((key, before)) if first.0 < key => Some(Late { before, row: first.1 }),
            _ => late,
        };
        self.last = Some(last);
    }

    /// The first row that should have come earlier.
    pub fn late(&self) -> Option<&Late> {
        self.late.as_ref()
    }

    /// The same, to be kept.
    pub fn into_late(self) -> Option<Late> {
        self.late
    }
}
