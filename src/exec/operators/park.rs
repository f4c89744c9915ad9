//! Holds the rows of an input until the merge below can take them, and gives them back in the order they came: from disk
//! as far as they don't fit the memory limit.

use std::ops::Range;
use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::batch::Batch;
use crate::exec::memory::Charge;
use crate::exec::rest::{Codec, Place, Rows};
use crate::exec::spill::Spilled;
use crate::plan::physical::{Operator, ParkOperator};

use super::buffer::{Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Drain, Full, Others, Seal};
use super::read_back::ReadBack;

/// A park's two sides.
pub(super) fn new<'p>(
    spec: &ParkOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let collector = ParkCollector { codec: Arc::clone(&context.codec) };
    let charge = Charge::new(context.arbitrator, spec.rest.consumer);
    let spilled = Spilled::new(context.disk, spec.rest.consumer);
    let park = Park { operator: context.operator, charge, rows: Rows::default(), spilled };
    (Arc::new(collector), Box::new(park))
}

struct ParkCollector {
    codec: Arc<Codec>,
}

impl Collector for ParkCollector {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        self.codec.encode(batch, &mut out.chunk).map_err(CollectError::Unwritable)?;
        Ok(Admitted::default())
    }
}

/// A park while it is filled.
struct Park<'p> {
    operator: &'p Operator,
    charge: Charge<'p>,
    rows: Rows,
    /// The first rows, if they are on disk.
    spilled: Spilled<'p>,
}

impl Park<'_> {
    /// Puts all rows behind those that are on disk already: without a key they stay as they came.
    fn spill_all(&mut self) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        self.spilled.write(|writer| rows.iter().try_for_each(|row| writer.push(&[], row)))?;
        self.charge.give_back(self.charge.held());
        Ok(())
    }
}

impl<'p> Buffer<'p> for Park<'p> {
    fn take(&mut self, collected: &mut Collected, _: Others<'_>) -> Result<(), Failure> {
        let bytes = Rows::cost(&collected.packed);
        let mut is_charged = self.charge.take(bytes).is_ok();
        if !is_charged {
            self.spill_all()?;
            is_charged = self.charge.take(bytes).is_ok();
        }
        let rows = collected.chunk.offsets.len();
        self.rows.push(std::mem::take(&mut collected.packed), rows);
        // Without room even for these alone they stay a part of the working set, and go on to disk.
        if is_charged { Ok(()) } else { self.spill_all() }
    }

    fn spillable(&self) -> u64 {
        self.charge.held()
    }

    fn spill(&mut self, _: u64) -> Result<(), Failure> {
        self.spill_all()
    }

    fn seal(mut self: Box<Self>, Seal { most_resident, .. }: Seal) -> Result<Full<'p>, Failure> {
        if !(self.spilled.is_empty() && self.charge.held() <= most_resident) {
            self.spill_all()?;
            let Self { operator, charge, spilled, .. } = *self;
            return ReadBack::of(spilled, charge).map_err(|error| BufferContext::not_read_back(operator, error));
        }
        let Self { rows, charge, .. } = *self;
        Ok(Full::resident(Parked::new(rows, charge)))
    }
}

/// A park that heads a segment, in memory.
pub(super) struct Parked<'p> {
    rows: Rows,
    _charge: Charge<'p>,
}

impl<'p> Parked<'p> {
    /// Rows that are given back as they came. Their memory is charged to `charge`.
    pub fn new(rows: Rows, charge: Charge<'p>) -> Self {
        Self { rows, _charge: charge }
    }
}

impl Drain for Parked<'_> {
    fn ports(&self) -> Vec<u64> {
        vec![self.rows.len()]
    }

    fn places(&self, _: usize, range: Range<u64>, out: &mut Vec<Place>) {
        self.rows.places(range, out);
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
