//! `type: route`

use super::ast::{NodeKind, Route};
use super::fields::{Fields, Given, Keys, Reader, elsewhere};
use super::node::Parts;
use crate::diagnostics::Spanned;
use crate::syntax::cxl::ast::Expr;
use crate::syntax::yaml::{Entry, Value};

const CONFIG: Keys = Keys {
    read: &["conditions", "default", "mode"],
    refused: &[elsewhere("input", "move it out of `config`, beside `name`")],
};

/// Reads a route. `None`, reported, if its input, its conditions or its default is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let conditions = conditions(reader, &config);
    let default = reader.require(&config, "default").and_then(|given| reader.string(&given));
    let modes = [("exclusive", false), ("inclusive", true)];
    let mode = config.get("mode").and_then(|given| reader.choice(&given, &modes));
    let inclusive = mode.is_some_and(|mode| mode.value);
    Some(NodeKind::Route(Route { input: input?, conditions: conditions?, default: default?, inclusive }))
}

/// The branches in file order. A branch whose condition can't be read stays, so that it can be referred to.
fn conditions(reader: &mut Reader<'_>, config: &Fields<'_>) -> Option<Vec<(Spanned<String>, Expr)>> {
    let given = reader.require(config, "conditions")?;
    if matches!(given.node.value, Value::Sequence(_)) {
        let finding = reader.wrong_kind(&given, "a mapping");
        reader.report(finding.help("leave out the `- `: each branch is a key, as in `large: total >= 100`"));
        return None;
    }
    let entries = reader.mapping(&given)?;
    let branch = |entry: &Entry| {
        let name = Spanned::new(entry.key.text.clone(), entry.key.span);
        let what = format!("the condition of branch `{}`", name.value).into();
        let given = Given { what, node: &entry.value, key: entry.key.span };
        (name, reader.expression(&given))
    };
    Some(entries.iter().filter(|entry| entry.key.text != "<<").map(branch).collect())
}
