//! Sinks: which columns they write.

use super::order::stamp_help;
use super::{Binder, Bound, declared, paths};
use crate::analysis::check::{Row, did_you_mean, list, there_are};
use crate::analysis::hir::{Column, NodeKind, Sink, SinkColumn, SinkColumnSource, SortKey};
use crate::analysis::types::Kind;
use crate::diagnostics::suggest::column_as_name;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};
use crate::syntax::cxl::ast::{Statement, StatementKind, Target};
use crate::syntax::pipeline::ast::{self, Mapping, NullOrder};

impl Binder<'_> {
    /// Binds a sink; `producer` is the transform that it reads, if it reads one.
    pub(super) fn sink(
        &mut self,
        node: &ast::Node,
        sink: &ast::Sink,
        input: &Row,
        producer: Option<&ast::Transform>,
    ) -> Bound {
        paths::check(&sink.path, self.options, self.diagnostics);
        let mut columns = Columns { sink, input, diagnostics: self.diagnostics, written: Vec::new() };
        let offered = columns.offered(producer);
        let passed: Vec<usize> =
            offered.iter().copied().filter(|column| !columns.excluded(&input.schema.columns[*column].name)).collect();
        columns.excluded_keys(node);
        columns.excluded_columns_exist(node);
        columns.mapped();
        columns.rest(&passed);
        columns.schema(node);
        let written = columns.written;
        let (sort_order, drop_nulls) = self.order(node, sink, input, &written);
        let key_columns = if sink.include_correlation_keys { key_columns(input) } else { Vec::new() };
        self.key_names(&key_columns, &written);
        let append_carried = sink.include_unmapped && input.schema.carries;
        if written.is_empty() && key_columns.is_empty() && !append_carried && input.complete && sink.mapping.is_none() {
            self.nothing_to_write(node, input, !offered.is_empty(), producer.is_some());
        }
        let kind = NodeKind::Sink(Sink {
            label: sink.config_name.as_ref().unwrap_or(&node.name).value.clone(),
            format: sink.format.value,
            path: (sink.path.value.clone(), sink.path.span),
            columns: written,
            append_carried,
            key_columns,
            exclude: sink.exclude.clone(),
            include_header: sink.include_header,
            if_exists: sink.if_exists.value,
            delimiter: sink.delimiter,
            sort_order,
            drop_nulls,
        });
        Bound { kind: Some(kind), rows: Vec::new() }
    }

    /// Warns (W203) of a sink that is to leave out what a transform does not emit, but does not read that transform.
    pub(super) fn leaves_nothing_out(&mut self, node: &ast::Node, sink: &ast::Sink, input: &Row, above: &ast::Node) {
        let ast::NodeKind::Transform(transform) = &above.kind else { return };
        let emitted = emitted_names(transform);
        let others = |column: &Column| !emitted.contains(&column.name.as_str());
        let asked = !sink.include_unmapped && sink.mapping.is_none() && sink.exclude.is_empty();
        let kept = transform.include_unmapped && !emitted.is_empty() && input.schema.visible().iter().any(others);
        if !asked || !kept {
            return;
        }
        let (sink_name, name) = (&node.name.value, &above.name.value);
        let message = format!("`include_unmapped: false` leaves no declared column out of sink `{sink_name}`");
        let diagnostic = Diagnostic::warning(Code::W203, message)
            .label(sink.input.span, "not the transform that emits, so all of its columns are written")
            .label(above.name.span, "passes on all columns")
            .help(format!("set it in transform `{name}`, or list the columns of the file in `mapping`"));
        self.diagnostics.push(diagnostic);
    }

    /// The order of the rows, and the columns whose nulls are dropped. A name means a column of the input, else one
    /// that the sink writes under that name.
    fn order(
        &mut self,
        node: &ast::Node,
        sink: &ast::Sink,
        input: &Row,
        written: &[SinkColumn],
    ) -> (Vec<SortKey>, Vec<usize>) {
        let find = |name: &str| {
            let column = |written: &SinkColumn| match written.source {
                SinkColumnSource::Column(position) => Some(position),
                SinkColumnSource::Carried(_) => None,
            };
            let shown = || written.iter().find(|written| written.name == name).and_then(column);
            input.schema.position(name).or_else(shown)
        };
        let list = format!("`sort_order` of sink `{}`", node.name.value);
        let keys = self.sort_keys(&list, &sink.sort_order, input, find);
        let dropping = sink.sort_order.iter().filter(|field| field.nulls == NullOrder::Drop);
        let drop_nulls = dropping.filter_map(|field| find(&field.field.value)).collect();
        (keys, drop_nulls)
    }

    /// No other column has the name of a correlation key.
    fn key_names(&mut self, keys: &[SinkColumn], written: &[SinkColumn]) {
        for column in written.iter().filter(|column| keys.iter().any(|key| key.name == column.name)) {
            let message = format!("`mapping` writes `{}`, and so does `include_correlation_keys`", column.name);
            let diagnostic = Diagnostic::error(Code::E364, message)
                .label(column.span, "takes the name of a column that is written as well")
                .help("choose another name");
            self.diagnostics.push(diagnostic);
        }
    }

    fn nothing_to_write(&mut self, node: &ast::Node, input: &Row, all_excluded: bool, reads_transform: bool) {
        let help = if all_excluded {
            "take a name out of `exclude`"
        } else if !reads_transform {
            "no column reaches it: let a transform above emit some, or set `include_unmapped: true` there"
        } else if input.schema.visible().is_empty() {
            "the transform in front gives no column: emit some, or set `include_unmapped: true` there"
        } else {
            "the transform in front emits nothing: emit the columns, or set `include_unmapped: true`"
        };
        let message = format!("sink `{}` has no column to write", node.name.value);
        let diagnostic = Diagnostic::error(Code::E200, message).label(node.name.span, "would write empty lines");
        self.diagnostics.push(diagnostic.help(help));
    }
}

