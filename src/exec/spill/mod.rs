//! What does not fit the memory limit, on disk.
//!
//! A structure that can spill owns a [`Spilled`] and writes sorted runs to it: records, each a key and a payload, in the
//! order of their keys, which are bytes that compare as the records are to come. Read back, the runs are merged into one
//! sequence. Records with equal keys come run by run, in the order in which the runs were written, and within a run as
//! they were written; so a structure that spills what it got in the order it got it keeps that order for free. A run
//! whose keys are all behind those of the run before it continues that one: input that comes in order is read back
//! as one run, and so are records without a key.
//!
//! A run is a sequence of frames: whole records, compressed with lz4, behind their length and a checksum. The file has
//! no name, so that the system takes it away however the process ends, and nobody else can open it.

mod disk;
mod frame;
mod merge;
mod run;
mod sorter;

pub use disk::{Damage, Disk, DiskFaults, Volume};
pub use merge::Merge;
pub use run::RunWriter;
pub use sorter::Sorter;

use std::collections::VecDeque;
use std::sync::Arc;

use super::Failure;
use super::memory::{Charge, Exceeded};
use run::{Run, Written};

/// What was spilled at a time: its key and its payload.
pub type Record<'a> = (&'a [u8], &'a [u8]);

/// The runs of one structure.
pub struct Spilled<'p> {
    disk: &'p Disk<'p>,
    /// The memory consumer whose rows they are.
    consumer: usize,
    runs: Vec<Run>,
    /// The key of the last record.
    last: Vec<u8>,
    /// Bytes of records in a frame.
    frame: usize,
}

/// Why runs can't be read back.
#[derive(Debug)]
pub enum MergeError {
    /// The memory limit leaves no room for two frames.
    Exceeded(Exceeded),
    /// It leaves no room for a record that is larger than a frame is meant to be: `bytes` of it.
    Giant {
        /// What the record takes.
        bytes: u64,
        /// What would be in use with it.
        exceeded: Exceeded,
    },
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
    pub fn new(disk: &'p Disk<'p>, consumer: usize) -> Self {
        Self { disk, consumer, runs: Vec::new(), last: Vec::new(), frame: disk.frame() }
    }

    /// The same in frames that are so many times smaller than usual, for a structure that writes several runs at once.
    pub fn in_smaller_frames(disk: &'p Disk<'p>, consumer: usize, times: usize) -> Self {
        const SMALLEST: usize = 512;
        Self { frame: (disk.frame() / times).max(SMALLEST), ..Self::new(disk, consumer) }
    }

    /// Whether nothing was spilled.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many records the runs have.
    pub fn records(&self) -> u64 {
        self.runs.iter().map(|run| run.records).sum()
    }

    /// How many runs there are. One that begins where the one before ends is part of it.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Writes a run: `fill` gives its records in the order of their keys. Fails with E320 or E321 if the disk does.
    pub fn write(&mut self, fill: impl FnOnce(&mut RunWriter<'p>) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut writer = self.begin()?;
        fill(&mut writer)?;
        self.end(writer)
    }

    /// Begins a run, which has to [end](Self::end) before another one begins.
    pub fn begin(&mut self) -> Result<RunWriter<'p>, Failure> {
        let (file, start) = match self.runs.last() {
            Some(run) => (Arc::clone(&run.file), run.range.end),
            None => (Arc::new(self.disk.create(self.consumer)?), 0),
        };
        Ok(RunWriter::new(self.disk, file, self.consumer, start, self.frame))
    }

    /// Ends a run.
    pub fn end(&mut self, writer: RunWriter<'p>) -> Result<(), Failure> {
        let Written { run, first, last } = writer.finish()?;
        if run.records > 0 {
            self.add(run, &first, last);
        }
        Ok(())
    }

    /// Adds a run that was written behind the last one. If all its keys are behind those of that one, both are one: what
    /// comes in order, or has no keys, is never merged.
    fn add(&mut self, run: Run, first: &[u8], last: Vec<u8>) {
        match self.runs.last_mut() {
            Some(before) if self.last.as_slice() <= first => {
                before.range.end = run.range.end;
                before.records += run.records;
                before.largest = before.largest.max(run.largest);
            }
            _ => self.runs.push(run),
        }
        self.last = last;
    }

    /// All records in order. Where there are more runs than may be open at once, some are merged into longer ones
    /// first. The frames that are read are charged to `charge`, which the merge keeps.
    pub fn merge(mut self, mut charge: Charge<'p>) -> Result<Merge<'p>, MergeError> {
        let held = charge.held();
        loop {
            let open = self.reserve(&mut charge, self.runs.iter())?;
            if open == self.runs.len() {
                return Ok(Merge::new(self.disk, self.runs, Some(charge))?);
            }
            charge.give_back(charge.held() - held);
            self.merge_some(&mut charge, open)?;
        }
    }

    /// Reserves what reading the first of some runs takes, as many as there may be. Gives their number: at least two,
    /// or all.
    fn reserve<'r>(
        &self,
        charge: &mut Charge<'p>,
        runs: impl ExactSizeIterator<Item = &'r Run>,
    ) -> Result<usize, MergeError> {
        // Beside the records of a frame of each there is one frame as it is stored, and two for writing.
        let (all, frame) = (runs.len(), self.disk.frame() as u64);
        let mut most = charge.take(3 * frame).map_err(MergeError::Exceeded).map(|()| self.disk.fan_in().min(all))?;
        for (position, run) in runs.take(most).enumerate() {
            if let Err(exceeded) = charge.take(u64::from(run.largest)) {
                if position < 2 {
                    return Err(MergeError::new(u64::from(run.largest), frame, exceeded));
                }
                most = position;
                break;
            }
        }
        Ok(most)
    }

    /// Makes fewer runs of them, `most` if that takes one pass. Neighbours become one, so that their order stays.
    fn merge_some(&mut self, charge: &mut Charge<'p>, most: usize) -> Result<(), MergeError> {
        let held = charge.held();
        let mut rest = VecDeque::from(std::mem::take(&mut self.runs));
        let mut merged = Spilled::new(self.disk, self.consumer);
        while merged.runs.len() + rest.len() > most && rest.len() > 1 {
            let open = self.reserve(charge, rest.iter())?;
            let needed = merged.runs.len() + rest.len() - most + 1;
            merged.write_merged(rest.drain(..open.min(needed)).collect())?;
            charge.give_back(charge.held() - held);
        }
        self.runs = merged.runs;
        self.runs.extend(rest);
        Ok(())
    }

    fn write_merged(&mut self, runs: Vec<Run>) -> Result<(), Failure> {
        let mut merge = Merge::new(self.disk, runs, None)?;
        self.write(|writer| {
            while let Some((key, payload)) = merge.next()? {
                writer.push(key, payload)?;
            }
            Ok(())
        })
    }
}

impl MergeError {
    /// There is no room for a frame of `bytes`.
    fn new(bytes: u64, frame: u64, exceeded: Exceeded) -> Self {
        if bytes > frame { MergeError::Giant { bytes, exceeded } } else { MergeError::Exceeded(exceeded) }
    }
}

/// The first bytes of a key as a number that compares as they do.
fn prefix(key: &[u8]) -> u128 {
    let mut first = [0; 16];
    match key.first_chunk() {
        Some(chunk) => first = *chunk,
        None => first[..key.len()].copy_from_slice(key),
    }
    u128::from_be_bytes(first)
}
