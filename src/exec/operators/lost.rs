//! Rows that are lost with a group that failed: what their dead letters say.
//!
//! A buffer gives such rows through a port of its own, behind those of the plan, and for each row a [`Lost`].

use std::sync::Arc;

use crate::diagnostics::{FileId, Span};
use crate::exec::batch::RowId;
use crate::exec::fault::FaultKind;
use crate::exec::value::{self, Value};

/// A row of a group that failed.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    /// Its group, by the number that the buffer gave it.
    pub group: u32,
    /// Whether the row is a reason why the group failed; else it is only lost with it.
    pub is_trigger: bool,
    /// The row's own failure if it is a trigger, else that of the group's first trigger.
    pub cause: Arc<Cause>,
}

/// What failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cause {
    /// Where: `cull:gate:too_many`.
    pub stage: String,
    /// What kind of failure it was.
    pub kind: FaultKind,
    /// The column that was being computed.
    pub field: Option<String>,
    /// The offending value, where the failure carries one.
    pub value: Option<String>,
    /// What went wrong: `division by zero`.
    pub message: String,
    /// The number in its file of the row that is the trigger.
    pub row: u64,
    /// The row that failed, if a single one did and another one is the trigger.
    pub at: Option<At>,
    /// What a message says that ends the run; nothing where it goes on.
    pub told: Option<Told>,
}

/// A row that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct At {
    /// The row.
    pub row: RowId,
    /// `row 4 of orders.csv`
    pub place: String,
}

/// What a message about a failure says besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    /// The expression that failed.
    pub span: Span,
    /// What it is.
    pub label: String,
    /// The values that it worked on.
    pub operands: String,
    /// What to do about it.
    pub mend: String,
}

impl Cause {
    /// The reason in words, with its row.
    pub fn detail(&self) -> String {
        match &self.field {
            Some(field) => format!("row {}: field '{field}': {}", self.row, self.message),
            None => format!("row {}: {}", self.row, self.message),
        }
    }

    /// The reason of a row that is lost with the one that this happened to.
    pub fn correlated(&self) -> String {
        format!("correlated with failure in group: {}", self.detail())
    }

    /// It as bytes.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let text = |text: &String| Value::String(text.clone());
        let optional = |field: &Option<String>| field.as_ref().map_or(Value::Null, text);
        let at = self.at.as_ref().map(|At { row, place }| {
            let RowId { source, file, file_row, source_row } = *row;
            let numbers = [source.into(), file.into(), file_row, source_row];
            numbers.map(|number: u64| Value::Int(number as i64)).into_iter().chain([text(place)]).collect()
        });
        let told = self.told.as_ref().map(|Told { span, label, operands, mend }| {
            let span = [span.file.0, span.start, span.end].map(|number| Value::Int(number.into()));
            span.into_iter().chain([label, operands, mend].map(text)).collect()
        });
        let parts = vec![
            Value::Int(self.kind as i64),
            Value::Int(self.row as i64),
            text(&self.stage),
            text(&self.message),
            optional(&self.field),
            optional(&self.value),
            at.map_or(Value::Null, Value::Array),
            told.map_or(Value::Null, Value::Array),
        ];
        let mut bytes = Vec::new();
        value::encode(&Value::Array(parts), &mut bytes);
        bytes.into()
    }

    /// What [`Self::to_bytes`] made bytes of.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Value::Array(parts) = value::decode(bytes) else { unreachable!("`to_bytes` encodes an array") };
        Self {
            kind: FaultKind::ALL[int(&parts[0]) as usize],
            row: int(&parts[1]),
            stage: text(&parts[2]).unwrap_or_default(),
            message: text(&parts[3]).unwrap_or_default(),
            field: text(&parts[4]),
            value: text(&parts[5]),
            at: list(&parts[6]).map(|parts| At {
                row: RowId {
                    source: int(&parts[0]) as u32,
                    file: int(&parts[1]) as u32,
                    file_row: int(&parts[2]),
                    source_row: int(&parts[3]),
                },
                place: text(&parts[4]).unwrap_or_default(),
            }),
            told: list(&parts[7]).map(|parts| Told {
                span: Span::new(FileId(int(&parts[0]) as u32), int(&parts[1]) as u32, int(&parts[2]) as u32),
                label: text(&parts[3]).unwrap_or_default(),
                operands: text(&parts[4]).unwrap_or_default(),
                mend: text(&parts[5]).unwrap_or_default(),
            }),
        }
    }
}

fn int(value: &Value) -> u64 {
    if let Value::Int(int) = value { *int as u64 } else { 0 }
}

fn text(value: &Value) -> Option<String> {
    if let Value::String(text) = value { Some(text.clone()) } else { None }
}

fn list(value: &Value) -> Option<&[Value]> {
    if let Value::Array(parts) = value { Some(parts) } else { None }
}
