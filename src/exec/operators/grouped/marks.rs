//! What a resting row is in a group that can fail: said behind its own bytes, where decoding it doesn't look.
//!
//! A failed group shows its rows as they came in, another one what became of them. So both rest where they differ.

use crate::exec::operators::lost::Cause;
use crate::exec::rest::Chunk;

/// What a row is: its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec::operators) enum Mark {
    /// A row that stays as it came.
    Unchanged,
    /// What a row became, or a new one: not shown if the group fails.
    Result,
    /// A row as it came that became another one: only shown if the group fails.
    Original,
    /// A row that made the group fail. What happened to it stands in front of the mark, behind the row.
    Failure,
}

const MARKS: [Mark; 4] = [Mark::Unchanged, Mark::Result, Mark::Original, Mark::Failure];

impl Mark {
    /// The mark of a row.
    pub fn of(row: &[u8]) -> Self {
        MARKS[usize::from(*row.last().expect("a marked row has a mark"))]
    }

    /// Whether such a row is shown in a group that has `failed` or not.
    pub fn is_shown(self, failed: bool) -> bool {
        match self {
            Mark::Unchanged => true,
            Mark::Result => !failed,
            Mark::Original | Mark::Failure => failed,
        }
    }

    /// Adds a row with this mark to a chunk.
    pub fn push(self, row: &[u8], chunk: &mut Chunk) {
        chunk.push_parts(&[row, &[self as u8]]);
    }

    /// Adds a row that made its group fail to a chunk.
    pub fn push_failure(row: &[u8], cause: &Cause, chunk: &mut Chunk) {
        let bytes = cause.to_bytes();
        let length = (bytes.len() as u32).to_le_bytes();
        chunk.push_parts(&[row, &bytes, &length, &[Mark::Failure as u8]]);
    }

    /// What happened to a row that made its group fail; `None` for other rows.
    pub fn failure(row: &[u8]) -> Option<Cause> {
        if Mark::of(row) != Mark::Failure {
            return None;
        }
        let (rest, length) = row[..row.len() - 1].split_last_chunk().expect("a length stands in front of the mark");
        let start = rest.len() - u32::from_le_bytes(*length) as usize;
        Some(Cause::from_bytes(&rest[start..]))
    }
}
