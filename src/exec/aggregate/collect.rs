//! `collect(e)`: the values of a group as a list, in order, nulls too.

use std::ops::Range;
use std::sync::Arc;

use super::encoded::{fixed, part, put_part};
use super::slots::{Slots, text_bytes};
use super::{Extent, Finished, GroupFault, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Column, ListColumn};
use crate::exec::memory::{Segments, Strings};
use crate::exec::value::{MOST_ENCODED, Value};

/// The values of all rows, encoded, in the order they came. Those of a group are a chain.
pub struct Lists {
    element: Kind,
    values: Strings,
    /// For each row, the next one of its group.
    next: Segments<u32>,
    groups: Slots<Chain>,
}

/// The rows of a group.
struct Chain {
    first: u32,
    last: u32,
    rows: u32,
    /// What its values take, in [units](UNIT).
    units: u32,
}

/// No row.
const NONE: u32 = u32::MAX;
/// Bytes of the length in front of the values of a state.
const LENGTH: usize = size_of::<u64>();
/// What the bytes of values are counted in.
const UNIT: usize = 4;

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE, rows: 0, units: 0 }
    }
}

impl Lists {
    /// No values yet, for values of this kind.
    pub fn new(element: Kind) -> Self {
        Self { element, values: Strings::default(), next: Segments::default(), groups: Slots::default() }
    }

    /// Makes the next row, whose value has so many bytes, the last one of a group.
    fn link(&mut self, group: u32, length: usize) {
        let row = u32::try_from(self.next.len()).expect("2^32 values take more memory than machines have");
        self.next.push(NONE);
        let chain = self.groups.of(group);
        match chain.last {
            NONE => chain.first = row,
            last => *self.next.get_mut(last) = row,
        }
        chain.last = row;
        chain.rows += 1;
        chain.units = chain.units.saturating_add(length.div_ceil(UNIT) as u32);
    }

    /// How large a list of so many values is, of so many bytes encoded.
    fn list(&self, values: u64, bytes: u64) -> Extent {
        const ENCODED: usize = size_of::<&[u8]>();
        // A number with its scale, or where a text is; and whether it is null.
        const CELL: usize = size_of::<u128>() + 2;
        let each = match self.element {
            // Decoded one by one, and then in the column.
            Kind::Array(_) => ENCODED + size_of::<Value>() + CELL,
            _ => ENCODED + CELL,
        };
        // Between two values stand a comma and quotes.
        const BETWEEN: u64 = 8;
        Extent { column: values * each as u64 + bytes, text: values * BETWEEN + bytes }
    }

    fn value(&self, row: u32) -> &[u8] {
        self.values.get(row as usize)
    }

    /// Calls `visit` with each row of a group, in order.
    fn for_each_row(&self, group: u32, order: Option<RowOrder<'_>>, mut visit: impl FnMut(u32)) {
        if let Some(RowOrder { rows, ends }) = order {
            let start = if group == 0 { 0 } else { ends[group as usize - 1] };
            rows[start as usize..ends[group as usize] as usize].iter().for_each(|row| visit(*row));
            return;
        }
        let mut row = self.groups.get(group).first;
        while row != NONE {
            visit(row);
            row = *self.next.get(row);
        }
    }

    /// The most that is held while so many values are added to so many groups, given what the values then take.
    fn with_values(&self, count: usize, rows: usize, values: u64) -> u64 {
        self.groups.bound(count) + values + self.next.bound(self.next.len() + rows)
    }
}

