//! Aggregates that are to stream: whether their rows come in the order that this needs.

use crate::analysis::check::list;
use crate::analysis::hir::{
    AggregateStrategy, Aggregation, Column, Merge, MergeMode, Node, NodeKind, Pipeline, PortRef, Reshape, SortKey,
    Source,
};
use crate::analysis::orders::{self, Arrangement, Step};
use crate::analysis::types::Kind;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// Reports E151 for each streaming aggregate whose rows are not proven to have the rows of a group side by side. Comes
/// last, since that can be told only where everything above is known.
pub(super) fn check(pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    for node in &pipeline.nodes {
        let NodeKind::Aggregate(aggregation) = &node.kind else { continue };
        let group_by = orders::group_by(aggregation);
        if aggregation.strategy == AggregateStrategy::Streaming
            && !orders::arrangement(pipeline, &node.inputs[0]).keeps_together(&group_by)
        {
            diagnostics.push(not_together(pipeline, node, aggregation, &group_by));
        }
    }
}

fn not_together(pipeline: &Pipeline, node: &Node, aggregation: &Aggregation, group_by: &[usize]) -> Diagnostic {
    let names: Vec<&str> =
        aggregation.grouped.columns[..group_by.len()].iter().map(|column| column.name.as_str()).collect();
    let names = list(&names);
    let message = format!(
        "aggregate `{}` is to stream, but nothing proves that rows with the same {names} arrive side by side",
        node.name
    );
    let cause = cause(pipeline, &node.inputs[0], group_by);
    Diagnostic::error(Code::E151, message)
        .label(aggregation.strategy_span, format!("needs rows with the same {names} side by side"))
        .label(cause.span, cause.text)
        .help(cause.help.unwrap_or_else(|| WITHOUT.to_owned()))
}

const WITHOUT: &str = "take `strategy` out: the aggregate then keeps a table of all groups";

/// Why rows are not proven to stand together.
struct Cause {
    span: Span,
    text: String,
    /// What to do about it, where more can be done than to let the aggregate hash.
    help: Option<String>,
}

impl Cause {
    fn at(span: Span, text: String) -> Self {
        Self { span, text, help: None }
    }
}

/// Looks upstream for what keeps rows with equal values of these columns apart.
fn cause(pipeline: &Pipeline, port: &PortRef, columns: &[usize]) -> Cause {
    let node = pipeline.node(port.node);
    let schema = &node.ports[port.port].schema;
    let above = |columns: &[usize]| cause(pipeline, &node.inputs[0], columns);
    match &node.kind {
        NodeKind::Source(source) => source_cause(node, source, columns),
        NodeKind::Transform(transform) => match origins(columns, &orders::origins(transform)) {
            Ok(columns) => above(&columns),
            Err(written) => written_here(&schema.columns[written]),
        },
        NodeKind::Aggregate(aggregation) => match origins(columns, &key_columns(aggregation)) {
            Ok(columns) => above(&columns),
            Err(written) => written_here(&schema.columns[written]),
        },
        NodeKind::Merge(merge) => match merge.columns.as_slice() {
            [only] => above(&columns.iter().filter_map(|column| only[*column]).collect::<Vec<_>>()),
            _ => merge_cause(pipeline, node, merge, columns),
        },
        NodeKind::Cull(cull) => match kept_order(Step::Culls(cull), &cull.partition_by, columns) {
            Some(columns) => above(&columns),
            None => moved_here(node, cull.partition_by.iter().all(|column| columns.contains(column))),
        },
        NodeKind::Reshape(reshape) => reshape_cause(pipeline, node, reshape, columns),
        NodeKind::Route(_) | NodeKind::Sink(_) => above(columns),
    }
}

/// A cull or a reshape that moves rows; `within` says whether only within groups that could stand in order.
fn moved_here(node: &Node, within: bool) -> Cause {
    let text = match within {
        true => "puts the rows of a group into an order of their own",
        false => "puts the rows of a group where its first row is, which ends their order",
    };
    Cause::at(node.span, text.to_owned())
}

/// The columns of the input that these are; the first that is none of them.
fn origins(columns: &[usize], origins: &[Option<usize>]) -> Result<Vec<usize>, usize> {
    columns.iter().map(|column| origins[*column].ok_or(*column)).collect()
}

/// For each column of an aggregate's output, the column of its input that it holds for a group.
fn key_columns(aggregation: &Aggregation) -> Vec<Option<usize>> {
    let grouped = orders::origins(&aggregation.rows);
    let key = |column: Option<usize>| column.filter(|column| *column < aggregation.key).and_then(|key| grouped[key]);
    orders::origins(&aggregation.results).into_iter().map(key).collect()
}

