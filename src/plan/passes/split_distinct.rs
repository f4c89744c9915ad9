//! Makes an operator of each `distinct` statement.
//!
//! Before: ports are resolved; transforms may have `distinct` statements.
//! After: none has. A transform that had some is cut at each: a transform with the statements in front, a distinct, a
//! transform with the rest. Each part is through with a row before the next one sees it, so statements still fail and
//! filter in their order. Validations stay in the first part. Parts that would do nothing are left out.
//!
//! A part reads the row as it came into the whole transform, and what it needs of the lets and emits in front. These
//! travel as hidden columns behind all others, called `let NAME` and `emit NAME`: no name in a file can mean them, and
//! every other column keeps its position.
//!
//! Of `clean` come the nodes `clean`, `distinct.clean`, `clean.2`, `distinct.clean.2`, … One that is left out takes no
//! number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::expr;
use crate::analysis::hir::{Column, Expr, ExprKind, OutputColumn, Schema, Slot, Statement, Transform};
use crate::diagnostics::Span;
use crate::plan::logical::{Distinct, LogicalPlan, Node, NodeKind, Place, Port};

/// Runs the pass.
pub fn split_distinct(mut plan: LogicalPlan) -> LogicalPlan {
    for name in plan.order() {
        let node = plan.node(&name);
        let NodeKind::Transform(transform) = &node.kind else { continue };
        if expr::distinct_keys(transform).next().is_some() {
            let input = plan.inputs(&name).first().expect("a transform reads a port").1.schema.clone();
            let parts = Cut::new(node, transform, &input).parts();
            let chain = chain(node, parts);
            plan.put_in_place(&name, chain);
        }
    }
    plan
}

/// The parts as nodes. The last one has the port that others read.
fn chain(authored: &Node, parts: Vec<Part>) -> Vec<Node> {
    let last = parts.len() - 1;
    let (mut transforms, mut distincts) = (0, 0);
    let nodes = parts.into_iter().enumerate().map(|(rank, part)| {
        let name = match &part.kind {
            NodeKind::Distinct(_) => numbered(format!("distinct.{}", authored.name), &mut distincts),
            _ => numbered(authored.name.clone(), &mut transforms),
        };
        let own = Port { name: None, reference: name.clone(), span: part.span, schema: part.output };
        let port = if rank == last { authored.ports[0].clone() } else { own };
        let place = Place { rank, ..authored.place };
        Node { name, span: part.span, place, ports: vec![port], kind: part.kind }
    });
    nodes.collect()
}

/// The name of the next part of its kind.
fn numbered(name: String, count: &mut usize) -> String {
    *count += 1;
    if *count == 1 { name } else { format!("{name}.{count}") }
}

/// A part of a transform.
struct Part {
    kind: NodeKind,
    output: Arc<Schema>,
    span: Span,
}

/// A transform that is being cut.
struct Cut<'a> {
    node: &'a Node,
    transform: &'a Transform,
    /// The columns between the parts made so far and the next one.
    between: Arc<Schema>,
    /// The lets and emits among them, by slot.
    lets: BTreeMap<usize, usize>,
    emits: BTreeMap<usize, usize>,
    parts: Vec<Part>,
}

impl<'a> Cut<'a> {
    fn new(node: &'a Node, transform: &'a Transform, input: &Arc<Schema>) -> Self {
        let between = Arc::new(Schema { columns: input.columns.clone(), carries: input.carries });
        Self { node, transform, between, lets: BTreeMap::new(), emits: BTreeMap::new(), parts: Vec::new() }
    }

    fn parts(mut self) -> Vec<Part> {
        let mut rest = self.transform.statements.as_slice();
        while let Some(at) = rest.iter().position(|statement| matches!(statement, Statement::Distinct { .. })) {
            let (front, behind) = rest.split_at(at);
            let (Statement::Distinct { key, span }, behind) = (&behind[0], &behind[1..]) else { unreachable!() };
            let key_spans = key.iter().map(|part| part.span).collect();
            // With nothing behind, the part in front may as well give what the whole transform gives.
            if behind.is_empty()
                && let Some(key) = self.key_in_output(key)
            {
                self.push_last(front);
                self.push_distinct(key, key_spans, *span, self.node.ports[0].schema.clone());
                return self.parts;
            }
            self.push_front(front, &rest[at..]);
            let key = key.iter().map(|part| self.position(part)).collect();
            self.push_distinct(key, key_spans, *span, self.between.clone());
            rest = behind;
        }
        self.push_last(rest);
        self.parts
    }

    /// Where the transform's output has the columns of a key, if it has them all as they came.
    fn key_in_output(&self, key: &[Expr]) -> Option<Vec<usize>> {
        let kept = |position| self.transform.output.iter().position(|column| *column == OutputColumn::Input(position));
        let found = key.iter().map(|part| match part.kind {
            ExprKind::Column(position) => kept(position),
            _ => None,
        });
        found.collect()
    }

    /// Where a part of a key is among the columns between parts.
    fn position(&self, part: &Expr) -> usize {
        match part.kind {
            ExprKind::Column(position) => position,
            ExprKind::Let(slot) => self.lets[&slot],
            ExprKind::Emit(slot) => self.emits[&slot],
            _ => unreachable!("analysis makes keys of columns, lets and emits"),
        }
    }

