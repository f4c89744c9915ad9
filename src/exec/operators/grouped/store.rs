//! Rows by group while they come in: in memory, or in runs on disk.

use std::cmp::Reverse;
use std::ops::Range;

use super::choice::Choice;
use super::held::{self, Held, HeldRow, ROW};
use super::names::GroupNames;
use crate::diagnostics::Span;
use crate::exec::Failure;
use crate::exec::keys::{GroupTable, Keys, OrderKeys};
use crate::exec::memory::{Advance, Arbitrator, Charge, Exceeded, Segments};
use crate::exec::operators::buffer::Others;
use crate::exec::rest::HEAD;
use crate::exec::spill::{Disk, Spilled};

/// Rows by group.
///
/// Within a group rows come by their key, then as they were added. What goes to disk goes in runs of records whose key
/// is the group and then the row's own key. The rows of a group go oldest first, so what is on disk of a group came
/// before what is in memory.
pub(in crate::exec::operators) struct Store<'p> {
    /// The groups, numbered as they were first seen.
    pub table: GroupTable<'p>,
    pub(super) held: Vec<Held>,
    pub(super) charge: Charge<'p>,
    pub(super) spilled: Spilled<'p>,
    sizes: Sizes<'p>,
    arbitrator: &'p Arbitrator,
}

/// Why something can't be kept.
#[derive(Debug)]
pub(in crate::exec::operators) enum Refused {
    /// There is no memory for it, also with all rows on disk.
    Exceeded(Exceeded, Grown),
    /// The disk failed.
    Failed(Failure),
}

/// What had no room.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec::operators) enum Grown {
    /// Keys of groups, and the little that is kept beside each.
    Keys,
    /// The states of an aggregate.
    Aggregate {
        /// `collect`
        name: &'static str,
        /// Where it stands.
        span: Span,
        /// Whether it keeps all values.
        keeps_all: bool,
    },
    /// What orders the rows of groups, for an aggregate that shows it.
    Order,
    /// What is done when all rows are in.
    Decisions,
    /// Why groups failed.
    Failures,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Refused::Failed(failure)
    }
}

impl Refused {
    /// The failure of an operator that has no room for what it keeps of each of so many groups.
    pub fn failure(self, names: &GroupNames<'_>, groups: usize) -> Failure {
        match self {
            Refused::Exceeded(exceeded, grown) => names.too_many(&exceeded, grown, groups),
            Refused::Failed(failure) => failure,
        }
    }
}

/// What each group takes.
struct Sizes<'p> {
    sizes: Segments<Size>,
    charge: Charge<'p>,
}

#[derive(Clone, Copy, Default)]
struct Size {
    /// All of its rows, wherever they are, each with a fixed part: the same on every run.
    footprint: u64,
    /// What is in memory.
    resident: u64,
}

impl<'p> Store<'p> {
    /// No rows. Rows are charged to the consumer `rows`, what is kept for each group to `groups`.
    pub fn new(arbitrator: &'p Arbitrator, disk: &'p Disk<'p>, rows: usize, groups: usize) -> Self {
        Self {
            table: GroupTable::new(Charge::new(arbitrator, groups)),
            held: Vec::new(),
            charge: Charge::new(arbitrator, rows),
            spilled: Spilled::new(disk, rows),
            sizes: Sizes { sizes: Segments::default(), charge: Charge::new(arbitrator, groups) },
            arbitrator,
        }
    }

