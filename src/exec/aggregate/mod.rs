//! Aggregates: what becomes of the values of a group.
//!
//! An [`Accumulator`] keeps one state for each group and takes whole columns with the group of each row. All results
//! are exact up to one rounding at the end, so they never depend on the order of rows; only `collect` shows that order.
//! States can be encoded, put aside, and merged again, which changes no bit of a result.
//! The kind of the argument decides the state: `sum`, `extreme`, `weighted`, `collect`. The exact sums are in
//! `float_sum` and `decimal_sum`.

mod collect;
mod count;
mod counts;
mod decimal_sum;
mod encoded;
mod extreme;
mod float_sum;
mod int_sum;
mod slots;
mod sum;
mod weighted;
mod wide_float;

use std::ops::Range;

use crate::analysis::hir::{self, AggregateFunction};
use crate::analysis::types::Kind;
use crate::exec::batch::Column;

/// One aggregate over all groups.
pub struct Accumulator(Box<dyn State>);

/// An order of the rows of each group that is not the one they came in.
#[derive(Clone, Copy, Debug)]
pub struct RowOrder<'a> {
    /// The rows of the first group, then those of the second, …: numbers of rows in the order they were given to
    /// [`Accumulator::update`].
    pub rows: &'a [u32],
    /// For each group, where its rows end in `rows`.
    pub ends: &'a [u32],
}

/// The results of an aggregate.
#[derive(Debug)]
pub struct Finished {
    /// One row for each group that was asked for.
    pub column: Column,
    /// The groups without a result, ascending; their rows in `column` are arbitrary.
    pub faults: Vec<GroupFault>,
}

/// How large a result is, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extent {
    /// What making a column of it takes.
    pub column: u64,
    /// What it takes as a text.
    pub text: u64,
}

/// A group for which an aggregate has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupFault {
    /// The group.
    pub group: u32,
    /// Why: `integer sum overflow`.
    pub message: String,
}

/// The states of all groups for one aggregate.
trait State: Send + Sync {
    /// Takes a row for each entry of `groups`, with its value in each argument; `count` is the number of groups.
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]);

    /// Makes states for so many groups.
    fn grow(&mut self, count: usize);

    /// What is held, in bytes.
    fn bytes(&self) -> u64;

    /// The most that can be held during and after an update with these arguments, in bytes.
    fn bound(&self, count: usize, args: &[Column]) -> u64;

    /// Appends the state of a group, which tells where it ends.
    fn encode(&self, group: u32, out: &mut Vec<u8>);

    /// The most that can be held during and after growing to `count` groups and merging the state that `state` begins
    /// with.
    fn merge_bound(&self, count: usize, state: &[u8]) -> u64;

    /// Takes an encoded state off the front and adds it to that of a group there is, behind what that has.
    fn merge(&mut self, group: u32, state: &mut &[u8]);

    /// The most that the lists of all groups get, as texts, by an update with these arguments, in bytes.
    fn list_bytes(&self, args: &[Column]) -> u64 {
        let _ = args;
        0
    }

    /// Whether all values of a group are kept.
    fn keeps_all(&self) -> bool {
        false
    }

    /// Whether the result of a group may be large.
    fn may_be_large(&self) -> bool {
        false
    }

    /// How large the result of a group is, where it may be large.
    fn extent(&self, group: u32) -> Extent {
        let _ = group;
        Extent::default()
    }

    /// The same of the result that an encoded state has.
    fn extent_of(&self, state: &[u8]) -> Extent {
        let _ = state;
        Extent::default()
    }

    /// The results of some groups there are.
    fn finish(&self, groups: Range<u32>, order: Option<RowOrder<'_>>) -> Finished;

    /// The results that some encoded states have, one a group, if they can be had without merging these.
    fn finish_states(&self, states: &[&[u8]]) -> Option<Finished> {
        let _ = states;
        None
    }
}

impl Accumulator {
    /// Makes ready for an aggregate.
    pub fn new(aggregate: &hir::Aggregate) -> Self {
        let kind = aggregate.args.first().map_or(Kind::Null, |arg| arg.ty.kind.clone());
        Self(match aggregate.function {
            AggregateFunction::CountRows => Box::new(count::Count::rows()),
            AggregateFunction::Count => Box::new(count::Count::values()),
            AggregateFunction::Sum => sum::state(&kind, sum::Result::Sum),
            AggregateFunction::Avg => sum::state(&kind, sum::Result::Mean),
            AggregateFunction::Min => extreme::state(&kind, extreme::Side::Least),
            AggregateFunction::Max => extreme::state(&kind, extreme::Side::Greatest),
            AggregateFunction::Collect => Box::new(collect::Lists::new(kind)),
            AggregateFunction::WeightedAvg => weighted::state(&kind),
        })
    }

    /// Takes one row for each entry of `groups`: the group of the row. `args` are the values of the aggregate's
    /// arguments, `count` is the number of groups so far.
    pub fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.0.update(groups, count, args);
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The most that is held during and after an [`update`](Self::update) with these arguments, in bytes: what has to
    /// be reserved before it.
    pub fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.0.bound(count, args)
    }

    /// Makes states for so many groups: those without rows, too, have results.
    pub fn grow(&mut self, count: usize) {
        self.0.grow(count);
    }

    /// Appends the state of a group as bytes that tell where they end.
    pub fn encode(&self, group: u32, out: &mut Vec<u8>) {
        self.0.encode(group, out);
    }

    /// The most that is held during and after growing to `count` groups and [merging](Self::merge) the state that
    /// `state` begins with.
    pub fn merge_bound(&self, count: usize, state: &[u8]) -> u64 {
        self.0.merge_bound(count, state)
    }

    /// Takes the state that [`encode`](Self::encode) made of an equal aggregate off the front of `state`, and adds it to
    /// a group that there is. The rows of that state count as behind those that the group has.
    pub fn merge(&mut self, group: u32, state: &mut &[u8]) {
        self.0.merge(group, state);
    }

    /// The most that the lists of all groups get by an [`update`](Self::update) with these arguments, in bytes, as what
    /// [`extent`](Self::extent) gives for texts.
    pub fn list_bytes(&self, args: &[Column]) -> u64 {
        self.0.list_bytes(args)
    }

    /// Whether all values of a group are kept: a list, which may be far larger as a column than its state.
    pub fn keeps_all(&self) -> bool {
        self.0.keeps_all()
    }

    /// Whether the result of a group may be large: a list, or a text.
    pub fn may_be_large(&self) -> bool {
        self.0.may_be_large()
    }

    /// How large the result of a group is, where it may be large.
    pub fn extent(&self, group: u32) -> Extent {
        self.0.extent(group)
    }

    /// The same of the result that an encoded state has.
    pub fn extent_of(&self, state: &[u8]) -> Extent {
        self.0.extent_of(state)
    }

    /// One result for each of some groups. Their rows are in the order they came, unless `order` gives another, which
    /// is for all groups.
    pub fn finish(&self, groups: Range<u32>, order: Option<RowOrder<'_>>) -> Finished {
        self.0.finish(groups, order)
    }

    /// One result for each of some encoded states, for an accumulator without groups.
    pub fn finish_states(mut self, states: &[&[u8]]) -> Finished {
        if let Some(finished) = self.0.finish_states(states) {
            return finished;
        }
        self.grow(states.len());
        (0..).zip(states).for_each(|(group, state)| self.merge(group, &mut &**state));
        self.finish(0..states.len() as u32, None)
    }
}

impl Finished {
    /// Results that can't fail.
    fn of(column: Column) -> Self {
        Self { column, faults: Vec::new() }
    }
}