/// Collects the columns that a sink writes.
struct Columns<'a, 'd> {
    sink: &'a ast::Sink,
    input: &'a Row,
    diagnostics: &'d mut Diagnostics,
    written: Vec<SinkColumn>,
}

impl Columns<'_, '_> {
    /// Positions of the columns that pass without being asked for unless they are excluded, in order.
    fn offered(&self, producer: Option<&ast::Transform>) -> Vec<usize> {
        let emitted = producer.filter(|_| !self.sink.include_unmapped).map(emitted_names);
        let columns = self.input.schema.visible().iter().enumerate();
        let kept =
            columns.filter(|(_, column)| emitted.as_ref().is_none_or(|names| names.contains(&column.name.as_str())));
        kept.map(|(index, _)| index).collect()
    }

    fn excluded(&self, name: &str) -> bool {
        self.sink.exclude.iter().any(|excluded| excluded.value == name)
    }

    /// W364 for each name in `exclude` of a correlation key that is written all the same.
    fn excluded_keys(&mut self, node: &ast::Node) {
        let written: Vec<_> = self.sink.exclude.iter().filter(|name| self.is_written_key(&name.value)).collect();
        for excluded in written {
            let (sink, name) = (&node.name.value, &excluded.value);
            let message = format!("`exclude` of sink `{sink}` does not leave out the correlation key `{name}`");
            let diagnostic = Diagnostic::warning(Code::W364, message)
                .label(excluded.span, "has no effect")
                .help("`include_correlation_keys` writes it: leave that out if no key is to be written");
            self.diagnostics.push(diagnostic);
        }
    }

    fn is_written_key(&self, name: &str) -> bool {
        self.sink.include_correlation_keys && self.input.schema.keys().any(|(_, key)| key.name == name)
    }

    /// W364 for each name in `exclude` that no row can have.
    fn excluded_columns_exist(&mut self, node: &ast::Node) {
        if self.input.schema.carries || !self.input.complete {
            return;
        }
        let names: Vec<&str> = self.input.schema.visible().iter().map(|column| column.name.as_str()).collect();
        let is_known = |name: &str| names.contains(&name) || self.is_written_key(name);
        let unknown: Vec<_> = self.sink.exclude.iter().filter(|excluded| !is_known(&excluded.value)).collect();
        for excluded in unknown {
            let message =
                format!("`exclude` of sink `{}` names `{}`, which can't exist", node.name.value, excluded.value);
            let diagnostic = Diagnostic::warning(Code::W364, message)
                .label(excluded.span, "no column of the input, and no other fields are carried")
                .note(there_are("column", &names));
            let diagnostic = did_you_mean(diagnostic, &excluded.value, excluded.span, names.iter().copied());
            self.diagnostics.push(diagnostic);
        }
    }

