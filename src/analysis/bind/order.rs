//! Lists of columns that rows are ordered or grouped by.

use super::Binder;
use crate::analysis::check::{Row, column_branches, did_you_mean, kinds_of, there_are, with_branches};
use crate::analysis::hir::{Schema, SortKey, Stamp};
use crate::analysis::types::Kind;
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::pipeline::ast::{NullOrder, SortField};

/// The columns that a list names.
#[derive(Default)]
pub(super) struct Named {
    /// Those that exist, by position, in order.
    pub columns: Vec<usize>,
    /// Where each of these is named.
    pub spans: Vec<Span>,
    /// The names of those that don't; reported where the row is wholly known.
    pub unknown: Vec<String>,
}

impl Binder<'_> {
    /// The sort keys that a list of fields asks for. `list` is what messages call it: "`sort_order` of sink `out`".
    /// `find` gives the column that a name means.
    ///
    /// Reports E200 for names of nothing, for columns named twice, and for columns without an order.
    pub(super) fn sort_keys(
        &mut self,
        list: &str,
        fields: &[SortField],
        row: &Row,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Vec<SortKey> {
        let mut keys = Vec::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            if find(&field.field.value).is_none() && row.complete && self.has_order_inside(list, &field.field, &find) {
                continue;
            }
            let earlier = fields[..index].iter().map(|earlier| &earlier.field);
            if let Some(column) = self.listed_column(list, &field.field, earlier, row, &find) {
                self.comparable(list, &field.field, &row.schema, column);
                let nulls_first = field.nulls == NullOrder::First;
                keys.push(SortKey { column, descending: field.descending, nulls_first });
            }
        }
        keys
    }

    /// Whether what is no column is one with its order behind it, such as `day desc`; reported.
    fn has_order_inside(&mut self, list: &str, name: &Spanned<String>, find: impl Fn(&str) -> Option<usize>) -> bool {
        let Some((column, order)) = split_order(&name.value).filter(|(column, _)| find(column).is_some()) else {
            return false;
        };
        if self.diagnostics.reports(name.span) {
            return true;
        }
        let written = format!("{{ field: {column}, order: {order} }}");
        let message = format!("{list} names `{}`, which is a column and its order", name.value);
        let diagnostic = Diagnostic::error(Code::E200, message).label(name.span, "not a column here");
        self.diagnostics.push(diagnostic.help(format!("write `{written}`")).fix(name.span, written));
        true
    }

    /// The columns that a list of names asks for, by the same rules.
    pub(super) fn named_columns(&mut self, list: &str, names: &[Spanned<String>], row: &Row) -> Named {
        self.listed_columns(list, names, row, false, |_| false)
    }

    /// The columns that a list of names asks for, by the same rules; columns of lists and maps are fine, too.
    pub(super) fn named_columns_or_lists(&mut self, list: &str, names: &[Spanned<String>], row: &Row) -> Named {
        self.listed_columns(list, names, row, true, |_| false)
    }

    /// The columns that a node with a program groups by, by the same rules; `computed` tells which names the program
    /// computes, which is too late for them to be columns here.
    pub(super) fn grouping_columns(
        &mut self,
        list: &str,
        names: &[Spanned<String>],
        row: &Row,
        computed: impl Fn(&str) -> bool,
    ) -> Named {
        self.listed_columns(list, names, row, false, computed)
    }

    fn listed_columns(
        &mut self,
        list: &str,
        names: &[Spanned<String>],
        row: &Row,
        takes_lists: bool,
        computed: impl Fn(&str) -> bool,
    ) -> Named {
        let mut named = Named::default();
        for (index, name) in names.iter().enumerate() {
            let find = |name: &str| row.schema.position(name);
            if computed(&name.value) && find(&name.value).is_none() && row.complete {
                self.computed_here(list, name);
                named.unknown.push(name.value.clone());
                continue;
            }
            match self.listed_column(list, name, names[..index].iter(), row, find) {
                Some(column) => {
                    let ty = &row.schema.columns[column].ty;
                    // The keys of groups tell values of all types apart.
                    if !(ty.kind == Kind::Any || takes_lists && matches!(ty.kind, Kind::Array(_) | Kind::Map)) {
                        self.comparable(list, name, &row.schema, column);
                    }
                    named.columns.push(column);
                    named.spans.push(name.span);
                }
                None if row.schema.position(&name.value).is_none() => named.unknown.push(name.value.clone()),
                None => {}
            }
        }
        named
    }

    /// The column, if it exists and is not in the list already.
    fn listed_column<'n>(
        &mut self,
        list: &str,
        name: &Spanned<String>,
        mut earlier: impl Iterator<Item = &'n Spanned<String>>,
        row: &Row,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Option<usize> {
        let column = find(&name.value);
        if column.is_none() && row.complete {
            self.no_such_column(list, name, row);
        }
        let first = earlier.find(|earlier| earlier.value == name.value && column.is_some());
        if let Some(first) = first {
            self.listed_twice(list, name, first);
            return None;
        }
        column
    }

    /// Reports E200 for a name of nothing in a list of columns. What is no name, which is reported, need not be one.
    pub(super) fn no_such_column(&mut self, list: &str, name: &Spanned<String>, row: &Row) {
        if self.diagnostics.reports(name.span) {
            return;
        }
        let columns: Vec<&str> = row.schema.visible().iter().map(|column| column.name.as_str()).collect();
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} names `{}`, which is not a column", name.value))
            .label(name.span, "not a column here")
            .note(there_are("column", &columns));
        let known = stamp_help(&name.value).or_else(|| row.ended(&name.value)).or_else(|| expression_help(&name.value));
        if let Some(help) = known {
            return self.diagnostics.push(diagnostic.help(help));
        }
        let diagnostic = did_you_mean(diagnostic, &name.value, name.span, columns);
        let declare = row.schema.carries && diagnostic.help.is_none();
        let help = "if it is a field of the input, declare it in the source's schema";
        self.diagnostics.push(diagnostic.help_opt(declare.then(|| help.to_owned())));
    }

    fn computed_here(&mut self, list: &str, name: &Spanned<String>) {
        let message = format!("{list} names `{}`, which is computed only by its own program", name.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(name.span, "not a column of the input")
            .help(format!("compute `{}` in a transform in front of this node", name.value));
        self.diagnostics.push(diagnostic);
    }

    fn listed_twice(&mut self, list: &str, name: &Spanned<String>, first: &Spanned<String>) {
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} names `{}` twice", name.value))
            .label(name.span, "named again")
            .label(first.span, "first named here")
            .help("name each column once");
        self.diagnostics.push(diagnostic);
    }

    fn comparable(&mut self, list: &str, name: &Spanned<String>, schema: &Schema, column: usize) {
        let branches = column_branches(&self.mixes, schema, column);
        let (what, help) = match &schema.columns[column].ty.kind {
            Kind::Array(_) => {
                ("holds lists".to_owned(), format!("use a text: `{0}.join(\";\")` in a transform in front", name.value))
            }
            Kind::Map => ("holds maps".to_owned(), "use a column with single values".to_owned()),
            Kind::Any => match kinds_of(&branches) {
                Some(kinds) => (format!("is {kinds}"), "let every branch give the same type".to_owned()),
                None => (
                    "holds values of types that are known only when the pipeline runs".to_owned(),
                    format!(
                        "give it one type in a transform in front, such as `emit {0} = {0}.to_string()`",
                        name.value
                    ),
                ),
            },
            _ => return,
        };
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} can't use `{}`, which {what}", name.value))
            .label(name.span, "its values can't be compared");
        self.diagnostics.push(with_branches(diagnostic, &branches).help(help));
    }
}

/// The column and the order of `day desc`, `day:DESC` or `-day`.
fn split_order(text: &str) -> Option<(&str, &'static str)> {
    if let Some(column) = text.strip_prefix('-') {
        return Some((column.trim(), "desc"));
    }
    let (column, word) = text.rsplit_once([' ', ':', ','])?;
    let orders = [("asc", "asc"), ("ascending", "asc"), ("desc", "desc"), ("descending", "desc")];
    let (_, order) = orders.into_iter().find(|(order, _)| word.eq_ignore_ascii_case(order))?;
    Some((column.trim(), order))
}

/// What to do about an expression in the place of a column's name.
fn expression_help(text: &str) -> Option<String> {
    let computes = text.contains(['(', '+', '*', '/']) && !text.contains(['"', '\n']);
    computes.then(|| format!("compute it in a transform in front, `emit key = {text}`, and name `key` here"))
}

/// What to do about the name of a stamp in the place of a column's.
pub(super) fn stamp_help(name: &str) -> Option<String> {
    let stamp = Stamp::ALL.into_iter().find(|stamp| stamp.column_name() == name)?;
    let short = stamp.name();
    Some(format!("a stamp is read by expressions only: emit it in a transform in front, `emit {short} = {name}`"))
}
