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
    /// The failed groups, and where the rows of each end in the last port.
    failed: Vec<(u32, u64)>,
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
        let ports = if has_keys(&held) { by_order(&rows, &held, &outcome) } else { by_arrival(&rows, &held, &outcome) };
        charge.give_back(before.saturating_sub(rows.bytes() + chunks(&held) + ports.cost()));
        Self { rows, ports, outcome, _charge: charge }
    }
}

impl Ports {
    fn cost(&self) -> u64 {
        let places: usize = self.rows.iter().map(Vec::capacity).sum();
        (places * size_of::<Place>() + self.failed.len() * size_of::<(u32, u64)>()) as u64
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
    let failed = outcome.failed.groups().map(|group| (group, cursors[group as usize] as u64)).collect();
    Ports { rows: ports, failed }
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
            ports.failed.push((group, ports.rows[outcome.plan_ports].len() as u64));
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
        let (places, ends) = (&self.ports.rows[self.outcome.plan_ports], &self.ports.failed);
        let row = |position: u64| self.rows.row(places[position as usize]);
        let mut lost = Vec::with_capacity((range.end - range.start) as usize);
        let first = ends.partition_point(|(_, end)| *end <= range.start);
        let mut start = if first == 0 { 0 } else { ends[first - 1].1 };
        for (group, end) in &ends[first..] {
            if start >= range.end {
                break;
            }
            let cause = self.outcome.failed.cause(*group, row(start));
            let own = range.start.max(start)..range.end.min(*end);
            lost.extend(own.map(|at| self.outcome.failed.lost(*group, row(at), at == start, &cause)));
            start = *end;
        }
        lost
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }
}
