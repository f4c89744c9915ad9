//! Groups that are in memory: their rows by port, in order.

use std::ops::Range;

use super::held::Held;
use super::order::GroupOrder;
use super::outcome::Outcome;
use crate::exec::memory::Charge;
use crate::exec::operators::buffer::Drain;
use crate::exec::operators::lost::Lost;
use crate::exec::rest::{Place, Rows};

/// Groups that drive a segment from memory.
pub(super) struct Arranged<'p> {
    rows: Rows,
    ports: Ports,
    outcome: Outcome<'p>,
    _charge: Charge<'p>,
}

/// Rows by port.
struct Ports {
    /// For each port, its rows in order; the last is that of failed groups.
    rows: Vec<Vec<Place>>,
    /// The failed groups, in order.
    failed: Vec<FailedGroup>,
}

/// A failed group among the rows of the last port.
struct FailedGroup {
    group: u32,
    /// Where its rows end.
    end: u64,
    /// The row that is its trigger, where rows don't say that themselves.
    trigger: Option<u64>,
}

impl<'p> Arranged<'p> {
    /// What arranging such rows takes beside them, in bytes.
    pub fn cost(held: &[Held], groups: usize) -> u64 {
        let rows: u64 = held.iter().map(|held| held.groups.len() as u64).sum();
        let places = rows * size_of::<Place>() as u64;
        let order = if has_keys(held) { places + GroupOrder::most_bytes(rows, groups) } else { 0 };
        chunks(held) + places + order + (groups * size_of::<usize>()) as u64
    }

    /// Puts rows in order. `charge` covers them and what that [takes](Self::cost).
    pub fn new(mut held: Vec<Held>, outcome: Outcome<'p>, mut charge: Charge<'p>) -> Self {
        let before = held.iter().map(Held::cost).sum::<u64>() + Self::cost(&held, outcome.ports.len());
        let mut rows = Rows::default();
        for block in &mut held {
            rows.push(std::mem::take(&mut block.bytes), block.groups.len());
        }
        let mut ports =
            if has_keys(&held) { by_order(&rows, &held, &outcome) } else { by_arrival(&rows, &held, &outcome) };
        ports.find_triggers(&rows, &outcome);
        charge.give_back(before.saturating_sub(rows.bytes() + chunks(&held) + ports.cost()));
        Self { rows, ports, outcome, _charge: charge }
    }
}

impl Ports {
    /// Finds the triggers of failed groups.
    fn find_triggers(&mut self, rows: &Rows, outcome: &Outcome<'_>) {
        let (places, mut start) = (&self.rows[outcome.plan_ports], 0);
        for FailedGroup { group, end, trigger } in &mut self.failed {
            let is_trigger = |at: &u64| outcome.failed.is_trigger(*group, rows.row(places[*at as usize]));
            *trigger = (start..*end).find(is_trigger);
            start = *end;
        }
    }

    fn cost(&self) -> u64 {
        let places: usize = self.rows.iter().map(Vec::capacity).sum();
        (places * size_of::<Place>() + self.failed.len() * size_of::<FailedGroup>()) as u64
    }
}

/// What lists of chunks take, in bytes.
fn chunks(held: &[Held]) -> u64 {
    (held.len() * (size_of::<Box<[u8]>>() + size_of::<u64>())) as u64
}

fn has_keys(held: &[Held]) -> bool {
    held.iter().any(|held| !held.keys.is_empty())
}

/// Groups as they were first seen, rows as they came.
fn by_arrival(rows: &Rows, held: &[Held], outcome: &Outcome<'_>) -> Ports {
    let mut counts = vec![0; outcome.ports.len()];
    match outcome.marked {
        false => held.iter().flat_map(|held| &held.groups).for_each(|group| counts[*group as usize] += 1),
        true => places(rows, held).for_each(|(group, place)| {
            counts[group as usize] += usize::from(outcome.port(group, rows.row(place)).is_some());
        }),
    }
    let mut ends = vec![0; outcome.plan_ports + 1];
    // For each group, where the next of its rows goes in its port.
    let mut cursors = counts;
    for (cursor, port) in cursors.iter_mut().zip(&outcome.ports) {
        let end = &mut ends[usize::from(*port)];
        let start = *end;
        *end += std::mem::replace(cursor, start);
    }
    let mut ports: Vec<_> = ends.into_iter().map(|end| vec![Place::new(0, 0); end]).collect();
    for (group, place) in places(rows, held) {
        if !outcome.marked || outcome.port(group, rows.row(place)).is_some() {
            let cursor = &mut cursors[group as usize];
            ports[usize::from(outcome.ports[group as usize])][*cursor] = place;
            *cursor += 1;
        }
    }
    let failed = |group| FailedGroup { group, end: cursors[group as usize] as u64, trigger: None };
    Ports { rows: ports, failed: outcome.failed.groups().map(failed).collect() }
}

/// All rows as they came, with their groups.
fn places<'a>(rows: &'a Rows, held: &'a [Held]) -> impl Iterator<Item = (u32, Place)> + 'a {
    let blocks = (0..).zip(held);
    blocks.flat_map(|(chunk, block)| block.groups.iter().copied().zip(rows.chunk_places(chunk)))
}

/// Groups as they were first seen, rows by their keys.
fn by_order(rows: &Rows, held: &[Held], outcome: &Outcome<'_>) -> Ports {
    let keys: Vec<&[u8]> = held.iter().flat_map(Held::keys).collect();
    let groups = held.iter().flat_map(|held| held.groups.iter().copied());
    let order = GroupOrder::new(groups, &keys, outcome.ports.len());
    let mut all = Vec::with_capacity(rows.len() as usize);
    rows.places(0..rows.len(), &mut all);
    let mut counts = vec![0; outcome.plan_ports + 1];
    outcome.ports.iter().zip(order.groups()).for_each(|(port, members)| counts[usize::from(*port)] += members.len());
    let mut ports = Ports { rows: counts.into_iter().map(Vec::with_capacity).collect(), failed: Vec::new() };
    for (group, members) in (0..).zip(order.groups()) {
        for place in members.iter().map(|row| all[*row as usize]) {
            if let Some(port) = outcome.port(group, rows.row(place)) {
                ports.rows[port].push(place);
            }
        }
        if outcome.failed.contains(group) {
            let end = ports.rows[outcome.plan_ports].len() as u64;
            ports.failed.push(FailedGroup { group, end, trigger: None });
        }
    }
    ports
}

impl Drain for Arranged<'_> {
    fn ports(&self) -> Vec<u64> {
        self.ports.rows.iter().map(|port| port.len() as u64).collect()
    }

    fn places(&self, port: usize, range: Range<u64>, out: &mut Vec<Place>) {
        out.extend_from_slice(&self.ports.rows[port][range.start as usize..range.end as usize]);
    }

    fn lost(&self, range: Range<u64>) -> Vec<Lost> {
        let (places, failed) = (&self.ports.rows[self.outcome.plan_ports], &self.ports.failed);
        let row = |position: u64| self.rows.row(places[position as usize]);
        let mut lost = Vec::with_capacity((range.end - range.start) as usize);
        let first = failed.partition_point(|failed| failed.end <= range.start);
        let mut start = range.start;
        for FailedGroup { group, end, trigger } in &failed[first..] {
            if start >= range.end {
                break;
            }
            let cause = self.outcome.failed.cause(*group);
            let own = start..range.end.min(*end);
            lost.extend(own.map(|at| self.outcome.failed.lost(*group, row(at), *trigger == Some(at), &cause)));
            start = *end;
        }
        lost
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
