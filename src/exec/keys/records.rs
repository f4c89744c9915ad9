//! The keys of groups one behind the other, each with the number of its group in front, in the order of these numbers.
//!
//! A record is the number in four bytes, the length of the key (one byte, or 255 and four more), and the key. It begins
//! at a multiple of eight bytes, so that 32 bits tell where it is.

/// Records in chunks.
#[derive(Debug, Default)]
pub(super) struct Records {
    chunks: Vec<Vec<u8>>,
}

/// Where a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot(u32);

/// A chunk never outgrows its first size, so its bytes never move.
const CHUNK: usize = 1 << 20;
/// Chunks grow from this size on, so that a few keys stay small.
const FIRST: usize = 1 << 9;
/// Where a record may begin.
const STEP: usize = 8;
/// Spots in a chunk.
const SPOTS: usize = CHUNK / STEP;
/// Bytes of a number.
const NUMBER: usize = size_of::<u32>();
/// The length of which the true one stands behind it.
const LONG: u8 = u8::MAX;

impl Spot {
    /// As a number, above 0.
    pub fn to_bits(self) -> u32 {
        self.0 + 1
    }

    /// The spot that gave a number above 0.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits - 1)
    }

    fn chunk(self) -> usize {
        self.0 as usize / SPOTS
    }

    fn start(self) -> usize {
        self.0 as usize % SPOTS * STEP
    }
}

impl Records {
    /// The bytes of the new chunk that `key` needs, if it doesn't fit the last one.
    pub fn needs(&self, key: &[u8]) -> Option<usize> {
        let wanted = NUMBER + 1 + NUMBER + key.len() + STEP;
        let fits = self.chunks.last().is_some_and(|last| last.capacity() - last.len() >= wanted);
        (!fits).then(|| (FIRST << self.chunks.len().min(11)).min(CHUNK).max(wanted))
    }

    /// The most that so many more records take, with keys of so many bytes in all.
    pub fn growth(&self, count: usize, keys: usize) -> u64 {
        let room = self.chunks.last().map_or(0, |last| last.capacity() - last.len());
        let wanted = keys + count * (NUMBER + 1 + NUMBER + STEP);
        if wanted <= room {
            return 0;
        }
        // Each chunk is up to twice as large as the one before.
        let next = (FIRST << self.chunks.len().min(11)).min(CHUNK);
        (3 * wanted.max(next)) as u64
    }

    /// Adds a record; `None` if there are so many that no spot can tell where it is.
    pub fn push(&mut self, number: u32, key: &[u8]) -> Option<Spot> {
        if let Some(bytes) = self.needs(key) {
            self.chunks.push(Vec::with_capacity(bytes));
        }
        let chunk_number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[chunk_number];
        let spot = u32::try_from(chunk_number * SPOTS + chunk.len() / STEP).ok().filter(|spot| *spot < u32::MAX)?;
        chunk.extend_from_slice(&number.to_le_bytes());
        match u8::try_from(key.len()).ok().filter(|length| *length != LONG) {
            Some(length) => chunk.push(length),
            None => {
                let length = u32::try_from(key.len()).expect("a key is made from one record, which is below 4 GiB");
                chunk.push(LONG);
                chunk.extend_from_slice(&length.to_le_bytes());
            }
        }
        chunk.extend_from_slice(key);
        chunk.resize(chunk.len().next_multiple_of(STEP), 0);
        Some(Spot(spot))
    }

    /// The number of a record.
    #[inline]
    pub fn number(&self, spot: Spot) -> u32 {
        let record = &self.chunks[spot.chunk()][spot.start()..];
        u32::from_le_bytes(*record.first_chunk().expect("a record begins with its number"))
    }

    /// The key of a record.
    #[inline]
    pub fn key(&self, spot: Spot) -> &[u8] {
        key_of(&self.chunks[spot.chunk()][spot.start()..])
    }

    /// The record behind one, if there is one.
    pub fn next(&self, spot: Spot) -> Option<Spot> {
        let (chunk, start) = (&self.chunks[spot.chunk()], spot.start());
        let length = key_of(&chunk[start..]).len();
        match (start + head(length) + length).next_multiple_of(STEP) {
            end if end < chunk.len() => Some(Spot((spot.chunk() * SPOTS + end / STEP) as u32)),
            _ => (spot.chunk() + 1 < self.chunks.len()).then(|| Spot(((spot.chunk() + 1) * SPOTS) as u32)),
        }
    }

    /// The spots of all records, in order.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + '_ {
        let first = (!self.chunks.is_empty()).then_some(Spot(0));
        std::iter::successors(first, |spot| self.next(*spot))
    }
}

/// Bytes in front of a key of this length.
fn head(length: usize) -> usize {
    if length < usize::from(LONG) { NUMBER + 1 } else { NUMBER + 1 + NUMBER }
}

fn key_of(record: &[u8]) -> &[u8] {
    match record[NUMBER] {
        LONG => {
            let (length, key) = record[NUMBER + 1..].split_first_chunk().expect("a length has four bytes");
            &key[..u32::from_le_bytes(*length) as usize]
        }
        length => &record[NUMBER + 1..][..usize::from(length)],
    }
}
