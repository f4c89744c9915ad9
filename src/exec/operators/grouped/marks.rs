//! What a resting row is in a group that can fail: said behind its own bytes, where decoding it doesn't look.
//!
//! A failed group shows its rows as they came in, another one what became of them. So both rest where they differ.

use crate::exec::fault::FaultKind;
use crate::exec::operators::lost::Cause;
use crate::exec::rest::Chunk;
use crate::exec::value::{self, Value};

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
        let mut bytes = Vec::new();
        value::encode(&to_value(cause), &mut bytes);
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
        Some(from_value(value::decode(&rest[start..])))
    }
}

const KINDS: [FaultKind; 4] =
    [FaultKind::TypeError, FaultKind::ValidationFailed, FaultKind::GroupFailed, FaultKind::Conflict];

fn to_value(cause: &Cause) -> Value {
    let text = |text: &String| Value::String(text.clone());
    let optional = |field: &Option<String>| field.as_ref().map_or(Value::Null, text);
    let kind = KINDS.iter().position(|kind| *kind == cause.kind).expect("all kinds are listed");
    Value::Array(vec![
        Value::Int(kind as i64),
        Value::Int(cause.row as i64),
        text(&cause.stage),
        text(&cause.message),
        optional(&cause.field),
        optional(&cause.value),
    ])
}

fn from_value(value: Value) -> Cause {
    let Value::Array(parts) = value else { unreachable!("`to_value` makes an array") };
    let int = |at: usize| if let Value::Int(int) = parts[at] { int } else { 0 };
    let text = |at: usize| if let Value::String(text) = &parts[at] { Some(text.clone()) } else { None };
    Cause {
        kind: KINDS[int(0) as usize],
        row: int(1) as u64,
        stage: text(2).unwrap_or_default(),
        message: text(3).unwrap_or_default(),
        field: text(4),
        value: text(5),
    }
}
