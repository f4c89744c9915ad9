//! Groups that are read from disk.

use std::sync::Arc;

use super::outcome::Outcome;
use crate::exec::Failure;
use crate::exec::operators::buffer::{Portion, Scan};
use crate::exec::operators::lost::{Cause, Lost};
use crate::exec::rest::Chunk;
use crate::exec::spill::Merge;

/// The rows of all groups in order, read in one go: rows wait until there are enough for a block of their port.
pub(super) struct GroupScan<'p> {
    merge: Merge<'p>,
    outcome: Outcome<'p>,
    /// The rows that wait at each port.
    waiting: Vec<Chunk>,
    /// What happened to those of failed groups.
    lost: Vec<Lost>,
    /// The failed group that is being read.
    failed: Option<Reading>,
    /// What happened to the rows that were given last.
    given: Vec<Lost>,
}

/// A failed group on its way.
struct Reading {
    group: u32,
    /// Why it failed.
    cause: Arc<Cause>,
    /// Whether the row that is its trigger has come.
    has_trigger: bool,
}

impl<'p> GroupScan<'p> {
    /// In front of the first row. `merge` has the records that [`super::Store`] writes.
    pub fn new(merge: Merge<'p>, outcome: Outcome<'p>) -> Self {
        let waiting = vec![Chunk::default(); outcome.plan_ports + 1];
        Self { merge, outcome, waiting, lost: Vec::new(), failed: None, given: Vec::new() }
    }

    /// Reads a row. False behind the last one.
    fn read(&mut self) -> Result<bool, Failure> {
        let Some((key, row)) = self.merge.next()? else { return Ok(false) };
        let group = u32::from_be_bytes(*key.first_chunk().expect("a key begins with the group"));
        let Some(port) = self.outcome.port(group, row) else { return Ok(true) };
        if port == self.outcome.plan_ports {
            let Outcome { failed, .. } = &self.outcome;
            let mut reading = self.failed.take().filter(|reading| reading.group == group).unwrap_or_else(|| Reading {
                group,
                cause: failed.cause(group),
                has_trigger: false,
            });
            let is_trigger = !reading.has_trigger && failed.is_trigger(group, row);
            reading.has_trigger |= is_trigger;
            self.lost.push(failed.lost(group, row, is_trigger, &reading.cause));
            self.failed = Some(reading);
        }
        self.waiting[port].push(row);
        Ok(true)
    }

    /// Gives what waits at a port.
    fn give(&mut self, port: usize, chunk: &mut Chunk) -> usize {
        std::mem::swap(&mut self.waiting[port], chunk);
        self.waiting[port].clear();
        let is_failed = port == self.outcome.plan_ports;
        self.given = if is_failed { std::mem::take(&mut self.lost) } else { Vec::new() };
        port
    }
}

impl Scan for GroupScan<'_> {
    fn next(&mut self, most: Portion, chunk: &mut Chunk) -> Result<Option<usize>, Failure> {
        loop {
            if let Some(port) = self.waiting.iter().position(|waiting| !most.has_room(waiting)) {
                return Ok(Some(self.give(port, chunk)));
            }
            if !self.read()? {
                let port = self.waiting.iter().position(|waiting| !waiting.offsets.is_empty());
                return Ok(port.map(|port| self.give(port, chunk)));
            }
        }
    }

    fn lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.given)
    }
}
