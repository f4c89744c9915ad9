//! Writing to the two standard streams. A stream that fails never makes the program panic.

use std::io::{self, ErrorKind, IsTerminal, Write};

/// Writes what was asked for to standard output. False if that failed, which is reported as an error.
pub(super) fn document(text: &str) -> bool {
    let written = write(text);
    if let Err(error) = &written {
        error_line(&format!("error: can't write to standard output: {error}"));
    }
    written.is_ok()
}

/// Writes what there is to say about a completed run to standard output. The outputs are published whether or not this
/// can be read, so a failure is only warned of.
pub(super) fn closing_words(text: &str) {
    if let Err(error) = write(text) {
        let published = "the run completed and its outputs are published";
        error_line(&format!("warning: {published}, but the summary can't be written to standard output: {error}"));
    }
}

/// Writes to standard output. A reader that went away is not a failure.
fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
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
