//! What can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::exec::DEFAULT_BLOCK_SIZE;
use crate::plan::explain;
use crate::syntax::pipeline::size::parse_size;

/// Compiles data pipelines and runs them.
///
/// A pipeline is a YAML file. It is checked as a whole before a row is read; outputs appear all together at the end of
/// a run or not at all.
#[derive(Parser, Debug)]
#[command(name = "clinker", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(super) struct CommandLine {
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done, no dead letters
  1    the arguments, the pipeline or its plan are wrong, or an input is missing
  2    done, and some rows are dead letters
  3    the data stopped the run
  4    reading, writing or decoding stopped the run
  129  the terminal hung up
  130  interrupted
  131  interrupted by Ctrl-\\
Nothing is published unless the code is 0 or 2.";

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Check a pipeline without reading data
    #[command(
        after_help = "Prints everything that is wrong, not only the first error. Exit code 1 if there are errors."
    )]
    Check(CheckArgs),
    /// Run a pipeline
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Explain a diagnostic code
    Explain(ExplainArgs),
}

/// Where a pipeline is and what its paths mean.
#[derive(Args, Debug)]
pub(super) struct PipelineArgs {
    /// The pipeline file
    #[arg(value_name = "PIPELINE.YAML")]
    pub(super) pipeline: PathBuf,
    /// Folder that relative paths in the pipeline start from [default: the pipeline file's folder]
    #[arg(long, value_name = "DIR")]
    pub(super) base_dir: Option<PathBuf>,
    /// Permit absolute paths in the pipeline
    #[arg(long)]
    pub(super) allow_absolute_paths: bool,
}

#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) pipeline: PipelineArgs,
    /// How findings are shown: rich (with source lines), short (one line each), or json (on standard output)
    #[arg(long, value_enum, default_value_t = ReportFormat::Rich, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) format: ReportFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(super) enum ReportFormat {
    /// Source lines with the places underlined, on standard error
    Rich,
    /// One line each, on standard error
    Short,
    /// A JSON array, on standard output
    Json,
}

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) pipeline: PipelineArgs,
    /// Only check, then list the files that a run would write
    #[arg(long, conflicts_with = "explain")]
    pub(super) dry_run: bool,
    /// Print the plan instead of running it: text, json, yaml or dot; or run it, and print what it came to beside what
    /// the plan expected: analyze
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(value_parser = explain_format)]
    pub(super) explain: Option<Explain>,
    /// Memory for what grows with the input, such as 512M; overrides the pipeline's `memory.limit`
    #[arg(long, value_name = "SIZE", value_parser = memory_limit, allow_hyphen_values = true)]
    pub(super) memory_limit: Option<MemoryLimit>,
    /// Folder for what does not fit the memory limit [default: that of `TMPDIR`, else /tmp]
    #[arg(long, value_name = "DIR")]
    pub(super) spill_dir: Option<PathBuf>,
    /// Replace outputs that exist, in spite of `if_exists: error`
    #[arg(long)]
    pub(super) force: bool,
    /// Number of workers; never changes what is written [default: the pipeline's, else one for each processor]
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub(super) threads: Option<usize>,
    /// What `$pipeline.batch_id` is [default: a fresh UUID]
    #[arg(long, value_name = "ID")]
    pub(super) batch_id: Option<String>,
    /// How much is said: error, warn (adds warnings and where dead letters are), info (adds the closing summary), debug,
    /// trace
    #[arg(long, value_enum, default_value_t = LogLevel::Info, value_name = "LEVEL", hide_possible_values = true)]
    pub(super) log_level: LogLevel,
    /// No closing summary on standard output
    #[arg(long)]
    pub(super) quiet: bool,
    /// Bytes of text in a block; never changes what is written
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_BLOCK_SIZE as u32, hide = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) block_size: u32,
    /// Not an option, but people look for it
    #[arg(long, hide = true, value_name = "SHARE", num_args = 0..=1, value_parser = error_threshold)]
    _error_threshold: Option<String>,
}

/// What `--memory-limit` gives; a blank value counts as not given.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryLimit(pub(super) Option<u64>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Debug)]
pub(super) enum LogLevel {
    /// Errors only
    Error,
    /// Errors and warnings
    Warn,
    /// And the closing summary
    Info,
    /// As info
    Debug,
    /// As info
    Trace,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).multiple(false))]
pub(super) struct ExplainArgs {
    /// The code, such as E203
    #[arg(value_name = "CODE", group = "what")]
    pub(super) named: Option<String>,
    /// The same
    #[arg(long, value_name = "CODE", group = "what")]
    pub(super) code: Option<String>,
    /// List every code
    #[arg(long, group = "what")]
    pub(super) list: bool,
}

/// What is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Explain {
    /// The plan, without a run.
    Plan(explain::Format),
    /// A run, beside its plan.
    Run,
}

/// What `--explain` takes.
pub(super) const EXPLAIN_FORMATS: [&str; 5] = ["text", "json", "yaml", "dot", "analyze"];

fn explain_format(text: &str) -> Result<Explain, String> {
    match text {
        "text" => Ok(Explain::Plan(explain::Format::Text)),
        "json" => Ok(Explain::Plan(explain::Format::Json)),
        "yaml" => Ok(Explain::Plan(explain::Format::Yaml)),
        "dot" => Ok(Explain::Plan(explain::Format::Dot)),
        "analyze" => Ok(Explain::Run),
        _ => Err("choose text, json, yaml, dot or analyze".to_owned()),
    }
}

fn memory_limit(text: &str) -> Result<MemoryLimit, &'static str> {
    if text.trim().is_empty() { Ok(MemoryLimit(None)) } else { parse_size(text).map(|bytes| MemoryLimit(Some(bytes))) }
}

fn threads(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|threads| (1..=1024).contains(threads)).ok_or("write a number from 1 to 1024")
}

fn error_threshold(_: &str) -> Result<String, &'static str> {
    Err("there is no such option; set `type_error_threshold` under `error_handling` in the pipeline")
}
