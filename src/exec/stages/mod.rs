//! Runs a stage: its segments, each a head and the tree of operators below it, by all workers at once.
//!
//! A worker takes the next block of a segment and carries it through the whole tree. Results go onto the board in block
//! order; whoever puts the missing one there writes what is ready, without a lock that others need to go on. At most
//! two blocks a worker are on their way, and as many again where merges take rows in turn. Nothing a block comes to
//! depends on another block, but for the group of a streaming aggregate that goes on from block to block and is handed
//! on in block order (`exec::operators::aggregate`).
//! So output never depends on how threads meet.
//!
//! As a rule a stage has one segment. Where an interleaving merge takes rows in turn, the segments that bring them go
//! on side by side, a few blocks at a time, and the rows that it took are the blocks of its own segment. Of several
//! failures the one in the first segment counts, by its place in the stage: a segment that fails ends those behind it,
//! but those in front go on to their ends.

mod board;
mod feed;
mod finisher;
mod pace;
mod turns;
mod written;

pub(crate) use feed::Head;
pub(crate) use finisher::{Ends, Finisher, LetterBox, Progress, SegmentTotals, Warnings};
pub(crate) use written::WrittenRows;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::exec::clock::Clock;
use crate::exec::operators::{BlockResult, BlockRoom, Full, Pass, Resting, Tree, Unit};
use crate::exec::rest::{Chunk, Place};
use crate::exec::sources::{self, BoundFile, Source};
use crate::exec::workers::on_all;
use crate::exec::{Failure, Observer, Options, lock, memory};
use crate::formats::csv::{Block, Index};

use board::{Board, Job, Lane};
use feed::{Feed, Task};
use pace::Pace;
use turns::{Turn, Turns};

/// A stage at work.
struct Stage<'a, 'p> {
    segments: Vec<Running<'a, 'p>>,
    sources: &'a [Source<'p>],
    board: Board,
    finisher: Mutex<Finisher<'a, 'p>>,
    observer: &'a dyn Observer,
}

/// A segment of a stage, compiled.
pub(crate) struct Segment<'a, 'p> {
    /// Its operators.
    pub tree: &'a Tree<'p>,
    /// Where its rows come from.
    pub head: Head<'a, 'p>,
    /// The files of its source, if it has one.
    pub files: Vec<BoundFile>,
    /// The segments that are over before it begins, by position.
    pub behind: &'a [usize],
}

/// A segment at work.
struct Running<'a, 'p> {
    tree: &'a Tree<'p>,
    head: Head<'a, 'p>,
    pace: Pace,
    supply: Mutex<Supply<'a, 'p>>,
}

/// What there is to do for a segment.
struct Supply<'a, 'p> {
    feed: Feed<'a, 'p>,
    /// Whether groups are to be ended behind the last block.
    has_end: bool,
}

/// What a worker uses again for each block.
#[derive(Default)]
struct Desk {
    block: Block,
    index: Index,
    places: Vec<Place>,
    chunk: Chunk,
}

/// Runs a stage to its end. `sources` are all of the plan. The failure is that of the first block that failed in the
/// first segment that failed.
pub(crate) fn run<'a, 'p>(
    segments: Vec<Segment<'a, 'p>>,
    sources: &'a [Source<'p>],
    finisher: Finisher<'a, 'p>,
    options: &Options,
    observer: &'a dyn Observer,
) -> Result<Vec<SegmentTotals>, Failure> {
    let threads = options.threads.max(1);
    let bounds = bounds(&segments, threads);
    let block_size = memory::block_size_of(bounds.iter().sum(), options.block_size, threads);
    let share = memory::block_share(segments[0].tree.arbitrator.limit(), threads);
    let lanes = (0..segments.len()).map(|number| lane(&segments, number, bounds[number], block_size)).collect();
    let running = |(segment, bound)| Running::new(segment, block_size, Pace::new(block_size, share, bound));
    let stage = Stage {
        segments: segments.into_iter().zip(bounds).map(running).collect(),
        sources,
        board: Board::new(lanes),
        finisher: Mutex::new(finisher),
        observer,
    };
    on_all(threads, |_| stage.work());
    let Stage { board, finisher, .. } = stage;
    if board.was_interrupted() {
        return Err(Failure::interrupted());
    }
    finisher.into_inner().unwrap_or_else(PoisonError::into_inner).complete()
}

/// How many blocks of each segment may be on their way: two a worker, shared by the drivers, and as many shared by the
/// merges. Each has to have one.
fn bounds(segments: &[Segment<'_, '_>], threads: usize) -> Vec<usize> {
    let is_merge = |segment: &Segment<'_, '_>| matches!(segment.head, Head::Merge(_));
    let merges = segments.iter().filter(|segment| is_merge(segment)).count();
    let sharing = |segment| if is_merge(segment) { merges } else { segments.len() - merges };
    segments.iter().map(|segment| (2 * threads).div_ceil(sharing(segment))).collect()
}

/// What a segment is to the board.
fn lane(segments: &[Segment<'_, '_>], number: usize, bound: usize, block_size: usize) -> Lane {
    let segment = &segments[number];
    let turns = match segment.head {
        Head::Merge(spec) => {
            let (most, has_end) = (feed::rows_of_a_block(block_size), !segment.tree.streams.is_empty());
            Some(Turns::new(spec.merge.mode, spec.inputs.len(), most, has_end))
        }
        Head::Source(_) | Head::Buffer(..) => None,
    };
    let headed_by = |merge| segments.iter().position(|other| other.tree.nodes[0].id == merge);
    let target = |merge| headed_by(merge).expect("an interleaving merge heads a segment beside those it takes rows of");
    let targets = segment.tree.joins.iter().map(|join| (target(join.merge), join.input)).collect();
    Lane { turns, targets, behind: segment.behind.to_vec(), bound }
}

