//! Rows that are lost with a group that failed: what their dead letters say.
//!
//! A buffer gives such rows through a port of its own, behind those of the plan, and for each row a [`Lost`].

use std::sync::Arc;

use crate::exec::fault::FaultKind;

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

    /// What it holds, in bytes.
    pub fn cost(&self) -> u64 {
        let texts = [&self.field, &self.value].into_iter().flatten().chain([&self.stage, &self.message]);
        (size_of::<Self>() + texts.map(String::len).sum::<usize>()) as u64
    }
}
