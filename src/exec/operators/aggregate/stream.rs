//! Makes one row of each group where the rows of a group come side by side: one group is held at a time.
//!
//! A worker groups the rows of its block on its own. Only the first and the last group of a block can go on in its
//! neighbours: a block takes the group that is open behind the block before, adds its first group to it if that has the
//! same key, and hands its own last group on before it makes rows of those that have ended. Behind the last block comes a
//! unit without rows, in which the group that is still open ends.
//!
//! A group ends with the row that begins the next one. Where that stands, and not where a block ends, decides which of
//! several failures is the first.
//!
//! Without a key all rows are one group, wherever they come from. Below a merge that puts one input behind the other they
//! come in several segments, one after the other, and the group goes on from segment to segment.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::exec::Failure;
use crate::exec::batch::{Batch, KeptOrigins};
use crate::exec::eval::Constants;
use crate::exec::lock;
use crate::exec::memory::{Arbitrator, Charge, most_of_a_row};
use crate::plan::physical::{AggregateOperator, Operator};

use super::super::buffer::Admitted;
use super::super::relay::Relay;
use super::collect::RowProgram;
use super::fill::does_not_fit;
use super::finish::{Finish, GroupsOf};
use super::held::NoRoom;
use super::layout::GroupLayout;
use super::stretch::Stretch;
use super::unmade::{Unmade, UnmadeGroup};

/// An aggregate that streams. Shared by all workers.
pub(crate) struct Stream<'p> {
    spec: &'p AggregateOperator,
    operator: &'p Operator,
    arbitrator: &'p Arbitrator,
    /// What a row may take beside the limit, in bytes.
    most_of_a_row: u64,
    rows: RowProgram<'p>,
    layout: Arc<GroupLayout>,
    finish: Finish<'p>,
    relay: Relay<Handed<'p>>,
    unmade: Arc<Unmade>,
    /// Without a key, what goes on from segment to segment.
    whole: Option<Arc<Whole<'p>>>,
}

/// The group of an aggregate without a key, between segments.
pub(crate) struct Whole<'p>(Mutex<Rest<'p>>);

/// What is to come of that group.
struct Rest<'p> {
    open: Option<Open<'p>>,
    /// In how many segments more rows may come.
    segments: usize,
}

impl Whole<'_> {
    /// Nothing yet of rows that come in so many segments.
    pub fn new(segments: usize) -> Self {
        Self(Mutex::new(Rest { open: None, segments }))
    }
}

/// How a block gets memory where it is tight.
#[derive(Clone, Copy)]
pub(crate) struct BlockRoom<'a> {
    /// Lets buffers put rows on disk, so that so many more bytes have room, as far as that goes. Tells whether
    /// asking for them again is of use.
    pub make: &'a dyn Fn(u64) -> Result<bool, Failure>,
    /// Waits until all blocks in front are written, and hold no memory any more.
    pub wait: &'a dyn Fn(),
}

/// What a block hands on.
struct Handed<'p> {
    /// The group that goes on behind it.
    open: Option<Open<'p>>,
    /// How many groups have ended.
    ended: u64,
}

/// A group that goes on behind a block.
struct Open<'p> {
    group: Stretch,
    /// What it takes.
    charge: Charge<'p>,
}

/// The last group of all.
pub(crate) struct Last<'p> {
    open: Open<'p>,
    /// How many ended before it.
    ended: u64,
}

/// Some groups that have ended.
pub(crate) struct Ended<'p> {
    /// They are among these.
    pub groups: Stretch,
    /// Which of them.
    pub range: Range<u32>,
    /// Where their rows come from.
    pub origins: Arc<KeptOrigins>,
    /// Covers a group that was open, and what is made of it until that is written; what only one block made is a part of
    /// the working set.
    pub charge: Option<Charge<'p>>,
    /// Such a group, for whoever waits until what it takes comes back.
    pub unmade: Option<UnmadeGroup>,
}

