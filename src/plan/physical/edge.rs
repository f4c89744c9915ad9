//! The streams between operators.

use std::sync::Arc;

use super::ColumnSet;
use crate::analysis::hir::Schema;

/// A stream between two operators.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The position of the input among the consumer's inputs: 0 but for a merge.
    pub input: usize,
    /// The position of the port among its operator's ports.
    pub port: usize,
    /// The port's name; `None` for the bare port.
    pub port_name: Option<String>,
    /// What its rows look like.
    pub schema: Arc<Schema>,
    /// The columns that the consumer, or something below it, reads. A producer stores the union over the edges of a
    /// port; what it stores for one edge may be there on the others, too.
    pub columns: ColumnSet,
    /// Those of `columns` that nothing but a dead letter reads.
    pub shown: ColumnSet,
    /// Whether undeclared fields travel.
    pub carries: bool,
    /// Where its rows and columns come from.
    pub provenance: Provenance,
}

impl Edge {
    /// The names of the columns that travel and that an expression computed.
    pub fn computed(&self) -> Vec<&str> {
        let computed = self.columns.iter().filter(|position| self.provenance.computed.contains(*position));
        computed.map(|position| self.schema.columns[position].name.as_str()).collect()
    }
}

/// Where the rows and columns of an edge come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// How a row knows its source, file and number.
    pub identity: RowIdentity,
    /// What that is needed for by the consumer or below it, in the order of the enum.
    pub uses: Vec<IdentityUse>,
    /// For each column, the position of the declared column of the driving source that it is, unchanged: what a
    /// record in a dead-letter file decodes again from the block when the column is absent. `None` for a column that
    /// an expression computed, and behind a buffer or a merge, where what is shown is stored.
    pub origins: Vec<Option<usize>>,
    /// The columns that an expression computed.
    pub computed: ColumnSet,
}

/// How a row knows its source, file and number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RowIdentity {
    /// By its position in the block: free, and enough as long as no buffer is crossed.
    #[default]
    Position,
    /// By columns that the buffer or the interleaving merge above kept.
    Kept,
    /// By the aggregate above, which streams and numbers its groups.
    Group,
}

/// What the identity of rows is needed for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum IdentityUse {
    /// A failure names its row, in a message or a dead letter.
    Failures,
    /// An expression reads `$source.*`.
    Variables,
    /// The summary counts the rows that reached an output, each once.
    Summary,
}
