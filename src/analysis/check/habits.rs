//! Methods, functions and aggregates as other languages call them.

use super::aggregates;
use crate::analysis::formats::{FormatUse, in_strftime};
use crate::analysis::functions::Function;
use crate::analysis::functions::signature::Role;

/// The name in small letters without `_`, and the method of CXL.
const METHODS: &[(&str, &str)] = &[
    ("uppercase", "upper"),
    ("toupper", "upper"),
    ("touppercase", "upper"),
    ("ucase", "upper"),
    ("lowercase", "lower"),
    ("tolower", "lower"),
    ("tolowercase", "lower"),
    ("lcase", "lower"),
    ("strip", "trim"),
    ("lstrip", "trim_start"),
    ("ltrim", "trim_start"),
    ("rstrip", "trim_end"),
    ("rtrim", "trim_end"),
    ("len", "length"),
    ("size", "length"),
    ("substr", "substring"),
    ("slice", "substring"),
    ("lpad", "pad_left"),
    ("rpad", "pad_right"),
    ("gsub", "replace"),
    ("includes", "contains"),
    ("tostr", "to_string"),
    ("str", "to_string"),
    ("todouble", "to_float"),
    ("tonumber", "to_float"),
    ("totimestamp", "to_datetime"),
    ("strptime", "to_date"),
    ("strftime", "format_date"),
    ("isna", "is_null"),
    ("isblank", "is_empty"),
    ("mid", "substring"),
    ("startswith", "starts_with"),
    ("endswith", "ends_with"),
    ("regexplike", "find"),
    ("regexpmatch", "find"),
    ("regexpextract", "capture"),
    ("regexpsubstr", "capture"),
    ("tochar", "format_date"),
    ("dateformat", "format_date"),
    ("int", "to_int"),
    ("integer", "to_int"),
    ("float", "to_float"),
    ("double", "to_float"),
    ("decimal", "to_decimal"),
    ("numeric", "to_decimal"),
    ("string", "to_string"),
    ("bool", "to_bool"),
    ("boolean", "to_bool"),
    ("date", "to_date"),
    ("datetime", "to_datetime"),
    ("timestamp", "to_datetime"),
];

/// The name in small letters without `_`, and what to write in its place over a group. `…` is the argument.
const AGGREGATES: &[(&str, &str)] = &[
    ("average", "avg(…)"),
    ("mean", "avg(…)"),
    ("minimum", "min(…)"),
    ("maximum", "max(…)"),
    ("total", "sum(…)"),
    ("cnt", "count(…)"),
    ("countif", "sum(if … then 1 else 0)"),
    ("sumif", "sum(if <condition> then … else 0)"),
    ("any", "sum(if … then 1 else 0) > 0"),
    ("every", "sum(if … then 0 else 1) == 0"),
    ("all", "sum(if … then 0 else 1) == 0"),
    ("arrayagg", "collect(…)"),
    ("list", "collect(…)"),
    ("stringagg", "collect(…).join(\", \")"),
    ("groupconcat", "collect(…).join(\", \")"),
];

/// The name in small letters without `_`, and what to write in place of a call. `{0}` is the first argument; the form
/// is for calls with as many arguments as it names.
const FORMS: &[(&str, &str)] = &[
    ("coalesce", "{0} ?? {1}"),
    ("coalesce", "{0} ?? {1} ?? {2}"),
    ("nvl", "{0} ?? {1}"),
    ("ifnull", "{0} ?? {1}"),
    ("isnull", "{0} ?? {1}"),
    ("isnull", "{0}.is_null()"),
    ("isnotnull", "not {0}.is_null()"),
    ("notnull", "not {0}.is_null()"),
    ("nullif", "if {0} == {1} then null else {0}"),
    ("if", "if {0} then {1} else {2}"),
    ("iif", "if {0} then {1} else {2}"),
    ("ifelse", "if {0} then {1} else {2}"),
    ("mod", "{0} % {1}"),
    ("greatest", "{0}.max({1})"),
    ("greatest", "{0}.max({1}).max({2})"),
    ("least", "{0}.min({1})"),
    ("least", "{0}.min({1}).min({2})"),
    ("datediff", "{0}.diff_days({1})"),
    ("dateadd", "{0}.add_days({1})"),
    ("now", "now"),
    ("getdate", "now"),
    ("currenttimestamp", "now"),
    ("today", "now.to_date()"),
    ("curdate", "now.to_date()"),
    ("currentdate", "now.to_date()"),
];

/// Functions whose first argument names a part of a date.
const DATE_PARTS: &[&str] = &["datepart", "extract"];

/// Names of what `??` does.
const IF_NULL: &[&str] = &["coalesce", "nvl", "ifnull", "isnull", "fillna", "default"];

/// Names of a count of distinct values.
const COUNT_DISTINCT: &[&str] =
    &["countdistinct", "distinctcount", "approxcountdistinct", "countunique", "nunique", "uniq"];

/// Functions of other languages that look at the rows around a row.
const WINDOWS: &[&str] = &[
    "cumsum",
    "cumulativesum",
    "cumedist",
    "denserank",
    "firstvalue",
    "lag",
    "lastvalue",
    "lead",
    "nthvalue",
    "ntile",
    "percentrank",
    "rank",
    "rownumber",
];

/// What to write in place of one of them.
pub(super) const IF_NULL_HELP: &str = "write `a ?? b`: it gives `b` where `a` is null";

