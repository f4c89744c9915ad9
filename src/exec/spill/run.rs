//! Writes and reads one run.
//!
//! A record is the length of its key and the length of its payload, each in 32 bits, then both.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::disk::Disk;
use super::frame::{self, Header};
use crate::exec::Failure;

/// A run that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Where it begins in the file.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// How many records it has.
    pub records: u64,
    /// Bytes of the records of its largest frame.
    pub largest: u32,
}

/// Bytes of the lengths in front of a record.
const HEAD: usize = 8;

/// Takes the records of a run.
pub struct RunWriter<'f> {
    disk: &'f Disk,
    file: &'f File,
    consumer: usize,
    run: Run,
    records: Vec<u8>,
    stored: Vec<u8>,
}

impl<'f> RunWriter<'f> {
    /// Writes behind what the file has: `start` bytes.
    pub(super) fn new(disk: &'f Disk, file: &'f File, consumer: usize, start: u64) -> Self {
        let run = Run { start, end: start, records: 0, largest: 0 };
        Self { disk, file, consumer, run, records: Vec::new(), stored: Vec::new() }
    }

    /// Adds a record. Its key must not be before that of the last one.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), Failure> {
        self.push_parts(&[key], payload)
    }

    /// Adds a record whose key is these parts one behind the other.
    pub fn push_parts(&mut self, key: &[&[u8]], payload: &[u8]) -> Result<(), Failure> {
        let length: usize = key.iter().map(|part| part.len()).sum();
        // A frame has whole records; one that is longer than a frame has its own.
        if !self.records.is_empty() && self.records.len() + HEAD + length + payload.len() > self.disk.frame() {
            self.flush()?;
        }
        self.records.extend_from_slice(&(length as u32).to_le_bytes());
        self.records.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        key.iter().for_each(|part| self.records.extend_from_slice(part));
        self.records.extend_from_slice(payload);
        self.run.records += 1;
        Ok(())
    }

    /// Ends the run.
    pub(super) fn finish(mut self) -> Result<Run, Failure> {
        self.flush()?;
        Ok(self.run)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.records.is_empty() {
            return Ok(());
        }
        frame::encode(&self.records, &mut self.stored);
        let (raw, stored) = (self.records.len(), self.stored.len());
        let written = self.disk.writing(self.consumer, raw, stored).and_then(|()| self.write_frame());
        written.map_err(|error| self.disk.write_failure(stored, &error))?;
        self.run.end += stored as u64;
        self.run.largest = self.run.largest.max(raw as u32);
        self.records.clear();
        Ok(())
    }

    fn write_frame(&self) -> io::Result<()> {
        let mut file = self.file;
        file.seek(SeekFrom::Start(self.run.end))?;
        file.write_all(&self.stored)
    }
}

/// Reads a run, record by record.
pub(super) struct RunReader {
    run: Run,
    /// Where the next frame begins.
    next: u64,
    /// The records of the frame that is being read.
    records: Vec<u8>,
    /// Where the current record begins in it, and where its key and its payload end.
    at: usize,
    key_end: usize,
    end: usize,
}

impl RunReader {
    /// In front of the first record.
    pub fn open(_disk: &Disk, run: Run) -> Self {
        Self { next: run.start, run, records: Vec::new(), at: 0, key_end: 0, end: 0 }
    }

    /// Goes to the next record; false behind the last one. `stored` is room to work in.
    pub fn advance(&mut self, disk: &Disk, file: &File, stored: &mut Vec<u8>) -> Result<bool, Failure> {
        if self.end == self.records.len() {
            if self.next == self.run.end {
                return Ok(false);
            }
            self.read_frame(disk, file, stored).map_err(|error| disk.read_failure(&error))?;
        }
        self.find_record().map_err(|error| disk.read_failure(&error))?;
        Ok(true)
    }

    /// The key of the current record.
    pub fn key(&self) -> &[u8] {
        &self.records[self.at + HEAD..self.key_end]
    }

    /// The current record: key and payload.
    pub fn record(&self) -> (&[u8], &[u8]) {
        (self.key(), &self.records[self.key_end..self.end])
    }

    fn find_record(&mut self) -> io::Result<()> {
        self.at = self.end;
        let short = || io::Error::new(io::ErrorKind::InvalidData, "a damaged frame: a record is cut off");
        let head = self.records.get(self.at..self.at + HEAD).ok_or_else(short)?;
        let length = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        self.key_end = self.at + HEAD + length(0);
        self.end = self.key_end + length(4);
        if self.end > self.records.len() { Err(short()) } else { Ok(()) }
    }

    fn read_frame(&mut self, disk: &Disk, mut file: &File, stored: &mut Vec<u8>) -> io::Result<()> {
        disk.reading()?;
        let mut header = [0; Header::BYTES];
        file.seek(SeekFrom::Start(self.next))?;
        file.read_exact(&mut header)?;
        let header = Header::from_bytes(&header);
        let body = self.next + Header::BYTES as u64;
        if header.raw > self.run.largest || body + u64::from(header.stored) > self.run.end {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a damaged frame: its header can't be true"));
        }
        stored.resize(header.stored as usize, 0);
        file.read_exact(stored)?;
        frame::decode(&header, stored, &mut self.records)?;
        (self.next, self.end) = (body + u64::from(header.stored), 0);
        Ok(())
    }
}
