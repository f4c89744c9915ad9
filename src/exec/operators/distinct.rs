//! Keeps the first row of each key.
//!
//! Workers turn a batch into resting rows and their keys with hashes. The finisher asks a table for each key, block after
//! block, so that the first row in input order wins, and notes the places of the rows that are first.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostics::Span;
use crate::exec::Failure;
use crate::exec::batch::{Batch, Bitmap, Column};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::keys::{GroupTable, KeyHasher, Keys, NoKey};
use crate::exec::memory::Charge;
use crate::exec::rest::{Codec, Place, Rows};
use crate::plan::physical::{DistinctOperator, Operator};

use super::buffer::{Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Drain, Full, Seal};

/// What messages call what a distinct holds.
const DETAIL: &str = "distinct keys";

/// A distinct's two sides.
pub(super) fn new<'p>(
    spec: &DistinctOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let charge = || Charge::new(context.arbitrator, spec.rest.consumer);
    let collector = DistinctCollector {
        key: spec.key.clone(),
        span: context.operator.span,
        hasher: KeyHasher::default(),
        codec: Arc::clone(&context.codec),
    };
    let buffer = Distinct {
        operator: context.operator,
        seen: GroupTable::new(charge()),
        rows: Rows::default(),
        first: Vec::new(),
        charge: charge(),
    };
    (Arc::new(collector), Box::new(buffer))
}

/// The side that workers share.
struct DistinctCollector {
    key: Vec<usize>,
    span: Span,
    hasher: KeyHasher,
    codec: Arc<Codec>,
}

/// What a block gives besides its rows: for each batch, the keys of its rows with their hashes.
type Part = Vec<(Keys, Vec<u64>)>;

impl Collector for DistinctCollector {
    fn collect(&self, _: usize, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let stored = |column: &usize| batch.columns[*column].clone().expect("pruning keeps the columns of a key");
        let columns: Vec<Column> = self.key.iter().map(stored).collect();
        let (keys, refused) = Keys::encode(&columns, &Bitmap::new_set(batch.rows));
        if refused.is_empty() {
            self.add(batch, keys, out)?;
            return Ok(Admitted::default());
        }
        let (mut failed, mut faults) = (vec![false; batch.rows], Vec::new());
        for no_key in refused {
            // A row fails once, for the first column that can't be a key.
            if !std::mem::replace(&mut failed[no_key.row], true) {
                faults.push(self.unkeyed(&no_key));
            }
        }
        faults.sort_by_key(|fault| fault.row);
        let kept: Vec<u32> = (0..batch.rows as u32).filter(|row| !failed[*row as usize]).collect();
        let good = batch.take(&kept);
        let columns: Vec<Column> = columns.iter().map(|column| column.take(&kept)).collect();
        let (keys, _) = Keys::encode(&columns, &Bitmap::new_set(good.rows));
        self.add(&good, keys, out).map_err(|error| error.at(|row| kept[row] as usize))?;
        Ok(Admitted { faults, ..Admitted::default() })
    }
}

impl DistinctCollector {
    fn unkeyed(&self, no_key: &NoKey) -> Fault {
        let message = format!("type mismatch: expected a distinct key, got {}", no_key.found);
        Fault { row: no_key.row, kind: FaultKind::TypeError, field: None, value: None, message, span: self.span }
    }

    fn add(&self, batch: &Batch, keys: Keys, out: &mut Collected) -> Result<(), CollectError> {
        self.codec.encode(batch, &mut out.chunk).map_err(CollectError::Unwritable)?;
        let hashes = self.hasher.hash(&keys);
        out.part::<Part>().push((keys, hashes));
        Ok(())
    }
}

/// A distinct while it is filled.
struct Distinct<'p> {
    operator: &'p Operator,
    seen: GroupTable<'p>,
    rows: Rows,
    /// The places of the rows that are the first with their key.
    first: Vec<Place>,
    charge: Charge<'p>,
}

impl<'p> Buffer<'p> for Distinct<'p> {
    fn take(&mut self, _: usize, collected: &mut Collected) -> Result<(), Failure> {
        let operator = self.operator;
        let refuse = |exceeded| BufferContext::does_not_fit(operator, DETAIL, &exceeded);
        let mut is_first = Vec::with_capacity(collected.chunk.offsets.len());
        for (keys, hashes) in collected.take_part::<Part>() {
            let mut groups = Vec::new();
            let mut next = self.seen.len();
            self.seen.admit(&keys, &hashes, &mut groups).map_err(refuse)?;
            for group in groups {
                is_first.push(group as usize == next);
                next += usize::from(group as usize == next);
            }
        }
        let count = is_first.iter().filter(|first| **first).count();
        if count == 0 {
            return Ok(());
        }
        let bytes = Rows::cost(&collected.packed) + (count * size_of::<Place>()) as u64;
        self.charge.take(bytes).map_err(refuse)?;
        let chunk = self.rows.push(std::mem::take(&mut collected.packed), is_first.len());
        let places = self.rows.chunk_places(chunk).zip(is_first);
        self.first.extend(places.filter(|(_, first)| *first).map(|(place, _)| place));
        Ok(())
    }

    fn seal(self: Box<Self>, _: Seal) -> Result<Full<'p>, Failure> {
        let Self { rows, first, charge, .. } = *self;
        Ok(Full::resident(FirstRows { rows, first, _charge: charge }))
    }
}

/// The first rows, in the order they arrived.
struct FirstRows<'p> {
    rows: Rows,
    first: Vec<Place>,
    _charge: Charge<'p>,
}

impl Drain for FirstRows<'_> {
    fn ports(&self) -> Vec<u64> {
        vec![self.first.len() as u64]
    }

    fn places(&self, _: usize, range: Range<u64>, out: &mut Vec<Place>) {
        out.extend_from_slice(&self.first[range.start as usize..range.end as usize]);
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
