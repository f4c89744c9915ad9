//! Tells whether a file was written to, or replaced by another one, since it was read.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// What a file looks like from outside; another stamp means other content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
}

impl Stamp {
    /// Of the file that stands at a path now.
    pub fn of_path(path: &Path) -> std::io::Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::new(&metadata))
    }

    /// Of an open file.
    pub fn of_file(file: &File) -> std::io::Result<Self> {
        file.metadata().map(|metadata| Self::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), identity: identity(metadata) }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
