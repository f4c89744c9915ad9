//! Trees back into text: one statement a line, with no more parentheses than the tree needs.
//!
//! What is printed parses to the same tree (spans aside). [`Program`], [`Statement`] and [`Expr`] print through
//! `Display`.

use std::fmt::{self, Display, Formatter, Write};

use chrono::{Days, NaiveDate};

use super::ast::{
    Arg, BinaryOp, Expr, ExprKind, Literal, MapEntry, Name, Program, Statement, StatementKind, Target, UnaryOp,
};
use super::lexer::word_len;
use super::token::Tok;

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        statement(f, self, 0)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expr(f, self, Level::Coalesce, Behind::End)
    }
}

/// How strongly an expression binds, the loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Coalesce,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Negate,
    Postfix,
}

/// What follows an expression before a bracket or comma closes it. An `if` or `not` at its end would take it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Nothing that could be taken.
    End,
    /// An `else` that belongs to an outer `if`.
    Else,
    /// `and`, `or` or `??`.
    Loose,
    /// An operator that binds more strongly than `not`.
    Tight,
}

fn statement(f: &mut Formatter<'_>, statement: &Statement, indent: usize) -> fmt::Result {
    write!(f, "{:indent$}", "")?;
    match &statement.kind {
        StatementKind::Let { name, value } => write!(f, "let {} = {value}", name.text),
        StatementKind::Emit { target: Target::Column(name), value } => write!(f, "emit {} = {value}", name.text),
        StatementKind::Emit { target: Target::Scoped { scope, name }, value } => {
            write!(f, "emit ${}.{} = {value}", scope.text, name.text)
        }
        StatementKind::Filter { predicate } => write!(f, "filter {predicate}"),
        StatementKind::Distinct { by: None } => f.write_str("distinct"),
        StatementKind::Distinct { by: Some(name) } => write!(f, "distinct by {}", name.text),
        StatementKind::Trace { level, guard, message } => trace(f, level.as_ref(), guard.as_ref(), message),
        StatementKind::Use { path, alias } => {
            f.write_str("use ")?;
            dotted(f, path)?;
            alias.iter().try_for_each(|alias| write!(f, " as {}", alias.text))
        }
        StatementKind::EmitEach { binding, source, outer, body } => {
            let outer = if *outer { " outer" } else { "" };
            writeln!(f, "emit each {} in {source}{outer} {{", binding.text)?;
            for inner in body {
                self::statement(f, inner, indent + 2)?;
                f.write_char('\n')?;
            }
            write!(f, "{:indent$}}}", "")
        }
        StatementKind::Function { name } => write!(f, "fn {}(…) = …", name.text),
        StatementKind::Expr(value) => write!(f, "{value}"),
    }
}

fn trace(f: &mut Formatter<'_>, level: Option<&Name>, guard: Option<&Expr>, message: &Expr) -> fmt::Result {
    f.write_str("trace ")?;
    level.iter().try_for_each(|level| write!(f, "{} ", level.text))?;
    match guard {
        Some(guard) if starts_operand(message) => write!(f, "if {guard} {message}"),
        Some(guard) => {
            f.write_str("if ")?;
            expr(f, guard, Level::Or, Behind::End)?;
            write!(f, " then {message}")
        }
        None if reads_as_guard_or_level(message, level.is_some()) => write!(f, "({message})"),
        None => write!(f, "{message}"),
    }
}

/// Whether a message can stand directly behind a guard, so that no operator could join the two.
fn starts_operand(message: &Expr) -> bool {
    if message.to_string().starts_with('(') {
        return false;
    }
    match &first(message).kind {
        ExprKind::Array(_) | ExprKind::Comprehension { .. } => false,
        ExprKind::Literal(Literal::Int(value)) => *value >= 0,
        ExprKind::Unary { op, .. } => *op == UnaryOp::Not,
        ExprKind::If { alternative, .. } => alternative.is_some(),
        _ => true,
    }
}

/// Whether a message without a guard would be read as one, or its first name as a level.
fn reads_as_guard_or_level(message: &Expr, has_level: bool) -> bool {
    if matches!(message.kind, ExprKind::If { alternative: None, .. }) {
        return true;
    }
    let head = match &first(message).kind {
        ExprKind::Name(name) => name,
        ExprKind::Path(path) => &path[0].text,
        ExprKind::Call { function, .. } => &function.text,
        _ => return false,
    };
    !has_level && matches!(head.as_str(), "debug" | "info" | "warn" | "error")
}

/// The expression that the text of `expr` starts with, parentheses aside.
fn first(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Binary { left, .. } => first(left),
        ExprKind::Chain { parts, .. } => first(&parts[0]),
        ExprKind::Method { receiver, .. } => first(receiver),
        ExprKind::Index { base, .. } => first(base),
        _ => expr,
    }
}

