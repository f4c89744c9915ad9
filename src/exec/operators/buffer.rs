//! What every buffer does: takes the rows of the stages that fill it, is sealed, and drives a stage of its own.
//!
//! A buffer has three lives. While stages fill it, all workers share its [`Collector`], which turns a batch into
//! resting rows while it is hot; the finisher gives what blocks came to, in block order, to the [`Buffer`]. When the
//! last of these stages is over the buffer is sealed and becomes a [`Drain`]: for each port a sequence of places, which
//! workers turn back into rows, range by range.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::batch::Batch;
use crate::exec::eval::Constants;
use crate::exec::fault::Fault;
use crate::exec::memory::{Arbitrator, Exceeded};
use crate::exec::rest::{Chunk, Codec, Place, Rows};
use crate::exec::sources::Source;
use crate::exec::spill::{Disk, MergeError};
use crate::formats::csv::EncodeError;
use crate::plan::physical::{Operator, OperatorKind};

use super::aggregate::Held;
use super::lost::Lost;

/// The side of a buffer that workers share while it is filled.
pub(crate) trait Collector: Send + Sync {
    /// Adds the rows of a batch to what their block collects. The resting rows go into `out.chunk` (through
    /// [`Codec::encode`]), whatever else the buffer decides on into `out.part()`.
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError>;
}

/// What became of the rows of a batch.
#[derive(Default)]
pub(crate) struct Admitted {
    /// Rows that were dropped on purpose, to be counted as filtered.
    pub filtered: usize,
    /// Rows that failed, ascending by row: dead letters, or the end of the run.
    pub faults: Vec<Fault>,
}

/// A row that stops the run, whatever the strategy.
pub(crate) enum CollectError {
    /// The sink whose bytes the rows become can't write it.
    Unwritable(EncodeError),
    /// Its values can't be handled: the row as a position in the batch, and the failure. Where the row comes from is
    /// added to it as a note.
    Data(usize, Failure),
}

impl CollectError {
    /// The same for the row that stands at `place` of its own position in the batch.
    pub fn at(self, place: impl Fn(usize) -> usize) -> Self {
        match self {
            CollectError::Unwritable(error) => CollectError::Unwritable(EncodeError { row: place(error.row), ..error }),
            CollectError::Data(row, failure) => CollectError::Data(place(row), failure),
        }
    }
}

/// What a block gives a buffer. Used again for later blocks.
#[derive(Default)]
pub(crate) struct Collected {
    /// The resting rows while they are made. The vectors are used again; what rests is `packed`.
    pub chunk: Chunk,
    /// The bytes of `chunk` without room to spare: set when the block is over.
    pub packed: Box<[u8]>,
    /// Whether the buffer is to take [`Self::part`] although there are no resting rows.
    pub without_rows: bool,
    part: Option<Box<dyn Any + Send>>,
}

impl Collected {
    /// Whatever else the buffer decides on, of a type of its own; begins as its default in each block.
    pub fn part<T: Any + Send + Default>(&mut self) -> &mut T {
        let part = self.part.get_or_insert_with(|| Box::<T>::default());
        part.downcast_mut().expect("a buffer asks for one type only")
    }

    /// The resting rows and [`Self::part`].
    pub fn chunk_and_part<T: Any + Send + Default>(&mut self) -> (&Chunk, &mut T) {
        let part = self.part.get_or_insert_with(|| Box::<T>::default());
        (&self.chunk, part.downcast_mut().expect("a buffer asks for one type only"))
    }

    /// Takes [`Self::part`] away.
    pub fn take_part<T: Any + Send + Default>(&mut self) -> T {
        let part = self.part.take().map(|part| *part.downcast().expect("a buffer asks for one type only"));
        part.unwrap_or_default()
    }

    /// Forgets all but the vectors.
    pub fn clear(&mut self) {
        self.chunk.clear();
        self.packed = Box::default();
        self.without_rows = false;
        self.part = None;
    }

