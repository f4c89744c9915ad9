//! Holds rows: a park gives them back in the order they came, from disk as far as they don't fit the memory limit; an
//! interleaving merge takes its inputs in turn.
//!
//! A seeded merge picks with SplitMix64, which starts from the seed: for each row it draws 64 bits, and takes them times
//! the number of inputs that still have rows, divided by 2^64, as the position of the picked one among these, in the
//! order of the inputs. While only one input is left nothing is drawn.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::hir::MergeMode;
use crate::exec::Failure;
use crate::exec::batch::Batch;
use crate::exec::memory::Charge;
use crate::exec::rest::{Codec, Place, Rows};
use crate::exec::spill::Spilled;
use crate::plan::physical::{MergeOperator, Operator, ParkOperator};

use super::buffer::{Admitted, Buffer, BufferContext, CollectError, Collected, Collector, Drain, Full, Seal};
use super::merge::ColumnMap;
use super::read_back::ReadBack;

/// A park's two sides.
pub(super) fn new_park<'p>(
    spec: &ParkOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let collector = ParkCollector { maps: Vec::new(), codec: Arc::clone(&context.codec) };
    (Arc::new(collector), Box::new(Park::new(context, spec.rest.consumer, 1, None)))
}

/// The two sides of a merge that doesn't concatenate.
pub(super) fn new_interleave<'p>(
    spec: &MergeOperator,
    context: &BufferContext<'p>,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let rest = spec.rest.as_ref().expect("a merge that buffers says how its rows rest");
    let maps = (0..spec.inputs.len()).map(|input| ColumnMap::new(spec, input)).collect();
    let collector = ParkCollector { maps, codec: Arc::clone(&context.codec) };
    let buffer = Park::new(context, rest.consumer, spec.inputs.len(), Some(spec.merge.mode));
    (Arc::new(collector), Box::new(buffer))
}

struct ParkCollector {
    /// For each input, where the columns come from; none for a park.
    maps: Vec<ColumnMap>,
    codec: Arc<Codec>,
}

impl Collector for ParkCollector {
    fn collect(&self, input: usize, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let encoded = match self.maps.get(input) {
            Some(map) => self.codec.encode(&map.apply(batch.clone()), &mut out.chunk),
            None => self.codec.encode(batch, &mut out.chunk),
        };
        encoded.map_err(CollectError::Unwritable)?;
        Ok(Admitted::default())
    }
}

/// A park or an interleaving merge while it is filled.
struct Park<'p> {
    operator: &'p Operator,
    charge: Charge<'p>,
    rows: Rows,
    /// For each input, its chunks.
    inputs: Vec<Vec<u32>>,
    /// How the inputs are interleaved; `None` for a park.
    mode: Option<MergeMode>,
    /// The first rows of a park, if they are on disk.
    spilled: Spilled<'p>,
}

impl<'p> Park<'p> {
    fn new(context: &BufferContext<'p>, consumer: usize, inputs: usize, mode: Option<MergeMode>) -> Self {
        let charge = Charge::new(context.arbitrator, consumer);
        let spilled = Spilled::new(context.disk, consumer);
        let (rows, inputs) = (Rows::default(), vec![Vec::new(); inputs]);
        Self { operator: context.operator, charge, rows, inputs, mode, spilled }
    }

    /// Puts all rows of a park behind those that are on disk already: without a key they stay as they came.
    fn spill_all(&mut self) -> Result<(), Failure> {
        let rows = std::mem::take(&mut self.rows);
        self.inputs[0].clear();
        self.spilled.write(|writer| rows.iter().try_for_each(|row| writer.push(&[], row)))?;
        self.charge.give_back(self.charge.held());
        Ok(())
    }

    fn detail(&self) -> &'static str {
        if self.mode.is_some() { "rows to interleave" } else { "rows that wait for an earlier input" }
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), Failure> {
        let detail = self.detail();
        self.charge.take(bytes).map_err(|exceeded| BufferContext::does_not_fit(self.operator, detail, &exceeded))
    }

    /// The places in the order of the mode.
    fn interleave(&self, mode: MergeMode) -> Vec<Place> {
        let rows = |chunks: &Vec<u32>| chunks.iter().map(|chunk| self.rows.in_chunk(*chunk)).sum::<u64>();
        let mut left: Vec<_> = self
            .inputs
            .iter()
            .map(|chunks| (rows(chunks), chunks.iter().flat_map(|chunk| self.rows.chunk_places(*chunk))))
            .filter(|(rows, _)| *rows > 0)
            .collect();
        let mut pick = Pick::new(mode);
        let mut places = Vec::with_capacity(self.rows.len() as usize);
        while !left.is_empty() {
            let input = pick.next(left.len());
            places.extend(left[input].1.next());
            left[input].0 -= 1;
            if left[input].0 == 0 {
                drop(left.remove(input));
                pick.removed();
            }
        }
        places
    }
}

