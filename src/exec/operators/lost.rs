//! Rows that are lost with a group that failed: what their dead letters say.
//!
//! A buffer gives such rows through a port of its own, behind those of the plan, and for each row a [`Lost`].

use std::sync::Arc;

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
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = |text: &String| Value::String(text.clone());
        let optional = |field: &Option<String>| field.as_ref().map_or(Value::Null, text);
        let parts = vec![
            Value::Int(self.kind as i64),
            Value::Int(self.row as i64),
            text(&self.stage),
            text(&self.message),
            optional(&self.field),
            optional(&self.value),
        ];
        let mut bytes = Vec::new();
        value::encode(&Value::Array(parts), &mut bytes);
        bytes
    }

    /// What [`Self::to_bytes`] made bytes of.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Value::Array(parts) = value::decode(bytes) else { unreachable!("`to_bytes` encodes an array") };
        let int = |at: usize| if let Value::Int(int) = parts[at] { int } else { 0 };
        let text = |at: usize| if let Value::String(text) = &parts[at] { Some(text.clone()) } else { None };
        Self {
            kind: FaultKind::ALL[int(0) as usize],
            row: int(1) as u64,
            stage: text(2).unwrap_or_default(),
            message: text(3).unwrap_or_default(),
            field: text(4),
            value: text(5),
        }
    }
}
