//! What blocks hand on, each to the next.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};

use crate::exec::{lock, wait};

/// Goes from block to block, in order. Whoever takes a block through a tree takes what the block before handed on, and
/// hands on in turn; so a block waits only for blocks that are on their way.
pub(super) struct Relay<T> {
    state: Mutex<State<T>>,
    moved: Condvar,
}

struct State<T> {
    /// The block whose turn it is; all before it have handed on, or left.
    turn: u64,
    /// Blocks that left before their turn.
    left: BTreeSet<u64>,
    handed: Option<T>,
}

impl<T> Relay<T> {
    /// Begins with `first`, for block 0.
    pub fn new(first: T) -> Self {
        let state = State { turn: 0, left: BTreeSet::new(), handed: Some(first) };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Waits until all blocks in front of `block` have handed on, and takes what the last of them did. `None` if one of
    /// them left without.
    pub fn take(&self, block: u64) -> Option<T> {
        let mut state = lock(&self.state);
        while state.turn < block {
            state = wait(&self.moved, state);
        }
        state.handed.take()
    }

    /// Hands on to the block behind `block`, which has taken what was handed on to it.
    pub fn hand_on(&self, block: u64, handed: T) {
        lock(&self.state).handed = Some(handed);
        self.leave(block);
    }

    /// Lets the blocks behind `block` take their turn, whatever became of it. It may have handed on already.
    pub fn leave(&self, block: u64) {
        let mut state = lock(&self.state);
        if block >= state.turn {
            state.left.insert(block);
        }
        state.pass_on();
        drop(state);
        self.moved.notify_all();
    }
}

impl<T> State<T> {
    /// Gives the turn to the first block that has not left.
    fn pass_on(&mut self) {
        while self.left.first() == Some(&self.turn) {
            self.left.pop_first();
            self.turn += 1;
        }
    }
}
