//! The interpreter: streams data through a physical plan.
//!
//! `run` is the entry. It takes every decision from the plan; see `docs/src/architecture.md` for stages, blocks and
//! the rules that keep output bytes the same for any number of threads.

pub mod aggregate;
pub mod batch;
mod clock;
mod dlq;
pub mod eval;
pub mod fault;
pub mod keys;
pub mod memory;
mod operators;
mod orders;
mod publish;
pub mod rest;
mod run;
mod sources;
mod spelling;
pub mod spill;
mod stages;
mod system_limit;
pub mod value;
mod varint;
mod workers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::diagnostics::{Code, Diagnostic};
use crate::plan::explain::Input;
use crate::plan::physical::PhysicalPlan;

/// What the command line decides about a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Base for relative paths.
    pub base_dir: PathBuf,
    /// The file that the pipeline was read from, which no output may replace; `None` if it came from elsewhere.
    pub pipeline_file: Option<PathBuf>,
    /// Workers, at least 1.
    pub threads: usize,
    /// `$pipeline.batch_id`; a fresh UUIDv7 if `None`.
    pub batch_id: Option<String>,
    /// Overwrite outputs in spite of `if_exists: error`.
    pub force: bool,
    /// Folder for what does not fit the memory limit; the system's folder for temporary files if `None`.
    pub spill_dir: Option<PathBuf>,
    /// Makes the spill folder fail, for tests.
    pub disk_faults: spill::DiskFaults,
    /// Bytes of text in a block, less where the memory limit is low for so many workers; never changes output.
    pub block_size: usize,
    /// Measure what time each operator takes.
    pub measure: bool,
}

impl Default for Options {
    /// One worker in the current folder.
    fn default() -> Self {
        let base_dir = PathBuf::from(".");
        Self {
            base_dir,
            pipeline_file: None,
            threads: 1,
            batch_id: None,
            force: false,
            spill_dir: None,
            disk_faults: spill::DiskFaults::default(),
            block_size: DEFAULT_BLOCK_SIZE,
            measure: false,
        }
    }
}

/// Most bytes of text in a block unless told otherwise: what fits a core's cache with the arrays made from it.
pub const DEFAULT_BLOCK_SIZE: usize = 192 * 1024;

/// Follows a run from outside. Methods are called from worker threads.
pub trait Observer: Sync {
    /// Rows and bytes read so far, of the bytes expected in all (0 if unknown).
    fn progress(&self, rows: u64, bytes: u64, expected_bytes: u64) {
        let _ = (rows, bytes, expected_bytes);
    }

    /// Whether the run should stop: asked between blocks.
    fn interrupted(&self) -> bool {
        false
    }

    /// A warning that a row caused: a `warn` validation that did not hold.
    fn warning(&self, diagnostic: &Diagnostic) {
        let _ = diagnostic;
    }
}

/// An observer that does nothing.
pub struct Silent;

impl Observer for Silent {}

/// What a completed run did.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Rows read over all sources.
    pub total: u64,
    /// Rows that were read and written to at least one sink.
    pub ok: u64,
    /// Rows that aggregates made and that were written to at least one sink.
    pub made: u64,
    /// Rows written over all sinks.
    pub written: u64,
    /// Dead letters, written or not.
    pub dlq: u64,
    /// One for each operator, in plan order.
    pub nodes: Vec<NodeReport>,
    /// The files published, in plan order, dead-letter files last.
    pub outputs: Vec<PublishedFile>,
    /// Warnings that are known only at the end.
    pub warnings: Vec<Diagnostic>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// Peak of the reserved memory, in bytes.
    pub peak_reserved: u64,
    /// One for each memory consumer, in plan order.
    pub consumers: Vec<ConsumerReport>,
}

/// What the state of one memory consumer came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsumerReport {
    /// What messages call it, such as `distinct.clean`.
    pub name: String,
    /// The most that it had reserved at once, in bytes.
    pub peak_reserved: u64,
    /// What it put on disk.
    pub spilled: spill::Volume,
}

/// What one operator did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeReport {
    /// The label, such as `transform.clean`.
    pub label: String,
    /// Rows in (for a source, records read).
    pub rows_in: u64,
    /// Rows out over all ports.
    pub rows_out: u64,
    /// Of a cull, how many of these are of groups that it removed.
    pub removed: Option<u64>,
    /// Rows that failed here.
    pub rejected: u64,
    /// Rows that a filter took out.
    pub filtered: u64,
    /// Rows that `distinct` took out.
    pub duplicates: u64,
    /// `warn` validations that did not hold.
    pub warned: u64,
    /// Bytes read by a source, put at rest by a buffer, or written by a sink, its header aside.
    pub bytes: u64,
    /// The time that workers spent in it, all together, with [`Options::measure`].
    pub busy: Duration,
    /// The most that it had reserved at once, in bytes; of several consumers, the most of each, but no more than the
    /// run had in all.
    pub peak_reserved: u64,
    /// What it put on disk.
    pub spilled: spill::Volume,
}