    /// The columns of `mapping`, in its order.
    fn mapped(&mut self) {
        let Some(mapping) = &self.sink.mapping else { return };
        for entry in mapping {
            self.map(entry);
        }
    }

    fn map(&mut self, entry: &Mapping) {
        let name = entry.column.value.as_str();
        let source = match self.input.schema.position(name) {
            _ if self.excluded(name) => return self.reads_excluded(&entry.column),
            Some(position) => SinkColumnSource::Column(position),
            None if !self.input.complete || self.diagnostics.reports(entry.column.span) => return,
            None if self.input.schema.hidden().any(|(_, column)| column.stamp().is_some() && column.name == name) => {
                return self.reads_stamp(&entry.column);
            }
            None if self.is_renamed_by_as(entry) => return self.no_as(&entry.column),
            None if !self.input.schema.carries => return self.cannot_exist(entry),
            None if !self.sink.include_unmapped => return self.carried_left_out(entry),
            None => SinkColumnSource::Carried(name.to_owned()),
        };
        let column = SinkColumn { name: entry.output.value.clone(), source, scale: None, span: entry.output.span };
        self.written.push(column);
    }

    fn reads_excluded(&mut self, column: &Spanned<String>) {
        let message = format!("`mapping` reads `{}`, which `exclude` leaves out", column.value);
        let mut diagnostic = Diagnostic::error(Code::E364, message).label(column.span, "left out");
        for excluded in self.sink.exclude.iter().filter(|excluded| excluded.value == column.value) {
            diagnostic = diagnostic.label(excluded.span, "by this");
        }
        self.diagnostics.push(diagnostic.help("take it out of one of them"));
    }

    fn reads_stamp(&mut self, column: &Spanned<String>) {
        let diagnostic =
            Diagnostic::error(Code::E365, format!("`mapping` reads `{}`, which is no column", column.value))
                .label(column.span, "a stamp of a reshape");
        self.diagnostics.push(diagnostic.help_opt(stamp_help(&column.value)));
    }

    fn cannot_exist(&mut self, entry: &Mapping) {
        let column = &entry.column;
        let names = self.names();
        let diagnostic =
            Diagnostic::error(Code::E365, format!("`mapping` reads `{}`, which can't exist", column.value))
                .label(column.span, "no column of the input, and no other fields are carried")
                .note(there_are("column", &names));
        if let Some(help) = self.input.ended(&column.value) {
            return self.diagnostics.push(diagnostic.help(help));
        }
        self.diagnostics.push(match turned(entry, &names) {
            Some(help) => diagnostic.help(help),
            None => did_you_mean(diagnostic, &column.value, column.span, names),
        });
    }

    /// Whether an entry is one such as `id as ID`: a column of the input, where no field can have the whole name.
    fn is_renamed_by_as(&self, entry: &Mapping) -> bool {
        let is_bare = entry.output.span == entry.column.span;
        let may_be_carried = self.input.schema.carries && self.sink.include_unmapped;
        let names = column_as_name(&entry.column.value).filter(|_| is_bare && !may_be_carried);
        names.is_some_and(|(column, _)| self.input.schema.position(column).is_some())
    }

    /// Reports (E365) an entry such as `id as ID`.
    fn no_as(&mut self, entry: &Spanned<String>) {
        let message = format!("`mapping` reads `{}`, which is no column", entry.value);
        let diagnostic = Diagnostic::error(Code::E365, message).label(entry.span, "taken for the name of one column");
        let help = column_as_name(&entry.value).map(|(column, output)| name_first(output, column));
        self.diagnostics.push(diagnostic.help_opt(help));
    }

