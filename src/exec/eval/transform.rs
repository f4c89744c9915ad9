//! Transforms: validations, then statements in order, over the rows that are still live; rows are taken out of
//! columns once, at the end.

use std::sync::Arc;

use super::compile::compile;
use super::datum::Datum;
use super::error::Faults;
use super::frame::Frame;
use super::live::Live;
use super::node::Node;
use super::{Constants, Transformed, Warning};
use crate::analysis::hir::{self, ExprKind, OutputColumn};
use crate::analysis::types::Kind;
use crate::diagnostics::Span;
use crate::exec::batch::{Batch, Carried, Column};
use crate::exec::dlq::cell_text;
use crate::exec::fault::{Fault, FaultKind};
use crate::plan::physical::ColumnSet;

/// A compiled transform. Shared by all workers.
#[derive(Debug)]
pub struct Transform {
    constants: Arc<Constants>,
    validations: Vec<Validation>,
    statements: Vec<Statement>,
    lets: usize,
    emits: Vec<Kind>,
    output: Vec<Option<OutputColumn>>,
    keeps_carried: bool,
}

#[derive(Debug)]
struct Validation {
    check: Node,
    /// What a failure says: the name, if there is one, then the message.
    message: String,
    field: Option<Arc<str>>,
    /// The position of the column it is about.
    column: Option<usize>,
    warn_only: bool,
    span: Span,
}

#[derive(Debug)]
enum Statement {
    Let(usize, Node),
    Emit(usize, Node, Arc<str>),
    Filter(Node),
    Discard(Node),
}

/// What a run over one batch has done so far.
struct Progress<'a> {
    frame: Frame<'a>,
    live: Live,
    filtered: usize,
    warned: Vec<Warning>,
}

impl Transform {
    /// Prepares a transform: regexes compiled, formats parsed, constants folded. `stored` are the output columns that
    /// something reads.
    pub fn new(transform: &hir::Transform, stored: &ColumnSet, constants: Arc<Constants>) -> Self {
        let output = transform.output.iter().enumerate();
        let output = output.map(|(position, column)| stored.contains(position).then_some(*column)).collect();
        let statements = transform.statements.iter();
        Self {
            validations: transform.validations.iter().map(|entry| validation(entry, &constants)).collect(),
            statements: statements.map(|entry| statement(entry, &transform.emits, &constants)).collect(),
            lets: transform.lets.len(),
            emits: transform.emits.iter().map(|slot| slot.ty.kind.clone()).collect(),
            output,
            keeps_carried: transform.keeps_carried,
            constants,
        }
    }

    /// Runs validations and program on a batch.
    pub fn run(&self, batch: &Batch) -> Transformed {
        let frame = Frame::new(batch, &self.constants, self.lets, self.emits.len());
        let (live, warned) = (Live::all(batch.rows), Vec::new());
        let mut progress = Progress { frame, live, filtered: 0, warned };
        for (position, validation) in self.validations.iter().enumerate() {
            match validation.warn_only {
                true => progress.warn(position, validation, batch),
                false => progress.validate(validation, batch),
            }
        }
        for statement in &self.statements {
            progress.execute(statement);
        }
        self.finish(progress, batch)
    }

    fn finish(&self, progress: Progress<'_>, batch: &Batch) -> Transformed {
        let Progress { frame, live, filtered, mut warned } = progress;
        warned.sort_by_key(|warning| (warning.row, warning.validation));
        let kept = (!live.is_all()).then(|| live.indices());
        let columns = self.output.iter().map(|column| {
            let (datum, kind) = match column.as_ref()? {
                OutputColumn::Input(position) => (Datum::Column(batch.columns[*position].clone()?), &Kind::Null),
                OutputColumn::Emit(slot) => (frame.emits[*slot].clone(), &self.emits[*slot]),
            };
            Some(stored(datum, kind, &live, kept.as_deref()))
        });
        let (columns, origin) = (columns.collect(), &batch.origin);
        let carried = if self.keeps_carried { batch.carried.clone() } else { Carried::default() };
        let (carried, origin) = match &kept {
            Some(kept) => (carried.take(kept), origin.take(kept)),
            None => (carried, origin.clone()),
        };
        let batch = Batch { rows: live.count(), columns, carried, origin };
        Transformed { batch, kept, filtered, faults: frame.faults.into_sorted(), warned }
    }
}

