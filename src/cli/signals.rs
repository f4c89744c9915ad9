//! Ctrl-C, Ctrl-\, a polite kill and a terminal that hangs up stop a run between two blocks; a second such signal stops
//! the process at once. The signal for a file above the size limit is caught, so that the write fails instead, as on a
//! full disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of a run that was asked to stop by Ctrl-C or a polite kill.
const INTERRUPTED: u8 = 130;

/// Whether the run is to stop.
#[derive(Clone)]
pub(super) struct Stop {
    asked: Arc<AtomicBool>,
    exit_code: Arc<AtomicUsize>,
}

impl Stop {
    /// Whether a signal asked for it.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The exit code of a run that stopped for it.
    pub(super) fn exit_code(&self) -> u8 {
        u8::try_from(self.exit_code.load(Ordering::Relaxed)).unwrap_or(INTERRUPTED)
    }
}

/// Listens for signals from now on.
pub(super) fn watch() -> io::Result<Stop> {
    let stop = Stop { asked: Arc::default(), exit_code: Arc::new(AtomicUsize::new(INTERRUPTED.into())) };
    listen(SIGINT, INTERRUPTED, &stop)?;
    listen(SIGTERM, INTERRUPTED, &stop)?;
    #[cfg(unix)]
    listen_on_unix(&stop)?;
    Ok(stop)
}

fn listen(signal: i32, exit_code: u8, stop: &Stop) -> io::Result<()> {
    // In this order: the first signal finds the flag false and goes on to set it, the second finds it true.
    flag::register_conditional_shutdown(signal, exit_code.into(), Arc::clone(&stop.asked))?;
    flag::register_usize(signal, Arc::clone(&stop.exit_code), exit_code.into())?;
    flag::register(signal, Arc::clone(&stop.asked))?;
    Ok(())
}

#[cfg(unix)]
fn listen_on_unix(stop: &Stop) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGXFSZ};
    flag::register(SIGXFSZ, Arc::default())?;
    for (signal, exit_code) in [(SIGHUP, 129), (SIGQUIT, 131)] {
        if !is_ignored(signal) {
            listen(signal, exit_code, stop)?;
        }
    }
    Ok(())
}

/// Whether whoever started the process wants it to go on after a signal, as `nohup` does. Where the system doesn't
/// tell, it counts as wanted: the signal then does what it does to any program.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mask = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    mask().is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}
