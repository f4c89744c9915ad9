//! Groups on disk.
//!
//! They are divided into parts by a checksum of their keys, so that all that ever comes of a key is in one part, in the
//! order in which it came. A part is loaded like rows are admitted: states with equal keys are merged, and groups are
//! numbered as they were first seen. If that does not fit either, the part is divided again, by further bits of the
//! checksum. What a part came to is a run in the order in which groups were first seen, and the runs of all parts are
//! merged into one sequence.

use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, Charge, give_back_freed_memory};
use crate::exec::spill::{Disk, RunWriter, Spilled};
use crate::plan::physical::{AggregateOperator, Operator};

use super::super::buffer::{BufferContext, Full};
use super::super::read_back::ReadBack;
use super::fill::does_not_fit;
use super::held::Held;
use super::layout::GroupLayout;

/// Groups on disk, in parts.
pub(super) struct Parts<'p> {
    parts: Vec<Spilled<'p>>,
    /// How often what is in them was divided before.
    level: u32,
}

/// How many parts there are, as a power of two.
const BITS: u32 = 6;
/// How often a part can be divided: as often as the checksum has bits for.
const LEVELS: u32 = u32::BITS / BITS;
/// How many times smaller frames are than usual: as many as there are parts are filled at once.
const SMALLER: usize = 8;

impl<'p> Parts<'p> {
    /// Nothing yet.
    pub fn new(disk: &'p Disk<'p>, consumer: usize, level: u32) -> Self {
        let part = || Spilled::in_smaller_frames(disk, consumer, SMALLER);
        Self { parts: (0..1 << BITS).map(|_| part()).collect(), level }
    }

    /// Whether nothing was put on disk.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(Spilled::is_empty)
    }

    /// Puts all groups on disk; they have to be forgotten then. `times` is how often that was done before with groups
    /// that were numbered anew.
    pub fn add(&mut self, held: &Held<'p>, layout: &GroupLayout, times: u32) -> Result<(), Failure> {
        let mut writers: Vec<Option<RunWriter<'p>>> = self.parts.iter().map(|_| None).collect();
        let mut record = Vec::new();
        for (group, key) in (0..).zip(held.keys(0..held.len() as u32)) {
            record.clear();
            held.encode(layout, times, (group, key), &mut record);
            let part = self.part_of(key);
            if writers[part].is_none() {
                writers[part] = Some(self.parts[part].begin()?);
            }
            writers[part].iter_mut().try_for_each(|writer| writer.push(&[], &record))?;
        }
        for (part, writer) in self.parts.iter_mut().zip(writers) {
            writer.into_iter().try_for_each(|writer| part.end(writer))?;
        }
        Ok(())
    }

    /// Those with something in them, with their level.
    fn each(self) -> Vec<(Spilled<'p>, u32)> {
        let level = self.level;
        self.parts.into_iter().filter(|part| !part.is_empty()).map(|part| (part, level)).collect()
    }

    fn part_of(&self, key: &[u8]) -> usize {
        let shift = u32::BITS - BITS * (self.level + 1);
        (crc32fast::hash(key) >> shift) as usize & ((1 << BITS) - 1)
    }
}

/// Loads parts and puts what they come to in order.
pub(super) struct Loading<'p> {
    pub spec: &'p AggregateOperator,
    pub operator: &'p Operator,
    pub layout: Arc<GroupLayout>,
    pub arbitrator: &'p Arbitrator,
    pub disk: &'p Disk<'p>,
    pub consumer: usize,
}

impl<'p> Loading<'p> {
    /// All groups, in the order in which they were first seen.
    pub fn in_order(&self, parts: Parts<'p>) -> Result<Full<'p>, Failure> {
        let mut in_order = Spilled::new(self.disk, self.consumer);
        let mut held = Held::new(&self.spec.aggregation, self.arbitrator, self.consumer);
        let mut waiting = parts.each();
        // What a part is divided into comes before the parts beside it: so few files are open at a time.
        while let Some((part, level)) = waiting.pop() {
            match self.load(part, level, &mut held)? {
                Some(divided) => waiting.extend(divided.each()),
                None => self.write(&held, &mut in_order)?,
            }
            held.clear(&self.spec.aggregation);
            give_back_freed_memory();
        }
        drop(held);
        ReadBack::of(in_order, self.charge()).map_err(|error| BufferContext::not_read_back(self.operator, error))
    }

    /// Loads a part. If it does not fit, gives it divided.
    fn load(&self, part: Spilled<'p>, level: u32, held: &mut Held<'p>) -> Result<Option<Parts<'p>>, Failure> {
        let mut divided: Option<Parts<'p>> = None;
        let mut records =
            part.merge(self.charge()).map_err(|error| BufferContext::not_read_back(self.operator, error))?;
        while let Some((_, record)) = records.next()? {
            while let Err(no_room) = held.admit_record(&self.layout, record) {
                let key = GroupLayout::key_of(record);
                if self.is_hopeless(held, level, key) {
                    return Err(does_not_fit(self.spec, self.operator, key, &no_room));
                }
                let divided = divided.get_or_insert_with(|| Parts::new(self.disk, self.consumer, level + 1));
                divided.add(held, &self.layout, 0)?;
                held.clear(&self.spec.aggregation);
            }
        }
        if let Some(divided) = &mut divided {
            divided.add(held, &self.layout, 0)?;
        }
        Ok(divided)
    }

    /// Whether it makes no difference to put aside what is loaded.
    fn is_hopeless(&self, held: &Held<'p>, level: u32, key: &[u8]) -> bool {
        held.is_empty() || level + 1 == LEVELS || held.len() == 1 && held.key(0) == key
    }

    /// Writes groups in the order in which they were first seen: that is the order they have.
    fn write(&self, held: &Held<'p>, in_order: &mut Spilled<'p>) -> Result<(), Failure> {
        let mut record = Vec::new();
        in_order.write(|writer| {
            (0..).zip(held.keys(0..held.len() as u32)).try_for_each(|(group, key)| {
                record.clear();
                held.encode(&self.layout, 0, (group, key), &mut record);
                writer.push(&held.seen(group).to_be_bytes(), &record)
            })
        })
    }

    fn charge(&self) -> Charge<'p> {
        Charge::new(self.arbitrator, self.consumer)
    }
}
