//! Methods and calls.

use super::aggregates::{AGGREGATES, WHERE_AGGREGATES_BELONG};
use super::describe::{Help, article, converted, operand, with_help};
use super::habits::{
    IF_NULL_HELP, STRFTIME, aggregate_habit, call_habit, format_of, habit, is_count_distinct, is_if_null, is_window,
};
use super::names::{did_you_mean, list};
use super::operators::cannot_mix;
use super::unify::{convert, unify_kinds};
use super::{Checker, failed};
use crate::analysis::formats::{FormatUse, check_format, check_regex, in_strftime};
use crate::analysis::functions::Function;
use crate::analysis::functions::signature::{Kinds, Param, ResultKind, Role, Signature};
use crate::analysis::hir::{Expr, ExprKind, Literal};
use crate::analysis::inner_span;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Arg, Name};
use crate::syntax::cxl::{NO_COUNT_OF_DISTINCT, NO_WINDOWS};

/// Methods of arrays and maps that come later.
const METHODS_LATER: [&str; 11] =
    ["filter", "map", "any", "flat_map", "remove", "keys", "values", "merge", "set", "remove_field", "unset"];
/// Methods that take a closure.
const TAKE_CLOSURES: [&str; 5] = ["filter", "map", "find", "any", "flat_map"];
/// The deepest that rounding goes.
const MAX_SCALE: i64 = 28;

