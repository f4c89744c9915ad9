//! Which rows reached a sink, where that can't be told segment by segment.

use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, Charge, Exceeded};
use crate::exec::operators::Reached;
use crate::plan::physical::PhysicalPlan;

/// The rows of [counted](PhysicalPlan::counted) makers that a sink got: one bit a row.
pub(crate) struct WrittenRows<'p> {
    /// For each maker of rows, if it is counted.
    makers: Vec<Option<Bits<'p>>>,
    /// How many of them are sources: they are the first ones.
    sources: usize,
}

/// The rows of a maker by their numbers.
struct Bits<'p> {
    pages: Vec<Page>,
    charge: Charge<'p>,
}

/// What is known of [`ROWS`] rows in a row.
#[derive(Default)]
enum Page {
    #[default]
    None,
    Some(Box<[u64; WORDS]>),
    /// As a rule every row is written in the end.
    All,
}

const WORDS: usize = 64;
const ROWS: u64 = 64 * WORDS as u64;
/// Fewest pages that there is room for.
const FEWEST: usize = 4;

impl<'p> WrittenRows<'p> {
    /// None yet.
    pub fn new(plan: &PhysicalPlan, arbitrator: &'p Arbitrator) -> Self {
        let bits = |consumer: &usize| Bits { pages: Vec::new(), charge: Charge::new(arbitrator, *consumer) };
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
        let page = (number / ROWS) as usize;
        self.reach(page + 1)?;
        if let Page::None = self.pages[page] {
            self.charge.take(size_of::<[u64; WORDS]>() as u64)?;
            self.pages[page] = Page::Some(Box::new([0; WORDS]));
        }
        let Page::Some(words) = &mut self.pages[page] else { return Ok(()) };
        let word = &mut words[(number % ROWS / 64) as usize];
        *word |= 1 << (number % 64);
        if *word == u64::MAX && words.iter().all(|word| *word == u64::MAX) {
            self.pages[page] = Page::All;
            self.charge.give_back(size_of::<[u64; WORDS]>() as u64);
        }
        Ok(())
    }

    /// Sees to it that there are so many pages.
    fn reach(&mut self, count: usize) -> Result<(), Exceeded> {
        let before = self.pages.capacity();
        if count > before {
            let wanted = count.max(2 * before).max(FEWEST);
            let bytes = |pages: usize| (pages * size_of::<Page>()) as u64;
            self.charge.take(bytes(wanted))?;
            self.pages.reserve_exact(wanted - self.pages.len());
            self.charge.give_back(bytes(before));
        }
        if count > self.pages.len() {
            self.pages.resize_with(count, Page::default);
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        let of_page = |page: &Page| match page {
            Page::None => 0,
            Page::Some(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
            Page::All => ROWS,
        };
        self.pages.iter().map(of_page).sum()
    }
}

/// E310 for bits that don't fit, even where all that can go to disk did.
pub(super) fn does_not_fit(plan: &PhysicalPlan, exceeded: &Exceeded) -> Failure {
    let diagnostic = exceeded.diagnostic("written_rows", "arena", "one bit for each row that is written");
    let diagnostic = exceeded.noted(diagnostic, "the bits");
    let makers = plan.counted.keys().map(|maker| plan.operator(*maker).span);
    let diagnostic = makers.fold(diagnostic, |diagnostic, span| {
        diagnostic.label(span, "its rows reach outputs by several ways; each counts once in the summary")
    });
    Failure::new(diagnostic.help("raise `memory.limit` (or run with `--memory-limit`)"), 1)
}
