//! Rows of one block, with the group of each.

use crate::exec::keys::OrderKeys;
use crate::exec::rest;

/// Rows of one block as they came.
pub(super) struct Held {
    /// The resting rows, each behind its length.
    pub bytes: Box<[u8]>,
    /// The group of each.
    pub groups: Box<[u32]>,
    /// What each is ordered by within its group: piece by piece, or no piece if all keys are empty.
    pub keys: Vec<OrderKeys>,
}

/// A row with what decides where it goes.
#[derive(Clone, Copy)]
pub(super) struct HeldRow<'a> {
    pub group: u32,
    pub key: &'a [u8],
    pub row: &'a [u8],
}

/// What a row takes in memory beside its bytes and its key: its length, its group, and later its place.
pub(super) const ROW: usize = rest::HEAD + size_of::<u32>() + size_of::<rest::Place>();

/// What is freed when a row with this key goes, beside its bytes and their length.
pub(super) fn beside(key: &[u8]) -> u64 {
    let key = if key.is_empty() { 0 } else { key.len() + size_of::<u32>() };
    (size_of::<u32>() + key) as u64
}

impl HeldRow<'_> {
    /// What is freed when the row goes, in bytes.
    pub fn cost(&self) -> u64 {
        (rest::HEAD + self.row.len()) as u64 + beside(self.key)
    }
}

impl Held {
    /// What is held, in bytes: nothing without rows.
    pub fn cost(&self) -> u64 {
        if self.groups.is_empty() {
            return 0;
        }
        let fixed = size_of::<Self>() + self.bytes.len() + self.groups.len() * size_of::<u32>();
        fixed as u64 + self.keys.iter().map(OrderKeys::cost).sum::<u64>()
    }

    /// The rows, in the order they came.
    pub fn rows(&self) -> impl Iterator<Item = HeldRow<'_>> {
        let rows = self.groups.iter().zip(self.keys()).zip(rest::rows_of(&self.bytes));
        rows.map(|((group, key), row)| HeldRow { group: *group, key, row })
    }

    /// What each row is ordered by within its group.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let none = if self.keys.is_empty() { self.groups.len() } else { 0 };
        self.keys.iter().flat_map(OrderKeys::iter).chain(std::iter::repeat_n([].as_slice(), none))
    }

    /// Keeps only the rows for which `stays` holds. They stay in the memory that they have, the rest of which is freed:
    /// new memory might come from a part of the heap where nothing was freed.
    pub fn retain(&mut self, stays: impl Fn(&HeldRow<'_>) -> bool) {
        let stays: Vec<bool> = self.rows().map(|row| stays(&row)).collect();
        let count = stays.iter().filter(|stays| **stays).count();
        let mut keys = OrderKeys::with_capacity(if self.keys.is_empty() { 0 } else { count }, 0);
        if !self.keys.is_empty() {
            self.keys().zip(&stays).filter(|(_, stays)| **stays).for_each(|(key, _)| keys.push(&[key]));
            keys.shrink_to_fit();
        }
        self.keys = if keys.say_nothing() { Vec::new() } else { vec![keys] };
        self.bytes = rest::retain_rows(std::mem::take(&mut self.bytes), |row| stays[row]);
        let mut flags = stays.iter();
        let mut groups = std::mem::take(&mut self.groups).into_vec();
        groups.retain(|_| flags.next() == Some(&true));
        groups.shrink_to_fit();
        self.groups = groups.into();
    }
}
