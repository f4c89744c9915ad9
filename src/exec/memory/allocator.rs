//! What the system's allocator does with memory that is given back.

/// Freed memory of at least and at most this much stays with the process.
const KEPT: (u64, u64) = (4 << 20, 32 << 20);

/// What is larger is mapped on its own, and goes back to the system at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: i32 = 4 << 20;

/// Heaps that workers share. Each keeps freed memory of its own, so one for each of many workers would hold as much again
/// as is in use; a worker asks for so few and so large pieces that two are enough.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: i32 = 2;

/// Lets the process keep the memory that one block gives back for the next one: an eighth of a memory limit, within bounds.
///
/// A block's columns take a few hundred kilobytes, freed when the block is written. By default the GNU allocator hands
/// them back to the system each time and gets them again page by page, which costs a third of the CPU time of a
/// streaming run. It is a setting of the whole process, so the program makes it, not the library.
pub fn keep_freed_memory(limit: u64) {
    let kept = (limit / 8).clamp(KEPT.0, KEPT.1);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: `mallopt` takes two numbers, checks them, and may be called at any time.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, kept as i32);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_ARENA_MAX, HEAPS);
        }
    }
}

/// Gives freed memory back to the system.
///
/// Spilling frees many pieces of all sizes between others that stay. New ones rarely fit exactly, so that the process
/// would take more and more beside what is in use.
pub fn give_back_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: `malloc_trim` takes a number and may be called at any time.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
