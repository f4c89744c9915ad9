//! `type: merge`

use super::ast::{Merge, MergeMode, NodeKind};
use super::fields::{Keys, Reader, elsewhere};
use super::node::Parts;
use crate::diagnostics::{Code, Diagnostic};

const CONFIG: Keys = Keys {
    read: &["mode", "interleave_seed"],
    refused: &[
        elsewhere("inputs", "move it out of `config`, beside `name`"),
        elsewhere("input", "list the nodes it reads as `inputs`, beside `name`"),
    ],
    ..Keys::NONE
};

const MODES: &[(&str, MergeMode)] = &[("concat", MergeMode::Concat), ("interleave", MergeMode::Interleave)];

/// Reads a merge. `None`, reported, if its inputs are missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let inputs = node.inputs(reader);
    let given = node.fields.group("config");
    let what = || format!("the `config` of {}", node.label);
    let config = given.and_then(|given| reader.fields(given.node, what(), node.place, &CONFIG));
    let mode = config.as_ref().and_then(|config| config.get("mode"));
    let is_concat = mode.is_none();
    let mode = mode.and_then(|given| reader.choice(&given, MODES));
    let seed = config.as_ref().and_then(|config| config.get("interleave_seed"));
    let seed = seed.and_then(|given| reader.integer(&given));
    if let Some(seed) = &seed
        && mode.as_ref().map_or(is_concat, |mode| mode.value == MergeMode::Concat)
    {
        reader.report(
            Diagnostic::error(Code::E000, "`interleave_seed` is only for `mode: interleave`")
                .label(seed.span, "nothing is picked where inputs stand behind each other")
                .help("add `mode: interleave`, or remove the seed"),
        );
    }
    Some(NodeKind::Merge(Merge { inputs: inputs?, mode: mode.map(|mode| mode.value).unwrap_or_default(), seed }))
}
