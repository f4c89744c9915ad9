//! How the rows of a port are known to stand, whatever the data: in some order, or group by group.
//!
//! An order starts at a source: a sort behind it makes good what its `sort_order` claims, and brings the groups of its
//! correlation key together. It ends where rows of several inputs meet, where a column of it is overwritten, and where
//! groups move; a column that is emitted as it is, under its own or another name, keeps it. Culls and reshapes put the
//! rows of their groups side by side, in whatever order these are. What stands here is true of every run, so a
//! streaming aggregate can rely on it.
//!
//! Analysis and the passes have different trees; each says of its nodes which [`Step`] they are, and [`walk`] does the
//! rest.

use std::collections::HashMap;
use std::sync::Arc;

use super::hir::{
    Aggregation, Cull, ExprKind, Merge, Node, NodeKind, OutputColumn, Pipeline, PortRef, Reshape, Schema, SortKey,
    Source, Statement, Transform,
};
use super::types::{Kind, Type};

/// How rows stand.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arrangement {
    /// What they are sorted by, the most significant key first; empty if nothing is known. Rows whose values of these
    /// are equal stand in any order.
    pub keys: Vec<OrderKey>,
    /// What a cull or a reshape has put side by side: rows whose values of these are equal. Each is known as several
    /// columns that hold the same.
    pub groups: Option<Vec<Vec<usize>>>,
}

/// A key that rows are sorted by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderKey {
    /// The columns that hold its values, ascending: as a rule one, more behind an emit that gives it another name.
    pub columns: Vec<usize>,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

