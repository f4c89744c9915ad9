//! Lists of rules with names, as culls and reshapes have them.

use super::fields::{Fields, Given, Reader};
use crate::diagnostics::{Span, Spanned};
use crate::syntax::yaml::Value;

/// The rules in file order as `rule` reads them, and where `rules` stands. `condition` is the key of a rule's condition.
/// `None`, reported, if there are some but none can be read.
pub(super) fn list<T>(
    reader: &mut Reader<'_>,
    config: &Fields<'_>,
    condition: &str,
    rule: impl Fn(&mut Reader<'_>, &Given<'_>) -> Option<T>,
) -> Option<(Vec<T>, Span)> {
    let given = reader.require(config, "rules")?;
    let items = reader.list(&given)?;
    let bare = |item: &Given<'_>| matches!(item.node.value, Value::Scalar(_)) && !item.is_null();
    let mut read = |item: &Given<'_>| match bare(item) {
        true => without_name(reader, item, condition),
        false => rule(reader, item),
    };
    let rules: Vec<T> = items.iter().filter_map(&mut read).collect();
    (items.is_empty() || !rules.is_empty()).then_some((rules, given.key))
}

/// Reports a condition in the place of a rule.
fn without_name<T>(reader: &mut Reader<'_>, given: &Given<'_>, condition: &str) -> Option<T> {
    let finding = reader.wrong_kind(given, "a mapping");
    let help = format!("a rule has a name and a condition: `{{ name: <name>, {condition}: <condition> }}`");
    reader.report(finding.help(help));
    None
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
