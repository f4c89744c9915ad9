//! Makes one row of each group.
//!
//! Workers run the program over rows, and turn a batch into the keys of its groups with their hashes and the arguments
//! of the aggregates. The finisher numbers the groups as they are first seen and adds to their states, block after
//! block. In the end workers take ranges of groups: the states become columns, and the program over groups makes rows of
//! them.
//!
//! When memory is tight all groups are put on disk, divided by a checksum of their keys, and forgotten. In the end one
//! part after the other is loaded, where states with equal keys become one, and its groups are put in the order in which
//! they were first seen; workers read them from there. Since states merge exactly, nothing of this shows.

mod collect;
mod fill;
mod finish;
mod held;
mod layout;
mod parts;
mod record_room;
mod stream;
mod stretch;
mod unmade;

pub(super) use fill::{does_not_fit, row_does_not_fit};
pub(crate) use finish::{Cost, Finish, FinishedGroups, GroupsOf};
pub(crate) use held::Held;
pub(super) use held::{NoRoom, picked};
pub(crate) use stream::{BlockRoom, Ended, Stream, Whole};
pub(crate) use stretch::Stretch;

use std::sync::Arc;

use crate::plan::physical::AggregateOperator;

use super::buffer::{Buffer, BufferContext, Collector};
use collect::{AggregateCollector, RowProgram};
use fill::Groups;
use layout::GroupLayout;

/// An aggregate's two sides. `names_rows` tells whether the number of a group's first row has to be known.
pub(super) fn new<'p>(
    spec: &'p AggregateOperator,
    context: &BufferContext<'p>,
    names_rows: bool,
) -> (Arc<dyn Collector + 'p>, Box<dyn Buffer<'p> + 'p>) {
    let layout = Arc::new(GroupLayout::new(&spec.aggregation, names_rows, Arc::clone(&context.constants)));
    let constants = Arc::clone(&context.constants);
    let rows = RowProgram::new(&spec.aggregation, Arc::clone(&layout), constants);
    let collector = AggregateCollector::new(rows);
    (Arc::new(collector), Box::new(Groups::new(spec, layout, context)))
}