    fn carried_left_out(&mut self, entry: &Mapping) {
        let column = &entry.column;
        let names = self.names();
        let message =
            format!("`mapping` reads the undeclared field `{}`, which `include_unmapped: false` drops", column.value);
        let diagnostic = Diagnostic::error(Code::E365, message)
            .label(column.span, "not a declared column")
            .note(there_are("column", &names));
        if let Some(help) = turned(entry, &names) {
            return self.diagnostics.push(diagnostic.help(help));
        }
        let diagnostic = did_you_mean(diagnostic, &column.value, column.span, names);
        let help = "declare it in the source's schema, or set `include_unmapped: true`";
        let diagnostic = if diagnostic.help.is_none() { diagnostic.help(help) } else { diagnostic };
        self.diagnostics.push(diagnostic);
    }

    fn names(&self) -> Vec<&'_ str> {
        self.input.schema.visible().iter().map(|column| column.name.as_str()).collect()
    }

    /// The columns behind the mapped ones: all that pass and are not mapped.
    fn rest(&mut self, passed: &[usize]) {
        if self.sink.mapping.is_some() && !self.sink.include_unmapped {
            return;
        }
        for &position in passed {
            let column = &self.input.schema.columns[position];
            let source = SinkColumnSource::Column(position);
            if self.written.iter().any(|written| written.source == source) {
                continue;
            }
            match self.written.iter().position(|written| written.name == column.name) {
                Some(mapped) => self.clash(mapped, &column.name),
                None => {
                    self.written.push(SinkColumn { name: column.name.clone(), source, scale: None, span: column.span });
                }
            }
        }
    }

    fn clash(&mut self, mapped: usize, name: &str) {
        let mapped = &self.written[mapped];
        let message = format!("`mapping` writes `{name}`, and the input's own `{name}` is written too");
        let diagnostic = Diagnostic::error(Code::E364, message)
            .label(mapped.span, "takes the name of a column that is written as well");
        self.diagnostics.push(diagnostic.help(match &mapped.source {
            // Names that no schema declares are most likely meant for the file.
            SinkColumnSource::Carried(other) => {
                format!("no schema declares `{other}`; {}", name_first(other, name))
            }
            SinkColumnSource::Column(_) => {
                format!("choose another name, or leave the other one out: `exclude: [{name}]`")
            }
        }));
    }

    /// The scales that decimals are rounded to. Types are what they are, so a different one is warned of.
    fn schema(&mut self, node: &ast::Node) {
        for entry in &self.sink.schema {
            let name = &entry.name;
            match (self.written.iter_mut().find(|written| written.name == name.value), &entry.scale) {
                (Some(column), Some(scale)) => {
                    column.scale = Some(scale.value);
                    let source = column.source.clone();
                    if self.scaled_kind(&source, name) {
                        self.same_kind(node, &source, entry);
                    }
                }
                (Some(column), None) => {
                    let source = column.source.clone();
                    self.same_kind(node, &source, entry);
                }
                _ if !self.input.complete || self.diagnostics.reports(name.span) => {}
                (None, Some(_)) => self.unknown_scaled(name),
                (None, None) => self.unknown_typed(node, entry),
            }
        }
    }

    /// Warns (W203) of an entry with another type than the column has, or with none at all.
    fn same_kind(&mut self, node: &ast::Node, source: &SinkColumnSource, entry: &ast::SinkColumn) {
        let Some(ty) = &entry.ty else { return };
        let Some(meant) = declared::meant(&ty.name.value) else {
            let message = format!("`{}` in the `schema` of sink `{}` is not a type", ty.name.value, node.name.value);
            let diagnostic = Diagnostic::warning(Code::W203, message).label(ty.name.span, "has no effect");
            return self.diagnostics.push(diagnostic.help("leave it out: each column is written with its own type"));
        };
        let kind = self.kind_of(source);
        let is_number = matches!(kind, Kind::Int | Kind::Float | Kind::Decimal { .. });
        // Other languages mean any number by these.
        let says_number = ["number", "numeric"].contains(&ty.name.value.as_str());
        let is_unknown = matches!(kind, Kind::Any | Kind::Null | Kind::Error) || meant == "any";
        if is_unknown || meant == base(kind) || is_number && says_number {
            return;
        }
        let message = format!(
            "sink `{}` writes `{}` as {kind}, not as the `{}` of its `schema`",
            node.name.value, entry.name.value, ty.name.value
        );
        let diagnostic = Diagnostic::warning(Code::W203, message)
            .label(ty.name.span, "has no effect")
            .help("leave it out, or convert the column in a transform, as with `to_string()`");
        self.diagnostics.push(diagnostic);
    }

    fn kind_of(&self, source: &SinkColumnSource) -> &Kind {
        match source {
            SinkColumnSource::Column(position) => &self.input.schema.columns[*position].ty.kind,
            SinkColumnSource::Carried(_) => &Kind::String,
        }
    }

    /// Warns (W203) of a type for a column that is not written, unless a field of that name may be.
    fn unknown_typed(&mut self, node: &ast::Node, entry: &ast::SinkColumn) {
        let Some(ty) = &entry.ty else { return };
        if self.input.schema.carries && self.sink.include_unmapped {
            return;
        }
        let (sink, name) = (&node.name.value, &entry.name);
        let message = format!("sink `{sink}` does not write `{}`, for which its `schema` names a type", name.value);
        let diagnostic = Diagnostic::warning(Code::W203, message).label(ty.name.span, "has no effect");
        let written: Vec<String> = self.written.iter().map(|written| written.name.clone()).collect();
        let diagnostic = did_you_mean(diagnostic, &name.value, name.span, written.iter().map(String::as_str));
        let help = diagnostic.help.is_none().then(|| format!("leave `{}` out", name.value));
        self.diagnostics.push(diagnostic.help_opt(help));
    }

    /// Whether a column can have a scale. If not, this is reported.
    fn scaled_kind(&mut self, source: &SinkColumnSource, name: &Spanned<String>) -> bool {
        let kind = self.kind_of(source);
        let can_be = matches!(kind, Kind::Decimal { .. } | Kind::Any | Kind::Null | Kind::Error);
        if !can_be {
            let message = format!("`scale` is set for column `{}`, which is of type {kind}", name.value);
            let diagnostic = Diagnostic::error(Code::E200, message).label(name.span, "only decimals have a scale");
            self.diagnostics.push(diagnostic.help("leave it out, or make the column a decimal with `to_decimal()`"));
        }
        can_be
    }

    fn unknown_scaled(&mut self, name: &Spanned<String>) {
        let names: Vec<String> = self.written.iter().map(|written| written.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("`schema` names column `{}`, which the sink does not write", name.value);
        let diagnostic = Diagnostic::error(Code::E203, message)
            .label(name.span, "not written")
            .note(format!("it writes {}", list(&names)));
        self.diagnostics.push(did_you_mean(diagnostic, &name.value, name.span, names));
    }
}

