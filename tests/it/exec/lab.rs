//! A folder with a pipeline and its files, to run things in.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use clinker::analysis;
use clinker::analysis::hir::Backpressure;
use clinker::diagnostics::render;
use clinker::diagnostics::{Diagnostic, SourceMap};
use clinker::driver;
use clinker::exec::{self, Failure, Mode, Observer, Options, Report, Silent};
use clinker::plan::physical::PhysicalPlan;

/// A folder of its own, gone when dropped.
pub struct Lab {
    folder: tempfile::TempDir,
    /// How to run.
    pub options: Options,
    /// Most rows of a batch, in place of the pipeline's.
    pub batch_size: Option<usize>,
    /// The memory limit, in place of the pipeline's; it may be below the size of the test program.
    pub memory_limit: Option<u64>,
}

impl Lab {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options {
            base_dir: folder.path().canonicalize().expect("the folder is there"),
            pipeline_file: None,
            threads: 2,
            batch_id: None,
            force: false,
            spill_dir: None,
            disk_faults: Default::default(),
            block_size: exec::DEFAULT_BLOCK_SIZE,
            measure: false,
        };
        let lab = Self { folder, options, batch_size: None, memory_limit: None };
        files.iter().for_each(|(name, text)| lab.write(name, text));
        lab
    }

    /// The place of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.options.base_dir.join(name)
    }

    /// Writes a file, and the folders it is in.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of all files in the folder, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder is there");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Compiles a pipeline that has no errors.
    pub fn compile(&self, pipeline: &str) -> (PhysicalPlan, SourceMap) {
        let options =
            driver::Options { analysis: analysis::Options { allow_absolute_paths: true }, memory_limit: None };
        let compilation = driver::compile("pipeline.yaml", pipeline, &options);
        let Some(mut plan) = compilation.plan else {
            panic!("{}", render(&compilation.sources, &compilation.diagnostics.sorted()))
        };
        plan.settings.batch_size = self.batch_size.unwrap_or(plan.settings.batch_size);
        if let Some(limit) = self.memory_limit {
            (plan.settings.memory_limit, plan.settings.backpressure) = (limit, Backpressure::Spill);
        }
        (plan, compilation.sources)
    }

    /// Runs a pipeline.
    pub fn run(&self, pipeline: &str) -> Result<Report, Failure> {
        self.run_observed(pipeline, &Silent)
    }

    /// Runs a pipeline and watches it.
    pub fn run_observed(&self, pipeline: &str, observer: &dyn Observer) -> Result<Report, Failure> {
        exec::run(&self.compile(pipeline).0, &self.options, observer)
    }

    /// Runs a pipeline that must fail: exit code and message, as a terminal shows it.
    pub fn failure(&self, pipeline: &str) -> String {
        self.failure_observed(pipeline, &Silent)
    }

    /// The same, watched.
    pub fn failure_observed(&self, pipeline: &str, observer: &dyn Observer) -> String {
        let (plan, sources) = self.compile(pipeline);
        let failure = exec::run(&plan, &self.options, observer).expect_err("the run fails");
        let shown = failure.diagnostic.map(|diagnostic| render(&sources, &[*diagnostic])).unwrap_or_default();
        format!("{}exit {}\n", self.anonymous(&shown), failure.exit_code)
    }

    /// What there is to say before a run, as a terminal shows it.
    pub fn preflight(&self, pipeline: &str, mode: Mode) -> String {
        let (plan, sources) = self.compile(pipeline);
        self.anonymous(&render(&sources, &exec::preflight(&plan, &self.options, mode)))
    }

    /// A text without the folder's name.
    fn anonymous(&self, text: &str) -> String {
        text.replace(&self.options.base_dir.display().to_string(), "<folder>")
    }
}

/// Diagnostics as a terminal without colours shows them.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    render::rich(sources, diagnostics, false)
}

/// Keeps what a run tells its observer.
#[derive(Default)]
pub struct Recorder {
    /// First lines of the warnings.
    pub warnings: Mutex<Vec<String>>,
}

impl Observer for Recorder {
    fn warning(&self, diagnostic: &Diagnostic) {
        self.warnings.lock().expect("not poisoned").push(diagnostic.message.clone());
    }
}

/// Calls something once, in the middle of a run.
pub struct Meddler<F: Fn() + Sync>(F, AtomicBool);

impl<F: Fn() + Sync> Meddler<F> {
    /// Calls `meddle` when the first block is done.
    pub fn new(meddle: F) -> Self {
        Self(meddle, AtomicBool::new(false))
    }
}

impl<F: Fn() + Sync> Observer for Meddler<F> {
    fn progress(&self, _: u64, _: u64, _: u64) {
        if !self.1.swap(true, Ordering::Relaxed) {
            (self.0)();
        }
    }
}
