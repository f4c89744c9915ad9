//! Takes the rows of an interleaving merge: one of each input in turn, or of one that is picked.
//!
//! A seeded merge picks with SplitMix64, which starts from the seed: for each row it draws 64 bits, and takes them
//! times the number of inputs that still have rows, divided by 2^64, as the position of the picked one among these, in
//! the order of the inputs. While only one input is left nothing is drawn.
//!
//! No row is taken before every input has one or is known to be at its end. So the order depends on nothing but the
//! rows, however they come in.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::analysis::hir::MergeMode;
use crate::exec::batch::Batch;
use crate::exec::operators::Mixed;

/// Most batches that the rows of a block are out of.
const MOST_BATCHES: usize = 256;

/// The rows of an interleaving merge that wait for their turn.
pub(super) struct Turns {
    inputs: Vec<Input>,
    /// The inputs that may still have rows.
    live: Vec<usize>,
    pick: Pick,
    next_index: u64,
    /// Most rows of a block.
    most: usize,
    /// Whether what comes behind the last row is still to be given.
    has_end: bool,
    closed: bool,
}

/// What is taken at a time.
pub(super) enum Turn {
    /// Rows.
    Rows(Mixed),
    /// What comes behind the last row, of this number.
    End(u64),
}

/// What waits at an input.
#[derive(Default)]
struct Input {
    waiting: VecDeque<Waiting>,
    /// The next row of the first batch.
    row: u32,
    /// How many blocks the batches are of.
    blocks: usize,
    ended: bool,
}

struct Waiting {
    batch: Arc<Batch>,
    /// Whether it is the last of its block.
    last: bool,
}

impl Turns {
    /// Takes rows of so many inputs, at most so many at once. `has_end` tells whether something is to come behind the
    /// last one.
    pub fn new(mode: MergeMode, inputs: usize, most: usize, has_end: bool) -> Self {
        let live = (0..inputs).collect();
        let inputs = (0..inputs).map(|_| Input::default()).collect();
        Self { inputs, live, pick: Pick::new(mode), next_index: 0, most: most.max(1), has_end, closed: false }
    }

    /// Adds the rows that a block has for an input; each batch has some.
    pub fn push(&mut self, input: usize, batches: impl ExactSizeIterator<Item = Batch>) {
        let left = batches.len();
        if self.closed || left == 0 {
            return;
        }
        let input = &mut self.inputs[input];
        input.blocks += 1;
        let batches = batches.enumerate();
        input
            .waiting
            .extend(batches.map(|(position, batch)| Waiting { batch: Arc::new(batch), last: position + 1 == left }));
    }

    /// Notes that an input has no more rows than those that wait.
    pub fn end(&mut self, input: usize) {
        self.inputs[input].ended = true;
        if let Some(position) = self.live.iter().position(|live| *live == input)
            && self.inputs[input].waiting.is_empty()
        {
            self.remove(position);
        }
    }

    /// Takes no more rows.
    pub fn close(&mut self) {
        (self.closed, self.has_end) = (true, false);
        self.live.clear();
        self.inputs.iter_mut().for_each(|input| *input = Input::default());
    }

    /// How many blocks have rows that wait at an input.
    pub fn waiting(&self, input: usize) -> usize {
        self.inputs[input].blocks
    }

    /// Whether there is something to take.
    pub fn is_ready(&self) -> bool {
        if self.live.is_empty() { self.has_end } else { self.has_row() }
    }

    /// Whether a row can be taken.
    fn has_row(&self) -> bool {
        !self.live.is_empty() && self.live.iter().all(|live| !self.inputs[*live].waiting.is_empty())
    }

    /// Whether all was taken.
    pub fn is_over(&self) -> bool {
        self.live.is_empty() && !self.has_end
    }

    /// Takes as many rows as it can, up to a block of them, or what comes behind them. `None` if there is nothing to take.
    pub fn next(&mut self) -> Option<Turn> {
        if self.live.is_empty() {
            return std::mem::take(&mut self.has_end).then_some(Turn::End(self.next_index));
        }
        self.take_rows().map(Turn::Rows)
    }

    fn take_rows(&mut self) -> Option<Mixed> {
        let mut mixed = Mixed { index: self.next_index, batches: Vec::new(), picks: Vec::new() };
        let mut numbers = vec![None; self.inputs.len()];
        let mut is_ready = self.has_row();
        while is_ready && mixed.picks.len() < self.most && mixed.batches.len() < MOST_BATCHES {
            is_ready = self.take(&mut mixed, &mut numbers);
        }
        self.next_index += u64::from(!mixed.picks.is_empty());
        (!mixed.picks.is_empty()).then_some(mixed)
    }

    /// Takes the next row; there must be one. `numbers` says for each input which of the batches its first one is, if
    /// it is among them. False if the next row isn't known, or there is none.
    fn take(&mut self, mixed: &mut Mixed, numbers: &mut [Option<u32>]) -> bool {
        let position = self.pick.next(self.live.len());
        let number = self.live[position];
        let input = &mut self.inputs[number];
        let first = input.waiting.front().expect("every input that may have rows has one");
        let batch = *numbers[number].get_or_insert_with(|| {
            mixed.batches.push(Arc::clone(&first.batch));
            mixed.batches.len() as u32 - 1
        });
        mixed.picks.push((batch, input.row));
        input.row += 1;
        if input.row as usize == first.batch.rows {
            input.pop();
            numbers[number] = None;
        }
        if input.waiting.is_empty() && input.ended {
            self.remove(position);
        } else if input.waiting.is_empty() {
            return false;
        }
        !self.live.is_empty()
    }

    /// Leaves an input out from now on.
    fn remove(&mut self, position: usize) {
        self.live.remove(position);
        self.pick.removed(position);
    }
}

impl Input {
    /// Drops the first batch.
    fn pop(&mut self) {
        let dropped = self.waiting.pop_front();
        self.blocks -= usize::from(dropped.is_some_and(|dropped| dropped.last));
        self.row = 0;
    }
}

/// Which input is next.
enum Pick {
    /// In turn: the position of the next among those that still have rows.
    Turn(usize),
    /// By chance.
    Seeded(u64),
}

impl Pick {
    fn new(mode: MergeMode) -> Self {
        match mode {
            MergeMode::Seeded(seed) => Pick::Seeded(seed as u64),
            MergeMode::Interleave | MergeMode::Concat => Pick::Turn(0),
        }
    }

    /// One of `inputs`.
    fn next(&mut self, inputs: usize) -> usize {
        match self {
            Pick::Turn(next) => {
                let picked = if *next < inputs { *next } else { 0 };
                *next = picked + 1;
                picked
            }
            Pick::Seeded(_) if inputs == 1 => 0,
            Pick::Seeded(state) => ((u128::from(split_mix(state)) * inputs as u128) >> 64) as usize,
        }
    }

    /// The input at a position has no more rows: those behind it move up.
    fn removed(&mut self, position: usize) {
        if let Pick::Turn(next) = self
            && position < *next
        {
            *next -= 1;
        }
    }
}

/// The next 64 bits of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
