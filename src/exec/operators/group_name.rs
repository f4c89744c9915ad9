//! Names of groups, for messages.

use crate::exec::value::Value;

/// Most bytes that are shown of a value, and of a group's name.
const VALUE: usize = 64;
const GROUP: usize = 1024;

/// A group, given the columns of its key and their values: `account="BIG", day=2024-01-31`, or `whole input`.
pub(super) fn group_name<'n>(
    columns: impl IntoIterator<Item = &'n str>,
    key: impl IntoIterator<Item = Value>,
) -> String {
    let parts = columns.into_iter().zip(key).map(|(name, value)| format!("{name}={}", shown(&value)));
    let text = parts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "whole input".into() } else { shortened(&text, GROUP) }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::String(text) => format!("\"{}\"", shortened(text, VALUE).escape_debug()),
        value => shortened(&value.to_string(), VALUE),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.into(),
        false => format!("{}…", &text[..text.floor_char_boundary(most)]),
    }
}
