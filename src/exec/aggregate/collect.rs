//! `collect(e)`: the values of a group as a list, in order, nulls too.

use std::ops::Range;
use std::sync::Arc;

use super::encoded::{fixed, part, put_part};
use super::slots::{Slots, text_bytes};
use super::{Finished, GroupFault, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Column, ListColumn};
use crate::exec::memory::{Segments, Strings};
use crate::exec::value::Value;

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
}

/// No row.
const NONE: u32 = u32::MAX;
/// What a value takes at most when it is encoded, without the bytes of a text.
const MOST_ENCODED: u64 = 18;
/// Bytes of the length in front of the values of a state.
const LENGTH: usize = size_of::<u64>();
/// What an element takes while the lists are made.
const DECODED: u64 = size_of::<Value>() as u64;

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE, rows: 0 }
    }
}

impl Lists {
    /// No values yet, for values of this kind.
    pub fn new(element: Kind) -> Self {
        Self { element, values: Strings::default(), next: Segments::default(), groups: Slots::default() }
    }

    /// Makes the next row the last one of a group.
    fn link(&mut self, group: u32) {
        let row = u32::try_from(self.next.len()).expect("2^32 values take more memory than machines have");
        self.next.push(NONE);
        let chain = self.groups.of(group);
        match chain.last {
            NONE => chain.first = row,
            last => *self.next.get_mut(last) = row,
        }
        chain.last = row;
        chain.rows += 1;
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
            self.values.push(|bytes| args[0].encode_value(row, bytes));
            self.link(*group);
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
        let encoded = text_bytes(&args[0]) + rows as u64 * MOST_ENCODED;
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
        (0..rows).for_each(|_| self.link(group));
    }

    fn finish_bound(&self) -> u64 {
        self.next.len() as u64 * DECODED
    }

    fn finish(&self, groups: Range<u32>, order: Option<RowOrder<'_>>) -> Finished {
        let (mut offsets, mut faults, mut values) = (vec![0_i32], Vec::new(), Vec::new());
        for group in groups {
            let rows = self.groups.get(group).rows as usize;
            match i32::try_from(values.len() + rows) {
                Ok(_) => self.for_each_row(group, order, |row| values.push(self.value(row))),
                Err(_) => {
                    let message = format!("the lists of `collect` have more than {} elements", i32::MAX);
                    faults.push(GroupFault { group, message });
                }
            }
            offsets.push(values.len() as i32);
        }
        let elements = Arc::new(Column::from_encoded(&self.element, &values));
        let column = Column::List(ListColumn { offsets: offsets.into(), elements, validity: None });
        Finished { column, faults }
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
