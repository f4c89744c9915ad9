//! What memory consumers will hold, and what of it goes to disk under the limit.
//!
//! What a consumer holds follows from what reaches it (`footprint`). The stages are then gone through as a run does: a
//! buffer that is filled stays until the stage that it drives is over, and when more is held than the limit lets stand,
//! those that are cheapest to spill go to disk, each as a whole. That is done twice: for what is usual, and for the
//! most.

use std::collections::BTreeMap;

use super::estimate::Flows;
use super::footprint::{self, Footprint, Room};
use super::guess::Guess;
use crate::plan::physical::{MemoryConsumer, OperatorId, OperatorKind, PhysicalPlan, Stage};

/// What one memory consumer comes to; `None` where an input size is not known.
#[derive(Clone, Copy, Default, Debug)]
pub struct Predicted {
    /// Bytes that it holds in all, in memory or on disk.
    pub holds: Option<Guess>,
    /// Those that it has in memory at once, under the limit.
    pub peak: Option<Guess>,
    /// Those that go to disk, before they are compressed.
    pub spills: Option<Guess>,
    /// Whether it may be less: something above drops or groups rows. The most is what counts then.
    pub at_most: bool,
}

/// What each memory consumer of a plan comes to, in order.
pub fn predict(plan: &PhysicalPlan, flows: &Flows) -> Vec<Predicted> {
    let found: Vec<_> = plan.consumers.iter().enumerate().map(|one| footprint(plan, flows, one)).collect();
    let walk = |figure: fn(Guess) -> u64| {
        let own = |(footprint, _): &(Option<Footprint>, bool)| {
            let Footprint { holds, peak, spills } = footprint.unwrap_or_default();
            [figure(holds), figure(peak), figure(spills)]
        };
        Walk::new(plan, found.iter().map(own).collect()).run()
    };
    let (usual, most) = (walk(|guess| guess.usual), walk(|guess| guess.most));
    let limit = plan.settings.memory_limit;
    let predicted = |(position, (footprint, at_most)): (usize, &(Option<Footprint>, bool))| Predicted {
        holds: footprint.map(|footprint| footprint.holds),
        // No reservation passes the limit, but whoever asks may come close to it.
        peak: footprint.map(|footprint| Guess::new(usual.peaks[position], footprint.peak.most.min(limit))),
        spills: footprint.map(|_| Guess::new(usual.spilled[position], most.spilled[position])),
        at_most: *at_most,
    };
    found.iter().enumerate().map(predicted).collect()
}

/// What all consumers of an operator come to together.
pub fn of_operator(plan: &PhysicalPlan, predicted: &[Predicted], id: OperatorId) -> Predicted {
    let own = || plan.consumers.iter().zip(predicted).filter(|(consumer, _)| consumer.operator == Some(id));
    let sum = |figure: fn(&Predicted) -> Option<Guess>| own().map(|(_, predicted)| figure(predicted)).sum();
    let limit = plan.settings.memory_limit;
    let peak: Option<Guess> = sum(|predicted| predicted.peak);
    Predicted {
        holds: sum(|predicted| predicted.holds),
        peak: peak.map(|peak| peak.capped(limit)),
        spills: sum(|predicted| predicted.spills),
        at_most: own().any(|(_, predicted)| predicted.at_most),
    }
}

/// Whether what an operator puts on disk may be less than what is expected.
pub fn rows_at_most(plan: &PhysicalPlan, predicted: &[Predicted], id: OperatorId) -> bool {
    let mut own = plan.consumers.iter().zip(predicted).filter(|(consumer, _)| consumer.operator == Some(id));
    own.any(|(consumer, predicted)| consumer.spills && predicted.at_most)
}

/// Bytes above which a run is under pressure: four fifths of the limit.
pub fn soft_limit(limit: u64) -> u64 {
    limit / 5 * 4 + limit % 5 * 4 / 5
}

/// What a consumer takes, and whether it may be less.
fn footprint(
    plan: &PhysicalPlan,
    flows: &Flows,
    (position, consumer): (usize, &MemoryConsumer),
) -> (Option<Footprint>, bool) {
    // Nobody knows how many rows fail; as a rule few.
    let Some(id) = consumer.operator else { return (Some(Footprint::default()), false) };
    if plan.counted.get(&id) == Some(&position) {
        let (rows, at_most) = flows.given(plan, id);
        let bits = |rows: Guess| {
            let holds = rows.map(|rows| rows.div_ceil(8));
            let peak = Guess::new(holds.usual.saturating_mul(3) / 2, holds.most.saturating_mul(2).saturating_add(1024));
            Footprint { holds, peak, spills: Guess::default() }
        };
        return (rows.map(bits), at_most);
    }
    let (operator, read) = (plan.operator(id), flows.read(plan, id));
    let room = Room { limit: plan.settings.memory_limit, batch: plan.settings.batch_size as u64 };
    if operator.rest().is_some_and(|rest| rest.consumer == position) {
        let found = read.amount.map(|amount| footprint::of_buffer(plan, &operator.kind, &amount, room));
        return (found, read.at_most || depends_on_values(&operator.kind));
    }
    (read.amount.map(|amount| footprint::of_groups(&operator.kind, &amount, room)), true)
}