fn expr(f: &mut Formatter<'_>, value: &Expr, level: Level, behind: Behind) -> fmt::Result {
    if needs_parentheses(value, level, behind) {
        f.write_char('(')?;
        bare(f, value, Behind::End)?;
        return f.write_char(')');
    }
    bare(f, value, behind)
}

fn needs_parentheses(value: &Expr, level: Level, behind: Behind) -> bool {
    match &value.kind {
        // A prefix form may be any operator's right operand, whatever its level; only what follows matters.
        ExprKind::If { alternative, .. } => match behind {
            Behind::End => level == Level::Postfix,
            Behind::Else => alternative.is_none(),
            Behind::Loose | Behind::Tight => true,
        },
        ExprKind::Unary { op: UnaryOp::Not, .. } => level == Level::Postfix || behind == Behind::Tight,
        _ => level_of(value) < level,
    }
}

fn level_of(value: &Expr) -> Level {
    match &value.kind {
        ExprKind::Binary { op, .. } | ExprKind::Chain { op, .. } => binary_level(*op),
        ExprKind::Unary { op: UnaryOp::Negate, .. } => Level::Negate,
        ExprKind::Literal(Literal::Int(value)) if *value < 0 => Level::Negate,
        _ => Level::Postfix,
    }
}

fn binary_level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Coalesce => Level::Coalesce,
        BinaryOp::Or => Level::Or,
        BinaryOp::And => Level::And,
        BinaryOp::Add | BinaryOp::Subtract => Level::Add,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => Level::Multiply,
        _ => Level::Compare,
    }
}

fn bare(f: &mut Formatter<'_>, value: &Expr, behind: Behind) -> fmt::Result {
    match &value.kind {
        ExprKind::Literal(literal) => self::literal(f, literal),
        ExprKind::Now => f.write_str("now"),
        ExprKind::It => f.write_str("it"),
        ExprKind::Wildcard => f.write_str("_"),
        ExprKind::Name(name) => f.write_str(name),
        ExprKind::Path(path) => dotted(f, path),
        ExprKind::System { path, args } => {
            f.write_char('$')?;
            dotted(f, path)?;
            args.iter().try_for_each(|args| self::args(f, args))
        }
        ExprKind::Unary { op, operand, .. } => unary(f, *op, operand, behind),
        ExprKind::Binary { op, left, right, .. } => binary(f, *op, left, right, behind),
        ExprKind::Chain { op, parts } => chain(f, *op, parts, behind),
        ExprKind::If { condition, consequence, alternative } => {
            conditional(f, condition, consequence, alternative.as_deref(), behind)
        }
        ExprKind::Match { subject, arms } => {
            f.write_str("match ")?;
            subject.iter().try_for_each(|subject| self::subject(f, subject))?;
            let arm = |f: &mut Formatter<'_>, arm: &super::ast::Arm| write!(f, "{} => {}", arm.pattern, arm.body);
            braced(f, arms, arm)
        }
        ExprKind::Method { receiver, method, args } => {
            self::receiver(f, receiver, args.is_none())?;
            write!(f, ".{}", method.text)?;
            args.iter().try_for_each(|args| self::args(f, args))
        }
        ExprKind::Call { function, args } => {
            f.write_str(&function.text)?;
            self::args(f, args)
        }
        ExprKind::Index { base, index } => {
            expr(f, base, Level::Postfix, Behind::Tight)?;
            write!(f, "[{index}]")
        }
        ExprKind::Array(items) => {
            f.write_char('[')?;
            separated(f, items, |f, item| write!(f, "{item}"))?;
            f.write_char(']')
        }
        ExprKind::Comprehension { body, binding, source, predicate } => {
            write!(f, "[{body} for {} in {source}", binding.text)?;
            predicate.iter().try_for_each(|predicate| write!(f, " if {predicate}"))?;
            f.write_char(']')
        }
        ExprKind::Map(entries) => braced(f, entries, entry),
        ExprKind::Error => f.write_str("…"),
    }
}

fn conditional(
    f: &mut Formatter<'_>,
    condition: &Expr,
    consequence: &Expr,
    alternative: Option<&Expr>,
    behind: Behind,
) -> fmt::Result {
    f.write_str("if ")?;
    expr(f, condition, Level::Or, Behind::End)?;
    f.write_str(" then ")?;
    let Some(alternative) = alternative else { return expr(f, consequence, Level::Coalesce, behind) };
    expr(f, consequence, Level::Coalesce, Behind::Else)?;
    f.write_str(" else ")?;
    expr(f, alternative, Level::Coalesce, behind)
}

fn unary(f: &mut Formatter<'_>, op: UnaryOp, operand: &Expr, behind: Behind) -> fmt::Result {
    match op {
        UnaryOp::Negate => {
            f.write_char('-')?;
            expr(f, operand, Level::Negate, behind)
        }
        UnaryOp::Not => {
            f.write_str("not ")?;
            expr(f, operand, Level::Not, behind)
        }
    }
}

