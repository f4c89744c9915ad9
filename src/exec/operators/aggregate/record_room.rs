//! Room for the record that is made of a group on its way to disk.
//!
//! A list of `collect` may be most of what a run holds, and its record is a copy of it. When memory is tight it is too late
//! to ask for that, so it is reserved as the list grows. Nothing is lost by that: to become a row, which is a copy, too, a
//! list needs more.

use crate::exec::aggregate::Accumulator;
use crate::exec::batch::Column;
use crate::exec::memory::{Charge, Exceeded, most_of_a_row};

use super::held::NoRoom;

/// What is reserved for the largest record of some groups.
pub(super) struct RecordRoom {
    /// Bytes of its lists, at most.
    largest: u64,
    reserved: u64,
    /// So many bytes are part of the working set.
    free: u64,
}

impl RecordRoom {
    /// Nothing yet, under a memory limit.
    pub fn new(limit: u64) -> Self {
        Self { largest: 0, reserved: 0, free: most_of_a_row(limit) }
    }

    /// The most that a record takes, in bytes.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// What is reserved, in bytes.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// What more has to be reserved before lists get so many bytes more.
    pub fn growth(&self, more: u64) -> u64 {
        let least = if more == 0 { 0 } else { self.largest + more };
        least.saturating_sub(self.free).saturating_sub(self.reserved)
    }

    /// Reserves that, given for each aggregate how many bytes its lists may get. Gives their sum.
    pub fn take(&mut self, more: impl Iterator<Item = u64>, charge: &mut Charge<'_>) -> Result<u64, NoRoom> {
        let (mut all, mut most) = (0, (0, None));
        for (aggregate, more) in more.enumerate() {
            all += more;
            most = most.max((more, Some(aggregate)));
        }
        let growth = self.growth(all);
        charge.take(growth).map_err(|exceeded: Exceeded| NoRoom { exceeded, aggregate: most.1 })?;
        self.reserved += growth;
        Ok(all)
    }

    /// Notes what the records of some groups, which have grown, take now, and gives back the rest.
    pub fn settle(&mut self, accumulators: &[Accumulator], groups: &[u32], charge: &mut Charge<'_>) {
        let record = |group: &u32| accumulators.iter().map(|accumulator| accumulator.extent(*group).text).sum();
        self.largest = groups.iter().map(record).max().unwrap_or(0).max(self.largest);
        let unused = self.reserved.saturating_sub(self.largest.saturating_sub(self.free));
        charge.give_back(unused);
        self.reserved -= unused;
    }

    /// Forgets the groups, whoever gives back what was reserved.
    pub fn clear(&mut self) {
        (self.largest, self.reserved) = (0, 0);
    }

    /// Gives everything back: no records are to be made any more.
    pub fn give_back(&mut self, charge: &mut Charge<'_>) {
        charge.give_back(std::mem::take(&mut self.reserved));
    }
}

/// For each aggregate, how many bytes its lists get at most of rows with these arguments.
pub(super) fn list_bytes<'a>(
    accumulators: &'a [Accumulator],
    arguments: &'a [Vec<Column>],
) -> impl Iterator<Item = u64> + 'a {
    accumulators.iter().zip(arguments).map(|(accumulator, args)| accumulator.list_bytes(args))
}