    /// Reserves in advance all that some rows may take, if there is room: groups, and `more` bytes for so many new ones.
    pub fn advance(
        &self,
        keys: &Keys,
        hashes: &[u64],
        rows: &Range<usize>,
        more: impl Fn(usize) -> u64,
    ) -> Option<Advance<'p>> {
        let advance = |groups: usize, bytes: usize| {
            let own = self.table.growth_with_keys(groups, bytes) + self.sizes.growth(self.table.len() + groups);
            self.sizes.charge.advance(own + more(groups))
        };
        advance(rows.len(), keys.bytes(rows.clone())).or_else(|| {
            let (groups, bytes) = self.table.unknown(keys, hashes, rows.clone());
            advance(groups, bytes)
        })
    }

    /// Appends the group of each of some rows of a batch; a key that is new begins a group.
    pub fn number(
        &mut self,
        keys: &Keys,
        hashes: &[u64],
        rows: Range<usize>,
        groups: &mut Vec<u32>,
        others: Others<'_>,
    ) -> Result<(), Refused> {
        let first = groups.len();
        self.with_room(Grown::Keys, others, |store| {
            groups.truncate(first);
            store.table.admit_rows(keys, hashes, rows.clone(), groups)?;
            store.sizes.grow(store.table.len())
        })
    }

    /// Reserves memory for what can't go to disk: where there is none left, all rows do, and what others hold.
    pub fn reserve(
        &mut self,
        charge: &mut Charge<'p>,
        bytes: u64,
        grown: Grown,
        others: Others<'_>,
    ) -> Result<(), Refused> {
        self.with_room(grown, others, |_| charge.take(bytes))
    }

    fn with_room(
        &mut self,
        grown: Grown,
        others: Others<'_>,
        mut reserve: impl FnMut(&mut Self) -> Result<(), Exceeded>,
    ) -> Result<(), Refused> {
        if reserve(self).is_ok() {
            return Ok(());
        }
        if self.spillable() > 0 {
            self.spill(u64::MAX)?;
            if reserve(self).is_ok() {
                return Ok(());
            }
        }
        others()?;
        reserve(self).map_err(|exceeded| Refused::Exceeded(exceeded, grown))
    }

    /// Adds the rows of a block: where they begin in `bytes`, the group of each, and, piece by piece, what each is
    /// ordered by within its group; no pieces if nothing orders them. Where there is no room they go to disk at once.
    pub fn add(
        &mut self,
        bytes: Box<[u8]>,
        offsets: &[u32],
        groups: Vec<u32>,
        mut keys: Vec<OrderKeys>,
    ) -> Result<(), Failure> {
        if keys.iter().all(OrderKeys::say_nothing) {
            keys.clear();
        }
        let held = Held { bytes, groups: groups.into(), keys };
        let stays = self.reserve_rows(held.cost())?;
        self.count(&held, offsets, stays);
        if !stays {
            return write(&mut self.spilled, &[held], |_| true);
        }
        self.held.push(held);
        Ok(())
    }

    /// Reserves memory for rows: where there is none left, those that are held go to disk. Tells whether there is.
    fn reserve_rows(&mut self, bytes: u64) -> Result<bool, Failure> {
        if self.charge.take(bytes).is_ok() {
            return Ok(true);
        }
        self.spill(u64::MAX)?;
        Ok(self.charge.take(bytes).is_ok())
    }

    /// Adds rows to what their groups take, of the memory too if they stay there.
    fn count(&mut self, held: &Held, offsets: &[u32], stays: bool) {
        let ends = offsets.iter().skip(1).copied().chain([held.bytes.len() as u32]);
        let rows = held.groups.iter().zip(held.keys());
        for ((start, end), (group, key)) in offsets.iter().zip(ends).zip(rows) {
            let (framed, size) = (u64::from(end - start), self.sizes.sizes.get_mut(*group));
            size.footprint += framed + (ROW - HEAD) as u64;
            size.resident += if stays { framed + held::beside(key) } else { 0 };
        }
    }

    /// The most that what is kept here for groups may grow by when so many more rows come, in bytes.
    pub fn headroom(&self, rows: usize) -> u64 {
        self.table.growth(rows) + self.sizes.growth(self.table.len() + rows)
    }

    /// The memory limit, in bytes.
    pub fn limit(&self) -> u64 {
        self.arbitrator.limit()
    }

    /// How many of its bytes could be put on disk now.
    pub fn spillable(&self) -> u64 {
        self.charge.held()
    }

    /// Puts rows on disk until `wanted` bytes are free: the largest groups first. Of a group that is more than half of
    /// what may be in memory it is only the oldest rows.
    pub fn spill(&mut self, wanted: u64) -> Result<(), Failure> {
        let sizes = self.sizes.iter().map(|size| size.resident);
        let choice = Choice::new(sizes, self.charge.held(), wanted, self.arbitrator.soft() / 2);
        let is_over = |freed: u64| matches!(choice, Choice::Oldest(_)) && freed >= wanted;
        let (mut start, mut freed) = (0, 0);
        while start < self.held.len() && !is_over(freed) {
            let end = self.portion(start);
            freed += self.spill_some(start..end, choice)?;
            start = end;
        }
        self.held.retain(|held| !held.groups.is_empty());
        match choice {
            Choice::Oldest(group) => self.sizes.sizes.get_mut(group).resident -= freed,
            _ => {
                let sizes = (0..).zip(self.sizes.sizes.pieces_mut().flatten());
                let taken = sizes.filter(|(group, size)| choice.takes(*group, size.resident));
                taken.for_each(|(_, size)| size.resident = 0);
            }
        }
        Ok(())
    }

    /// Where the blocks from `start` on end that are written as one run: its rows are listed in memory that nobody counts.
    fn portion(&self, start: usize) -> usize {
        let most = (self.arbitrator.limit() / 192).clamp(1 << 10, 1 << 19) as usize;
        let mut rows = 0;
        let fits = |held: &&Held| {
            rows += held.groups.len();
            rows <= most
        };
        start + self.held[start..].iter().take_while(fits).count().max(1)
    }

    /// Puts the chosen rows of some blocks on disk. Gives what they took.
    fn spill_some(&mut self, blocks: Range<usize>, choice: Choice) -> Result<u64, Failure> {
        let Self { held, sizes, spilled, charge, .. } = self;
        let goes = |row: &HeldRow<'_>| choice.takes(row.group, sizes.sizes.get(row.group).resident);
        write(spilled, &held[blocks.clone()], goes)?;
        let mut freed = 0;
        for block in &mut held[blocks] {
            let gone: u64 = block.rows().filter(goes).map(|row| row.cost()).sum();
            if gone > 0 {
                let before = block.cost();
                block.retain(|row| !goes(row));
                charge.give_back(before - block.cost());
                freed += gone;
            }
        }
        Ok(freed)
    }

    /// E310 if the rows of a group are more than the whole limit: of the largest one.
    pub fn check_sizes(&self, names: &GroupNames<'_>) -> Result<(), Failure> {
        let limit = self.arbitrator.limit();
        let sizes = (0..).zip(self.sizes.iter()).map(|(group, size)| (group, size.footprint));
        match sizes.max_by_key(|(group, footprint)| (*footprint, Reverse(*group))) {
            Some((group, used)) if used > limit => Err(names.too_large(self.table.key(group), used, limit)),
            _ => Ok(()),
        }
    }
}

