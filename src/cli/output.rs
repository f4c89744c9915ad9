//! Writing to the two standard streams. A stream that fails never makes the program panic.

use std::io::{self, ErrorKind, IsTerminal, Write};

/// Writes a document to standard output. False if that failed; a reader that went away is not a failure, anything
/// else is reported.
pub(super) fn document(text: &str) -> bool {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            error_line(&format!("error: can't write to standard output: {error}"));
            false
        }
    }
}

/// Writes text to standard error; there is nowhere to report that it failed.
pub(super) fn errors(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a line to standard error.
pub(super) fn error_line(line: &str) {
    errors(&format!("{line}\n"));
}

/// Whether standard error is a terminal.
pub(super) fn on_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether text on standard error is coloured: on a terminal that can, unless `NO_COLOR` is set.
pub(super) fn coloured() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    on_terminal() && !set("NO_COLOR") && !dumb
}
