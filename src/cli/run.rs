//! `clinker run`: compiles, then runs, explains, or only lists what would be written.

use std::fmt::Write;
use std::num::NonZero;
use std::thread;

use super::args::{LogLevel, RunArgs};
use super::progress::Watcher;
use super::{DEAD_LETTERS, IO, OK, REFUSED, check, compile, output, signals, summary};
use crate::diagnostics::{Diagnostics, SourceMap};
use crate::driver::Compilation;
use crate::exec::{self, Failure, Options, Report};
use crate::plan::explain::{self, Facts, Format};
use crate::plan::physical::{OperatorKind, PhysicalPlan};

/// Runs a pipeline, or does what the flags ask for instead. Gives the exit code.
pub(super) fn run(args: &RunArgs) -> u8 {
    let folders = [("--base-dir", &args.pipeline.base_dir), ("--spill-dir", &args.spill_dir)];
    if let Some(problem) = folders.iter().find_map(|(flag, dir)| compile::missing_folder(flag, dir.as_deref())) {
        output::error_line(&problem);
        return REFUSED;
    }
    let compilation = compile::compile(&args.pipeline, args.memory_limit.and_then(|limit| limit.0));
    let Compilation { sources, diagnostics, plan } = compilation;
    if args.dry_run {
        return dry_run(args, &sources, &diagnostics, plan.as_ref());
    }
    compile::show(&sources, &diagnostics.sorted(), args.log_level >= LogLevel::Warn);
    match plan {
        Some(plan) => match args.explain {
            Some(format) => explain_plan(&sources, &plan, format),
            None => execute(args, &sources, &plan),
        },
        None => {
            output::error_line(&format!("\nrun refused: {}", compile::counts(&diagnostics)));
            REFUSED
        }
    }
}

fn options(args: &RunArgs, plan: &PhysicalPlan) -> Options {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    Options {
        base_dir: compile::base_dir(&args.pipeline),
        threads: args.threads.or(plan.settings.threads).unwrap_or_else(processors),
        batch_id: args.batch_id.clone(),
        force: args.force,
        spill_dir: args.spill_dir.clone(),
        block_size: args.block_size as usize,
    }
}

fn explain_plan(sources: &SourceMap, plan: &PhysicalPlan, format: Format) -> u8 {
    let text = explain::render(plan, sources, format, &Facts::default());
    if output::document(&text) { OK } else { IO }
}

fn execute(args: &RunArgs, sources: &SourceMap, plan: &PhysicalPlan) -> u8 {
    let stop = match signals::watch() {
        Ok(stop) => stop,
        Err(error) => {
            output::error_line(&format!("error: can't listen for signals: {error}"));
            return IO;
        }
    };
    let warnings = args.log_level >= LogLevel::Warn;
    let progress = output::on_terminal() && args.log_level >= LogLevel::Info;
    let watcher = Watcher::new(sources, stop, progress, warnings);
    let outcome = exec::run(plan, &options(args, plan), &watcher);
    watcher.finish();
    match outcome {
        Ok(report) => completed(args, sources, &report),
        Err(failure) => failed(sources, &failure),
    }
}

fn completed(args: &RunArgs, sources: &SourceMap, report: &Report) -> u8 {
    compile::show(sources, &report.warnings, args.log_level >= LogLevel::Warn);
    if !args.quiet && args.log_level >= LogLevel::Info {
        // The outputs are published whether or not this can be read.
        output::document(&summary::summary(report, summary::peak_resident()));
    }
    if report.dlq > 0 { DEAD_LETTERS } else { OK }
}

fn failed(sources: &SourceMap, failure: &Failure) -> u8 {
    match &failure.diagnostic {
        Some(diagnostic) => {
            compile::show(sources, std::slice::from_ref(diagnostic.as_ref()), true);
            output::error_line("\nrun failed: nothing was published");
        }
        None => output::error_line("run interrupted: nothing was published"),
    }
    failure.exit_code
}

fn dry_run(args: &RunArgs, sources: &SourceMap, diagnostics: &Diagnostics, plan: Option<&PhysicalPlan>) -> u8 {
    compile::show(sources, &diagnostics.sorted(), args.log_level >= LogLevel::Warn);
    output::error_line(&check::closing_line(diagnostics));
    match plan {
        Some(_) if args.quiet => OK,
        Some(plan) if !output::document(&outputs(plan)) => IO,
        Some(_) => OK,
        None => REFUSED,
    }
}

/// The files that a run would write, one a line.
fn outputs(plan: &PhysicalPlan) -> String {
    let mut text = String::from("A run would write:\n");
    for (_, operator) in plan.operators() {
        if let OperatorKind::Sink(sink) = &operator.kind {
            let _ = writeln!(text, "  {}  (sink {})", sink.sink.path.0, operator.name);
        }
    }
    for file in &plan.dead_letters.files {
        let _ = writeln!(text, "  {}  (dead letters)", file.path.0);
    }
    text
}
