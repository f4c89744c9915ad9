//! Which part of the program may know what: read from its source, so that nobody has to remember it.

use crate::support::{files_below, path};

/// The files below `src` whose text, comments aside, holds one of `words`, by path relative to `src`.
fn files_with(words: &[&str]) -> Vec<String> {
    let root = path("src");
    let holds = |line: &str| !line.trim_start().starts_with("//") && words.iter().any(|word| line.contains(word));
    let files = files_below(&root);
    assert!(files.len() > 100, "the source is missing");
    let found = files.iter().filter(|file| std::fs::read_to_string(file).expect("source is text").lines().any(holds));
    found.map(|file| file.strip_prefix(&root).expect("it lies below").to_string_lossy().replace('\\', "/")).collect()
}

/// Checks that only files below `allowed` hold one of `words`, and that each entry of `allowed` is needed.
fn only(words: &[&str], allowed: &[&str]) {
    let files = files_with(words);
    let is_allowed = |file: &&String| allowed.iter().any(|place| file.starts_with(place));
    let strangers: Vec<&String> = files.iter().filter(|file| !is_allowed(file)).collect();
    assert!(strangers.is_empty(), "{words:?} in {strangers:?}");
    let idle: Vec<_> = allowed.iter().filter(|place| !files.iter().any(|file| file.starts_with(**place))).collect();
    assert!(idle.is_empty(), "{words:?} is allowed in {idle:?} for no reason");
}

#[test]
fn arrow_is_named_by_the_data_plane_and_formats_only() {
    only(&["arrow_array", "arrow_buffer"], &["exec/aggregate/", "exec/batch", "exec/eval/", "exec/keys/", "formats/"]);
}

#[test]
fn unsafe_code_has_few_places() {
    let allowed = [
        "exec/batch",
        "exec/eval/operators/choose.rs",
        "exec/eval/rows.rs",
        "exec/memory/",
        "exec/rest/read.rs",
        "formats/csv/kernels/",
    ];
    only(&["unsafe "], &allowed);
}

#[test]
fn the_compiler_does_not_know_the_interpreter() {
    let below = ["crate::exec", "crate::formats", "crate::cli"];
    let knowing = files_with(&below);
    let compiler = |file: &&String| ["syntax/", "analysis/", "plan/"].iter().any(|part| file.starts_with(part));
    assert_eq!(knowing.iter().filter(compiler).collect::<Vec<_>>(), Vec::<&String>::new());
    let above = files_with(&["crate::plan", "crate::analysis"]);
    assert!(!above.iter().any(|file| file.starts_with("syntax/")), "{above:?}");
}

#[test]
fn only_the_command_line_prints_and_exits() {
    only(&["println!", "eprint!", " print!", "process::exit", "io::stdout", "io::stderr"], &["cli/"]);
}
