//! What a name in CXL refers to: a let, a column, an earlier emit, or a variable of the run.

use super::aggregates::AGGREGATES;
use super::habits::{habit, is_window};
use super::{Checker, Unknown, failed};
use crate::analysis::functions::Function;
use crate::analysis::hir::{Expr, ExprKind, Stamp, Variable};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{Arg, Name};
use crate::syntax::pipeline::own_quotes;

/// Longest list of names that a note shows.
const SHOWN_NAMES: usize = 12;

const PIPELINE: [(&str, Variable); 4] = [
    ("name", Variable::PipelineName),
    ("execution_id", Variable::ExecutionId),
    ("batch_id", Variable::BatchId),
    ("start_time", Variable::StartTime),
];
const SOURCE: [(&str, Variable); 3] =
    [("file", Variable::SourceFile), ("name", Variable::SourceName), ("row", Variable::SourceRow)];
/// Members of `$source` that come later.
const SOURCE_LATER: [&str; 5] = ["path", "batch", "count", "ingestion_timestamp", "event_time"];
/// Scopes that come later.
const SCOPES_LATER: [&str; 4] = ["window", "record", "config", "doc"];

/// Constants as other languages spell them.
const CONSTANTS: [(&str, &str); 8] = [
    ("null", "null"),
    ("none", "null"),
    ("nil", "null"),
    ("undefined", "null"),
    ("true", "true"),
    ("false", "false"),
    ("current_timestamp", "now"),
    ("current_date", "now.to_date()"),
];

