//! What messages say about groups.

use crate::analysis::hir::Schema;
use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::keys::equality;
use crate::exec::memory::Exceeded;
use crate::exec::operators::lost::Cause;
use crate::plan::physical::Operator;

use super::super::group_name::group_name;

/// How the groups of an operator are called.
pub(in crate::exec::operators) struct GroupNames<'p> {
    operator: &'p Operator,
    /// `Cull`, `Reshape`
    kind: &'static str,
    /// The columns of the key.
    columns: Vec<&'p str>,
    /// What messages call the state that is kept for each group.
    state: &'static str,
}

impl<'p> GroupNames<'p> {
    /// Names for groups by the `key` columns of `schema`. `state` is what messages call what is kept for each.
    pub fn new(
        operator: &'p Operator,
        kind: &'static str,
        schema: &'p Schema,
        key: impl Iterator<Item = usize>,
        state: &'static str,
    ) -> Self {
        let columns = key.map(|column| schema.columns[column].name.as_str()).collect();
        Self { operator, kind, columns, state }
    }

    /// The columns of the key.
    pub fn columns(&self) -> &[&'p str] {
        &self.columns
    }

    /// A group, given its key: `account="BIG", day=2024-01-31`, or `whole input`.
    pub fn name(&self, key: &[u8]) -> String {
        group_name(self.columns.iter().copied(), equality::values(key))
    }

    /// What failed, with the group in its message.
    pub fn in_group(&self, key: &[u8], cause: Cause) -> Cause {
        Cause { message: format!("group [{}]: {}", self.name(key), cause.message), ..cause }
    }

    /// E310 for a group that takes `used` bytes, more than the whole limit.
    pub fn too_large(&self, key: &[u8], used: u64, limit: u64) -> Failure {
        let (kind, group) = (self.kind, self.name(key));
        let detail = format!(
            "one {kind} correlation group [{group}] does not fit; the reported use is that group's reload footprint alone"
        );
        let diagnostic = self.exceeded(&detail, used, limit, "one group of it is more than all of the memory");
        let help = "raise `memory.limit` clear of that figure, which is a floor: other state of the run is in memory, \
                    too; another `partition_by` or fewer columns give another result";
        Failure::new(diagnostic.help(help), 1)
    }

    /// E310 for what is kept for each group.
    pub fn too_many(&self, exceeded: &Exceeded) -> Failure {
        let Exceeded { used, limit, holders } = exceeded;
        let mut diagnostic = self.exceeded(self.state, *used, *limit, "holds a little for each of its groups");
        for (name, held) in holders {
            diagnostic = diagnostic.note(format!("{name} holds {held} bytes"));
        }
        let help = "raise `memory.limit` (or `--memory-limit`): what is kept for each group can't go to disk; a coarser \
                    `partition_by` has fewer groups but gives another result";
        Failure::new(diagnostic.help(help), 1)
    }

    fn exceeded(&self, detail: &str, used: u64, limit: u64, place: &str) -> Diagnostic {
        let message = format!("{}: arena exceeded budget ({used}/{limit}) [{detail}]", self.operator.name);
        Diagnostic::error(Code::E310, message).label(self.operator.span, place)
    }
}
