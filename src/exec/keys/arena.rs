//! Keys one behind the other, each kept where it was put.

/// Keys in chunks, each with its length in front.
#[derive(Debug, Default)]
pub struct Arena {
    chunks: Vec<Vec<u8>>,
}

/// A chunk never outgrows its first size, so its bytes never move.
const CHUNK: usize = 1 << 20;
const LENGTH: usize = size_of::<u32>();

impl Arena {
    /// The bytes of the new chunk that `key` needs, if it doesn't fit the last one.
    pub fn needs(&self, key: &[u8]) -> Option<usize> {
        let wanted = key.len() + LENGTH;
        let fits = self.chunks.last().is_some_and(|last| last.capacity() - last.len() >= wanted);
        // Chunks grow from 4 KiB on, so that a small set stays small.
        (!fits).then(|| (4096usize << self.chunks.len().min(8)).min(CHUNK).max(wanted))
    }

    /// The most that so many more keys take, of so many bytes in all.
    pub fn growth(&self, count: usize, bytes: usize) -> u64 {
        let room = self.chunks.last().map_or(0, |last| last.capacity() - last.len());
        let wanted = bytes + count * LENGTH;
        if wanted <= room {
            return 0;
        }
        // Each chunk is up to twice as large as the one before.
        (3 * wanted.max((4096 << self.chunks.len().min(8)).min(CHUNK))) as u64
    }

    /// Adds a key. Gives what [`Self::get`] finds it by.
    pub fn push(&mut self, key: &[u8]) -> u64 {
        if let Some(bytes) = self.needs(key) {
            self.chunks.push(Vec::with_capacity(bytes));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let start = chunk.len();
        let length = u32::try_from(key.len()).expect("a key is made from one record, which is smaller than 4 GiB");
        chunk.extend_from_slice(&length.to_le_bytes());
        chunk.extend_from_slice(key);
        (number as u64) << 32 | start as u64
    }

    /// A key that was added.
    pub fn get(&self, at: u64) -> &[u8] {
        let (chunk, start) = (&self.chunks[(at >> 32) as usize], at as u32 as usize);
        let (length, rest) = chunk[start..].split_first_chunk::<LENGTH>().expect("`push` puts a length first");
        &rest[..u32::from_le_bytes(*length) as usize]
    }
}
