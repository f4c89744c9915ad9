//! What blocks on their way take beside the memory limit: a little, and not more than that.

/// Least and most of it.
const BOUNDS: (u64, u64) = (1 << 20, 12 << 20);
/// How many times its text a worker takes for the blocks it has on their way: text, fields, columns, those that
/// expressions make, what is written, and rows that a buffer is to hold. Measured: 8 to 10 where rows are only read and
/// written, 18 where texts are made and groups are held.
const EXPANSION: u64 = 18;
/// Smaller blocks would cost more time than they save memory.
const SMALLEST: u64 = 16 << 10;

/// The most that blocks on their way are meant to take under a memory limit, in bytes.
pub fn working_set(limit: u64) -> u64 {
    (limit / 4).clamp(BOUNDS.0, BOUNDS.1)
}

/// Bytes of text in a block where `blocks` may be on their way at once, in place of the usual two a worker; at most
/// `wanted`.
pub fn block_size_of(blocks: usize, wanted: usize, threads: usize) -> usize {
    let share = wanted * 2 * threads.max(1) / blocks.max(1);
    wanted.min(share.max(SMALLEST as usize))
}

/// Bytes of text in a block with which so many workers stay within the working set; at most `wanted`.
pub fn block_size(wanted: usize, limit: u64, threads: usize) -> usize {
    let fitting = working_set(limit) / EXPANSION / threads.max(1) as u64;
    wanted.min(fitting.max(SMALLEST) as usize)
}

/// Bytes that one block may take, with so many workers: two blocks of each are on their way.
pub fn block_share(limit: u64, threads: usize) -> u64 {
    const LEAST: u64 = 12 * SMALLEST;
    (working_set(limit) / (2 * threads.max(1) as u64)).max(LEAST)
}

/// Bytes that the texts of one batch may take, with so many workers.
pub fn batch_share(limit: u64, threads: usize) -> u64 {
    const LEAST: u64 = 256 << 10;
    (working_set(limit) / (4 * threads.max(1) as u64)).max(LEAST)
}

/// The most that a single row of a block may take beside a memory limit, in bytes: what is more is reserved.
pub fn most_of_a_row(limit: u64) -> u64 {
    const LEAST: u64 = 128 << 10;
    (working_set(limit) / 16).max(LEAST)
}
