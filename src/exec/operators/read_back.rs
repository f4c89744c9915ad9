//! Rows of one port that are read back from disk.

use crate::exec::Failure;
use crate::exec::memory::Charge;
use crate::exec::rest::Chunk;
use crate::exec::spill::{Merge, MergeError, Spilled};

use super::buffer::{Full, Portion, Scan};

/// Reads the runs of a buffer with one port, whose payloads are its rows.
pub(super) struct ReadBack<'p>(Merge<'p>);

impl<'p> ReadBack<'p> {
    /// A full buffer that is read from these runs. What is read ahead is charged to `charge`.
    pub fn of(spilled: Spilled<'p>, charge: Charge<'p>) -> Result<Full<'p>, MergeError> {
        Ok(Self::merged(spilled.merge(charge)?))
    }

    /// The same, given what merges them.
    pub fn merged(merge: Merge<'p>) -> Full<'p> {
        Full::on_disk(Self(merge))
    }
}

impl Scan for ReadBack<'_> {
    fn next(&mut self, most: Portion, chunk: &mut Chunk) -> Result<Option<usize>, Failure> {
        while most.has_room(chunk) {
            let Some((_, row)) = self.0.next()? else { break };
            chunk.push(row);
        }
        Ok((!chunk.offsets.is_empty()).then_some(0))
    }
}