    /// Whether there is nothing for the buffer to take.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty() && !self.without_rows
    }

    /// Copies the resting rows into memory of just their size.
    pub fn pack(&mut self) {
        self.packed = self.chunk.bytes.as_slice().into();
    }
}

/// Lets all other buffers put on disk what they can.
pub(crate) type Others<'a> = &'a mut dyn FnMut() -> Result<(), Failure>;

/// A buffer while it is filled.
pub(crate) trait Buffer<'p>: Send {
    /// Takes what a block gave; blocks come in order. Charges before it grows. The finisher has made room before, as far
    /// as buffers could spill; what still has no room goes to disk at once. What can't has the `others` spill, or is E310.
    fn take(&mut self, collected: &mut Collected, others: Others<'_>) -> Result<(), Failure>;

    /// The most that state which can't go to disk may grow by when so many more rows come, in bytes.
    fn headroom(&self, rows: usize) -> u64 {
        let _ = rows;
        0
    }

    /// How many of its bytes could be put on disk now.
    fn spillable(&self) -> u64 {
        0
    }

    /// Puts at least `wanted` of these bytes on disk, or all of them, and gives back what was charged for them.
    fn spill(&mut self, wanted: u64) -> Result<(), Failure> {
        let _ = wanted;
        Ok(())
    }

    /// What is to be said at the end of the run about the rows that came.
    fn warnings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What ending the filling takes that can't go to disk, in bytes.
    fn sealing(&self) -> u64 {
        0
    }

    /// Ends the filling.
    fn seal(self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure>;
}

/// How a buffer is sealed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seal {
    /// How many workers may be used.
    pub threads: usize,
    /// The most bytes that may stay in memory while the buffer is emptied: what is more goes to disk, if it can.
    pub most_resident: u64,
}

/// A full buffer, which drives a stage.
pub(crate) enum Full<'p> {
    /// All of it is in memory: rows are taken in any order.
    Resident(Box<dyn Drain + 'p>),
    /// The groups of an aggregate, in memory: workers make rows of any of them.
    Groups(Box<Held<'p>>),
    /// Some of it is on disk: rows, or the groups of an aggregate, are read in order.
    OnDisk(Mutex<Box<dyn Scan + 'p>>),
}

impl<'p> Full<'p> {
    /// One in memory.
    pub fn resident(drain: impl Drain + 'p) -> Self {
        Full::Resident(Box::new(drain))
    }

    /// One that is read from disk.
    pub fn on_disk(scan: impl Scan + 'p) -> Self {
        Full::OnDisk(Mutex::new(Box::new(scan)))
    }
}

/// The rows of a buffer that is read from disk, in order.
pub(crate) trait Scan: Send {
    /// Appends the next rows, all of one port, to an empty chunk: as many as `most` allows, at least one. Gives the
    /// port; `None` behind the last row. Rows of one port come in order; ports may alternate.
    fn next(&mut self, most: Portion, chunk: &mut Chunk) -> Result<Option<usize>, Failure>;

    /// For the rows given last, if they are of failed groups, what happened to each. Such rows come at a port of their
    /// own, behind those of the plan.
    fn lost(&mut self) -> Vec<Lost> {
        Vec::new()
    }
}

/// How much a worker takes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portion {
    /// Most rows.
    pub rows: usize,
    /// Bytes behind which no more rows are added.
    pub bytes: usize,
}

impl Portion {
    /// Whether there is room for one more row in a chunk.
    pub fn has_room(&self, chunk: &Chunk) -> bool {
        chunk.offsets.len() < self.rows && chunk.bytes.len() < self.bytes
    }
}

/// A full buffer. It holds its memory until it is dropped, at the end of the stage it drives.
pub(crate) trait Drain: Send + Sync {
    /// How many rows each port gives. Rows of failed groups come at a port of their own, behind those of the plan.
    fn ports(&self) -> Vec<u64>;

    /// Appends the places of the rows at `range` among those of a port, in order.
    fn places(&self, port: usize, range: Range<u64>, out: &mut Vec<Place>);

    /// For the rows at `range` of the port of failed groups, what happened to each.
    fn lost(&self, range: Range<u64>) -> Vec<Lost> {
        let _ = range;
        Vec::new()
    }

    /// All rows.
    fn rows(&self) -> &Rows;

    /// The bytes of a resting row, as [`Codec`] made them.
    fn row(&self, place: Place) -> &[u8] {
        self.rows().row(place)
    }
}

/// What a buffer is made from.
pub(crate) struct BufferContext<'p> {
    /// Its operator.
    pub operator: &'p Operator,
    /// How its rows rest.
    pub codec: Arc<Codec>,
    /// Constants for programs.
    pub constants: Arc<Constants>,
    /// Owns the memory limit.
    pub arbitrator: &'p Arbitrator,
    /// Where it spills to.
    pub disk: &'p Disk<'p>,
    /// How many workers may be used to spill.
    pub threads: usize,
    /// For a sort, the source above it, if it is still to be seen whether its files are in the order that they claim.
    pub unproven: Option<Arc<Source<'p>>>,
}

