//! Sources: file matchers, declared columns, and the row they give.

use std::collections::HashMap;
use std::sync::Arc;

use super::declared::column_type;
use super::settings::{check_date_format, date_format_use};
use super::{Binder, Bound, paths};
use crate::analysis::check::Row;
use crate::analysis::formats::{DATE_FORMATS, DATE_TIME_FORMATS, Fault, FormatUse, check_glob, check_regex};
use crate::analysis::hir::{Column, Matcher, NodeKind, Schema, Source, SourceColumn};
use crate::analysis::inner_span;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::pipeline::ast::{self, OnUnmapped, SchemaColumn};

impl Binder<'_> {
    pub(super) fn source(&mut self, node: &ast::Node, source: &ast::Source) -> Bound {
        self.same_name(node, source);
        let matcher = source.matcher.as_ref().map(|matcher| self.matcher(matcher));
        let columns = source.schema.as_ref().map(|columns| self.columns(columns));
        self.headers(source);
        let carries = source.on_unmapped == OnUnmapped::AutoWiden;
        let complete = columns.is_some() && self.names_are_right(source);
        let declared = columns.as_deref().unwrap_or_default();
        let texts = match source.format.value {
            ast::Format::Csv => declared.iter().filter(|column| column.ty.kind == Kind::String),
        };
        let texts = Arc::new(texts.map(|column| column.span).collect());
        let mut row = Row { schema: schema(declared, carries), complete, texts, ..Row::default() };
        let list = format!("`sort_order` of source `{}`", node.name.value);
        let find = |name: &str| row.schema.position(name);
        let sort_order = self.sort_keys(&list, &source.sort_order, &row, find);
        let key = columns.as_deref().map(|columns| self.correlation_key(node, source, columns, complete));
        let (correlation_key, hidden) = key.unwrap_or_default();
        row.schema.columns.extend(hidden);
        let kind = columns.zip(matcher).map(|(columns, matcher)| {
            NodeKind::Source(Source {
                format: source.format.value,
                matcher,
                columns,
                csv: source.csv.clone(),
                on_unmapped: source.on_unmapped,
                sort_order,
                sort_order_span: source.sort_order_span.unwrap_or(node.name.span),
                sort_spans: source.sort_order.iter().map(|field| field.field.span).collect(),
                unsorted_is_error: source.unsorted_is_error,
                correlation_key,
            })
        });
        Bound { kind, rows: vec![Arc::new(row)] }
    }

    /// Whether no name of a column is wrong, so that another one may be meant by it.
    fn names_are_right(&self, source: &ast::Source) -> bool {
        source.schema.iter().flatten().all(|column| !self.diagnostics.reports(column.name.span))
    }

    fn same_name(&mut self, node: &ast::Node, source: &ast::Source) {
        let Some(name) = source.config_name.as_ref().filter(|name| name.value != node.name.value) else { return };
        if self.diagnostics.reports(name.span) {
            return;
        }
        let message = format!("source `{}` is called `{}` in its `config`", node.name.value, name.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(name.span, "a second name")
            .label(node.name.span, "the node's name")
            .help("leave `config.name` out");
        self.diagnostics.push(diagnostic);
    }

    fn matcher(&mut self, matcher: &ast::Matcher) -> Matcher {
        let text = |path: &Spanned<String>| (path.value.clone(), path.span);
        match matcher {
            ast::Matcher::Path(path) => {
                paths::check(path, self.options, self.diagnostics);
                Matcher::Paths(vec![text(path)])
            }
            ast::Matcher::Paths(list) => {
                for path in list {
                    paths::check(path, self.options, self.diagnostics);
                }
                Matcher::Paths(list.iter().map(text).collect())
            }
            ast::Matcher::Glob(glob) => {
                paths::check(glob, self.options, self.diagnostics);
                self.pattern(Code::E212, "glob pattern", glob, check_glob(&glob.value));
                Matcher::Glob(glob.value.clone(), glob.span)
            }
            ast::Matcher::Regex(regex) => {
                self.pattern(Code::E213, "file regex", regex, check_regex(&regex.value));
                Matcher::Regex(regex.value.clone(), regex.span)
            }
        }
    }

    fn pattern(&mut self, code: Code, what: &str, pattern: &Spanned<String>, checked: Result<(), Fault>) {
        let Err(fault) = checked else { return };
        let message = format!("the {what} `{}` is not valid: {}", pattern.value, fault.reason);
        let span = inner_span(pattern.span, &pattern.value, &fault.range);
        self.diagnostics.push(Diagnostic::error(code, message).label(span, fault.reason));
    }

    fn columns(&mut self, columns: &[SchemaColumn]) -> Vec<SourceColumn> {
        let mut seen: HashMap<&str, &SchemaColumn> = HashMap::new();
        let mut bound = Vec::with_capacity(columns.len());
        for column in columns {
            match seen.get(column.name.value.as_str()) {
                Some(first) => self.duplicate_column(first, column),
                None => {
                    self.reserved_name(column);
                    seen.insert(&column.name.value, column);
                    bound.push(self.column(column));
                }
            }
        }
        bound
    }

    /// Without a header there is none to read a column from.
    fn headers(&mut self, source: &ast::Source) {
        let columns = source.schema.iter().flatten().filter(|_| !source.csv.has_header);
        for (name, header) in columns.filter_map(|column| Some((&column.name, column.source_name.as_ref()?))) {
            let message =
                format!("column `{}` can't be read from `{}`: the file has no header", name.value, header.value);
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(header.span, "there is no header to look for it")
                .help("leave `source_name` out: with `has_header: false` columns are read by position, in the order of the schema");
            self.diagnostics.push(diagnostic);
        }
    }

    /// The columns of correlation keys are no names for others.
    fn reserved_name(&mut self, column: &SchemaColumn) {
        if column.name.value.starts_with(Column::KEY_PREFIX) {
            let message = format!("`{}` is no name for a column", column.name.value);
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(column.name.span, format!("`{}` marks the columns of correlation keys", Column::KEY_PREFIX))
                .help("give it another `name`, with `source_name` for the header it is read from");
            self.diagnostics.push(diagnostic);
        }
    }

    fn duplicate_column(&mut self, first: &SchemaColumn, second: &SchemaColumn) {
        let diagnostic = Diagnostic::error(Code::E200, format!("two columns are called `{}`", second.name.value))
            .label(second.name.span, "the second one")
            .label(first.name.span, "the first one")
            .help("give one of them another `name`, with `source_name` for the header it is read from");
        self.diagnostics.push(diagnostic);
    }

    fn column(&mut self, column: &SchemaColumn) -> SourceColumn {
        let scale = column.scale.as_ref().map(|scale| scale.value);
        let ty = column_type(&column.ty, scale, self.diagnostics);
        self.decimal_rules(column, &ty);
        let formats = self.formats(column, &ty);
        let header = column.source_name.as_ref().unwrap_or(&column.name);
        SourceColumn {
            name: column.name.value.clone(),
            header: header.value.clone(),
            header_span: header.span,
            formats,
            precision: column.precision.as_ref().map(|precision| precision.value),
            span: column.name.span,
            ty,
        }
    }

    /// `precision` and `scale` are for decimals, and agree.
    fn decimal_rules(&mut self, column: &SchemaColumn, ty: &Type) {
        let settings = [("precision", &column.precision), ("scale", &column.scale)];
        for (key, setting) in settings.iter().filter_map(|(key, setting)| Some((key, setting.as_ref()?))) {
            if !matches!(ty.kind, Kind::Decimal { .. } | Kind::Error) {
                self.misplaced(column, key, setting.span, "decimal");
            }
        }
        if let (Some(precision), Some(scale)) = (&column.precision, &column.scale)
            && scale.value > precision.value
        {
            let message = format!("`scale` of column `{}` is above its `precision`", column.name.value);
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(scale.span, format!("{} places behind the point", scale.value))
                .label(precision.span, format!("of {} digits", precision.value));
            self.diagnostics.push(diagnostic);
        }
    }

    /// The formats of a date column: its own, else the pipeline's, else the built-in ones.
    fn formats(&mut self, column: &SchemaColumn, ty: &Type) -> Vec<String> {
        let usage = match ty.kind {
            Kind::Date => FormatUse::ParseDate,
            Kind::DateTime => FormatUse::ParseDateTime,
            _ => {
                if let Some(format) = column.format.as_ref().filter(|_| !ty.is_error()) {
                    self.misplaced(column, "format", format.span, "date or date_time");
                }
                return Vec::new();
            }
        };
        if let Some(format) = &column.format {
            check_date_format(format, usage, self.diagnostics);
            return vec![format.value.clone()];
        }
        let own = self.pipeline.settings.date_formats.iter().flatten().map(|format| format.value.clone());
        let own: Vec<String> = own.filter(|format| date_format_use(format) == usage).collect();
        match usage {
            _ if !own.is_empty() => own,
            FormatUse::ParseDate => DATE_FORMATS.map(str::to_owned).to_vec(),
            _ => DATE_TIME_FORMATS.map(str::to_owned).to_vec(),
        }
    }

    fn misplaced(&mut self, column: &SchemaColumn, key: &str, span: crate::diagnostics::Span, kinds: &str) {
        let ty = &column.ty.name;
        let message = format!("`{key}` is set for column `{}`, which is of type {}", column.name.value, ty.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(span, format!("only for {kinds} columns"))
            .label(ty.span, "its type")
            .help(format!("leave `{key}` out, or declare the column as {kinds}"));
        self.diagnostics.push(diagnostic);
    }
}

fn schema(columns: &[SourceColumn], carries: bool) -> Schema {
    let column = |column: &SourceColumn| Column {
        name: column.name.clone(),
        ty: column.ty.clone(),
        span: column.span,
        hidden: false,
    };
    Schema { columns: columns.iter().map(column).collect(), carries }
}
