//! What a merge does to a batch of one of its inputs: its columns take the places that the merge's output has for them.

use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Column};
use crate::exec::rest::Codec;
use crate::plan::physical::MergeOperator;

/// Where the columns of a merge's output come from, for one input.
#[derive(Debug)]
pub(crate) struct ColumnMap {
    columns: Vec<Option<Mapped>>,
}

/// A column that is kept.
#[derive(Debug)]
struct Mapped {
    /// Where the input has it; `None` if it doesn't.
    input: Option<usize>,
    kind: Kind,
}

impl ColumnMap {
    /// The map for input number `input`.
    pub fn new(spec: &MergeOperator, input: usize) -> Self {
        let columns = spec.merge.columns[input].iter().zip(&spec.output.columns).enumerate();
        let columns = columns.map(|(position, (input, column))| {
            spec.stored.contains(position).then(|| Mapped { input: *input, kind: column.ty.kind.clone() })
        });
        Self { columns: columns.collect() }
    }

    /// The batch with the columns of the output. What the input doesn't have is null, as is a column of nothing else.
    pub fn apply(&self, mut batch: Batch) -> Batch {
        let rows = batch.rows;
        let mut uses = vec![0_usize; batch.columns.len()];
        let inputs = self.columns.iter().flatten().filter_map(|mapped| mapped.input);
        inputs.for_each(|input| uses[input] += 1);
        let mut take = |input: usize| {
            uses[input] -= 1;
            if uses[input] == 0 { batch.columns[input].take() } else { batch.columns[input].clone() }
        };
        let columns = self.columns.iter().map(|mapped| {
            let Mapped { input, kind } = mapped.as_ref()?;
            Some(match input.and_then(&mut take) {
                None | Some(Column::Null(_)) => Codec::nulls(kind, rows),
                Some(column) => column,
            })
        });
        let columns = columns.collect();
        Batch { columns, ..batch }
    }
}