impl Checker<'_> {
    /// `receiver.method(args)`, or `receiver.method` without `args`; `receiver_ast` is its tree, for messages.
    pub(super) fn method_call(
        &mut self,
        receiver: Expr,
        receiver_ast: Option<&ast::Expr>,
        method: &Name,
        args: Option<&[Arg]>,
        span: Span,
    ) -> Expr {
        let Some(function) = self.function(&receiver, method, args) else { return failed(span) };
        let args = args.unwrap_or_default();
        if self.joined_argument(receiver_ast, method, args) {
            return failed(span);
        }
        let args_ast: Vec<Option<&ast::Expr>> = args.iter().map(plain).collect();
        let mut checked = Vec::with_capacity(args.len());
        for arg in args {
            checked.push(self.argument(arg, method));
        }
        let signature = function.signature();
        let fits = self.receiver_fits(&receiver, receiver_ast, method, signature)
            & self.count_fits(method, signature, args)
            && self.arguments_fit(method, signature, &receiver, &checked, &args_ast);
        if !fits || receiver.ty.is_error() || checked.iter().any(|arg| arg.ty.is_error()) {
            return failed(span);
        }
        self.asked_for_null(function, &receiver, receiver_ast, &args_ast);
        if function != Function::Concat {
            self.quoted_receiver(&receiver, &checked, method);
        }
        self.typed_call(function, receiver, checked, span)
    }

    /// The method called so; reports E199 for one that comes later, and E200 for one that no type has or that is given
    /// a closure it can't take. Without parentheses, what no type has is a member that is not known (E203).
    fn function(&mut self, receiver: &Expr, method: &Name, args: Option<&[Arg]>) -> Option<Function> {
        let name = method.text.as_str();
        let unknown = if args.is_some() { Code::E200 } else { Code::E203 };
        let closure = args.unwrap_or_default().iter().find_map(|arg| match arg {
            Arg::Closure { span, .. } => Some(*span),
            _ => None,
        });
        let searches_text = name == "find" && receiver.ty.kind == Kind::String;
        match (Function::by_name(name), closure) {
            (Some(function), None) => return Some(function),
            (_, Some(_)) if TAKE_CLOSURES.contains(&name) && !searches_text => {
                self.unsupported(method.span, &format!("`{name}` with a closure is"));
            }
            (Some(function), Some(closure)) => self.takes_no_closure(function, closure),
            (None, _) if METHODS_LATER.contains(&name) => {
                self.unsupported(method.span, &format!("the method `{name}` is"));
            }
            (None, _) if is_window(name) => {
                self.windows(method);
            }
            (None, _) => self.unknown_method(unknown, receiver, method, args.unwrap_or_default()),
        }
        None
    }

    /// Takes note of a function that looks at the rows around a row.
    pub(super) fn windows(&mut self, function: &Name) -> Expr {
        self.unsupported_but(function.span, "windows over rows are", NO_WINDOWS)
    }

    fn takes_no_closure(&mut self, function: Function, closure: Span) {
        let name = function.name();
        let diagnostic = Diagnostic::error(Code::E200, format!("`{name}` takes no closure"))
            .label(closure, "a closure")
            .help(format!("its form is `{name}({})`", function.signature().usage()));
        self.error(diagnostic);
    }

    fn unknown_method(&mut self, code: Code, receiver: &Expr, method: &Name, args: &[Arg]) {
        let message = format!("there is no method `{}`", method.text);
        let diagnostic = Diagnostic::error(code, message).label(method.span, "not a method");
        let is_date = matches!(receiver.ty.kind, Kind::Date | Kind::DateTime);
        if let Some(help) = format_habit(&method.text, is_date, args) {
            return self.error(diagnostic.help(help));
        }
        if method.text == "format" {
            let help = "`to_string()` gives a value's text, `format_date(…)` a date in a format of choice";
            return self.error(diagnostic.help(help));
        }
        if let Some(function) = habit(&method.text) {
            let diagnostic = diagnostic.help(format!("did you mean `{function}`?"));
            return self.error(diagnostic.fix(method.span, function));
        }
        if is_if_null(&method.text) {
            return self.error(diagnostic.help(IF_NULL_HELP));
        }
        if matches!(method.text.as_str(), "in" | "isin" | "is_in") {
            return self.error(diagnostic.help("compare with each value, as in `x == 1 or x == 2`"));
        }
        if AGGREGATES.contains(&method.text.as_str()) {
            return self.error(diagnostic.note(WHERE_AGGREGATES_BELONG));
        }
        let fitting = |function: &&Function| function.signature().receiver.accepts(&receiver.ty.kind);
        let names = Function::ALL.iter().filter(fitting).chain(Function::ALL).map(|function| function.name());
        self.error(did_you_mean(diagnostic, &method.text, method.span, names));
    }

    pub(super) fn argument(&mut self, arg: &Arg, method: &Name) -> Expr {
        match arg {
            Arg::Expr(expr) => self.expr(expr),
            Arg::Closure { span, .. } => {
                let message = "`it => …` can stand only among the arguments of a method";
                let diagnostic = Diagnostic::error(Code::E203, message);
                self.error(diagnostic.label(*span, format!("`{}` is not a method", method.text)));
                failed(*span)
            }
            Arg::Star(span) => {
                let message = format!("`*` is not a value that `{}` can take", method.text);
                self.error(Diagnostic::error(Code::E200, message).label(*span, "not a value"));
                failed(*span)
            }
        }
    }

    fn receiver_fits(
        &mut self,
        receiver: &Expr,
        receiver_ast: Option<&ast::Expr>,
        method: &Name,
        signature: &Signature,
    ) -> bool {
        if signature.receiver.accepts(&receiver.ty.kind) {
            return true;
        }
        let wanted = signature.receiver.describe();
        let message = format!("`{}` works on {wanted}, not on {}", method.text, article(&receiver.ty));
        let help = conversion(signature.receiver, &receiver.ty.kind).map(|way| {
            let shown = receiver_ast.map_or_else(|| format!("(…).{way}()"), |receiver| converted(receiver, way));
            format!("write `{shown}.{}({})`", method.text, elided(signature))
        });
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(receiver.span, format!("this is {}", article(&receiver.ty)))
            .label(method.span, format!("needs {wanted}"));
        self.error(diagnostic.help_opt(help));
        false
    }

    fn count_fits(&mut self, method: &Name, signature: &Signature, args: &[Arg]) -> bool {
        let (min, max) = (signature.min_args(), signature.max_args());
        if args.len() >= min && max.is_none_or(|max| args.len() <= max) {
            return true;
        }
        let wanted = match (min, max) {
            (0, Some(0)) => "no argument".to_owned(),
            (min, Some(max)) if min == max => plural(min),
            (min, None) => format!("at least {}", plural(min)),
            (0, Some(max)) => format!("at most {}", plural(max)),
            (min, Some(max)) => format!("{min} or {}", plural(max)),
        };
        let message = format!("`{}` takes {wanted}, {}", method.text, given(args.len()));
        let help = format!("its form is `{}({})`", method.text, signature.usage());
        self.error(Diagnostic::error(Code::E200, message).label(method.span, format!("takes {wanted}")).help(help));
        false
    }

    /// Checks kinds and constant texts; reports every argument that does not fit.
    fn arguments_fit(
        &mut self,
        method: &Name,
        signature: &Signature,
        receiver: &Expr,
        args: &[Expr],
        args_ast: &[Option<&ast::Expr>],
    ) -> bool {
        let mut fits = true;
        for (index, (arg, arg_ast)) in args.iter().zip(args_ast).enumerate() {
            let param = signature.param(index);
            fits &= self.argument_fits(method, param, arg, *arg_ast) && self.constant_fits(param, receiver, arg);
        }
        fits && (signature.result != ResultKind::Common || self.meets(method, receiver, args))
    }

    fn argument_fits(&mut self, method: &Name, param: &Param, arg: &Expr, arg_ast: Option<&ast::Expr>) -> bool {
        if param.kinds.accepts(&arg.ty.kind) {
            return true;
        }
        let wanted = param.kinds.describe();
        let message = format!("`{}` of `{}` must be {wanted}, not {}", param.name, method.text, article(&arg.ty));
        let way = conversion(param.kinds, &arg.ty.kind).zip(arg_ast);
        let help = way.and_then(|(way, arg_ast)| Help::method(arg_ast, way, ""));
        let label = format!("this is {}", article(&arg.ty));
        self.error(with_help(Diagnostic::error(Code::E200, message).label(arg.span, label), help));
        false
    }

    /// A constant regex or date format must be valid; E200 at the part that isn't.
    fn constant_fits(&mut self, param: &Param, receiver: &Expr, arg: &Expr) -> bool {
        let ExprKind::Literal(Literal::String(text)) = &arg.kind else { return true };
        let date = receiver.ty.kind == Kind::Date;
        let (subject, checked) = match param.role {
            Role::Plain => return true,
            Role::Regex => ("the regex", check_regex(text)),
            Role::FormatOut if date => ("the date format", check_format(text, FormatUse::WriteDate)),
            Role::FormatOut => ("the date format", check_format(text, FormatUse::WriteDateTime)),
            Role::ParseDate => ("the date format", check_format(text, FormatUse::ParseDate)),
            Role::ParseDateTime => ("the date format", check_format(text, FormatUse::ParseDateTime)),
        };
        let Err(fault) = checked else {
            self.fixed_format(param.role, date, arg);
            return true;
        };
        let shown = if text.is_empty() { String::new() } else { format!(" `{text}`") };
        let message = format!("{subject}{shown} is not valid: {}", fault.reason);
        let span = inner_span(arg.span, text, &fault.range);
        let help = match param.role {
            Role::ParseDate => in_strftime(text, FormatUse::ParseDate),
            Role::ParseDateTime => in_strftime(text, FormatUse::ParseDateTime),
            _ => None,
        };
        let help = help.map(|meant| format!("write `\"{meant}\"`"));
        self.error(Diagnostic::error(Code::E200, message).label(span, fault.reason).help_opt(help));
        false
    }

    /// Whether receiver and arguments meet in one kind: a decimal never meets a float.
    fn meets(&mut self, method: &Name, receiver: &Expr, args: &[Expr]) -> bool {
        let mut kind = receiver.ty.kind.clone();
        for arg in args {
            let Some(met) = unify_kinds(&kind, &arg.ty.kind) else {
                let message = cannot_mix(&method.text);
                let diagnostic = Diagnostic::error(Code::E200, message)
                    .label(arg.span, format!("this is {}", article(&arg.ty)))
                    .label(receiver.span, format!("this is {}", article(&receiver.ty)))
                    .help("convert one of them with `to_decimal()` or `to_float()`");
                self.error(diagnostic);
                return false;
            };
            kind = met;
        }
        true
    }

    fn typed_call(&self, function: Function, receiver: Expr, args: Vec<Expr>, span: Span) -> Expr {
        let signature = function.signature();
        let nullable = signature.nulls.nullable(&receiver.ty, &args);
        let (receiver, args) = operands(signature, receiver, args);
        let kind = result_kind(signature.result, &receiver, &args);
        let ty = Type { nullable: nullable || matches!(kind, Kind::Any | Kind::Null), kind };
        Expr { kind: ExprKind::Call { function, receiver: Box::new(receiver), args }, ty, span }
    }

    /// `name(args)`: an aggregate, or nothing that exists.
    pub(super) fn free_call(&mut self, function: &Name, args: &[Arg], span: Span) -> Expr {
        let name = function.text.as_str();
        if self.functions.iter().any(|known| known == name) {
            return failed(span);
        }
        if AGGREGATES.contains(&name) {
            return self.aggregate(function, args, span);
        }
        if is_window(name) {
            return self.windows(function);
        }
        let message = format!("unknown function `{name}`");
        let diagnostic = Diagnostic::error(Code::E203, message).label(function.span, "not known");
        let shown: Vec<String> = args.iter().map(|arg| plain(arg).map_or("…".to_owned(), operand)).collect();
        let aggregate = self.sees_groups().then(|| aggregate_habit(name, &short(args.first())));
        let aggregate = aggregate.flatten();
        let diagnostic = match call_habit(name, &shown) {
            _ if aggregate.is_some() => diagnostic.help_opt(aggregate.map(|aggregate| format!("write `{aggregate}`"))),
            _ if is_count_distinct(name) => diagnostic.help(NO_COUNT_OF_DISTINCT),
            Some(help) => diagnostic.help(help),
            None if is_if_null(name) => diagnostic.help(IF_NULL_HELP),
            None if self.sees_groups() => {
                let diagnostic = diagnostic.note(format!("the functions here are {}", list(&AGGREGATES)));
                // What is wanted by that name is there under none.
                let similar = AGGREGATES.into_iter().filter(|_| name != "median");
                did_you_mean(diagnostic, name, function.span, similar)
            }
            None => self.suggest_aggregate(diagnostic, function, args),
        };
        self.error(diagnostic);
        failed(span)
    }

    /// Says which aggregate is meant by a function that is not known where rows are worked on, if one may be.
    fn suggest_aggregate(&self, diagnostic: Diagnostic, function: &Name, args: &[Arg]) -> Diagnostic {
        let similar = AGGREGATES.into_iter().filter(|_| function.text != "median");
        let meant = aggregate_habit(&function.text, &short(args.first()))
            .or_else(|| closest(&function.text, similar).map(str::to_owned));
        match meant.filter(|_| self.zone().is_none()) {
            Some(meant) => {
                diagnostic.note(WHERE_AGGREGATES_BELONG).help(format!("did you mean `{meant}`, over a group?"))
            }
            None => diagnostic.note("work on rows is done by methods: `value.method()`"),
        }
    }
}