fn binary(f: &mut Formatter<'_>, op: BinaryOp, left: &Expr, right: &Expr, behind: Behind) -> fmt::Result {
    let level = binary_level(op);
    let (left_level, right_level) = match level {
        Level::Coalesce => (Level::Or, Level::Coalesce),
        Level::Compare => (Level::Add, Level::Add),
        Level::Add => (Level::Add, Level::Multiply),
        _ => (Level::Multiply, Level::Negate),
    };
    let middle = if level < Level::Not { Behind::Loose } else { Behind::Tight };
    expr(f, left, left_level, middle)?;
    write!(f, " {} ", op.symbol())?;
    expr(f, right, right_level, behind)
}

fn chain(f: &mut Formatter<'_>, op: BinaryOp, parts: &[Expr], behind: Behind) -> fmt::Result {
    let inside = if op == BinaryOp::Or { Level::And } else { Level::Not };
    parts.iter().enumerate().try_for_each(|(index, part)| {
        if index > 0 {
            write!(f, " {} ", op.symbol())?;
        }
        let is_last = index + 1 == parts.len();
        expr(f, part, inside, if is_last { behind } else { Behind::Loose })
    })
}

/// The subject of a `match`. A `{` directly behind `match` opens the arms, so a subject that starts with a map stands
/// in parentheses.
fn subject(f: &mut Formatter<'_>, subject: &Expr) -> fmt::Result {
    match first(subject).kind {
        ExprKind::Map(_) => write!(f, "({subject}) "),
        _ => write!(f, "{subject} "),
    }
}

/// What stands in front of `.name`. Names joined by dots are one path, so a receiver that would be its start stands
/// in parentheses.
fn receiver(f: &mut Formatter<'_>, receiver: &Expr, bare_name_follows: bool) -> fmt::Result {
    let joins = match &receiver.kind {
        ExprKind::Name(_) => true,
        ExprKind::Path(path) => path.len() < 3,
        ExprKind::System { path, args: None } => path.len() < 3 && matches!(path[0].text.as_str(), "source" | "doc"),
        _ => false,
    };
    if joins && bare_name_follows {
        write!(f, "({receiver})")
    } else {
        expr(f, receiver, Level::Postfix, Behind::Tight)
    }
}

fn args(f: &mut Formatter<'_>, args: &[Arg]) -> fmt::Result {
    f.write_char('(')?;
    separated(f, args, |f, arg| match arg {
        Arg::Expr(value) => write!(f, "{value}"),
        Arg::Closure { body, .. } => write!(f, "it => {body}"),
        Arg::Star(_) => f.write_char('*'),
    })?;
    f.write_char(')')
}

fn entry(f: &mut Formatter<'_>, entry: &MapEntry) -> fmt::Result {
    match &entry.key.kind {
        ExprKind::Literal(Literal::String(key)) if !entry.computed && is_name(key) => f.write_str(key)?,
        _ if entry.computed => write!(f, "[{}]", entry.key)?,
        _ => write!(f, "{}", entry.key)?,
    }
    write!(f, ": {}", entry.value)
}

fn is_name(text: &str) -> bool {
    let word = !text.is_empty() && word_len(text) == text.len() && !text.starts_with(|c: char| c.is_ascii_digit());
    word && text != "_" && Tok::keyword(text).is_none()
}

fn braced<T>(f: &mut Formatter<'_>, items: &[T], item: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result) -> fmt::Result {
    if items.is_empty() {
        return f.write_str("{}");
    }
    f.write_str("{ ")?;
    separated(f, items, item)?;
    f.write_str(" }")
}

fn separated<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    item: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, value)| {
        if index > 0 {
            f.write_str(", ")?;
        }
        item(f, value)
    })
}

fn dotted(f: &mut Formatter<'_>, path: &[Name]) -> fmt::Result {
    path.iter().enumerate().try_for_each(|(index, name)| {
        if index > 0 {
            f.write_char('.')?;
        }
        f.write_str(&name.text)
    })
}

fn literal(f: &mut Formatter<'_>, literal: &Literal) -> fmt::Result {
    match literal {
        Literal::Null => f.write_str("null"),
        Literal::Bool(value) => write!(f, "{value}"),
        Literal::Int(value) => write!(f, "{value}"),
        // Rust never writes an exponent here, but leaves out a fraction that is zero.
        Literal::Float(value) if value.fract() == 0.0 => write!(f, "{value}.0"),
        Literal::Float(value) => write!(f, "{value}"),
        Literal::String(value) => string(f, value),
        Literal::Date(days) => date(f, *days),
    }
}

fn string(f: &mut Formatter<'_>, value: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in value.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

fn date(f: &mut Formatter<'_>, days: i32) -> fmt::Result {
    let epoch = NaiveDate::default();
    let distance = Days::new(u64::from(days.unsigned_abs()));
    let date = if days < 0 { epoch.checked_sub_days(distance) } else { epoch.checked_add_days(distance) };
    match date {
        Some(date) => write!(f, "#{}#", date.format("%Y-%m-%d")),
        None => write!(f, "#{days} days#"),
    }
}
