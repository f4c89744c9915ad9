//! Words that people bring along from other tools for the keys and node types of a pipeline file.

/// The word and the key that it most likely means, where that key is allowed. The first allowed one counts.
const KEYS: &[(&str, &str)] = &[
    ("stages", "nodes"),
    ("steps", "nodes"),
    ("tasks", "nodes"),
    ("on_error", "error_handling"),
    ("dead_letter", "dlq"),
    ("dead_letters", "dlq"),
    ("rejects", "dlq"),
    ("params", "vars"),
    ("parameters", "vars"),
    ("variables", "vars"),
    ("settings", "config"),
    ("columns", "schema"),
    ("fields", "schema"),
    ("columns", "mapping"),
    ("rename", "mapping"),
    ("file", "path"),
    ("filename", "path"),
    ("files", "paths"),
    ("pattern", "glob"),
    ("separator", "delimiter"),
    ("sep", "delimiter"),
    ("quote", "quote_char"),
    ("charset", "encoding"),
    ("header", "has_header"),
    ("headers", "has_header"),
    ("header", "include_header"),
    ("dtype", "type"),
    ("kind", "type"),
    ("alias", "source_name"),
    ("header", "source_name"),
    ("branches", "conditions"),
    ("cases", "conditions"),
    ("routes", "conditions"),
    ("else", "default"),
    ("otherwise", "default"),
    ("program", "cxl"),
    ("script", "cxl"),
    ("sql", "cxl"),
    ("condition", "check"),
    ("condition", "when"),
    ("if", "when"),
    ("where", "when"),
    ("override", "overrides"),
    ("rule", "check"),
    ("test", "check"),
    ("column", "field"),
    ("msg", "message"),
    ("level", "severity"),
];

/// The key that a word of another tool means among those that are free.
pub(super) fn meant(word: &str, free: impl Fn(&str) -> bool) -> Option<&'static str> {
    KEYS.iter().find(|(habit, key)| *habit == word && free(key)).map(|(_, key)| *key)
}

/// The word and the node type that it most likely means.
const NODE_TYPES: &[(&str, &str)] = &[
    ("branch", "route"),
    ("calculate", "transform"),
    ("compute", "transform"),
    ("destination", "sink"),
    ("distinct", "transform"),
    ("extract", "source"),
    ("filter", "transform"),
    ("input", "source"),
    ("load", "sink"),
    ("map", "transform"),
    ("read", "source"),
    ("reader", "source"),
    ("router", "route"),
    ("select", "transform"),
    ("split", "route"),
    ("switch", "route"),
    ("target", "sink"),
    ("validate", "transform"),
    ("write", "sink"),
    ("writer", "sink"),
];

/// The node type that a word of another tool means.
pub(super) fn node_type(word: &str) -> Option<&'static str> {
    NODE_TYPES.iter().find(|(habit, _)| *habit == word).map(|(_, kind)| *kind)
}
