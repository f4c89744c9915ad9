//! Declared types.

use crate::analysis::types::{Kind, Type};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::syntax::pipeline::ast::TypeText;

const NAMES: [&str; 7] = ["string", "int", "float", "decimal", "bool", "date", "date_time"];

/// Names of other languages for the same types.
const ALIASES: [(&str, &str); 17] = [
    ("text", "string"),
    ("str", "string"),
    ("varchar", "string"),
    ("char", "string"),
    ("integer", "int"),
    ("bigint", "int"),
    ("long", "int"),
    ("i64", "int"),
    ("double", "float"),
    ("real", "float"),
    ("f64", "float"),
    ("number", "float"),
    ("money", "decimal"),
    ("numeric", "decimal"),
    ("boolean", "bool"),
    ("datetime", "date_time"),
    ("timestamp", "date_time"),
];

/// The type of a source's column; the error type if there is none. Reports E158, E199 and E200.
pub(super) fn column_type(ty: &TypeText, scale: Option<u8>, diagnostics: &mut Diagnostics) -> Type {
    let kind = match ty.name.value.as_str() {
        "string" => Kind::String,
        "int" => Kind::Int,
        "float" => Kind::Float,
        "decimal" => Kind::Decimal { scale },
        "bool" => Kind::Bool,
        "date" => Kind::Date,
        "date_time" => Kind::DateTime,
        name => {
            diagnostics.push(not_a_column_type(name, ty));
            return Type::error();
        }
    };
    Type { kind, nullable: ty.nullable }
}

/// The type of an entry of `vars`; `None` if there is none, reported as E200.
pub(super) fn var_kind(ty: &TypeText, diagnostics: &mut Diagnostics) -> Option<Kind> {
    match ty.name.value.as_str() {
        "string" => Some(Kind::String),
        "int" => Some(Kind::Int),
        "float" => Some(Kind::Float),
        "bool" => Some(Kind::Bool),
        "date" => Some(Kind::Date),
        "date_time" | "datetime" => Some(Kind::DateTime),
        "decimal" => {
            let message = "a variable can't be a decimal";
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(ty.name.span, "not a type for variables")
                .help("declare it as string and write `$vars.….to_decimal()`");
            diagnostics.push(diagnostic);
            None
        }
        name => {
            diagnostics.push(unknown(name, ty));
            None
        }
    }
}

/// The type that a name with or without parameters stands for, as in other languages too; `None` if for none.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let base = name.split(['(', '?', '[', '<']).next().unwrap_or_default().trim();
    let own = NAMES.into_iter().chain(["array", "map", "any", "null"]).find(|own| own.eq_ignore_ascii_case(base));
    own.or_else(|| ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(base)).map(|(_, name)| *name))
}

fn not_a_column_type(name: &str, ty: &TypeText) -> Diagnostic {
    match name {
        "numeric" => Diagnostic::error(Code::E158, "`numeric` is not a column type")
            .label(ty.name.span, "says neither int, float nor decimal")
            .help("declare `int` for whole numbers, `decimal` for money, `float` for measurements"),
        "array" | "map" | "any" | "null" => {
            Diagnostic::error(Code::E199, format!("columns of type `{name}` are not run by this version yet"))
                .label(ty.name.span, "not run yet")
                .help("declare it as string")
        }
        _ => unknown(name, ty),
    }
}

fn unknown(name: &str, ty: &TypeText) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::E200, format!("`{name}` is not a type")).label(ty.name.span, "not known");
    let (base, rest) = name.split_at(name.find(['(', '?', '[']).unwrap_or(name.len()));
    if base == "nullable" {
        let inner = rest.trim_matches(['(', ')', '[', ']', '?', ' ']);
        let inner = NAMES.iter().find(|name| **name == inner).copied().unwrap_or("int");
        return diagnostic.help(format!("write `nullable({inner})`, with the type in parentheses"));
    }
    if let Some(nullable) = nullable_in_words(name) {
        return diagnostic.help(format!("did you mean `{nullable}`?")).fix(ty.name.span, nullable);
    }
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(base)).map(|(_, name)| *name);
    match alias.or_else(|| closest(base, NAMES)) {
        Some(found) if rest == "?" => {
            let nullable = format!("nullable({found})");
            diagnostic.help(format!("did you mean `{nullable}`?")).fix(ty.name.span, nullable)
        }
        Some("decimal") if !rest.is_empty() => {
            diagnostic.help("write `type: decimal`, with `precision` and `scale` as keys beside it")
        }
        Some(found) if !rest.is_empty() => diagnostic.help(format!("did you mean `{found}`?")),
        Some(found) => diagnostic.help(format!("did you mean `{found}`?")).fix(ty.name.span, found),
        None => diagnostic.note(
            "the types are string, int, float, decimal, bool, date and date_time, and each of them as `nullable(…)`",
        ),
    }
}

/// What is meant by `nullable int`, `optional int` or `int null`.
fn nullable_in_words(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_nullable = |word: &str| ["nullable", "optional", "null"].contains(&word.to_ascii_lowercase().as_str());
    let word = match words.as_slice() {
        [first, word] if is_nullable(first) => word,
        [word, last] if is_nullable(last) => word,
        _ => return None,
    };
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(word)).map(|(_, name)| *name);
    let name = alias.or_else(|| NAMES.into_iter().find(|name| name.eq_ignore_ascii_case(word)))?;
    Some(format!("nullable({name})"))
}
