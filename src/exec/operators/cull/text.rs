//! Names of groups and their keys, for messages.

use crate::analysis::hir::Cull;
use crate::exec::keys::equality;
use crate::exec::value::Value;
use crate::plan::physical::CullOperator;

/// The columns that make the key of a group, in order.
pub(super) fn key_columns(cull: &Cull) -> impl Iterator<Item = usize> + '_ {
    cull.partition_by.iter().chain(&cull.hidden_keys).copied()
}

/// Their names.
pub(super) fn key_names(spec: &CullOperator) -> impl Iterator<Item = &str> {
    key_columns(&spec.cull).map(|column| spec.schema.columns[column].name.as_str())
}

/// Most bytes that are shown of a value, and of a group's name.
const VALUE: usize = 64;
const GROUP: usize = 1024;

/// A group, given its key: `account="BIG", day=2024-01-31`, or `whole input`.
pub(super) fn group(spec: &CullOperator, key: &[u8]) -> String {
    let parts = key_names(spec).zip(equality::values(key)).map(|(name, value)| format!("{name}={}", shown(&value)));
    let text = parts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "whole input".into() } else { shortened(&text, GROUP) }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::String(text) => format!("\"{}\"", shortened(text, VALUE).escape_debug()),
        value => value.to_string(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.into(),
        false => format!("{}…", &text[..text.floor_char_boundary(most)]),
    }
}
