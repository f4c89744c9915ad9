//! Words that people bring along from other tools for the keys and node types of a pipeline file.

/// The word and the key that it most likely means, where that key is allowed. The first allowed one counts.
const KEYS: &[(&str, &str)] = &[
    ("stages", "nodes"),
    ("steps", "nodes"),
    ("tasks", "nodes"),
    ("on_error", "strategy"),
    ("dead_letter", "dlq"),
    ("dead_letters", "dlq"),
    ("rejects", "dlq"),
    ("params", "vars"),
    ("parameters", "vars"),
    ("variables", "vars"),
    ("settings", "config"),
    ("cfg", "config"),
    ("conf", "config"),
    ("options", "config"),
    ("columns", "mapping"),
    ("fields", "mapping"),
    ("select", "mapping"),
    ("rename", "mapping"),
    ("columns", "schema"),
    ("fields", "schema"),
    ("drop", "exclude"),
    ("file", "path"),
    ("file_path", "path"),
    ("filepath", "path"),
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
    ("filter", "when"),
    ("drop_group_when", "when"),
    ("when", "drop_group_when"),
    ("condition", "drop_group_when"),
    ("if", "drop_group_when"),
    ("where", "drop_group_when"),
    ("filter", "drop_group_when"),
    ("drop", "drop_group_when"),
    ("drop_if", "drop_group_when"),
    ("drop_when", "drop_group_when"),
    ("id", "name"),
    ("side_output", "removed_to"),
    ("removed", "removed_to"),
    ("copy", "copy_from"),
    ("from", "copy_from"),
    ("override", "overrides"),
    ("rule", "check"),
    ("test", "check"),
    ("column", "field"),
    ("by", "group_by"),
    ("key", "group_by"),
    ("keys", "group_by"),
    ("dimensions", "group_by"),
    ("partition_by", "group_by"),
    ("group_by", "partition_by"),
    ("order_by", "sort_order"),
    ("sort_by", "sort_order"),
    ("sort", "sort_order"),
    ("sort_order", "order_by"),
    ("sort_by", "order_by"),
    ("sort", "order_by"),
    ("direction", "order"),
    ("nulls", "null_order"),
    ("aggregates", "cxl"),
    ("aggregations", "cxl"),
    ("measures", "cxl"),
    ("msg", "message"),
    ("level", "severity"),
];

/// The key that a word of another tool means among those that are free.
pub(super) fn meant(word: &str, free: impl Fn(&str) -> bool) -> Option<&'static str> {
    KEYS.iter().find(|(habit, key)| *habit == word && free(key)).map(|(_, key)| *key)
}

/// Words for which there is no key anywhere near, and how their work is done.
const ELSEWHERE: &[(&str, &str)] = &[
    ("dedup", DISTINCT),
    ("deduplicate", DISTINCT),
    ("distinct", DISTINCT),
    ("filter", FILTER),
    ("filters", FILTER),
    ("having", HAVING),
    ("join", JOIN),
    ("limit", LIMIT),
    ("na_values", NULLS),
    ("null_value", NULLS),
    ("null_values", NULLS),
    ("nulls", NULLS),
    ("on_error", ON_ERROR),
    ("where", FILTER),
];

const HAVING: &str = "groups are filtered in a transform that reads the aggregate: `cxl: \"filter n > 1\"`";
const NULLS: &str = "only an empty cell is null: declare the column as `string`, and convert it in a transform, where \
     `try_int()` and the like give null for other words";
const ON_ERROR: &str = "whether bad rows stop the run is said once, at the top of the file: \
     `error_handling: { strategy: continue }`";

/// How the work of a key of another tool is done, where that takes more than another key.
pub(super) fn elsewhere(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(habit, _)| *habit == word).map(|(_, help)| *help)
}

/// The word and the node type that it most likely means.
const NODE_TYPES: &[(&str, &str)] = &[
    ("append", "merge"),
    ("branch", "route"),
    ("calculate", "transform"),
    ("compute", "transform"),
    ("concat", "merge"),
    ("destination", "sink"),
    ("extract", "source"),
    ("group", "aggregate"),
    ("group_by", "aggregate"),
    ("groupby", "aggregate"),
    ("input", "source"),
    ("load", "sink"),
    ("map", "transform"),
    ("read", "source"),
    ("reader", "source"),
    ("reduce", "aggregate"),
    ("rollup", "aggregate"),
    ("router", "route"),
    ("select", "transform"),
    ("split", "route"),
    ("summarise", "aggregate"),
    ("summarize", "aggregate"),
    ("summary", "aggregate"),
    ("switch", "route"),
    ("target", "sink"),
    ("union", "merge"),
    ("validate", "transform"),
    ("write", "sink"),
    ("writer", "sink"),
];

/// The node type that a word of another tool means.
pub(super) fn node_type(word: &str) -> Option<&'static str> {
    NODE_TYPES.iter().find(|(habit, _)| *habit == word).map(|(_, kind)| *kind)
}

/// Help for words whose work is done by a part of a node.
const JOIN: &str = "rows of two inputs are joined by `combine`, which this version does not run yet";
const SORT: &str = "a sink sorts what it writes: `sort_order: [<column>]` in its `config`";
const FILTER: &str = "a transform drops rows: `cxl: \"filter amount > 0\"`";
const DISTINCT: &str = "a transform drops repeated rows: `cxl: distinct`, or `cxl: distinct by <column>`";
const LIMIT: &str = "there is no limit on the number of rows yet";
const RENAME: &str = "a sink names and chooses the columns of its file: `mapping` and `exclude` in its `config`";
const FORMAT: &str = "a `source` reads files and a `sink` writes one; the format is the `type` in their `config`";

/// The word, and how its work is done where that takes more than another type.
const WORK: &[(&str, &str)] = &[
    ("csv", FORMAT),
    ("dedup", DISTINCT),
    ("dedupe", DISTINCT),
    ("deduplicate", DISTINCT),
    ("distinct", DISTINCT),
    ("drop", RENAME),
    ("file", FORMAT),
    ("filter", FILTER),
    ("head", LIMIT),
    ("inner_join", JOIN),
    ("join", JOIN),
    ("left_join", JOIN),
    ("limit", LIMIT),
    ("lookup", JOIN),
    ("order", SORT),
    ("order_by", SORT),
    ("orderby", SORT),
    ("rename", RENAME),
    ("sort", SORT),
    ("sort_by", SORT),
    ("sorter", SORT),
    ("top", LIMIT),
    ("unique", DISTINCT),
    ("where", FILTER),
];

/// How the work of a node type of another tool is done.
pub(super) fn work(word: &str) -> Option<&'static str> {
    WORK.iter().find(|(habit, _)| *habit == word).map(|(_, help)| *help)
}
