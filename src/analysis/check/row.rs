//! The columns of an edge, and what has become of those that did not get there.

use std::collections::HashSet;
use std::sync::Arc;

use crate::analysis::hir::Schema;
use crate::diagnostics::Span;

/// The columns of an edge, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Row {
    /// The known columns. A column whose value failed to check has the error type.
    pub schema: Schema,
    /// Whether there are no others; if not, a name that is missing may come from a part that failed.
    pub complete: bool,
    /// The declarations of those columns that hold texts of a file as they were read: never null, even if that may be
    /// declared, since an empty cell is an empty text.
    pub texts: Arc<HashSet<Span>>,
    /// Columns that a node above did not pass on; the rows below share what is known of them.
    pub ended: Option<Arc<Ended>>,
}

/// The columns that a node does not pass on, and those that did not come as far.
#[derive(Debug)]
pub(in crate::analysis) struct Ended {
    /// The columns.
    pub columns: HashSet<String>,
    /// The node.
    pub node: String,
    /// Whether the node is an aggregate; else it is a transform that passes on only what it emits.
    pub at_aggregate: bool,
    /// What ended above, input by input.
    pub above: Vec<Arc<Ended>>,
}

impl Row {
    /// The row of an edge below a node that failed.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// What to do about a name that is not here because a node above does not pass it on.
    pub fn ended(&self, name: &str) -> Option<String> {
        let Ended { node, at_aggregate, .. } = self.ended.as_deref()?.last_with(name)?;
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

impl Ended {
    /// The lowest node where a column of this name ended, by way of the first input that had one.
    fn last_with(&self, name: &str) -> Option<&Ended> {
        let (mut waiting, mut seen) = (vec![self], HashSet::new());
        while let Some(ended) = waiting.pop() {
            // Inputs may have much above them in common.
            if !seen.insert(std::ptr::from_ref(ended)) {
                continue;
            }
            if ended.columns.contains(name) {
                return Some(ended);
            }
            waiting.extend(ended.above.iter().rev().map(Arc::as_ref));
        }
        None
    }
}

impl Drop for Ended {
    /// Goes along in a loop, since what is above may be as long as the pipeline.
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.above);
        while let Some(above) = left.pop() {
            if let Some(mut last) = Arc::into_inner(above) {
                left.append(&mut last.above);
            }
        }
    }
}
