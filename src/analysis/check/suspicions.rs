//! What checks and runs, but can hardly be meant: texts where a column is meant, questions that have one answer, and
//! columns read behind an emit of their name.

use super::Checker;
use super::describe::operand;
use super::groups::Zone;
use crate::analysis::formats::{FormatUse, in_strftime};
use crate::analysis::functions::Function;
use crate::analysis::functions::signature::Role;
use crate::analysis::hir::{AggregateFunction, BinaryOp, Expr, ExprKind, Literal};
use crate::analysis::types::Kind;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Name};

/// An emit that has the name of a column of the input.
pub(super) struct Covered {
    name: String,
    /// Where the emit names it.
    emit: Span,
    /// What it gives, as it is written.
    value: String,
    /// Whether the emit reads the column that it takes the name of.
    reads_itself: bool,
    /// Where the column is read further down.
    reads: Vec<Span>,
    /// Whether an error says what is read there.
    told: bool,
}

impl Checker<'_> {
    /// Takes note of a text that has the name of a column.
    pub(super) fn note_quoted(&mut self, text: &str, span: Span) {
        if self.row.schema.position(text).is_some() {
            self.quoted_names.push((text.to_owned(), span));
        }
    }

    /// Warns (W206) of a comparison of two texts.
    pub(super) fn two_texts(&mut self, left: &Expr, right: &Expr, span: Span) {
        let is_text = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Literal::String(_)));
        if is_text(left) && is_text(right) {
            let message = "this compares two texts, so the answer is the same for every row";
            self.same_for_every_row(message, span, &[left.span, right.span]);
        }
    }

    /// Warns (W206) of an aggregate or a `match` of the name of a column in quotes.
    pub(super) fn quoted_value(&mut self, value: &Expr, what: &str) {
        if matches!(value.kind, ExprKind::Literal(Literal::String(_))) && self.is_quoted_name(value.span) {
            self.same_for_every_row(
                &format!("{what} a text that is the same for every row"),
                value.span,
                &[value.span],
            );
        }
    }

    /// Warns (W209) of a count of a condition, which counts the rows where it is false as well.
    pub(super) fn counted_conditions(
        &mut self,
        which: AggregateFunction,
        args: &[Expr],
        args_ast: &[Option<&ast::Expr>],
    ) {
        let (AggregateFunction::Count, [arg], [Some(arg_ast)]) = (which, args, args_ast) else { return };
        let asks = match &arg_ast.kind {
            ast::ExprKind::Unary { op, .. } => *op == ast::UnaryOp::Not,
            ast::ExprKind::Binary { op, .. } => *op != BinaryOp::Coalesce,
            ast::ExprKind::Chain { .. } => true,
            ast::ExprKind::Method { method, .. } => Function::by_name(&method.text).is_some_and(Function::asks),
            // What holds a bool, as a column of them, is counted where it is not null.
            _ => false,
        };
        if asks && arg.ty.kind == Kind::Bool {
            let message = "`count` counts the rows where this is false, too";
            let condition = arg_ast.to_string();
            let condition = if condition.len() <= 40 { condition.as_str() } else { "…" };
            let diagnostic = Diagnostic::warning(Code::W209, message)
                .label(arg.span, "counted wherever it is not null")
                .help(format!("to count where it is true, write `sum(if {condition} then 1 else 0)`"));
            self.diagnostics.push(diagnostic);
        }
    }

    /// Warns (W206) of a method that works on the name of a column in quotes.
    pub(super) fn quoted_receiver(&mut self, receiver: &Expr, args: &[Expr], method: &Name) {
        let constant = args.iter().all(|arg| matches!(arg.kind, ExprKind::Literal(_)));
        if constant && self.is_quoted_name(receiver.span) {
            let message = format!("`{}` works on a text here, so it gives the same for every row", method.text);
            self.same_for_every_row(&message, receiver.span, &[receiver.span]);
        }
    }

    fn is_quoted_name(&self, span: Span) -> bool {
        self.quoted_names.iter().any(|(_, quoted)| *quoted == span)
    }

    fn same_for_every_row(&mut self, message: &str, span: Span, texts: &[Span]) {
        let diagnostic = Diagnostic::warning(Code::W206, message).label(span, "reads no column");
        let diagnostic = self.without_quotes(diagnostic, texts);
        let help = diagnostic.help.is_none().then(|| "a column is named without quotes".to_owned());
        self.diagnostics.push(diagnostic.help_opt(help));
    }

    /// Says that a column is named without quotes, if one of the texts is the name of one.
    fn without_quotes(&self, diagnostic: Diagnostic, texts: &[Span]) -> Diagnostic {
        match self.quoted_names.iter().find(|(_, span)| texts.contains(span)) {
            Some((name, span)) => {
                diagnostic.help(format!("a column is named without quotes: `{name}`")).fix(*span, name.clone())
            }
            None => diagnostic,
        }
    }

    /// Warns (W206) of a constant date format that writes nothing of the date.
    pub(super) fn fixed_format(&mut self, role: Role, date: bool, format: &Expr) {
        let ExprKind::Literal(Literal::String(text)) = &format.kind else { return };
        if role != Role::FormatOut || text.contains('%') {
            return;
        }
        let usage = if date { FormatUse::WriteDate } else { FormatUse::WriteDateTime };
        let message = format!("the date format `{text}` has no `%` in it, so it writes the same for every row");
        let meant = in_strftime(text, usage).filter(|meant| meant != text);
        let help = match meant {
            Some(meant) => format!("write `\"{meant}\"`"),
            None => "formats are those of strftime, such as `\"%d.%m.%Y\"`".to_owned(),
        };
        let diagnostic = Diagnostic::warning(Code::W206, message).label(format.span, "holds no part of the date");
        self.diagnostics.push(diagnostic.help(help));
    }

    /// Whether a value is a column of texts that are never null, by its type or because it is read from a file.
    fn is_never_null(&self, value: &Expr) -> bool {
        let ExprKind::Column(column) = value.kind else { return false };
        let read = || self.row.schema.columns.get(self.input_column(column)?);
        let as_read = || read().is_some_and(|column| self.row.texts.contains(&column.span));
        value.ty.kind == Kind::String && (!value.ty.nullable || as_read())
    }

    /// Warns (W207) of a comparison with null of what is never null.
    pub(super) fn never_equals_null(&mut self, op: BinaryOp, value: &Expr, value_ast: &ast::Expr) {
        if self.null_is_unknown() {
            return;
        }
        let outcome = if op == BinaryOp::Equal { "is never true" } else { "is always true" };
        let what = format!("`{} null` {outcome}", op.symbol());
        let help = |name: &str| format!("an empty cell is an empty text: write `{name} {} \"\"`", op.symbol());
        self.never_null(value, value_ast, &what, help);
    }

    /// Warns (W207) of the pattern `null` for what is never null.
    pub(super) fn never_matches_null(&mut self, subject: &Expr, subject_ast: &ast::Expr) {
        let help = |_: &str| "an empty cell is an empty text: write `\"\"` in the place of `null`".to_owned();
        self.never_null(subject, subject_ast, "no row comes to this arm", help);
    }

    /// Warns (W207) of `??` or `catch`, whose other value is never taken.
    pub(super) fn needs_no_other(&mut self, what: &str, value: &Expr, value_ast: &ast::Expr, other: &ast::Expr) {
        let other = operand(other);
        let help =
            |name: &str| format!("an empty cell is an empty text: write `if {name} == \"\" then {other} else {name}`");
        self.never_null(value, value_ast, &format!("`{what}` changes nothing"), help);
    }

    /// Warns (W207) of a method that is about null, called on what is never null.
    pub(super) fn asked_for_null(
        &mut self,
        function: Function,
        value: &Expr,
        value_ast: Option<&ast::Expr>,
        args: &[Option<&ast::Expr>],
    ) {
        let Some(value_ast) = value_ast else { return };
        match (function, args) {
            (Function::IsNull, _) => self.never_null(value, value_ast, "`is_null()` is never true", |name| {
                format!("an empty cell is an empty text: write `{name}.is_empty()`")
            }),
            (Function::Catch, [Some(other)]) => self.needs_no_other("catch", value, value_ast, other),
            _ => {}
        }
    }

    fn never_null(&mut self, value: &Expr, value_ast: &ast::Expr, what: &str, help: impl Fn(&str) -> String) {
        if !self.is_never_null(value) {
            return;
        }
        let name = operand(value_ast);
        let message = format!("`{name}` is never null here, so {what}");
        let label = match value.ty.nullable {
            true => "a text as a file holds it, which is never null",
            false => "a string, not a nullable one",
        };
        let diagnostic = Diagnostic::warning(Code::W207, message).label(value.span, label);
        self.diagnostics.push(diagnostic.help(help(&name)));
    }

    /// Takes note of an emit that gives something else under the name of a column of the input.
    pub(super) fn note_covered(&mut self, name: &Name, value: &Expr, value_ast: &ast::Expr) {
        let Some(position) = self.row.schema.position(&name.text) else { return };
        let is_own = |part: &Expr| match part.kind {
            ExprKind::Column(column) => self.input_column(column) == Some(position),
            _ => false,
        };
        if !is_own(value) {
            self.covered.push(Covered {
                name: name.text.clone(),
                emit: name.span,
                value: value_ast.to_string(),
                reads_itself: value.parts().any(is_own),
                reads: Vec::new(),
                told: false,
            });
        }
    }

    /// Takes note of a column that is read behind an emit of its name. A statement that says again what the emit says
    /// knows what it reads.
    pub(super) fn note_read(&mut self, read: &Expr) {
        if !matches!(self.zone(), None | Some(Zone::Group)) {
            return;
        }
        let ExprKind::Column(column) = read.kind else { return };
        let Some(position) = self.input_column(column) else { return };
        let name = &self.row.schema.columns[position].name;
        if let Some(covered) = self.covered.iter_mut().rfind(|covered| covered.name == *name)
            && !(covered.reads_itself && self.statement.contains(&covered.value))
        {
            covered.reads.push(read.span);
        }
    }

    /// Takes note of the statement that is checked now.
    pub(super) fn note_statement(&mut self, value: &ast::Expr) {
        if !self.covered.is_empty() {
            self.statement = value.to_string();
        }
    }

    /// The position in the input of a column that is read; `None` for the result of an aggregate.
    fn input_column(&self, column: usize) -> Option<usize> {
        match &self.group {
            Some(group) if self.sees_groups() => group.shared.get(column).copied(),
            _ => Some(column),
        }
    }

    /// Says what the values that an error points at are, where that explains it: a text in the place of a column, or a
    /// column of the input behind an emit of its name.
    pub(super) fn explained(&mut self, diagnostic: Diagnostic) -> Diagnostic {
        if diagnostic.code != Code::E200 {
            return diagnostic;
        }
        let places: Vec<Span> = diagnostic.labels.iter().map(|label| label.span).collect();
        let behind = |covered: &&mut Covered| covered.reads.iter().any(|read| places.contains(read));
        if let Some(covered) = self.covered.iter_mut().find(behind) {
            covered.told = true;
            let name = &covered.name;
            let help = format!(
                "`{name}` is the input's column here, as an emit is seen only by the nodes below: name its value with \
                 `let {name} = …`, then `emit {name} = {name}`"
            );
            return Diagnostic { fix: None, ..diagnostic.label(covered.emit, "not seen by this program").help(help) };
        }
        self.without_quotes(diagnostic, &places)
    }

    /// Warns (W208) of columns that are read behind an emit which replaces them by what it makes of them.
    pub(super) fn report_covered(&mut self) {
        for covered in std::mem::take(&mut self.covered) {
            let Covered { name, emit, reads_itself: true, reads, told: false, .. } = covered else { continue };
            let Some((first, more)) = reads.split_first() else { continue };
            let message = format!("`{name}` is the input's column here, not what the emit above gives");
            let diagnostic = Diagnostic::warning(Code::W208, message)
                .label(*first, "the input's value")
                .label(emit, "seen only by the nodes below");
            let diagnostic = more.iter().fold(diagnostic, |diagnostic, read| diagnostic.label(*read, "here too"));
            self.diagnostics.push(diagnostic.help(format!(
                "for the new value, write `let {name} = …` and `emit {name} = {name}`; for the input's, read it above \
                 the emit"
            )));
        }
    }
}
