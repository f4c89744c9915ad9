//! What the finisher does: numbers groups and adds to aggregates.

use std::ops::Range;
use std::sync::Arc;

use crate::exec::Failure;
use crate::exec::dlq::LetterRow;
use crate::exec::eval::Rules;
use crate::exec::memory::{Advance, Charge};
use crate::plan::physical::{CullOperator, Operator};

use super::super::buffer::{Buffer, Collected, Full, Others, Seal};
use super::super::grouped::{FailedGroups, GroupNames, Outcome, Pieces, Refused, Store};
use super::collect::{Decisive, Part};
use super::kept::{Kept, Numbered, Piece, Room};

/// A cull while it is filled.
pub(super) struct Culling<'p> {
    pub spec: &'p CullOperator,
    pub operator: &'p Operator,
    pub rules: Rules,
    /// For each aggregate, the first rule that reads it.
    pub reading_rules: Vec<Arc<str>>,
    pub names: GroupNames<'p>,
    pub store: Store<'p>,
    pub kept: Kept<'p>,
    pub failed: FailedGroups<'p>,
    /// Covers what is kept, and what is done with it in the end.
    pub decisions: Charge<'p>,
}

impl<'p> Buffer<'p> for Culling<'p> {
    fn take(&mut self, collected: &mut Collected, others: Others<'_>) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut keys = Vec::new();
        for batch in collected.take_part::<Part>() {
            let admitted = self.admit(&batch, &mut groups, others);
            admitted.map_err(|refused| refused.failure(&self.names, self.store.table.len()))?;
            keys.extend(batch.order);
        }
        self.store.add(std::mem::take(&mut collected.packed), &collected.chunk.offsets, groups, keys)
    }

    fn headroom(&self, rows: usize) -> u64 {
        self.store.headroom(rows)
    }

    fn spillable(&self) -> u64 {
        self.store.spillable()
    }

    fn spill(&mut self, wanted: u64) -> Result<(), Failure> {
        self.store.spill(wanted)
    }

    fn sealing(&self) -> u64 {
        self.deciding()
    }

    fn seal(mut self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure> {
        self.store.table.complete();
        self.store.check_sizes(&self.names)?;
        let decided = self.decide();
        let ports = decided.map_err(|refused| refused.failure(&self.names, self.store.table.len()))?;
        if let Some(failure) = self.first_failure() {
            return Err(failure);
        }
        let Self { operator, store, mut failed, kept, mut decisions, .. } = *self;
        if let Some(starts) = &kept.starts {
            failed.begin_with(|group| *starts.get(group));
        }
        drop(kept);
        decisions.give_back(decisions.held() - ports.len() as u64);
        let outcome = Outcome { ports, plan_ports: 2, marked: false, failed, _charge: decisions };
        store.seal(seal, operator, outcome)
    }
}

impl<'p> Culling<'p> {
    /// Appends the groups of a batch's rows, and adds its arguments to the aggregates.
    fn admit(&mut self, batch: &Decisive, groups: &mut Vec<u32>, others: Others<'_>) -> Result<(), Refused> {
        let mut pieces = Pieces::of(batch.hashes.len());
        while let Some((rows, reserved)) = pieces.next_reserved(|rows| self.advance(batch, rows)) {
            match reserved {
                Some((piece, _advance)) => self.admit_piece(&piece, true, groups, others)?,
                None => self.admit_piece(&Piece::of(batch, rows), false, groups, others)?,
            }
        }
        Ok(())
    }

    /// Reserves in advance all that some rows may take, if there is room.
    fn advance<'b>(&self, batch: &'b Decisive, rows: &Range<usize>) -> Option<(Piece<'b>, Advance<'p>)> {
        let (piece, known) = (Piece::of(batch, rows.clone()), self.store.table.len());
        let more = |new: usize| self.kept.growth(&piece, known, new) + piece.failing();
        let advance = self.store.advance(&batch.keys, &batch.hashes, rows, more)?;
        Some((piece, advance))
    }

    fn admit_piece(
        &mut self,
        piece: &Piece<'_>,
        is_reserved: bool,
        groups: &mut Vec<u32>,
        others: Others<'_>,
    ) -> Result<(), Refused> {
        let Piece { batch, rows, .. } = piece;
        let (first, before) = (groups.len(), self.store.table.len());
        self.store.number(&batch.keys, &batch.hashes, rows.clone(), groups, others)?;
        let numbered = Numbered { groups: &groups[first..], before, count: self.store.table.len() };
        let mut room = Room { store: &mut self.store, charge: &mut self.decisions, is_reserved, others };
        self.kept.add(piece, numbered, &mut room)?;
        for (row, cause) in batch.failures(rows) {
            let group = numbered.groups[row - rows.start];
            self.failed.add(&mut self.store, group, LetterRow::NONE, cause, others)?;
        }
        Ok(())
    }
}
