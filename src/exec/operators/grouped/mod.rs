//! Rows by group, for operators that hold whole groups: in memory, or as sorted runs on disk.
//!
//! A [`Store`] numbers groups as they are first seen and holds their rows. When memory gets tight the largest groups go
//! to disk, oldest rows first. When all rows are there its owner decides on the groups and says in an [`Outcome`] to
//! which port the rows of each go. Out of the store then come the groups in the order they were first seen, the rows
//! of each in a piece: arranged in memory, or merged from runs, to the same effect.
//!
//! A group can fail and be lost alone. Its rows come out at a port of their own, with what happened.

mod arrange;
mod choice;
mod held;
mod marks;
mod names;
mod order;
mod outcome;
mod pieces;
mod scan;
mod store;

pub(super) use marks::Mark;
pub(super) use names::GroupNames;
pub(super) use order::GroupOrder;
pub(super) use outcome::{FailedGroups, Outcome};
pub(super) use pieces::Pieces;
pub(super) use store::{Grown, Refused, Store};

use super::buffer::{BufferContext, Full, Seal};
use crate::exec::Failure;
use crate::exec::memory::give_back_freed_memory;
use crate::plan::physical::Operator;
use arrange::Arranged;
use scan::GroupScan;

impl<'p> Store<'p> {
    /// Ends the filling: the rows drive a segment, in memory if they are and if there is room to put them in order.
    pub fn seal(mut self, seal: Seal, operator: &'p Operator, outcome: Outcome<'p>) -> Result<Full<'p>, Failure> {
        let groups = outcome.ports.len();
        let stays = self.spilled.is_empty() && self.charge.held() <= seal.most_resident;
        if stays && self.charge.take(Arranged::cost(&self.held, groups)).is_ok() {
            return Ok(Full::resident(Arranged::new(self.held, outcome, self.charge)));
        }
        self.spill(u64::MAX)?;
        let Self { spilled, charge, .. } = self;
        give_back_freed_memory();
        let merge = spilled.merge(charge).map_err(|error| BufferContext::not_read_back(operator, error))?;
        Ok(Full::on_disk(GroupScan::new(merge, outcome)))
    }
}
