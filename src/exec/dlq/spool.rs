//! Dead letters of several stages: put aside until the last stage is over, then written in the order of their rows.

use crate::exec::Failure;
use crate::exec::memory::{Arbitrator, Charge};
use crate::exec::spill::{Disk, Merge, MergeError, Sorter};
use crate::plan::physical::{MemoryConsumer, OperatorId};

use super::ids::LetterIds;
use super::letters::Letter;
use super::{Bond, LetterFile, bound};

/// Dead letters that wait for their turn: as many in memory as their share of it holds, others on disk.
pub(crate) struct Spool<'p> {
    room: Room<'p>,
    /// Made when the first one comes.
    letters: Option<Sorter<'p>>,
    /// How many stages have begun.
    stage: u32,
    /// The stage that failed, and the last of its segments whose dead letters count.
    failed: Option<(u32, u32)>,
    /// Whether some belong to a group.
    is_bound: bool,
}

/// Where they wait.
#[derive(Clone, Copy)]
pub(crate) struct Room<'p> {
    /// Owns the memory limit.
    pub arbitrator: &'p Arbitrator,
    /// What does not fit it.
    pub disk: &'p Disk<'p>,
    /// Their memory consumer.
    pub consumer: usize,
}

/// A dead letter whose turn it is.
pub(super) struct Waiting<'a> {
    /// Its number among all of them.
    pub number: u64,
    pub key: Key,
    /// The number of the file that it is written to, or [`NO_FILE`].
    pub file: u32,
    pub text: &'a [u8],
}

/// What dead letters wait by: source and number of the row, operator, bond; numbers so that their bytes compare alike.
pub(super) type Key = [u8; 21];

/// Of a [`Key`], the operator, the role in a group, and the group.
pub(super) const OPERATOR: std::ops::Range<usize> = 12..16;
pub(super) const ROLE: usize = 16;
pub(super) const GROUP: std::ops::Range<usize> = 17..21;

/// Roles in a group, in the order in which they stand.
pub(super) const ALONE: u8 = 0;
const TRIGGERS: u8 = 1;
pub(super) const LOST: u8 = 2;

/// What stands for no file.
const NO_FILE: u32 = u32::MAX;

/// The share of the memory limit that they may take.
const SHARE: u64 = 8;

impl<'p> Spool<'p> {
    /// An empty spool.
    pub fn new(room: Room<'p>) -> Self {
        Self { room, letters: None, stage: 0, failed: None, is_bound: false }
    }

    /// Notes that another stage begins.
    pub fn begin_stage(&mut self) {
        self.stage += 1;
    }

    /// Drops what the segments behind one put aside in this stage, which was the last.
    pub fn forget_behind(&mut self, segment: usize) {
        self.failed = Some((self.stage, segment as u32));
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
        self.is_bound |= letter.bond != Bond::Alone;
        let file = file.map_or(NO_FILE, |file| file as u32);
        let numbers = [file, self.stage, segment as u32].map(u32::to_be_bytes);
        let letters = self.letters.get_or_insert_with(|| self.room.sorter());
        letters.push_parts(&key(operator, letter), &[numbers.as_flattened(), letter.text]).map_err(failure)
    }

    /// Writes all of them into their files: by source, row and operator. What is lost with a group gets the id of the
    /// group's first trigger, which may stand behind it, or in another file.
    pub fn empty(&mut self, files: &mut [LetterFile]) -> Result<(), Failure> {
        let Some(letters) = self.letters.take() else { return Ok(()) };
        let letters = InOrder { letters: letters.sorted().map_err(failure)?, failed: self.failed };
        let ids = LetterIds::now();
        match self.is_bound {
            true => bound::write(&self.room, letters, ids, files),
            false => letters.each(|Waiting { number, file, text, .. }| write(files, file, ids, (number, number), text)),
        }
    }
}

fn key(operator: OperatorId, letter: &Letter<'_>) -> Key {
    let (role, group) = match letter.bond {
        Bond::Alone => (ALONE, 0),
        Bond::Trigger(group) => (TRIGGERS, group),
        Bond::Correlated(group) => (LOST, group),
    };
    let mut key = [0; 21];
    key[..4].copy_from_slice(&letter.row.source.to_be_bytes());
    key[4..12].copy_from_slice(&letter.row.source_row.to_be_bytes());
    key[OPERATOR].copy_from_slice(&operator.0.to_be_bytes());
    key[ROLE] = role;
    key[GROUP].copy_from_slice(&group.to_be_bytes());
    key
}

impl<'p> Room<'p> {
    /// Sorts records of theirs.
    pub fn sorter(&self) -> Sorter<'p> {
        let charge = Charge::new(self.arbitrator, self.consumer);
        Sorter::new(self.disk, self.consumer, charge).at_most(self.arbitrator.limit() / SHARE)
    }
}

/// Dead letters in their order.
pub(super) struct InOrder<'p> {
    letters: Merge<'p>,
    failed: Option<(u32, u32)>,
}

impl InOrder<'_> {
    /// Gives one after the other, but for those that don't count.
    pub fn each(mut self, mut give: impl FnMut(Waiting<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut number = 0;
        while let Some((key, payload)) = self.letters.next()? {
            let (numbers, text) = payload.split_at(3 * size_of::<u32>());
            let [file, stage, segment] = [0, 4, 8].map(|at| u32::from_be_bytes(*first(&numbers[at..])));
            if self.failed.is_none_or(|(failed, last)| stage != failed || segment <= last) {
                give(Waiting { number, key: *first(key), file, text })?;
                number += 1;
            }
        }
        Ok(())
    }
}

/// The first bytes of a record that has so many.
pub(super) fn first<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("what was put aside comes back whole")
}

/// Writes a dead letter into its file, if it has one, with the numbers of its own id and that of its trigger.
pub(super) fn write(
    files: &mut [LetterFile],
    file: u32,
    ids: LetterIds,
    (number, trigger): (u64, u64),
    text: &[u8],
) -> Result<(), Failure> {
    match files.get_mut(file as usize) {
        Some(file) => file.append_one(ids.at(number), ids.at(trigger), text),
        None => Ok(()),
    }
}

/// Dead letters that can't wait any longer.
pub(super) fn failure(error: MergeError) -> Failure {
    let exceeded = match error {
        MergeError::Failed(failure) => return failure,
        MergeError::Exceeded(exceeded) | MergeError::Giant { exceeded, .. } => exceeded,
    };
    let (name, detail) = (MemoryConsumer::DEAD_LETTERS, "dead letters that wait for their order");
    let diagnostic = exceeded.noted(exceeded.diagnostic(name, "node_buffer", detail), "a dead letter");
    Failure::new(diagnostic.help("raise `memory.limit` (or run with `--memory-limit`)"), 1)
}
