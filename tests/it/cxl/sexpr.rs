//! Trees as s-expressions, so that a table shows how a text was read.

use clinker::syntax::cxl::ast::{Arg, Expr, ExprKind, Literal, Name, Statement, StatementKind, Target, UnaryOp};

pub fn statement(statement: &Statement) -> String {
    match &statement.kind {
        StatementKind::Let { name, value } => list("let", [name.text.clone(), expr(value)]),
        StatementKind::Emit { target: Target::Column(name), value } => list("emit", [name.text.clone(), expr(value)]),
        StatementKind::Emit { target: Target::Scoped { scope, name }, value } => {
            list("emit", [format!("${}.{}", scope.text, name.text), expr(value)])
        }
        StatementKind::Filter { predicate } => list("filter", [expr(predicate)]),
        StatementKind::Distinct { by } => list("distinct", by.iter().map(|name| name.text.clone())),
        StatementKind::Trace { level, guard, message } => list(
            &format!("trace{}", level.as_ref().map(|level| format!("-{}", level.text)).unwrap_or_default()),
            guard.iter().map(|guard| list("if", [expr(guard)])).chain([expr(message)]),
        ),
        StatementKind::Use { path, alias } => {
            list("use", [names(path)].into_iter().chain(alias.iter().map(|alias| format!("as {}", alias.text))))
        }
        StatementKind::EmitEach { binding, source, outer, body } => list(
            if *outer { "emit-each-outer" } else { "emit-each" },
            [binding.text.clone(), expr(source)].into_iter().chain(body.iter().map(self::statement)),
        ),
        StatementKind::Function { name } => list("fn", [name.text.clone()]),
        StatementKind::Expr(value) => expr(value),
    }
}

pub fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Literal(literal) => self::literal(literal),
        ExprKind::Now => "now".into(),
        ExprKind::It => "it".into(),
        ExprKind::Wildcard => "_".into(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Path(path) => format!("<{}>", names(path)),
        ExprKind::System { path, args: None } => format!("${}", names(path)),
        ExprKind::System { path, args: Some(args) } => list(&format!("${}", names(path)), args.iter().map(arg)),
        ExprKind::Unary { op: UnaryOp::Negate, operand, .. } => list("neg", [expr(operand)]),
        ExprKind::Unary { op: UnaryOp::Not, operand, .. } => list("not", [expr(operand)]),
        ExprKind::Binary { op, left, right, .. } => list(op.symbol(), [expr(left), expr(right)]),
        ExprKind::Chain { op, parts } => list(op.symbol(), parts.iter().map(expr)),
        ExprKind::If { condition, consequence, alternative } => {
            list("if", [condition, consequence].into_iter().chain(alternative).map(|part| expr(part)))
        }
        ExprKind::Match { subject, arms } => {
            let subject = subject.as_ref().map(|subject| expr(subject));
            let arms = arms.iter().map(|arm| format!("[{} {}]", expr(&arm.pattern), expr(&arm.body)));
            list("match", subject.into_iter().chain(arms))
        }
        ExprKind::Method { receiver, method, args: None } => list(&format!(".{}", method.text), [expr(receiver)]),
        ExprKind::Method { receiver, method, args: Some(args) } => {
            list(&format!(".{}()", method.text), [expr(receiver)].into_iter().chain(args.iter().map(arg)))
        }
        ExprKind::Call { function, args } => list(&format!("{}()", function.text), args.iter().map(arg)),
        ExprKind::Index { base, index } => list("index", [expr(base), expr(index)]),
        ExprKind::Array(items) => list("array", items.iter().map(expr)),
        ExprKind::Comprehension { body, binding, source, predicate } => list(
            "for",
            [binding.text.clone(), expr(source), expr(body)].into_iter().chain(predicate.iter().map(|p| expr(p))),
        ),
        ExprKind::Map(entries) => list(
            "map",
            entries.iter().map(|entry| {
                let key = expr(&entry.key);
                let key = if entry.computed { format!("[{key}]") } else { key };
                format!("{key}: {}", expr(&entry.value))
            }),
        ),
        ExprKind::Error => "ERROR".into(),
    }
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Expr(value) => expr(value),
        Arg::Closure { body, .. } => list("it=>", [expr(body)]),
        Arg::Star(_) => "*".into(),
    }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".into(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::String(value) => format!("{value:?}"),
        Literal::Date(days) => format!("date:{days}"),
    }
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".")
}

fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let parts = [head.to_owned()].into_iter().chain(parts).collect::<Vec<_>>();
    format!("({})", parts.join(" "))
}
