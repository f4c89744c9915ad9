//! Says what a worker does next, puts the results of blocks back in order, and bounds how many are on their way.
//!
//! Each segment of the stage has a lane of its own. Rows for an interleaving merge are handed to the lane that it heads
//! when the block that they come from is written. A lane whose rows wait there starts no further block, so few of them
//! wait; and nothing waits for ever, as a plan never ties two segments together in two ways.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

use crate::exec::operators::BlockResult;
use crate::exec::{lock, wait};

use super::turns::{Turn, Turns};

/// The blocks on their way from the heads to the outputs.
pub(super) struct Board {
    state: Mutex<State>,
    freed: Condvar,
}

/// What a segment is to the board.
pub(super) struct Lane {
    /// Takes rows in turn, where an interleaving merge is the head.
    pub turns: Option<Turns>,
    /// Where the rows go that the segment has for interleaving merges: lane and input, in the order of its joins.
    pub targets: Vec<(usize, usize)>,
    /// The lanes that are over before this one begins.
    pub behind: Vec<usize>,
    /// Most blocks that may be on their way, those included of which rows wait for their turn.
    pub bound: usize,
}

/// What a worker does next.
pub(super) struct Job {
    /// The segment, by position.
    pub segment: usize,
    /// The place for the result.
    pub result: BlockResult,
    /// What is taken, where an interleaving merge is the head; else the next block of its feed is to be taken.
    pub turn: Option<Turn>,
}

struct State {
    lanes: Vec<Running>,
    interrupted: bool,
}

/// A lane at work.
struct Running {
    lane: Lane,
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
    /// Whether all its blocks are written, and whoever takes its rows knows.
    over: bool,
}

impl Board {
    /// A board with these lanes.
    pub fn new(lanes: Vec<Lane>) -> Self {
        let lanes = lanes.into_iter().map(Running::new).collect();
        Self { state: Mutex::new(State { lanes, interrupted: false }), freed: Condvar::new() }
    }

    /// Waits until one more block may be on its way, and says of which segment. `None` when the stage is over, also
    /// because `interrupted` says so.
    pub fn enter(&self, interrupted: impl Fn() -> bool) -> Option<Job> {
        let mut state = lock(&self.state);
        loop {
            if !state.is_closed() && interrupted() {
                state.interrupted = true;
                state.lanes.iter_mut().for_each(|lane| lane.closed = true);
                self.freed.notify_all();
            }
            if state.is_closed() {
                return None;
            }
            if let Some(job) = state.next_job() {
                // Rows that were taken in turn make room for more blocks of the segments that bring them.
                if job.turn.is_some() {
                    self.freed.notify_all();
                }
                return Some(job);
            }
            state = wait(&self.freed, state);
        }
    }

    /// Notes that the feed of a segment is at its end; `unused` goes back.
    pub fn end(&self, segment: usize, unused: BlockResult) {
        let mut state = lock(&self.state);
        let lane = &mut state.lanes[segment];
        lane.on_the_way -= 1;
        lane.closed = true;
        lane.free.push(unused);
        state.settle();
        drop(state);
        self.freed.notify_all();
    }

    /// Hands in the result of a block. If all before it are written and nobody else writes for its segment, writes it
    /// and what is ready behind it: `finish` is called for one block after the other, in order, without a lock being
    /// held. It says whether the segment goes on.
    pub fn hand_in(&self, segment: usize, number: u64, result: BlockResult, finish: impl Fn(&mut BlockResult) -> bool) {
        let mut state = lock(&self.state);
        state.lanes[segment].put(number, result);
        while let Some(mut result) = state.lanes[segment].take_next() {
            drop(state);
            let goes_on = finish(&mut result);
            state = lock(&self.state);
            state.done(segment, result, goes_on);
            self.freed.notify_all();
        }
    }

    /// Waits until all blocks of a segment in front of one, which is on its way, are written. These are with workers, or
    /// ready; they wait for none behind them, and are written by whoever brings the first of them. So this ends.
    pub fn wait_for_turn(&self, segment: usize, number: u64) {
        let mut state = lock(&self.state);
        let is_turn = |lane: &Running| lane.next == number && !lane.writing;
        while !is_turn(&state.lanes[segment]) {
            state = wait(&self.freed, state);
        }
    }

