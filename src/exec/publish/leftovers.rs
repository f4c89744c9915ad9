//! The names of a run's hidden files, and what becomes of those whose run was killed.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::journal::Journal;

/// Hexadecimal digits of a run's id.
const ID: usize = 32;
const MARK: &str = ".clinker-";

/// The name of a run's own file in each folder it writes to.
pub(super) fn run_file_name(id: &str) -> String {
    format!("{MARK}{id}.run")
}

/// The hidden file number `number` of a run, beside `path`.
pub(super) fn hidden_name(path: &Path, id: &str, number: usize, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Room is left for the rest of the name: most file systems take 255 bytes.
    let shown: String = name.chars().take(40).collect();
    path.with_file_name(format!(".{shown}{MARK}{id}-{number}.{suffix}"))
}

/// Whether a file's name is one that a run gives to its hidden files.
pub(crate) fn is_own_file(name: &str) -> bool {
    run_of(name).is_some()
}

/// The id of the run that a hidden file belongs to.
fn run_of(name: &str) -> Option<&str> {
    let (_, tail) = name.strip_prefix('.').and(name.rsplit_once(MARK))?;
    let (id, rest) = tail.split_at_checked(ID)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_ours = rest == ".run" || (rest.starts_with('-') && (rest.ends_with(".tmp") || rest.ends_with(".bak")));
    (is_id && is_ours).then_some(id)
}

/// Completes or clears away what killed runs left in a folder. Files of living runs are not touched.
pub(super) fn clear(folder: &Path) -> io::Result<()> {
    let mut runs: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    // In a folder that can be written to but not listed, nothing can be found.
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        if let Some(id) = name.to_str().and_then(run_of) {
            runs.entry(id.to_string()).or_default().push(entry.path());
        }
    }
    runs.iter().try_for_each(|(id, files)| clear_run(folder, id, files))
}

fn clear_run(folder: &Path, id: &str, files: &[PathBuf]) -> io::Result<()> {
    let path = folder.join(run_file_name(id));
    // A run makes its run file first and removes it last, so without one it is over.
    let mut run_file = match File::options().read(true).write(true).open(&path) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return Ok(()),
    };
    if let Some(file) = &mut run_file {
        match file.try_lock() {
            Ok(()) => {
                for served in Journal::recover(file)? {
                    let _ = std::fs::remove_file(served.join(run_file_name(id)));
                }
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(()),
        }
    }
    for file in files {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}
