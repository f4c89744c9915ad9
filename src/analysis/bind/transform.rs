//! Transforms: validations, the program, and the row they give.

use std::sync::Arc;

use super::{Binder, Bound};
use crate::analysis::check::{Checker, Row, did_you_mean, there_are};
use crate::analysis::functions::Function;
use crate::analysis::hir::{Expr, ExprKind, NodeKind, Transform, Validation};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::cxl::ast::StatementKind;
use crate::syntax::pipeline::ast::{self, Check};

impl Binder<'_> {
    pub(super) fn transform(&mut self, node: &ast::Node, transform: &ast::Transform, input: &Row) -> Bound {
        let fields: Vec<Option<Expr>> =
            transform.validations.iter().map(|validation| self.validated_field(node, validation, input)).collect();
        let place = format!("transform \"{}\"", node.name.value);
        let mut checker = Checker::new(place, input, &self.vars, &self.node_names, &mut self.mixes, self.diagnostics);
        let validations = transform.validations.iter().zip(fields);
        let validations: Vec<Option<Validation>> =
            validations.map(|(validation, field)| bind_validation(validation, field, &mut checker)).collect();
        let program = checker.program(&transform.program);
        checker.finish();
        if !program.lets.iter().any(|slot| slot.ty.is_error()) {
            self.does_something(node, transform);
        }
        let (row, output) = program.output(input, transform.include_unmapped);
        let kind = validations.into_iter().collect::<Option<Vec<_>>>().map(|validations| {
            NodeKind::Transform(Transform {
                validations,
                statements: program.statements,
                lets: program.lets,
                emits: program.emits,
                output,
                keeps_carried: row.schema.carries,
                batch_size: transform.batch_size.as_ref().map(|size| size.value.max(1) as usize),
            })
        });
        Bound { kind, rows: vec![Arc::new(row)] }
    }

    /// Warns (W204) of a transform that takes no row out, checks none and writes nothing.
    fn does_something(&mut self, node: &ast::Node, transform: &ast::Transform) {
        let program = &transform.program;
        let names_only = program.statements.iter().all(|statement| matches!(statement.kind, StatementKind::Let { .. }));
        if !program.complete || !names_only || !transform.validations.is_empty() {
            return;
        }
        let label = match program.statements.as_slice() {
            [] => "holds no statement",
            _ => "names values that nothing uses",
        };
        let message = format!("the program of transform `{}` does nothing", node.name.value);
        let diagnostic = Diagnostic::warning(Code::W204, message).label(program.span, label);
        self.diagnostics.push(diagnostic.help("write a column with `emit name = …`, or leave the node out"));
    }

    /// The column that a validation names in `field`; reports E203 where there is none.
    fn validated_field(&mut self, node: &ast::Node, validation: &ast::Validation, input: &Row) -> Option<Expr> {
        let field = validation.field.as_ref()?;
        let position = input.schema.position(&field.value);
        if position.is_none() && input.complete && !self.diagnostics.reports(field.span) {
            self.unknown_field(node, field, input);
        }
        position.map(|position| Expr {
            kind: ExprKind::Column(position),
            ty: input.schema.columns[position].ty.clone(),
            span: field.span,
        })
    }

    fn unknown_field(&mut self, node: &ast::Node, field: &Spanned<String>, input: &Row) {
        let message = format!("unknown column `{}` in a validation of transform \"{}\"", field.value, node.name.value);
        let names: Vec<&str> = input.schema.visible().iter().map(|column| column.name.as_str()).collect();
        let diagnostic = Diagnostic::error(Code::E203, message)
            .label(field.span, "not a column of the input")
            .note(there_are("column", &names));
        self.diagnostics.push(match input.ended(&field.value) {
            Some(help) => diagnostic.help(help),
            None => did_you_mean(diagnostic, &field.value, field.span, names),
        });
    }
}

/// `None` where the check or the field failed.
fn bind_validation(validation: &ast::Validation, field: Option<Expr>, checker: &mut Checker) -> Option<Validation> {
    let (check, derived) = match &validation.check {
        Check::NotEmpty(span) => {
            let column = Expr { span: *span, ..field.clone()? };
            let name = validation.field.as_ref().map(|field| field.value.as_str()).unwrap_or_default();
            (not_empty(column), format!("`{name}` is empty"))
        }
        Check::Expr { expr, text } => {
            let check = checker.as_row_work("validation", |checker| checker.validation(expr));
            if validation.field.is_some() && field.is_none() {
                return None;
            }
            (check, format!("`{}` does not hold", text.trim()))
        }
    };
    Some(Validation {
        name: validation.name.clone().filter(|name| !name.trim().is_empty()),
        message: validation.message.clone().filter(|message| !message.trim().is_empty()).unwrap_or(derived),
        field: validation.field.as_ref().map(|field| field.value.clone()),
        column: field,
        warn_only: validation.warn_only,
        check,
        span: validation.span,
    })
}

/// `not column.is_empty()`
fn not_empty(column: Expr) -> Expr {
    let span = column.span;
    let bool_of = |kind| Expr { kind, ty: Type::of(Kind::Bool), span };
    let empty = ExprKind::Call { function: Function::IsEmpty, receiver: Box::new(column), args: Vec::new() };
    bool_of(ExprKind::Not(Box::new(bool_of(empty))))
}
