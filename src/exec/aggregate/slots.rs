//! One state for each group, and columns made from them.

use std::ops::Range;

use arrow_buffer::NullBuffer;

use super::{Finished, GroupFault};
use crate::exec::batch::Column;
use crate::exec::memory::Segments;

/// One state for each group; new groups begin with the default.
#[derive(Default)]
pub struct Slots<S> {
    states: Segments<S>,
    /// Bytes that the states hold elsewhere.
    pub heap: u64,
}

impl<S: Default> Slots<S> {
    /// Makes room for `count` groups.
    pub fn grow(&mut self, count: usize) {
        self.states.grow(count);
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.states.bytes() + self.heap
    }

    /// The most that is held while there is made room for `count` groups.
    pub fn bound(&self, count: usize) -> u64 {
        self.states.bound(count) + self.heap
    }

    /// The state of a group.
    #[inline]
    pub fn of(&mut self, group: u32) -> &mut S {
        self.states.get_mut(group)
    }

    /// The state of a group, to look at.
    #[inline]
    pub fn get(&self, group: u32) -> &S {
        self.states.get(group)
    }

    /// The states of some groups.
    pub fn range(&self, groups: &Range<u32>) -> impl Iterator<Item = &S> {
        self.states.range(groups.clone())
    }
}

/// Calls `visit` with each row that is not null.
#[inline]
pub fn for_each_valid(column: &Column, visit: impl FnMut(usize)) {
    match column.validity() {
        None => (0..column.len()).for_each(visit),
        Some(validity) => validity.inner().set_indices().for_each(visit),
    }
}

/// Values and which of them are not null.
pub fn unzip<T: Default>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Option<NullBuffer>) {
    let mut valid = Vec::new();
    let values = values.map(|value| {
        valid.push(value.is_some());
        value.unwrap_or_default()
    });
    let values = values.collect();
    let validity = NullBuffer::from(valid);
    (values, Some(validity).filter(|validity| validity.null_count() > 0))
}

/// Collects one result a group, and the groups that have none.
#[derive(Default)]
pub struct Results<T> {
    values: Vec<Option<T>>,
    faults: Vec<GroupFault>,
}

impl<T: Default> Results<T> {
    /// The results of states in order: those of groups, of which the first is number `first`.
    pub fn of<S>(
        first: u32,
        states: impl Iterator<Item = S>,
        mut result: impl FnMut(S) -> Result<Option<T>, String>,
    ) -> Self {
        let mut results = Self { values: Vec::with_capacity(states.size_hint().0), faults: Vec::new() };
        for (group, state) in (first..).zip(states) {
            let value = result(state).unwrap_or_else(|message| {
                results.faults.push(GroupFault { group, message });
                None
            });
            results.values.push(value);
        }
        results
    }

    /// The column that `make` makes of the values and which of them are not null.
    pub fn column(self, make: impl FnOnce(Vec<T>, Option<NullBuffer>) -> Column) -> Finished {
        let (values, validity) = unzip(self.values.into_iter());
        Finished { column: make(values, validity), faults: self.faults }
    }
}

impl Results<(i128, u8)> {
    /// A decimal column.
    pub fn decimals(self) -> Finished {
        self.column(|values, validity| {
            let (mantissas, scales) = values.into_iter().unzip();
            Column::scaled_decimals(mantissas, scales, validity)
        })
    }
}

/// A count as an int.
pub fn as_int(count: u64) -> i64 {
    i64::try_from(count).expect("rows are counted far below 2^63")
}

/// Heap bytes of a text column's texts.
pub fn text_bytes(column: &Column) -> u64 {
    match column {
        Column::String(a) => a.lengths().map(u64::from).sum(),
        Column::Any(a) => a.lengths().map(u64::from).sum(),
        Column::List(a) => text_bytes(&a.elements) + 24 * a.elements.len() as u64,
        column => 24 * column.len() as u64,
    }
}