/// A file that a run published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublishedFile {
    /// The path as configured (with its suffix, under `if_exists: unique_suffix`).
    pub path: String,
    /// Rows in it.
    pub rows: u64,
    /// Whether it is a dead-letter file.
    pub dead_letters: bool,
}

/// Why a run did not complete. Nothing was published.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// What stopped it; `None` for an interruption.
    pub diagnostic: Option<Box<Diagnostic>>,
    /// The exit code: 1, 3, 4 or 130.
    pub exit_code: u8,
    /// Rows that it is about, which the run says as notes when it has ended.
    pub(crate) rows: Vec<NamedRow>,
}

/// A row that a failure is about. The line that it begins in may have to be looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedRow {
    /// The row.
    pub row: batch::RowId,
    /// Whether it is named as the one that the failed group begins with.
    pub begins_group: bool,
    /// The line, if it is known.
    pub line: Option<u64>,
}

impl Failure {
    /// A failure with a reason.
    pub fn new(diagnostic: Diagnostic, exit_code: u8) -> Self {
        Self { diagnostic: Some(Box::new(diagnostic)), exit_code, rows: Vec::new() }
    }

    /// The same with a row that it is about.
    pub(crate) fn about(mut self, row: NamedRow) -> Self {
        self.rows.push(row);
        self
    }

    /// Somebody asked the run to stop.
    pub fn interrupted() -> Self {
        Self { diagnostic: None, exit_code: 130, rows: Vec::new() }
    }

    /// The program contradicted itself.
    fn internal(text: &str) -> Self {
        let diagnostic = Diagnostic::error(Code::E390, format!("internal error: {text}"));
        Self::new(diagnostic.help("this is a bug; please report it with the pipeline"), 1)
    }
}

/// What [`preflight`] is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A check, perhaps where there is no data: an input that is not there is a warning (W216).
    Check,
    /// A run is about to begin: an input that is not there is an error (E216).
    Run,
}

/// Looks at everything around a plan without reading a record: whether its inputs are there (E216, W216), whether
/// its outputs can be written where they should (E322, E394), and whether the memory limit is above the program's own
/// size (E312). An error means that a run would be refused with exit code 1.
pub fn preflight(plan: &PhysicalPlan, options: &Options, mode: Mode) -> Vec<Diagnostic> {
    run::Surroundings::look(plan, options, mode).findings
}

/// Where the outputs of a plan go, the sinks in plan order and then the dead-letter files: the paths as configured, with
/// the first free suffix where an output takes one. Those that [`preflight`] refuses are left out.
pub fn output_paths(plan: &PhysicalPlan, options: &Options) -> Vec<String> {
    let (destinations, _) = publish::destinations(plan, options, &[]);
    destinations.into_iter().map(|destination| destination.display).collect()
}

/// How long the files of each source are, and what their first rows look like, by the source's name. A source of which
/// a file is not there, or has no length, is left out.
pub fn inputs(plan: &PhysicalPlan, options: &Options) -> BTreeMap<String, Input> {
    sources::inputs(plan, &options.base_dir)
}

/// The folder for rows that do not fit the memory limit.
pub fn spill_root(options: &Options) -> PathBuf {
    options.spill_dir.clone().or_else(temporary_folder).unwrap_or_else(usual_folder)
}

/// Who named that folder, for messages; `None` where nobody did.
fn spill_root_named_by(options: &Options) -> Option<&'static str> {
    let by_system = || temporary_folder().map(|_| "TMPDIR");
    options.spill_dir.as_ref().map(|_| "--spill-dir").or_else(by_system)
}

fn usual_folder() -> PathBuf {
    if cfg!(unix) { "/tmp".into() } else { std::env::temp_dir() }
}

/// What `TMPDIR` says, if it says something.
fn temporary_folder() -> Option<PathBuf> {
    std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Runs a plan.
///
/// Outputs appear all together at the end or not at all.
pub fn run(plan: &PhysicalPlan, options: &Options, observer: &dyn Observer) -> Result<Report, Failure> {
    run::run(plan, options, observer)
}

/// Locks a mutex. A panic in another worker ends the run anyway; here it must not become a second one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits to be notified.
fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