impl BufferContext<'_> {
    /// The failure of a buffer of which the rows that come of one block take `bytes`, if that can't go on: they pass the
    /// memory limit before any of them could be put on disk, or are more than a chunk can address. Where they are few
    /// they may pass it: they are a part of the working set then, and go to disk when the block is over.
    pub fn block_does_not_fit(operator: &Operator, bytes: usize, limit: u64) -> Option<Failure> {
        const FEW: u64 = 64 << 20;
        // Half of what a chunk can address: the next batch still fits.
        let most = limit.min(2 << 30);
        let detail = match most < limit {
            true => "rows made of one block of the input, which can't take more than 2 GiB",
            false => "rows made of one block of the input",
        };
        let exceeded = Exceeded { wanted: bytes as u64, used: bytes as u64, limit: most, holders: Vec::new() };
        (bytes as u64 > most.max(FEW)).then(|| Self::does_not_fit(operator, detail, &exceeded, "the block"))
    }

    /// The failure of a buffer whose spilled rows can't be read back: E310 if the memory limit leaves no room for that.
    pub fn not_read_back(operator: &Operator, error: MergeError) -> Failure {
        let (detail, exceeded) = match error {
            MergeError::Failed(failure) => return failure,
            MergeError::Exceeded(exceeded) => {
                ("merge frames: spilled rows can't be read back in what is left".to_string(), exceeded)
            }
            MergeError::Giant { bytes, exceeded } if bytes > exceeded.limit => {
                let limit = exceeded.limit;
                (
                    format!("a single buffered row's {bytes}-byte footprint exceeds the whole {limit}-byte budget"),
                    exceeded,
                )
            }
            MergeError::Giant { bytes, exceeded } => {
                (format!("a single buffered row's {bytes}-byte footprint exceeds what is left"), exceeded)
            }
        };
        Self::does_not_fit(operator, &detail, &exceeded, "reading back")
    }

    /// The failure of a buffer that doesn't fit the memory limit: E310, naming what would overrun it, and `who` asked for
    /// more.
    pub fn does_not_fit(operator: &Operator, detail: &str, exceeded: &Exceeded, who: &str) -> Failure {
        let place = match &operator.kind {
            OperatorKind::Park(_) => "the rows of an input wait here until the merge can take them",
            OperatorKind::Distinct(_) => "the first row of each key waits here until all rows have come",
            OperatorKind::Aggregate(spec) if spec.streams => "one group at a time is held here",
            OperatorKind::Aggregate(_) => "every group waits here until the last row has come",
            _ => "all rows wait here until the last has come",
        };
        let mut diagnostic = exceeded.diagnostic(&operator.name, "node_buffer", detail).label(operator.span, place);
        if let Some(words) = operator.in_words() {
            diagnostic = diagnostic.note(format!("`{}` is {words}", operator.name));
        }
        let diagnostic = exceeded.noted(diagnostic, who);
        let help = "only a higher `memory.limit` (or `--memory-limit`) keeps the result as it is";
        Failure::new(diagnostic.help(help), 1)
    }
}