impl Sizes<'_> {
    /// The most that making room for so many groups takes.
    fn growth(&self, count: usize) -> u64 {
        self.sizes.bound(count) - self.sizes.bytes()
    }

    /// Makes room for so many groups.
    fn grow(&mut self, count: usize) -> Result<(), Exceeded> {
        self.sizes.grow_charged(count, &mut self.charge)
    }

    /// All of them, by group.
    fn iter(&self) -> impl Iterator<Item = &Size> + Clone {
        (0..self.sizes.len() as u32).map(|group| self.sizes.get(group))
    }
}

/// Writes those rows of some blocks for which `goes` holds as one run.
fn write(spilled: &mut Spilled<'_>, blocks: &[Held], goes: impl Fn(&HeldRow<'_>) -> bool) -> Result<(), Failure> {
    let rows: Vec<HeldRow<'_>> = blocks.iter().flat_map(Held::rows).filter(|row| goes(row)).collect();
    let mut order: Vec<u64> = (0..).zip(&rows).map(|(number, row)| u64::from(row.group) << 32 | number).collect();
    match rows.iter().all(|row| row.key.is_empty()) {
        true => order.sort_unstable(),
        false => order.sort_unstable_by(|one, other| {
            let key = |entry: &u64| rows[*entry as u32 as usize].key;
            (one >> 32).cmp(&(other >> 32)).then_with(|| key(one).cmp(key(other))).then(one.cmp(other))
        }),
    }
    spilled.write(|run| {
        order.iter().try_for_each(|entry| {
            let HeldRow { group, key, row } = rows[*entry as u32 as usize];
            run.push_parts(&[&group.to_be_bytes(), key], row)
        })
    })
}
