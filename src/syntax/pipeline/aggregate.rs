//! `type: aggregate`

use super::ast::{Aggregate, AggregateStrategy, NodeKind};
use super::fields::{Keys, Reader, elsewhere, later};
use super::node::Parts;
use super::transform::program;

const CONFIG: Keys = Keys {
    read: &["group_by", "cxl", "strategy"],
    required: &["group_by", "cxl"],
    refused: &[
        later(
            "time_window",
            "compute the window in a transform in front, such as `emit day = at.to_date()`, and name it in `group_by`",
        ),
        later("allowed_lateness", "remove it; it belongs to `time_window`, which is not run yet either"),
        elsewhere("input", "move it out of `config`, beside `name`"),
    ],
    ..Keys::NONE
};

const STRATEGIES: [(&str, AggregateStrategy); 3] =
    [("auto", AggregateStrategy::Auto), ("hash", AggregateStrategy::Hash), ("streaming", AggregateStrategy::Streaming)];

/// Reads an aggregate. `None`, reported, if a part that it can't do without is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let group_by = reader.require(&config, "group_by").and_then(|given| reader.column_list(&given));
    let program = program(reader, &config);
    let strategy = config.get("strategy").and_then(|given| reader.choice(&given, &STRATEGIES));
    Some(NodeKind::Aggregate(Aggregate { input: input?, group_by: group_by?, program: program?, strategy }))
}
