//! Shows a physical plan: the plan that runs, said once as data and printed as text, JSON or YAML.
//!
//! [`render`] builds one document (`model`) from the plan, then prints it. JSON and YAML are that document as it is;
//! text arranges the same facts in sections, and dot draws its nodes and edges. Nothing here decides anything, and
//! nothing is opened: what only the file system knows comes in as [`Facts`].

mod amount;
mod build;
mod dot;
mod estimate;
mod footprint;
mod guess;
pub(crate) mod layout;
mod model;
mod order;
mod predict;
mod states;
mod steps;
mod text;
mod tree;

use std::collections::BTreeMap;

use estimate::Flows;
use guess::Guess;

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
    /// The files of a source, by the source's name. A source that is not there is not known.
    pub inputs: BTreeMap<String, Input>,
    /// The folder for what does not fit the memory limit.
    pub spill_root: Option<String>,
}

/// What is known of the files of a source.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Input {
    /// Bytes of all of them.
    pub bytes: u64,
    /// What their first rows look like; `None` if there are none, or they can't be read.
    pub sample: Option<Sample>,
}

/// The first rows of a source's largest file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// How many rows were looked at: at least one.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these, the texts of each declared column.
    pub columns: Vec<u64>,
    /// Fields of a row, undeclared ones included.
    pub fields: u64,
    /// Bytes of the headers of all files.
    pub headers: u64,
}

/// What a plan expects of one operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Rows out over all ports, or written; `None` if an input size is not known.
    pub rows: Option<u64>,
    /// Whether these may be fewer.
    pub at_most: bool,
    /// Bytes that it has in memory at once: no more than the limit lets stand.
    pub peak: Option<u64>,
    /// Whether these may be fewer.
    pub peak_at_most: bool,
    /// Bytes that go to disk under the limit, before they are compressed.
    pub spilled: Option<u64>,
    /// Whether these may be fewer.
    pub spilled_at_most: bool,
}

/// What a plan expects of its operators, in plan order.
pub fn estimates(plan: &PhysicalPlan, facts: &Facts) -> Vec<Estimate> {
    let flows = Flows::of(plan, facts);
    let predicted = predict::predict(plan, &flows);
    let estimate = |(id, _)| {
        let (rows, at_most) = flows.given(plan, id);
        let own = predict::of_operator(plan, &predicted, id);
        let spilled_at_most = predict::rows_at_most(plan, &predicted, id);
        let shown = |guess: Option<Guess>, at_most| guess.map(|guess| guess.shown(at_most));
        Estimate {
            rows: shown(rows, at_most),
            at_most,
            peak: shown(own.peak, own.at_most),
            peak_at_most: own.at_most,
            spilled: shown(own.spills, spilled_at_most),
            spilled_at_most,
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
