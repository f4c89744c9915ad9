//! Tells the C library's allocator to keep what a worker frees.
//!
//! A worker allocates and frees the same few hundred kilobytes for every batch. By default glibc gives the top of the
//! heap back to the kernel each time and takes page faults to get it again, under a lock that all threads share;
//! that costs more than half of the time of a streaming run.

/// Bytes at the top of the heap that are kept when they are free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 8 * 1024 * 1024;

/// Bytes from which a block is mapped on its own, and given back as soon as it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: libc::c_int = 4 * 1024 * 1024;

/// To be called once, before threads are started. Other C libraries are left as they are.
pub(super) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` takes plain integers and may be called at any time; a value it does not like it ignores.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
    }
}
