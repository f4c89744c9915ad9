//! Routes: conditions in order, each over the rows that may still match.

use std::sync::Arc;

use super::compile::compile;
use super::frame::Frame;
use super::live::Live;
use super::node::Node;
use super::{Constants, Routed};
use crate::analysis::hir;
use crate::exec::batch::Batch;

/// A compiled route. Shared by all workers.
#[derive(Debug)]
pub struct Route {
    constants: Arc<Constants>,
    conditions: Vec<Node>,
    inclusive: bool,
}

impl Route {
    /// Prepares a route.
    pub fn new(route: &hir::Route, constants: Arc<Constants>) -> Self {
        let conditions = route.conditions.iter().map(|condition| compile(condition, &constants)).collect();
        Self { constants, conditions, inclusive: route.inclusive }
    }

    /// Sends the rows of a batch to their branches. A row for which a condition fails goes to none; a condition that
    /// an exclusive route doesn't come to can't fail.
    pub fn run(&self, batch: &Batch) -> Routed {
        let mut frame = Frame::new(batch, &self.constants, 0, 0);
        let (mut open, mut unmatched) = (Live::all(batch.rows), Live::all(batch.rows));
        let mut branches = Vec::with_capacity(self.conditions.len() + 1);
        for condition in &self.conditions {
            let matched = frame.holds(condition, &open);
            unmatched = unmatched.minus(&matched);
            if let Some(failed) = frame.faults.failed() {
                open = open.and_not(&failed);
            }
            if !self.inclusive {
                open = open.minus(&matched);
            }
            branches.push(matched);
        }
        branches.push(unmatched);
        if let Some(failed) = frame.faults.failed() {
            branches.iter_mut().for_each(|rows| *rows = rows.and_not(&failed));
        }
        let branches = branches.iter().map(|rows| branch(batch, rows)).collect();
        Routed { branches, faults: frame.faults.into_sorted() }
    }
}

/// The rows of a branch; one that has them all shares the batch.
fn branch(batch: &Batch, rows: &Live) -> Option<Batch> {
    if rows.is_empty() {
        None
    } else if rows.is_all() {
        Some(batch.clone())
    } else {
        Some(batch.take(&rows.indices()))
    }
}
