//! Memory for the rows of groups that are large: one at a time, reserved before it is made, and given back when what came of
//! it is written.

use std::ops::Range;

use crate::exec::Failure;
use crate::exec::memory::{Charge, Exceeded};
use crate::plan::physical::{AggregateOperator, Operator, OperatorKind};

use super::super::aggregate::{Cost, Finish, GroupsOf, NoRoom, does_not_fit, row_does_not_fit};
use super::Pass;

impl<'p> Pass<'_, 'p> {
    /// Where the groups from one on end of which rows are made at once, and what the row of the first one takes, if that is
    /// alone as it is large.
    pub(super) fn portion(
        &self,
        finish: &Finish<'p>,
        groups: GroupsOf<'_, 'p>,
        range: Range<u32>,
    ) -> (u32, Option<Cost>) {
        let (most, mut columns) = (self.tree.most_of_a_row, 0);
        for group in range.clone() {
            let cost = finish.cost(groups, group as usize);
            columns += cost.column;
            match group > range.start {
                false if cost.all() > most => return (group + 1, Some(cost)),
                true if cost.all() > most || columns > most => return (group, None),
                _ => {}
            }
        }
        (range.end, None)
    }

    /// Reserves memory for the large row of a group with this key. Only one block at a time has some, in order, so that
    /// whether there is enough doesn't depend on who is at work.
    pub(super) fn reserve_row(&mut self, key: &[u8], cost: Cost) -> Result<Charge<'p>, Failure> {
        let (spec, operator) = self.aggregate_at(0);
        let consumer = spec.rest.as_ref().expect("an aggregate at the head is a buffer").consumer;
        let mut charge = Charge::new(self.tree.arbitrator, consumer);
        (self.room.wait)();
        self.reserve(&mut charge, cost.all())?.map_err(|exceeded| {
            let no_room = NoRoom { exceeded, aggregate: cost.aggregate };
            does_not_fit(spec, operator, key, &no_room)
        })?;
        self.has_large = true;
        Ok(charge)
    }

    /// Keeps of what was reserved for a large row what the row has become, which may be more than was expected, and `more`,
    /// until the block is written. The row stands at a position, of the group with a key, and there were so many bytes
    /// `before`.
    pub(super) fn settle(
        &mut self,
        (position, at, key): (u32, usize, &[u8]),
        mut charge: Charge<'p>,
        before: u64,
        more: u64,
    ) {
        let needed = self.result.bytes_made() - before + more;
        let taken = match charge.held().checked_sub(needed) {
            Some(unused) => {
                charge.give_back(unused);
                Ok(())
            }
            None => self.reserve_up_to((at, key), &mut charge, needed),
        };
        self.result.reserved.push(charge.into_reserved());
        if let Err(failure) = taken {
            self.stop(position, at, || failure);
        }
    }

    /// Reserves up to so many bytes for what large rows have become.
    fn reserve_up_to(&self, (at, key): (usize, &[u8]), charge: &mut Charge<'p>, needed: u64) -> Result<(), Failure> {
        let more = needed - charge.held();
        (self.room.wait)();
        let (spec, operator) = self.aggregate_at(at);
        self.reserve(charge, more)?.map_err(|exceeded| row_does_not_fit(spec, operator, key, &exceeded))
    }

    /// The aggregate at a position.
    fn aggregate_at(&self, at: usize) -> (&'p AggregateOperator, &'p Operator) {
        let operator = self.tree.nodes[at].operator;
        let OperatorKind::Aggregate(spec) = &operator.kind else { unreachable!("only an aggregate has groups") };
        (spec, operator)
    }

    /// Reserves memory, which buffers make room for as long as there is something of theirs that can go.
    fn reserve(&self, charge: &mut Charge<'p>, bytes: u64) -> Result<Result<(), Exceeded>, Failure> {
        loop {
            let taken = charge.take(bytes);
            if taken.is_ok() || !(self.room.make)(bytes)? {
                return Ok(taken);
            }
        }
    }
}
