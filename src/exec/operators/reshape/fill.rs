//! What the finisher does: numbers groups and holds rows.

use std::ops::Range;

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::keys::Blanks;
use crate::exec::memory::Charge;
use crate::plan::physical::{Operator, ReshapeOperator};

use super::super::buffer::{Buffer, Collected, Full, Others, Seal};
use super::super::grouped::{FailedGroups, GroupNames, Grown, Outcome, Pieces, Refused, Store};
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
    /// For each column of `partition_by`, what in it can't tell groups apart.
    pub blanks: Vec<Blanks>,
}

impl<'p> Buffer<'p> for Reshaping<'p> {
    fn take(&mut self, collected: &mut Collected, others: Others<'_>) -> Result<(), Failure> {
        let mut groups = Vec::with_capacity(collected.chunk.offsets.len());
        let mut keys = Vec::new();
        for batch in collected.take_part::<Part>() {
            let admitted = self.admit(&batch, &mut groups, others);
            admitted.map_err(|refused| refused.failure(&self.names, self.store.table.len()))?;
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
        let columns = self.blanks.iter().enumerate().filter(|(_, blanks)| blanks.not_null() > 0);
        columns.map(|(column, blanks)| self.folding(column, blanks)).collect()
    }

    fn sealing(&self) -> u64 {
        self.store.table.len() as u64
    }

    fn seal(mut self: Box<Self>, seal: Seal) -> Result<Full<'p>, Failure> {
        self.store.table.complete();
        self.store.check_sizes(&self.names)?;
        let groups = self.store.table.len();
        let reserved = self.store.reserve(&mut self.ports, groups as u64, Grown::Decisions, &mut || Ok(()));
        reserved.map_err(|refused| refused.failure(&self.names, groups))?;
        let Self { spec, operator, store, failed, ports: charge, .. } = *self;
        let port = |group| if failed.contains(group) { FAILED } else { OUT };
        let ports = (0..groups as u32).map(port).collect();
        let outcome = Outcome { ports, plan_ports: 1, marked: spec.shows_groups, failed, _charge: charge };
        store.seal(seal, operator, outcome)
    }
}

impl<'p> Reshaping<'p> {
    /// Appends the groups of the rows that were made of a batch.
    fn admit(&mut self, batch: &Grouped, groups: &mut Vec<u32>, others: Others<'_>) -> Result<(), Refused> {
        let Grouped { keys, hashes, failures, .. } = batch;
        let mut numbers = Vec::with_capacity(hashes.len());
        let mut failed = failures.iter().peekable();
        let mut pieces = Pieces::of(hashes.len());
        let advance =
            |store: &Store<'p>, rows: &Range<usize>| store.advance(keys, hashes, rows, |_| batch.failing(rows));
        while let Some((rows, _advance)) = pieces.next_reserved(|rows| advance(&self.store, rows)) {
            let end = rows.end;
            self.store.number(keys, hashes, rows, &mut numbers, others)?;
            while let Some((row, letter_row, cause)) = failed.next_if(|(row, ..)| (*row as usize) < end) {
                self.failed.add(&mut self.store, numbers[*row as usize], *letter_row, cause, others)?;
            }
        }
        groups.extend(batch.made_of.iter().map(|row| numbers[*row as usize]));
        self.blanks.iter_mut().zip(&batch.blanks).for_each(|(all, blanks)| *all += *blanks);
        Ok(())
    }

    /// What to say of a column of `partition_by` with values that can't tell groups apart.
    fn folding(&self, column: usize, blanks: &Blanks) -> Diagnostic {
        let (node, name) = (self.operator.node(), &self.spec.partition_names[column]);
        let counts = if blanks.not_null() == 1 { "counts" } else { "count" };
        let as_null = match blanks.nulls {
            0 => String::new(),
            1 => ", as 1 null does".to_owned(),
            nulls => format!(", as {nulls} nulls do"),
        };
        let message = format!("reshape `{node}`: {} in column '{name}' {counts} as no value{as_null}", counted(blanks));
        Diagnostic::warning(Code::W396, message)
            .label(self.spec.reshape.partition_spans[column], "rows without a value here are grouped together")
            .help("filter such rows, or give them keys of their own, in a transform above")
    }
}

impl Grouped {
    /// The most that noting the failures of some rows takes, in bytes.
    fn failing(&self, rows: &Range<usize>) -> u64 {
        let place = |row: usize| self.failures.partition_point(|(failed, ..)| (*failed as usize) < row);
        self.failures[place(rows.start)..place(rows.end)].iter().map(|(.., cause)| FailedGroups::cost(cause)).sum()
    }
}

/// What can't tell groups apart but isn't null: `2 empty texts and 1 NaN`.
fn counted(blanks: &Blanks) -> String {
    let kinds = [
        (blanks.texts, "empty text", "empty texts"),
        (blanks.nans, "NaN", "NaN"),
        (blanks.lists, "list", "lists"),
        (blanks.maps, "map", "maps"),
    ];
    let found = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let texts = found.map(|(count, one, several)| format!("{count} {}", if count == 1 { one } else { several }));
    let mut texts: Vec<String> = texts.collect();
    match texts.pop() {
        Some(last) if texts.is_empty() => last,
        Some(last) => format!("{} and {last}", texts.join(", ")),
        None => String::new(),
    }
}
