//! Whether the files of a source are in the order that they claim, seen by the sort that takes their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::hir::SortKey;
use crate::diagnostics::Diagnostic;
use crate::exec::batch::Batch;
use crate::exec::keys::{CheckedRow, OrderKeys, Section, Sequence};
use crate::exec::orders;
use crate::exec::sources::Source;
use crate::exec::value::Value;

/// What a worker has seen of a batch.
pub(super) struct Seen {
    /// The file, by its position among the source's.
    file: u32,
    section: Section,
}

impl Seen {
    /// Looks at the rows of a batch that comes from a source; `None` if it has none.
    pub fn of(batch: &Batch, claimed: &[SortKey]) -> Option<Self> {
        let keys = OrderKeys::encode(claimed, &batch.columns, batch.rows);
        let value = |key: &SortKey, row| batch.columns[key.column].as_ref().map_or(Value::Null, |c| c.value(row));
        let checked = |row| CheckedRow {
            number: batch.origin.file_row(row),
            line: None,
            values: claimed.iter().map(|key| value(key, row)).collect(),
        };
        let section = Section::of(&keys, 0..batch.rows, checked)?;
        Some(Self { file: batch.origin.file, section })
    }
}

/// Puts together what is seen of the files of a source.
pub(super) struct OrderWatch<'p> {
    source: Arc<Source<'p>>,
    files: BTreeMap<u32, Sequence>,
}

impl<'p> OrderWatch<'p> {
    /// Nothing seen yet.
    pub fn new(source: Arc<Source<'p>>) -> Self {
        Self { source, files: BTreeMap::new() }
    }

    /// Adds what comes next.
    pub fn add(&mut self, Seen { file, section }: Seen) {
        self.files.entry(file).or_default().add(section);
    }

    /// W307 for each file that is not in its order.
    pub fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        let late = self.files.iter().filter_map(|(file, sequence)| Some((*file as usize, sequence.late()?)));
        late.map(|(file, late)| orders::sorted_first(&self.source, file, late))
    }
}
