//! The compiler from text to plan: runs the stages in order and gathers what they have to say.
//!
//! It does no IO; whoever calls it reads the file and shows the findings.

use crate::analysis;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceMap};
use crate::plan;
use crate::plan::physical::PhysicalPlan;
use crate::syntax::pipeline;

/// What the command line decides about a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the checks need to know.
    pub analysis: analysis::Options,
    /// A memory limit in bytes that takes the place of the pipeline's.
    pub memory_limit: Option<u64>,
}

/// What came of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// The texts that the findings point into.
    pub sources: SourceMap,
    /// Everything the stages found.
    pub diagnostics: Diagnostics,
    /// The plan, exactly when no finding is an error.
    pub plan: Option<PhysicalPlan>,
}

/// Compiles a pipeline: `text`, shown as `name` in messages.
pub fn compile(name: &str, text: &str, options: &Options) -> Compilation {
    let mut compilation = Compilation::default();
    let file = compilation.sources.add(name, text);
    let diagnostics = &mut compilation.diagnostics;
    let plan = pipeline::read(file, text, diagnostics)
        .and_then(|ast| analysis::analyse(&ast, &options.analysis, diagnostics))
        .and_then(|mut hir| {
            if let Some(limit) = options.memory_limit {
                (hir.settings.memory_limit, hir.settings.memory_limit_span) = (limit, None);
            }
            plan::plan(&hir, diagnostics)
        });
    if plan.is_none() && !diagnostics.has_errors() {
        diagnostics.push(Diagnostic::error(Code::E000, "internal error: no plan and no reason; this is a bug"));
    }
    compilation.plan = plan.filter(|_| !compilation.diagnostics.has_errors());
    compilation
}