/// What to say about an entry of `mapping` that names the column first and then the file's name, if it does.
fn turned(entry: &Mapping, names: &[&str]) -> Option<String> {
    let (output, column) = (entry.output.value.as_str(), entry.column.value.as_str());
    (output != column && names.contains(&output)).then(|| name_first(column, output))
}

/// A type's name without what it is made of.
fn base(kind: &Kind) -> String {
    let name = kind.to_string();
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    name[..end].to_owned()
}

fn name_first(output: &str, column: &str) -> String {
    format!("the name in the file comes first: `{{ {output}: {column} }}`")
}

/// The correlation keys, under the names of their hidden columns.
fn key_columns(input: &Row) -> Vec<SinkColumn> {
    let column = |(position, column): (usize, &Column)| SinkColumn {
        name: column.name.clone(),
        source: SinkColumnSource::Column(position),
        scale: None,
        span: column.span,
    };
    input.schema.keys().map(column).collect()
}

/// The names that a transform's program emits.
fn emitted_names(transform: &ast::Transform) -> Vec<&str> {
    fn name(statement: &Statement) -> Option<&str> {
        match &statement.kind {
            StatementKind::Emit { target: Target::Column(name), .. } => Some(name.text.as_str()),
            _ => None,
        }
    }
    transform.program.statements.iter().filter_map(name).collect()
}
