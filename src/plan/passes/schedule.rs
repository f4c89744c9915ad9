//! In which order drivers can run, which of them run together, and which edges have to be parked for it.
//!
//! A driver is a source, a buffer, or a park that is put in. A buffer waits for all that fill it; input by input, a
//! concatenating merge makes the drivers of one input wait for those of the input in front. An interleaving merge takes
//! a row of each input in turn, so the drivers of its inputs run together, a few blocks at a time.
//!
//! Where that can't be, an input is parked: its rows then have a driver that waits for nothing but them (and, of a
//! concatenating merge, the inputs in front). Parking every input of a concatenating merge but the first always helps,
//! as does parking every input of an interleaving one; so there always is an order.
//!
//! Drivers that run together must not be tied in two ways. Two merges that both take turns between the same two sources
//! would each hold up the rows that the other one waits for. Tied in one way only, somebody can always go on: who waits
//! for rows leads to who brings them, who is held up leads to the merge that has too many of his rows, and such a path
//! has an end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan};

/// What drives a stage. They order as their operators will in the plan: a park stands in front of its merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driver {
    /// A source or a buffer.
    Operator(OperatorId),
    /// The park on an input of a merge.
    Park(OperatorId, usize),
}

impl Driver {
    fn place(self) -> (OperatorId, usize) {
        match self {
            Driver::Operator(id) => (id, usize::MAX),
            Driver::Park(merge, input) => (merge, input),
        }
    }
}

