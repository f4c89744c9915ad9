//! Where a run's outputs go: paths resolved, and checked against each other, against the inputs and against what is
//! there already.

use std::path::{Path, PathBuf};

use crate::analysis::hir::IfExists;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::sources::Source;
use crate::exec::{Options, spelling};
use crate::plan::physical::{OperatorKind, PhysicalPlan};

/// What an output is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The file of a sink.
    Sink,
    /// A dead-letter file.
    DeadLetters,
}

/// Where one output goes.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// What it is for.
    pub purpose: Purpose,
    /// What messages call its writer: `sink "big"`.
    pub writer: String,
    /// The path as configured, with its suffix under `if_exists: unique_suffix`.
    pub display: String,
    /// Where the pipeline asks for it.
    pub span: Span,
    /// The folder it is in; links resolved.
    pub folder: PathBuf,
    /// The file; links resolved.
    pub path: PathBuf,
    /// What a run that stops for too many dead letters writes in its place.
    failed: Option<PathBuf>,
    /// Path and display before a suffix, where a suffix may be added.
    unsuffixed: Option<(PathBuf, String)>,
}

/// Every output of a plan, the sinks in plan order and then the dead-letter files, with what is wrong about them.
pub(crate) fn destinations(
    plan: &PhysicalPlan,
    options: &Options,
    sources: &[Source<'_>],
) -> (Vec<Destination>, Vec<Diagnostic>) {
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for wanted in wanted(plan) {
        match wanted.resolve(options) {
            Ok(destination) => found.push(destination),
            Err(diagnostic) => findings.push(*diagnostic),
        }
    }
    findings.extend(collisions(&found, sources));
    findings.extend(over_the_pipeline(&found, options));
    (found, findings)
}

struct Wanted<'p> {
    purpose: Purpose,
    writer: String,
    path: &'p (String, Span),
    if_exists: IfExists,
    /// Whether what was written is kept when the run stops for too many dead letters.
    failed: bool,
}

fn wanted(plan: &PhysicalPlan) -> Vec<Wanted<'_>> {
    let sinks = plan.operators().filter_map(|(_, operator)| match &operator.kind {
        OperatorKind::Sink(sink) => Some(Wanted {
            purpose: Purpose::Sink,
            writer: format!("sink `{}`", sink.sink.label),
            path: &sink.sink.path,
            if_exists: sink.sink.if_exists,
            failed: false,
        }),
        _ => None,
    });
    let letters = &plan.dead_letters;
    let failed = letters.rate.is_some() || !letters.source_rates.is_empty() || letters.type_error_threshold.is_some();
    let dead_letters = plan.dead_letters.files.iter().map(|file| Wanted {
        purpose: Purpose::DeadLetters,
        writer: "the dead-letter file".to_string(),
        path: &file.path,
        if_exists: IfExists::Overwrite,
        failed,
    });
    sinks.chain(dead_letters).collect()
}

impl Wanted<'_> {
    fn resolve(self, options: &Options) -> Result<Destination, Box<Diagnostic>> {
        let (display, span) = self.path;
        let path = follow(options.base_dir.join(display))
            .ok_or_else(|| self.refuse("is a link that leads nowhere", "remove the link, or choose another path"))?;
        let folder = self.folder(&path)?;
        let Some(name) = path.file_name() else {
            return Err(self.refuse("names no file", "a path ends in a file name"));
        };
        let path = folder.join(name);
        if path.exists() && !path.is_file() {
            return Err(self.refuse("is there already and is not a file", "choose another path"));
        }
        if path.exists() && self.if_exists == IfExists::Error && !options.force {
            return Err(self.refuse("is there already", "remove it, or run with `--force` to replace it"));
        }
        let unsuffixed = (self.if_exists == IfExists::UniqueSuffix).then(|| (path.clone(), display.clone()));
        let (purpose, writer, display) = (self.purpose, self.writer, display.clone());
        let failed = self.failed.then(|| failed_path(&path));
        let mut found = Destination { purpose, writer, display, span: *span, folder, path, failed, unsuffixed };
        found.settle();
        Ok(found)
    }

    fn folder(&self, path: &Path) -> Result<PathBuf, Box<Diagnostic>> {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folder.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok(folder),
            _ => {
                let help = spelling::for_a_shell(&self.path.0);
                let help = help.as_deref().unwrap_or("create the folder first; a run does not");
                Err(self.refuse("is in a folder that is not there", help))
            }
        }
    }

    fn refuse(&self, why: &str, help: &str) -> Box<Diagnostic> {
        let (display, span) = self.path;
        let message = format!("{}: {display} {why}", self.writer);
        Box::new(Diagnostic::error(Code::E394, message).label(*span, why).help(help))
    }
}

