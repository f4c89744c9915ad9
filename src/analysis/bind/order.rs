//! Lists of columns that rows are ordered or grouped by.

use super::Binder;
use crate::analysis::check::{Row, did_you_mean, there_are};
use crate::analysis::hir::SortKey;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::pipeline::ast::{NullOrder, SortField};

/// The columns that a list names.
#[derive(Default)]
pub(super) struct Named {
    /// Those that exist, by position, in order.
    pub columns: Vec<usize>,
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
            let earlier = fields[..index].iter().map(|earlier| &earlier.field);
            if let Some(column) = self.listed_column(list, &field.field, earlier, row, &find) {
                let nulls_first = field.nulls == NullOrder::First;
                keys.push(SortKey { column, descending: field.descending, nulls_first });
            }
        }
        keys
    }

    /// The columns that a list of names asks for, by the same rules.
    pub(super) fn named_columns(&mut self, list: &str, names: &[Spanned<String>], row: &Row) -> Named {
        let mut named = Named::default();
        for (index, name) in names.iter().enumerate() {
            let find = |name: &str| row.schema.position(name);
            match self.listed_column(list, name, names[..index].iter(), row, find) {
                Some(column) => named.columns.push(column),
                None if row.schema.position(&name.value).is_none() => named.unknown.push(name.value.clone()),
                None => {}
            }
        }
        named
    }

    /// The column, if it exists, is not in the list already, and its values can be compared.
    fn listed_column<'n>(
        &mut self,
        list: &str,
        name: &Spanned<String>,
        earlier: impl Iterator<Item = &'n Spanned<String>>,
        row: &Row,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Option<usize> {
        let column = find(&name.value);
        match column {
            None if row.complete => self.no_such_column(list, name, row),
            None => {}
            Some(column) => {
                let mut earlier = earlier;
                if let Some(first) = earlier.find(|earlier| earlier.value == name.value) {
                    self.listed_twice(list, name, first);
                    return None;
                }
                self.comparable(list, name, &row.schema.columns[column].ty);
            }
        }
        column
    }

    fn no_such_column(&mut self, list: &str, name: &Spanned<String>, row: &Row) {
        let columns: Vec<&str> = row.schema.visible().iter().map(|column| column.name.as_str()).collect();
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} names `{}`, which is not a column", name.value))
            .label(name.span, "not a column here")
            .note(there_are("column", &columns));
        let diagnostic = did_you_mean(diagnostic, &name.value, name.span, columns);
        let declare = row.schema.carries && diagnostic.help.is_none();
        let help = "if it is a field of the input, declare it in the source's schema";
        self.diagnostics.push(diagnostic.help_opt(declare.then(|| help.to_owned())));
    }

    fn listed_twice(&mut self, list: &str, name: &Spanned<String>, first: &Spanned<String>) {
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} names `{}` twice", name.value))
            .label(name.span, "named again")
            .label(first.span, "first named here")
            .help("name each column once");
        self.diagnostics.push(diagnostic);
    }

    fn comparable(&mut self, list: &str, name: &Spanned<String>, ty: &Type) {
        let (what, help) = match &ty.kind {
            Kind::Array(_) => {
                ("holds lists", format!("use a text: `{0}.join(\";\")` in a transform in front", name.value))
            }
            Kind::Map => ("holds maps", "use a column with single values".to_owned()),
            Kind::Any => (
                "holds values of types that are known only when the pipeline runs",
                format!("give it one type in a transform in front, such as `emit {0} = {0}.to_string()`", name.value),
            ),
            _ => return,
        };
        let diagnostic = Diagnostic::error(Code::E200, format!("{list} can't use `{}`, which {what}", name.value))
            .label(name.span, "its values can't be compared");
        self.diagnostics.push(diagnostic.help(help));
    }
}