impl Ord for Driver {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Driver {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Which edges are parked, and what follows for the order of drivers.
pub struct Schedule<'p> {
    plan: &'p PhysicalPlan,
    /// For each operator, in plan order, what it reads, by input.
    producers: Vec<Vec<OperatorId>>,
    /// Merge and input, with what waits for what.
    parks: BTreeMap<(OperatorId, usize), String>,
    /// For each operator, what its rows are driven by.
    drivers: Vec<BTreeSet<Driver>>,
    /// The inputs of merges that are settled: parked, or to come in their turn.
    settled: Vec<(OperatorId, usize)>,
}

impl<'p> Schedule<'p> {
    /// Settles merge by merge, in plan order, which inputs are parked.
    pub fn of(plan: &'p PhysicalPlan) -> Self {
        let producers = |id| plan.inputs(id).into_iter().map(|(producer, _)| producer).collect();
        let producers = plan.operators().map(|(id, _)| producers(id)).collect();
        let mut schedule = Self { plan, producers, parks: BTreeMap::new(), drivers: Vec::new(), settled: Vec::new() };
        for (id, _) in plan.operators().filter(|(_, operator)| operator.interleaves()) {
            // Until it is settled how they can do without.
            schedule.parks.extend(schedule.inputs(id).map(|input| ((id, input), String::new())));
        }
        schedule.find_drivers();
        for (id, operator) in plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Merge(_))) {
            for input in schedule.inputs(id) {
                match operator.interleaves() {
                    true => schedule.settle_turn(id, input),
                    false => schedule.settle(id, input),
                }
            }
        }
        schedule
    }

    /// The parked inputs with the reasons, in plan order.
    pub fn parks(&self) -> &BTreeMap<(OperatorId, usize), String> {
        &self.parks
    }

    /// The drivers in the order they run, those together that run together.
    pub fn order(&self) -> Vec<Vec<Driver>> {
        self.try_order().expect("parking made an order possible")
    }

    /// Lets an input of a concatenating merge wait for those in front of it, and parks it if it can't.
    fn settle(&mut self, merge: OperatorId, input: usize) {
        self.settled.push((merge, input));
        if let Some(reason) = self.why_not_behind(merge, input) {
            self.parks.insert((merge, input), reason);
            self.find_drivers();
        }
    }

    /// Lets an input of an interleaving merge take its turn, and parks it if it can't.
    fn settle_turn(&mut self, merge: OperatorId, input: usize) {
        self.settled.push((merge, input));
        self.parks.remove(&(merge, input));
        self.find_drivers();
        if self.try_order().is_none() {
            self.parks.insert((merge, input), self.why_no_turn(merge, input));
            self.find_drivers();
        }
    }

    /// Why an input can't come behind those in front of it.
    fn why_not_behind(&self, merge: OperatorId, input: usize) -> Option<String> {
        let later = self.edge_drivers(merge, input);
        for earlier in 0..input {
            if let Some(both) = self.edge_drivers(merge, earlier).intersection(&later).next() {
                let (earlier, driver) = (earlier + 1, self.name(both));
                return Some(format!("input {earlier} comes first, but {driver} brings both at the same time"));
            }
        }
        if self.try_order().is_some() {
            return None;
        }
        let before = self.edge_drivers(merge, input - 1);
        let (before, later) = (self.names(&before), self.names(&later));
        Some(format!("input {input} comes first, but {before}, which brings it, waits for {later}"))
    }

    /// Why an input, which has no park, can't take turns with the others.
    fn why_no_turn(&self, merge: OperatorId, input: usize) -> String {
        let own = self.producer_drivers(merge, input);
        let mut others = BTreeSet::new();
        for other in self.inputs(merge).filter(|other| *other != input) {
            let drivers = self.producer_drivers(merge, other);
            if let Some(both) = drivers.intersection(&own).next() {
                let (other, driver) = (other + 1, self.name(both));
                return format!("it takes turns with input {other}, but {driver} brings both at the same time");
            }
            others.extend(drivers);
        }
        let (own, others) = (self.names(&own), self.names(&others));
        format!("it takes turns with other inputs, but {own} can't run together with {others}, which brings them")
    }

    fn name(&self, driver: &Driver) -> String {
        match driver {
            Driver::Operator(id) => self.plan.operator(*id).label(),
            Driver::Park(merge, input) => format!("park.{}.{}", self.plan.operator(*merge).name, input + 1),
        }
    }

    fn names(&self, drivers: &BTreeSet<Driver>) -> String {
        drivers.iter().map(|driver| self.name(driver)).collect::<Vec<_>>().join(", ")
    }

    fn inputs(&self, consumer: OperatorId) -> std::ops::Range<usize> {
        0..self.producers[consumer.0 as usize].len()
    }

    /// What drives the rows of an input.
    fn edge_drivers(&self, consumer: OperatorId, input: usize) -> BTreeSet<Driver> {
        if self.parks.contains_key(&(consumer, input)) {
            return BTreeSet::from([Driver::Park(consumer, input)]);
        }
        self.producer_drivers(consumer, input)
    }

    /// What drives the rows of an input up to its park.
    fn producer_drivers(&self, consumer: OperatorId, input: usize) -> BTreeSet<Driver> {
        let OperatorId(producer) = self.producers[consumer.0 as usize][input];
        self.drivers[producer as usize].clone()
    }

    /// What drives the rows of all inputs.
    fn input_drivers(&self, consumer: OperatorId) -> BTreeSet<Driver> {
        self.inputs(consumer).flat_map(|input| self.edge_drivers(consumer, input)).collect()
    }

    fn find_drivers(&mut self) {
        self.drivers.clear();
        for (id, operator) in self.plan.operators() {
            let found =
                if operator.is_driver() { BTreeSet::from([Driver::Operator(id)]) } else { self.input_drivers(id) };
            self.drivers.push(found);
        }
    }

    /// The drivers in an order in which each comes behind those that it waits for, and otherwise in plan order. `None`
    /// if there is no such order, or if some that run together are tied in two ways.
    fn try_order(&self) -> Option<Vec<Vec<Driver>>> {
        let ties = self.ties();
        if !self.are_tied_once(&ties) {
            return None;
        }
        let waits = self.waits(&ties)?;
        let mut left: BTreeMap<Driver, usize> =
            waits.iter().map(|(driver, awaited)| (*driver, awaited.len())).collect();
        let mut behind: BTreeMap<Driver, Vec<Driver>> = BTreeMap::new();
        for (waiting, awaited) in &waits {
            awaited.iter().for_each(|driver| behind.entry(*driver).or_default().push(*waiting));
        }
        let mut ready: BinaryHeap<_> =
            waits.iter().filter(|(_, awaited)| awaited.is_empty()).map(|(driver, _)| Reverse(*driver)).collect();
        let mut order = Vec::new();
        while let Some(Reverse(driver)) = ready.pop() {
            order.push(driver);
            for waiting in behind.get(&driver).into_iter().flatten() {
                let left = left.get_mut(waiting).expect("every driver is counted");
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse(*waiting));
                }
            }
        }
        let groups = ties.groups(self.all_drivers());
        (order.len() == waits.len()).then(|| order.iter().map(|first| groups[first].clone()).collect())
    }

    /// All drivers.
    fn all_drivers(&self) -> impl Iterator<Item = Driver> + '_ {
        let operators = self.plan.operators().filter(|(_, operator)| operator.is_driver());
        let parks = self.parks.keys().map(|(merge, input)| Driver::Park(*merge, *input));
        operators.map(|(id, _)| Driver::Operator(id)).chain(parks)
    }

    /// Which drivers run together.
    fn ties(&self) -> Ties<Driver> {
        let mut ties = Ties::default();
        for (id, _) in self.plan.operators().filter(|(_, operator)| operator.interleaves()) {
            let together = self.input_drivers(id);
            let first = together.first().expect("a merge reads a port");
            for driver in &together {
                ties.tie(*first, *driver);
            }
        }
        ties
    }

    /// Whether among the drivers that run together there is no more than one way from one to another, over the merges
    /// that are settled.
    fn are_tied_once(&self, ties: &Ties<Driver>) -> bool {
        let mut ways = Ties::default();
        self.settled.iter().all(|&(merge, input)| {
            let above = match self.parks.contains_key(&(merge, input)) {
                true => Driver::Park(merge, input),
                false => self.spring(self.producers[merge.0 as usize][input]),
            };
            let together: BTreeSet<Driver> =
                self.edge_drivers(merge, input).into_iter().map(|driver| ties.root(driver)).collect();
            together.into_iter().all(|group| ways.tie((group, above), (group, Driver::Operator(merge))))
        })
    }

    /// The driver or merge that an operator's rows come from.
    fn spring(&self, mut id: OperatorId) -> Driver {
        loop {
            let operator = self.plan.operator(id);
            if operator.is_driver() || matches!(operator.kind, OperatorKind::Merge(_)) {
                return Driver::Operator(id);
            }
            id = self.producers[id.0 as usize][0];
        }
    }

    /// For each group of drivers that run together, named by its first, those that have to run before it. `None` if one
    /// waits for itself.
    fn waits(&self, ties: &Ties<Driver>) -> Option<BTreeMap<Driver, BTreeSet<Driver>>> {
        let roots = |drivers: BTreeSet<Driver>| drivers.into_iter().map(|d| ties.root(d)).collect::<BTreeSet<_>>();
        let mut waits: BTreeMap<Driver, BTreeSet<Driver>> =
            self.all_drivers().map(|driver| (ties.root(driver), BTreeSet::new())).collect();
        for driver in self.all_drivers() {
            let filling = roots(match driver {
                Driver::Operator(id) => self.input_drivers(id),
                Driver::Park(merge, input) => self.producer_drivers(merge, input),
            });
            let group = ties.root(driver);
            if filling.contains(&group) {
                return None;
            }
            waits.entry(group).or_default().extend(filling);
        }
        for &(merge, input) in self.settled.iter().filter(|(merge, input)| *input > 0 && self.concatenates(*merge)) {
            let before = roots(self.edge_drivers(merge, input - 1));
            for later in roots(self.edge_drivers(merge, input)) {
                // Within a group the segments of one input begin when those of the other are over.
                let others = before.iter().copied().filter(|driver| *driver != later);
                waits.entry(later).or_default().extend(others);
            }
        }
        Some(waits)
    }

    fn concatenates(&self, merge: OperatorId) -> bool {
        !self.plan.operator(merge).interleaves()
    }
}

/// What is tied together, directly or by way of others. What was never tied stands alone.
struct Ties<T>(BTreeMap<T, T>);

impl<T> Default for Ties<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Copy + Ord> Ties<T> {
    /// The first of those that something is tied to.
    fn root(&self, mut of: T) -> T {
        while let Some(above) = self.0.get(&of) {
            of = *above;
        }
        of
    }

    /// Ties two together. False if they were already.
    fn tie(&mut self, one: T, other: T) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return false;
        }
        self.0.insert(one.max(other), one.min(other));
        true
    }

    /// Those of `all` that are tied together, by the first of them.
    fn groups(&self, all: impl Iterator<Item = T>) -> BTreeMap<T, Vec<T>> {
        let mut groups: BTreeMap<T, Vec<T>> = BTreeMap::new();
        all.for_each(|one| groups.entry(self.root(one)).or_default().push(one));
        groups
    }
}
