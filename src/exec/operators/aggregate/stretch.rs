//! Groups whose rows stand side by side: what a block has of them, or the group that is open between blocks.

use std::ops::Range;

use crate::analysis::hir::Aggregation;
use crate::exec::aggregate::{Accumulator, Extent, Finished};
use crate::exec::rest::{Chunk, HEAD};

use super::collect::Piece;
use super::layout::{FirstRow, GroupLayout, accumulators};

/// Groups in the order of their rows, with their states. A group ends where the next one begins.
pub(crate) struct Stretch {
    keys: Chunk,
    /// What the keys don't tell.
    firsts: Chunk,
    /// For each group, its first row.
    first_rows: Vec<FirstRow>,
    /// For each group, the position of its first row in the block.
    starts: Vec<u32>,
    accumulators: Vec<Accumulator>,
}

impl Stretch {
    /// No groups.
    pub fn new(aggregation: &Aggregation) -> Self {
        Self {
            keys: Chunk::default(),
            firsts: Chunk::default(),
            first_rows: Vec::new(),
            starts: Vec::new(),
            accumulators: accumulators(aggregation),
        }
    }

    /// The one group of an aggregate without a key, before a row comes.
    pub fn without_rows(aggregation: &Aggregation) -> Self {
        let mut whole = Self::new(aggregation);
        whole.keys.push(&[]);
        whole.first_rows.push(FirstRow::default());
        whole.starts.push(0);
        whole.accumulators.iter_mut().for_each(|accumulator| accumulator.grow(1));
        whole
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// The key of a group.
    pub fn key(&self, group: u32) -> &[u8] {
        self.keys.row(group as usize)
    }

    /// The keys of some groups.
    pub fn keys(&self, groups: Range<u32>) -> impl ExactSizeIterator<Item = &[u8]> {
        groups.map(|group| self.key(group))
    }

    /// What the keys of some groups don't tell; nothing where they tell all.
    pub fn firsts(&self, groups: Range<u32>) -> impl Iterator<Item = &[u8]> {
        let groups = if self.firsts.offsets.is_empty() { 0..0 } else { groups };
        groups.map(|group| self.firsts.row(group as usize))
    }

    /// The first rows of some groups.
    pub(super) fn first_rows(&self, groups: Range<u32>) -> &[FirstRow] {
        &self.first_rows[groups.start as usize..groups.end as usize]
    }

    /// The position in the block of a group's first row.
    pub fn start(&self, group: u32) -> u32 {
        self.starts[group as usize]
    }

    /// The results of each aggregate for some groups.
    pub fn finish(&self, groups: Range<u32>) -> Vec<Finished> {
        self.accumulators.iter().map(|accumulator| accumulator.finish(groups.clone(), None)).collect()
    }

    /// Adds rows that stand behind all others.
    pub(super) fn add(&mut self, piece: &Piece, layout: &GroupLayout) {
        let mut groups = Vec::with_capacity(piece.rows);
        for row in 0..piece.rows {
            let key = piece.keys.key(row);
            if self.len() == 0 || self.key(self.len() as u32 - 1) != key {
                self.begin(piece, layout, row);
            }
            groups.push(self.len() as u32 - 1);
        }
        for (accumulator, args) in self.accumulators.iter_mut().zip(&piece.arguments) {
            accumulator.update(&groups, self.starts.len(), args);
        }
    }

    fn begin(&mut self, piece: &Piece, layout: &GroupLayout, row: usize) {
        self.keys.push(piece.keys.key(row));
        if !piece.firsts.offsets.is_empty() {
            self.firsts.push(piece.firsts.row(row));
        }
        self.first_rows.push(layout.first_row(&piece.origin, row));
        self.starts.push(piece.origin.position(row));
    }

    /// What a group takes but for its states, in bytes.
    pub(super) fn name_bytes(&self, group: u32) -> u64 {
        let firsts = self.firsts(group..group + 1).map(<[u8]>::len).sum::<usize>();
        (2 * HEAD + self.key(group).len() + firsts) as u64
    }

    /// Begins its first group as one of another stretch begins, without any of its rows.
    pub(super) fn begin_as(&mut self, other: &Stretch, group: u32) {
        self.keys.push(other.key(group));
        other.firsts(group..group + 1).for_each(|first| self.firsts.push(first));
        self.first_rows.extend(other.first_rows(group..group + 1));
        self.starts.push(other.start(group));
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.grow(1));
    }

    /// How large the result of each aggregate is for a group.
    pub(super) fn extents(&self, group: u32) -> impl Iterator<Item = Extent> {
        self.accumulators.iter().map(move |accumulator| accumulator.extent(group))
    }

    /// What it holds, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let states = self.accumulators.iter().map(Accumulator::bytes);
        (self.keys.bytes.len() + self.firsts.bytes.len()) as u64 + states.sum::<u64>()
    }

    /// The aggregate that holds most.
    pub(super) fn largest(&self) -> Option<usize> {
        (0..self.accumulators.len()).max_by_key(|aggregate| self.accumulators[*aggregate].bytes())
    }

    /// Adds the rows of a group of `other` to the one group that this is. `reserve` is asked for the most that an
    /// aggregate, given by its position, takes for that, before it does.
    pub(super) fn append<E>(
        &mut self,
        other: &Stretch,
        group: u32,
        mut reserve: impl FnMut(usize, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = Vec::new();
        for (aggregate, (to, from)) in self.accumulators.iter_mut().zip(&other.accumulators).enumerate() {
            state.clear();
            let before = state.capacity();
            from.encode(group, &mut state);
            // The encoded state is as large as the group of a whole segment.
            let encoded = (state.capacity() - before) as u64;
            reserve(aggregate, encoded + to.merge_bound(1, &state).saturating_sub(to.bytes()))?;
            to.merge(0, &mut state.as_slice());
        }
        Ok(())
    }
}
