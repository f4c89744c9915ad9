//! What workers do: rules, rows to rest, keys and their hashes.

use std::sync::Arc;

use crate::exec::batch::{Batch, Bitmap, Column};
use crate::exec::dlq::LetterRow;
use crate::exec::eval::{self, Added, Reshaped, RuleFault};
use crate::exec::keys::{Blanks, KeyHasher, Keys, OrderKeys, folded};
use crate::exec::rest::{Chunk, Codec};
use crate::plan::physical::{Operator, ReshapeOperator};

use super::super::buffer::{Admitted, BufferContext, CollectError, Collected, Collector};
use super::super::grouped::Mark;
use super::super::lost::Cause;

/// The side that workers share.
pub(super) struct ReshapeCollector<'p> {
    spec: &'p ReshapeOperator,
    operator: &'p Operator,
    program: eval::Reshape,
    hasher: KeyHasher,
    codec: Arc<Codec>,
}

/// What a block gives besides its rows: one entry a batch.
pub(super) type Part = Vec<Grouped>;

/// Where the rows made of a batch belong.
pub(super) struct Grouped {
    /// The keys of the batch's rows.
    pub keys: Keys,
    pub hashes: Vec<u64>,
    /// For each column of `partition_by`, what in it can't tell groups apart.
    pub blanks: Vec<Blanks>,
    /// For each resting row, the row of the batch that it is made of.
    pub made_of: Vec<u32>,
    /// For each resting row, what it is ordered by within its group.
    pub order: OrderKeys,
    /// The rows that failed, where that only costs their groups, each with the [`Cause`] as bytes.
    pub failures: Vec<(u32, LetterRow, Box<[u8]>)>,
}

/// What the key that orders a row in its group begins with: the place of its kind. A row that came in has no such byte
/// if nothing else orders it, which is in front of all.
const CAME_IN: u8 = 0;
const ADDED: u8 = 1;
const ONLY_FAILED: u8 = 2;

impl<'p> ReshapeCollector<'p> {
    /// Applies the rules of a reshape.
    pub fn new(spec: &'p ReshapeOperator, context: &BufferContext<'p>, hasher: KeyHasher) -> Self {
        let operator = context.operator;
        let (reshape, constants) = (&spec.reshape, Arc::clone(&context.constants));
        let program = eval::Reshape::new(operator.node(), reshape, &spec.output, &spec.rest.columns, constants);
        Self { spec, operator, program, hasher, codec: Arc::clone(&context.codec) }
    }
}

impl Collector for ReshapeCollector<'_> {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let reshaped = self.program.run(batch);
        if !self.spec.shows_groups && !reshaped.failures.is_empty() {
            // The first of them ends the run.
            let faults = reshaped.failures.into_iter().map(|failure| failure.fault);
            return Ok(Admitted { faults: faults.collect(), ..Admitted::default() });
        }
        let order_by = &self.spec.reshape.order_by;
        let order = (!order_by.is_empty()).then(|| OrderKeys::encode(order_by, &batch.columns, batch.rows));
        let mut rows = RestingRows { order, made_of: Vec::with_capacity(batch.rows), keys: OrderKeys::default() };
        match self.spec.shows_groups {
            false => self.rest(&reshaped, &mut rows, &mut out.chunk)?,
            true => self.rest_marked(batch, &reshaped, &mut rows, &mut out.chunk)?,
        }
        let failures = reshaped.failures.iter().map(|failure| self.failure(batch, failure)).collect();
        let grouped = self.grouped(batch, rows, failures);
        out.part::<Part>().push(grouped);
        Ok(Admitted::default())
    }
}

