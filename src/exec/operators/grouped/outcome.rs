//! What became of the groups: their ports, and why some failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::marks::Mark;
use super::store::{Grown, Refused, Store};
use crate::exec::batch::RowId;
use crate::exec::dlq::LetterRow;
use crate::exec::memory::Charge;
use crate::exec::operators::buffer::Others;
use crate::exec::operators::lost::{Cause, Lost};
use crate::exec::rest::Codec;

/// What became of the groups.
pub(in crate::exec::operators) struct Outcome<'p> {
    /// For each group, the port that its rows go to: a failed one has the port behind those of the plan.
    pub ports: Vec<u8>,
    /// How many ports the plan has.
    pub plan_ports: usize,
    /// Whether rows end with a [`Mark`].
    pub marked: bool,
    /// The groups that failed.
    pub failed: FailedGroups<'p>,
    /// Covers `ports`.
    pub _charge: Charge<'p>,
}

impl Outcome<'_> {
    /// The port of a row, if it is shown.
    pub fn port(&self, group: u32, row: &[u8]) -> Option<usize> {
        let port = usize::from(self.ports[group as usize]);
        let is_shown = !self.marked || Mark::of(row).is_shown(port == self.plan_ports);
        is_shown.then_some(port)
    }
}

/// The groups that failed, and why.
pub(in crate::exec::operators) struct FailedGroups<'p> {
    /// For each of them its first trigger, and what happened to it: [`Cause`] as bytes.
    causes: BTreeMap<u32, (LetterRow, Box<[u8]>)>,
    charge: Charge<'p>,
    /// Where rows don't say what happened to them, the row that is the trigger of each group, and what finds it.
    triggers: BTreeMap<u32, RowId>,
    codec: Option<Arc<Codec>>,
}

/// What an entry takes but for the bytes of the reason: the nodes of the tree are half full at least.
const ENTRY: usize = 2 * size_of::<(u32, (LetterRow, Box<[u8]>))>() + 2 * size_of::<(u32, RowId)>();

impl<'p> FailedGroups<'p> {
    /// None yet. With a codec one row of a failed group is its [trigger](Self::begin_with), whatever failed; without one,
    /// rows end with a [`Mark`].
    pub fn new(charge: Charge<'p>, codec: Option<Arc<Codec>>) -> Self {
        Self { causes: BTreeMap::new(), charge, triggers: BTreeMap::new(), codec }
    }

    /// Notes which row is the trigger of each failed group.
    pub fn begin_with(&mut self, row: impl Fn(u32) -> RowId) {
        self.triggers = self.groups().map(|group| (group, row(group))).collect();
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = u32> {
        self.causes.keys().copied()
    }

    /// Whether a group failed.
    pub fn contains(&self, group: u32) -> bool {
        self.causes.contains_key(&group)
    }

    /// What noting why a group failed takes, given the [`Cause`] as bytes.
    pub fn cost(cause: &[u8]) -> u64 {
        (ENTRY + cause.len()) as u64
    }

    /// Notes why a group failed, given the [`Cause`] as bytes: the first reason counts, by row and then as they come.
    pub fn add(
        &mut self,
        store: &mut Store<'p>,
        group: u32,
        row: LetterRow,
        cause: &[u8],
        others: Others<'_>,
    ) -> Result<(), Refused> {
        if self.causes.get(&group).is_some_and(|(first, _)| *first <= row) {
            return Ok(());
        }
        store.reserve(&mut self.charge, Self::cost(cause), Grown::Failures, others)?;
        if let Some((_, replaced)) = self.causes.insert(group, (row, cause.into())) {
            self.charge.give_back(Self::cost(&replaced));
        }
        Ok(())
    }

    /// What happened to the first trigger of a failed group.
    pub fn cause(&self, group: u32) -> Arc<Cause> {
        let mut cause = Cause::from_bytes(&self.causes[&group].1);
        if let Some(trigger) = self.triggers.get(&group) {
            cause.row = trigger.file_row;
            let elsewhere = cause.at.as_ref().filter(|at| !is_same(&at.row, trigger));
            let place = elsewhere.map(|at| format!(" in {}", at.place));
            place.iter().for_each(|place| cause.message.push_str(place));
        }
        Arc::new(cause)
    }

    /// Whether a row of a failed group is the one that is its trigger; of several the first has to be taken.
    pub fn is_trigger(&self, group: u32, row: &[u8]) -> bool {
        let trigger = self.triggers.get(&group);
        let row = self.codec.as_ref().and_then(|codec| codec.row_id(row));
        row.zip(trigger).is_some_and(|(row, trigger)| is_same(&row, trigger))
    }

    /// What happened to a row of a group that `cause` made fail; `is_trigger` tells whether it [is](Self::is_trigger) the
    /// group's.
    pub fn lost(&self, group: u32, row: &[u8], is_trigger: bool, cause: &Arc<Cause>) -> Lost {
        let own = if self.codec.is_none() { Mark::failure(row) } else { None };
        let is_trigger = own.is_some() || is_trigger;
        Lost { group, is_trigger, cause: own.map_or_else(|| Arc::clone(cause), Arc::new) }
    }
}

/// Whether both are the same row.
fn is_same(one: &RowId, other: &RowId) -> bool {
    (one.source, one.source_row) == (other.source, other.source_row)
}
