//! The columns of an edge, and what has become of those that did not get there.

use crate::analysis::hir::Schema;

/// The columns of an edge, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Row {
    /// The known columns. A column whose value failed to check has the error type.
    pub schema: Schema,
    /// Whether there are no others; if not, a name that is missing may come from a part that failed.
    pub complete: bool,
    /// Columns that a node above did not pass on.
    pub ended: Vec<Ended>,
}

/// A column that a node does not pass on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::analysis) struct Ended {
    /// The column.
    pub column: String,
    /// The node.
    pub node: String,
    /// Whether the node is an aggregate; else it is a transform that passes on only what it emits.
    pub at_aggregate: bool,
}

impl Row {
    /// The row of an edge below a node that failed.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// What to do about a name that is not here because a node above does not pass it on.
    pub fn ended(&self, name: &str) -> Option<String> {
        let Ended { node, at_aggregate, .. } = self.ended.iter().find(|ended| ended.column == name)?;
        Some(match at_aggregate {
            true => format!(
                "`{name}` ends at aggregate `{node}`, which gives what it groups by and what it emits: name it in \
                 `group_by`, or emit something of it there"
            ),
            false => format!(
                "`{name}` ends at transform `{node}`, whose `include_unmapped: false` passes on only what it emits: \
                 emit it there"
            ),
        })
    }
}
