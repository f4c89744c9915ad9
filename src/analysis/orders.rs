//! Which order the rows of a port are known to have, whatever the data.
//!
//! An order starts at a source: a sort behind it makes good what its `sort_order` claims, and brings the groups of its
//! correlation key together. It ends where rows of several inputs meet, where a column of it is written, and where
//! groups move. What stands here is true of every run, so a streaming aggregate can rely on it.

use super::hir::{Aggregation, Cull, Merge, NodeKind, OutputColumn, Pipeline, PortRef, SortKey, Source, Transform};

/// What the rows of a port are sorted by, the most significant column first; empty if nothing is known. Rows whose
/// values of these are equal stand in any order.
pub fn proven_order(pipeline: &Pipeline, port: &PortRef) -> Vec<SortKey> {
    let node = pipeline.node(port.node);
    let above = || node.inputs.first().map(|input| proven_order(pipeline, input)).unwrap_or_default();
    match &node.kind {
        NodeKind::Source(source) => source_order(source),
        NodeKind::Transform(transform) => transform_order(&above(), transform),
        NodeKind::Route(_) | NodeKind::Sink(_) => above(),
        NodeKind::Merge(merge) => merge_order(&above(), merge),
        NodeKind::Cull(cull) => cull_order(&above(), cull),
        NodeKind::Aggregate(aggregation) => aggregation_order(&above(), aggregation),
        // Its groups hold empty texts and nulls together, which a sort does not put side by side.
        NodeKind::Reshape(_) => Vec::new(),
    }
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

/// What is left of an order behind a transform: all in front of the first column that it writes or drops.
pub fn transform_order(keys: &[SortKey], transform: &Transform) -> Vec<SortKey> {
    keys.iter().map_while(|key| moved(key, &transform.output)).collect()
}

/// What is left of the order of a merge's first input: all of it, if that is the only one.
pub fn merge_order(keys: &[SortKey], merge: &Merge) -> Vec<SortKey> {
    let [columns] = merge.columns.as_slice() else { return Vec::new() };
    let found = |key: &SortKey| {
        let column = columns.iter().position(|column| *column == Some(key.column))?;
        Some(SortKey { column, ..*key })
    };
    keys.iter().map_while(found).collect()
}

/// What is left of an order behind a cull: all, where the rows of a group stand side by side already, so that it moves
/// none; else nothing.
pub fn cull_order(keys: &[SortKey], cull: &Cull) -> Vec<SortKey> {
    let stays = begins_with(keys, &cull.partition_by) && cull.order_by.is_empty();
    if stays { keys.to_vec() } else { Vec::new() }
}

/// What is left of an order behind an aggregate: the columns of it that are part of the key. A group's row stands where
/// the first of its rows stood, so it is the same for every strategy.
pub fn aggregation_order(keys: &[SortKey], aggregation: &Aggregation) -> Vec<SortKey> {
    let key_columns = &aggregation.rows.output[..aggregation.key];
    let grouped = keys.iter().map_while(|key| moved(key, key_columns));
    grouped.map_while(|key| moved(&key, &aggregation.results.output)).collect()
}

/// Whether rows in this order have the rows of each of the aggregate's groups side by side, so that it can stream: the
/// order begins with the columns of `group_by`, in any order and direction.
pub fn covers(keys: &[SortKey], aggregation: &Aggregation) -> bool {
    // A hidden key column holds what the column of `group_by` held at the source, and an order ends where that column
    // is written. So the one decides the other.
    let visible = aggregation.grouped.columns[..aggregation.key].iter().filter(|column| !column.hidden).count();
    let group_by: Vec<usize> = aggregation.rows.output[..visible].iter().filter_map(input_column).collect();
    begins_with(keys, &group_by)
}

/// Whether the first keys are exactly these columns, in any order.
fn begins_with(keys: &[SortKey], columns: &[usize]) -> bool {
    let leading: Vec<usize> = keys.iter().take(columns.len()).map(|key| key.column).collect();
    leading.len() == columns.len() && columns.iter().all(|column| leading.contains(column))
}

/// The key where its column passes unchanged.
fn moved(key: &SortKey, output: &[OutputColumn]) -> Option<SortKey> {
    let column = output.iter().position(|column| *column == OutputColumn::Input(key.column))?;
    Some(SortKey { column, ..*key })
}

fn input_column(column: &OutputColumn) -> Option<usize> {
    match column {
        OutputColumn::Input(column) => Some(*column),
        OutputColumn::Emit(_) => None,
    }
}
