//! Where a run's outputs go: paths resolved, and checked against each other, against the inputs and against what is
//! there already.

use std::path::{Path, PathBuf};

use crate::analysis::hir::IfExists;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::Options;
use crate::exec::sources::Source;
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
    (found, findings)
}

struct Wanted<'p> {
    purpose: Purpose,
    writer: String,
    path: &'p (String, Span),
    if_exists: IfExists,
}

fn wanted(plan: &PhysicalPlan) -> Vec<Wanted<'_>> {
    let sinks = plan.operators().filter_map(|(_, operator)| match &operator.kind {
        OperatorKind::Sink(sink) => Some(Wanted {
            purpose: Purpose::Sink,
            writer: format!("sink `{}`", sink.sink.label),
            path: &sink.sink.path,
            if_exists: sink.sink.if_exists,
        }),
        _ => None,
    });
    let dead_letters = plan.dead_letters.files.iter().map(|file| Wanted {
        purpose: Purpose::DeadLetters,
        writer: "the dead-letter file".to_string(),
        path: &file.path,
        if_exists: IfExists::Overwrite,
    });
    sinks.chain(dead_letters).collect()
}

impl Wanted<'_> {
    fn resolve(self, options: &Options) -> Result<Destination, Box<Diagnostic>> {
        let (display, span) = self.path;
        let path = options.base_dir.join(display);
        let path = match path.is_symlink() {
            true => path.canonicalize().unwrap_or(path),
            false => path,
        };
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
        let mut found = Destination { purpose, writer, display, span: *span, folder, path, unsuffixed };
        found.settle();
        Ok(found)
    }

    fn folder(&self, path: &Path) -> Result<PathBuf, Box<Diagnostic>> {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folder.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok(folder),
            _ => Err(self.refuse("is in a folder that is not there", "create the folder first; a run does not")),
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

/// `out.csv` as `out-1.csv`.
fn suffixed(path: &Path, number: u64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        Some(extension) => path.with_file_name(format!("{stem}-{number}.{}", extension.to_string_lossy())),
        None => path.with_file_name(format!("{stem}-{number}")),
    }
}

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
    }
    for source in sources {
        for file in &source.files {
            let Ok(input) = file.path.canonicalize() else { continue };
            for one in found.iter().filter(|one| one.path == input) {
                let name = &source.operator.name;
                let message = format!("{} would write over {}, which source `{name}` reads", one.writer, file.display);
                findings.push(collision(message, one, file.span, "read here"));
            }
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
