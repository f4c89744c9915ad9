//! Which drivers run together, and which groups of them wait for others.
//!
//! Drivers, inputs and what they wait for are added as the plan is walked, from sources to sinks. What would let a
//! group wait for itself, or tie it in two ways, is refused.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::driver_set::DriverSet;
use super::ways::{Input, Ways};
use crate::plan::physical::OperatorId;

/// The groups. A driver that is tied to no other is a group, too.
#[derive(Debug)]
pub struct Groups {
    /// For each driver, by its place, the group that it is in.
    group_of: Vec<usize>,
    /// Those that went into others are empty.
    groups: Vec<Group>,
    /// All that something waits for.
    awaited: DriverSet,
}

/// Drivers that run together.
#[derive(Default, Debug)]
struct Group {
    members: DriverSet,
    /// What fills the members: all of it has run before.
    awaited: DriverSet,
    /// What comes before some of the members at concatenating merges. Within the group the segments of one input begin
    /// when those of the other are over.
    before: DriverSet,
    ways: Ways,
}

impl Groups {
    /// Each of `count` drivers alone.
    pub fn new(count: usize) -> Self {
        let alone = |place| Group { members: DriverSet::of(place), ..Group::default() };
        Self { group_of: (0..count).collect(), groups: (0..count).map(alone).collect(), awaited: DriverSet::default() }
    }

    /// Lets a driver wait for those that fill it. Nothing may wait for it yet.
    pub fn fill(&mut self, driver: usize, filling: &DriverSet) {
        self.groups[self.group_of[driver]].awaited.extend(filling);
        self.awaited.extend(filling);
    }

    /// Lets a driver wait for those of an input that comes before. Nothing may wait for it yet.
    pub fn wait(&mut self, driver: usize, before: &DriverSet) {
        self.groups[self.group_of[driver]].before.extend(before);
        self.awaited.extend(before);
    }

    /// Lets drivers wait, at an input of a concatenating merge, for those of the input before. False, and nothing is
    /// changed, if that can't be.
    pub fn come_behind(&mut self, drivers: &DriverSet, before: &DriverSet, input: Input, above: OperatorId) -> bool {
        let (later, first) = (self.groups_of(drivers), self.groups_of(before));
        let mut awaited = DriverSet::default();
        for group in &first {
            awaited.extend(&self.awaited(*group, &self.groups[*group].members));
        }
        // Two groups that each bring rows of both inputs would wait for each other.
        if later.intersection(&first).count() > 1
            || self.reaches(&awaited, &self.members(&later))
            || !later.iter().all(|group| Ways::fit(&[&self.groups[*group].ways], input, above))
        {
            return false;
        }
        self.awaited.extend(before);
        for group in later {
            self.groups[group].before.extend(before);
            self.groups[group].ways.add(input, above);
        }
        true
    }

    /// Lets all run together, with some that wait for `filling`, because of an input of an interleaving merge. False,
    /// and nothing is changed, if that can't be.
    pub fn take_turns(&mut self, all: &DriverSet, filling: &DriverSet, input: Input, above: OperatorId) -> bool {
        let together = self.groups_of(all);
        let members = self.members(&together);
        let mut awaited = filling.clone();
        for group in &together {
            awaited.extend(&self.awaited(*group, &members));
        }
        let ways: Vec<&Ways> = together.iter().map(|group| &self.groups[*group].ways).collect();
        if self.reaches(&awaited, &members) || !Ways::fit(&ways, input, above) {
            return false;
        }
        let group = self.tie(all);
        self.groups[group].ways.add(input, above);
        true
    }

    /// Makes one group of all of these. Gives it.
    pub fn tie(&mut self, all: &DriverSet) -> usize {
        let mut groups = self.groups_of(all).into_iter();
        let group = groups.next().expect("a merge reads a port");
        for other in groups {
            let Group { members, awaited, before, ways } = std::mem::take(&mut self.groups[other]);
            members.iter().for_each(|driver| self.group_of[driver] = group);
            let joined = &mut self.groups[group];
            joined.members.extend(&members);
            joined.awaited.extend(&awaited);
            joined.before.extend(&before);
            joined.ways.extend(ways);
        }
        group
    }

    /// The groups of some drivers in an order in which each comes behind those that it waits for, and otherwise in the
    /// order of their first drivers.
    pub fn in_order(&self, drivers: &DriverSet) -> Vec<&DriverSet> {
        let groups = self.groups_of(drivers);
        let mut left = vec![0; self.groups.len()];
        let mut waiting = vec![Vec::new(); self.groups.len()];
        for group in &groups {
            for awaited in self.groups_of(&self.awaited(*group, &self.groups[*group].members)) {
                left[*group] += 1;
                waiting[awaited].push(*group);
            }
        }
        let place = |group: usize| Reverse((self.groups[group].members.first(), group));
        let mut ready: BinaryHeap<_> = groups.iter().copied().filter(|group| left[*group] == 0).map(place).collect();
        let mut order = Vec::with_capacity(groups.len());
        while let Some(Reverse((_, group))) = ready.pop() {
            order.push(&self.groups[group].members);
            for waiting in &waiting[group] {
                left[*waiting] -= 1;
                if left[*waiting] == 0 {
                    ready.push(place(*waiting));
                }
            }
        }
        assert_eq!(order.len(), groups.len(), "no group waits for itself");
        order
    }

    fn groups_of(&self, drivers: &DriverSet) -> BTreeSet<usize> {
        drivers.iter().map(|driver| self.group_of[driver]).collect()
    }

    fn members(&self, groups: &BTreeSet<usize>) -> DriverSet {
        let mut members = DriverSet::default();
        groups.iter().for_each(|group| members.extend(&self.groups[*group].members));
        members
    }

    /// What a group waits for; at concatenating merges, but for those that run together with it.
    fn awaited(&self, group: usize, together: &DriverSet) -> DriverSet {
        let Group { awaited, before, .. } = &self.groups[group];
        let mut all = before.without(together);
        all.extend(awaited);
        all
    }

    /// Whether some drivers, or what they wait for, are among others, which are whole groups.
    fn reaches(&self, from: &DriverSet, others: &DriverSet) -> bool {
        if !from.is_apart_from(others) {
            return true;
        }
        if others.is_apart_from(&self.awaited) {
            return false;
        }
        let (mut seen, mut unseen) = (DriverSet::default(), from.clone());
        while let Some(driver) = unseen.first() {
            let Group { members, awaited, before, .. } = &self.groups[self.group_of[driver]];
            seen.extend(members);
            unseen.extend(awaited);
            unseen.extend(before);
            unseen = unseen.without(&seen);
            if !unseen.is_apart_from(others) {
                return true;
            }
        }
        false
    }
}
