//! What the finisher does: numbers groups and holds rows.

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::memory::Charge;
use crate::plan::physical::{Operator, ReshapeOperator};

use super::super::buffer::{Buffer, Collected, Full, Seal};
use super::super::grouped::{FailedGroups, GroupNames, Outcome, Refused, Store};
use super::collect::{Grouped, Part};

/// The ports of a reshape.
const OUT: u8 = 0;
const FAILED: u8 = 1;

/// A reshape while it is filled.
pub(super) struct Reshaping<'p> {
    pub spec: &'p ReshapeOperator,
    pub operator: &'p Operator,
    pub names: GroupNames<'p>,
    pub store: Store<'p>,
    pub failed: FailedGroups<'p>,
    /// Covers the port of each group.
    pub ports: Charge<'p>,
    /// For each column of `partition_by`, how many values that are not null count as null.
    pub folded: Vec<u64>,
}

impl<'p> Buffer<'p> for Reshaping<'p> {
    fn take(&mut self, collected: &mut Collected) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut keys = Vec::new();
        for batch in collected.take_part::<Part>() {
            self.admit(&batch, &mut groups).map_err(|refused| refused.failure(&self.names))?;
            keys.push(batch.order);
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

    fn warnings(&self) -> Vec<Diagnostic> {
        let columns = self.spec.partition_names.iter().zip(&self.folded);
        columns.filter(|(_, count)| **count > 0).map(|(column, count)| self.folding(column, *count)).collect()
    }

    fn seal(mut self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure> {
        self.store.table.complete();
        self.store.check_sizes(&self.names)?;
        let groups = self.store.table.len();
        let reserved = self.store.reserve(&mut self.ports, groups as u64);
        reserved.map_err(|refused| refused.failure(&self.names))?;
        let Self { spec, operator, store, failed, ports: charge, .. } = *self;
        let port = |group| if failed.contains(group) { FAILED } else { OUT };
        let ports = (0..groups as u32).map(port).collect();
        let outcome = Outcome { ports, plan_ports: 1, marked: spec.shows_groups, failed, _charge: charge };
        store.seal(seal, operator, outcome)
    }
}

impl Reshaping<'_> {
    /// Appends the groups of the rows that were made of a batch.
    fn admit(&mut self, batch: &Grouped, groups: &mut Vec<u32>) -> Result<(), Refused> {
        let mut numbers = Vec::with_capacity(batch.hashes.len());
        self.store.number(&batch.keys, &batch.hashes, &mut numbers)?;
        groups.extend(batch.made_of.iter().map(|row| numbers[*row as usize]));
        for (row, letter_row, cause) in &batch.failures {
            self.failed.add(&mut self.store, numbers[*row as usize], *letter_row, cause)?;
        }
        self.folded.iter_mut().zip(&batch.folded).for_each(|(all, count)| *all += count);
        Ok(())
    }

    fn folding(&self, column: &str, count: u64) -> Diagnostic {
        let node = self.operator.node();
        let (values, were) = if count == 1 { ("value", "was") } else { ("values", "were") };
        let message = format!(
            "reshape `{node}`: {count} {values} of column '{column}' {were} grouped with null: an empty text, NaN, a list \
             or a map can't tell groups apart"
        );
        Diagnostic::warning(Code::W396, message)
            .label(self.operator.span, "grouped here")
            .help("filter such rows, or give them keys of their own, in a transform above")
    }
}
