//! Sorts all rows: stable, on disk as far as they don't fit the memory limit.
//!
//! A row rests where it was put; what is sorted are entries: the first 16 bytes of its key and its place, which also
//! makes the sort stable, since places order as rows arrive. Longer keys keep the rest of their bytes beside, and it
//! is looked at only where the first 16 agree. When memory is tight all that is held is sorted and becomes a run on
//! disk, key and row. If there are such runs in the end, the sort is read back by merging them: within a run and from
//! run to run rows are as they arrived, so that stays stable, too.
//!
//! Where the files of a source are each sorted on their own, the number of the file is in front of the key. Where nobody
//! could read them before, to see whether they are in their order, the sort looks at that itself.

mod entries;
mod watch;

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::hir::SortKey;
use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::batch::Batch;
use crate::exec::keys::OrderKeys;
use crate::exec::memory::Charge;
use crate::exec::rest::{Codec, Place, Rows};
use crate::exec::spill::Spilled;
use crate::plan::physical::{Operator, SortOperator};

use super::buffer::{Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Drain, Full, Others, Seal};
use super::read_back::ReadBack;
use entries::{ChunkTails, Entry, Held};
use watch::{OrderWatch, Seen};

/// A sort's two sides.
pub(super) fn new<'p>(
    spec: &SortOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let collector = SortCollector {
        keys: spec.keys.clone(),
        drop_nulls: spec.drop_nulls.clone(),
        within_files: spec.purpose.is_within_files(),
        claimed: context.unproven.as_ref().map(|source| source.spec.source.sort_order.clone()),
        codec: Arc::clone(&context.codec),
    };
    let buffer = Sort {
        operator: context.operator,
        threads: context.threads,
        charge: Charge::new(context.arbitrator, spec.rest.consumer),
        held: Held::default(),
        watch: context.unproven.clone().map(OrderWatch::new),
        spilled: Spilled::new(context.disk, spec.rest.consumer),
    };
    (Arc::new(collector), Box::new(buffer))
}

struct SortCollector {
    keys: Vec<SortKey>,
    drop_nulls: Vec<usize>,
    /// Whether the rows of each file are sorted on their own.
    within_files: bool,
    /// The order that files claim, if it is still to be seen whether they are in it.
    claimed: Option<Vec<SortKey>>,
    codec: Arc<Codec>,
}

/// What a block gives besides its rows; places are of chunk 0 until the chunk has its number.
#[derive(Default)]
struct Part {
    entries: Vec<Entry>,
    tails: ChunkTails,
    seen: Vec<Seen>,
}

impl Collector for SortCollector {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        match self.without_nulls(batch) {
            None => self.add(batch, out),
            Some(kept) => {
                let taken = batch.take(&kept);
                let admitted = self.add(&taken, out).map_err(|error| error.at(|row| kept[row] as usize))?;
                Ok(Admitted { filtered: batch.rows - kept.len(), ..admitted })
            }
        }
    }
}

impl SortCollector {
    /// The rows without a null in a column that must not have one; `None` if no row has one.
    fn without_nulls(&self, batch: &Batch) -> Option<Vec<u32>> {
        let columns: Vec<_> = self.drop_nulls.iter().filter_map(|column| batch.columns[*column].as_ref()).collect();
        if columns.iter().all(|column| column.validity().is_none()) {
            return None;
        }
        Some((0..batch.rows as u32).filter(|row| columns.iter().all(|column| !column.is_null(*row as usize))).collect())
    }

    fn add(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let first = out.chunk.offsets.len();
        self.codec.encode(batch, &mut out.chunk).map_err(CollectError::Unwritable)?;
        let file = batch.origin.file.to_be_bytes();
        let head = if self.within_files { file.as_slice() } else { &[] };
        let keys = OrderKeys::encode_behind(head, &self.keys, &batch.columns, batch.rows);
        let (chunk, part) = out.chunk_and_part::<Part>();
        for (row, offset) in chunk.offsets[first..].iter().enumerate() {
            part.entries.push(Entry { prefix: keys.prefix(row), place: Place::new(0, *offset) });
            part.tails.push(*offset, keys.rest(row));
        }
        part.seen.extend(self.claimed.as_ref().and_then(|claimed| Seen::of(batch, claimed)));
        Ok(Admitted::default())
    }
}