impl ReshapeCollector<'_> {
    /// Encodes what became of the rows, then the new ones.
    fn rest(&self, reshaped: &Reshaped, rows: &mut RestingRows, chunk: &mut Chunk) -> Result<(), CollectError> {
        self.codec.encode(&reshaped.rows, chunk).map_err(CollectError::Unwritable)?;
        (0..reshaped.rows.rows as u32).for_each(|row| rows.came_in(row));
        for added in &reshaped.added {
            let unwritable = |error| CollectError::Unwritable(error).at(|row| added.triggers[row] as usize);
            self.codec.encode(&added.rows, chunk).map_err(unwritable)?;
            rows.added(added);
        }
        Ok(())
    }

    /// The same with marks, and with the rows as they came in where they became others or failed.
    fn rest_marked(
        &self,
        batch: &Batch,
        reshaped: &Reshaped,
        rows: &mut RestingRows,
        chunk: &mut Chunk,
    ) -> Result<(), CollectError> {
        let encode = |batch: &Batch| {
            let mut chunk = Chunk::default();
            self.codec.encode(batch, &mut chunk).map_err(CollectError::Unwritable).map(|()| chunk)
        };
        let mut failed = reshaped.failures.iter().map(|failure| failure.fault.row).peekable();
        for (row, bytes) in encode(&reshaped.rows)?.rows().enumerate() {
            if failed.next_if_eq(&row).is_none() {
                let mark = if reshaped.rewritten.value(row) { Mark::Result } else { Mark::Unchanged };
                mark.push(bytes, chunk);
                rows.came_in(row as u32);
            }
        }
        for added in &reshaped.added {
            encode(&added.rows)?.rows().for_each(|bytes| Mark::Result.push(bytes, chunk));
            rows.added(added);
        }
        let rewritten: Vec<u32> = reshaped.rewritten.set_indices_u32().collect();
        encode(&batch.take(&rewritten))?.rows().for_each(|bytes| Mark::Original.push(bytes, chunk));
        rewritten.iter().for_each(|row| rows.only_failed(*row));
        let failed: Vec<u32> = reshaped.failures.iter().map(|failure| failure.fault.row as u32).collect();
        for (bytes, failure) in encode(&batch.take(&failed))?.rows().zip(&reshaped.failures) {
            Mark::push_failure(bytes, &self.cause(batch, failure), chunk);
            rows.only_failed(failure.fault.row as u32);
        }
        Ok(())
    }

    fn grouped(&self, batch: &Batch, rows: RestingRows, failures: Vec<(u32, LetterRow, Box<[u8]>)>) -> Grouped {
        let reshape = &self.spec.reshape;
        let stored =
            |column: &usize| batch.columns[*column].clone().expect("pruning keeps the columns that make a group");
        let named = reshape.partition_by.iter().map(|column| folded(stored(column)));
        let (mut columns, blanks): (Vec<Column>, _) = named.unzip();
        // What a key held when the row was read is no value of the node's.
        columns.extend(reshape.hidden_keys.iter().map(|column| folded(stored(column)).0));
        let (keys, refused) = Keys::encode(&columns, &Bitmap::new_set(batch.rows));
        debug_assert!(refused.is_empty(), "what has no key counts as null");
        let RestingRows { made_of, keys: mut order, .. } = rows;
        order.shrink_to_fit();
        Grouped { hashes: self.hasher.hash(&keys), keys, blanks, made_of, order, failures }
    }

    fn failure(&self, batch: &Batch, failure: &RuleFault) -> (u32, LetterRow, Box<[u8]>) {
        let (origin, row) = (&batch.origin, failure.fault.row);
        let letter_row = LetterRow { source: origin.source_of(row), source_row: origin.source_row(row) };
        (row as u32, letter_row, self.cause(batch, failure).to_bytes())
    }

    fn cause(&self, batch: &Batch, RuleFault { rules, fault }: &RuleFault) -> Cause {
        Cause {
            stage: format!("reshape:{}:{rules}", self.operator.node()),
            kind: fault.kind,
            field: fault.field.as_deref().map(str::to_owned),
            value: fault.value.clone(),
            message: fault.message.clone(),
            row: batch.origin.file_row(fault.row),
            at: None,
            told: None,
        }
    }
}

/// Where the resting rows of a batch stand in their groups.
struct RestingRows {
    /// What the batch's rows are ordered by, if something is asked for.
    order: Option<OrderKeys>,
    made_of: Vec<u32>,
    keys: OrderKeys,
}

impl RestingRows {
    /// Notes a row that came in.
    fn came_in(&mut self, row: u32) {
        let place: &[u8] = if self.order.is_some() { &[CAME_IN] } else { &[] };
        self.push(row, place);
    }

    /// Notes the rows that a rule added.
    fn added(&mut self, added: &Added) {
        let [high, low] = (added.rule as u16).to_be_bytes();
        added.triggers.iter().for_each(|row| self.push(*row, &[ADDED, high, low]));
    }

    /// Notes a row that only a failed group shows.
    fn only_failed(&mut self, row: u32) {
        self.push(row, &[ONLY_FAILED]);
    }

    fn push(&mut self, row: u32, place: &[u8]) {
        let key = self.order.as_ref().map_or([].as_slice(), |order| order.key(row as usize));
        self.made_of.push(row);
        self.keys.push(&[place, key]);
    }
}
