//! Strings of bytes one behind the other, in chunks that hardly move.

/// The strings, by number. What is held depends on the strings alone, and not on how many came at a time.
#[derive(Default, Debug)]
pub struct Strings {
    chunks: Vec<Chunk>,
    /// For each chunk, how many strings there are before it.
    starts: Vec<usize>,
    /// What the full chunks hold, in bytes.
    full: u64,
    count: usize,
}

/// Strings side by side.
#[derive(Default, Debug)]
struct Chunk {
    bytes: Vec<u8>,
    /// How many bytes are enough.
    enough: usize,
    /// Where each string ends.
    ends: Vec<u32>,
}

/// Bytes that are enough for a chunk of strings that come one by one.
const ENOUGH: usize = 64 << 10;
/// Fewest items that vectors have room for.
const FEWEST: usize = 4;

impl Chunk {
    fn cost(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()) as u64
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= self.enough
    }

    /// The most that is taken when a string of so many bytes is added, in bytes: what moves is there twice for a moment. It
    /// may be written part by part, so that room for it grows more than once.
    fn growth(&self, bytes: usize) -> u64 {
        self.room_for(1, bytes, |capacity, wanted| 2 * capacity.max(wanted))
    }

    /// What is taken when room is made at once for so many strings, of so many bytes in all.
    fn growth_at_once(&self, count: usize, bytes: usize) -> u64 {
        self.room_for(count, bytes, |capacity, wanted| (2 * capacity).max(wanted))
    }

    fn room_for(&self, count: usize, bytes: usize, grown: impl Fn(usize, usize) -> usize) -> u64 {
        let room = |length: usize, capacity: usize, more: usize| match length + more > capacity {
            true => grown(capacity, length + more).max(2 * FEWEST),
            false => 0,
        };
        let ends = room(self.ends.len(), self.ends.capacity(), count) * size_of::<u32>();
        (room(self.bytes.len(), self.bytes.capacity(), bytes) + ends) as u64
    }

    fn string(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start as usize..self.ends[number] as usize]
    }
}

impl Strings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A string.
    pub fn get(&self, number: usize) -> &[u8] {
        let chunk = self.starts.partition_point(|start| *start <= number) - 1;
        self.chunks[chunk].string(number - self.starts[chunk])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().flat_map(|chunk| (0..chunk.ends.len()).map(|number| chunk.string(number)))
    }

    /// Adds a string, which `write` appends. Gives its length.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.chunks.last().is_none_or(Chunk::is_full) {
            self.begin_chunk(ENOUGH);
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that isn't full");
        let before = chunk.bytes.len();
        write(&mut chunk.bytes);
        chunk.ends.push(u32::try_from(chunk.bytes.len()).expect("a value is far smaller than 4 GiB"));
        self.count += 1;
        chunk.bytes.len() - before
    }

    /// Makes room for so many strings that are added next, of so many bytes in all: they stay side by side.
    pub fn reserve(&mut self, count: usize, bytes: usize) {
        if bytes >= ENOUGH || self.chunks.last().is_none_or(Chunk::is_full) {
            self.begin_chunk(ENOUGH);
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that isn't full");
        chunk.bytes.reserve(bytes);
        chunk.ends.reserve(count);
        chunk.enough = chunk.enough.max(chunk.bytes.len() + bytes);
    }

    fn begin_chunk(&mut self, enough: usize) {
        if let Some(last) = self.chunks.last_mut() {
            last.bytes.shrink_to_fit();
            last.ends.shrink_to_fit();
            self.full += last.cost();
        }
        self.starts.push(self.count);
        self.chunks.push(Chunk { enough, ..Chunk::default() });
    }

    /// What is held, in bytes.
    pub fn bytes(&self) -> u64 {
        let lists = self.chunks.capacity() * size_of::<Chunk>() + self.starts.capacity() * size_of::<usize>();
        self.full + self.chunks.last().map_or(0, Chunk::cost) + lists as u64
    }

    /// The most that is held while so many strings are added, of so many bytes in all.
    pub fn bound(&self, count: usize, bytes: usize) -> u64 {
        match (count, self.chunks.last()) {
            (0, _) => self.bytes(),
            (1, Some(last)) if !last.is_full() => self.bytes() + last.growth(bytes),
            (1, _) => self.bytes() + self.lists_with(1) + Chunk::default().growth(bytes),
            // Vectors have room for twice of what they need, and move to twice of that.
            _ => {
                let last = self.chunks.last().map_or(0, Chunk::cost);
                let growing = 4 * (last + (bytes + count * size_of::<u32>()) as u64);
                self.bytes() + growing + self.lists_with(bytes / ENOUGH + 1) + Chunk::default().growth(1)
            }
        }
    }

    /// The most that is held while room is [reserved](Self::reserve), and taken.
    pub fn bound_reserved(&self, count: usize, bytes: usize) -> u64 {
        match self.chunks.last() {
            Some(last) if bytes < ENOUGH && !last.is_full() => self.bytes() + last.growth_at_once(count, bytes),
            _ => self.bytes() + self.lists_with(1) + Chunk::default().growth_at_once(count, bytes),
        }
    }

    /// What the lists of chunks take when there are so many more, if they have to move.
    fn lists_with(&self, chunks: usize) -> u64 {
        let (length, capacity) = (self.chunks.len() + chunks, self.chunks.capacity());
        let room = if length > capacity { (2 * capacity).max(length).max(FEWEST) } else { 0 };
        (room * (size_of::<Chunk>() + size_of::<usize>())) as u64
    }
}
