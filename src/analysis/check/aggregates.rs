//! Aggregates: their arguments and types.
//!
//! What stands around aggregates sees one row for a whole group: the columns that all rows of a group share, then the
//! results of the aggregates. Equal aggregates are computed once.

use super::alike::alike;
use super::calls::{given, plain, plural};
use super::describe::{Help, article, operand, with_help};
use super::groups::{Written, Zone};
use super::operand_help::to_number;
use super::operators::{cannot_mix, is_number, mixes_decimal_and_float, this_is};
use super::unify::{convert, unify_kinds};
use super::{Checker, failed, kinds_of, with_branches};
use crate::analysis::hir::{Aggregate, AggregateFunction, Expr, ExprKind, is_ordered};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::{self, Arg, Name};

/// The names of the aggregates, in the order in which messages list them.
pub(super) const AGGREGATES: [&str; 7] = ["sum", "count", "min", "max", "avg", "collect", "weighted_avg"];

/// Where people find aggregates.
pub(super) const WHERE_AGGREGATES_BELONG: &str =
    "aggregates belong in nodes that see whole groups: an aggregate, or a cull";

impl Checker<'_> {
    /// Ends the work like [`Checker::finish`], and gives the aggregates that the expressions read.
    pub fn finish_groups(mut self) -> (Vec<Aggregate>, Vec<Written>) {
        let group = self.group.take();
        self.finish();
        group.map(|group| (group.aggregates, group.written)).unwrap_or_default()
    }

    /// A call of one of [`AGGREGATES`].
    pub(super) fn aggregate(&mut self, function: &Name, args: &[Arg], span: Span) -> Expr {
        match self.zone() {
            None => return self.row_level(function, args, span),
            Some(Zone::Group) => {}
            Some(Zone::Argument) => return self.nested(function, span),
            Some(zone) => {
                self.too_early(zone, &format!("the aggregate `{}`", function.text), function.span);
                return failed(span);
            }
        }
        let checked: Vec<Expr> = match args {
            [Arg::Star(_)] if function.text == "count" => Vec::new(),
            args => {
                self.in_zone(Zone::Argument, |checker| args.iter().map(|arg| checker.argument(arg, function)).collect())
            }
        };
        let which = which(&function.text, checked.len());
        if !self.aggregate_count_fits(which, function, checked.len()) || checked.iter().any(|arg| arg.ty.is_error()) {
            return failed(span);
        }
        let args_ast: Vec<Option<&ast::Expr>> = args.iter().map(plain).collect();
        match self.typed_aggregate(which, function, checked, &args_ast) {
            Some((args, ty)) => {
                args.iter().for_each(|arg| self.quoted_value(arg, "this aggregate takes"));
                self.counted_conditions(which, &args, &args_ast);
                let texts = args_ast.iter().flatten().map(ToString::to_string).collect();
                self.result_of(Aggregate { function: which, args, ty, span }, texts)
            }
            None => failed(span),
        }
    }

    /// The column that holds the result; the same one for aggregates that say the same.
    fn result_of(&mut self, aggregate: Aggregate, args: Vec<String>) -> Expr {
        let group = self.group.as_mut().expect("only a checker of groups comes here");
        let (ty, span) = (aggregate.ty.clone(), aggregate.span);
        let same = |other: &Aggregate| {
            let pairs = || other.args.iter().zip(&aggregate.args);
            other.function == aggregate.function && pairs().all(|(left, right)| alike(left, right))
        };
        let index = group.aggregates.iter().position(same).unwrap_or(group.aggregates.len());
        if index == group.aggregates.len() {
            group.written.push(Written::new(aggregate.function, args, &group.emit));
            group.aggregates.push(aggregate);
        }
        Expr { kind: ExprKind::Column(group.shared.len() + index), ty, span }
    }

    fn row_level(&mut self, function: &Name, args: &[Arg], span: Span) -> Expr {
        let message = format!("aggregate function '{}' is not allowed in a {}", function.text, self.row_work);
        let diagnostic = Diagnostic::error(Code::E200, message).label(function.span, "sees one row only");
        let of_two = match (function.text.as_str(), args) {
            (name @ ("min" | "max"), [Arg::Expr(first), Arg::Expr(second)]) => {
                let which = if name == "min" { "smaller" } else { "larger" };
                Some(format!("the {which} of two values is `{}.{name}({second})`", operand(first)))
            }
            _ => None,
        };
        self.error(diagnostic.note(WHERE_AGGREGATES_BELONG).help_opt(of_two));
        failed(span)
    }

    /// Reports `value.sum()`, as which `sum(value)` is written.
    pub(super) fn aggregate_as_method(&mut self, value: &str, args: &[Arg], function: &Name, span: Span) {
        const LONGEST: usize = 40;
        let args = args.iter().filter_map(plain).map(|arg| format!(", {arg}"));
        let call = format!("{}({value}{})", function.text, args.collect::<String>());
        let diagnostic = Diagnostic::error(Code::E200, format!("the aggregate `{}` is not a method", function.text))
            .label(function.span, "takes its values in parentheses");
        self.error(match call.len() <= LONGEST {
            true => diagnostic.help(format!("write `{call}`")).fix(span, call),
            false => diagnostic.help(format!("write `{}(…)`", function.text)),
        });
    }

    fn nested(&mut self, function: &Name, span: Span) -> Expr {
        let message = format!("the aggregate `{}` stands inside of another one", function.text);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(function.span, "an argument is computed for each row, and a row has no aggregates")
            .help("let the argument use columns only");
        self.error(diagnostic);
        failed(span)
    }

    fn aggregate_count_fits(&mut self, which: AggregateFunction, function: &Name, count: usize) -> bool {
        let (wanted, fits, form) = match which {
            AggregateFunction::CountRows | AggregateFunction::Count => {
                (format!("at most {}", plural(1)), count <= 1, "count(*)` or `count(value)")
            }
            AggregateFunction::WeightedAvg => (plural(2), count == 2, "weighted_avg(value, weight)"),
            _ => (plural(1), count == 1, ""),
        };
        if fits {
            return true;
        }
        let name = &function.text;
        let form = if form.is_empty() { format!("{name}(value)") } else { form.to_owned() };
        let diagnostic = Diagnostic::error(Code::E200, format!("`{name}` takes {wanted}, {}", given(count)))
            .label(function.span, format!("takes {wanted}"))
            .help(format!("its form is `{form}`"));
        self.error(diagnostic);
        false
    }

    /// The arguments in the kinds that are aggregated, and the type of the result. `None`, reported, if they don't fit.
    fn typed_aggregate(
        &mut self,
        which: AggregateFunction,
        function: &Name,
        args: Vec<Expr>,
        args_ast: &[Option<&ast::Expr>],
    ) -> Option<(Vec<Expr>, Type)> {
        let args: Vec<Expr> = args.into_iter().map(typed_null).collect();
        let fits = |arg: &Expr| match which {
            AggregateFunction::Sum | AggregateFunction::Avg | AggregateFunction::WeightedAvg => is_number(&arg.ty.kind),
            AggregateFunction::Min | AggregateFunction::Max => is_ordered(&arg.ty.kind) || arg.ty.kind == Kind::Bool,
            AggregateFunction::CountRows | AggregateFunction::Count | AggregateFunction::Collect => true,
        };
        let wrong: Vec<_> = args.iter().zip(args_ast).filter(|(arg, _)| !fits(arg)).collect();
        for (arg, arg_ast) in &wrong {
            self.in_zone(Zone::Argument, |checker| checker.wrong_argument(which, function, arg, **arg_ast));
        }
        if !wrong.is_empty() {
            return None;
        }
        let args = if which == AggregateFunction::WeightedAvg { self.weighted(function, args)? } else { args };
        let ty = result_type(which, args.first().map(|arg| &arg.ty.kind));
        Some((args, ty))
    }

    fn wrong_argument(&mut self, which: AggregateFunction, function: &Name, arg: &Expr, arg_ast: Option<&ast::Expr>) {
        let ordered = matches!(which, AggregateFunction::Min | AggregateFunction::Max);
        let wanted = if ordered { "values that have an order" } else { "a number" };
        let branches = if arg.ty.kind == Kind::Any { self.branches(arg) } else { Vec::new() };
        let found = kinds_of(&branches).unwrap_or_else(|| article(&arg.ty));
        let message = format!("`{}` needs {wanted}, not {found}", function.text);
        let diagnostic = Diagnostic::error(Code::E200, message).label(arg.span, format!("this is {found}"));
        let shown = arg_ast.map_or_else(|| "(…)".to_owned(), operand);
        let help = match arg.ty.kind {
            Kind::Any if !branches.is_empty() => Help::say("let every branch give the same type".to_owned()),
            Kind::Any if ordered => Help::say(format!(
                "say what it is: a number by `{shown}.to_decimal()`, a day by `{shown}.to_date()`, and so on"
            )),
            Kind::Any => Help::say(format!(
                "say what it is: `{shown}.to_int()`, `{shown}.to_decimal()` or, if it need not be exact, `{shown}.to_float()`"
            )),
            _ if ordered => None,
            _ => arg_ast.and_then(|arg_ast| Help::say(to_number(&arg.ty.kind, &Kind::Null, arg_ast)?)),
        };
        self.error(with_help(with_branches(diagnostic, &branches), help));
    }

    /// Value and weight in one kind: a decimal never meets a float.
    fn weighted(&mut self, function: &Name, args: Vec<Expr>) -> Option<Vec<Expr>> {
        let (left, right) = (&args[0], &args[1]);
        if mixes_decimal_and_float(&left.ty.kind, &right.ty.kind) {
            let message = cannot_mix(&function.text);
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(right.span, this_is(&right.ty))
                .label(left.span, this_is(&left.ty))
                .help("convert one of them with `to_decimal()` or `to_float()`");
            self.error(diagnostic);
            return None;
        }
        let kind = unify_kinds(&left.ty.kind, &right.ty.kind)?;
        let in_kind = |arg: Expr| match (&arg.ty.kind, &kind) {
            (Kind::Decimal { .. }, Kind::Decimal { .. }) => arg,
            (Kind::Int, Kind::Decimal { .. }) => convert(arg, &Kind::Decimal { scale: Some(0) }),
            _ => convert(arg, &kind),
        };
        Some(args.into_iter().map(in_kind).collect())
    }
}

