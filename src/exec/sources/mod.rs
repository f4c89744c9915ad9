//! Sources at run time: which files a source reads, what their headers bind to, and the feed that hands out blocks.
//!
//! Every file is looked at before the first row is read, so that a header that can't serve the schema, or the column
//! list of an output, never depends on how far a run came. Files are then opened one at a time.

mod feed;
mod lines;
mod listing;
mod matcher;
mod open;
mod sample;
mod stamp;
mod verify;

pub(crate) use feed::{Feed, Ticket};
pub(crate) use lines::line_of;
pub(crate) use matcher::resolve;
pub(crate) use open::{BoundFile, CarriedNames, OpenSource, open_all};
pub(crate) use verify::{Verdict, verify};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostics::Span;
use crate::exec::Mode;
use crate::plan::explain::Input;
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, SourceOperator};

/// A file that a source reads.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its path as configured or matched.
    pub display: String,
    /// Where the pipeline asks for it.
    pub span: Span,
    /// Its length when the run began; 0 for a pipe.
    pub bytes: u64,
}

/// A source of the plan and its files, in the order they are read.
#[derive(Clone, Debug)]
pub(crate) struct Source<'p> {
    /// Its id in the plan.
    pub id: OperatorId,
    /// Its position among the plan's sources.
    pub position: u32,
    /// The whole operator.
    pub operator: &'p Operator,
    /// What it reads.
    pub spec: &'p SourceOperator,
    /// Its files.
    pub files: Vec<SourceFile>,
}

/// Every source of a plan, in plan order, without files yet.
pub(crate) fn of_plan(plan: &PhysicalPlan) -> Vec<Source<'_>> {
    let specs = plan.operators().filter_map(|(id, operator)| match &operator.kind {
        OperatorKind::Source(spec) => Some((id, operator, spec)),
        _ => None,
    });
    let numbered = (0u32..).zip(specs);
    numbered
        .map(|(position, (id, operator, spec))| Source { id, position, operator, spec, files: Vec::new() })
        .collect()
}

/// What is known of the files of each source, by its name; without those of which a file is not there or has no length.
pub(crate) fn inputs(plan: &PhysicalPlan, base: &Path) -> BTreeMap<String, Input> {
    let mut found = BTreeMap::new();
    for mut source in of_plan(plan) {
        let missing = !resolve(&mut source, base, Mode::Run).is_empty();
        if !missing && source.files.iter().all(|file| file.bytes > 0) {
            let bytes = source.files.iter().map(|file| file.bytes).sum();
            found.insert(source.operator.name.clone(), Input { bytes, sample: sample::sample(&source) });
        }
    }
    found
}