/// A sort while it is filled.
struct Sort<'p> {
    operator: &'p Operator,
    /// How many workers may sort.
    threads: usize,
    /// What `held` takes.
    charge: Charge<'p>,
    held: Held,
    /// Sees whether files are in the order that they claim, where that isn't known.
    watch: Option<OrderWatch<'p>>,
    spilled: Spilled<'p>,
}

impl<'p> Buffer<'p> for Sort<'p> {
    fn take(&mut self, collected: &mut Collected, _: Others<'_>) -> Result<(), Failure> {
        let Part { entries, mut tails, seen } = collected.take_part();
        if let Some(watch) = &mut self.watch {
            seen.into_iter().for_each(|seen| watch.add(seen));
        }
        tails.pack();
        let bytes = Rows::cost(&collected.packed) + tails.cost();
        let mut is_charged = self.reserve(bytes, entries.len());
        if !is_charged {
            self.spill_all()?;
            is_charged = self.reserve(bytes, entries.len());
        }
        self.held.push(std::mem::take(&mut collected.packed), entries, tails);
        // Without room even for these alone they stay a part of the working set, and go on to disk.
        if is_charged { Ok(()) } else { self.spill_all() }
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        self.watch.iter().flat_map(OrderWatch::warnings).collect()
    }

    fn spillable(&self) -> u64 {
        self.charge.held()
    }

    fn spill(&mut self, _: u64) -> Result<(), Failure> {
        self.spill_all()
    }

    fn seal(mut self: Box<Self>, Seal { threads, most_resident }: Seal) -> Result<Full<'p>, Failure> {
        let (places, freed) = (self.held.rows.len() * size_of::<Place>() as u64, self.held.entry_bytes());
        let is_small = self.charge.held() - freed + places <= most_resident;
        if self.spilled.is_empty() && is_small && self.charge.take(places).is_ok() {
            let Self { mut charge, held, .. } = *self;
            let (rows, order) = held.sort(threads);
            charge.give_back(freed);
            return Ok(Full::resident(Sorted { rows, order, _charge: charge }));
        }
        self.spill_all()?;
        let Self { operator, charge, spilled, .. } = *self;
        ReadBack::of(spilled, charge).map_err(|error| BufferContext::not_read_back(operator, error))
    }
}

impl Sort<'_> {
    /// Reserves what a block's rows take: `bytes` and room for so many entries. False if there is not enough.
    fn reserve(&mut self, bytes: u64, entries: usize) -> bool {
        if self.charge.take(bytes).is_err() {
            return false;
        }
        let (more, less) = self.held.growth(entries);
        let fits = self.charge.take(more).is_ok();
        if fits {
            self.held.grow(entries);
        }
        self.charge.give_back(if fits { less } else { bytes });
        fits
    }

    /// Makes a run of all that is held.
    fn spill_all(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        self.spilled.write(|writer| held.write(self.threads, writer))?;
        self.charge.give_back(self.charge.held());
        Ok(())
    }
}

/// A sorted buffer.
struct Sorted<'p> {
    rows: Rows,
    /// The order, in pieces.
    order: Vec<Vec<Place>>,
    _charge: Charge<'p>,
}

impl Drain for Sorted<'_> {
    fn ports(&self) -> Vec<u64> {
        vec![self.rows.len()]
    }

    fn places(&self, _: usize, range: Range<u64>, out: &mut Vec<Place>) {
        let mut before = 0;
        for piece in &self.order {
            let (from, to) = (range.start.max(before), range.end.min(before + piece.len() as u64));
            if from < to {
                out.extend_from_slice(&piece[(from - before) as usize..(to - before) as usize]);
            }
            before += piece.len() as u64;
        }
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
