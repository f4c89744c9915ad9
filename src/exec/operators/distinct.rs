//! `distinct`: the set of keys seen so far, and the turnstile that lets blocks at it one after the other.

use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::sync::{Arc, Condvar, Mutex};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::batch::Bitmap;
use crate::exec::eval::DistinctGate;
use crate::exec::keys::{Arena, Keys};
use crate::exec::memory::{Arbitrator, Charge, Exceeded};
use crate::exec::{Failure, lock, wait};

/// One `distinct` statement. The blocks of a segment pass in order, so that the first row in input order wins; segments
/// that share it come one after the other.
pub(crate) struct Turnstile<'p> {
    name: &'p str,
    span: Span,
    state: Mutex<State<'p>>,
    moved: Condvar,
}

struct State<'p> {
    /// The segment whose blocks pass.
    segment: u64,
    /// The block whose turn it is; all before it have left.
    turn: u64,
    /// Blocks that have left before their turn: they had nothing to ask.
    left: BTreeSet<u64>,
    seen: Seen<'p>,
}

impl<'p> Turnstile<'p> {
    /// A turnstile before an empty set. `name` is what messages call it, `consumer` its place with the arbitrator.
    pub fn new(name: &'p str, span: Span, consumer: usize, arbitrator: &'p Arbitrator) -> Self {
        let seen = Seen::new(consumer, arbitrator);
        let state = Mutex::new(State { segment: 0, turn: 0, left: BTreeSet::new(), seen });
        Self { name, span, state, moved: Condvar::new() }
    }

    /// Lets `block` of a segment pass for good. It need not be its turn, and it may have left already.
    pub fn leave(&self, segment: u64, block: u64) {
        let mut state = lock(&self.state);
        state.enter(segment);
        state.leave(block);
        drop(state);
        self.moved.notify_all();
    }

    fn admit(&self, gate: &Gate<'_, 'p>, keys: &Keys, live: &Bitmap) -> Result<Bitmap, Failure> {
        let Gate { segment, block, last, .. } = *gate;
        let mut state = lock(&self.state);
        state.enter(segment);
        while state.turn < block {
            state = wait(&self.moved, state);
        }
        let mut first = vec![false; live.len()];
        for row in live.set_indices() {
            first[row] = state.seen.insert(keys.key(row)).map_err(|exceeded| self.failure(&exceeded))?;
        }
        if last {
            state.leave(block);
            drop(state);
            self.moved.notify_all();
        }
        Ok(Bitmap::from(first))
    }

    fn failure(&self, exceeded: &Exceeded) -> Failure {
        let Exceeded { used, limit, holders } = exceeded;
        let message = format!("{}: node_buffer exceeded budget ({used}/{limit}) [distinct keys]", self.name);
        let mut diagnostic = Diagnostic::error(Code::E310, message).label(self.span, "every key seen is kept");
        for (name, held) in holders {
            diagnostic = diagnostic.note(format!("{name} holds {held} bytes"));
        }
        let help = "raise `memory.limit` (or run with `--memory-limit`), or give `distinct` a shorter key";
        Failure::new(diagnostic.help(help), 1)
    }
}

impl State<'_> {
    /// Makes ready for the blocks of another segment, if it is another. The set stays: it holds for the whole run.
    fn enter(&mut self, segment: u64) {
        if self.segment != segment {
            (self.segment, self.turn) = (segment, 0);
            self.left.clear();
        }
    }

    fn leave(&mut self, block: u64) {
        if block >= self.turn {
            self.left.insert(block);
        }
        while self.left.remove(&self.turn) {
            self.turn += 1;
        }
    }
}

/// A block's way through the turnstiles of one transform.
pub(crate) struct Gate<'a, 'p> {
    /// Those of the transform, in statement order.
    pub turnstiles: &'a [Arc<Turnstile<'p>>],
    /// The number of the segment.
    pub segment: u64,
    /// The block.
    pub block: u64,
    /// Whether the block asks for the last time.
    pub last: bool,
}

impl DistinctGate for Gate<'_, '_> {
    fn admit(&mut self, statement: usize, keys: &Keys, live: &Bitmap) -> Result<Bitmap, Failure> {
        self.turnstiles[statement].admit(self, keys, live)
    }
}

/// A set of keys. Every byte is reserved before it is taken.
struct Seen<'p> {
    table: HashTable<Entry>,
    keys: Arena,
    hasher: RandomState,
    charge: Charge<'p>,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    key: u64,
}

impl<'p> Seen<'p> {
    fn new(consumer: usize, arbitrator: &'p Arbitrator) -> Self {
        let charge = Charge::new(arbitrator, consumer);
        Self { table: HashTable::new(), keys: Arena::default(), hasher: RandomState::default(), charge }
    }

    /// Adds a key; true if it is new.
    fn insert(&mut self, key: &[u8]) -> Result<bool, Exceeded> {
        let hash = self.hasher.hash_one(key);
        let known = |entry: &Entry| entry.hash == hash && self.keys.get(entry.key) == key;
        if self.table.find(hash, known).is_some() {
            return Ok(false);
        }
        if self.table.len() == self.table.capacity() {
            self.grow()?;
        }
        if let Some(bytes) = self.keys.needs(key) {
            self.charge.take(bytes as u64)?;
        }
        let entry = Entry { hash, key: self.keys.push(key) };
        self.table.insert_unique(hash, entry, |entry| entry.hash);
        Ok(true)
    }

    /// Doubles the table. While its entries move, both the old and the new one are held.
    fn grow(&mut self) -> Result<(), Exceeded> {
        let (old, rows) = (table_bytes(self.table.capacity()), (self.table.len() * 2).max(14));
        self.charge.take(table_bytes(rows))?;
        self.table.reserve(rows - self.table.len(), |entry| entry.hash);
        self.charge.give_back(old);
        Ok(())
    }
}

/// Bytes of a table with room for `rows`: an entry and a control byte for each slot, at most 7 of 8 of them filled.
fn table_bytes(rows: usize) -> u64 {
    if rows == 0 {
        return 0;
    }
    let slots = (rows * 8).div_ceil(7).next_power_of_two();
    (slots * (size_of::<Entry>() + 1)) as u64
}
