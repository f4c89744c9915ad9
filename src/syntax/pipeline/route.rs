//! `type: route`

use super::ast::{NodeKind, Route};
use super::fields::{Fields, Given, Keys, Reader, elsewhere};
use super::node::Parts;
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::cxl::ast::{Expr, ExprKind};
use crate::syntax::yaml::{Entry, Value};

const CONFIG: Keys = Keys {
    read: &["conditions", "default", "mode"],
    required: &["conditions", "default"],
    refused: &[elsewhere("input", "move it out of `config`, beside `name`")],
    ..Keys::NONE
};

/// Reads a route. `None`, reported, if its input, its conditions or its default is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let name = node.fields.get("name").and_then(|name| name.text()).unwrap_or_default();
    let conditions = conditions(reader, &config, &node.label, name);
    let default = reader.require(&config, "default").and_then(|given| reader.name(&given));
    // A name that is only guessed is no port to refer to.
    let default = default.filter(|default| !reader.diagnostics.reports(default.span));
    let modes = [("exclusive", false), ("inclusive", true)];
    let mode = config.get("mode").and_then(|given| reader.choice(&given, &modes));
    let inclusive = mode.is_some_and(|mode| mode.value);
    Some(NodeKind::Route(Route { input: input?, conditions: conditions?, default: default?, inclusive }))
}

/// The branches in file order. A branch whose condition can't be read stays, so that it can be referred to. `None`,
/// reported, if one has no name.
fn conditions(
    reader: &mut Reader<'_>,
    config: &Fields<'_>,
    label: &str,
    route: &str,
) -> Option<Vec<(Spanned<String>, Expr)>> {
    let given = reader.require(config, "conditions")?;
    if matches!(given.node.value, Value::Sequence(_)) {
        let finding = reader.wrong_kind(&given, "a mapping");
        reader.report(finding.help("leave out the `- `: each branch is a key, as in `large: total >= 100`"));
        return None;
    }
    let entries = reader.mapping(&given)?;
    let is_read = |branch: &Entry| mentions(reader.text, &format!("{route}.{}", branch.key.text));
    if let Some((name, condition)) = named_and_told(entries)
        && ![name, condition].into_iter().any(is_read)
    {
        let branch = format!("{}: {}", reader.written(name.value.span), reader.written(condition.value.span));
        reader.report(
            Diagnostic::error(Code::E000, format!("a branch of {label} is written as its name and its condition"))
                .label(name.key.span, "read as the name of a branch")
                .label(condition.key.span, "read as the name of another branch")
                .help(format!("write `{branch}`")),
        );
        return None;
    }
    let branch = |entry: &Entry| {
        let blank = entry.key.text.trim().is_empty();
        if blank {
            reader.report(
                Diagnostic::error(Code::E000, format!("a branch of {label} has no name"))
                    .label(entry.key.span, "needs a name")
                    .help("the key of a branch is its name, as in `large: total >= 100`"),
            );
        }
        let name = Spanned::new(entry.key.text.clone(), entry.key.span);
        let what = format!("the condition of branch `{}`", name.value).into();
        let given = Given { what, node: &entry.value, key: entry.key.span };
        let condition = match &entry.value.value {
            Value::Mapping(inner) => nested(reader, &given, inner),
            _ => reader.expression(&given),
        };
        (!blank).then_some((name, condition))
    };
    let branches: Vec<_> = entries.iter().filter(|entry| entry.key.text != "<<").map(branch).collect();
    branches.into_iter().collect()
}

/// What a branch's name and condition are called where they are values of keys.
const CONDITION: &[&str] = &["when", "condition", "if", "where", "cxl", "expr", "check"];

/// `{ name: large, when: total > 10 }`, where `{ large: total > 10 }` is meant
fn named_and_told(entries: &[Entry]) -> Option<(&Entry, &Entry)> {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match entries {
        [name, condition] if name.key.text == "name" && CONDITION.contains(&condition.key.text.as_str()) => {
            let Value::Scalar(word) = &name.value.value else { return None };
            let told = matches!(condition.value.value, Value::Scalar(_));
            (told && is_word(&word.text)).then_some((name, condition))
        }
        _ => None,
    }
}

/// Whether a reference to a port stands somewhere in a file.
fn mentions(text: &str, port: &str) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_whole = |at: usize| {
        let (before, behind) = (&text[..at], &text[at + port.len()..]);
        !goes_on(before.chars().next_back()) && !goes_on(behind.chars().next())
    };
    text.match_indices(port).any(|(at, _)| is_whole(at))
}

/// Reports a condition with keys inside of it.
fn nested(reader: &mut Reader<'_>, given: &Given<'_>, entries: &[Entry]) -> Expr {
    let finding = reader.wrong_kind(given, "a CXL expression");
    let help = match entries {
        [Entry { value: node, .. }] if matches!(node.value, Value::Scalar(_)) => {
            let (branch, condition) = (reader.written(given.key), reader.written(node.span));
            let certain = !condition.contains('\n');
            certain.then(|| format!("the condition stands behind the branch's name: `{branch}: {condition}`"))
        }
        _ => None,
    };
    reader.report(finding.help_opt(help));
    Expr { kind: ExprKind::Error, span: given.node.span }
}
