//! The program of an aggregate: what is done with rows before they are grouped, and what is emitted for a group.

use super::groups::{Written, Zone};
use super::{Checker, Program};
use crate::analysis::hir::{Aggregate, Statement};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Name, StatementKind, Target};

/// A checked program over groups.
pub(in crate::analysis) struct GroupProgram {
    /// Filters, lets and expressions whose value is dropped, over the rows of the input.
    pub rows: Program,
    /// Emits, and the lets that they read, over one row a group: the shared columns, then the aggregates.
    pub results: Program,
    /// The aggregates, with arguments over the rows of the input.
    pub aggregates: Vec<Aggregate>,
    /// How they are written, one for each.
    pub written: Vec<Written>,
}

impl Checker<'_> {
    /// Checks a program over groups, and ends the work like [`Checker::finish`].
    pub fn group_program(mut self, program: &ast::Program) -> GroupProgram {
        self.begin(program);
        let mut rows = Program::default();
        let mut emit_spans = Vec::new();
        for statement in &program.statements {
            if let Some(statement) = self.group_statement(statement, &mut emit_spans) {
                rows.statements.push(statement);
            }
        }
        rows.lets.clone_from(&self.lets);
        let group = self.group.take().expect("only a checker of groups comes here");
        let results = Program {
            statements: group.statements,
            lets: group.lets,
            emits: self.emits.clone(),
            emit_spans,
            complete: self.complete,
        };
        self.finish();
        GroupProgram { rows, results, aggregates: group.aggregates, written: group.written }
    }

    /// A statement over rows is given back, one over groups goes to those of the group.
    fn group_statement(&mut self, statement: &ast::Statement, emit_spans: &mut Vec<Span>) -> Option<Statement> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Let { name, value } => Some(self.row_let(name, value)),
            StatementKind::Filter { predicate } => {
                let condition = |checker: &mut Self| checker.condition(predicate, "`filter`");
                Some(Statement::Filter(self.in_zone(Zone::Filter, condition)))
            }
            StatementKind::Expr(value) => {
                Some(Statement::Discard(self.in_zone(Zone::Dropped, |checker| checker.expr(value))))
            }
            StatementKind::Emit { target: Target::Column(name), value } => {
                emit_spans.push(name.span);
                self.group_emit(name, value);
                None
            }
            other => {
                self.not_in_an_aggregate(other, span);
                None
            }
        }
    }

    fn row_let(&mut self, name: &Name, value: &ast::Expr) -> Statement {
        let checked = self.in_zone(Zone::Let, |checker| checker.let_statement(name, value));
        if let Statement::Let { value, .. } = &checked {
            self.remember_let(value);
        }
        checked
    }

    fn group_emit(&mut self, name: &Name, value: &ast::Expr) {
        if let Some(group) = &mut self.group {
            group.emit.clone_from(&name.text);
        }
        let checked = self.emit_statement(name, value);
        if let Some(group) = &mut self.group {
            group.statements.push(checked);
        }
    }

    /// Statements that only a transform can have (E381), and those that come later.
    fn not_in_an_aggregate(&mut self, statement: &StatementKind, span: Span) {
        let (what, label, help) = match statement {
            StatementKind::Distinct { .. } => (
                "`distinct`".to_owned(),
                "an aggregate gives one row for each group as it is",
                "to group each row once, put a transform with `distinct` in front of this node",
            ),
            StatementKind::EmitEach { .. } => {
                // The columns that it emits are missing from here on.
                self.complete = false;
                let label = "would give several rows for a group";
                ("`emit each`".to_owned(), label, "let a transform do that, in front of this node or behind it")
            }
            StatementKind::Emit { target: Target::Scoped { scope, name }, .. } => (
                format!("`emit ${}.{}`", scope.text, name.text),
                "only a transform sets variables",
                "emit a column here, and set the variable in a transform behind this node",
            ),
            later => return self.later(later, span),
        };
        let message = format!("{what} can't stand in an aggregate");
        self.error(Diagnostic::error(Code::E381, message).label(span, label).help(help));
    }
}
