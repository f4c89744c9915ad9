//! Ctrl-C and a polite kill stop a run between two blocks; a second one stops the process at once. The signal for a
//! file above the size limit is caught, so that the write fails instead, as on a full disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of an interrupted run.
const INTERRUPTED: i32 = 130;

/// A flag that becomes true at the first signal.
pub(super) fn watch() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    flag::register(libc::SIGXFSZ, Arc::default())?;
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag false and goes on to set it, the second finds it true.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
