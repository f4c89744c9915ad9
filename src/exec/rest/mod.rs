//! Rows at rest: what a buffer holds.
//!
//! A buffer keeps the columns it decides on as columns (sort keys, group keys) and turns the rest of each row, while
//! its batch is hot, into one contiguous encoded row: the bytes that the sink below writes, or a compact encoding that
//! decodes back to columns. From then on only a [`Place`] is moved. The same form is what spills.

mod codec;
mod layout;
mod read;

pub use codec::Codec;

use std::ops::Range;

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

/// Bytes of the length in front of a row.
pub const HEAD: usize = size_of::<u32>();

/// The resting rows of one block: encoded one behind the other, each with its length in front.
#[derive(Clone, Default, Debug)]
pub struct Chunk {
    /// The encoded rows.
    pub bytes: Vec<u8>,
    /// Where each row begins: where its length stands.
    pub offsets: Vec<u32>,
}

impl Chunk {
    /// The bytes of each row, without its length.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.iter().map(|offset| framed(&self.bytes[*offset as usize..]))
    }

    /// The bytes of a row, without its length.
    pub fn row(&self, row: usize) -> &[u8] {
        framed(&self.bytes[self.offsets[row] as usize..])
    }

    /// Adds an encoded row, which has no length in front of it.
    pub fn push(&mut self, row: &[u8]) {
        self.push_parts(&[row]);
    }

    /// Adds an encoded row, given as parts.
    pub fn push_parts(&mut self, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.offsets.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(&(length as u32).to_le_bytes());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// Forgets the rows but keeps the memory, unless that is far more than usual.
    pub fn clear(&mut self) {
        const LARGE: usize = 4 << 20;
        self.bytes.clear();
        self.bytes.shrink_to(LARGE);
        self.offsets.clear();
    }
}

/// The bytes of each of some rows that stand one behind the other, without its length.
pub fn rows_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let row = (!rest.is_empty()).then(|| framed(rest))?;
        rest = &rest[HEAD + row.len()..];
        Some(row)
    })
}

/// The rows of a block that begin at `offsets`, in memory of just their size.
pub fn picked(bytes: &[u8], offsets: &[u32]) -> Box<[u8]> {
    let rows = offsets.iter().map(|offset| {
        let from = &bytes[*offset as usize..];
        &from[..HEAD + framed(from).len()]
    });
    rows.collect::<Vec<_>>().concat().into()
}

/// Keeps only some of the rows that stand one behind the other, given which by their numbers, in the memory that they
/// have; the rest of it is freed.
pub fn retain_rows(bytes: Box<[u8]>, stays: impl Fn(usize) -> bool) -> Box<[u8]> {
    let mut bytes = bytes.into_vec();
    let (mut read, mut kept) = (0, 0);
    for row in 0.. {
        if read == bytes.len() {
            break;
        }
        let end = read + HEAD + framed(&bytes[read..]).len();
        if stays(row) {
            bytes.copy_within(read..end, kept);
            kept += end - read;
        }
        read = end;
    }
    bytes.truncate(kept);
    bytes.into_boxed_slice()
}

/// The row that begins with its length at the start of `bytes`.
fn framed(bytes: &[u8]) -> &[u8] {
    let (length, bytes) = bytes.split_first_chunk().expect("a row has its length in front");
    &bytes[..u32::from_le_bytes(*length) as usize]
}

/// All resting rows of a buffer, in the order they arrived.
#[derive(Default, Debug)]
pub struct Rows {
    chunks: Vec<Box<[u8]>>,
    /// For each chunk, how many rows there are up to its end.
    ends: Vec<u64>,
}

impl Rows {
    /// Adds the rows of a block behind all others. Gives the number of their chunk.
    pub fn push(&mut self, bytes: Box<[u8]>, rows: usize) -> u32 {
        self.chunks.push(bytes);
        self.ends.push(self.len() + rows as u64);
        self.chunks.len() as u32 - 1
    }

    /// What adding a chunk takes, in bytes.
    pub fn cost(bytes: &[u8]) -> u64 {
        (bytes.len() + size_of::<Box<[u8]>>() + size_of::<u64>()) as u64
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// What all rows take, in bytes.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len() as u64).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a row, without its length.
    pub fn row(&self, place: Place) -> &[u8] {
        framed(&self.chunks[place.chunk() as usize][place.offset() as usize..])
    }

    /// The bytes of all rows, without their lengths, in the order they arrived.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().flat_map(|chunk| rows_of(chunk))
    }

    /// How many rows a chunk has.
    pub fn in_chunk(&self, chunk: u32) -> u64 {
        self.ends[chunk as usize] - self.before(chunk as usize)
    }

    /// The places of the rows of a chunk, in the order they arrived.
    pub fn chunk_places(&self, chunk: u32) -> impl Iterator<Item = Place> + '_ {
        let mut offset = 0;
        (0..self.in_chunk(chunk)).map(move |_| {
            let place = Place::new(chunk, offset);
            offset += (HEAD + self.row(place).len()) as u32;
            place
        })
    }

    /// Appends the places of the rows at `range`, in the order they arrived.
    pub fn places(&self, range: Range<u64>, out: &mut Vec<Place>) {
        let first = self.ends.partition_point(|end| *end <= range.start);
        for chunk in first..self.chunks.len() {
            let before = self.before(chunk);
            if before >= range.end {
                return;
            }
            let (skip, up_to) = (range.start.saturating_sub(before), range.end - before);
            out.extend(self.chunk_places(chunk as u32).take(up_to as usize).skip(skip as usize));
        }
    }

    /// How many rows are in front of a chunk.
    fn before(&self, chunk: usize) -> u64 {
        if chunk == 0 { 0 } else { self.ends[chunk - 1] }
    }
}
