//! Correlation keys: what a source declares, what a node must keep together, and what this version refuses.

use super::Binder;
use crate::analysis::check::{Row, did_you_mean, list, there_are};
use crate::analysis::hir::{Column, SourceColumn};
use crate::analysis::types::Type;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};
use crate::syntax::pipeline::ast::{Aggregate, AggregateStrategy, Node, NodeKind, Pipeline, Source};

impl Binder<'_> {
    /// The columns of a source's key by position, and the hidden columns that carry it. `complete` tells whether
    /// `columns` are all. Reports E153 for each field that is not declared; its hidden column has the error type, which
    /// silences followers.
    pub(super) fn correlation_key(
        &mut self,
        node: &Node,
        source: &Source,
        columns: &[SourceColumn],
        complete: bool,
    ) -> (Vec<usize>, Vec<Column>) {
        let mut positions = Vec::with_capacity(source.correlation_key.len());
        let mut hidden = Vec::with_capacity(source.correlation_key.len());
        for field in &source.correlation_key {
            let position = columns.iter().position(|column| column.name == field.value);
            match position {
                Some(position) => positions.push(position),
                None if complete => self.not_declared(node, field, columns),
                None => {}
            }
            hidden.push(Column {
                name: format!("{}{}", Column::KEY_PREFIX, field.value),
                ty: position.map_or_else(Type::error, |position| columns[position].ty.clone()),
                span: field.span,
                hidden: true,
            });
        }
        (positions, hidden)
    }

    fn not_declared(&mut self, node: &Node, field: &Spanned<String>, columns: &[SourceColumn]) {
        if self.diagnostics.reports(field.span) {
            return;
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let message = format!(
            "the correlation key of source `{}` names `{}`, which its `schema` does not declare",
            node.name.value, field.value
        );
        let diagnostic = Diagnostic::error(Code::E153, message)
            .label(field.span, "not a declared column")
            .note(there_are("column", &names));
        let diagnostic = did_you_mean(diagnostic, &field.value, field.span, names);
        let help = format!("declare `{}` in the `schema`, or take it out of the key", field.value);
        let help = diagnostic.help.is_none().then_some(help);
        self.diagnostics.push(diagnostic.help_opt(help));
    }

    /// Reports E15C if the groups of a node (messages say "cull `gate`") could hold rows of several correlation groups:
    /// `partition_by` must name every field of the keys that its rows carry.
    pub(super) fn covers_key(&mut self, node: &str, partition_by: &Spanned<Vec<Spanned<String>>>, input: &Row) {
        let missing = missing_fields(&partition_by.value, input);
        let fields: Vec<&str> = missing.iter().map(|(field, _)| *field).collect();
        if fields.is_empty() {
            return;
        }
        let message = format!(
            "`partition_by` of {node} leaves out {}, so its groups could tear correlation groups apart",
            list(&fields)
        );
        let mut diagnostic =
            Diagnostic::error(Code::E15C, message).label(partition_by.span, format!("needs {}, too", list(&fields)));
        for (_, column) in &missing {
            diagnostic = diagnostic.label(column.span, "belongs to the correlation key");
        }
        let or = if fields.iter().all(|field| input.schema.position(field).is_some()) {
            ", or take `correlation_key` out of the source"
        } else {
            ""
        };
        let add = add_to("partition_by", &fields, input);
        self.diagnostics.push(diagnostic.help(format!("{add}{or}")));
    }

    /// Reports E15Y if a streaming aggregate's groups could hold rows of several correlation groups: a row that fails
    /// is then taken out of them, for which all rows of a group must be at hand.
    pub(super) fn streams_whole_keys(&mut self, node: &Node, aggregate: &Aggregate, input: &Row) {
        let Some(strategy) = aggregate.strategy.as_ref().filter(|it| it.value == AggregateStrategy::Streaming) else {
            return;
        };
        let missing = missing_fields(&aggregate.group_by.value, input);
        let fields: Vec<&str> = missing.iter().map(|(field, _)| *field).collect();
        if fields.is_empty() {
            return;
        }
        let message = format!(
            "aggregate `{}` can't stream: its `group_by` leaves {} out, so its groups mix correlation groups",
            node.name.value,
            list(&fields)
        );
        let mut diagnostic = Diagnostic::error(Code::E15Y, message)
            .label(strategy.span, "keeps no rows, so none can be taken back")
            .label(aggregate.group_by.span, format!("leaves {} out", list(&fields)));
        for (_, column) in &missing {
            diagnostic = diagnostic.label(column.span, "belongs to the correlation key");
        }
        let add = add_to("group_by", &fields, input);
        self.diagnostics.push(diagnostic.help(format!("take `strategy` out, or {add}")));
    }
}

/// The fields of correlation keys that a list of names leaves out, with their hidden columns.
fn missing_fields<'r>(names: &[Spanned<String>], input: &'r Row) -> Vec<(&'r str, &'r Column)> {
    let keys = input.schema.keys().map(|(_, column)| column).filter(|column| !column.ty.is_error());
    let fields = keys.filter_map(|column| Some((column.key_field()?, column)));
    fields.filter(|(field, _)| !names.iter().any(|name| name.value == *field)).collect()
}

/// What to do about missing fields: "add them to `partition_by`".
fn add_to(list: &str, fields: &[&str], input: &Row) -> String {
    let it = if fields.len() == 1 { "it" } else { "them" };
    let lost: Vec<&str> = fields.iter().copied().filter(|field| input.schema.position(field).is_none()).collect();
    match lost.is_empty() {
        true => format!("add {it} to `{list}`"),
        false => format!("let {} reach this node, and add {it} to `{list}`", self::list(&lost)),
    }
}

/// Refuses keys under `strategy: continue` (E199): failing rows would have to take their group with them. Comes last,
/// and only where nothing else is wrong.
pub(super) fn refuse_continue(pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    if !pipeline.error_handling.continue_on_error || diagnostics.has_errors() {
        return;
    }
    let keys = pipeline.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Source(source) => source.correlation_key.first(),
        _ => None,
    });
    let keys: Vec<&Spanned<String>> = keys.collect();
    if keys.is_empty() {
        return;
    }
    let message = "a correlation key under `strategy: continue` is not run by this version yet";
    let mut diagnostic = Diagnostic::error(Code::E199, message);
    for key in keys {
        diagnostic = diagnostic.label(key.span, "rows of one key are to pass or fail together");
    }
    if let Some(strategy) = pipeline.error_handling.strategy_span {
        diagnostic = diagnostic.label(strategy, "sets aside rows that fail");
    }
    diagnostics.push(diagnostic.help("`strategy: fail_fast` runs it; without `correlation_key`, `continue` does, too"));
}
