//! Strings of bytes one behind the other, in chunks that hardly move: of 64 KiB, as long as strings come one by one. Many
//! that come at once make larger chunks, which have just the size that they need.

/// The strings, by number. What is held of strings that are [pushed](Self::push) depends on them alone, and not on how many
/// came at a time.
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
    /// Where each string ends.
    ends: Vec<u32>,
}

/// Bytes that are enough for a chunk of strings that come one by one.
const ENOUGH: usize = 64 << 10;
/// The most bytes of a chunk of strings that come at once, unless a single one has more.
const MOST: usize = 1 << 20;
/// Fewest items that vectors have room for.
const FEWEST: usize = 4;

impl Chunk {
    fn cost(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()) as u64
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= ENOUGH
    }

    /// The most that is taken when a string of so many bytes is added, in bytes: what moves is there twice for a moment. It
    /// may be written part by part, so that room for it grows more than once.
    fn growth(&self, bytes: usize) -> u64 {
        self.room_for(1, bytes, |capacity, wanted| 2 * capacity.max(wanted))
    }

    /// The most that is taken when room is made at once for so many strings, of so many bytes in all.
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

    /// Notes that a string ends here.
    fn end(&mut self) {
        self.ends.push(u32::try_from(self.bytes.len()).expect("a value is far smaller than 4 GiB"));
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
            self.begin_chunk();
        }
        let chunk = self.last_chunk();
        let before = chunk.bytes.len();
        write(&mut chunk.bytes);
        chunk.end();
        let length = chunk.bytes.len() - before;
        self.count += 1;
        length
    }

    /// Adds strings at once.
    pub fn append<'b>(&mut self, mut strings: impl Iterator<Item = &'b [u8]> + Clone) {
        loop {
            let (count, bytes) = side_by_side(strings.clone());
            if count == 0 {
                return;
            }
            if !self.has_last_chunk_for(bytes) {
                self.begin_chunk();
            }
            let chunk = self.last_chunk();
            chunk.bytes.reserve(bytes);
            chunk.ends.reserve(count);
            for string in strings.by_ref().take(count) {
                chunk.bytes.extend_from_slice(string);
                chunk.end();
            }
            self.count += count;
        }
    }

    /// Whether strings of so many bytes in all go into the last chunk when they come at once.
    fn has_last_chunk_for(&self, bytes: usize) -> bool {
        self.chunks.last().is_some_and(|last| last.bytes.len() + bytes <= ENOUGH)
    }

    fn last_chunk(&mut self) -> &mut Chunk {
        self.chunks.last_mut().expect("a chunk was begun")
    }

    fn begin_chunk(&mut self) {
        if let Some(last) = self.chunks.last_mut() {
            last.bytes.shrink_to_fit();
            last.ends.shrink_to_fit();
            self.full += last.cost();
        }
        self.starts.push(self.count);
        self.chunks.push(Chunk::default());
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

    /// The most that is held while so many strings, of so many bytes in all, are [appended](Self::append).
    pub fn bound_at_once(&self, count: usize, bytes: usize) -> u64 {
        match self.chunks.last() {
            _ if count == 0 => self.bytes(),
            Some(last) if self.has_last_chunk_for(bytes) => self.bytes() + last.growth_at_once(count, bytes),
            last => {
                // Two chunks side by side have more than the most of one. The first of the strings may go into the last chunk.
                let chunks = 2 * (bytes / MOST) + 1;
                let own = Chunk::default().growth_at_once(count, bytes) + chunks as u64 * Chunk::default().growth(1);
                let last = last
                    .filter(|last| bytes > MOST && !last.is_full())
                    .map_or(0, |last| last.growth_at_once(count, ENOUGH));
                self.bytes() + self.lists_with(chunks) + own + last
            }
        }
    }

    /// What the lists of chunks take when there are so many more, if they have to move.
    fn lists_with(&self, chunks: usize) -> u64 {
        let (length, capacity) = (self.chunks.len() + chunks, self.chunks.capacity());
        let room = if length > capacity { (2 * capacity).max(length).max(FEWEST) } else { 0 };
        (room * (size_of::<Chunk>() + size_of::<usize>())) as u64
    }
}

/// How many of some strings stand in a chunk of their own, and their bytes.
fn side_by_side<'b>(strings: impl Iterator<Item = &'b [u8]>) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    for string in strings {
        if count > 0 && bytes + string.len() > MOST {
            break;
        }
        (count, bytes) = (count + 1, bytes + string.len());
    }
    (count, bytes)
}
