//! The ways on which the rows of a group of drivers reach merges.

use std::collections::BTreeMap;

use crate::plan::physical::OperatorId;

/// An input of a merge.
pub type Input = (OperatorId, usize);

/// The inputs of merges that the rows of a group come by, each with the driver or merge above it. They make no ring:
/// there is one way at most from one operator to another.
#[derive(Default, Debug)]
pub struct Ways {
    inputs: BTreeMap<Input, OperatorId>,
    tied: Ties,
}

impl Ways {
    /// Whether the ways of several groups with an input more, `above` which an operator stands, make no ring.
    pub fn fit(all: &[&Self], input: Input, above: OperatorId) -> bool {
        let Some(largest) = all.iter().max_by_key(|ways| ways.inputs.len()) else { return true };
        let others = all.iter().filter(|ways| !std::ptr::eq(**ways, *largest)).flat_map(|ways| &ways.inputs);
        // One input may be in several groups.
        let mut more: BTreeMap<Input, OperatorId> = others.map(|(input, above)| (*input, *above)).collect();
        more.insert(input, above);
        more.retain(|input, _| !largest.inputs.contains_key(input));
        let mut tied = Ties::default();
        more.iter().all(|((merge, _), above)| tied.tie(largest.tied.root(*above), largest.tied.root(*merge)))
    }

    /// Adds an input.
    pub fn add(&mut self, input: Input, above: OperatorId) {
        if self.inputs.insert(input, above).is_none() {
            self.tied.tie(above, input.0);
        }
    }

    /// Adds all inputs of another group.
    pub fn extend(&mut self, mut other: Self) {
        if self.inputs.len() < other.inputs.len() {
            std::mem::swap(self, &mut other);
        }
        other.inputs.into_iter().for_each(|(input, above)| self.add(input, above));
    }
}

/// Operators that are tied together, directly or by way of others. What was never tied stands alone.
#[derive(Default, Debug)]
struct Ties {
    above: BTreeMap<OperatorId, OperatorId>,
    /// How many are below those that have some below them.
    below: BTreeMap<OperatorId, usize>,
}

impl Ties {
    /// The one that stands for all that are tied together.
    fn root(&self, mut of: OperatorId) -> OperatorId {
        while let Some(above) = self.above.get(&of) {
            of = *above;
        }
        of
    }

    /// Ties two together. False if they were already.
    fn tie(&mut self, one: OperatorId, other: OperatorId) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return false;
        }
        let below = |root: &OperatorId| self.below.get(root).copied().unwrap_or_default();
        let (upper, lower) = if below(&one) < below(&other) { (other, one) } else { (one, other) };
        let count = below(&upper) + below(&lower) + 1;
        self.above.insert(lower, upper);
        self.below.insert(upper, count);
        true
    }
}
