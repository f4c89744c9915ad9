//! Dead letters of several stages: put aside in a file until the last stage is over, then written in the order of
//! their rows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::plan::physical::OperatorId;

use super::ids::LetterIds;
use super::letters::Letter;
use super::{Bond, LetterFile, LetterRow};

/// Dead letters that wait for their turn.
pub(crate) struct Spool {
    folder: PathBuf,
    file: Option<BufWriter<File>>,
    length: u64,
    entries: Vec<Entry>,
    /// The entries of earlier stages.
    settled: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    row: LetterRow,
    operator: OperatorId,
    bond: Bond,
    start: u64,
    length: u32,
    file: Option<u32>,
    segment: u32,
}

impl Spool {
    /// An empty spool; its file, made when the first dead letter comes, is in `folder`. It has no name there, so that
    /// the system takes it away however the run ends.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: None, length: 0, entries: Vec::new(), settled: 0 }
    }

    /// Notes that another stage begins.
    pub fn begin_stage(&mut self) {
        self.settled = self.entries.len();
    }

    /// Drops what the segments behind one put aside in this stage.
    pub fn forget_behind(&mut self, segment: usize) {
        let own = self.entries.split_off(self.settled);
        self.entries.extend(own.into_iter().filter(|entry| entry.segment as usize <= segment));
    }

    /// Puts a dead letter at an operator aside, which came up in a segment of the stage: it belongs into file number
    /// `file`. One that is only counted is not put aside, unless others may name it.
    pub fn add(
        &mut self,
        segment: usize,
        file: Option<usize>,
        operator: OperatorId,
        letter: &Letter<'_>,
    ) -> Result<(), Failure> {
        if file.is_none() && !matches!(letter.bond, Bond::Trigger(_)) {
            return Ok(());
        }
        let written = self.open().and_then(|spool| spool.write_all(letter.text));
        written.map_err(|error| self.failure(&error))?;
        let (start, length) = (self.length, letter.text.len() as u32);
        let Letter { row, bond, .. } = *letter;
        let (file, segment) = (file.map(|file| file as u32), segment as u32);
        self.entries.push(Entry { row, operator, bond, start, length, file, segment });
        self.length += u64::from(length);
        Ok(())
    }

    /// Writes all of them into their files: by source, row and operator. What is lost with a group gets the id of the
    /// group's first trigger, which may stand behind it, or in another file.
    pub fn empty(&mut self, files: &mut [LetterFile]) -> Result<(), Failure> {
        let Some(spool) = self.file.take() else { return Ok(()) };
        self.entries.sort_unstable();
        let spool = spool.into_inner().map_err(io::IntoInnerError::into_error);
        let mut spool = BufReader::new(spool.map_err(|error| self.failure(&error))?);
        let (mut text, mut at) = (Vec::new(), u64::MAX);
        let (ids, triggers) = (LetterIds::now(), triggers(&self.entries));
        for (number, entry) in (0..).zip(std::mem::take(&mut self.entries)) {
            let Some(file) = entry.file else { continue };
            text.resize(entry.length as usize, 0);
            let sought = if at == entry.start { Ok(at) } else { spool.seek(SeekFrom::Start(entry.start)) };
            sought.and_then(|_| spool.read_exact(&mut text)).map_err(|error| self.failure(&error))?;
            at = entry.start + u64::from(entry.length);
            let trigger = match entry.bond {
                Bond::Alone | Bond::Trigger(_) => number,
                Bond::Correlated(group) => triggers[&(entry.operator, group)],
            };
            files[file as usize].append_one(ids.at(number), ids.at(trigger), &text)?;
        }
        Ok(())
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        if self.file.is_none() {
            self.file = Some(BufWriter::new(tempfile::tempfile_in(&self.folder)?));
        }
        Ok(self.file.as_mut().expect("it was just opened"))
    }

    fn failure(&self, error: &io::Error) -> Failure {
        let message = format!("{} can't hold the dead letters until they are in order: {error}", self.folder.display());
        Failure::new(Diagnostic::error(Code::E394, message), 4)
    }
}

/// For each group that failed at an operator, the number of its first trigger.
fn triggers(entries: &[Entry]) -> HashMap<(OperatorId, u32), u64> {
    let mut found = HashMap::new();
    for (number, entry) in (0..).zip(entries) {
        if let Bond::Trigger(group) = entry.bond {
            found.entry((entry.operator, group)).or_insert(number);
        }
    }
    found
}
