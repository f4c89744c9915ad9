//! Lists of rules with names, as culls and reshapes have them.

use super::fields::{Fields, Given, Reader};
use crate::diagnostics::{Span, Spanned};
use crate::syntax::yaml::Value;

/// The rules in file order as `rule` reads them, and where `rules` stands. `None`, reported, if there are some but none
/// can be read.
pub(super) fn list<T>(
    reader: &mut Reader<'_>,
    config: &Fields<'_>,
    rule: impl Fn(&mut Reader<'_>, &Given<'_>) -> Option<T>,
) -> Option<(Vec<T>, Span)> {
    let given = reader.require(config, "rules")?;
    let items = reader.list(&given)?;
    let rules: Vec<T> = items.iter().filter_map(|item| rule(reader, item)).collect();
    (items.is_empty() || !rules.is_empty()).then_some((rules, given.key))
}

/// The name of a rule. `None`, reported, if it has none.
pub(super) fn name(reader: &mut Reader<'_>, rule: &Fields<'_>) -> Option<Spanned<String>> {
    let given = reader.require(rule, "name")?;
    reader.name(&given)
}

/// What messages call a rule.
pub(super) fn label(given: &Given<'_>) -> String {
    let Value::Mapping(entries) = &given.node.value else { return "this rule".to_owned() };
    let name = entries.iter().find(|entry| entry.key.text == "name").map(|entry| &entry.value.value);
    match name {
        Some(Value::Scalar(name)) if !name.text.trim().is_empty() => format!("rule `{}`", name.text),
        _ => "this rule".to_owned(),
    }
}
