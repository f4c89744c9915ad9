//! The list of renames that a run writes down before the first of them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// All renames of one run.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Journal {
    /// In order.
    pub moves: Vec<Move>,
}

/// One rename.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Move {
    /// The hidden file.
    pub from: PathBuf,
    /// How long it is.
    pub bytes: u64,
    /// Its destination.
    pub to: PathBuf,
    /// Whether there is a previous file.
    pub replaces: bool,
    /// Where the previous file is kept until all renames are done.
    pub kept: PathBuf,
}

/// Follows the list when its run gave up and put the previous files back.
const WITHDRAWN: &str = "withdrawn\n";

impl Journal {
    /// Writes the list as one line; it counts only once its line end is there.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        file.write_all((serde_json::to_string(self)? + "\n").as_bytes())
    }

    /// Notes that the run takes its renames back.
    pub fn withdraw(file: &mut File) -> io::Result<()> {
        file.write_all(WITHDRAWN.as_bytes())
    }

    /// Completes what a killed run had begun, if its list is complete: all renames that are left; or all undoing, if
    /// the run gave up or a hidden file is not whole, as after a power failure.
    ///
    /// Gives the folders whose list has served: each of them has its own copy.
    pub fn recover(file: &mut File) -> io::Result<BTreeSet<PathBuf>> {
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let Some((list, rest)) = text.split_once('\n') else { return Ok(BTreeSet::new()) };
        let Ok(journal) = serde_json::from_str::<Journal>(list) else { return Ok(BTreeSet::new()) };
        if rest == WITHDRAWN || !journal.moves.iter().all(Move::is_whole) {
            journal.moves.iter().rev().for_each(Move::undo);
        } else {
            journal.moves.iter().try_for_each(Move::complete)?;
        }
        journal.moves.iter().for_each(Move::forget);
        Ok(journal.moves.iter().filter_map(|step| step.to.parent()).map(Path::to_path_buf).collect())
    }
}

impl Move {
    /// Keeps the previous file and puts the new one in its place.
    pub fn perform(&self) -> io::Result<()> {
        match std::fs::hard_link(&self.to, &self.kept) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A folder has taken the place.
            Err(_) if self.to.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // Not every file system has hard links.
            Err(_) => std::fs::rename(&self.to, &self.kept)?,
        }
        std::fs::rename(&self.from, &self.to)
    }

    /// Whether the hidden file, if it is still there, has the length it was written with.
    fn is_whole(&self) -> bool {
        std::fs::metadata(&self.from).map_or(true, |meta| meta.len() == self.bytes)
    }

    /// Puts the new file in its place unless that was done already.
    fn complete(&self) -> io::Result<()> {
        if self.from.exists() { std::fs::rename(&self.from, &self.to) } else { Ok(()) }
    }

    /// Puts the previous file back, or removes the new one where there was none. Done twice, it does no harm.
    pub fn undo(&self) {
        if self.kept.exists() {
            let _ = std::fs::rename(&self.kept, &self.to);
            // Where both still are one file, that did nothing.
            remove(&self.kept);
        } else if !self.replaces && !self.from.exists() {
            remove(&self.to);
        }
    }

    /// Removes the files that only an unfinished publication needs.
    pub fn forget(&self) {
        remove(&self.kept);
        remove(&self.from);
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
