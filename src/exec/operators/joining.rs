//! Puts small batches together on their way into a buffer or to an interleaving merge.
//!
//! What a buffer keeps of a batch until the block is over has a fixed part, which is most of it where a batch has a row or
//! two: as many transforms filter, or as `batch_size` asks for it.

use std::sync::Arc;

use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Carried, Origin, Positions};

/// Rows that are enough for a batch.
const ENOUGH: usize = 256;
/// Most batches that are put together.
const MOST: usize = 64;
/// Bytes of texts that are enough for a batch.
const ENOUGH_TEXT: usize = 32 << 10;

/// Small batches of a block on their way to one place.
#[derive(Default)]
pub(super) struct Joining {
    batches: Vec<Arc<Batch>>,
    rows: usize,
    texts: usize,
}

impl Joining {
    /// Adds a batch, whose columns are of these kinds. Gives those that are to go on, in order.
    pub fn add(&mut self, batch: Batch, kinds: &[Kind]) -> impl Iterator<Item = Batch> {
        let texts = if batch.rows < ENOUGH { batch.text_bytes() } else { 0 };
        let is_small = batch.rows < ENOUGH && texts < ENOUGH_TEXT;
        let ends = !is_small || self.batches.last().is_some_and(|last| !comes_from_there(&last.origin, &batch.origin));
        let before = if ends { self.take(kinds) } else { None };
        let mut own = None;
        if is_small {
            (self.rows, self.texts) = (self.rows + batch.rows, self.texts + texts);
            self.batches.push(Arc::new(batch.with_own_texts()));
        } else {
            own = Some(batch);
        }
        let is_full = self.rows >= ENOUGH || self.batches.len() >= MOST || self.texts >= ENOUGH_TEXT;
        let full = if is_full { self.take(kinds) } else { None };
        before.into_iter().chain(own).chain(full)
    }

    /// What is left when the block is over.
    pub fn take(&mut self, kinds: &[Kind]) -> Option<Batch> {
        let Self { batches, rows, .. } = std::mem::take(self);
        if batches.len() == 1 {
            return batches.into_iter().next().map(Arc::unwrap_or_clone);
        }
        let first = batches.first()?;
        let picks =
            (0..).zip(&batches).flat_map(|(number, batch)| (0..batch.rows as u32).map(move |row| (number, row)));
        let picks: Vec<(u32, u32)> = picks.collect();
        let position = |(batch, row): &(u32, u32)| batches[*batch as usize].origin.positions.at(*row as usize);
        let positions = Positions::List(Arc::new(picks.iter().map(position).collect()));
        let origin = Origin { positions, ..first.origin.clone() };
        let kinds: Vec<&Kind> = kinds.iter().collect();
        let (columns, carried): (_, Carried) = Batch::gather(&batches, &picks, &kinds);
        Some(Batch { rows, columns, carried, origin })
    }
}

/// Whether rows of two origins differ only in their positions in the block.
fn comes_from_there(one: &Origin, other: &Origin) -> bool {
    let place = |origin: &Origin| (origin.source, origin.file, origin.block_row, origin.block_source_row);
    let is_same = match (&one.kept, &other.kept) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        _ => false,
    };
    is_same && place(one) == place(other)
}