impl State for Lists {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.groups.grow(count);
        for (row, group) in groups.iter().enumerate() {
            let length = self.values.push(|bytes| args[0].encode_value(row, bytes));
            self.link(*group, length);
        }
    }

    fn grow(&mut self, count: usize) {
        self.groups.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.values.bytes() + self.next.bytes() + self.groups.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        let rows = args[0].len();
        let encoded = text_bytes(&args[0]) + (rows * MOST_ENCODED) as u64;
        self.with_values(count, rows, self.values.bound(rows, encoded as usize))
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.groups.get(group).rows.to_le_bytes());
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH]);
        self.for_each_row(group, None, |row| put_part(self.value(row), out));
        let length = (out.len() - start - LENGTH) as u64;
        out[start..start + LENGTH].copy_from_slice(&length.to_le_bytes());
    }

    fn merge_bound(&self, count: usize, mut state: &[u8]) -> u64 {
        let (rows, values) = if state.is_empty() { (0, state) } else { parts_of(&mut state) };
        let bytes = parts(rows, values).map(<[u8]>::len).sum();
        self.with_values(count, rows as usize, self.values.bound_at_once(rows as usize, bytes))
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        let (rows, values) = parts_of(state);
        self.values.append(parts(rows, values));
        parts(rows, values).for_each(|value| self.link(group, value.len()));
    }

    fn list_bytes(&self, args: &[Column]) -> u64 {
        let rows = args[0].len() as u64;
        self.list(rows, text_bytes(&args[0]) + rows * (MOST_ENCODED + UNIT) as u64).text
    }

    fn keeps_all(&self) -> bool {
        true
    }

    fn may_be_large(&self) -> bool {
        true
    }

    fn extent(&self, group: u32) -> Extent {
        let Chain { rows, units, .. } = self.groups.get(group);
        self.list(u64::from(*rows), u64::from(*units) * UNIT as u64)
    }

    fn extent_of(&self, mut state: &[u8]) -> Extent {
        let (rows, values) = parts_of(&mut state);
        self.list(u64::from(rows), values.len() as u64)
    }

    fn finish(&self, groups: Range<u32>, order: Option<RowOrder<'_>>) -> Finished {
        let mut found = Found::default();
        for group in groups {
            let rows = self.groups.get(group).rows;
            found.add(group, rows, |values| self.for_each_row(group, order, |row| values.push(self.value(row))));
        }
        found.lists(&self.element)
    }

    fn finish_states(&self, states: &[&[u8]]) -> Option<Finished> {
        let mut found = Found::default();
        for (group, state) in (0..).zip(states) {
            let (rows, values) = parts_of(&mut &**state);
            found.add(group, rows, |found| found.extend(parts(rows, values)));
        }
        Some(found.lists(&self.element))
    }
}

/// The values of some groups, encoded, while their lists are made.
struct Found<'a> {
    values: Vec<&'a [u8]>,
    offsets: Vec<i32>,
    faults: Vec<GroupFault>,
}

impl Default for Found<'_> {
    fn default() -> Self {
        Self { values: Vec::new(), offsets: vec![0], faults: Vec::new() }
    }
}

impl<'a> Found<'a> {
    /// Adds a group of so many rows, whose values `add` appends.
    fn add(&mut self, group: u32, rows: u32, add: impl FnOnce(&mut Vec<&'a [u8]>)) {
        match i32::try_from(self.values.len() + rows as usize) {
            Ok(_) => {
                self.values.reserve(rows as usize);
                add(&mut self.values);
            }
            Err(_) => {
                let message = format!("the lists of `collect` have more than {} elements", i32::MAX);
                self.faults.push(GroupFault { group, message });
            }
        }
        self.offsets.push(self.values.len() as i32);
    }

    fn lists(self, element: &Kind) -> Finished {
        let elements = Arc::new(Column::from_encoded(element, &self.values));
        let column = Column::List(ListColumn { offsets: self.offsets.into(), elements, validity: None });
        Finished { column, faults: self.faults }
    }
}

/// Takes a state off the front: the number of its values, and these, each behind its length.
fn parts_of<'a>(state: &mut &'a [u8]) -> (u32, &'a [u8]) {
    let (rows, length) = (u32::from_le_bytes(fixed(state)), u64::from_le_bytes(fixed(state)));
    let (values, rest) = state.split_at(length as usize);
    *state = rest;
    (rows, values)
}

/// So many values, each behind its length.
fn parts(rows: u32, mut values: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    (0..rows).map(move |_| part(&mut values))
}
