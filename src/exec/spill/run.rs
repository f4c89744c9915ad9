//! Writes and reads one run.
//!
//! A record is the length of its key and the length of its payload, each in 32 bits, then both.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use super::Record;
use super::disk::{Damage, Disk};
use super::frame::{self, Header, damaged};
use crate::exec::Failure;

/// A run that was written.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where it is.
    pub file: Arc<File>,
    /// Its place in the file.
    pub range: Range<u64>,
    /// How many records it has.
    pub records: u64,
    /// Bytes of the records of its largest frame.
    pub largest: u32,
}

/// Bytes of the lengths in front of a record.
const HEAD: usize = 8;

/// Takes the records of a run.
pub struct RunWriter<'p> {
    disk: &'p Disk<'p>,
    consumer: usize,
    /// Bytes of records in a frame.
    frame: usize,
    run: Run,
    /// The records of the frame that is being filled.
    records: Vec<u8>,
    stored: Vec<u8>,
    /// The key of the first record.
    first: Vec<u8>,
    /// Where the key of the last record is in `records`.
    last_key: Range<usize>,
    /// The key of the last record that is in the file.
    last: Vec<u8>,
}

/// What was written.
pub(super) struct Written {
    pub run: Run,
    /// Its first key.
    pub first: Vec<u8>,
    /// Its last key.
    pub last: Vec<u8>,
}

impl<'p> RunWriter<'p> {
    /// Writes to the file from `start` on, in frames of `frame` bytes.
    pub(super) fn new(disk: &'p Disk<'p>, file: Arc<File>, consumer: usize, start: u64, frame: usize) -> Self {
        let run = Run { file, range: start..start, records: 0, largest: 0 };
        let (records, stored, first, last) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { disk, consumer, frame, run, records, stored, first, last_key: 0..0, last }
    }

    /// Adds a record. Its key must not be before that of the last one.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), Failure> {
        self.push_parts(&[key], payload)
    }

    /// Adds a record whose key is these parts one behind the other.
    pub fn push_parts(&mut self, key: &[&[u8]], payload: &[u8]) -> Result<(), Failure> {
        let length: usize = key.iter().map(|part| part.len()).sum();
        let bytes = HEAD + length + payload.len();
        if self.run.records == 0 {
            self.first = key.concat();
        }
        if !self.records.is_empty() && self.records.len() + bytes > self.frame {
            self.flush()?;
        }
        self.run.records += 1;
        let lengths = [(length as u32).to_le_bytes(), (payload.len() as u32).to_le_bytes()].concat();
        if bytes > self.frame {
            return self.write_alone(&lengths, key, payload);
        }
        self.records.extend_from_slice(&lengths);
        let start = self.records.len();
        key.iter().for_each(|part| self.records.extend_from_slice(part));
        self.last_key = start..start + length;
        self.records.extend_from_slice(payload);
        Ok(())
    }

    /// Ends the run.
    pub(super) fn finish(mut self) -> Result<Written, Failure> {
        self.flush()?;
        Ok(Written { run: self.run, first: self.first, last: self.last })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.records.is_empty() {
            return Ok(());
        }
        frame::encode(&self.records, &mut self.stored);
        let stored = std::mem::take(&mut self.stored);
        self.write_frame(self.records.len(), &[&stored])?;
        self.stored = stored;
        self.last.clear();
        self.last.extend_from_slice(&self.records[self.last_key.clone()]);
        self.records.clear();
        Ok(())
    }

    /// Writes a record that is larger than a frame is meant to be: as it is, so that it is not held once more.
    fn write_alone(&mut self, lengths: &[u8], key: &[&[u8]], payload: &[u8]) -> Result<(), Failure> {
        let mut parts = vec![lengths];
        parts.extend(key);
        parts.push(payload);
        let raw: usize = parts.iter().map(|part| part.len()).sum();
        if u32::try_from(raw).is_err() {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, "no row may be larger than 4 GiB");
            return Err(self.disk.write_failure(self.consumer, raw, &error));
        }
        let header = Header::of_plain(&parts).to_bytes();
        parts.insert(0, &header);
        self.write_frame(raw, &parts)?;
        self.last = key.concat();
        Ok(())
    }

    /// Writes a frame, header first, part by part; its records are `raw` bytes.
    fn write_frame(&mut self, raw: usize, parts: &[&[u8]]) -> Result<(), Failure> {
        if self.disk.is_interrupted() {
            return Err(Failure::interrupted());
        }
        let stored: usize = parts.iter().map(|part| part.len()).sum();
        let written = self.disk.writing().and_then(|()| {
            let mut file = self.run.file.as_ref();
            file.seek(SeekFrom::Start(self.run.range.end))?;
            parts.iter().try_for_each(|part| file.write_all(part))
        });
        written.map_err(|error| self.disk.write_failure(self.consumer, stored, &error))?;
        self.disk.wrote(self.consumer, raw, stored);
        self.run.range.end += stored as u64;
        self.run.largest = self.run.largest.max(raw as u32);
        Ok(())
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
    pub fn new(run: Run) -> Self {
        Self { next: run.range.start, run, records: Vec::new(), at: 0, key_end: 0, end: 0 }
    }

    /// Goes to the next record; false behind the last one. `stored` is room to work in.
    pub fn advance(&mut self, disk: &Disk, stored: &mut Vec<u8>) -> Result<bool, Failure> {
        if self.end == self.records.len() {
            if self.next == self.run.range.end {
                return Ok(false);
            }
            self.read_frame(disk, stored).map_err(|error| disk.read_failure(&error))?;
        }
        self.find_record().map_err(|error| disk.read_failure(&error))?;
        Ok(true)
    }

    /// The key of the current record.
    pub fn key(&self) -> &[u8] {
        &self.records[self.at + HEAD..self.key_end]
    }

    /// The current record: key and payload.
    pub fn record(&self) -> Record<'_> {
        (self.key(), &self.records[self.key_end..self.end])
    }

    fn find_record(&mut self) -> io::Result<()> {
        self.at = self.end;
        let short = || damaged("a record is cut off");
        let head = self.records.get(self.at..self.at + HEAD).ok_or_else(short)?;
        let length = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        self.key_end = self.at + HEAD + length(0);
        self.end = self.key_end + length(4);
        if self.end > self.records.len() { Err(short()) } else { Ok(()) }
    }

    fn read_frame(&mut self, disk: &Disk, stored: &mut Vec<u8>) -> io::Result<()> {
        let damage = disk.reading()?;
        let mut file = self.run.file.as_ref();
        let mut header = [0; Header::BYTES];
        file.seek(SeekFrom::Start(self.next))?;
        file.read_exact(&mut header)?;
        Damage::apply(damage, 0, &mut header);
        let header = Header::from_bytes(&header);
        let body = self.next + Header::BYTES as u64;
        let is_possible = header.stored <= header.raw && header.raw <= self.run.largest;
        if !is_possible || body + u64::from(header.stored) > self.run.range.end {
            return Err(damaged("its header can't be true"));
        }
        let bytes = if header.is_plain() { &mut self.records } else { &mut *stored };
        frame::resize(bytes, header.stored);
        file.read_exact(bytes)?;
        Damage::apply(damage, Header::BYTES, bytes);
        header.check(bytes)?;
        if !header.is_plain() {
            frame::decode(&header, stored, &mut self.records)?;
        }
        (self.next, self.end) = (body + u64::from(header.stored), 0);
        Ok(())
    }
}
