//! What does not fit the memory limit, on disk.
//!
//! A structure that can spill owns a [`Spilled`] and writes sorted runs to it: records, each a key and a payload, in the
//! order of their keys, which are bytes that compare as the records are to come. Read back, the runs are merged into one
//! sequence. Records with equal keys come run by run, in the order in which the runs were written, and within a run as
//! they were written; so a structure that spills what it got in the order it got it keeps that order for free.
//!
//! A run is a sequence of frames: whole records, compressed with lz4, behind their length and a checksum. The file has
//! no name, so that the system takes it away however the process ends, and nobody else can open it.

mod disk;
mod frame;
mod merge;
mod run;

pub use disk::{Disk, DiskFaults, Volume};
pub use merge::Merge;
pub use run::RunWriter;

use std::fs::File;

use super::Failure;
use super::memory::{Charge, Exceeded};
use run::{Run, RunReader};

/// The runs of one structure.
pub struct Spilled<'p> {
    disk: &'p Disk,
    /// The memory consumer whose rows they are.
    consumer: usize,
    /// All runs, one behind the other; made when the first is written.
    file: Option<File>,
    length: u64,
    runs: Vec<Run>,
}

/// Why runs can't be read back.
pub enum MergeError {
    /// The memory limit leaves no room for two frames.
    Exceeded(Exceeded),
    /// The disk failed.
    Failed(Failure),
}

impl From<Failure> for MergeError {
    fn from(failure: Failure) -> Self {
        MergeError::Failed(failure)
    }
}

impl<'p> Spilled<'p> {
    /// No runs yet. What is written counts as spilled by `consumer`.
    pub fn new(disk: &'p Disk, consumer: usize) -> Self {
        Self { disk, consumer, file: None, length: 0, runs: Vec::new() }
    }

    /// Whether nothing was spilled.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many records the runs have.
    pub fn records(&self) -> u64 {
        self.runs.iter().map(|run| run.records).sum()
    }

    /// Writes a run: `fill` gives its records in the order of their keys. Fails with E320 or E321 if the disk does.
    pub fn write(&mut self, fill: impl FnOnce(&mut RunWriter<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.file.is_none() {
            self.file = Some(self.disk.create()?);
        }
        let file = self.file.as_ref().expect("it was just made");
        let mut writer = RunWriter::new(self.disk, file, self.consumer, self.length);
        fill(&mut writer)?;
        let run = writer.finish()?;
        self.length = run.end;
        if run.records > 0 {
            self.runs.push(run);
        }
        Ok(())
    }

    /// All records in order. Where there are more runs than may be open at once, some are merged into longer ones
    /// first. The frames that are read are charged to `charge`, which the merge keeps.
    pub fn merge(mut self, mut charge: Charge<'p>) -> Result<Merge<'p>, MergeError> {
        let most = self.reserve_frames(&mut charge)?;
        while self.runs.len() > most {
            self.merge_some(most)?;
        }
        let Self { disk, file, runs, .. } = self;
        let mut readers = Vec::with_capacity(runs.len());
        for run in runs {
            readers.push(RunReader::open(disk, run));
        }
        Ok(Merge::new(disk, file, readers, Some(charge))?)
    }

    /// How many runs are read at once: as many as there is room for, at least two.
    fn reserve_frames(&self, charge: &mut Charge<'p>) -> Result<usize, MergeError> {
        let frame = self.runs.iter().map(|run| u64::from(run.largest)).max().unwrap_or(0);
        let mut most = self.disk.fan_in().min(self.runs.len().max(2));
        loop {
            match charge.take(most as u64 * frame) {
                Ok(()) => return Ok(most),
                Err(exceeded) if most == 2 => return Err(MergeError::Exceeded(exceeded)),
                Err(_) => most = (most / 2).max(2),
            }
        }
    }

    /// Makes fewer runs of them. Neighbours become one, so that their order stays.
    fn merge_some(&mut self, most: usize) -> Result<(), Failure> {
        let runs = std::mem::take(&mut self.runs);
        let mut merged = Spilled::new(self.disk, self.consumer);
        // A few too many: only the first ones have to become one.
        let size = if runs.len() < 2 * most { runs.len() - most + 1 } else { most };
        let mut rest = runs.into_iter().peekable();
        let mut kept = Vec::new();
        while rest.peek().is_some() {
            let part: Vec<Run> = rest.by_ref().take(size).collect();
            merged.write_merged(self.disk, self.file.as_ref(), part)?;
            if size < most {
                kept = rest.by_ref().collect();
            }
        }
        for run in kept {
            merged.write_merged(self.disk, self.file.as_ref(), vec![run])?;
        }
        *self = merged;
        Ok(())
    }

    fn write_merged(&mut self, disk: &'p Disk, file: Option<&File>, runs: Vec<Run>) -> Result<(), Failure> {
        let file = file.map(File::try_clone).transpose().map_err(|error| disk.read_failure(&error))?;
        let readers = runs.into_iter().map(|run| RunReader::open(disk, run)).collect();
        let mut merge = Merge::new(disk, file, readers, None)?;
        self.write(|writer| {
            while let Some((key, payload)) = merge.next()? {
                writer.push(key, payload)?;
            }
            Ok(())
        })
    }
}