/// What is said about a format in letters that nobody knows.
pub(super) const STRFTIME: &str = "Formats are those of strftime, such as `\"%d.%m.%Y\"`";

/// The method that a name of another language stands for.
pub(super) fn habit(name: &str) -> Option<&'static str> {
    METHODS.iter().find(|(word, _)| same(word, name)).map(|(_, method)| *method)
}

/// What to do about a call that another language knows, with these arguments; `None` if no method does its work.
pub(super) fn call_habit(name: &str, args: &[String]) -> Option<String> {
    let arity = |form: &str| (0..4).take_while(|index| form.contains(&format!("{{{index}}}"))).count();
    if let Some((_, form)) = FORMS.iter().find(|(word, form)| same(word, name) && arity(form) == args.len()) {
        return Some(format!("write `{}`", filled(form, args)));
    }
    if let Some(help) = date_call(name, args) {
        return Some(help);
    }
    let is_aggregate = aggregates::AGGREGATES.iter().any(|aggregate| same(aggregate, name)) && args.len() <= 1;
    let (receiver, rest) = args.split_first().filter(|_| !is_aggregate)?;
    let method = habit(name).and_then(Function::by_name).or_else(|| method(name))?;
    Some(match rest {
        [start, ..] if method == Function::Substring => {
            let start = match start.parse::<i64>() {
                Ok(from_end @ ..0) => return Some(format!("write `{receiver}.right({})`", from_end.unsigned_abs())),
                Ok(start) => (start - 1).max(0).to_string(),
                Err(_) => format!("{start} - 1"),
            };
            let args: Vec<&str> = [start.as_str()].into_iter().chain(rest[1..].iter().map(String::as_str)).collect();
            format!("it is a method, and counts from 0: write `{receiver}.substring({})`", args.join(", "))
        }
        [format] => match format_of(method, format) {
            Some(format) => format!("it is a method: write `{receiver}.{}({format})`", method.name()),
            None => format!("it is a method, `{receiver}.{}(…)`. {STRFTIME}", method.name()),
        },
        rest => format!("it is a method: write `{receiver}.{}({})`", method.name(), rest.join(", ")),
    })
}

/// The first argument of a method; a text in the letters of other tools becomes a format of strftime. `None` if nobody
/// knows what it means.
pub(super) fn format_of(method: Function, written: &str) -> Option<String> {
    let signature = method.signature();
    if signature.max_args() == Some(0) {
        return Some(written.to_owned());
    }
    let usage = match signature.param(0).role {
        Role::FormatOut => FormatUse::WriteDateTime,
        Role::ParseDate => FormatUse::ParseDate,
        Role::ParseDateTime => FormatUse::ParseDateTime,
        Role::Plain | Role::Regex => return Some(written.to_owned()),
    };
    match written.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) if !text.contains('%') => in_strftime(text, usage).map(|format| format!("\"{format}\"")),
        _ => Some(written.to_owned()),
    }
}

/// A form with the arguments in their places, `{0}` and on. What stands in an argument is left as it is.
fn filled(form: &str, args: &[String]) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, (digit, after))) = rest.split_once('{').and_then(|(b, a)| Some((b, a.split_once('}')?))) {
        let argument = digit.parse::<usize>().ok().and_then(|index| args.get(index));
        text.push_str(before);
        text.push_str(argument.map_or(digit, String::as_str));
        rest = after;
    }
    text + rest
}

/// The method of this name, but for case and `_`.
fn method(name: &str) -> Option<Function> {
    Function::ALL.iter().copied().find(|function| same(&function.name().replace('_', ""), name))
}

/// What to do about a function whose first argument names a part of a date.
fn date_call(name: &str, args: &[String]) -> Option<String> {
    let [part, date] = args else { return None };
    let part = part.trim_matches(['"', '\'']).to_ascii_lowercase();
    if DATE_PARTS.iter().any(|word| same(word, name)) {
        return method(&part).map(|method| format!("write `{date}.{}()`", method.name()));
    }
    if !same("datetrunc", name) {
        return None;
    }
    match part.as_str() {
        "day" => Some(format!("write `{date}.to_date()`")),
        "year" => Some(format!("`{date}.year()` is its year")),
        "month" => Some(format!(
            "`{date}.add_days(1 - {date}.day())` is the first day of its month, `{date}.format_date(\"%Y-%m\")` its \
             month as a text"
        )),
        _ => None,
    }
}

/// What to write over a group in place of a call that another language knows.
pub(super) fn aggregate_habit(name: &str, argument: &str) -> Option<String> {
    let (_, form) = AGGREGATES.iter().find(|(word, _)| same(word, name))?;
    Some(form.replace('…', argument))
}

/// Whether a name is what another language calls `??`.
pub(super) fn is_if_null(name: &str) -> bool {
    IF_NULL.iter().any(|word| same(word, name))
}

/// Whether a name is a function of other languages that looks at the rows around a row.
pub(super) fn is_window(name: &str) -> bool {
    WINDOWS.iter().any(|word| same(word, name))
}

/// Whether a name is what another language calls a count of distinct values.
pub(super) fn is_count_distinct(name: &str) -> bool {
    COUNT_DISTINCT.iter().any(|word| same(word, name))
}

/// Whether a name is `word`, but for case and `_`.
fn same(word: &str, name: &str) -> bool {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).eq(word.chars())
}
