//! What messages say about groups.

use crate::analysis::hir::Schema;
use crate::diagnostics::Diagnostic;
use crate::exec::Failure;
use crate::exec::keys::equality;
use crate::exec::memory::Exceeded;
use crate::exec::operators::lost::Cause;
use crate::plan::explain::layout::size;
use crate::plan::physical::Operator;

use super::super::group_name::group_name;
use super::store::Grown;

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
        let alone = Exceeded { wanted: used, used, limit, holders: Vec::new() };
        let diagnostic = self.exceeded(&alone, &detail, "one group of it is more than all of the memory");
        let diagnostic = diagnostic.note(format!("the group takes {} where the limit is {}", size(used), size(limit)));
        let help = "raise `memory.limit` clear of that figure, which is a floor: other state of the run is in memory, \
                    too; another `partition_by` or fewer columns give another result";
        Failure::new(diagnostic.help(help), 1)
    }

    /// E310 for what is kept for each of so many groups, of which this had no room.
    pub fn too_many(&self, exceeded: &Exceeded, grown: Grown, groups: usize) -> Failure {
        let count = if groups == 1 { "its one group".to_owned() } else { format!("each of its {groups} groups") };
        let mut diagnostic = self.exceeded(exceeded, self.state, &format!("keeps something for {count}"));
        let who = match grown {
            Grown::Keys => "the keys of groups",
            Grown::Aggregate { name, span, .. } => {
                diagnostic = diagnostic.label(span, "there is no room for what this takes");
                &format!("`{name}`")
            }
            Grown::Order => "what orders the rows of a list",
            Grown::Decisions => "deciding on the groups",
            Grown::Failures => "the reasons why groups failed",
        };
        let diagnostic = exceeded.noted(diagnostic, who);
        Failure::new(diagnostic.help(Self::room_for_groups(grown, groups)), 1)
    }

    fn room_for_groups(grown: Grown, groups: usize) -> String {
        /// So many that what is kept for each adds up.
        const MANY: usize = 1000;
        let raise = "raise `memory.limit` (or `--memory-limit`): what is kept for each group can't go to disk";
        match grown {
            Grown::Aggregate { name, keeps_all: true, .. } => {
                format!("{raise}; `{name}` keeps every value, others of its kind, such as `count` and `max`, only one")
            }
            _ if groups >= MANY => {
                format!("{raise}; a coarser `partition_by` has fewer groups but gives another result")
            }
            _ => raise.to_owned(),
        }
    }

    fn exceeded(&self, exceeded: &Exceeded, detail: &str, place: &str) -> Diagnostic {
        exceeded.diagnostic(&self.operator.name, "arena", detail).label(self.operator.span, place)
    }
}
