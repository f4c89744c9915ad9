//! Run-wide settings with their defaults, and the pipeline's variables.

use chrono::{NaiveDate, NaiveDateTime};

use super::declared::var_kind;
use crate::analysis::check::Vars;
use crate::analysis::formats::{FormatUse, check_format, has_time, in_strftime};
use crate::analysis::hir::{ConstantValue, Literal, Settings, Var};
use crate::analysis::inner_span;
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};
use crate::syntax::pipeline::ast::{self, Backpressure, ScalarText, TypeText};

const MEMORY_LIMIT: u64 = 512 * 1024 * 1024;
const BATCH_SIZE: u64 = 2048;

/// What comes of `pipeline:`.
pub(super) struct Bound {
    /// The settings.
    pub settings: Settings,
    /// The variables: one that failed has the error type.
    pub vars: Vars,
}

/// Fills in defaults; reports E200 for variables and date formats that are not usable.
pub(super) fn bind(settings: &ast::Settings, diagnostics: &mut Diagnostics) -> Bound {
    let vars: Vec<Var> = settings.vars.iter().map(|var| bind_var(var, diagnostics)).collect();
    for format in settings.date_formats.iter().flatten() {
        check_date_format(format, date_format_use(&format.value), diagnostics);
    }
    let value = |given: &Option<Spanned<u64>>| given.as_ref().map(|given| given.value);
    Bound {
        settings: Settings {
            memory_limit: value(&settings.memory_limit).unwrap_or(MEMORY_LIMIT),
            memory_limit_span: settings.memory_limit.as_ref().map(|given| given.span),
            backpressure: settings.backpressure.as_ref().map_or(Backpressure::Pause, |given| given.value),
            batch_size: value(&settings.batch_size).unwrap_or(BATCH_SIZE).max(1) as usize,
            threads: value(&settings.threads).map(|threads| threads.max(1) as usize),
        },
        vars: Vars { all: vars, complete: settings.vars_complete },
    }
}

/// What a format of the pipeline's `date_formats` is for: date_times if it says anything about the time.
pub(super) fn date_format_use(format: &str) -> FormatUse {
    if has_time(format) { FormatUse::ParseDateTime } else { FormatUse::ParseDate }
}

/// Reports a strftime format that can't be read with, at the part that is wrong. One that is no text, which is
/// reported, is not looked into.
pub(super) fn check_date_format(format: &Spanned<String>, usage: FormatUse, diagnostics: &mut Diagnostics) {
    if diagnostics.reports(format.span) {
        return;
    }
    let Err(fault) = check_format(&format.value, usage) else { return };
    let message = format!("the date format `{}` is not valid: {}", format.value, fault.reason);
    let span = inner_span(format.span, &format.value, &fault.range);
    let only_date = usage == FormatUse::ParseDateTime && check_format(&format.value, FormatUse::ParseDate).is_ok();
    let mut diagnostic = Diagnostic::error(Code::E200, message).label(span, fault.reason);
    if only_date {
        diagnostic = diagnostic.help("a format without a time reads dates: declare the column as `date`");
    } else if let Some(meant) = in_strftime(&format.value, usage) {
        diagnostic = diagnostic.help(format!("write `\"{meant}\"`"));
    } else if !format.value.contains('%') {
        diagnostic = diagnostic.help("formats are those of strftime, such as `\"%d.%m.%Y\"`");
    }
    diagnostics.push(diagnostic);
}

fn bind_var(var: &ast::Var, diagnostics: &mut Diagnostics) -> Var {
    let name = var.name.value.clone();
    let null = ConstantValue::Literal(Literal::Null);
    let Some((ty, kind)) = var.ty.as_ref().and_then(|ty| Some((ty, var_kind(ty, diagnostics)?))) else {
        return Var { name, ty: Type::error(), value: null };
    };
    let Some(default) = &var.default else {
        return Var { name, ty: Type::nullable(kind), value: null };
    };
    match constant(&kind, &default.value) {
        Some(value) => Var { name, ty: Type { kind, nullable: ty.nullable }, value },
        None => {
            diagnostics.push(bad_default(&name, ty, &kind, default));
            Var { name, ty: Type::of(kind), value: null }
        }
    }
}

fn constant(kind: &Kind, text: &ScalarText) -> Option<ConstantValue> {
    let shown = text.text.as_str();
    let literal = match kind {
        Kind::String if text.quoted || !looks_typed(shown) => Literal::String(shown.to_owned()),
        Kind::Int if !text.quoted => Literal::Int(shown.parse().ok()?),
        Kind::Float if !text.quoted => Literal::Float(shown.parse().ok().filter(|value: &f64| value.is_finite())?),
        Kind::Bool if !text.quoted => Literal::Bool(shown.to_ascii_lowercase().parse().ok()?),
        Kind::Date => Literal::Date(NaiveDate::parse_from_str(shown, "%Y-%m-%d").ok()?.to_epoch_days()),
        Kind::DateTime => return date_time(shown).map(ConstantValue::DateTime),
        _ => return None,
    };
    Some(ConstantValue::Literal(literal))
}

/// Whether YAML reads an unquoted scalar as something else than a text.
fn looks_typed(text: &str) -> bool {
    let number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    matches!(text.to_ascii_lowercase().as_str(), "true" | "false") || (number && text.parse::<f64>().is_ok())
}

fn date_time(text: &str) -> Option<i128> {
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
    let time = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?.and_utc();
    Some(i128::from(time.timestamp()) * 1_000_000_000 + i128::from(time.timestamp_subsec_nanos()))
}

fn bad_default(name: &str, ty: &TypeText, kind: &Kind, default: &Spanned<ScalarText>) -> Diagnostic {
    let text = &default.value.text;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if *kind == Kind::Int && !default.value.quoted && is_whole {
        return Diagnostic::error(Code::E200, format!("the default of `{name}` does not fit 64 bits: `{text}`"))
            .label(default.span, "too large for an int")
            .label(ty.span, "declared here")
            .help(format!("an int goes from {} to {}; declare it as a float or a string", i64::MIN, i64::MAX));
    }
    let message = format!("the default of `{name}` is not of type {kind}: `{text}`");
    let help = match kind {
        Kind::String => format!("write it in quotes: \"{text}\""),
        Kind::Int | Kind::Float | Kind::Bool if default.value.quoted => "write it without quotes".to_owned(),
        Kind::Int => "write a whole number".to_owned(),
        Kind::Float => "write a number".to_owned(),
        Kind::Bool => "write true or false".to_owned(),
        Kind::Date => "write it as \"2024-03-15\"".to_owned(),
        _ => "write it as \"2024-03-15T10:20:30\"".to_owned(),
    };
    Diagnostic::error(Code::E200, message)
        .label(default.span, format!("not of type {kind}"))
        .label(ty.span, "declared here")
        .help(help)
}
