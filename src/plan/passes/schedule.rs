//! In which order drivers can run, and which edges have to be parked for it.
//!
//! A driver is a source, a buffer, or a park that is put in. A buffer waits for all that fill it; input by input, a
//! concatenating merge makes the drivers of one input wait for those of the input in front. Where that can't be, the
//! later input is parked: its rows then have a driver that waits for nothing but them and the inputs in front. Parking
//! every input of a merge but the first always helps, so there always is an order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::analysis::hir::MergeMode;
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
    /// The edges of merges whose order is settled: the later input waits for the earlier.
    settled: Vec<(OperatorId, usize)>,
}

impl<'p> Schedule<'p> {
    /// Settles merge by merge, in plan order, which inputs are parked.
    pub fn of(plan: &'p PhysicalPlan) -> Self {
        let producers = |id| plan.inputs(id).into_iter().map(|(producer, _)| producer).collect();
        let producers = plan.operators().map(|(id, _)| producers(id)).collect();
        let mut schedule = Self { plan, producers, parks: BTreeMap::new(), drivers: Vec::new(), settled: Vec::new() };
        schedule.find_drivers();
        for (id, operator) in plan.operators() {
            if let OperatorKind::Merge(merge) = &operator.kind
                && merge.merge.mode == MergeMode::Concat
            {
                (1..merge.inputs.len()).for_each(|input| schedule.settle(id, input));
            }
        }
        schedule
    }

    /// The parked inputs with the reasons, in plan order.
    pub fn parks(&self) -> &BTreeMap<(OperatorId, usize), String> {
        &self.parks
    }

    /// The drivers in the order they run, those together that run at the same time.
    pub fn order(&self) -> Vec<Vec<Driver>> {
        let order = self.try_order().expect("parking made an order possible");
        order.into_iter().map(|driver| vec![driver]).collect()
    }

    /// Lets an input of a merge wait for those in front of it, and parks it if it can't.
    fn settle(&mut self, merge: OperatorId, input: usize) {
        self.settled.push((merge, input));
        if let Some(reason) = self.why_not(merge, input) {
            self.parks.insert((merge, input), reason);
            self.find_drivers();
        }
    }

    /// Why an input can't come behind those in front of it.
    fn why_not(&self, merge: OperatorId, input: usize) -> Option<String> {
        let later = self.edge_drivers(merge, input);
        let name = |driver: &Driver| match driver {
            Driver::Operator(id) => self.plan.operator(*id).label(),
            Driver::Park(merge, input) => format!("park.{}.{}", self.plan.operator(*merge).name, input + 1),
        };
        for earlier in 0..input {
            let before = self.edge_drivers(merge, earlier);
            if let Some(both) = before.intersection(&later).next() {
                let driver = name(both);
                return Some(format!("input {} comes first, but {driver} brings both at the same time", earlier + 1));
            }
        }
        if self.try_order().is_some() {
            return None;
        }
        let names = |drivers: &BTreeSet<Driver>| drivers.iter().map(name).collect::<Vec<_>>().join(", ");
        let before = self.edge_drivers(merge, input - 1);
        Some(format!("input {input} comes first, but {}, which brings it, waits for {}", names(&before), names(&later)))
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
        (0..self.producers[consumer.0 as usize].len()).flat_map(|input| self.edge_drivers(consumer, input)).collect()
    }

    fn find_drivers(&mut self) {
        self.drivers.clear();
        for (id, operator) in self.plan.operators() {
            let found =
                if operator.is_driver() { BTreeSet::from([Driver::Operator(id)]) } else { self.input_drivers(id) };
            self.drivers.push(found);
        }
    }

    /// The drivers in an order in which each comes behind those that it waits for, and otherwise in plan order.
    fn try_order(&self) -> Option<Vec<Driver>> {
        let waits = self.waits();
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
        (order.len() == waits.len()).then_some(order)
    }

    /// For each driver, those that have to run before it.
    fn waits(&self) -> BTreeMap<Driver, BTreeSet<Driver>> {
        let mut waits: BTreeMap<Driver, BTreeSet<Driver>> = BTreeMap::new();
        for (id, operator) in self.plan.operators().filter(|(_, operator)| operator.is_driver()) {
            debug_assert!(operator.ports() > 0, "what drives a stage offers a port");
            waits.insert(Driver::Operator(id), self.input_drivers(id));
        }
        for &(merge, input) in self.parks.keys() {
            waits.insert(Driver::Park(merge, input), self.producer_drivers(merge, input));
        }
        for &(merge, input) in &self.settled {
            let before = self.edge_drivers(merge, input - 1);
            for later in self.edge_drivers(merge, input) {
                waits.entry(later).or_default().extend(&before);
            }
        }
        waits
    }
}
