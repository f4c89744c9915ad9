//! `type: route`

use super::ast::{NodeKind, Route};
use super::fields::{Fields, Given, Keys, Reader, elsewhere};
use super::node::Parts;
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::cxl::ast::Expr;
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
    let conditions = conditions(reader, &config, &node.label);
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
fn conditions(reader: &mut Reader<'_>, config: &Fields<'_>, label: &str) -> Option<Vec<(Spanned<String>, Expr)>> {
    let given = reader.require(config, "conditions")?;
    if matches!(given.node.value, Value::Sequence(_)) {
        let finding = reader.wrong_kind(&given, "a mapping");
        reader.report(finding.help("leave out the `- `: each branch is a key, as in `large: total >= 100`"));
        return None;
    }
    let entries = reader.mapping(&given)?;
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
        let condition = reader.expression(&given);
        (!blank).then_some((name, condition))
    };
    let branches: Vec<_> = entries.iter().filter(|entry| entry.key.text != "<<").map(branch).collect();
    branches.into_iter().collect()
}
