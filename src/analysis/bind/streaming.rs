//! Aggregates that are to stream: whether their rows come in the order that this needs.

use crate::analysis::check::list;
use crate::analysis::hir::{
    AggregateStrategy, Aggregation, Column, Cull, Node, NodeKind, OutputColumn, Pipeline, PortRef, SortKey, Source,
};
use crate::analysis::orders;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// Reports E151 for each streaming aggregate whose rows are not proven to have the rows of a group side by side. Comes
/// last, since an order can be told only where everything above is known.
pub(super) fn check(pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    for node in &pipeline.nodes {
        let NodeKind::Aggregate(aggregation) = &node.kind else { continue };
        if aggregation.strategy == AggregateStrategy::Streaming
            && !orders::covers(&orders::proven_order(pipeline, &node.inputs[0]), aggregation)
        {
            diagnostics.push(not_in_order(pipeline, node, aggregation));
        }
    }
}

fn not_in_order(pipeline: &Pipeline, node: &Node, aggregation: &Aggregation) -> Diagnostic {
    let group_by = group_by(aggregation);
    let names: Vec<&str> =
        aggregation.grouped.columns[..group_by.len()].iter().map(|column| column.name.as_str()).collect();
    let message = format!(
        "aggregate `{}` is to stream, but nothing proves that its rows arrive in the order of {}",
        node.name,
        list(&names)
    );
    let cause = cause(pipeline, &node.inputs[0], group_by);
    Diagnostic::error(Code::E151, message)
        .label(aggregation.strategy_span, format!("needs the rows in the order of {}", list(&names)))
        .label(cause.span, cause.text)
        .help(
            cause
                .help
                .unwrap_or_else(|| "take `strategy` out: the aggregate then keeps a table of all groups".to_owned()),
        )
}

/// The columns of `group_by` by their position in the aggregate's input.
fn group_by(aggregation: &Aggregation) -> Vec<usize> {
    let key = aggregation.rows.output[..aggregation.key].iter().zip(&aggregation.grouped.columns);
    let visible = key.filter(|(_, column)| !column.hidden);
    visible.filter_map(|(origin, _)| input_column(origin)).collect()
}

/// Why an order is not proven.
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

/// Looks upstream for what keeps these columns of a port from being in order.
fn cause(pipeline: &Pipeline, port: &PortRef, columns: Vec<usize>) -> Cause {
    let node = pipeline.node(port.node);
    let schema = &node.ports[port.port].schema;
    let above = |columns| cause(pipeline, &node.inputs[0], columns);
    let above_or_written = |origins: Result<Vec<usize>, usize>| match origins {
        Ok(columns) => above(columns),
        Err(written) => written_here(&schema.columns[written]),
    };
    match &node.kind {
        NodeKind::Source(source) => source_cause(node, source, &columns),
        NodeKind::Transform(transform) => above_or_written(origins(&columns, &transform.output)),
        NodeKind::Aggregate(aggregation) => {
            let keys = origins(&columns, &aggregation.results.output);
            above_or_written(keys.and_then(|keys| origins(&keys, &aggregation.rows.output)))
        }
        NodeKind::Merge(merge) => match merge.columns.as_slice() {
            [only] => above(columns.iter().filter_map(|column| only[*column]).collect()),
            _ => Cause::at(node.span, "its inputs have no common order".to_owned()),
        },
        NodeKind::Cull(cull) => match orders::cull_order(&partition_first(cull, &columns), cull).as_slice() {
            [] => Cause::at(node.span, MOVES.to_owned()),
            kept => above(kept.iter().map(|key| key.column).collect()),
        },
        NodeKind::Reshape(_) => Cause::at(node.span, MOVES.to_owned()),
        NodeKind::Route(_) | NodeKind::Sink(_) => above(columns),
    }
}

const MOVES: &str = "puts the rows of a group where its first row is, which ends their order";

/// Where the columns come from; the first that is written where it doesn't.
fn origins(columns: &[usize], output: &[OutputColumn]) -> Result<Vec<usize>, usize> {
    columns.iter().map(|column| input_column(&output[*column]).ok_or(*column)).collect()
}

fn input_column(column: &OutputColumn) -> Option<usize> {
    match column {
        OutputColumn::Input(column) => Some(*column),
        OutputColumn::Emit(_) => None,
    }
}

/// An order by these columns that has those of the cull's groups in front.
fn partition_first(cull: &Cull, columns: &[usize]) -> Vec<SortKey> {
    let mut keys: Vec<SortKey> =
        columns.iter().map(|column| SortKey { column: *column, descending: false, nulls_first: false }).collect();
    keys.sort_by_key(|key| !cull.partition_by.contains(&key.column));
    keys
}

fn written_here(column: &Column) -> Cause {
    Cause::at(column.span, format!("`{}` is written here, in no known order", column.name))
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
    Cause { span: node.span, text, help: Some(help) }
}