/// What to write in place of a method that takes a format in the letters of other tools.
fn format_habit(method: &str, on_date: bool, args: &[Arg]) -> Option<String> {
    let [Arg::Expr(ast::Expr { kind: ast::ExprKind::Literal(Literal::String(text)), .. })] = args else { return None };
    let function = match habit(method) {
        Some(function) => Function::by_name(function)?,
        None if method == "format" && on_date => Function::FormatDate,
        None => return None,
    };
    let written = format!("\"{text}\"");
    match format_of(function, &written) {
        // The name alone is wrong.
        Some(format) if format == written && method != "format" => None,
        Some(format) => Some(format!("write `{}({format})`", function.name())),
        None => Some(format!("did you mean `{}`? {STRFTIME}", function.name())),
    }
}

/// The text of an argument, if it is short.
fn short(arg: Option<&Arg>) -> String {
    let text = arg.and_then(plain).map(ToString::to_string);
    text.filter(|text| text.len() <= 40).unwrap_or_else(|| "…".to_owned())
}

/// Receiver and arguments in the kinds that the kernel expects: nulls typed, and one kind for all where they meet.
fn operands(signature: &Signature, receiver: Expr, args: Vec<Expr>) -> (Expr, Vec<Expr>) {
    if matches!(signature.result, ResultKind::Common | ResultKind::CommonOrAny) {
        let common = |kind: Kind, arg: &Expr| unify_kinds(&kind, &arg.ty.kind).unwrap_or(Kind::Any);
        let kind = args.iter().fold(receiver.ty.kind.clone(), common);
        let kind = match kind {
            Kind::Null if signature.result == ResultKind::Common => Kind::Int,
            kind => kind,
        };
        return (convert(receiver, &kind), args.into_iter().map(|arg| convert(arg, &kind)).collect());
    }
    let typed = |expr: Expr, kinds: Kinds| match expr.ty.kind {
        Kind::Null if kinds != Kinds::ALL => convert(expr, &kinds.of_null()),
        _ => expr,
    };
    let args = args.into_iter().enumerate().map(|(index, arg)| typed(arg, signature.param(index).kinds)).collect();
    (typed(receiver, signature.receiver), args)
}

