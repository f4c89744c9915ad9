//! `collect(e)`: the values of a group as a list, in order, nulls too.

use std::sync::Arc;

use super::slots::text_bytes;
use super::{Finished, GroupFault, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Column, ListColumn};
use crate::exec::value::{Value, decode, encode};

/// The values of all rows, encoded, in the order they came; which group they are of is known at the end.
pub struct Lists {
    element: Kind,
    chunks: Vec<Encoded>,
    rows: usize,
}

/// The values of one update.
struct Encoded {
    bytes: Box<[u8]>,
    /// Where each value ends.
    ends: Box<[u32]>,
}

impl Lists {
    /// No values yet, for values of this kind.
    pub fn new(element: Kind) -> Self {
        Self { element, chunks: Vec::new(), rows: 0 }
    }

    fn value(&self, starts: &[usize], row: usize) -> Value {
        let chunk = starts.partition_point(|start| *start <= row) - 1;
        let (Encoded { bytes, ends }, row) = (&self.chunks[chunk], row - starts[chunk]);
        let start = if row == 0 { 0 } else { ends[row - 1] };
        decode(&bytes[start as usize..ends[row] as usize])
    }
}

/// What a value takes at most when it is encoded, with its end but without the bytes of a text.
const MOST_ENCODED: u64 = 22;
/// What an element takes when the lists are made.
const DECODED: u64 = size_of::<Value>() as u64;

impl State for Lists {
    fn update(&mut self, groups: &[u32], _count: usize, args: &[Column]) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(groups.len()));
        for row in 0..groups.len() {
            encode(&args[0].value(row), &mut bytes);
            ends.push(bytes.len() as u32);
        }
        self.rows += groups.len();
        self.chunks.push(Encoded { bytes: bytes.into(), ends: ends.into() });
    }

    fn bytes(&self) -> u64 {
        let chunks =
            self.chunks.iter().map(|chunk| chunk.bytes.len() as u64 + 4 * chunk.ends.len() as u64).sum::<u64>();
        chunks + (self.chunks.capacity() * size_of::<Encoded>()) as u64 + self.rows as u64 * DECODED
    }

    fn bound(&self, _count: usize, args: &[Column]) -> u64 {
        let rows = args[0].len() as u64;
        let full = self.chunks.len() == self.chunks.capacity();
        let moved = if full { 2 * self.chunks.capacity().max(4) * size_of::<Encoded>() } else { 0 };
        // While they are made the values stand in a vector that may be half empty.
        self.bytes() + moved as u64 + 2 * text_bytes(&args[0]) + rows * (2 * MOST_ENCODED + DECODED)
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        let starts: Vec<usize> = self
            .chunks
            .iter()
            .scan(0, |start, chunk| Some(std::mem::replace(start, *start + chunk.ends.len())))
            .collect();
        let (mut offsets, mut faults) = (vec![0_i32], Vec::new());
        let (mut values, mut next) = (Vec::with_capacity(self.rows), 0);
        for (group, &end) in order.ends.iter().enumerate() {
            let rows = &order.rows[next as usize..end as usize];
            match i32::try_from(values.len() + rows.len()) {
                Ok(_) => values.extend(rows.iter().map(|row| self.value(&starts, *row as usize))),
                Err(_) => {
                    let message = format!("the lists of `collect` have more than {} elements", i32::MAX);
                    faults.push(GroupFault { group: group as u32, message });
                }
            }
            offsets.push(values.len() as i32);
            next = end;
        }
        let elements = Arc::new(Column::from_values(&self.element, &values));
        let column = Column::List(ListColumn { offsets: offsets.into(), elements, validity: None });
        Finished { column, faults }
    }
}
