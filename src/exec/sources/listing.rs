//! Finds paths by pattern. Names need not be text, and a folder that can't be listed is reported: what it holds must
//! not be missing unnoticed.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// What a walk through folders came to.
#[derive(Default)]
pub(super) struct Listing {
    /// What was found, folders and files, in any order and perhaps twice.
    pub paths: Vec<PathBuf>,
    /// The folders that could not be listed.
    pub unlisted: Vec<(PathBuf, io::Error)>,
}

/// What matches a valid glob `pattern`: `**` stands for any number of folders that are no links, `*`, `?` and `[…]`
/// for no hidden name.
pub(super) fn glob(pattern: &str, base: &Path) -> Listing {
    let mut listing = Listing::default();
    let mut start = base.to_path_buf();
    let mut parts = Vec::new();
    for component in Path::new(pattern).components() {
        match component {
            Component::CurDir => {}
            // An absolute pattern begins anew.
            Component::Prefix(_) | Component::RootDir => start.push(component),
            Component::ParentDir | Component::Normal(_) => parts.push(component.as_os_str().to_string_lossy()),
        }
    }
    let mut reached = vec![start];
    for part in parts {
        reached = match &*part {
            "**" => reached.iter().flat_map(|folder| listing.folders_below(folder)).collect(),
            name if name.contains(['*', '?', '[']) => listing.matching(&reached, name),
            name => reached.iter().map(|folder| folder.join(name)).collect(),
        };
    }
    listing.paths = reached;
    listing
}

/// Every path below a folder but folders, links to folders not followed.
pub(super) fn everything(base: &Path) -> Listing {
    let mut listing = Listing::default();
    let mut folders = vec![base.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for (path, _, is_folder) in listing.entries(&folder) {
            if is_folder { folders.push(path) } else { listing.paths.push(path) }
        }
    }
    listing
}

impl Listing {
    fn matching(&mut self, folders: &[PathBuf], name: &str) -> Vec<PathBuf> {
        let Ok(pattern) = Pattern::new(name) else { return Vec::new() };
        let entries = folders.iter().flat_map(|folder| self.entries(folder));
        let fits = |name: &OsString| pattern.matches_with(&name.to_string_lossy(), OPTIONS);
        entries.filter(|(_, name, _)| fits(name)).map(|(path, ..)| path).collect()
    }

    /// A folder and all below it that are not hidden.
    fn folders_below(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut folders = vec![folder.to_path_buf()];
        let mut next = 0;
        while next < folders.len() {
            let entries = self.entries(&folders[next]).into_iter();
            let shown = entries.filter(|(_, name, is_folder)| *is_folder && !name.to_string_lossy().starts_with('.'));
            folders.extend(shown.map(|(path, ..)| path));
            next += 1;
        }
        folders
    }

    /// Path and name of what is in a folder, and whether it is a folder itself. Empty if it is no folder.
    fn entries(&mut self, folder: &Path) -> Vec<(PathBuf, OsString, bool)> {
        let listed = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        match listed {
            Ok(entries) => {
                let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
                entries.iter().map(|entry| (entry.path(), entry.file_name(), is_folder(entry))).collect()
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Vec::new(),
            Err(error) => {
                if self.unlisted.iter().all(|(known, _)| known != folder) {
                    self.unlisted.push((folder.to_path_buf(), error));
                }
                Vec::new()
            }
        }
    }
}