fn result_kind(result: ResultKind, receiver: &Expr, args: &[Expr]) -> Kind {
    let kind = receiver.ty.kind.clone();
    match result {
        ResultKind::Bool => Kind::Bool,
        ResultKind::Int => Kind::Int,
        ResultKind::Float => Kind::Float,
        ResultKind::Decimal => Kind::Decimal { scale: None },
        ResultKind::String => Kind::String,
        ResultKind::Date => Kind::Date,
        ResultKind::DateTime => Kind::DateTime,
        ResultKind::Strings => Kind::Array(Box::new(Kind::String)),
        ResultKind::Receiver | ResultKind::Common | ResultKind::CommonOrAny => kind,
        ResultKind::Whole => match kind {
            Kind::Float => Kind::Int,
            Kind::Decimal { .. } => Kind::Decimal { scale: None },
            other => other,
        },
        ResultKind::Rounded => match kind {
            Kind::Decimal { scale } => Kind::Decimal { scale: rounded_scale(scale, args.first()) },
            other => other,
        },
    }
}

/// The scale that rounding to `digits` leaves: the smaller one, where both are known.
fn rounded_scale(scale: Option<u8>, digits: Option<&Expr>) -> Option<u8> {
    let digits = match digits.map(|digits| &digits.kind) {
        None => 0,
        Some(ExprKind::Literal(Literal::Int(digits))) => (*digits).clamp(0, MAX_SCALE) as u8,
        Some(_) => return None,
    };
    scale.map(|scale| scale.min(digits))
}

