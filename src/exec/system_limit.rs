//! What helps where the system lets a process do no more: open no further file, make a file no larger.

use std::io;

/// What helps against this error, if it is such a limit.
pub(crate) fn help(error: &io::Error) -> Option<String> {
    let (what, limit) = match () {
        () if is_too_many_files(error) => ("have more files open at once", "-n"),
        () if is_too_large(error) => ("make larger files", "-f"),
        () => return None,
    };
    Some(format!("let the program {what}: `ulimit {limit}` shows and sets how far it may go"))
}

/// Whether too many files are open: in this process, or in all.
pub(crate) fn is_too_many_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Whether a file would be larger than the system allows.
fn is_too_large(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_some()
}
