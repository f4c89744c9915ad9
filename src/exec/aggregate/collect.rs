//! `collect(e)`: the values of a group as a list, in order, nulls too.

use std::ops::Range;
use std::sync::Arc;

use super::encoded::{fixed, part, put_part};
use super::slots::{Slots, text_bytes};
use super::{Finished, GroupFault, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Column, ListColumn};
use crate::exec::value::Value;

/// The values of all rows, encoded, in the order they came. Those of a group are a chain.
pub struct Lists {
    element: Kind,
    chunks: Vec<Encoded>,
    /// For each chunk, how many rows there are before it.
    starts: Vec<usize>,
    /// What the full chunks hold, in bytes.
    full: u64,
    /// For each row, the next one of its group.
    next: Vec<u32>,
    groups: Slots<Chain>,
}

/// Values one behind the other.
#[derive(Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// How many bytes are enough.
    full: usize,
    /// Where each value ends.
    ends: Vec<u32>,
}

/// The rows of a group.
struct Chain {
    first: u32,
    last: u32,
    rows: u32,
}

/// No row.
const NONE: u32 = u32::MAX;
/// Bytes that are enough for a chunk of values that come row by row.
const CHUNK: usize = 64 << 10;
/// What a value takes at most when it is encoded, with its end but without the bytes of a text.
const MOST_ENCODED: u64 = 22;
/// Bytes of the length in front of the values of a state.
const LENGTH: usize = size_of::<u64>();
/// What an element takes while the lists are made.
const DECODED: u64 = size_of::<Value>() as u64;

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE, rows: 0 }
    }
}

impl Encoded {
    fn cost(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()) as u64
    }

    fn value(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start as usize..self.ends[row] as usize]
    }
}

impl Lists {
    /// No values yet, for values of this kind.
    pub fn new(element: Kind) -> Self {
        let (chunks, starts, next) = (Vec::new(), Vec::new(), Vec::new());
        Self { element, chunks, starts, full: 0, next, groups: Slots::default() }
    }

    /// Adds a value, which `write` appends, behind those of a group.
    fn push(&mut self, group: u32, write: impl FnOnce(&mut Vec<u8>)) {
        if self.chunks.last().is_none_or(|last| last.bytes.len() >= last.full) {
            self.begin_chunk(CHUNK);
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that isn't full");
        write(&mut chunk.bytes);
        chunk.ends.push(u32::try_from(chunk.bytes.len()).expect("a value is far smaller than 4 GiB"));
        let row = u32::try_from(self.next.len()).expect("2^32 values take more memory than machines have");
        self.next.push(NONE);
        let chain = self.groups.of(group);
        match chain.last {
            NONE => chain.first = row,
            last => self.next[last as usize] = row,
        }
        chain.last = row;
        chain.rows += 1;
    }

    fn begin_chunk(&mut self, full: usize) {
        if let Some(last) = self.chunks.last_mut() {
            last.bytes.shrink_to_fit();
            last.ends.shrink_to_fit();
            self.full += last.cost();
        }
        self.starts.push(self.next.len());
        self.chunks.push(Encoded { full, ..Encoded::default() });
    }

    /// The value of a row, encoded.
    fn value(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let chunk = self.starts.partition_point(|start| *start <= row) - 1;
        self.chunks[chunk].value(row - self.starts[chunk])
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
            row = self.next[row as usize];
        }
    }

    /// The most that is held while so many values are added, of so many bytes encoded, to so many groups: vectors that
    /// grow are there twice, and have room for twice of what they need.
    fn grown(&self, count: usize, rows: u64, encoded: u64) -> u64 {
        if rows == 0 {
            return self.groups.bound(count) + self.bytes() - self.groups.bytes();
        }
        const FEW: u64 = 64;
        let chunk = self.chunks.last().map_or(0, Encoded::cost);
        let ends = rows * size_of::<u32>() as u64;
        let added = encoded as usize / CHUNK + 1;
        let lists = match self.chunks.len() + added > self.chunks.capacity() {
            true => 2 * (self.chunks.len() + added + 4) * (size_of::<Encoded>() + size_of::<usize>()),
            false => 0,
        };
        let next = match self.next.len() as u64 + rows > self.next.capacity() as u64 {
            true => 2 * (self.next.len() as u64 + rows) * size_of::<u32>() as u64,
            false => 0,
        };
        let groups = self.groups.bound(count) - self.groups.bytes();
        self.bytes() + groups + 2 * chunk + 3 * (encoded + ends) + lists as u64 + next + FEW
    }
}

impl State for Lists {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.groups.grow(count);
        for (row, group) in groups.iter().enumerate() {
            self.push(*group, |bytes| args[0].encode_value(row, bytes));
        }
    }

    fn grow(&mut self, count: usize) {
        self.groups.grow(count);
    }

    fn bytes(&self) -> u64 {
        let lists = self.chunks.capacity() * size_of::<Encoded>() + self.starts.capacity() * size_of::<usize>();
        let next = self.next.capacity() * size_of::<u32>();
        let growing = self.chunks.last().map_or(0, Encoded::cost);
        self.full + growing + (lists + next) as u64 + self.groups.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        let rows = args[0].len() as u64;
        self.grown(count, rows, text_bytes(&args[0]) + rows * MOST_ENCODED)
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
        match state.is_empty() {
            true => self.grown(count, 0, 0),
            false => {
                let (rows, length) = head(&mut state);
                let rows = u64::from(rows);
                match length < CHUNK as u64 {
                    true => self.grown(count, rows, length),
                    // The values and their ends have a chunk of their size.
                    false => self.grown(count, rows, 0) - 2 * rows * size_of::<u32>() as u64 + length,
                }
            }
        }
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        let (rows, length) = head(state);
        if length >= CHUNK as u64 {
            self.begin_chunk(length as usize);
            let chunk = self.chunks.last_mut().expect("it was just begun");
            chunk.bytes.reserve_exact(length as usize);
            chunk.ends.reserve_exact(rows as usize);
        }
        for _ in 0..rows {
            let value = part(state);
            self.push(group, |bytes| bytes.extend_from_slice(value));
        }
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

/// Takes the number of values of a state, and the bytes that they take, off the front.
fn head(state: &mut &[u8]) -> (u32, u64) {
    (u32::from_le_bytes(fixed(state)), u64::from_le_bytes(fixed(state)))
}
