//! The folder that runs are written to, how much was written, and what is said when it fails.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::{Failure, Observer, system_limit};
use crate::plan::explain::layout::size;

/// Where a run of the program spills to.
pub struct Disk<'p> {
    folder: PathBuf,
    /// What names that folder, for messages.
    named_by: Option<&'static str>,
    /// Bytes of records in a frame, before they are compressed.
    frame: usize,
    fan_in: usize,
    faults: DiskFaults,
    writes: AtomicU64,
    reads: AtomicU64,
    /// Asked before each write whether the run goes on.
    observer: &'p dyn Observer,
    /// For each memory consumer.
    consumers: Vec<Consumer>,
}

/// What was spilled for one memory consumer.
#[derive(Debug)]
struct Consumer {
    name: String,
    raw: AtomicU64,
    stored: AtomicU64,
}

/// What a memory consumer has spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Volume {
    /// Bytes of its records.
    pub raw: u64,
    /// Bytes that were written for them.
    pub stored: u64,
}

/// Makes an operation of the spill folder fail, to test what a run does then. Operations count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskFaults {
    /// The write that fails.
    pub write: Option<u64>,
    /// The write that finds the disk full.
    pub full: Option<u64>,
    /// The read that fails.
    pub read: Option<u64>,
    /// The read that gives something else than was written.
    pub damage: Option<(u64, Damage)>,
}

/// One bit that is not as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    /// Its byte in the frame, header included; there is none that far behind in a shorter frame.
    pub byte: usize,
    /// Its place in the byte, from 0 to 7.
    pub bit: u8,
}

impl Damage {
    /// Damages these bytes, which begin at `start` in the frame, if it is in them.
    pub(super) fn apply(damage: Option<Self>, start: usize, bytes: &mut [u8]) {
        let Some(Damage { byte, bit }) = damage else { return };
        if let Some(byte) = byte.checked_sub(start).and_then(|at| bytes.get_mut(at)) {
            *byte ^= 1 << bit;
        }
    }
}

/// Smallest and largest frame.
const FRAME: (u64, u64) = (1 << 10, 256 << 10);
/// Fewest and most runs that are read at once.
const FAN_IN: (u64, u64) = (2, 256);

impl<'p> Disk<'p> {
    /// Spills to `folder`, sized for a memory limit of `limit` bytes: the frames of a merge take at most a quarter of it.
    /// The memory consumers go by their position. `observer` may stop the run between two writes.
    pub fn new(
        folder: PathBuf,
        limit: u64,
        consumers: impl IntoIterator<Item = String>,
        faults: DiskFaults,
        observer: &'p dyn Observer,
    ) -> Self {
        let frame = (limit / 1024).clamp(FRAME.0, FRAME.1);
        let fan_in = (limit / 4 / frame).clamp(FAN_IN.0, FAN_IN.1);
        let consumer = |name| Consumer { name, raw: AtomicU64::new(0), stored: AtomicU64::new(0) };
        let consumers = consumers.into_iter().map(consumer).collect();
        let (writes, reads) = (AtomicU64::new(0), AtomicU64::new(0));
        let (frame, fan_in) = (frame as usize, fan_in as usize);
        Self { folder, named_by: None, frame, fan_in, faults, writes, reads, observer, consumers }
    }

    /// The same; messages say what named the folder.
    pub fn named_by(self, named_by: Option<&'static str>) -> Self {
        Self { named_by, ..self }
    }

    /// Whether a file can be made in the folder. Fails with E320 if not.
    pub fn check(&self) -> Result<(), Failure> {
        self.file().map(drop).map_err(|error| Failure::new(self.no_file(&error), 4))
    }

    /// What a memory consumer has spilled so far. Runs that were merged into longer ones count again.
    pub fn volume(&self, consumer: usize) -> Volume {
        let Consumer { raw, stored, .. } = &self.consumers[consumer];
        Volume { raw: raw.load(Ordering::Relaxed), stored: stored.load(Ordering::Relaxed) }
    }

