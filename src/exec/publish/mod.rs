//! Outputs appear all together or not at all.
//!
//! Every output is written to a hidden file beside its destination. At the end they are renamed into place; if one
//! rename fails, those before it are undone. In each folder that a run writes to stands a small hidden run file, which
//! the run holds locked: it tells other runs that the hidden files with the same id have a living owner, and before
//! the first rename the list of all renames is written into it. So the next run can tell what a killed run left
//! behind, and removes it, or completes the renames.

mod destinations;
mod journal;
mod leftovers;
mod output;

use destinations::failed_path;
pub(crate) use destinations::{Destination, Purpose, destinations};
pub(crate) use leftovers::is_own_file;
pub(crate) use output::Output;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::{Failure, system_limit};

use journal::{Journal, Move};

/// A run's place in the folders it writes to.
pub(crate) struct Workspace {
    id: String,
    folders: Vec<RunFile>,
    /// How many hidden names were given so far.
    files: usize,
    /// How many outputs there are.
    outputs: usize,
}

/// A run's locked file in one folder; gone when dropped.
struct RunFile {
    path: PathBuf,
    file: File,
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Best effort: what stays behind is removed by the next run.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Workspace {
    /// Takes up work in the folders of `destinations` under a fresh hexadecimal `id`, after clearing away what killed
    /// runs left there.
    pub fn open(id: &str, destinations: &[Destination]) -> Result<Self, Failure> {
        let folders: BTreeSet<&Path> = destinations.iter().map(|d| d.folder.as_path()).collect();
        let outputs = destinations.len();
        let mut workspace = Self { id: id.to_string(), folders: Vec::new(), files: 0, outputs };
        for folder in folders {
            let file = leftovers::clear(folder).and_then(|()| RunFile::create(folder, id));
            workspace.folders.push(file.map_err(|error| folder_failure(folder, &error))?);
        }
        Ok(workspace)
    }

    /// Starts an output: creates its hidden file.
    pub fn create(&mut self, destination: &Destination) -> Result<Output, Failure> {
        self.files += 1;
        let hidden = leftovers::hidden_name(&destination.path, &self.id, self.files, "tmp");
        let file = File::options().write(true).create_new(true).open(&hidden);
        let file = file.map_err(|error| Failure::new(self.not_created(destination, &error), 4))?;
        Ok(Output::new(destination, hidden, file))
    }

    /// What there is to say about an output whose file can't be made.
    fn not_created(&self, destination: &Destination, error: &io::Error) -> Diagnostic {
        let finding = output::finding(&destination.display, destination.span, error, 0);
        if !system_limit::is_too_many_files(error) {
            return finding;
        }
        let (outputs, folders) = (self.outputs, self.folders.len());
        let folders_named = if folders == 1 { "the folder".to_owned() } else { format!("the {folders} folders") };
        let written = outputs + folders;
        finding.note(format!(
            "{written} files are open at once to be written: {outputs} outputs, dead letters included, and a run file in \
             {folders_named}; inputs, and rows that don't fit the memory limit, take more"
        ))
    }

    /// Renames all outputs into place, or none.
    pub fn publish(mut self, outputs: &mut [&mut Output]) -> Result<(), Failure> {
        for output in outputs.iter_mut() {
            output.complete()?;
        }
        let journal = self.plan(outputs);
        for folder in &mut self.folders {
            let written = journal.write(&mut folder.file);
            written.map_err(|error| folder_failure(folder.path.parent().unwrap_or(&folder.path), &error))?;
        }
        for (position, step) in journal.moves.iter().enumerate() {
            if let Err(error) = step.perform() {
                self.undo(&journal.moves[..=position]);
                return Err(outputs[position].failure(&error));
            }
            outputs[position].published();
        }
        // From here on nothing can go back: first the lists vanish, then the kept files.
        self.folders.clear();
        journal.moves.iter().for_each(Move::forget);
        Ok(())
    }

    fn plan(&mut self, outputs: &mut [&mut Output]) -> Journal {
        let moves = outputs.iter_mut().map(|output| {
            output.settle_name();
            self.files += 1;
            let to = output.path().to_path_buf();
            let kept = leftovers::hidden_name(&to, &self.id, self.files, "bak");
            let (from, bytes) = (output.hidden().to_path_buf(), output.bytes());
            Move { from, bytes, replaces: to.exists(), to, kept }
        });
        Journal { moves: moves.collect() }
    }

    fn undo(&mut self, moves: &[Move]) {
        for folder in &mut self.folders {
            // Best effort, as all of this: it only matters if the run is killed in the middle of it.
            let _ = Journal::withdraw(&mut folder.file);
        }
        moves.iter().rev().for_each(Move::undo);
    }
}

impl RunFile {
    fn create(folder: &Path, id: &str) -> io::Result<Self> {
        let path = folder.join(leftovers::run_file_name(id));
        loop {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
            // Where locks are not supported, nobody can take it for a dead run's either.
            let _ = file.lock();
            // Another run may have taken it for a dead run's before it was locked.
            if path.exists() {
                return Ok(Self { path, file });
            }
        }
    }
}

/// Keeps outputs of a failed run under other names: each goes to its path followed by `.failed`.
pub(crate) fn keep_as_failed(outputs: &mut [&mut Output]) -> Vec<String> {
    let mut kept = Vec::new();
    for output in outputs {
        let name = failed_path(output.path());
        if output.complete().is_ok() && std::fs::rename(output.hidden(), &name).is_ok() {
            output.published();
            kept.push(format!("{}.failed", output.display()));
        }
    }
    kept
}

fn folder_failure(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("the folder {} can't be written to: {error}", folder.display());
    Failure::new(Diagnostic::error(Code::E394, message).help_opt(system_limit::help(error)), 4)
}
