//! The order of the rows on both ports.

use std::ops::Range;

use crate::exec::batch::Bitmap;
use crate::exec::memory::Charge;
use crate::exec::rest::{Place, Rows};

use super::super::buffer::Drain;
use super::fill::Block;

/// A cull when all is decided.
pub(super) struct Culled<'p> {
    pub rows: Rows,
    /// The places of kept and of removed rows, in order.
    pub ports: [Vec<Place>; 2],
    pub _charge: Charge<'p>,
}

impl Drain for Culled<'_> {
    fn ports(&self) -> Vec<u64> {
        self.ports.iter().map(|places| places.len() as u64).collect()
    }

    fn places(&self, port: usize, range: Range<u64>, out: &mut Vec<Place>) {
        out.extend_from_slice(&self.ports[port][range.start as usize..range.end as usize]);
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}

/// The rows of kept and of removed groups: groups as they were first seen, rows as they came.
pub(super) fn by_arrival(rows: &Rows, blocks: &[Block], removed: &Bitmap) -> [Vec<Place>; 2] {
    let counts = counts(blocks, removed.len());
    let mut ends = [0, 0];
    // For each group, where the next of its rows goes in its port.
    let mut cursors = Vec::with_capacity(counts.len());
    for (group, count) in counts.iter().enumerate() {
        let end = &mut ends[usize::from(removed.value(group))];
        cursors.push(*end);
        *end += count;
    }
    let mut ports = ends.map(|end| vec![Place::new(0, 0); end]);
    for (chunk, block) in blocks.iter().enumerate() {
        for (group, place) in block.groups.iter().zip(rows.chunk_places(chunk as u32)) {
            let group = *group as usize;
            ports[usize::from(removed.value(group))][cursors[group]] = place;
            cursors[group] += 1;
        }
    }
    ports
}

/// How many rows each group has.
fn counts(blocks: &[Block], groups: usize) -> Vec<usize> {
    let mut counts = vec![0; groups];
    blocks.iter().flat_map(|block| &block.groups).for_each(|group| counts[*group as usize] += 1);
    counts
}

/// All rows by group, in the order that is asked for; numbered as they came.
pub(super) struct Order {
    pub rows: Vec<u32>,
    /// For each group, where its rows end.
    pub ends: Vec<u32>,
}

impl Order {
    /// The most that making the order of so many rows takes, in bytes.
    pub fn most_bytes(rows: u64, groups: usize) -> u64 {
        rows * (size_of::<u32>() + size_of::<&[u8]>()) as u64 + (groups * 2 * size_of::<u64>()) as u64
    }

    /// What it holds, in bytes.
    pub fn cost(&self) -> u64 {
        ((self.rows.len() + self.ends.len()) * size_of::<u32>()) as u64
    }

    /// Puts the rows of each group in order: by their keys, where they have some, then as they came.
    pub fn new(blocks: &[Block], groups: usize) -> Self {
        let mut ends: Vec<u32> = counts(blocks, groups)
            .into_iter()
            .scan(0, |end, count| {
                *end += count as u32;
                Some(*end)
            })
            .collect();
        let total = ends.last().copied().unwrap_or(0) as usize;
        let mut cursors: Vec<u32> = std::iter::once(0).chain(ends.iter().copied()).take(groups).collect();
        let mut rows = vec![0; total];
        for (row, group) in blocks.iter().flat_map(|block| &block.groups).enumerate() {
            let cursor = &mut cursors[*group as usize];
            rows[*cursor as usize] = row as u32;
            *cursor += 1;
        }
        ends.shrink_to_fit();
        let mut order = Self { rows, ends };
        order.sort(blocks);
        order
    }

    /// Sorts the rows of each group by their keys.
    fn sort(&mut self, blocks: &[Block]) {
        let pieces = || blocks.iter().flat_map(|block| &block.order);
        let keys: Vec<&[u8]> = pieces().flat_map(|piece| (0..piece.len()).map(|row| piece.key(row))).collect();
        if keys.is_empty() {
            return;
        }
        let mut start = 0;
        for &end in &self.ends {
            // Stable: rows stand as they came.
            self.rows[start as usize..end as usize].sort_by_key(|row| keys[*row as usize]);
            start = end;
        }
    }

    /// The rows of kept and of removed groups.
    pub fn ports(&self, rows: &Rows, removed: &Bitmap) -> [Vec<Place>; 2] {
        let mut places = Vec::with_capacity(rows.len() as usize);
        rows.places(0..rows.len(), &mut places);
        let mut ports = [Vec::new(), Vec::new()];
        let mut start = 0;
        for (group, &end) in self.ends.iter().enumerate() {
            let port = &mut ports[usize::from(removed.value(group))];
            port.extend(self.rows[start as usize..end as usize].iter().map(|row| places[*row as usize]));
            start = end;
        }
        ports
    }
}
