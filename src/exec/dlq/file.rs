//! The dead-letter files of a run.

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

use crate::exec::Failure;
use crate::exec::publish::Output;
use crate::plan::physical::{DeadLetterFile, DeadLetters};

/// A dead-letter file while it is being written.
pub(crate) struct LetterFile {
    /// The file.
    pub output: Output,
    /// Dead letters in it.
    pub rows: u64,
    line: Vec<u8>,
}

/// Starts the dead-letter files of a plan. Each has its header from the beginning, also if no dead letter follows.
pub(crate) fn start_files(plan: &DeadLetters, outputs: Vec<Output>) -> Result<Vec<LetterFile>, Failure> {
    let started = plan.files.iter().zip(outputs).map(|(file, mut output)| {
        output.write(&header(file))?;
        Ok(LetterFile { output, rows: 0, line: Vec::new() })
    });
    started.collect()
}

impl LetterFile {
    /// Appends dead letters that are their own triggers, giving each its id and the time.
    pub fn append<'a>(&mut self, letters: impl Iterator<Item = &'a [u8]>) -> Result<(), Failure> {
        let now = now_text();
        self.line.clear();
        for letter in letters {
            let id = Uuid::now_v7();
            self.add(id, id, &now, letter);
        }
        if self.line.is_empty() { Ok(()) } else { self.output.write(&self.line) }
    }

    /// Appends one dead letter with its id and that of its trigger, and the time.
    pub fn append_one(&mut self, id: Uuid, trigger: Uuid, letter: &[u8]) -> Result<(), Failure> {
        self.line.clear();
        self.add(id, trigger, &now_text(), letter);
        self.output.write(&self.line)
    }

    fn add(&mut self, id: Uuid, trigger: Uuid, now: &str, letter: &[u8]) {
        for id in [id, trigger] {
            let mut buffer = Uuid::encode_buffer();
            self.line.extend_from_slice(id.hyphenated().encode_lower(&mut buffer).as_bytes());
            self.line.push(b',');
        }
        self.line.extend_from_slice(now.as_bytes());
        self.line.push(b',');
        self.line.extend_from_slice(letter);
        self.rows += 1;
    }
}

fn now_text() -> String {
    DateTime::<Utc>::from(std::time::SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The header line of a dead-letter file.
fn header(file: &DeadLetterFile) -> Vec<u8> {
    let mut csv = csv::WriterBuilder::new().from_writer(Vec::new());
    csv.write_record(file.header()).expect("writing to memory can't fail");
    csv.into_inner().expect("writing to memory can't fail")
}
