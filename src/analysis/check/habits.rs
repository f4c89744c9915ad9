//! Methods and aggregates as other languages call them.

/// The name in small letters without `_`, and the method of CXL.
const METHODS: [(&str, &str); 30] = [
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
];

/// The name in small letters without `_`, and what to write in its place over a group. `…` is the argument.
const AGGREGATES: [(&str, &str); 15] = [
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

/// Names of what `??` does.
const IF_NULL: [&str; 6] = ["coalesce", "nvl", "ifnull", "isnull", "fillna", "default"];

/// What to write in place of one of them.
pub(super) const IF_NULL_HELP: &str = "write `a ?? b`: it gives `b` where `a` is null";

/// The method that a name of another language stands for.
pub(super) fn habit(name: &str) -> Option<&'static str> {
    METHODS.iter().find(|(word, _)| same(word, name)).map(|(_, method)| *method)
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

/// Whether a name is `word`, but for case and `_`.
fn same(word: &str, name: &str) -> bool {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).eq(word.chars())
}