impl<'p> Stream<'p> {
    /// Prepares an aggregate for a segment. `names_rows` tells whether the number of a group's first row has to be known,
    /// `maker` is its position among the makers of rows; `whole` is what all its segments share, if it has no key.
    pub fn new(
        (spec, operator): (&'p AggregateOperator, &'p Operator),
        constants: &Arc<Constants>,
        arbitrator: &'p Arbitrator,
        names_rows: bool,
        maker: u32,
        whole: Option<Arc<Whole<'p>>>,
    ) -> Self {
        let layout = Arc::new(GroupLayout::new(&spec.aggregation, names_rows, Arc::clone(constants)));
        Self {
            spec,
            operator,
            arbitrator,
            most_of_a_row: most_of_a_row(arbitrator.limit()),
            rows: RowProgram::new(&spec.aggregation, Arc::clone(&layout), Arc::clone(constants)),
            layout,
            finish: Finish::new(spec, Arc::clone(constants), names_rows, maker),
            relay: Relay::new(Handed { open: None, ended: 0 }),
            unmade: Arc::default(),
            whole,
        }
    }

    /// What makes rows of its groups.
    pub fn finish(&self) -> &Finish<'p> {
        &self.finish
    }

    /// Adds the rows of a batch to the groups of their block.
    pub fn add(&self, batch: &Batch, groups: &mut Option<Stretch>) -> Admitted {
        let (piece, admitted) = self.rows.run(batch);
        if let Some(piece) = piece {
            groups.get_or_insert_with(|| Stretch::new(&self.spec.aggregation)).add(&piece, &self.layout);
        }
        admitted
    }

    /// Joins the groups of a block with the one that is open in front of it. Gives those that have ended, in order, and at
    /// the end, which is a block without rows, the last group there is. Waits for the blocks in front.
    ///
    /// Where memory is tight `room` is asked for some.
    pub fn end(
        &self,
        block: u64,
        own: Option<Stretch>,
        is_end: bool,
        room: BlockRoom<'_>,
    ) -> Result<(Vec<Ended<'p>>, Option<Last<'p>>), Failure> {
        let Some(Handed { open: mut ahead, ended }) = self.relay.take(block) else {
            // A block in front has failed.
            return Ok((Vec::new(), None));
        };
        let first = self.join(ahead.as_mut(), own.as_ref(), room)?;
        let own = own.filter(|own| own.len() > first as usize);
        let last = match &own {
            Some(own) => Some(self.open_last(own, room)?),
            None => ahead.take(),
        };
        if let Some(ahead) = &mut ahead {
            self.reserve_row(ahead, room)?;
        }
        let mut endings = Endings { finish: &self.finish, unmade: &self.unmade, ended, list: Vec::new() };
        endings.add(ahead, own, first);
        if !is_end {
            self.relay.hand_on(block, Handed { open: last, ended: endings.ended });
            return Ok((endings.list, None));
        }
        let last = match &self.whole {
            Some(whole) => self.go_on(whole, last, room)?,
            None => last,
        };
        Ok((endings.list, last.map(|open| Last { open, ended: endings.ended })))
    }

    /// Ends the last group, at position `end`. The rows of those in front have to be made before that: it may wait for
    /// the memory that they hold.
    pub fn end_last(
        &self,
        Last { mut open, ended }: Last<'p>,
        end: u32,
        room: BlockRoom<'_>,
    ) -> Result<Vec<Ended<'p>>, Failure> {
        self.reserve_row(&mut open, room)?;
        let mut endings = Endings { finish: &self.finish, unmade: &self.unmade, ended, list: Vec::new() };
        endings.push(open.group, 0..1, vec![end], Some(open.charge));
        Ok(endings.list)
    }

    /// Adds what a segment has of the one group there is. Gives the group behind the last segment, even if no row came.
    fn go_on(
        &self,
        whole: &Whole<'p>,
        own: Option<Open<'p>>,
        room: BlockRoom<'_>,
    ) -> Result<Option<Open<'p>>, Failure> {
        let mut rest = lock(&whole.0);
        rest.segments -= 1;
        let mut open = match (rest.open.take(), own) {
            (Some(mut open), Some(Open { group, .. })) => {
                self.append(&mut open, &group, 0, room)?;
                Some(open)
            }
            (open, own) => open.or(own),
        };
        if rest.segments > 0 {
            rest.open = open.take();
            return Ok(None);
        }
        Ok(Some(open.unwrap_or_else(|| Open {
            group: Stretch::without_rows(&self.spec.aggregation),
            charge: Charge::new(self.arbitrator, self.spec.group_consumer),
        })))
    }

    /// Adds the first group of a block to the one that is open in front of it, if both are the same. Gives the number of
    /// groups of the block that are done with.
    fn join(&self, ahead: Option<&mut Open<'p>>, own: Option<&Stretch>, room: BlockRoom<'_>) -> Result<u32, Failure> {
        let (Some(ahead), Some(own)) = (ahead, own) else { return Ok(0) };
        if ahead.group.key(0) != own.key(0) {
            return Ok(0);
        }
        self.append(ahead, own, 0, room)?;
        Ok(1)
    }

    /// The last group of a block, which may go on behind it.
    fn open_last(&self, own: &Stretch, room: BlockRoom<'_>) -> Result<Open<'p>, Failure> {
        let (group, last) = (Stretch::new(&self.spec.aggregation), own.len() as u32 - 1);
        let mut open = Open { group, charge: Charge::new(self.arbitrator, self.spec.group_consumer) };
        self.reserve(&mut open.charge, own.name_bytes(last), room, (own.key(last), None))?;
        open.group.begin_as(own, last);
        self.append(&mut open, own, last, room)?;
        Ok(open)
    }

    /// Adds the rows of a group of a block to the open group. It holds just what it takes then.
    fn append(
        &self,
        Open { group, charge }: &mut Open<'p>,
        own: &Stretch,
        number: u32,
        room: BlockRoom<'_>,
    ) -> Result<(), Failure> {
        let key = own.key(number);
        group.append(own, number, |aggregate, bytes| self.reserve(charge, bytes, room, (key, Some(aggregate))))?;
        match group.bytes().checked_sub(charge.held()) {
            Some(more) => self.reserve(charge, more, room, (key, group.largest())),
            None => {
                charge.give_back(charge.held() - group.bytes());
                Ok(())
            }
        }
    }

    /// Reserves memory for the row of a group that ends, if that is large.
    fn reserve_row(&self, Open { group, charge }: &mut Open<'p>, room: BlockRoom<'_>) -> Result<(), Failure> {
        let cost = self.finish.cost_of(group.extents(0));
        if cost.all() <= self.most_of_a_row {
            return Ok(());
        }
        // What it takes is kept until it is written: nothing in front must miss it.
        (room.wait)();
        self.reserve(charge, cost.all(), room, (group.key(0), cost.aggregate))
    }

    /// Reserves memory for the group with this key, as an aggregate asks for it.
    fn reserve(
        &self,
        charge: &mut Charge<'p>,
        bytes: u64,
        room: BlockRoom<'_>,
        (key, aggregate): (&[u8], Option<usize>),
    ) -> Result<(), Failure> {
        let mut has_waited = false;
        loop {
            let made = self.unmade.made();
            let Err(exceeded) = charge.take(bytes) else { return Ok(()) };
            // Others may take the room that was made: it is made again, as long as there is something that can go.
            if (room.make)(bytes)? || self.unmade.wait(made) {
                continue;
            }
            if has_waited {
                let no_room = NoRoom { exceeded, aggregate };
                return Err(does_not_fit(self.spec, self.operator, key, &no_room));
            }
            (room.wait)();
            has_waited = true;
        }
    }

    /// Lets the blocks behind a block go on, whatever became of it.
    pub fn leave(&self, block: u64) {
        self.relay.leave(block);
    }
}

