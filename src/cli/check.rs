//! `clinker check`: every finding, no data.

use super::args::{CheckArgs, ReportFormat};
use super::{IO, OK, REFUSED, compile, output};
use crate::diagnostics::render::{Format, render};
use crate::diagnostics::{Diagnostics, SourceMap};
use crate::driver::Compilation;
use crate::exec::{self, Mode, Options};

/// Checks a pipeline and prints what was found. Gives the exit code.
pub(super) fn check(args: &CheckArgs) -> u8 {
    if let Some(problem) = compile::missing_folder("--base-dir", args.pipeline.base_dir.as_deref()) {
        output::error_line(&problem);
        return REFUSED;
    }
    let Compilation { sources, mut diagnostics, plan } = compile::compile(&args.pipeline, None);
    if let Some(plan) = plan {
        let (base_dir, pipeline_file) = (compile::base_dir(&args.pipeline), Some(args.pipeline.pipeline.clone()));
        let options = Options { base_dir, pipeline_file, ..Options::default() };
        diagnostics.push_of_files(exec::preflight(&plan, &options, Mode::Check));
    }
    report(args.format, &sources, &diagnostics)
}

/// Prints findings and, for people, how many there are.
fn report(format: ReportFormat, sources: &SourceMap, diagnostics: &Diagnostics) -> u8 {
    let found = diagnostics.sorted();
    let code = if diagnostics.has_errors() { REFUSED } else { OK };
    match format {
        ReportFormat::Json if !output::document(&render(Format::Json, sources, &found)) => return IO,
        ReportFormat::Json => {}
        ReportFormat::Short => {
            output::errors(&render(Format::Short, sources, &found));
            output::error_line(&closing_line(diagnostics));
        }
        ReportFormat::Rich => {
            compile::show(sources, &found, true);
            output::error_line(&format!("{}{}", if found.is_empty() { "" } else { "\n" }, closing_line(diagnostics)));
        }
    }
    code
}

/// `check failed: 1 error, 0 warnings`
pub(super) fn closing_line(diagnostics: &Diagnostics) -> String {
    let outcome = if diagnostics.has_errors() { "failed" } else { "passed" };
    format!("check {outcome}: {}", compile::counts(diagnostics))
}