    /// Whether the stage ended because somebody asked for it.
    pub fn was_interrupted(&self) -> bool {
        lock(&self.state).interrupted
    }
}

impl State {
    fn is_closed(&self) -> bool {
        self.lanes.iter().all(|lane| lane.closed)
    }

    /// The next block to be started: one as far down as can be, so that rows don't wait; else one of the lane with the
    /// fewest on their way.
    fn next_job(&mut self) -> Option<Job> {
        let startable = (0..self.lanes.len()).filter(|segment| self.may_start(*segment));
        let merge = startable.clone().rfind(|segment| self.lanes[*segment].lane.turns.is_some());
        let segment = merge.or_else(|| startable.min_by_key(|segment| self.load(*segment)))?;
        let running = &mut self.lanes[segment];
        running.on_the_way += 1;
        let turn = running.lane.turns.as_mut().and_then(Turns::next);
        let result = running.free.pop().unwrap_or_default();
        self.settle();
        Some(Job { segment, result, turn })
    }

    fn may_start(&self, segment: usize) -> bool {
        let running = &self.lanes[segment];
        !running.closed
            && running.lane.turns.as_ref().is_none_or(Turns::is_ready)
            && running.lane.behind.iter().all(|before| self.lanes[*before].over)
            && self.load(segment) < running.lane.bound
    }

    /// The blocks of a lane that are on their way, or of which rows wait for their turn.
    fn load(&self, segment: usize) -> usize {
        let running = &self.lanes[segment];
        let waiting = running.lane.targets.iter().map(|(target, input)| self.lanes[*target].waiting(*input)).max();
        running.on_the_way + waiting.unwrap_or(0)
    }

    /// Takes back the result of a block that was written. Its rows go to the merges that take them in turn.
    fn done(&mut self, segment: usize, mut result: BlockResult, goes_on: bool) {
        for (join, batches) in result.handed.iter_mut().enumerate() {
            let (target, input) = self.lanes[segment].lane.targets[join];
            if let Some(turns) = &mut self.lanes[target].lane.turns {
                turns.push(input, batches.drain(..));
            }
        }
        let running = &mut self.lanes[segment];
        running.writing = false;
        running.on_the_way -= 1;
        running.free.push(result);
        if !goes_on {
            // What comes of the segments behind it doesn't matter any more; what comes of those in front does.
            self.lanes[segment..].iter_mut().for_each(Running::close);
        }
        self.settle();
    }

    /// Notes which lanes are over, and what follows for those that take their rows.
    fn settle(&mut self) {
        // Each stands behind those whose rows it takes.
        for segment in 0..self.lanes.len() {
            let running = &mut self.lanes[segment];
            running.closed |= running.lane.turns.as_ref().is_some_and(Turns::is_over);
            if running.over || !running.closed || running.on_the_way > 0 {
                continue;
            }
            running.over = true;
            for (target, input) in running.lane.targets.clone() {
                let brings = |lane: &Running| !lane.over && lane.lane.targets.contains(&(target, input));
                if !self.lanes.iter().any(brings)
                    && let Some(turns) = &mut self.lanes[target].lane.turns
                {
                    turns.end(input);
                }
            }
        }
    }
}

impl Running {
    fn new(lane: Lane) -> Self {
        let (ready, free) = (VecDeque::new(), Vec::new());
        Self { lane, on_the_way: 0, next: 0, ready, free, writing: false, closed: false, over: false }
    }

    /// How many blocks have rows that wait for their turn at an input.
    fn waiting(&self, input: usize) -> usize {
        self.lane.turns.as_ref().map_or(0, |turns| turns.waiting(input))
    }

    /// Starts no more blocks, and takes no more rows.
    fn close(&mut self) {
        self.closed = true;
        if let Some(turns) = &mut self.lane.turns {
            turns.close();
        }
    }

    fn put(&mut self, number: u64, result: BlockResult) {
        // A block that failed keeps further ones from being started; those before it are on their way already.
        self.closed |= result.failure.is_some();
        let place = (number - self.next) as usize;
        if self.ready.len() <= place {
            self.ready.resize_with(place + 1, || None);
        }
        self.ready[place] = Some(result);
    }

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
}