impl Checker<'_> {
    /// A bare name: a let, else a column, else an earlier emit. Reported as E203 when the node is done.
    pub(super) fn name(&mut self, name: &str, span: Span) -> Expr {
        match self.lookup(name, span) {
            Some(expr) => {
                let read = self.in_group(expr);
                self.note_read(&read);
                read
            }
            None => {
                self.note_unknown(name, span);
                failed(span)
            }
        }
    }

    /// What a bare name refers to, if anything.
    pub(super) fn lookup(&self, name: &str, span: Span) -> Option<Expr> {
        let last = |slots: &[crate::analysis::hir::Slot]| slots.iter().rposition(|slot| slot.name == name);
        let (kind, ty) = if let Some(slot) = last(&self.lets) {
            (ExprKind::Let(slot), self.lets[slot].ty.clone())
        } else if let Some(column) = self.row.schema.position(name) {
            (ExprKind::Column(column), self.row.schema.columns[column].ty.clone())
        } else {
            let slot = last(&self.emits)?;
            (ExprKind::Emit(slot), self.emits[slot].ty.clone())
        };
        Some(Expr { kind, ty, span })
    }

    /// `a.b` or `a.b.c`: nothing that this version runs has members, so it is always an error.
    pub(super) fn path(&mut self, parts: &[Name], span: Span) -> Expr {
        let head = &parts[0];
        if self.modules.contains(&head.text) {
            return failed(span);
        }
        if self.lookup(&head.text, head.span).is_none() {
            self.unknown_path(parts, span);
            return failed(span);
        }
        let member = &parts[1];
        if let ([_, _], true) = (parts, self.sees_groups() && AGGREGATES.contains(&member.text.as_str())) {
            self.aggregate_as_method(&head.text, &[], member, span);
            return failed(span);
        }
        if self.name(&head.text, head.span).ty.is_error() {
            return failed(span);
        }
        if is_window(&member.text) {
            return self.windows(member);
        }
        let message = format!("`{}` has no member `{}`", head.text, member.text);
        let diagnostic = Diagnostic::error(Code::E203, message).label(member.span, "not a member");
        let near = || closest(&member.text, Function::ALL.iter().map(|function| function.name()));
        let method = habit(&member.text).or_else(near).filter(|_| parts.len() == 2);
        self.error(match method {
            _ if Function::by_name(&member.text).is_some() => {
                let end = Span::new(member.span.file, member.span.end, member.span.end);
                diagnostic.help(format!("to call the method, write `{}.{}()`", head.text, member.text)).fix(end, "()")
            }
            Some(method) => diagnostic.help(format!("did you mean the method `{}.{method}()`?", head.text)),
            None => diagnostic,
        });
        failed(span)
    }

    fn unknown_path(&mut self, parts: &[Name], span: Span) {
        let (head, column) = (&parts[0], &parts[1]);
        if self.node_names.contains(&head.text.as_str()) {
            self.qualified(parts, span);
        } else if ["pipeline", "source", "vars", "meta"].contains(&head.text.as_str()) {
            let written = format!("${}", head.text);
            let message = format!("unknown name `{}` in {}", head.text, self.place);
            let diagnostic = Diagnostic::error(Code::E203, message).label(head.span, "not known here");
            self.error(diagnostic.help(format!("did you mean `{written}.{}`?", column.text)).fix(head.span, written));
        } else if let (2, Some(_)) = (parts.len(), self.lookup(&column.text, span)) {
            let message = format!("unknown name `{}` in {}", head.text, self.place);
            let diagnostic = Diagnostic::error(Code::E203, message).label(head.span, "not known here");
            let help = format!("a column is read by its plain name: `{}`", column.text);
            self.error(diagnostic.help(help).fix(span, column.text.clone()));
        } else {
            self.note_unknown(&head.text, head.span);
        }
    }

    /// `rows.total`, where `rows` is a node.
    fn qualified(&mut self, parts: &[Name], span: Span) {
        let (node, column) = (&parts[0].text, &parts[1]);
        if self.lookup(&column.text, span).is_some() {
            let message = format!("column `{}` is written with the name of a node in {}", column.text, self.place);
            let help = format!("write `{}`", column.text);
            let diagnostic = Diagnostic::error(Code::E203, message).label(span, "only a combine reads qualified names");
            return self.error(diagnostic.help(help).fix(span, column.text.clone()));
        }
        if !self.row.complete || !self.complete {
            return;
        }
        let message = format!("unknown column `{}` in {}", column.text, self.place);
        let names: Vec<&str> = self.row.schema.visible().iter().map(|column| column.name.as_str()).collect();
        let diagnostic = Diagnostic::error(Code::E203, message)
            .label(column.span, "not known here")
            .note(there_are("column", &names));
        let diagnostic = did_you_mean(diagnostic, &column.text, span, names);
        let plain = format!("columns are read by their plain names, without `{node}.`");
        self.error(if diagnostic.help.is_some() { diagnostic } else { diagnostic.help(plain) });
    }

    /// `it` where no closure is around it.
    pub(super) fn it(&mut self, span: Span) -> Expr {
        let diagnostic = Diagnostic::error(Code::E203, "`it` has no meaning here")
            .label(span, "no closure is around it")
            .help("`it` is the element inside a closure, as in `items.map(it => it * 2)`");
        self.error(diagnostic);
        failed(span)
    }

    /// `now`
    pub(super) fn start_time(&self, span: Span) -> Expr {
        variable(Variable::StartTime, Type::of(Kind::DateTime), span)
    }

    /// `$scope.name` and everything that starts like it.
    pub(super) fn system(&mut self, path: &[Name], args: Option<&[Arg]>, span: Span) -> Expr {
        let scope = &path[0];
        if scope.text == "doc" && !self.sees_documents {
            return self.no_document(span);
        }
        let Some(member) = path.get(1) else { return self.unknown_scope(scope, span) };
        let found = match scope.text.as_str() {
            "pipeline" => self.member(scope, member, &PIPELINE),
            "source" | "meta" if self.sees_groups() => return self.row_variable(scope, member, span),
            "source" if SOURCE_LATER.contains(&member.text.as_str()) => {
                return self.unsupported(span, &format!("`$source.{}` is", member.text));
            }
            "source" if path.len() > 2 && Function::by_name(&path[2].text).is_none() => {
                return self.unsupported(span, "a variable of one source among several is");
            }
            "source" => self.member(scope, member, &SOURCE),
            "vars" => self.var(scope, member),
            "meta" => self.stamp(scope, member),
            later if SCOPES_LATER.contains(&later) => {
                return self.unsupported(span, &format!("`${later}` is"));
            }
            _ => return self.unknown_scope(scope, span),
        };
        match path {
            [_, _] if args.is_none() => found,
            [_, _, method] => self.method_call(found, None, method, args, span),
            _ => self.not_callable(path, span),
        }
    }

    fn member(&mut self, scope: &Name, member: &Name, members: &[(&str, Variable)]) -> Expr {
        let span = scope.span.to(member.span);
        if let Some((_, found)) = members.iter().find(|(name, _)| *name == member.text) {
            return variable(*found, variable_type(*found), span);
        }
        let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        self.unknown_member(scope, member, &names)
    }

    fn var(&mut self, scope: &Name, member: &Name) -> Expr {
        let vars = self.vars;
        if let Some(position) = vars.all.iter().position(|var| var.name == member.text) {
            return variable(Variable::Var(position), vars.all[position].ty.clone(), scope.span.to(member.span));
        }
        if !vars.complete {
            return failed(member.span);
        }
        let names: Vec<&str> = vars.all.iter().map(|var| var.name.as_str()).collect();
        self.unknown_member(scope, member, &names)
    }

    /// A stamp that a reshape put on the row; E203 where no row has any.
    fn stamp(&mut self, scope: &Name, member: &Name) -> Expr {
        let span = scope.span.to(member.span);
        let Some(stamp) = Stamp::ALL.into_iter().find(|stamp| stamp.name() == member.text) else {
            return self.unknown_member(scope, member, &Stamp::ALL.map(Stamp::name));
        };
        if let Some(column) = self.row.schema.stamp(stamp) {
            return Expr { kind: ExprKind::Column(column), ty: stamp.ty(), span };
        }
        if self.row.complete {
            let message = format!("the rows of {} have no `{}`", self.place, stamp.column_name());
            let diagnostic = Diagnostic::error(Code::E203, message)
                .label(span, "no reshape stamped them")
                .note("a reshape stamps the rows it gives; an aggregate makes new rows, without stamps");
            self.error(diagnostic.help("read it in a node below a reshape"));
        }
        failed(span)
    }

    fn no_document(&mut self, span: Span) -> Expr {
        let message = format!("`$doc` can't be read in {}", self.place);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(span, "belongs to one document, and the rows of a group may come from several")
            .help("emit it as a column in a transform in front, and read the column");
        self.error(diagnostic);
        failed(span)
    }

    fn unknown_member(&mut self, scope: &Name, member: &Name, names: &[&str]) -> Expr {
        let message = format!("`${}` has no member `{}`", scope.text, member.text);
        let diagnostic = Diagnostic::error(Code::E203, message).label(member.span, "not known");
        let diagnostic = match names {
            [] => diagnostic.note("the pipeline declares no `vars`"),
            names => diagnostic.note(format!("`${}` has {}", scope.text, list(names))),
        };
        self.error(did_you_mean(diagnostic, &member.text, member.span, names.iter().copied()));
        failed(member.span)
    }

    fn unknown_scope(&mut self, scope: &Name, span: Span) -> Expr {
        let written = format!("${}", scope.text);
        let diagnostic = Diagnostic::error(Code::E203, format!("`{written}` is not known"))
            .label(scope.span, "not known")
            .note("there are `$pipeline`, `$source`, `$vars` and, below a reshape, `$meta`");
        self.error(did_you_mean(diagnostic, &written, scope.span, ["$pipeline", "$source", "$vars", "$meta"]));
        failed(span)
    }

    fn not_callable(&mut self, path: &[Name], span: Span) -> Expr {
        let message = format!("`${}.{}` is a value, not a function", path[0].text, path[1].text);
        self.error(Diagnostic::error(Code::E200, message).label(span, "can't be called"));
        failed(span)
    }

    fn note_unknown(&mut self, name: &str, span: Span) {
        if !self.row.complete || !self.complete || self.unknown_shared(name) {
            return;
        }
        match self.unknown.iter_mut().find(|unknown| unknown.name == name) {
            Some(unknown) => unknown.spans.push(span),
            None => {
                let (lets, emits) = (self.lets.len(), self.emits.len());
                self.unknown.push(Unknown { name: name.to_owned(), spans: vec![span], lets, emits });
            }
        }
    }

    pub(super) fn report_unknown(&mut self, unknown: &Unknown) {
        let message = format!("unknown name `{}` in {}", unknown.name, self.place);
        let mut spans = unknown.spans.clone();
        spans.sort();
        let mut diagnostic = Diagnostic::error(Code::E203, message);
        for (index, span) in spans.iter().enumerate() {
            diagnostic = diagnostic.label(*span, if index == 0 { "not known here" } else { "used here too" });
        }
        let columns: Vec<&str> = self.row.schema.visible().iter().map(|column| column.name.as_str()).collect();
        if columns.len() <= SHOWN_NAMES {
            diagnostic = diagnostic.note(there_are("column", &columns));
        }
        let diagnostic = self.suggest(diagnostic, unknown, spans[0], columns);
        self.diagnostics.push(diagnostic);
    }

    /// Says what may be meant by a name that is not known.
    fn suggest(&self, diagnostic: Diagnostic, unknown: &Unknown, span: Span, columns: Vec<&str>) -> Diagnostic {
        let name = unknown.name.as_str();
        if self.lets.iter().chain(&self.emits).any(|slot| slot.name == name) {
            return diagnostic.help(format!("`{name}` is computed by the program, and can be read only further down"));
        }
        if self.behind_dashes.contains(&span) {
            return diagnostic.help("a comment starts with `#`, not with `--`");
        }
        if let Some(help) = self.row.ended(name) {
            return diagnostic.help(help);
        }
        if let Some(var) = self.vars.all.iter().find(|var| var.name == name) {
            let written = format!("$vars.{}", var.name);
            return diagnostic.help(format!("a variable of the pipeline is read as `{written}`")).fix(span, written);
        }
        if matches!(name, "not_null" | "not_blank" | "non_empty" | "required") {
            return diagnostic.help("the check for a value that is there is `not_empty`");
        }
        if let Some((_, constant)) = CONSTANTS.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)) {
            return diagnostic.help(format!("write `{constant}`")).fix(span, *constant);
        }
        let above = self.lets[..unknown.lets].iter().chain(&self.emits[..unknown.emits]);
        let candidates = columns.into_iter().chain(above.map(|slot| slot.name.as_str()));
        let mut diagnostic = did_you_mean(diagnostic, name, span, candidates);
        if self.lone_names.contains(&span) {
            let guess = diagnostic.help.take().map_or_else(String::new, |guess| format!("{guess} Or, "));
            diagnostic.fix = None;
            return diagnostic.help(guess + &own_quotes(name));
        }
        if diagnostic.help.is_none() && self.lone_checks.contains(&span) {
            diagnostic = did_you_mean(diagnostic, name, span, ["not_empty"]);
        }
        match diagnostic.help {
            None if self.row.schema.carries => diagnostic.help(format!(
                "if it is a text, write `\"{name}\"`; if it is a field of the input, declare it in the source's schema"
            )),
            None => diagnostic.help(format!("if it is a text, write `\"{name}\"`")),
            Some(_) => diagnostic,
        }
    }
}

/// Adds "did you mean" and its fix, where a candidate is close enough.
pub(crate) fn did_you_mean<'n>(
    diagnostic: Diagnostic,
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    match closest(name, candidates) {
        Some(found) => diagnostic.help(format!("did you mean `{found}`?")).fix(span, found),
        None => diagnostic,
    }
}

/// Names for people: `` `a`, `b` and `c` ``.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// What there is, for people: `` the columns are `a` and `b` ``.
pub(crate) fn there_are(noun: &str, names: &[&str]) -> String {
    match names {
        [] => format!("there is no {noun}"),
        [name] => format!("the only {noun} is `{name}`"),
        names => format!("the {noun}s are {}", list(names)),
    }
}

fn variable(variable: Variable, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Variable(variable), ty, span }
}

fn variable_type(variable: Variable) -> Type {
    Type::of(match variable {
        Variable::StartTime => Kind::DateTime,
        Variable::SourceRow => Kind::Int,
        _ => Kind::String,
    })
}