impl<'a, 'p> Running<'a, 'p> {
    fn new(segment: Segment<'a, 'p>, block_size: usize, pace: Pace) -> Self {
        let Segment { tree, head, files, .. } = segment;
        let feed = match head {
            Head::Source(source) => Feed::Text(sources::Feed::new(source, files, block_size)),
            Head::Buffer(full, _) => Feed::of_buffer(full, block_size),
            Head::Merge(_) => Feed::Turns,
        };
        // What an interleaving merge takes, and what comes behind that, is the board's matter.
        let has_end = !tree.streams.is_empty() && !matches!(head, Head::Merge(_));
        Self { tree, head, pace, supply: Mutex::new(Supply { feed, has_end }) }
    }
}

impl Supply<'_, '_> {
    /// The next block, as [`Feed::next`] gives it; behind the last one what ends groups, if there may be some.
    fn next(&mut self, desk: &mut Desk) -> Result<Option<Task>, Failure> {
        let index = self.feed.next_index();
        let task = self.feed.next(&mut desk.block, &mut desk.chunk)?;
        Ok(task.or_else(|| std::mem::take(&mut self.has_end).then_some(Task::End(index))))
    }

    /// Ends it early.
    fn close(&mut self) {
        self.feed.close();
        self.has_end = false;
    }
}

impl<'p> Stage<'_, 'p> {
    /// Takes blocks until there are no more.
    fn work(&self) {
        let mut desk = Desk::default();
        while let Some(mut job) = self.board.enter(|| self.observer.interrupted()) {
            let number = self.step(&mut desk, &mut job);
            let Job { segment, result, .. } = job;
            match number {
                Some(number) => self.board.hand_in(segment, number, result, |result| self.finish(segment, result)),
                None => self.board.end(segment, result),
            }
        }
    }

    /// Takes the next block of a segment through its tree. Gives its number; `None` behind the last block.
    fn step(&self, desk: &mut Desk, job: &mut Job) -> Option<u64> {
        let segment = &self.segments[job.segment];
        let task = match job.turn.take() {
            Some(Turn::Rows(mixed)) => Task::Mixed(mixed),
            Some(Turn::End(number)) => Task::End(number),
            None => {
                let mut supply = lock(&segment.supply);
                let number = supply.feed.next_index();
                supply.feed.set_block_size(segment.pace.size_of(number));
                match contained(|| supply.next(desk)) {
                    Ok(Some(task)) => task,
                    Ok(None) => return None,
                    Err(failure) => {
                        // The failure takes the number of the block that it keeps from being made.
                        supply.close();
                        job.result.fail(failure);
                        return Some(number);
                    }
                }
            }
        };
        let passed = contained(|| {
            self.pass(job.segment, &task, desk, &mut job.result);
            Ok(())
        });
        if let Err(failure) = passed {
            job.result.fail(failure);
        }
        if let Task::Text(_) = task {
            segment.pace.note(desk.block.len as u64, job.result.bytes_made());
        }
        segment.tree.leave(task.index());
        Some(task.index())
    }

    fn pass(&self, number: usize, task: &Task, desk: &mut Desk, result: &mut BlockResult) {
        let segment = &self.segments[number];
        let clock = Clock::new(segment.tree.measures);
        let Desk { block, index, places, chunk } = desk;
        let unit = match (task, segment.head) {
            (Task::Text(ticket), Head::Source(source)) => {
                ticket.decoder.decoder.index(block, index);
                Unit::Text { source, ticket, block, index }
            }
            (Task::Rows(slice), Head::Buffer(Full::Resident(drain), codec)) => {
                Unit::Resting { rows: Resting::Drain(drain.as_ref()), codec, slice }
            }
            (Task::Read(slice, lost), Head::Buffer(_, codec)) => {
                Unit::Resting { rows: Resting::Read(chunk, lost), codec, slice }
            }
            (Task::Rows(slice), Head::Buffer(Full::Groups(groups), codec)) => {
                Unit::Resting { rows: Resting::Groups(groups.as_ref()), codec, slice }
            }
            (Task::Mixed(mixed), Head::Merge(_)) => Unit::Mixed(mixed),
            (Task::End(index), _) => Unit::End { index: *index },
            _ => unreachable!("the feed is the head's"),
        };
        let make = |wanted| lock(&self.finisher).make_room(wanted);
        let wait = || self.board.wait_for_turn(number, task.index());
        let room = BlockRoom { make: &make, wait: &wait };
        Pass::run(segment.tree, self.sources, unit, result, room, (places, clock));
    }

    /// Writes what a block came to. False ends its segment and those behind it: something failed.
    fn finish(&self, segment: usize, result: &mut BlockResult) -> bool {
        let mut finisher = lock(&self.finisher);
        if let Err(failure) = contained(|| finisher.finish(segment, result)) {
            finisher.fail(segment, failure);
        }
        finisher.goes_on(segment)
    }
}

/// Runs a step of a worker. A panic becomes a failure, so that other workers don't wait for ever and the hidden files
/// of the outputs are removed.
pub(crate) fn contained<T>(step: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(Failure::internal(text.unwrap_or("no reason given")))
    })
}
