//! Runs a stage: one driver and the tree of operators below it, by all workers at once.
//!
//! A worker takes the next block under one lock and carries it through the whole tree. Results go into a ring in
//! block order; whoever puts the missing one there writes what is ready, without a lock that others need to go on. At
//! most two blocks a worker are on their way. Nothing a block comes to depends on another block, except through
//! [`crate::exec::operators::Turnstile`], which blocks pass in order; so output never depends on how threads meet.

mod feed;
mod finisher;
mod ring;

pub(crate) use feed::Driver;
pub(crate) use finisher::{Ends, Finisher, LetterBox, Progress, StageTotals, Warnings, WrittenRows};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::exec::operators::{BlockResult, Full, Pass, Resting, Tree, Unit};
use crate::exec::rest::{Chunk, Place};
use crate::exec::sources::{self, BoundFile, Source};
use crate::exec::workers::on_all;
use crate::exec::{Failure, Observer, Options, lock};
use crate::formats::csv::{Block, Index};

use feed::{Feed, Task};
use ring::Ring;

/// A stage at work.
struct Stage<'a, 'p> {
    tree: &'a Tree<'p>,
    driver: Driver<'a, 'p>,
    sources: &'a [Source<'p>],
    feed: Mutex<Feed<'a, 'p>>,
    ring: Ring,
    finisher: Mutex<Finisher<'a, 'p>>,
    observer: &'a dyn Observer,
}

/// What a worker uses again for each block.
#[derive(Default)]
struct Desk {
    block: Block,
    index: Index,
    places: Vec<Place>,
    chunk: Chunk,
}

/// Runs a stage to its end. `files` are those of its source, if a source drives it, and `sources` all of the plan. The
/// failure is that of the first block that failed.
pub(crate) fn run<'a, 'p>(
    tree: &'a Tree<'p>,
    driver: Driver<'a, 'p>,
    files: Vec<BoundFile>,
    sources: &'a [Source<'p>],
    finisher: Finisher<'a, 'p>,
    options: &Options,
    observer: &'a dyn Observer,
) -> Result<StageTotals, Failure> {
    let threads = options.threads.max(1);
    let feed = match driver {
        Driver::Source(source) => Feed::Text(sources::Feed::new(source, files, options.block_size)),
        Driver::Buffer(full, _) => Feed::of_buffer(full, options.block_size),
    };
    let stage = Stage {
        tree,
        driver,
        sources,
        feed: Mutex::new(feed),
        ring: Ring::new(2 * threads),
        finisher: Mutex::new(finisher),
        observer,
    };
    on_all(threads, |_| stage.work());
    let Stage { ring, finisher, .. } = stage;
    if ring.was_interrupted() {
        return Err(Failure::interrupted());
    }
    finisher.into_inner().unwrap_or_else(PoisonError::into_inner).complete()
}

impl Stage<'_, '_> {
    /// Takes blocks until there are no more.
    fn work(&self) {
        let mut desk = Desk::default();
        while let Some(mut result) = self.ring.enter(|| self.observer.interrupted()) {
            let Some(number) = self.step(&mut desk, &mut result) else {
                self.ring.end(result);
                break;
            };
            self.ring.hand_in(number, result, |result| self.finish(result));
        }
    }

    /// Takes the next block through the tree. Gives its number; `None` behind the last block.
    fn step(&self, desk: &mut Desk, result: &mut BlockResult) -> Option<u64> {
        let task = {
            let mut feed = lock(&self.feed);
            let number = feed.next_index();
            match contained(|| feed.next(&mut desk.block, &mut desk.chunk)) {
                Ok(Some(task)) => task,
                Ok(None) => return None,
                Err(failure) => {
                    // The failure takes the number of the block that it keeps from being made.
                    feed.close();
                    result.fail(failure);
                    return Some(number);
                }
            }
        };
        let passed = contained(|| {
            self.pass(&task, desk, result);
            Ok(())
        });
        if let Err(failure) = passed {
            result.fail(failure);
        }
        // Whatever became of the block, those behind it must not wait for it.
        self.tree.turnstiles.iter().for_each(|turnstile| turnstile.leave(task.index()));
        Some(task.index())
    }

    fn pass(&self, task: &Task, desk: &mut Desk, result: &mut BlockResult) {
        let Desk { block, index, places, chunk } = desk;
        let unit = match (task, self.driver) {
            (Task::Text(ticket), Driver::Source(source)) => {
                ticket.decoder.decoder.index(block, index);
                Unit::Text { source, ticket, block, index }
            }
            (Task::Rows(slice), Driver::Buffer(Full::Resident(drain), codec)) => {
                Unit::Resting { rows: Resting::Drain(drain.as_ref()), codec, slice }
            }
            (Task::Read(slice), Driver::Buffer(_, codec)) => Unit::Resting { rows: Resting::Read(chunk), codec, slice },
            _ => unreachable!("the feed is the driver's"),
        };
        Pass::run(self.tree, self.sources, unit, result, places);
    }

    /// Writes what a block came to. False ends the stage: something failed.
    fn finish(&self, result: &mut BlockResult) -> bool {
        let mut finisher = lock(&self.finisher);
        if let Err(failure) = contained(|| finisher.finish(result)) {
            finisher.fail(failure);
        }
        !finisher.has_failed()
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
