//! What a merge does to a batch of one of its inputs: its columns take the places that the merge's output has for them.

use crate::analysis::hir::{self, Stamp};
use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Column};
use crate::exec::rest::Codec;
use crate::exec::value::Value;
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
    /// What it holds where the input doesn't have it.
    absent: Value,
}

impl ColumnMap {
    /// The map for input number `input`.
    pub fn new(spec: &MergeOperator, input: usize) -> Self {
        let columns = spec.merge.columns[input].iter().zip(&spec.output.columns).enumerate();
        let columns = columns.map(|(position, (input, column))| {
            let mapped = || Mapped { input: *input, kind: column.ty.kind.clone(), absent: absent(column) };
            spec.stored.contains(position).then(mapped)
        });
        Self { columns: columns.collect() }
    }

    /// The batch with the columns of the output. A column of nothing but nulls gets the output's kind.
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
            let Mapped { input, kind, absent } = mapped.as_ref()?;
            Some(match input.and_then(&mut take) {
                None => Column::splat(absent, kind, rows),
                Some(Column::Null(_)) => Codec::nulls(kind, rows),
                Some(column) => column,
            })
        });
        let columns = columns.collect();
        Batch { columns, ..batch }
    }
}

/// What a column holds for the rows of an input that doesn't have it: a key null, a stamp what it says of rows that no
/// reshape saw.
fn absent(column: &hir::Column) -> Value {
    match column.stamp() {
        Some(Stamp::Synthetic) => Value::Bool(false),
        Some(Stamp::SynthesizedBy | Stamp::MutatedBy) => Value::String("".into()),
        None => Value::Null,
    }
}
