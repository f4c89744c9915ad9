//! `clinker run`: compiles, then runs, explains, or only lists what would be written.

use std::fmt::Write;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use super::args::{Explain, LogLevel, RunArgs};
use super::progress::Watcher;
use super::signals::Stop;
use super::{DEAD_LETTERS, IO, OK, REFUSED, analysis, check, compile, output, signals, summary};
use crate::diagnostics::{Diagnostics, SourceMap};
use crate::driver::Compilation;
use crate::exec::memory::keep_freed_memory;
use crate::exec::spill::DiskFaults;
use crate::exec::{self, Failure, Mode, Options, Report};
use crate::plan::explain::{self, Estimate, Facts, Format};
use crate::plan::physical::{OperatorKind, PhysicalPlan};

/// Runs a pipeline, or does what the flags ask for instead. Gives the exit code.
pub(super) fn run(args: &RunArgs) -> u8 {
    let folders = [("--base-dir", &args.pipeline.base_dir), ("--spill-dir", &args.spill_dir)];
    if let Some(problem) = folders.iter().find_map(|(flag, dir)| compile::missing_folder(flag, dir.as_deref())) {
        output::error_line(&problem);
        return REFUSED;
    }
    let Compilation { sources, mut diagnostics, plan } =
        compile::compile(&args.pipeline, args.memory_limit.and_then(|limit| limit.0));
    let options = plan.as_ref().map(|plan| options(args, plan));
    let planned = plan.as_ref().zip(options.as_ref());
    if let (Some((plan, options)), None | Some(Explain::Run)) = (planned, args.explain) {
        let mode = if args.dry_run { Mode::Check } else { Mode::Run };
        diagnostics.push_of_files(exec::preflight(plan, options, mode));
    }
    compile::show(&sources, &diagnostics.sorted(), args.log_level >= LogLevel::Warn);
    match planned {
        Some((plan, options)) if !diagnostics.has_errors() => go(args, &sources, &diagnostics, plan, options),
        _ if args.dry_run => refuse(&check::closing_line(&diagnostics)),
        _ => refuse(&format!("run refused: {}", compile::counts(&diagnostics))),
    }
}

fn refuse(line: &str) -> u8 {
    output::error_line(&format!("\n{line}"));
    REFUSED
}

/// Does what the flags ask for with a plan that can run.
fn go(args: &RunArgs, sources: &SourceMap, diagnostics: &Diagnostics, plan: &PhysicalPlan, options: &Options) -> u8 {
    if args.dry_run {
        output::error_line(&check::closing_line(diagnostics));
        return if args.quiet || output::document(&outputs(plan, options)) { OK } else { IO };
    }
    match args.explain {
        Some(Explain::Plan(format)) => explain_plan(sources, plan, options, format),
        Some(Explain::Run) | None => execute(args, sources, plan, options),
    }
}

fn options(args: &RunArgs, plan: &PhysicalPlan) -> Options {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    Options {
        base_dir: compile::base_dir(&args.pipeline),
        pipeline_file: Some(args.pipeline.pipeline.clone()),
        threads: args.threads.or(plan.settings.threads).unwrap_or_else(processors),
        batch_id: args.batch_id.clone(),
        force: args.force,
        spill_dir: args.spill_dir.clone(),
        disk_faults: DiskFaults::default(),
        block_size: args.block_size as usize,
        measure: args.explain == Some(Explain::Run),
    }
}

fn explain_plan(sources: &SourceMap, plan: &PhysicalPlan, options: &Options, format: Format) -> u8 {
    let text = explain::render(plan, sources, format, &facts(plan, options));
    if output::document(&text) { OK } else { IO }
}

/// What the plan can't know of the world around it.
fn facts(plan: &PhysicalPlan, options: &Options) -> Facts {
    let spill_root = Some(exec::spill_root(options).display().to_string());
    Facts { inputs: exec::inputs(plan, options), spill_root }
}

fn execute(args: &RunArgs, sources: &SourceMap, plan: &PhysicalPlan, options: &Options) -> u8 {
    let stop = match signals::watch() {
        Ok(stop) => stop,
        Err(error) => {
            output::error_line(&format!("error: can't listen for signals: {error}"));
            return IO;
        }
    };
    let warnings = args.log_level >= LogLevel::Warn;
    let progress = output::on_terminal() && args.log_level >= LogLevel::Info;
    let watcher = Watcher::new(sources, stop.clone(), progress, warnings);
    // What a run writes may be an input of the next, so inputs are looked at before it.
    let estimates = options.measure.then(|| explain::estimates(plan, &facts(plan, options)));
    keep_freed_memory(plan.settings.memory_limit);
    let outcome = exec::run(plan, options, &watcher);
    watcher.finish();
    match outcome {
        Ok(report) => completed(args, sources, &report, &options.base_dir, estimates.as_deref()),
        Err(failure) => failed(sources, &failure, &stop),
    }
}

fn completed(
    args: &RunArgs,
    sources: &SourceMap,
    report: &Report,
    base_dir: &Path,
    estimates: Option<&[Estimate]>,
) -> u8 {
    compile::show(sources, &report.warnings, args.log_level >= LogLevel::Warn);
    let mut text = String::new();
    if !args.quiet && args.log_level >= LogLevel::Info {
        text.push_str(&summary::summary(report, base_dir, summary::peak_resident()));
    } else if args.log_level >= LogLevel::Warn
        && let Some(line) = summary::dead_letter_line(report, base_dir)
    {
        output::error_line(&line);
    }
    if let Some(estimates) = estimates {
        text.push_str(&analysis::analysis(report, estimates));
    }
    let text = text.trim_start_matches('\n');
    if !text.is_empty() {
        output::closing_words(text);
    }
    if report.dlq > 0 { DEAD_LETTERS } else { OK }
}

fn failed(sources: &SourceMap, failure: &Failure, stop: &Stop) -> u8 {
    match &failure.diagnostic {
        Some(diagnostic) => {
            compile::show(sources, std::slice::from_ref(diagnostic.as_ref()), true);
            output::error_line("\nrun failed: nothing was published");
            failure.exit_code
        }
        None => {
            output::error_line("run interrupted: nothing was published");
            stop.exit_code()
        }
    }
}

/// The files that a run would write, one a line: for a plan that nothing speaks against.
fn outputs(plan: &PhysicalPlan, options: &Options) -> String {
    let sinks = plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Sink(_)));
    let writers = sinks.map(|(_, operator)| format!("sink {}", operator.name));
    let writers = writers.chain(plan.dead_letters.files.iter().map(|_| "dead letters".to_owned()));
    let mut text = String::from("A run would write:\n");
    for (path, writer) in exec::output_paths(plan, options).iter().zip(writers) {
        let _ = writeln!(text, "  {path}  ({writer})");
    }
    text
}