impl Destination {
    /// Under `if_exists: unique_suffix`, takes the first free name if its own is taken.
    pub(super) fn settle(&mut self) {
        let Some((path, display)) = self.unsuffixed.as_ref().filter(|_| self.path.exists()) else { return };
        let free = (1u64..).map(|number| suffixed(path, number)).find(|path| !path.exists());
        self.path = free.expect("some number is free");
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.display = match display.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name.into_owned(),
        };
    }
}

/// Where links lead, also to a file that is not there yet; `None` if they go round in a circle.
fn follow(mut path: PathBuf) -> Option<PathBuf> {
    const MOST: usize = 40;
    for _ in 0..MOST {
        let Ok(target) = std::fs::read_link(&path) else { return Some(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    None
}

/// Where dead letters are kept when there are too many of them.
pub(super) fn failed_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".failed");
    PathBuf::from(name)
}

/// `out.csv` as `out-1.csv`.
fn suffixed(path: &Path, number: u64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        Some(extension) => path.with_file_name(format!("{stem}-{number}.{}", extension.to_string_lossy())),
        None => path.with_file_name(format!("{stem}-{number}")),
    }
}

const KEPT: &str = "when too many rows are rejected, the dead letters so far are kept under their path and `.failed`";

/// Two outputs that are one file, and outputs that are inputs.
fn collisions(found: &[Destination], sources: &[Source<'_>]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (position, one) in found.iter().enumerate() {
        for other in &found[..position] {
            if one.path == other.path {
                let message = format!("{} and {} would write one file, {}", other.writer, one.writer, one.display);
                findings.push(collision(message, one, other.span, "also written here"));
            }
        }
        for other in found.iter().filter(|other| one.failed.as_ref() == Some(&other.path)) {
            let message = format!("{} would write over {}, which {} writes", one.writer, other.display, other.writer);
            findings.push(collision(message, one, other.span, "written here").note(KEPT));
        }
    }
    for source in sources {
        for file in &source.files {
            let Ok(input) = file.path.canonicalize() else { continue };
            for one in found.iter().filter(|one| one.path == input) {
                let name = &source.operator.name;
                let message = format!("{} would write over {}, which source `{name}` reads", one.writer, file.display);
                findings.push(collision(message, one, file.span, "read here"));
            }
            for one in found.iter().filter(|one| one.failed.as_ref() == Some(&input)) {
                let name = &source.operator.name;
                let message = format!("{} would write over {}, which source `{name}` reads", one.writer, file.display);
                findings.push(collision(message, one, file.span, "read here").note(KEPT));
            }
        }
    }
    findings
}

/// Outputs that would replace the pipeline file.
fn over_the_pipeline(found: &[Destination], options: &Options) -> Vec<Diagnostic> {
    let Some(pipeline) = options.pipeline_file.as_ref().and_then(|file| file.canonicalize().ok()) else {
        return Vec::new();
    };
    let refused = |one: &Destination, display: &str| {
        let message = format!("{} would write over {display}, the pipeline file itself", one.writer);
        let diagnostic = Diagnostic::error(Code::E322, message).label(one.span, "written here");
        diagnostic.help("give the output a path of its own")
    };
    let mut findings = Vec::new();
    for one in found {
        if one.path == pipeline {
            findings.push(refused(one, &one.display));
        }
        if one.failed.as_ref() == Some(&pipeline) {
            findings.push(refused(one, &format!("{}.failed", one.display)).note(KEPT));
        }
    }
    findings
}

fn collision(message: String, one: &Destination, other: Span, text: &str) -> Diagnostic {
    Diagnostic::error(Code::E322, message)
        .label(one.span, "written here")
        .label(other, text)
        .help("give each output a path of its own")
}
