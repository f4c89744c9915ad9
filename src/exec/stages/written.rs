//! Which rows reached a sink, where that can't be told segment by segment.

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, Charge, Exceeded, Segments};
use crate::plan::physical::PhysicalPlan;

/// The rows of [counted](PhysicalPlan::counted) makers that a sink got: one bit a row.
pub(crate) struct WrittenRows<'p> {
    /// For each maker of rows, if it is counted.
    makers: Vec<Option<Bits<'p>>>,
}

struct Bits<'p> {
    words: Segments<u64>,
    charge: Charge<'p>,
}

impl<'p> WrittenRows<'p> {
    /// What one row more can take, in bytes, but for jumps over many rows.
    pub const MOST_GROWTH: u64 = 1 << 18;

    /// None yet.
    pub fn new(plan: &PhysicalPlan, arbitrator: &'p Arbitrator) -> Self {
        let bits = |consumer: &usize| Bits { words: Segments::default(), charge: Charge::new(arbitrator, *consumer) };
        Self { makers: plan.makers().iter().map(|maker| plan.counted.get(maker).map(bits)).collect() }
    }

    /// Notes rows, each by its maker and its number, and gives how many are not noted: nothing else writes those, or
    /// they have no number. Fails if there is no room within the memory limit; the same rows can be added again then.
    pub fn add(&mut self, rows: impl Iterator<Item = Option<(u32, u64)>>) -> Result<u64, Exceeded> {
        let mut alone = 0;
        for row in rows {
            match row.and_then(|(maker, number)| Some((self.makers[maker as usize].as_mut()?, number))) {
                Some((bits, number)) => bits.add(number)?,
                None => alone += 1,
            }
        }
        Ok(alone)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.makers.iter().flatten().map(Bits::count).sum()
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