impl Written {
    fn new(function: AggregateFunction, args: Vec<String>, emit: &str) -> Self {
        let shown = if function == AggregateFunction::CountRows { "*".to_owned() } else { args.join(", ") };
        Self { text: format!("{}({shown})", function.name()), args, emit: emit.to_owned() }
    }
}

/// The aggregate called so with this many arguments.
fn which(name: &str, args: usize) -> AggregateFunction {
    match name {
        "count" if args == 0 => AggregateFunction::CountRows,
        "count" => AggregateFunction::Count,
        "sum" => AggregateFunction::Sum,
        "avg" => AggregateFunction::Avg,
        "min" => AggregateFunction::Min,
        "max" => AggregateFunction::Max,
        "collect" => AggregateFunction::Collect,
        _ => AggregateFunction::WeightedAvg,
    }
}

/// A value that is always null as a null int, so that every column of values has a kind.
fn typed_null(arg: Expr) -> Expr {
    if arg.ty.kind == Kind::Null { convert(arg, &Kind::Int) } else { arg }
}

/// Nothing but a count and a list has a value where no row has one.
fn result_type(which: AggregateFunction, arg: Option<&Kind>) -> Type {
    let kind = arg.cloned().unwrap_or(Kind::Int);
    match which {
        AggregateFunction::CountRows | AggregateFunction::Count => Type::of(Kind::Int),
        AggregateFunction::Collect => Type::of(Kind::Array(Box::new(kind))),
        AggregateFunction::Sum | AggregateFunction::Min | AggregateFunction::Max => Type::nullable(kind),
        AggregateFunction::Avg | AggregateFunction::WeightedAvg => Type::nullable(match kind {
            Kind::Decimal { .. } => Kind::Decimal { scale: None },
            _ => Kind::Float,
        }),
    }
}
