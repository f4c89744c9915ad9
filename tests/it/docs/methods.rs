//! The page of methods is made from what the checker knows of them.

use std::fs;

use clinker::analysis::functions::Function;
use clinker::analysis::functions::signature::{Kinds, Nulls, ResultKind, Signature};

use crate::support;

/// `DOCS_UPDATE=1 cargo test docs` writes the page.
#[test]
fn the_page_of_methods_is_current() {
    let page = support::path("docs/src/cxl/methods.md");
    let text = methods_page();
    if std::env::var_os("DOCS_UPDATE").is_some() {
        fs::write(&page, &text).expect("the manual can be written");
    }
    assert!(fs::read_to_string(&page).unwrap_or_default() == text, "run with DOCS_UPDATE=1 to write the page anew");
}

/// The first method of each part of the page.
const PARTS: &[(Function, &str)] = &[
    (Function::Upper, "Texts"),
    (Function::Abs, "Numbers"),
    (Function::Year, "Dates and times"),
    (Function::ToInt, "Conversion"),
    (Function::TypeOf, "Any value"),
    (Function::FileName, "Paths"),
];

const HEAD: &str = "\
# Methods

A method on null gives null, except `is_null`, `is_empty`, `type_of` and `catch`; so does a null argument, unless its
method says otherwise. Where it can give null for other values, too, its type is `nullable`. Texts are counted in
characters. A `number` is an int, a float or a decimal; where an int is wanted a float is cut to one.

The strict conversions (`to_int`, …) reject the row when a value can't be converted; those that begin with `try_`
give null. Patterns are regular expressions of Rust's `regex` crate, formats are those of `strftime`.

`expression => value` shows what a CSV sink writes, as everywhere in this manual: a float without `.0`, the elements of a
list with `;` between them. `\"\"` is an empty text, and a text with blanks at its ends stands in quotes.
";

fn methods_page() -> String {
    let mut text = HEAD.to_owned();
    for function in Function::ALL {
        if let Some((_, title)) = PARTS.iter().find(|(first, _)| first == function) {
            text += &format!("\n## {title}\n");
        }
        let (name, signature) = (function.name(), function.signature());
        text += &format!("\n### `{name}({})`\n\n", signature.usage());
        text += &format!("{}\n\n{}\n", types(name, signature), signature.doc);
        let examples: Vec<String> = signature.examples.iter().map(|example| as_written(example)).collect();
        text += &format!("\n```cxl,eval\n{}\n```\n", examples.join("\n"));
    }
    text
}

/// What a method takes and gives, in one line.
fn types(name: &str, signature: &Signature) -> String {
    let param = |index: usize| {
        let param = &signature.params[index];
        let text = format!("{}: {}", param.name, kinds(param.kinds));
        if param.optional { format!("[{text}]") } else { text }
    };
    let mut params: Vec<String> = (0..signature.params.len()).map(param).collect();
    if signature.variadic {
        params.push("…".to_owned());
    }
    format!("`{}.{name}({})` gives {}", kinds(signature.receiver), params.join(", "), result(signature))
}

/// Kinds as the manual writes types.
fn kinds(kinds: Kinds) -> String {
    let words = kinds.describe();
    let names = words.split(" or ").map(|name| match name {
        "a whole number" => "int",
        "any value" => "any",
        "an array" => "list",
        name => name.trim_start_matches("a ").trim_start_matches("an "),
    });
    names.collect::<Vec<_>>().join(" or ")
}

fn result(signature: &Signature) -> String {
    let plain = match signature.result {
        ResultKind::Bool => "bool",
        ResultKind::Int => "int",
        ResultKind::Float => "float",
        ResultKind::Decimal => "decimal",
        ResultKind::String => "string",
        ResultKind::Date => "date",
        ResultKind::DateTime => "date_time",
        ResultKind::Strings => return "a list of `string`".to_owned(),
        ResultKind::Receiver | ResultKind::Rounded => return "the same type".to_owned(),
        ResultKind::Whole => return "`int`, of a decimal `decimal`".to_owned(),
        ResultKind::Common | ResultKind::CommonOrAny => return "the type in which its values meet".to_owned(),
    };
    let can_be_null = matches!(signature.nulls, Nulls::Possible | Nulls::NegativeCount | Nulls::DateReceiver);
    if can_be_null { format!("`nullable({plain})`") } else { format!("`{plain}`") }
}

/// An example with its value as a CSV sink writes it. The registry has it as JSON, which tells types apart.
fn as_written(example: &str) -> String {
    let (expression, value) = example.rsplit_once(" => ").expect("an example is `expression => value`");
    let value: serde_json::Value = serde_json::from_str(value).expect("the value is JSON");
    let shown = if value.is_null() { "null".to_owned() } else { quoted(&cell(&value)) };
    format!("{expression} => {shown}")
}

fn cell(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(elements) => elements.iter().map(cell).collect::<Vec<_>>().join(";"),
        serde_json::Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        other => other.to_string(),
    }
}

/// A cell as an example shows it: in quotes where it could be taken for null or for blanks that don't count.
fn quoted(cell: &str) -> String {
    if cell.trim().len() < cell.len() || cell.is_empty() || cell == "null" {
        format!("\"{cell}\"")
    } else {
        cell.to_owned()
    }
}
