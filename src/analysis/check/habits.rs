//! Methods as other languages call them.

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

/// Names of what `??` does.
const IF_NULL: [&str; 6] = ["coalesce", "nvl", "ifnull", "isnull", "fillna", "default"];

/// What to write in place of one of them.
pub(super) const IF_NULL_HELP: &str = "write `a ?? b`: it gives `b` where `a` is null";

/// The method that a name of another language stands for.
pub(super) fn habit(name: &str) -> Option<&'static str> {
    METHODS.iter().find(|(word, _)| same(word, name)).map(|(_, method)| *method)
}

/// Whether a name is what another language calls `??`.
pub(super) fn is_if_null(name: &str) -> bool {
    IF_NULL.iter().any(|word| same(word, name))
}

/// Whether a name is `word`, but for case and `_`.
fn same(word: &str, name: &str) -> bool {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).eq(word.chars())
}
