//! Work that all workers do together.

/// Runs `work` once for each of `threads` workers, with the worker's number, all at once where the system lets them.
/// Returns when all are done.
pub(super) fn on_all(threads: usize, work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for worker in 1..threads {
            let work = &work;
            // The system may refuse a thread; then this one does its work.
            if std::thread::Builder::new().spawn_scoped(scope, move || work(worker)).is_err() {
                work(worker);
            }
        }
        work(0);
    });
}
