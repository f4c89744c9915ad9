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

mod driver_set;
mod groups;
mod ways;

use std::collections::BTreeMap;
use std::rc::Rc;

use self::driver_set::DriverSet;
use self::groups::Groups;
use self::ways::Input;
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
    /// All drivers that there may be, in their order.
    places: Vec<Driver>,
    /// For each operator, in plan order, the place of the driver that it is, or of the park on its first input.
    first_places: Vec<usize>,
    /// Merge and input, with what waits for what.
    parks: BTreeMap<Input, String>,
    /// For each operator, in plan order, what its rows are driven by.
    drivers: Vec<Rc<DriverSet>>,
    groups: Groups,
}

impl<'p> Schedule<'p> {
    /// Settles merge by merge, in plan order, which inputs are parked. What is further down only waits for what is
    /// above, so it makes no difference.
    pub fn of(plan: &'p PhysicalPlan) -> Self {
        let mut schedule = Self::without_drivers(plan);
        for (id, operator) in plan.operators() {
            let found = match &operator.kind {
                OperatorKind::Merge(_) if operator.interleaves() => schedule.take_turns(id),
                OperatorKind::Merge(_) => schedule.concatenate(id),
                _ if operator.is_driver() => schedule.drive(id),
                _ => schedule.producer_drivers((id, 0)),
            };
            schedule.drivers.push(found);
        }
        schedule
    }

    fn without_drivers(plan: &'p PhysicalPlan) -> Self {
        let producers = |id| plan.inputs(id).into_iter().map(|(producer, _)| producer).collect();
        let producers: Vec<Vec<OperatorId>> = plan.operators().map(|(id, _)| producers(id)).collect();
        let (mut places, mut first_places) = (Vec::new(), Vec::new());
        for (id, operator) in plan.operators() {
            first_places.push(places.len());
            if operator.is_driver() {
                places.push(Driver::Operator(id));
            } else if matches!(operator.kind, OperatorKind::Merge(_)) {
                places.extend((0..producers[id.0 as usize].len()).map(|input| Driver::Park(id, input)));
            }
        }
        let groups = Groups::new(places.len());
        Self { plan, producers, places, first_places, parks: BTreeMap::new(), drivers: Vec::new(), groups }
    }

    /// The parked inputs with the reasons, in plan order.
    pub fn parks(&self) -> &BTreeMap<Input, String> {
        &self.parks
    }

    /// The drivers in the order they run, those together that run together.
    pub fn order(&self) -> Vec<Vec<Driver>> {
        let mut drivers = DriverSet::default();
        for (place, driver) in self.places.iter().enumerate() {
            match driver {
                Driver::Park(merge, input) if !self.parks.contains_key(&(*merge, *input)) => {}
                _ => drivers.insert(place),
            }
        }
        let together = |group: &DriverSet| group.iter().map(|place| self.places[place]).collect();
        self.groups.in_order(&drivers).into_iter().map(together).collect()
    }

    /// A source, or a buffer, which waits for all that fill it.
    fn drive(&mut self, id: OperatorId) -> Rc<DriverSet> {
        let place = self.first_places[id.0 as usize];
        for input in self.inputs(id) {
            let filling = self.producer_drivers((id, input));
            self.groups.fill(place, &filling);
        }
        Rc::new(DriverSet::of(place))
    }

    /// Lets each input of a concatenating merge wait for those in front of it, and parks it if it can't.
    fn concatenate(&mut self, merge: OperatorId) -> Rc<DriverSet> {
        let mut settled: Vec<Rc<DriverSet>> = Vec::new();
        let mut all = DriverSet::default();
        for input in self.inputs(merge) {
            let drivers = self.producer_drivers((merge, input));
            let before = settled.last().cloned().unwrap_or_default();
            let together = drivers.first_common(&all);
            let above = self.spring((merge, input));
            let settled_as = if together.is_none() && self.groups.come_behind(&drivers, &before, (merge, input), above)
            {
                drivers
            } else {
                let reason = self.why_not_behind(&settled, &drivers);
                let place = self.park((merge, input), reason);
                self.groups.wait(place, &before);
                Rc::new(DriverSet::of(place))
            };
            all.extend(&settled_as);
            settled.push(settled_as);
        }
        Rc::new(all)
    }

