//! The operators of a stage, compiled: the source's rows go down a tree of programs, routes and sinks.

mod block_result;
mod buffer;
mod distinct;
mod fault_text;
mod merge;
mod operands;
mod park;
mod pass;
mod sink;
mod sort;

pub(crate) use block_result::{BlockResult, Counts, WARNING_SAMPLES, Warned};
pub(crate) use distinct::Turnstile;
pub(crate) use fault_text::warning_total;
pub(crate) use pass::Pass;
pub(crate) use sink::SinkColumns;

use std::sync::Arc;

use crate::analysis::hir::Statement;
use crate::exec::dlq::LetterShape;
use crate::exec::eval::{self, Constants};
use crate::exec::memory::Arbitrator;
use crate::exec::sources::{CarriedNames, OpenSource};
use crate::formats::csv::Encoder;
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, Stage};

/// A stage's operators.
pub(crate) struct Tree<'p> {
    /// The plan.
    pub plan: &'p PhysicalPlan,
    /// In plan order, the source first.
    pub nodes: Vec<TreeNode<'p>>,
    /// For each sink, its node and what it writes besides rows.
    pub sinks: Vec<(usize, SinkColumns)>,
    /// One for each `distinct` statement.
    pub turnstiles: Vec<Turnstile<'p>>,
    /// Most rows of a batch.
    pub batch_size: u32,
}

/// An operator in a stage.
pub(crate) struct TreeNode<'p> {
    /// Its id in the plan.
    pub id: OperatorId,
    /// The operator.
    pub operator: &'p Operator,
    /// How it does its work.
    pub action: Action,
    /// For each port, the nodes that read it.
    pub consumers: Vec<Vec<usize>>,
    /// The branch of the last route passed.
    pub route: Option<&'p str>,
    /// What a dead letter of a row that fails here shows.
    pub letter: LetterShape,
}

/// How an operator does its work.
pub(crate) enum Action {
    /// Decodes.
    Source,
    /// Runs a program; the position of its first turnstile.
    Transform(Box<eval::Transform>, usize),
    /// Evaluates conditions.
    Route(Box<eval::Route>),
    /// Encodes; its position among the sinks.
    Sink(Encoder, usize),
    /// Counts.
    Discard,
}

/// What compiling a stage needs to know about the run.
pub(crate) struct RunContext<'p, 'a> {
    /// The plan.
    pub plan: &'p PhysicalPlan,
    /// All sources, opened.
    pub sources: &'a [OpenSource<'p>],
    /// The names of undeclared fields.
    pub names: &'a mut CarriedNames,
    /// Constants for programs.
    pub constants: Arc<Constants>,
    /// Owns the memory limit.
    pub arbitrator: &'p Arbitrator,
}

impl<'p> Tree<'p> {
    /// Compiles the operators of a stage.
    pub fn new(stage: &Stage, run: &mut RunContext<'p, '_>) -> Self {
        let plan = run.plan;
        let batch_size = plan.settings.batch_size.try_into().unwrap_or(u32::MAX);
        let mut tree = Self { plan, nodes: Vec::new(), sinks: Vec::new(), turnstiles: Vec::new(), batch_size };
        for &id in &stage.operators {
            let node = tree.node(stage, id, run);
            tree.nodes.push(node);
        }
        tree
    }

    fn node(&mut self, stage: &Stage, id: OperatorId, run: &mut RunContext<'p, '_>) -> TreeNode<'p> {
        let operator = run.plan.operator(id);
        let action = self.action(operator, run);
        let letter = LetterShape::new(run.plan, stage.driver, id, self.last_route(id));
        let route = self.last_route(id);
        TreeNode { id, operator, action, consumers: consumers(run.plan, stage, id), route, letter }
    }

    fn action(&mut self, operator: &'p Operator, run: &mut RunContext<'p, '_>) -> Action {
        match &operator.kind {
            OperatorKind::Source(_) => Action::Source,
            OperatorKind::Transform(spec) => {
                let first = self.turnstiles.len();
                let spans = spec.transform.statements.iter().filter_map(|statement| match statement {
                    Statement::Distinct { span, .. } => Some(*span),
                    _ => None,
                });
                for (span, consumer) in spans.zip(&spec.distinct_consumers) {
                    let name = &run.plan.consumers[*consumer].name;
                    self.turnstiles.push(Turnstile::new(name, span, *consumer, run.arbitrator));
                }
                let own = spec.transform.batch_size.and_then(|rows| u32::try_from(rows).ok());
                self.batch_size = self.batch_size.min(own.unwrap_or(u32::MAX)).max(1);
                let program = eval::Transform::new(&spec.transform, &spec.stored, Arc::clone(&run.constants));
                Action::Transform(Box::new(program), first)
            }
            OperatorKind::Route(spec) => {
                Action::Route(Box::new(eval::Route::new(&spec.route, Arc::clone(&run.constants))))
            }
            OperatorKind::Sink(spec) => {
                let mut columns = SinkColumns::new(spec, run.sources, run.names);
                let encoder = Encoder::new(columns.encoded.clone(), spec.sink.delimiter);
                if spec.sink.include_header {
                    encoder.header(&mut columns.header);
                }
                self.sinks.push((self.nodes.len(), columns));
                Action::Sink(encoder, self.sinks.len() - 1)
            }
            OperatorKind::Discard(_) => Action::Discard,
            _ => todo!(),
        }
    }

    /// The branch through which rows reach `id`, or their last branch before that.
    fn last_route(&self, id: OperatorId) -> Option<&'p str> {
        let (producer, edge) = self.plan.inputs(id).into_iter().next()?;
        match &self.plan.operator(producer).kind {
            OperatorKind::Route(route) => route.branches.get(edge.port).map(String::as_str),
            _ => self.nodes.iter().find(|node| node.id == producer)?.route,
        }
    }
}

/// For each port of `id`, the positions in the stage of the operators that read it.
fn consumers(plan: &PhysicalPlan, stage: &Stage, id: OperatorId) -> Vec<Vec<usize>> {
    let mut ports: Vec<Vec<usize>> = vec![Vec::new()];
    for (consumer, edge) in plan.outputs(id) {
        let Some(position) = stage.operators.iter().position(|other| *other == consumer) else { continue };
        ports.resize(ports.len().max(edge.port + 1), Vec::new());
        ports[edge.port].push(position);
    }
    ports
}
