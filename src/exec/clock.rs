//! What time the operators of a run take, where somebody asked for it.

use std::time::{Duration, Instant};

/// Tells how long each step of a piece of work took. One that is not asked for never looks at the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Option<Instant>);

impl Clock {
    /// A clock that begins now, if it is asked for.
    pub fn new(is_asked_for: bool) -> Self {
        Self(is_asked_for.then(Instant::now))
    }

    /// The time since the last lap.
    pub fn lap(&mut self) -> Duration {
        let Some(since) = &mut self.0 else { return Duration::ZERO };
        let now = Instant::now();
        let lap = now - *since;
        *since = now;
        lap
    }
}