/// What a node does to how its rows stand.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Nothing is known of its rows.
    Anew,
    /// A source, whose rows are sorted. Of one that reads several files it is taken that their order is asked for.
    Reads(&'a Source),
    /// It sorts its rows by these keys.
    Sorts(&'a [SortKey]),
    /// It leaves them as they come; it may drop some.
    Keeps,
    /// It computes columns.
    Transforms(&'a Transform),
    /// It takes the rows of inputs, of which the first is looked at.
    Merges(&'a Merge),
    /// It puts the rows of each group behind the group's first.
    Culls(&'a Cull),
    /// It makes a row of each group, where the group's first row was.
    Aggregates(&'a Aggregation),
    /// It puts the rows of each group behind the group's first, and new ones behind them. With the schema of its input.
    Reshapes(&'a Reshape, &'a Schema),
}

/// How the rows stand that a node gives.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Standing {
    /// What is proven.
    pub arrangement: Arrangement,
    /// The place of the source or the sort that made their order, among the nodes that were walked.
    pub since: Option<usize>,
}

/// Goes along nodes of which each comes behind the first one that it reads: its step, and the place of that one. Gives
/// how the rows of each stand.
pub fn walk<'a>(nodes: impl IntoIterator<Item = (Step<'a>, Option<usize>)>) -> Vec<Standing> {
    let mut found: Vec<Standing> = Vec::new();
    for (place, (step, read)) in nodes.into_iter().enumerate() {
        let above = read.map(|read| found[read].clone()).unwrap_or_default();
        let makes_order = matches!(step, Step::Reads(_) | Step::Sorts(_));
        let since = if makes_order { Some(place) } else { above.since };
        found.push(Standing { arrangement: step.behind(&above.arrangement), since });
    }
    found
}

impl Step<'_> {
    /// How rows stand behind the node that stood like this in front of it.
    pub fn behind(self, above: &Arrangement) -> Arrangement {
        match self {
            Step::Anew => Arrangement::default(),
            Step::Reads(source) => Arrangement::sorted(&source_order(source)),
            Step::Sorts(keys) => Arrangement::sorted(keys),
            Step::Keeps => above.clone(),
            Step::Transforms(transform) => {
                let origins = origins(transform);
                above.moved(|column| positions(&origins, column))
            }
            Step::Merges(merge) => match merge.columns.as_slice() {
                [only] => above.moved(|column| positions(only, column)),
                _ => Arrangement::default(),
            },
            Step::Culls(cull) => culled(above, cull),
            // A group's row stands where the first of its rows stood, so it is the same for every strategy.
            Step::Aggregates(aggregation) => {
                let key = |column: &usize| *column < aggregation.key;
                let (rows, results) = (origins(&aggregation.rows), origins(&aggregation.results));
                let grouped = above.moved(|column| positions(&rows, column).into_iter().filter(key).collect());
                grouped.moved(|column| positions(&results, column))
            }
            Step::Reshapes(reshape, input) => reshaped(above, reshape, input),
        }
    }
}

impl Arrangement {
    /// Rows that are sorted by these keys.
    pub fn sorted(keys: &[SortKey]) -> Self {
        let key = |key: &SortKey| OrderKey {
            columns: vec![key.column],
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        Self { keys: keys.iter().map(key).collect(), groups: None }
    }

    /// Whether rows with equal values of these columns stand side by side, by their order or since a cull or a reshape
    /// has put them there.
    pub fn keeps_together(&self, columns: &[usize]) -> bool {
        self.is_ordered_by(columns) || self.is_grouped_by(columns)
    }

    /// Whether the order begins with these columns, in whatever order and direction, so that rows with equal values of
    /// them stand side by side.
    pub fn is_ordered_by(&self, columns: &[usize]) -> bool {
        self.leading(columns).is_some()
    }

    /// Whether a cull or a reshape has put rows with equal values of these columns side by side.
    pub fn is_grouped_by(&self, columns: &[usize]) -> bool {
        let Some(groups) = &self.groups else { return false };
        let holds = |group: &Vec<usize>, column: &usize| group.contains(column);
        groups.iter().all(|group| columns.iter().any(|column| holds(group, column)))
            && columns.iter().all(|column| groups.iter().any(|group| holds(group, column)))
    }

    /// How many keys, the first ones, are exactly these columns; `None` if there are other keys in front of one.
    fn leading(&self, columns: &[usize]) -> Option<usize> {
        let is_one = |key: &&OrderKey| key.columns.iter().any(|column| columns.contains(column));
        let count = self.keys.iter().take_while(is_one).count();
        let leading = &self.keys[..count];
        columns.iter().all(|column| leading.iter().any(|key| key.columns.contains(column))).then_some(count)
    }

    /// The same where each column is found at these places: an order up to the first key that is gone, groups if none
    /// of their columns is.
    fn moved(&self, places: impl Fn(usize) -> Vec<usize>) -> Self {
        let all = |columns: &[usize]| {
            let mut found: Vec<usize> = columns.iter().flat_map(|column| places(*column)).collect();
            found.sort_unstable();
            found.dedup();
            Some(found).filter(|found| !found.is_empty())
        };
        let key = |key: &OrderKey| Some(OrderKey { columns: all(&key.columns)?, ..*key });
        let groups = self.groups.as_ref().and_then(|groups| groups.iter().map(|group| all(group)).collect());
        Self { keys: self.keys.iter().map_while(key).collect(), groups }
    }
}

/// Where the rows of groups stand side by side already a cull moves none, and `order_by` moves them within a group.
/// Elsewhere groups move.
fn culled(above: &Arrangement, cull: &Cull) -> Arrangement {
    let keys = match above.leading(&cull.partition_by) {
        Some(_) if cull.order_by.is_empty() => above.keys.clone(),
        Some(leading) => above.keys[..leading].to_vec(),
        None => Vec::new(),
    };
    Arrangement { keys, groups: groups_of(&cull.partition_by, &cull.hidden_keys) }
}

/// The same for a reshape, whose new rows, and what it writes into columns, end an order within its groups. These are
/// of use only where none of them holds different values that it takes for one.
fn reshaped(above: &Arrangement, reshape: &Reshape, input: &Schema) -> Arrangement {
    if folded(reshape, input).is_some() {
        return Arrangement::default();
    }
    let groups = groups_of(&reshape.partition_by, &reshape.hidden_keys);
    let within = reshape.order_by.is_empty() && !reshape.adds_rows();
    let kept = match above.leading(&reshape.partition_by) {
        Some(_) if within => above.keys.as_slice(),
        Some(leading) => &above.keys[..leading],
        None => &[],
    };
    // A second name of a column that makes the group may be overwritten.
    let left_alone = |column: &usize| reshape.partition_by.contains(column) || reshape.written(*column).is_none();
    let key = |key: &OrderKey| {
        let columns: Vec<usize> = key.columns.iter().copied().filter(left_alone).collect();
        (!columns.is_empty()).then_some(OrderKey { columns, ..*key })
    };
    Arrangement { keys: kept.iter().map_while(key).collect(), groups }
}

/// Groups of these columns alone: hidden keys may divide them further.
fn groups_of(partition_by: &[usize], hidden_keys: &[usize]) -> Option<Vec<Vec<usize>>> {
    hidden_keys.is_empty().then(|| partition_by.iter().map(|column| vec![*column]).collect())
}

/// The first column of a reshape's `partition_by` that may have several values which it takes for null, so that rows of
/// different groups of others lie mixed in one of its own.
pub fn folded(reshape: &Reshape, input: &Schema) -> Option<usize> {
    let mut columns = reshape.partition_by.iter().copied();
    columns.find(|column| {
        let Type { kind, nullable } = &input.columns[*column].ty;
        match kind {
            // A row whose key is NaN is in no group of an aggregate.
            Kind::Null | Kind::Int | Kind::Float | Kind::Decimal { .. } | Kind::Bool | Kind::Date | Kind::DateTime => {
                false
            }
            Kind::String => *nullable,
            _ => true,
        }
    })
}

/// How the rows of a port stand.
pub fn arrangement(pipeline: &Pipeline, port: &PortRef) -> Arrangement {
    let first = |node: &&Node| node.inputs.first().map(|input| pipeline.node(input.node));
    let mut above: Vec<&Node> = std::iter::successors(Some(pipeline.node(port.node)), first).collect();
    above.reverse();
    let steps = above.into_iter().enumerate().map(|(place, node)| (step(pipeline, node), place.checked_sub(1)));
    walk(steps).pop().unwrap_or_default().arrangement
}

fn step<'a>(pipeline: &'a Pipeline, node: &'a Node) -> Step<'a> {
    match &node.kind {
        NodeKind::Source(source) => Step::Reads(source),
        NodeKind::Transform(transform) => Step::Transforms(transform),
        NodeKind::Route(_) | NodeKind::Sink(_) => Step::Keeps,
        NodeKind::Merge(merge) => Step::Merges(merge),
        NodeKind::Cull(cull) => Step::Culls(cull),
        NodeKind::Aggregate(aggregation) => Step::Aggregates(aggregation),
        NodeKind::Reshape(reshape) => Step::Reshapes(reshape, input_schema(pipeline, &node.inputs[0])),
    }
}

/// What the rows of a port look like.
pub fn input_schema<'a>(pipeline: &'a Pipeline, port: &PortRef) -> &'a Arc<Schema> {
    &pipeline.node(port.node).ports[port.port].schema
}

