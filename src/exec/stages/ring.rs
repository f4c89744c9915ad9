//! Puts the results of blocks back in order, and bounds how many are on their way.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

use crate::exec::operators::BlockResult;
use crate::exec::{lock, wait};

/// The blocks on their way from the feed to the outputs.
pub(super) struct Ring {
    state: Mutex<State>,
    freed: Condvar,
    bound: usize,
}

#[derive(Default)]
struct State {
    /// Blocks that have entered and are not written yet.
    on_the_way: usize,
    /// The number of the first block that nobody has begun to write.
    next: u64,
    /// Results from `next` on; `None` for blocks that are not ready.
    ready: VecDeque<Option<BlockResult>>,
    /// Results to use again.
    free: Vec<BlockResult>,
    /// Whether somebody is writing.
    writing: bool,
    /// Whether no more blocks may enter.
    closed: bool,
    interrupted: bool,
}

impl Ring {
    /// A ring for at most `bound` blocks.
    pub fn new(bound: usize) -> Self {
        Self { state: Mutex::default(), freed: Condvar::new(), bound }
    }

    /// Waits until one more block may be on its way, and gives a place for its result. `None` when the stage is over,
    /// also because `interrupted` says so.
    pub fn enter(&self, interrupted: impl Fn() -> bool) -> Option<BlockResult> {
        let mut state = lock(&self.state);
        loop {
            if !state.closed && interrupted() {
                state.interrupted = true;
                state.closed = true;
                self.freed.notify_all();
            }
            if state.closed {
                return None;
            }
            if state.on_the_way < self.bound {
                state.on_the_way += 1;
                return Some(state.free.pop().unwrap_or_default());
            }
            state = wait(&self.freed, state);
        }
    }

    /// Notes that the feed is at its end; `unused` goes back.
    pub fn end(&self, unused: BlockResult) {
        let mut state = lock(&self.state);
        state.on_the_way -= 1;
        state.closed = true;
        state.free.push(unused);
        drop(state);
        self.freed.notify_all();
    }

    /// Hands in the result of a block. If all before it are written and nobody else is writing, writes it and what
    /// is ready behind it: `finish` is called for one block after the other, in order, without a lock being held. It
    /// says whether the stage goes on.
    pub fn hand_in(&self, number: u64, result: BlockResult, finish: impl Fn(&mut BlockResult) -> bool) {
        let mut state = lock(&self.state);
        // A block that failed keeps further ones from being started; those before it are on their way already.
        state.closed |= result.failure.is_some();
        let place = (number - state.next) as usize;
        if state.ready.len() <= place {
            state.ready.resize_with(place + 1, || None);
        }
        state.ready[place] = Some(result);
        while let Some(mut result) = state.take_next() {
            drop(state);
            let goes_on = finish(&mut result);
            state = lock(&self.state);
            state.done(result, goes_on);
            self.freed.notify_all();
        }
    }

    /// Whether the stage ended because somebody asked for it.
    pub fn was_interrupted(&self) -> bool {
        lock(&self.state).interrupted
    }
}

impl State {
    /// The next result to write, if it is ready and nobody is writing.
    fn take_next(&mut self) -> Option<BlockResult> {
        if self.writing {
            return None;
        }
        let result = self.ready.front_mut()?.take()?;
        self.ready.pop_front();
        self.writing = true;
        self.next += 1;
        Some(result)
    }

    fn done(&mut self, result: BlockResult, goes_on: bool) {
        self.writing = false;
        self.on_the_way -= 1;
        self.closed |= !goes_on;
        self.free.push(result);
    }
}