    fn push_distinct(&mut self, key: Vec<usize>, key_spans: Vec<Span>, span: Span, schema: Arc<Schema>) {
        let kind = NodeKind::Distinct(Distinct { key, key_spans, transform: self.node.name.clone() });
        self.parts.push(Part { kind, output: schema, span });
    }

    /// Adds a part with some statements that hands on what those behind it need.
    fn push_front(&mut self, statements: &[Statement], behind: &[Statement]) {
        let mut part = self.part(statements);
        let mut output = Schema::clone(&self.between);
        part.output = (0..output.columns.len()).map(OutputColumn::Input).collect();
        part.keeps_carried = true;
        let needed = self.needed(behind);
        for statement in statements {
            let (slot, value) = match statement {
                Statement::Let { slot, value } if needed.contains(&ExprSlot::Let(*slot)) => {
                    self.lets.insert(*slot, output.columns.len());
                    (read_let(&mut part, *slot, value), value)
                }
                Statement::Emit { slot, value } if needed.contains(&ExprSlot::Emit(*slot)) => {
                    self.emits.insert(*slot, output.columns.len());
                    (*slot, value)
                }
                _ => continue,
            };
            output.columns.push(between_column(statement, self.transform, value.span));
            part.output.push(OutputColumn::Emit(slot));
        }
        let does_nothing = part.statements.is_empty() && part.validations.is_empty();
        self.between = Arc::new(output);
        if !does_nothing {
            self.push_transform(part, self.between.clone());
        }
    }

    /// Adds a part with the last statements, which gives what the whole transform gives.
    fn push_last(&mut self, statements: &[Statement]) {
        let mut part = self.part(statements);
        part.output = self.transform.output.clone();
        for column in &mut part.output {
            if let OutputColumn::Emit(slot) = column
                && let Some(position) = self.emits.get(slot)
            {
                *column = OutputColumn::Input(*position);
            }
        }
        let output = self.node.ports[0].schema.clone();
        let passes = part.output.iter().copied().eq((0..self.between.columns.len()).map(OutputColumn::Input));
        let does_nothing = part.statements.is_empty() && part.validations.is_empty() && passes;
        if !(does_nothing && output == self.between) {
            self.push_transform(part, output);
        }
    }

    fn push_transform(&mut self, part: Transform, output: Arc<Schema>) {
        self.parts.push(Part { kind: NodeKind::Transform(part), output, span: self.node.span });
    }

    /// A part with these statements. Its output is not said yet.
    fn part(&self, statements: &[Statement]) -> Transform {
        let mut statements = statements.to_vec();
        statements.iter_mut().flat_map(Statement::exprs_mut).for_each(|value| self.read_between(value));
        let validations = if self.parts.is_empty() { self.transform.validations.clone() } else { Vec::new() };
        Transform { validations, statements, output: Vec::new(), ..self.transform.clone() }
    }

    /// Reads lets and emits of parts in front from where they are between the parts.
    fn read_between(&self, value: &mut Expr) {
        value.rewrite(&mut |part| {
            let column = match part.kind {
                ExprKind::Let(slot) => self.lets.get(&slot),
                ExprKind::Emit(slot) => self.emits.get(&slot),
                _ => None,
            };
            if let Some(column) = column {
                part.kind = ExprKind::Column(*column);
            }
        });
    }

    /// The slots that statements read, and those of the output.
    fn needed(&self, behind: &[Statement]) -> BTreeSet<ExprSlot> {
        let mut needed: BTreeSet<_> = behind.iter().flat_map(Statement::exprs).flat_map(slots).collect();
        needed.extend(self.transform.output.iter().filter_map(|column| match column {
            OutputColumn::Emit(slot) => Some(ExprSlot::Emit(*slot)),
            OutputColumn::Input(_) => None,
        }));
        needed
    }
}

/// A let or an emit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ExprSlot {
    Let(usize),
    Emit(usize),
}

fn slots(value: &Expr) -> impl Iterator<Item = ExprSlot> {
    value.parts().filter_map(|part| match part.kind {
        ExprKind::Let(slot) => Some(ExprSlot::Let(slot)),
        ExprKind::Emit(slot) => Some(ExprSlot::Emit(slot)),
        _ => None,
    })
}

/// Lets a part emit one of its lets. Gives the emit's slot.
fn read_let(part: &mut Transform, slot: usize, value: &Expr) -> usize {
    let Slot { name, ty } = part.lets[slot].clone();
    let emit = part.emits.len();
    part.emits.push(Slot { name: format!("let {name}"), ty: ty.clone() });
    let value = Expr { kind: ExprKind::Let(slot), ty, span: value.span };
    part.statements.push(Statement::Emit { slot: emit, value });
    emit
}

/// The hidden column of a let or an emit.
fn between_column(statement: &Statement, transform: &Transform, span: Span) -> Column {
    let (prefix, slot) = match statement {
        Statement::Let { slot, .. } => ("let", &transform.lets[*slot]),
        Statement::Emit { slot, .. } => ("emit", &transform.emits[*slot]),
        _ => unreachable!("only lets and emits travel"),
    };
    Column { name: format!("{prefix} {}", slot.name), ty: slot.ty.clone(), span, hidden: true }
}