    /// A new file without a name.
    pub(super) fn create(&self, consumer: usize) -> Result<File, Failure> {
        self.file().map_err(|error| self.while_spilling(consumer, self.no_file(&error)))
    }

    /// A new file without a name, for its owner only.
    fn file(&self) -> io::Result<File> {
        let file = tempfile::tempfile_in(&self.folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    /// No file can be made in the folder.
    fn no_file(&self, error: &io::Error) -> Diagnostic {
        let folder = self.folder.display();
        let named_by = self.named_by.map_or_else(String::new, |name| format!(", which `{name}` names"));
        let message = format!("no file can be made in the spill folder {folder}{named_by}: {error}");
        let help = "name a folder that can be written to with `--spill-dir`";
        Diagnostic::error(Code::E320, message).help(help).help_opt(system_limit::help(error))
    }

    /// Bytes of records in a frame, before they are compressed.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Most runs that are read at once.
    pub(super) fn fan_in(&self) -> usize {
        self.fan_in
    }

    /// Whether somebody asked the run to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.observer.interrupted()
    }

    /// Asks before a write; fails if it is the one that is to fail.
    pub(super) fn writing(&self) -> io::Result<()> {
        let number = Some(self.writes.fetch_add(1, Ordering::Relaxed) + 1);
        match number {
            _ if number == self.faults.write => Err(asked_for()),
            _ if number == self.faults.full => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Counts what was written for a consumer.
    pub(super) fn wrote(&self, consumer: usize, raw: usize, stored: usize) {
        let consumer = &self.consumers[consumer];
        consumer.raw.fetch_add(raw as u64, Ordering::Relaxed);
        consumer.stored.fetch_add(stored as u64, Ordering::Relaxed);
    }

    /// Counts a read; fails if it is the one that is to fail, or tells what damages it.
    pub(super) fn reading(&self) -> io::Result<Option<Damage>> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        let damage = self.faults.damage.filter(|(read, _)| *read == number);
        if Some(number) == self.faults.read { Err(asked_for()) } else { Ok(damage.map(|(_, damage)| damage)) }
    }

    /// `wanted` bytes of a consumer could not be written.
    pub(super) fn write_failure(&self, consumer: usize, wanted: usize, error: &io::Error) -> Failure {
        let (folder, wanted) = (self.folder.display(), size(wanted as u64));
        let diagnostic = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Diagnostic::error(
                Code::E321,
                format!("the spill folder {folder} is full: {wanted} more were to be written"),
            )
            .help("make room there, name another folder with `--spill-dir`, or raise `memory.limit` to spill less"),
            _ => {
                let message = format!("{wanted} could not be written to the spill folder {folder}: {error}");
                let help = "name a folder that can be written to with `--spill-dir`";
                let help = format!("{help}, or raise `memory.limit` to spill less");
                Diagnostic::error(Code::E320, message).help(help).help_opt(system_limit::help(error))
            }
        };
        self.while_spilling(consumer, diagnostic)
    }

    /// A failure while a consumer was spilling.
    fn while_spilling(&self, consumer: usize, diagnostic: Diagnostic) -> Failure {
        let written: u64 = self.consumers.iter().map(|consumer| consumer.stored.load(Ordering::Relaxed)).sum();
        let (name, so_far) = (&self.consumers[consumer].name, size(written));
        Failure::new(diagnostic.note(format!("{name} was spilling; this run has spilled {so_far} so far")), 4)
    }

    /// What was written can't be read back.
    pub(super) fn read_failure(&self, error: &io::Error) -> Failure {
        let folder = self.folder.display();
        let message = format!("what was spilled to {folder} can't be read back: {error}");
        let help = "check that disk, or name another folder with `--spill-dir`, and run again; no output was changed";
        Failure::new(Diagnostic::error(Code::E320, message).help(help), 4)
    }
}

fn asked_for() -> io::Error {
    io::Error::other("a fault that was asked for")
}
