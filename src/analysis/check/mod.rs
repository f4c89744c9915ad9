//! The type checker: CXL trees to typed expressions.
//!
//! A [`Checker`] works on one node. It collects what it finds and goes on: what failed gets the error type, which
//! meets with everything and is never reported again, also where a let, an emit or a column carries it on.

mod aggregates;
mod aggregation;
mod alike;
mod assign;
mod calls;
mod describe;
mod expr;
mod groups;
mod habits;
mod mixed;
mod names;
mod operand_help;
mod operators;
mod row;
mod several;
mod statements;
mod suspicions;
pub mod unify;

use self::groups::Group;
use self::suspicions::Covered;
use crate::analysis::hir::{Expr, ExprKind, Literal, Slot, Var};
use crate::analysis::types::Type;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::syntax::cxl::ast;

pub(super) use aggregation::GroupProgram;
pub(super) use alike::alike;
pub(super) use groups::Grouping;
use mixed::Branch;
pub(super) use mixed::{Mixes, column_branches, kinds_of, with_branches};
pub(super) use names::{did_you_mean, list, there_are};
pub(super) use row::{Ended, Row};
pub(super) use statements::Program;

/// The variables of the pipeline, as far as they are known. One that failed has the error type.
#[derive(Clone, Debug)]
pub(super) struct Vars {
    /// Those that can be read, in order.
    pub all: Vec<Var>,
    /// Whether there are no others; if not, one that is missing may be declared in a part that failed.
    pub complete: bool,
}

/// Checks the CXL of one node.
pub(super) struct Checker<'a> {
    /// What the node is, for messages: `transform "clean"`.
    place: String,
    row: &'a Row,
    vars: &'a Vars,
    node_names: &'a [&'a str],
    mixes: &'a mut Mixes,
    diagnostics: &'a mut Diagnostics,
    /// What works on rows here, for messages: `row-level transform`.
    row_work: &'static str,
    lets: Vec<Slot>,
    /// Of each let, the branches that its value comes from, if they have several types.
    let_branches: Vec<Vec<Branch>>,
    emits: Vec<Slot>,
    /// The same of each emit.
    emit_branches: Vec<Vec<Branch>>,
    /// Of each emit, the call of `min` or `max` that it is.
    emit_extremes: Vec<Option<ast::Expr>>,
    /// Whether every statement so far was parsed; a let may be missing if not.
    complete: bool,
    unknown: Vec<Unknown>,
    later: Vec<Later>,
    /// Names of modules and functions that the program would have if it could.
    modules: Vec<String>,
    functions: Vec<String>,
    /// Names behind `--`, which may have been meant as a comment.
    behind_dashes: Vec<Span>,
    /// Set if what is checked is about groups.
    group: Option<Group>,
    /// Whether `$doc` has a meaning.
    sees_documents: bool,
    /// Values that are a lone name, which may have been meant as a text.
    lone_names: Vec<Span>,
    /// Validations that are a lone name, which may have been meant as the name of a check.
    lone_checks: Vec<Span>,
    /// Texts that have the name of a column.
    quoted_names: Vec<(String, Span)>,
    /// Emits that have the name of a column.
    covered: Vec<Covered>,
    /// The statement that is checked, where emits stand above it.
    statement: String,
}

/// A name that nothing in scope has, with every place that uses it.
struct Unknown {
    name: String,
    spans: Vec<Span>,
    /// How many lets and emits stand above its first use.
    lets: usize,
    emits: usize,
}

/// A part of the language that comes later.
struct Later {
    /// What it is, with its verb.
    what: String,
    /// The first place that uses it, and the others.
    first: Span,
    more: Vec<Span>,
    /// What there is in its place.
    help: Option<&'static str>,
}

impl<'a> Checker<'a> {
    /// A checker for the node called `place` in messages, which reads `row`.
    pub fn new(
        place: String,
        row: &'a Row,
        vars: &'a Vars,
        node_names: &'a [&'a str],
        mixes: &'a mut Mixes,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            row_work: row_work(&place),
            place,
            row,
            vars,
            node_names,
            mixes,
            diagnostics,
            lets: Vec::new(),
            let_branches: Vec::new(),
            emits: Vec::new(),
            emit_branches: Vec::new(),
            emit_extremes: Vec::new(),
            complete: true,
            unknown: Vec::new(),
            later: Vec::new(),
            modules: Vec::new(),
            functions: Vec::new(),
            behind_dashes: Vec::new(),
            group: None,
            sees_documents: true,
            lone_names: Vec::new(),
            lone_checks: Vec::new(),
            quoted_names: Vec::new(),
            covered: Vec::new(),
            statement: String::new(),
        }
    }

    /// Makes it a checker of expressions that can't read `$doc`, as rows of several documents come together.
    pub fn without_documents(self) -> Self {
        Self { sees_documents: false, ..self }
    }

    /// Checks something with another word for what works on rows.
    pub fn as_row_work<T>(&mut self, work: &'static str, check: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.row_work, work);
        let checked = check(self);
        self.row_work = outer;
        checked
    }

    /// Checks an expression that decides about rows. `what` names it in messages: `filter`, ``branch `late` ``.
    ///
    /// E200 if it can't be a bool. A bool that may be null is fine, null counts as not true.
    pub fn condition(&mut self, expr: &ast::Expr, what: &str) -> Expr {
        let checked = self.expr(expr);
        self.truth(checked, expr, what)
    }

    /// Checks the expression of a validation.
    pub fn validation(&mut self, expr: &ast::Expr) -> Expr {
        if matches!(expr.kind, ast::ExprKind::Name(_)) {
            self.lone_checks.push(expr.span);
        }
        self.condition(expr, "a validation")
    }

    /// Reports what waits until the whole node is known. Call it once, at the end.
    pub fn finish(mut self) {
        for unknown in std::mem::take(&mut self.unknown) {
            self.report_unknown(&unknown);
        }
        for later in std::mem::take(&mut self.later) {
            self.report_later(&later);
        }
        self.report_covered();
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        let diagnostic = self.explained(diagnostic);
        self.diagnostics.push(diagnostic);
    }

    /// Takes note of a part of the language that comes later, and gives what failed. `what` is a whole subject with
    /// verb: "`trace` is", "closures are". Reported as E199, once a node.
    fn unsupported(&mut self, span: Span, what: &str) -> Expr {
        self.note_later(span, what, None)
    }

    /// The same of a part that something else can stand for.
    fn unsupported_but(&mut self, span: Span, what: &str, help: &'static str) -> Expr {
        self.note_later(span, what, Some(help))
    }

    fn note_later(&mut self, span: Span, what: &str, help: Option<&'static str>) -> Expr {
        match self.later.iter_mut().find(|later| later.what == what) {
            Some(later) => later.more.push(span),
            None => self.later.push(Later { what: what.to_owned(), first: span, more: Vec::new(), help }),
        }
        failed(span)
    }

    fn report_later(&mut self, later: &Later) {
        let message = format!("{} not run by this version yet", later.what);
        let diagnostic = Diagnostic::error(Code::E199, message)
            .label(later.first, "not run yet")
            .help_opt(later.help.map(str::to_owned));
        let more = later.more.iter();
        self.error(more.fold(diagnostic, |diagnostic, span| diagnostic.label(*span, "used here too")));
    }
}

/// What works on rows in a place.
fn row_work(place: &str) -> &'static str {
    match place.split_once(' ') {
        Some(("route", _)) => "route condition",
        Some(("reshape", _)) => "reshape rule",
        _ => "row-level transform",
    }
}

/// The expression that stands for what failed.
fn failed(span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Literal::Null), ty: Type::error(), span }
}