/// The columns in an order that would let rows with equal values of them stand together behind the step, too, which
/// makes groups of `partition_by`; `None` if none does.
fn kept_order(step: Step<'_>, partition_by: &[usize], columns: &[usize]) -> Option<Vec<usize>> {
    let mut keys: Vec<SortKey> =
        columns.iter().map(|column| SortKey { column: *column, descending: false, nulls_first: false }).collect();
    keys.sort_by_key(|key| !partition_by.contains(&key.column));
    let is_kept = step.behind(&Arrangement::sorted(&keys)).keeps_together(columns);
    is_kept.then(|| keys.iter().map(|key| key.column).collect())
}

/// A merge, which puts rows of several inputs behind or between each other.
fn merge_cause(pipeline: &Pipeline, node: &Node, merge: &Merge, columns: &[usize]) -> Cause {
    let puts = match merge.mode {
        MergeMode::Concat => "puts one input behind the other",
        MergeMode::Interleave | MergeMode::Seeded(_) => "takes rows of its inputs in turn",
    };
    let mut inputs = node.inputs.iter().zip(&merge.columns);
    let each = inputs.all(|(input, found)| {
        let columns: Vec<usize> = columns.iter().filter_map(|column| found[*column]).collect();
        orders::arrangement(pipeline, input).keeps_together(&columns)
    });
    let ends = if each { "which doesn't keep their order" } else { "in no common order" };
    Cause::at(node.span, format!("{puts}, {ends}"))
}

/// A reshape: it moves groups of its own, and those of the aggregate may be others.
fn reshape_cause(pipeline: &Pipeline, node: &Node, reshape: &Reshape, columns: &[usize]) -> Cause {
    let input = orders::input_schema(pipeline, &node.inputs[0]);
    let own = &reshape.partition_by;
    let within = own.iter().all(|own| columns.contains(own));
    // The input may have no stamps yet, so nothing above can be asked for them.
    if let Some(stamp) = columns.iter().find(|column| reshape.stamps.contains(column)) {
        return written_at(node.span, &node.ports[0].schema.columns[*stamp].name);
    }
    if let Some(folded) = orders::folded(reshape, input).filter(|_| within) {
        return folded_here(pipeline, node, &input.columns[folded]);
    }
    if let Some(columns) = kept_order(Step::Reshapes(reshape, input), own, columns) {
        return cause(pipeline, &node.inputs[0], &columns);
    }
    let written = columns.iter().filter(|column| !own.contains(column)).find_map(|column| reshape.written(*column));
    match written {
        _ if !within || !reshape.order_by.is_empty() => moved_here(node, within),
        Some(assignment) => written_at(assignment.span, &input.columns[assignment.column].name),
        None => Cause::at(node.span, "puts new rows behind those of a group, which ends an order within it".to_owned()),
    }
}

/// A reshape by a column of which different values make one group.
fn folded_here(pipeline: &Pipeline, node: &Node, column: &Column) -> Cause {
    let name = &column.name;
    let is_text = column.ty.kind == Kind::String;
    let values = if is_text { "null and an empty text" } else { "null, an empty text, NaN, lists and maps" };
    let help = (is_text && is_declared_nullable(pipeline, column))
        .then(|| format!("declare `{name}` as `string`, or take `strategy` out"));
    let text = format!("takes {values} in `{name}` for one group, in which their rows may be mixed");
    Cause { help, ..Cause::at(node.span, text) }
}

/// Whether a column is one of a source that declares it as nullable, and so can declare it otherwise.
fn is_declared_nullable(pipeline: &Pipeline, column: &Column) -> bool {
    pipeline.nodes.iter().any(|node| match &node.kind {
        NodeKind::Source(source) => {
            source.columns.iter().any(|declared| declared.span == column.span && declared.ty.nullable)
        }
        _ => false,
    })
}

fn written_here(column: &Column) -> Cause {
    written_at(column.span, &column.name)
}

fn written_at(span: Span, name: &str) -> Cause {
    Cause::at(span, format!("`{name}` is written here, in no known order"))
}

/// A source of which another order is known, or none. The order to declare has the correlation key in front, which the
/// planner would otherwise sort by.
fn source_cause(node: &Node, source: &Source, columns: &[usize]) -> Cause {
    let name = |column: usize| source.columns[column].name.as_str();
    let known = orders::source_order(source);
    let known: Vec<&str> = known.iter().map(|key| name(key.column)).collect();
    let text = match known.as_slice() {
        [] => "declares no order of its rows".to_owned(),
        known => format!("its rows are in the order of {}", list(known)),
    };
    let rest = columns.iter().filter(|column| !source.correlation_key.contains(column));
    let wanted: Vec<&str> = source.correlation_key.iter().chain(rest).map(|column| name(*column)).collect();
    let help =
        format!("declare `sort_order: [{}]` in source `{}`, or take `strategy` out", wanted.join(", "), node.name);
    // Where the rows are sorted by a key, what is declared is not their order.
    let span = if orders::begins_with_key(source) { source.sort_order_span } else { node.span };
    Cause { span, text, help: Some(help) }
}
