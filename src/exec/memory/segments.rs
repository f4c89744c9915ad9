//! A list that grows in pieces, so that little of it ever moves.
//!
//! A list in one piece holds up to twice what is in it, and three times while it moves. That is most of what a table of
//! millions of groups would take.

use std::ops::Range;

use super::{Charge, Exceeded};

/// Items of a full piece.
const PIECE: usize = 1 << PIECE_BITS;
const PIECE_BITS: u32 = 14;
/// Fewest items that there is room for.
const FEWEST: usize = 16;

/// The items, by number. The first piece grows by doubling, all others have their full size at once; so what is held depends
/// on the number of items alone, and not on how many came at a time.
#[derive(Debug)]
pub struct Segments<T> {
    pieces: Vec<Vec<T>>,
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self { pieces: Vec::new() }
    }
}

impl<T> Segments<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many items there is room.
    pub fn capacity(&self) -> usize {
        self.pieces.first().map_or(0, |first| first.capacity() + (self.pieces.len() - 1) * PIECE)
    }

    /// What is held, in bytes, but for what items hold elsewhere.
    pub fn bytes(&self) -> u64 {
        (self.capacity() * size_of::<T>()) as u64
    }

    /// The most that is held while there is made room for `count` items, all at once or one after the other: the first piece
    /// may move.
    pub fn bound(&self, count: usize) -> u64 {
        if count <= self.capacity() {
            return self.bytes();
        }
        let first = match self.first_room(count) {
            // It moves from half the size at last.
            Some(room) if room > FEWEST => room + room / 2,
            Some(room) => room,
            None => PIECE,
        };
        let others = (count.div_ceil(PIECE) - 1) * PIECE;
        ((first + others) * size_of::<T>()) as u64
    }

    /// The size to which the first piece has to grow for `count` items, if it has to.
    fn first_room(&self, count: usize) -> Option<usize> {
        let capacity = self.pieces.first().map_or(0, Vec::capacity);
        (capacity < PIECE && count > capacity).then(|| count.min(PIECE).next_power_of_two().max(FEWEST))
    }

    /// Makes room for `count` items in all.
    fn reserve(&mut self, count: usize) {
        if let Some(room) = self.first_room(count) {
            if self.pieces.is_empty() {
                self.pieces.push(Vec::new());
            }
            let first = &mut self.pieces[0];
            first.reserve_exact(room - first.len());
        }
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        let count = self.len() + 1;
        match self.pieces.last_mut() {
            Some(last) if last.len() < last.capacity() && last.len() < PIECE => last.push(item),
            _ => {
                self.reserve(count);
                self.piece_for(count - 1).push(item);
            }
        }
    }

    /// The piece that item `number`, the next one, goes into.
    fn piece_for(&mut self, number: usize) -> &mut Vec<T> {
        if number >> PIECE_BITS == self.pieces.len() {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        &mut self.pieces[number >> PIECE_BITS]
    }

    /// Adds default items until there are `count`.
    pub fn grow(&mut self, count: usize)
    where
        T: Default,
    {
        self.reserve(count);
        let mut number = self.len();
        while number < count {
            let end = count.min((number | (PIECE - 1)) + 1);
            let start = number & !(PIECE - 1);
            self.piece_for(number).resize_with(end - start, T::default);
            number = end;
        }
    }

    /// The same, charged before it grows.
    pub fn grow_charged(&mut self, count: usize, charge: &mut Charge<'_>) -> Result<(), Exceeded>
    where
        T: Default,
    {
        let (before, bound) = (self.bytes(), self.bound(count));
        if bound > before {
            charge.take(bound - before)?;
        }
        self.grow(count);
        if bound > before {
            charge.give_back(bound - self.bytes());
        }
        Ok(())
    }

    /// Forgets the items from number `count` on.
    pub fn truncate(&mut self, count: usize) {
        self.pieces.truncate(count.div_ceil(PIECE));
        if let Some(last) = self.pieces.last_mut() {
            last.truncate(count - (count - 1) / PIECE * PIECE);
        }
    }

    /// An item.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        &self.pieces[(number >> PIECE_BITS) as usize][number as usize & (PIECE - 1)]
    }

    /// An item, to change it.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.pieces[(number >> PIECE_BITS) as usize][number as usize & (PIECE - 1)]
    }

    /// Some items, in order.
    pub fn range(&self, numbers: Range<u32>) -> impl Iterator<Item = &T> + Clone {
        numbers.map(|number| self.get(number))
    }

    /// All items, piece by piece.
    pub fn pieces_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.pieces.iter_mut().map(Vec::as_mut_slice)
    }
}
