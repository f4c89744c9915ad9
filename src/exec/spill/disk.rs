//! The folder that runs are written to, how much was written, and what is said when it fails.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::plan::explain::layout::size;

/// Where a run of the program spills to.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    /// Bytes of records in a frame, before they are compressed.
    frame: usize,
    fan_in: usize,
    faults: DiskFaults,
    writes: AtomicU64,
    reads: AtomicU64,
    /// For each memory consumer.
    volumes: Vec<(AtomicU64, AtomicU64)>,
}

/// What a memory consumer has spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Volume {
    /// Bytes of its records.
    pub raw: u64,
    /// Bytes that were written for them.
    pub stored: u64,
}

/// Makes an operation of the spill folder fail, to test what a run does then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskFaults {
    /// Which write fails, from 1.
    pub write: Option<u64>,
    /// Which read fails, from 1.
    pub read: Option<u64>,
}

/// Smallest and largest frame.
const FRAME: (u64, u64) = (1 << 10, 256 << 10);
/// Fewest and most runs that are read at once.
const FAN_IN: (u64, u64) = (2, 64);

impl Disk {
    /// Spills to `folder`, sized for a memory limit of `limit` bytes: the frames of a merge take at most a quarter of it.
    pub fn new(folder: PathBuf, limit: u64, consumers: usize, faults: DiskFaults) -> Self {
        let frame = (limit / 128).clamp(FRAME.0, FRAME.1);
        let fan_in = (limit / 4 / frame).clamp(FAN_IN.0, FAN_IN.1);
        let volumes = (0..consumers).map(|_| <(AtomicU64, AtomicU64)>::default()).collect();
        let (writes, reads) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { folder, frame: frame as usize, fan_in: fan_in as usize, faults, writes, reads, volumes }
    }

    /// What a memory consumer has spilled so far. Runs that were merged into longer ones count again.
    pub fn volume(&self, consumer: usize) -> Volume {
        let (raw, stored) = &self.volumes[consumer];
        Volume { raw: raw.load(Ordering::Relaxed), stored: stored.load(Ordering::Relaxed) }
    }

    /// A file without a name.
    pub(super) fn create(&self) -> Result<File, Failure> {
        tempfile::tempfile_in(&self.folder).map_err(|error| self.write_failure(0, &error))
    }

    /// Bytes of records in a frame, before they are compressed.
    pub(super) fn frame(&self) -> usize {
        self.frame
    }

    /// Most runs that are read at once.
    pub(super) fn fan_in(&self) -> usize {
        self.fan_in
    }

    /// Counts a write of a consumer; fails if it is the one that is to fail.
    pub(super) fn writing(&self, consumer: usize, raw: usize, stored: usize) -> io::Result<()> {
        let (all_raw, all_stored) = &self.volumes[consumer];
        all_raw.fetch_add(raw as u64, Ordering::Relaxed);
        all_stored.fetch_add(stored as u64, Ordering::Relaxed);
        fail_if_chosen(&self.writes, self.faults.write)
    }

    /// Counts a read; fails if it is the one that is to fail.
    pub(super) fn reading(&self) -> io::Result<()> {
        fail_if_chosen(&self.reads, self.faults.read)
    }

    /// `wanted` bytes could not be written.
    pub(super) fn write_failure(&self, wanted: usize, error: &io::Error) -> Failure {
        let folder = self.folder.display();
        let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let written: u64 = self.volumes.iter().map(|(_, stored)| stored.load(Ordering::Relaxed)).sum();
        let so_far = format!("this run has spilled {} there so far", size(written));
        let diagnostic = match is_full {
            true => Diagnostic::error(
                Code::E321,
                format!("the spill folder {folder} is full: {} more were to be written", size(wanted as u64)),
            )
            .note(so_far)
            .help("make room there, name another folder with `--spill-dir`, or raise `memory.limit` to spill less"),
            false => Diagnostic::error(
                Code::E320,
                format!("{} could not be written to the spill folder {folder}: {error}", size(wanted as u64)),
            )
            .note(so_far)
            .help("name a folder that can be written to with `--spill-dir`, or raise `memory.limit` to spill less"),
        };
        Failure::new(diagnostic, 4)
    }

    /// What was written can't be read back.
    pub(super) fn read_failure(&self, error: &io::Error) -> Failure {
        let folder = self.folder.display();
        let message = format!("what was spilled to {folder} can't be read back: {error}");
        let help = "check that disk, or name another folder with `--spill-dir`, and run again; no output was changed";
        Failure::new(Diagnostic::error(Code::E320, message).help(help), 4)
    }
}

fn fail_if_chosen(count: &AtomicU64, chosen: Option<u64>) -> io::Result<()> {
    let number = count.fetch_add(1, Ordering::Relaxed) + 1;
    match chosen {
        Some(chosen) if chosen == number => Err(io::Error::other("a fault that was asked for")),
        _ => Ok(()),
    }
}
