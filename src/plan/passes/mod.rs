//! The passes, and the driver that runs them in order.
//!
//! A pass is one file with one function over one plan: it takes the plan and gives it back. The driver owns order and
//! names; after every pass it checks what must always hold, and at the end what a run relies on (`invariants`). A
//! plan that breaks an invariant is a bug of a pass, never of a pipeline, so it panics with the name of the pass.

mod choose_rest;
mod choose_strategies;
mod classify_buffers;
mod cut_stages;
mod expr;
mod insert_sorts;
pub mod invariants;
mod lineage;
mod orders;
mod plan_dead_letters;
mod plan_provenance;
mod prune_columns;
mod resolve_ports;
mod schedule;
mod split_distinct;

pub(in crate::plan) use choose_strategies::{key_list, order_list};
pub(in crate::plan) use orders::{Order, orders};

use crate::analysis::hir;
use crate::diagnostics::Diagnostics;
use crate::plan::logical::{self, LogicalPlan};
use crate::plan::physical::{self, PhysicalPlan};

/// Sees the plan behind every step, named as the step is: `lower`, `resolve_ports`, …
pub trait Watch {
    /// The logical plan that `step` made.
    fn logical(&mut self, step: &'static str, plan: &LogicalPlan) {
        let _ = (step, plan);
    }

    /// The physical plan that `step` made.
    fn physical(&mut self, step: &'static str, plan: &PhysicalPlan) {
        let _ = (step, plan);
    }
}

/// A watch that looks away.
pub struct Unwatched;

impl Watch for Unwatched {}

/// Runs every pass on a checked pipeline. Warnings go to `diagnostics`.
pub fn run(pipeline: &hir::Pipeline, diagnostics: &mut Diagnostics, watch: &mut dyn Watch) -> PhysicalPlan {
    let logical = run_logical(pipeline, diagnostics, watch);
    run_physical(&logical, watch)
}

fn run_logical(pipeline: &hir::Pipeline, diagnostics: &mut Diagnostics, watch: &mut dyn Watch) -> LogicalPlan {
    let mut step = |name, plan: LogicalPlan| {
        uphold(name, invariants::logical_always(&plan));
        watch.logical(name, &plan);
        plan
    };
    let plan = step("lower", logical::lower(pipeline));
    let plan = step("resolve_ports", resolve_ports::resolve_ports(plan, diagnostics));
    // Behind `resolve_ports`: the readers of a port are those of its last part.
    let plan = step("split_distinct", split_distinct::split_distinct(plan));
    // Behind `resolve_ports`: a sort takes the readers of a port, and a discard needs none in front of it.
    let plan = step("insert_sorts", insert_sorts::insert_sorts(plan));
    // Behind `resolve_ports`: a discard is a reader that needs no column. Behind the others: what they put in reads its
    // keys.
    let plan = step("prune_columns", prune_columns::prune_columns(plan));
    uphold("prune_columns", invariants::logical_ready(&plan));
    plan
}

fn run_physical(logical: &LogicalPlan, watch: &mut dyn Watch) -> PhysicalPlan {
    let mut step = |name, plan: PhysicalPlan| {
        uphold(name, invariants::physical_always(&plan));
        watch.physical(name, &plan);
        plan
    };
    let plan = step("lower", physical::lower(logical));
    let plan = step("choose_strategies", choose_strategies::choose_strategies(plan));
    // Behind `choose_strategies`: an operator's strategy decides whether it can take rows when they are made.
    let plan = step("cut_stages", cut_stages::cut_stages(plan));
    // Behind `cut_stages`: it adds buffers.
    let plan = step("choose_rest", choose_rest::choose_rest(plan));
    // Behind `cut_stages`: what a stage ends in is a buffer.
    let plan = step("classify_buffers", classify_buffers::classify_buffers(plan));
    // Behind `cut_stages`: identity has to be kept only where a buffer is crossed.
    let plan = step("plan_provenance", plan_provenance::plan_provenance(plan));
    let plan = step("plan_dead_letters", plan_dead_letters::plan_dead_letters(plan));
    uphold("plan_dead_letters", invariants::physical_ready(&plan));
    plan
}

fn uphold(step: &str, result: Result<(), invariants::Broken>) {
    if let Err(broken) = result {
        panic!("this is a bug in the planner: after `{step}` {broken}");
    }
}