/// Collects groups that have ended.
struct Endings<'a, 'p> {
    finish: &'a Finish<'p>,
    unmade: &'a Arc<Unmade>,
    /// How many have ended.
    ended: u64,
    list: Vec<Ended<'p>>,
}

impl<'p> Endings<'_, 'p> {
    /// Adds the group that was open in front of a block, if it ends there, then those of the block from `first` on, but
    /// for the last one.
    fn add(&mut self, ahead: Option<Open<'p>>, own: Option<Stretch>, first: u32) {
        let Some(own) = own else { return };
        if let Some(Open { group, charge }) = ahead {
            self.push(group, 0..1, vec![own.start(first)], Some(charge));
        }
        let last = own.len() as u32 - 1;
        let ends = (first..last).map(|group| own.start(group + 1)).collect();
        self.push(own, first..last, ends, None);
    }

    /// Adds some groups, each with the position where it ends.
    fn push(&mut self, groups: Stretch, range: Range<u32>, ends: Vec<u32>, charge: Option<Charge<'p>>) {
        let count = range.len();
        if count == 0 {
            return;
        }
        let of = GroupsOf::Stretch(&groups, range.start);
        let origins = KeptOrigins { ends, ..self.finish.origins(of, self.ended, count) };
        self.ended += count as u64;
        let unmade = charge.as_ref().map(|_| self.unmade.begin());
        self.list.push(Ended { groups, range, origins: Arc::new(origins), charge, unmade });
    }
}
