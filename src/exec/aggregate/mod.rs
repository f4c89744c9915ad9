//! Aggregates: what becomes of the values of a group.
//!
//! An [`Accumulator`] keeps one state for each group and takes whole columns with the group of each row. All results
//! are exact up to one rounding at the end, so they never depend on the order of rows; only `collect` shows that order.
//! The kind of the argument decides the state: `sum`, `extreme`, `weighted`, `collect`. The exact sums are in
//! `float_sum` and `decimal_sum`.

mod collect;
mod count;
mod decimal_sum;
mod extreme;
mod float_sum;
mod slots;
mod sum;
mod weighted;
mod wide_float;

use crate::analysis::hir::{self, AggregateFunction};
use crate::analysis::types::Kind;
use crate::exec::batch::Column;

/// One aggregate over all groups.
pub struct Accumulator(Box<dyn State>);

/// The groups, and their rows for aggregates that show the order of these.
#[derive(Clone, Copy, Debug)]
pub struct RowOrder<'a> {
    /// The number of groups.
    pub groups: usize,
    /// The rows of the first group, then those of the second, …: numbers of rows in the order they were given to
    /// [`Accumulator::update`]. Empty where no aggregate [shows the order](Accumulator::shows_order).
    pub rows: &'a [u32],
    /// For each group, where its rows end in `rows`.
    pub ends: &'a [u32],
}

/// The results of an aggregate.
#[derive(Debug)]
pub struct Finished {
    /// One row a group.
    pub column: Column,
    /// The groups without a result, ascending; their rows in `column` are arbitrary.
    pub faults: Vec<GroupFault>,
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
trait State: Send {
    /// Takes a row for each entry of `groups`, with its value in each argument; `count` is the number of groups.
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]);

    /// What is held, in bytes.
    fn bytes(&self) -> u64;

    /// The most that can be held during and after an update with these arguments, in bytes.
    fn bound(&self, count: usize, args: &[Column]) -> u64;

    /// The results.
    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished;
}

impl Accumulator {
    /// Makes ready for an aggregate.
    pub fn new(aggregate: &hir::Aggregate) -> Self {
        let kind = aggregate.args.first().map_or(Kind::Null, |arg| arg.ty.kind.clone());
        Self(match aggregate.function {
            AggregateFunction::CountRows => Box::new(count::Rows::default()),
            AggregateFunction::Count => Box::new(count::Values::default()),
            AggregateFunction::Sum => sum::state(&kind, sum::Result::Sum),
            AggregateFunction::Avg => sum::state(&kind, sum::Result::Mean),
            AggregateFunction::Min => extreme::state(&kind, extreme::Side::Least),
            AggregateFunction::Max => extreme::state(&kind, extreme::Side::Greatest),
            AggregateFunction::Collect => Box::new(collect::Lists::new(kind)),
            AggregateFunction::WeightedAvg => weighted::state(&kind),
        })
    }

    /// Whether the result of an aggregate shows the order of rows within a group.
    pub fn shows_order(function: AggregateFunction) -> bool {
        function == AggregateFunction::Collect
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

    /// One result for each group of `order`.
    pub fn finish(self, order: RowOrder<'_>) -> Finished {
        self.0.finish(order)
    }
}

impl Finished {
    /// Results that can't fail.
    fn of(column: Column) -> Self {
        Self { column, faults: Vec::new() }
    }
}
