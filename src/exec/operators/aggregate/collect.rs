//! What workers do: the program over rows, keys and their hashes, arguments.

use std::sync::Arc;

use crate::analysis::hir::{Aggregation, ExprKind};
use crate::exec::batch::{Batch, Bitmap, Column, Origin};
use crate::exec::eval::{self, Constants};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::keys::{KeyHasher, Keys, NoKey};
use crate::exec::rest::Chunk;
use crate::plan::physical::ColumnSet;

use super::super::buffer::{Admitted, CollectError, Collected, Collector};
use super::layout::GroupLayout;

/// The side that workers share.
pub(super) struct AggregateCollector<'p> {
    rows: RowProgram<'p>,
    hasher: KeyHasher,
}

/// Makes rows ready to be grouped. Shared by all workers.
pub(super) struct RowProgram<'p> {
    aggregation: &'p Aggregation,
    layout: Arc<GroupLayout>,
    program: eval::Transform,
}

/// What a block gives: one entry a batch.
pub(super) type Part = Vec<Piece>;

/// The rows of a batch, as far as they are to be grouped.
pub(super) struct Piece {
    pub rows: usize,
    pub keys: Keys,
    /// The hashes of the keys, where a table is asked for them.
    pub hashes: Vec<u64>,
    /// What the key doesn't tell, encoded.
    pub firsts: Chunk,
    pub origin: Origin,
    /// For each aggregate, its arguments.
    pub arguments: Vec<Vec<Column>>,
}

impl<'p> AggregateCollector<'p> {
    pub fn new(rows: RowProgram<'p>) -> Self {
        Self { rows, hasher: KeyHasher::default() }
    }
}

impl Collector for AggregateCollector<'_> {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let (piece, admitted) = self.rows.run(batch);
        if let Some(piece) = piece {
            out.without_rows = true;
            out.part::<Part>().push(Piece { hashes: self.hasher.hash(&piece.keys), ..piece });
        }
        Ok(admitted)
    }
}

impl<'p> RowProgram<'p> {
    /// Prepares the program over the rows of an aggregate.
    pub fn new(aggregation: &'p Aggregation, layout: Arc<GroupLayout>, constants: Arc<Constants>) -> Self {
        let stored = ColumnSet::all(aggregation.grouped.columns.len());
        Self { aggregation, layout, program: eval::Transform::new(&aggregation.rows, &stored, constants) }
    }

    /// The rows of a batch that are to be grouped, if there are some, and what became of the others.
    pub fn run(&self, batch: &Batch) -> (Option<Piece>, Admitted) {
        let done = self.program.run(batch);
        let mut faults = done.faults;
        let (keys, refused) = self.keys(&done.batch);
        let piece = if refused.is_empty() {
            self.piece(&done.batch, keys)
        } else {
            let row_of = |row: usize| done.kept.as_ref().map_or(row, |kept| kept[row] as usize);
            faults.extend(refused.iter().map(|refused| self.without_key(refused, row_of(refused.row))));
            faults.sort_by_key(|fault| fault.row);
            let mut refused = refused.iter().map(|refused| refused.row as u32).peekable();
            let good: Vec<u32> = (0..done.batch.rows as u32).filter(|row| refused.next_if_eq(row).is_none()).collect();
            let good = done.batch.take(&good);
            self.piece(&good, self.keys(&good).0)
        };
        (piece, Admitted { filtered: done.filtered, faults })
    }

    /// The key of each row of a batch that the program over rows gave.
    fn keys(&self, grouped: &Batch) -> (Keys, Vec<NoKey>) {
        let key = grouped.columns[..self.aggregation.key].iter();
        let columns: Vec<Column> = key.map(|column| column.clone().expect("all columns are asked for")).collect();
        Keys::encode(&columns, &Bitmap::new_set(grouped.rows))
    }

    fn piece(&self, grouped: &Batch, keys: Keys) -> Option<Piece> {
        if grouped.rows == 0 {
            return None;
        }
        let mut firsts = Chunk::default();
        self.layout.encode_firsts(grouped, &mut firsts);
        let (origin, arguments) = (grouped.origin.clone(), self.arguments(grouped));
        Some(Piece { rows: grouped.rows, keys, hashes: Vec::new(), firsts, origin, arguments })
    }

    fn arguments(&self, grouped: &Batch) -> Vec<Vec<Column>> {
        let column = |position: usize| grouped.columns[position].clone().expect("all columns are asked for");
        let aggregates = self.aggregation.aggregates.iter();
        let arguments = aggregates.map(|aggregate| {
            let positions = aggregate.args.iter().map(|arg| match arg.kind {
                ExprKind::Column(position) => position,
                _ => unreachable!("an argument is a column that the program over rows computes"),
            });
            positions.map(column).collect()
        });
        arguments.collect()
    }

    fn without_key(&self, no_key: &NoKey, row: usize) -> Fault {
        let NoKey { column, found, .. } = no_key;
        let span = self.aggregation.key_spans[*column];
        let column = &self.aggregation.grouped.columns[*column];
        Fault {
            row,
            kind: FaultKind::NoKey,
            field: Some(column.name.as_str().into()),
            value: (*found == "NaN").then(|| found.to_string()),
            message: format!("{} can't be a key", no_key.phrase()),
            span,
            other: None,
        }
    }
}
