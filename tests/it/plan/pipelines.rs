//! The pipelines that the tests plan.

use clinker::analysis::{self, hir::Pipeline};
use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::pipeline;

/// A source, two transforms and a sink that writes everything.
pub fn chain() -> (Pipeline, SourceMap) {
    check("chain.yaml", include_str!("pipelines/chain.yaml"))
}

/// One of everything; see the file.
pub fn orders() -> (Pipeline, SourceMap) {
    check("orders.yaml", include_str!("pipelines/orders.yaml"))
}

/// A keyed source of several files, a source that claims an order, and a cull; see the file.
pub fn groups() -> (Pipeline, SourceMap) {
    check("groups.yaml", include_str!("pipelines/groups.yaml"))
}

/// Merges whose inputs can't all come in their turn, with dead letters; see the file.
pub fn meetings() -> (Pipeline, SourceMap) {
    check("meetings.yaml", include_str!("pipelines/meetings.yaml"))
}

/// Aggregates, a reshape and a cull, with dead letters; see the file.
pub fn summaries() -> (Pipeline, SourceMap) {
    check("summaries.yaml", include_str!("pipelines/summaries.yaml"))
}

/// Distinct statements; see the file.
pub fn firsts() -> (Pipeline, SourceMap) {
    check("firsts.yaml", include_str!("pipelines/firsts.yaml"))
}

/// Merges that take rows in turn, and inputs that can't; see the file.
pub fn turns() -> (Pipeline, SourceMap) {
    check("turns.yaml", include_str!("pipelines/turns.yaml"))
}

/// A pipeline that has no mistakes.
pub fn check(name: &str, text: &str) -> (Pipeline, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let pipeline = pipeline::read(file, text, &mut diagnostics)
        .and_then(|ast| analysis::analyse(&ast, &analysis::Options::default(), &mut diagnostics));
    let found: Vec<_> = diagnostics.iter().collect();
    assert!(found.is_empty(), "{name} is sound: {found:#?}");
    (pipeline.expect("a sound pipeline has an HIR"), sources)
}