/// What the rows of a source are sorted by where others read them.
///
/// A correlation key wants the rows of a group side by side. A declared order that begins with the key's columns, in
/// either direction, does that; else rows are sorted by the key, ascending, then by the rest of the declared order.
pub fn source_order(source: &Source) -> Vec<SortKey> {
    if begins_with_key(source) {
        return source.sort_order.clone();
    }
    let ascending = |column: &usize| SortKey { column: *column, descending: false, nulls_first: false };
    let rest = source.sort_order.iter().filter(|key| !source.correlation_key.contains(&key.column));
    source.correlation_key.iter().map(ascending).chain(rest.copied()).collect()
}

/// Whether the declared order begins with exactly the columns of the key, in their order.
pub fn begins_with_key(source: &Source) -> bool {
    let declared = source.sort_order.iter().map(|key| key.column);
    declared.take(source.correlation_key.len()).eq(source.correlation_key.iter().copied())
}

/// The columns of an aggregate's `group_by`, by position in its input.
pub fn group_by(aggregation: &Aggregation) -> Vec<usize> {
    // A hidden key column holds what the column of `group_by` held at the source, and an order ends where that column
    // is written. So the one decides the other.
    let visible = aggregation.grouped.columns[..aggregation.key].iter().filter(|column| !column.hidden).count();
    origins(&aggregation.rows).into_iter().take(visible).flatten().collect()
}

/// For each output column of a transform, the input column that it holds unchanged, directly or by way of lets and
/// emits; `None` if it is computed.
pub fn origins(transform: &Transform) -> Vec<Option<usize>> {
    let (mut lets, mut emits) = (HashMap::new(), HashMap::new());
    for statement in &transform.statements {
        let (Statement::Let { value, .. } | Statement::Emit { value, .. }) = statement else { continue };
        let origin = match &value.kind {
            ExprKind::Column(column) => Some(*column),
            ExprKind::Let(slot) => lets.get(slot).copied(),
            ExprKind::Emit(slot) => emits.get(slot).copied(),
            _ => None,
        };
        let Some(origin) = origin else { continue };
        match statement {
            Statement::Let { slot, .. } => lets.insert(*slot, origin),
            Statement::Emit { slot, .. } => emits.insert(*slot, origin),
            _ => None,
        };
    }
    let of_output = |output: &OutputColumn| match output {
        OutputColumn::Input(column) => Some(*column),
        OutputColumn::Emit(slot) => emits.get(slot).copied(),
    };
    transform.output.iter().map(of_output).collect()
}

/// The output columns that hold an input column unchanged, told by the origins of all.
fn positions(origins: &[Option<usize>], column: usize) -> Vec<usize> {
    (0..origins.len()).filter(|output| origins[*output] == Some(column)).collect()
}