/// The method that makes a value of `kind` one of `wanted`.
fn conversion(wanted: Kinds, kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Array(_) | Kind::Map => None,
        _ if wanted.accepts(&Kind::String) => Some("to_string"),
        Kind::Date | Kind::DateTime => None,
        Kind::Float | Kind::Decimal { .. } | Kind::Bool if wanted.accepts(&Kind::Int) => Some("to_int"),
        Kind::String if wanted == Kinds::NUMBER => Some("to_float"),
        Kind::String if wanted.accepts(&Kind::Int) => Some("to_int"),
        Kind::String if wanted.accepts(&Kind::Date) => Some("to_date"),
        _ => None,
    }
}

fn elided(signature: &Signature) -> &'static str {
    if signature.min_args() == 0 { "" } else { "…" }
}

/// How many arguments are given, as a clause.
pub(super) fn given(count: usize) -> String {
    match count {
        0 => "none is given".to_owned(),
        1 => "1 is given".to_owned(),
        count => format!("{count} are given"),
    }
}

/// `1 argument`, `2 arguments`
pub(super) fn plural(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

/// The argument, if it is a plain value.
pub(super) fn plain(arg: &Arg) -> Option<&ast::Expr> {
    match arg {
        Arg::Expr(expr) => Some(expr),
        _ => None,
    }
}