/// Whether what is held for rows depends on what they are: how many groups they form, or which rules they trigger.
fn depends_on_values(kind: &OperatorKind) -> bool {
    match kind {
        OperatorKind::Aggregate(_) | OperatorKind::Distinct(_) => true,
        OperatorKind::Reshape(spec) => spec.reshape.adds_rows() || spec.shows_groups,
        _ => false,
    }
}

/// Goes through the stages of a plan.
struct Walk<'p> {
    plan: &'p PhysicalPlan,
    /// For each consumer, what it holds in all, what it has in memory while it fills, and what it writes if it has to.
    figures: Vec<[u64; 3]>,
    /// What it has in memory now.
    resident: Vec<u64>,
    went: Went,
    /// For each buffer, the last stage that fills it.
    filled: BTreeMap<OperatorId, usize>,
}

/// How it went.
struct Went {
    /// For each consumer, the most that it had in memory.
    peaks: Vec<u64>,
    /// What it put on disk.
    spilled: Vec<u64>,
}

impl<'p> Walk<'p> {
    fn new(plan: &'p PhysicalPlan, figures: Vec<[u64; 3]>) -> Self {
        let mut filled = BTreeMap::new();
        for (position, stage) in plan.stages.iter().enumerate() {
            filled.extend(stage.operators().filter(|id| is_filled(plan, stage, *id)).map(|id| (id, position)));
        }
        let none = || vec![0; figures.len()];
        Self { plan, resident: none(), went: Went { peaks: none(), spilled: none() }, figures, filled }
    }

    fn run(mut self) -> Went {
        let soft = soft_limit(self.plan.settings.memory_limit);
        for (position, stage) in self.plan.stages.iter().enumerate() {
            let fills = |id: OperatorId| is_filled(self.plan, stage, id);
            // The buffers that are emptied, and those that are filled together, have equal shares of the memory.
            let emptied = stage.heads().filter(|head| self.plan.operator(*head).rest().is_some()).count();
            let is_filling = stage.operators().any(fills);
            let most = soft / (emptied + usize::from(is_filling)).max(1) as u64;
            let drivers = self.consumers(|id| stage.heads().any(|head| head == id));
            let full = self.consumers(|id| self.filled.get(&id) == Some(&position));
            let others =
                self.consumers(|id| stage.operators().any(|other| other == id) && !self.filled.contains_key(&id));
            for driver in &drivers {
                if self.resident[*driver] > most {
                    self.spill(*driver);
                }
            }
            full.iter().chain(&others).for_each(|consumer| self.resident[*consumer] = self.figures[*consumer][1]);
            self.make_room(soft, &drivers);
            self.note_peaks(full.iter().chain(&others));
            full.iter().for_each(|consumer| self.settle(*consumer));
            drivers.iter().for_each(|driver| self.resident[*driver] = 0);
        }
        self.went
    }

    /// Lets what is held, but not driven now, go to disk until the rest stays below `soft`, or nothing is left.
    fn make_room(&mut self, soft: u64, driven: &[usize]) {
        let mut order: Vec<usize> = (0..self.resident.len()).filter(|consumer| !driven.contains(consumer)).collect();
        order.sort_by_key(|consumer| self.plan.consumers[*consumer].priority);
        for consumer in order {
            if self.resident.iter().fold(0_u64, |all, own| all.saturating_add(*own)) <= soft {
                return;
            }
            self.spill(consumer);
        }
    }

    /// Of what has just been filled: what had to go took what memory there was before that. Whoever asks for a large
    /// piece passes four fifths of the limit, and comes close to all of it.
    fn note_peaks<'c>(&mut self, filled: impl Iterator<Item = &'c usize>) {
        let limit = self.plan.settings.memory_limit;
        let left = self.resident.iter().fold(limit, |left, own| left.saturating_sub(*own)).max(limit / 5);
        for consumer in filled {
            let peak = self.figures[*consumer][1];
            let is_gone = self.resident[*consumer] == 0;
            self.went.peaks[*consumer] = if is_gone { peak.min(left) } else { peak.min(limit) };
        }
    }

    /// What was taken while a buffer was filled is given back.
    fn settle(&mut self, consumer: usize) {
        self.resident[consumer] = self.resident[consumer].min(self.figures[consumer][0]);
    }

    fn spill(&mut self, consumer: usize) {
        if self.plan.consumers[consumer].spills && self.resident[consumer] > 0 {
            self.resident[consumer] = 0;
            self.went.spilled[consumer] = self.figures[consumer][2];
        }
    }

    /// The consumers of some operators.
    fn consumers(&self, of: impl Fn(OperatorId) -> bool) -> Vec<usize> {
        let consumers = self.plan.consumers.iter().enumerate();
        consumers.filter(|(_, consumer)| consumer.operator.is_some_and(&of)).map(|(position, _)| position).collect()
    }
}

/// Whether a stage fills a buffer.
fn is_filled(plan: &PhysicalPlan, stage: &Stage, id: OperatorId) -> bool {
    plan.operator(id).is_driver() && !stage.heads().any(|head| head == id)
}
