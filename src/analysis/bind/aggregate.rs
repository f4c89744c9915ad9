//! Aggregates: what makes a group, the two programs around the grouping, and the row they give.

use std::sync::Arc;

use super::{Binder, Bound};
use crate::analysis::check::{Checker, GroupProgram, Grouping, Program, Row, alike};
use crate::analysis::hir::{
    Aggregate, Aggregation, Column, Expr, ExprKind, NodeKind, OutputColumn, Schema, Slot, Statement, Transform,
};
use crate::analysis::types::Type;
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::cxl::ast::{StatementKind, Target};
use crate::syntax::pipeline::ast;

impl Binder<'_> {
    pub(super) fn aggregate(&mut self, node: &ast::Node, aggregate: &ast::Aggregate, input: &Row) -> Bound {
        let name = &node.name.value;
        let computed = |name: &str| is_computed(aggregate, name);
        let list = format!("`group_by` of aggregate `{name}`");
        let grouped = self.grouping_columns(&list, &aggregate.group_by.value, input, computed);
        if grouped.unknown.is_empty() {
            self.streams_whole_keys(node, aggregate, input);
        }
        let mut key = Schema { columns: visible_key(aggregate, input), carries: false };
        let (mut positions, mut spans) = (grouped.columns.clone(), grouped.spans.clone());
        for (position, column) in input.schema.keys() {
            if let Some(name) = covering(aggregate, column) {
                positions.push(position);
                spans.push(name.span);
                key.columns.push(column.clone());
            }
        }
        let place = format!("aggregate \"{name}\"");
        let checker = Checker::new(place, input, &self.vars, &self.node_names, &mut self.mixes, self.diagnostics);
        let checker = checker.over_groups(Grouping::Aggregate, positions.clone(), grouped.unknown.clone());
        let program = checker.group_program(&aggregate.program);
        // What is read below may be a column that a wrong name stands for.
        let complete = grouped.unknown.iter().all(|name| computed(name));
        let key = Row { schema: key, complete, ..Row::default() };
        let (mut row, output) = program.results.output(&key, true);
        if row.schema.visible().is_empty() && row.complete {
            self.no_columns(node);
            row.complete = false;
        }
        let kind = grouped.unknown.is_empty().then(|| {
            let strategy = aggregate.strategy.as_ref();
            let parts = Parts { key: key.schema, positions, spans, program, output };
            let span = strategy.map_or(node.name.span, |strategy| strategy.span);
            NodeKind::Aggregate(parts.assemble(strategy.map_or_else(Default::default, |strategy| strategy.value), span))
        });
        Bound { kind, rows: vec![Arc::new(row)] }
    }

    fn no_columns(&mut self, node: &ast::Node) {
        let message = format!("aggregate `{}` gives no columns", node.name.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(node.name.span, "groups by nothing and emits nothing")
            .help("emit something, such as `emit rows = count(*)`, or name columns in `group_by`");
        self.diagnostics.push(diagnostic);
    }
}

/// What an aggregate is put together from.
struct Parts {
    /// The columns of the key.
    key: Schema,
    /// Where they stand in the input.
    positions: Vec<usize>,
    /// Where they are named.
    spans: Vec<Span>,
    program: GroupProgram,
    /// Where each column of the output comes from.
    output: Vec<OutputColumn>,
}

/// An argument of one or several aggregates.
struct Argument {
    value: Expr,
    /// How it is written.
    text: String,
    /// The emit that it stands in first.
    emit: String,
}

impl Parts {
    fn assemble(self, strategy: ast::AggregateStrategy, strategy_span: Span) -> Aggregation {
        let Parts { key, positions, spans, program, output } = self;
        let GroupProgram { rows, results, aggregates, written } = program;
        let mut groups = key.clone();
        for (aggregate, written) in aggregates.iter().zip(&written) {
            groups.columns.push(column(&written.text, aggregate.ty.clone(), aggregate.span));
        }
        let mut arguments: Vec<Argument> = Vec::new();
        let mut resolved = Vec::with_capacity(aggregates.len());
        for (aggregate, written) in aggregates.into_iter().zip(&written) {
            let args = aggregate.args.into_iter().zip(&written.args).map(|(value, text)| {
                let (ty, span) = (value.ty.clone(), value.span);
                let position = positions.len() + argument(&mut arguments, value, text, &written.emit);
                Expr { kind: ExprKind::Column(position), ty, span }
            });
            resolved.push(Aggregate { args: args.collect(), ..aggregate });
        }
        let mut grouped = key;
        let of_argument = |argument: &Argument| column(&argument.text, argument.value.ty.clone(), argument.value.span);
        grouped.columns.extend(arguments.iter().map(of_argument));
        Aggregation {
            rows: row_transform(rows, &positions, arguments),
            grouped: Arc::new(grouped),
            key: positions.len(),
            key_spans: spans,
            aggregates: resolved,
            results: transform(results, output),
            groups: Arc::new(groups),
            strategy,
            strategy_span,
        }
    }
}

/// The position of an argument among all; one that says the same is not computed twice.
fn argument(arguments: &mut Vec<Argument>, value: Expr, text: &str, emit: &str) -> usize {
    let same = arguments.iter().position(|other| alike(&other.value, &value));
    same.unwrap_or_else(|| {
        arguments.push(Argument { value, text: text.to_owned(), emit: emit.to_owned() });
        arguments.len() - 1
    })
}

/// What is done with rows, with an emit for each argument behind it.
fn row_transform(program: Program, key: &[usize], arguments: Vec<Argument>) -> Transform {
    let mut output: Vec<OutputColumn> = key.iter().map(|position| OutputColumn::Input(*position)).collect();
    let mut transform = transform(program, Vec::new());
    for (slot, Argument { value, emit, .. }) in arguments.into_iter().enumerate() {
        output.push(OutputColumn::Emit(slot));
        transform.emits.push(Slot { name: emit, ty: value.ty.clone() });
        transform.statements.push(Statement::Emit { slot, value });
    }
    Transform { output, ..transform }
}

fn transform(program: Program, output: Vec<OutputColumn>) -> Transform {
    Transform {
        validations: Vec::new(),
        statements: program.statements,
        lets: program.lets,
        emits: program.emits,
        output,
        keeps_carried: false,
        batch_size: None,
    }
}

/// The columns that `group_by` names, in order; one that doesn't exist has the error type.
fn visible_key(aggregate: &ast::Aggregate, input: &Row) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::with_capacity(aggregate.group_by.value.len());
    for name in &aggregate.group_by.value {
        if columns.iter().any(|column| column.name == name.value) {
            continue;
        }
        columns.push(match input.schema.position(&name.value) {
            Some(position) => input.schema.columns[position].clone(),
            None => column(&name.value, Type::error(), name.span),
        });
    }
    columns
}

fn column(name: &str, ty: Type, span: Span) -> Column {
    Column { name: name.to_owned(), ty, span, hidden: false }
}

/// Where `group_by` names the field of a hidden key column, if it does.
fn covering<'a>(aggregate: &'a ast::Aggregate, key: &Column) -> Option<&'a Spanned<String>> {
    let field = key.key_field()?;
    aggregate.group_by.value.iter().find(|name| name.value == field)
}

/// Whether the aggregate's own program gives something this name.
fn is_computed(aggregate: &ast::Aggregate, name: &str) -> bool {
    aggregate.program.statements.iter().any(|statement| match &statement.kind {
        StatementKind::Let { name: own, .. } | StatementKind::Emit { target: Target::Column(own), .. } => {
            own.text == name
        }
        _ => false,
    })
}
