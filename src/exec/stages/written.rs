//! Which rows reached a sink, where that can't be told segment by segment.

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, Charge, Exceeded, Segments};
use crate::exec::operators::Reached;
use crate::plan::physical::PhysicalPlan;

/// The rows of [counted](PhysicalPlan::counted) makers that a sink got: one bit a row.
pub(crate) struct WrittenRows<'p> {
    /// For each maker of rows, if it is counted.
    makers: Vec<Option<Bits<'p>>>,
    /// How many of them are sources: they are the first ones.
    sources: usize,
}

struct Bits<'p> {
    words: Segments<u64>,
    charge: Charge<'p>,
}

impl<'p> WrittenRows<'p> {
    /// None yet.
    pub fn new(plan: &PhysicalPlan, arbitrator: &'p Arbitrator) -> Self {
        let bits = |consumer: &usize| Bits { words: Segments::default(), charge: Charge::new(arbitrator, *consumer) };
        let makers = plan.makers();
        let sources = makers.iter().filter(|maker| !plan.operator(**maker).is_aggregate()).count();
        Self { makers: makers.iter().map(|maker| plan.counted.get(maker).map(bits)).collect(), sources }
    }

    /// Notes some rows of counted makers, each given by its maker and its number. Fails if there is no room within the
    /// memory limit; the same rows can be added again then.
    pub fn add(&mut self, mut rows: impl Iterator<Item = (u32, u64)>) -> Result<(), Exceeded> {
        rows.try_for_each(|(maker, number)| {
            self.makers[maker as usize].as_mut().expect("only rows of counted makers are noted").add(number)
        })
    }

    /// How many were noted.
    pub fn count(&self) -> Reached {
        let mut reached = Reached::default();
        for (position, bits) in
            self.makers.iter().enumerate().filter_map(|(position, bits)| Some((position, bits.as_ref()?)))
        {
            reached.add(bits.count(), position >= self.sources);
        }
        reached
    }
}

impl Bits<'_> {
    fn add(&mut self, number: u64) -> Result<(), Exceeded> {
        let word = (number / 64) as usize;
        if self.words.len() <= word {
            self.grow(word + 1)?;
        }
        *self.words.get_mut(word as u32) |= 1 << (number % 64);
        Ok(())
    }

    fn grow(&mut self, count: usize) -> Result<(), Exceeded> {
        let bound = self.words.bound(count);
        self.charge.take(bound - self.charge.held())?;
        self.words.grow(count);
        self.charge.give_back(bound - self.words.bytes());
        Ok(())
    }

    fn count(&self) -> u64 {
        self.words.range(0..self.words.len() as u32).map(|word| u64::from(word.count_ones())).sum()
    }
}

/// E310 for bits that don't fit, even where all that can go to disk did.
pub(super) fn does_not_fit(exceeded: &Exceeded) -> Failure {
    let Exceeded { used, limit, .. } = exceeded;
    let message =
        format!("written_rows: arena exceeded budget ({used}/{limit}) [one bit for each row that is written]");
    let diagnostic = exceeded.facts("the bits").fold(Diagnostic::error(Code::E310, message), Diagnostic::note);
    Failure::new(diagnostic.help("raise `memory.limit` (or run with `--memory-limit`)"), 1)
}
