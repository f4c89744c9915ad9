//! The expressions of a grouping node: the arguments of its aggregates, row by row, and conditions over one row a
//! group.

use std::sync::Arc;

use super::Constants;
use super::compile::compile;
use super::frame::Frame;
use super::live::Live;
use super::node::Node;
use crate::analysis::hir::{Aggregate, CullRule};
use crate::exec::batch::{Batch, Bitmap, Column};
use crate::exec::fault::Fault;

/// The arguments of aggregates. Shared by all workers.
#[derive(Debug)]
pub struct Arguments {
    constants: Arc<Constants>,
    /// The arguments of each, behind what failures are called.
    aggregates: Vec<(Arc<str>, Vec<Node>)>,
}

impl Arguments {
    /// Prepares the arguments of these aggregates. `rules` names the field of the failures of each.
    pub fn new(aggregates: &[Aggregate], rules: &[Arc<str>], constants: Arc<Constants>) -> Self {
        let compiled = |(aggregate, rule): (&Aggregate, &Arc<str>)| {
            (Arc::clone(rule), aggregate.args.iter().map(|arg| compile(arg, &constants)).collect())
        };
        Self { aggregates: aggregates.iter().zip(rules).map(compiled).collect(), constants }
    }

    /// For each aggregate, the values of its arguments; and the failures, one for each failed row, ascending by row.
    pub fn evaluate(&self, batch: &Batch) -> (Vec<Vec<Column>>, Vec<Fault>) {
        let mut frame = Frame::new(batch, &self.constants, 0, 0);
        let live = Live::all(batch.rows);
        let mut columns = Vec::with_capacity(self.aggregates.len());
        for (rule, args) in &self.aggregates {
            frame.faults.set_field(Some(Arc::clone(rule)));
            let column = |node: &Node| frame.eval(node, &live).into_column(&node.kind, batch.rows);
            columns.push(args.iter().map(column).collect());
        }
        (columns, frame.faults.into_sorted())
    }
}

/// Conditions any of which decides on a row.
#[derive(Debug)]
pub struct Rules {
    constants: Arc<Constants>,
    rules: Vec<(Arc<str>, Node)>,
}

impl Rules {
    /// Prepares the rules of a cull.
    pub fn new(rules: &[CullRule], constants: Arc<Constants>) -> Self {
        let rules =
            rules.iter().map(|rule| (rule.name.as_str().into(), compile(&rule.predicate, &constants))).collect();
        Self { constants, rules }
    }

    /// The rows for which a rule is exactly true, and the failures, ascending by row; their field is the rule that
    /// failed. A rule is not asked about rows that an earlier one has decided on.
    pub fn decide(&self, batch: &Batch) -> (Bitmap, Vec<Fault>) {
        let mut frame = Frame::new(batch, &self.constants, 0, 0);
        let mut open = Live::all(batch.rows);
        let mut decided = Bitmap::new_unset(batch.rows);
        for (name, predicate) in &self.rules {
            frame.faults.set_field(Some(Arc::clone(name)));
            let holds = frame.holds(predicate, &open);
            if let Some(failed) = frame.faults.failed() {
                open = open.and_not(&failed);
            }
            // Where a predicate failed its value is arbitrary.
            let holds = open.and(&holds.bits());
            decided = &decided | &holds.bits();
            open = open.minus(&holds);
        }
        (decided, frame.faults.into_sorted())
    }
}
