//! The statements of a program, and what its output row is.

use super::describe::{article, extreme};
use super::operators::this_is;
use super::{Branch, Checker, Row};
use crate::analysis::hir::{Column, Expr, ExprKind, OutputColumn, Schema, Slot, Statement};
use crate::analysis::types::Kind;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, StatementKind, Target};

/// A checked program.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Program {
    /// Its statements.
    pub statements: Vec<Statement>,
    /// Its lets, by slot.
    pub lets: Vec<Slot>,
    /// Its emits, by slot.
    pub emits: Vec<Slot>,
    /// Where each emit's name stands.
    pub(super) emit_spans: Vec<Span>,
    /// Whether every statement is known; if not, an emit may be missing.
    pub complete: bool,
}

impl Checker<'_> {
    /// Checks a program. Right sides of `emit` read the input row.
    pub fn program(&mut self, program: &ast::Program) -> Program {
        self.begin(program);
        let mut checked = Program::default();
        for statement in &program.statements {
            self.statement(statement, &mut checked);
        }
        checked.lets = self.lets.clone();
        checked.emits = self.emits.clone();
        checked.complete = self.complete;
        checked
    }

    /// Takes note of what holds for the whole program.
    pub(super) fn begin(&mut self, program: &ast::Program) {
        self.complete = program.complete;
        for statement in &program.statements {
            match &statement.kind {
                StatementKind::Function { name } => self.functions.push(name.text.clone()),
                StatementKind::Use { path, alias } => {
                    let name = alias.as_ref().or(path.last());
                    self.modules.extend(name.map(|name| name.text.clone()));
                }
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &ast::Statement, program: &mut Program) {
        let span = statement.span;
        let checked = match &statement.kind {
            StatementKind::Let { name, value } => self.let_statement(name, value),
            StatementKind::Emit { target: Target::Column(name), value } => {
                program.emit_spans.push(name.span);
                self.emit_statement(name, value)
            }
            StatementKind::Filter { predicate } => {
                self.note_statement(predicate);
                Statement::Filter(self.condition(predicate, "`filter`"))
            }
            StatementKind::Distinct { by } => self.distinct(by.as_ref(), span),
            StatementKind::Expr(value) => Statement::Discard(self.expr(value)),
            later => return self.later(later, span),
        };
        program.statements.push(checked);
    }

    pub(super) fn let_statement(&mut self, name: &ast::Name, value: &ast::Expr) -> Statement {
        self.note_statement(value);
        let value = self.expr(value);
        self.let_branches.push(self.branches_if_mixed(&value));
        self.lets.push(Slot { name: name.text.clone(), ty: value.ty.clone() });
        Statement::Let { slot: self.lets.len() - 1, value }
    }

    pub(super) fn emit_statement(&mut self, name: &ast::Name, value_ast: &ast::Expr) -> Statement {
        self.note_statement(value_ast);
        let value = self.expr(value_ast);
        self.note_covered(name, &value, value_ast);
        let branches = self.branches_if_mixed(&value);
        self.mixes.insert(name.span, branches.clone());
        self.emit_branches.push(branches);
        self.emit_extremes.push(extreme(value_ast).map(|_| value_ast.clone()));
        self.emits.push(Slot { name: name.text.clone(), ty: value.ty.clone() });
        Statement::Emit { slot: self.emits.len() - 1, value }
    }

    fn branches_if_mixed(&self, value: &Expr) -> Vec<Branch> {
        if value.ty.kind == Kind::Any { self.branches(value) } else { Vec::new() }
    }

    fn distinct(&mut self, by: Option<&ast::Name>, span: Span) -> Statement {
        let key = match by {
            Some(name) => vec![self.name(&name.text, name.span)],
            None => self.whole_row(span),
        };
        for part in &key {
            self.key_part(part, span);
        }
        Statement::Distinct { key, span }
    }

    fn whole_row(&self, span: Span) -> Vec<Expr> {
        let columns = self.row.schema.visible().iter().enumerate();
        columns.map(|(index, column)| Expr { kind: ExprKind::Column(index), ty: column.ty.clone(), span }).collect()
    }

    fn key_part(&mut self, part: &Expr, statement: Span) {
        if !matches!(part.ty.kind, Kind::Array(_) | Kind::Map) {
            return;
        }
        let name = match part.kind {
            ExprKind::Column(index) => self.row.schema.columns[index].name.clone(),
            ExprKind::Let(slot) => self.lets[slot].name.clone(),
            ExprKind::Emit(slot) => self.emits[slot].name.clone(),
            _ => return,
        };
        let message = format!("`distinct` can't use `{name}` as its key: it is {}", article(&part.ty));
        let mut diagnostic = Diagnostic::error(Code::E200, message).label(part.span, this_is(&part.ty));
        if part.span == statement {
            diagnostic = diagnostic.help("name the column that counts: `distinct by …`");
        }
        self.error(diagnostic);
    }

    /// Statements that come later; names that they would bind are bound to what failed.
    pub(super) fn later(&mut self, statement: &StatementKind, span: Span) {
        match statement {
            StatementKind::Emit { target: Target::Scoped { scope, name }, .. } => {
                self.unsupported(span, &format!("`emit ${}.{}` is", scope.text, name.text));
            }
            StatementKind::Trace { .. } => {
                self.unsupported(span, "`trace` is");
            }
            StatementKind::Use { .. } => {
                self.unsupported(span, "`use` is");
                self.complete = false;
            }
            StatementKind::EmitEach { .. } => {
                self.unsupported(span, "`emit each` is");
                self.complete = false;
            }
            _ => {}
        }
    }
}

impl Program {
    /// The output row and where each of its columns comes from.
    ///
    /// That is the input columns in their places, where an emit of the same name takes over, then the new names
    /// in emit order; only the emitted ones if `keep_input` is false. Hidden columns pass in any case.
    pub fn output(&self, input: &Row, keep_input: bool) -> (Row, Vec<OutputColumn>) {
        let mut schema = Schema { columns: Vec::new(), carries: keep_input && input.schema.carries };
        let mut origins = Vec::new();
        for (index, column) in input.schema.visible().iter().enumerate() {
            match self.last_emit(&column.name) {
                Some(slot) => {
                    schema.columns.push(self.column(slot));
                    origins.push(OutputColumn::Emit(slot));
                }
                None if keep_input => {
                    schema.columns.push(column.clone());
                    origins.push(OutputColumn::Input(index));
                }
                None => {}
            }
        }
        for emit in &self.emits {
            if schema.position(&emit.name).is_none() {
                let slot = self.last_emit(&emit.name).expect("the name is that of an emit");
                schema.columns.push(self.column(slot));
                origins.push(OutputColumn::Emit(slot));
            }
        }
        for (index, column) in input.schema.hidden() {
            schema.columns.push(column.clone());
            origins.push(OutputColumn::Input(index));
        }
        let complete = self.complete && (input.complete || !keep_input);
        (Row { schema, complete, texts: input.texts.clone(), ..Row::default() }, origins)
    }

    fn last_emit(&self, name: &str) -> Option<usize> {
        self.emits.iter().rposition(|emit| emit.name == name)
    }

    fn column(&self, slot: usize) -> Column {
        let Slot { name, ty } = self.emits[slot].clone();
        Column { name, ty, span: self.emit_spans[slot], hidden: false }
    }
}
