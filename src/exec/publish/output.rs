//! One output while it is being written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::{Failure, system_limit};

use super::Destination;

/// A hidden file that becomes an output. Dropped unpublished, it removes the file.
pub(crate) struct Output {
    destination: Destination,
    hidden: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    /// Whether the hidden file is gone: renamed.
    done: bool,
}

/// Small pieces are gathered up to this many bytes; a block's worth of output is written as it is.
const BUFFER: usize = 64 * 1024;

impl Output {
    /// An output that is written to its `hidden` file, which is new.
    pub(super) fn new(destination: &Destination, hidden: PathBuf, file: File) -> Self {
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { destination: destination.clone(), hidden, file, bytes: 0, done: false }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| self.failure(&error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// The path as configured, with its suffix where it got one.
    pub fn display(&self) -> &str {
        &self.destination.display
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn path(&self) -> &Path {
        &self.destination.path
    }

    pub(super) fn hidden(&self) -> &Path {
        &self.hidden
    }

    /// Writes out what is still buffered and gives the file the permissions of the one it replaces.
    ///
    /// The bytes are with the operating system then, which is enough when a program is killed. They are not forced to
    /// the disk: that takes longer than many a run, and no other tool that writes files does it unasked.
    pub(super) fn complete(&mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|error| self.failure(&error))?;
        if let Ok(meta) = std::fs::metadata(&self.destination.path) {
            // Best effort: the bytes matter more than who may read them being just as before.
            let _ = std::fs::set_permissions(&self.hidden, meta.permissions());
        }
        Ok(())
    }

    /// Takes the next free name if the one found at the start has been taken since.
    pub(super) fn settle_name(&mut self) {
        self.destination.settle();
    }

    /// Notes that the hidden file is at its destination.
    pub(super) fn published(&mut self) {
        self.done = true;
    }

    pub(super) fn failure(&self, error: &io::Error) -> Failure {
        Failure::new(finding(&self.destination.display, self.destination.span, error, self.bytes), 4)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.done {
            let _ = std::fs::remove_file(&self.hidden);
        }
    }
}

/// An output that can't be written, or can't be written on behind so many bytes.
pub(super) fn finding(display: &str, span: Span, error: &io::Error, bytes: u64) -> Diagnostic {
    let message = match bytes {
        0 => format!("{display} can't be written: {error}"),
        _ => format!("{display} can't be written on after {bytes} bytes: {error}"),
    };
    Diagnostic::error(Code::E394, message).label(span, "asked for here").help_opt(system_limit::help(error))
}