    /// Lets each input of an interleaving merge take its turn, and parks it if it can't. Until it is settled how they
    /// can do without, all are parked.
    fn take_turns(&mut self, merge: OperatorId) -> Rc<DriverSet> {
        let later = self.later_drivers(merge);
        let (mut together, mut parks, mut filling) = (DriverSet::default(), DriverSet::default(), DriverSet::default());
        for (input, later) in self.inputs(merge).zip(&later) {
            let drivers = self.producer_drivers((merge, input));
            let mut all = together.clone();
            all.extend(&drivers);
            let mut awaited = filling.clone();
            awaited.extend(later);
            if self.groups.take_turns(&all, &awaited, (merge, input), self.spring((merge, input))) {
                together = all;
            } else {
                let reason = self.why_no_turn(merge, input);
                parks.insert(self.park((merge, input), reason));
                filling.extend(&drivers);
            }
        }
        together.extend(&parks);
        self.groups.tie(&together);
        Rc::new(together)
    }

    /// For each input of a merge, what drives the inputs behind it up to their parks.
    fn later_drivers(&self, merge: OperatorId) -> Vec<DriverSet> {
        let mut later = vec![DriverSet::default()];
        for input in self.inputs(merge).skip(1).rev() {
            let mut drivers = later[later.len() - 1].clone();
            drivers.extend(&self.producer_drivers((merge, input)));
            later.push(drivers);
        }
        later.reverse();
        later
    }

    /// Parks an input. Gives the place of the park.
    fn park(&mut self, (merge, input): Input, reason: String) -> usize {
        let place = self.first_places[merge.0 as usize] + input;
        self.groups.fill(place, &self.producer_drivers((merge, input)));
        self.parks.insert((merge, input), reason);
        place
    }

    /// Why an input can't come behind those in front of it, which are settled.
    fn why_not_behind(&self, settled: &[Rc<DriverSet>], drivers: &DriverSet) -> String {
        for (earlier, settled) in settled.iter().enumerate() {
            if let Some(both) = settled.first_common(drivers) {
                let (earlier, driver) = (earlier + 1, self.name(both));
                return format!("input {earlier} comes first, but {driver} brings both at the same time");
            }
        }
        let before = settled.last().map(|before| self.names(before)).unwrap_or_default();
        let (input, later) = (settled.len(), self.names(drivers));
        format!("input {input} comes first, but {before}, which brings it, waits for {later}")
    }

    /// Why an input can't take turns with the others.
    fn why_no_turn(&self, merge: OperatorId, input: usize) -> String {
        let own = self.producer_drivers((merge, input));
        let mut others = DriverSet::default();
        for other in self.inputs(merge).filter(|other| *other != input) {
            let drivers = self.producer_drivers((merge, other));
            if let Some(both) = drivers.first_common(&own) {
                let (other, driver) = (other + 1, self.name(both));
                return format!("it takes turns with input {other}, but {driver} brings both at the same time");
            }
            others.extend(&drivers);
        }
        let (own, others) = (self.names(&own), self.names(&others));
        format!("it takes turns with other inputs, but {own} can't run together with {others}, which brings them")
    }

    fn name(&self, place: usize) -> String {
        match self.places[place] {
            Driver::Operator(id) => self.plan.operator(id).label(),
            Driver::Park(merge, input) => format!("park.{}.{}", self.plan.operator(merge).name, input + 1),
        }
    }

    fn names(&self, drivers: &DriverSet) -> String {
        drivers.iter().map(|driver| self.name(driver)).collect::<Vec<_>>().join(", ")
    }

    fn inputs(&self, consumer: OperatorId) -> std::ops::Range<usize> {
        0..self.producers[consumer.0 as usize].len()
    }

    /// What drives the rows of an input up to its park.
    fn producer_drivers(&self, (consumer, input): Input) -> Rc<DriverSet> {
        let OperatorId(producer) = self.producers[consumer.0 as usize][input];
        self.drivers[producer as usize].clone()
    }

    /// The driver or merge that the rows of an input come from.
    fn spring(&self, (consumer, input): Input) -> OperatorId {
        let mut id = self.producers[consumer.0 as usize][input];
        loop {
            let operator = self.plan.operator(id);
            if operator.is_driver() || matches!(operator.kind, OperatorKind::Merge(_)) {
                return id;
            }
            id = self.producers[id.0 as usize][0];
        }
    }
}