/// The column of the rows that are left; a constant is spread only now.
fn stored(datum: Datum, kind: &Kind, live: &Live, kept: Option<&[u32]>) -> Column {
    match (datum, kept) {
        (Datum::Scalar(value), _) => Column::splat(&value, kind, live.count()),
        (Datum::Column(column), Some(kept)) => column.take(kept),
        (Datum::Column(column), None) => column,
    }
}

fn validation(entry: &hir::Validation, constants: &Constants) -> Validation {
    let message = match &entry.name {
        Some(name) => format!("{name}: {}", entry.message),
        None => entry.message.clone(),
    };
    let field = entry.field.as_deref().map(Arc::from);
    let column = match entry.column.as_ref().map(|column| &column.kind) {
        Some(ExprKind::Column(position)) => Some(*position),
        _ => None,
    };
    Validation {
        check: compile(&entry.check, constants),
        message,
        field,
        column,
        warn_only: entry.warn_only,
        span: entry.span,
    }
}

fn statement(entry: &hir::Statement, emits: &[hir::Slot], constants: &Constants) -> Statement {
    match entry {
        hir::Statement::Let { slot, value } => Statement::Let(*slot, compile(value, constants)),
        hir::Statement::Emit { slot, value } => {
            Statement::Emit(*slot, compile(value, constants), emits[*slot].name.as_str().into())
        }
        hir::Statement::Filter(predicate) => Statement::Filter(compile(predicate, constants)),
        hir::Statement::Distinct { .. } => unreachable!("a pass makes an operator of a distinct"),
        hir::Statement::Discard(value) => Statement::Discard(compile(value, constants)),
    }
}

impl Progress<'_> {
    /// A row passes if the check is exactly true. A check that fails to compute is an error of the row as anywhere
    /// else.
    fn validate(&mut self, validation: &Validation, batch: &Batch) {
        self.frame.faults.set_field(validation.field.clone());
        let passed = self.frame.holds(&validation.check, &self.live);
        self.drop_failed();
        self.live.minus(&passed).for_each(|row| self.frame.faults.push(validation.fault(row, batch)));
        self.drop_failed();
    }

    /// A check that only warns is asked about every row, also one that another check rejects. One that fails to compute
    /// does not hold.
    fn warn(&mut self, position: usize, validation: &Validation, batch: &Batch) {
        let all = Live::all(batch.rows);
        let faults = std::mem::replace(&mut self.frame.faults, Faults::new(batch.rows));
        let passed = self.frame.holds(&validation.check, &all);
        let failed = std::mem::replace(&mut self.frame.faults, faults);
        let passed = failed.failed().map_or(passed.clone(), |failed| passed.and_not(&failed));
        let mut failures = failed.into_sorted().into_iter().peekable();
        all.minus(&passed).for_each(|row| {
            let failure = failures.next_if(|fault| fault.row == row);
            self.warned.push(Warning { row, validation: position, failure });
        });
    }

    fn execute(&mut self, statement: &Statement) {
        let field = if let Statement::Emit(_, _, name) = statement { Some(name.clone()) } else { None };
        self.frame.faults.set_field(field);
        match statement {
            Statement::Let(slot, value) => self.frame.lets[*slot] = self.frame.eval(value, &self.live),
            Statement::Emit(slot, value, _) => self.frame.emits[*slot] = self.frame.eval(value, &self.live),
            Statement::Discard(value) => {
                self.frame.eval(value, &self.live);
            }
            Statement::Filter(predicate) => {
                let kept = self.frame.holds(predicate, &self.live);
                self.drop_failed();
                let kept = kept.and(&self.live.bits());
                self.filtered += self.live.count() - kept.count();
                self.live = kept;
            }
        }
        self.drop_failed();
    }

    /// Rows that failed are live no more.
    fn drop_failed(&mut self) {
        if let Some(failed) = self.frame.faults.failed() {
            self.live = self.live.and_not(&failed);
        }
    }
}

impl Validation {
    fn fault(&self, row: usize, batch: &Batch) -> Fault {
        let column = self.column.and_then(|position| batch.columns[position].as_ref());
        Fault {
            row,
            kind: FaultKind::ValidationFailed,
            field: self.field.clone(),
            value: column.filter(|column| !column.is_null(row)).map(|column| cell_text(&column.value(row))),
            message: self.message.clone(),
            span: self.span,
            other: None,
        }
    }
}
