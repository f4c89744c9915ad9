//! Shows a physical plan: the plan that runs, said once as data and printed as text, JSON or YAML.
//!
//! [`render`] builds one document (`model`) from the plan, then prints it. JSON and YAML are that document as it is;
//! text arranges the same facts in sections, and dot draws its nodes and edges. Nothing here decides anything, and
//! nothing is opened: what only the file system knows comes in as [`Facts`].

mod build;
mod dot;
mod estimate;
pub(crate) mod layout;
mod model;
mod order;
mod predict;
mod steps;
mod text;
mod tree;

use std::collections::BTreeMap;

use estimate::RowCounts;

use crate::diagnostics::SourceMap;
use crate::plan::physical::PhysicalPlan;

/// How a plan is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Sections for people.
    Text,
    /// One JSON document.
    Json,
    /// The same document as YAML.
    Yaml,
    /// A graph for Graphviz.
    Dot,
}

/// What the caller knows of the world around the plan.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Bytes of all input files of a source, by the source's name. A source that is not there has an unknown size.
    pub input_bytes: BTreeMap<String, u64>,
    /// The folder for what does not fit the memory limit.
    pub spill_root: Option<String>,
}

/// What a plan expects of one operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Rows out over all ports, or written; `None` if an input size is not known.
    pub rows: Option<u64>,
    /// Whether these, and what is held for them, may be fewer.
    pub at_most: bool,
    /// Bytes that it holds in memory: no more than the limit lets stand.
    pub peak: Option<u64>,
    /// Those that go to disk under the limit, before they are compressed.
    pub spilled: Option<u64>,
}

/// What a plan expects of its operators, in plan order.
pub fn estimates(plan: &PhysicalPlan, facts: &Facts) -> Vec<Estimate> {
    let counts = RowCounts::of(plan, facts);
    let predicted = predict::predict(plan, &counts);
    let soft = predict::soft_limit(plan.settings.memory_limit);
    let estimate = |(id, _)| {
        let own = || plan.consumers.iter().zip(&predicted).filter(move |(consumer, _)| consumer.operator == id);
        let rows = counts.given(plan, id);
        Estimate {
            rows: rows.rows,
            at_most: rows.at_most,
            peak: own().map(|(_, predicted)| predicted.holds.map(|bytes| bytes.min(soft))).sum(),
            spilled: own().map(|(_, predicted)| predicted.spills).sum(),
        }
    };
    plan.operators().map(estimate).collect()
}

/// Prints a plan. `sources` holds the pipeline file that the plan's spans point into. The text ends in a newline.
pub fn render(plan: &PhysicalPlan, sources: &SourceMap, format: Format, facts: &Facts) -> String {
    let document = build::document(plan, sources, facts);
    let mut text = match format {
        Format::Text => text::text(&document),
        Format::Json => serde_json::to_string_pretty(&document).expect("the document has only string keys"),
        Format::Dot => dot::dot(&document),
        Format::Yaml => serde_saphyr::to_string(&document).expect("the document is plain data"),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