impl<'p> Buffer<'p> for Park<'p> {
    fn take(&mut self, input: usize, collected: &mut Collected) -> Result<(), Failure> {
        let bytes = Rows::cost(&collected.packed) + size_of::<u32>() as u64;
        let mut is_charged = self.charge.take(bytes).is_ok();
        if !is_charged && self.mode.is_none() {
            self.spill_all()?;
            is_charged = self.charge.take(bytes).is_ok();
        } else if !is_charged {
            self.reserve(bytes)?;
        }
        let rows = collected.chunk.offsets.len();
        let chunk = self.rows.push(std::mem::take(&mut collected.packed), rows);
        self.inputs[if self.mode.is_some() { input } else { 0 }].push(chunk);
        // Without room even for these alone they stay a part of the working set, and go on to disk.
        if is_charged { Ok(()) } else { self.spill_all() }
    }

    fn spillable(&self) -> u64 {
        if self.mode.is_none() { self.charge.held() } else { 0 }
    }

    fn spill(&mut self, _: u64) -> Result<(), Failure> {
        self.spill_all()
    }

    fn seal(mut self: Box<Self>, Seal { most_resident, .. }: Seal) -> Result<Full<'p>, Failure> {
        if self.mode.is_none() && !(self.spilled.is_empty() && self.charge.held() <= most_resident) {
            self.spill_all()?;
            let Self { operator, charge, spilled, .. } = *self;
            return ReadBack::of(spilled, charge).map_err(|error| BufferContext::not_read_back(operator, error));
        }
        let order = match self.mode {
            None => None,
            Some(mode) => {
                self.reserve(self.rows.len() * size_of::<Place>() as u64)?;
                Some(self.interleave(mode))
            }
        };
        let Self { rows, charge, .. } = *self;
        Ok(Full::resident(Parked { rows, order, _charge: charge }))
    }
}

/// Which input is next.
enum Pick {
    /// In turn: the position of the next among those that still have rows.
    Turn(usize, usize),
    /// By chance.
    Seeded(u64),
}

impl Pick {
    fn new(mode: MergeMode) -> Self {
        match mode {
            MergeMode::Seeded(seed) => Pick::Seeded(seed as u64),
            MergeMode::Interleave | MergeMode::Concat => Pick::Turn(0, 0),
        }
    }

    /// One of `inputs`.
    fn next(&mut self, inputs: usize) -> usize {
        match self {
            Pick::Turn(next, last) => {
                *last = if *next < inputs { *next } else { 0 };
                *next = *last + 1;
                *last
            }
            Pick::Seeded(_) if inputs == 1 => 0,
            Pick::Seeded(state) => ((u128::from(split_mix(state)) * inputs as u128) >> 64) as usize,
        }
    }

    /// The last one picked has no more rows: the one behind it has its position now.
    fn removed(&mut self) {
        if let Pick::Turn(next, last) = self {
            *next = *last;
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

/// A park or an interleaving merge that drives its stage.
pub(super) struct Parked<'p> {
    rows: Rows,
    /// The order, unless it is that of arrival.
    order: Option<Vec<Place>>,
    _charge: Charge<'p>,
}

impl<'p> Parked<'p> {
    /// Rows that are given back as they came. Their memory is charged to `charge`.
    pub fn new(rows: Rows, charge: Charge<'p>) -> Self {
        Self { rows, order: None, _charge: charge }
    }
}

impl Drain for Parked<'_> {
    fn ports(&self) -> Vec<u64> {
        vec![self.rows.len()]
    }

    fn places(&self, _: usize, range: Range<u64>, out: &mut Vec<Place>) {
        match &self.order {
            None => self.rows.places(range, out),
            Some(order) => out.extend_from_slice(&order[range.start as usize..range.end as usize]),
        }
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
