//! End-to-end cases: every folder of `tests/cases/run/` is a pipeline with its inputs and what must come of it.
//!
//! A case is copied to a temporary folder and `clinker` runs there. `case.json` may hold `args` (default
//! `["run", "pipeline.yaml"]`), `exit` (default 0), `mkdirs`, and `dead_letters`: the names of dead-letter files,
//! whose ids and timestamps are replaced before they are compared. Everything the run leaves behind is compared with
//! the folder `expect/`, which also holds `stdout.txt` and `stderr.txt`; figures that change from run to run are
//! replaced in both. `CASES_UPDATE=1 cargo test cases` writes what the run gave; read the difference before
//! committing it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde::Deserialize;

use crate::support;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Case {
    note: String,
    args: Option<Vec<String>>,
    exit: i32,
    mkdirs: Vec<String>,
    dead_letters: Vec<String>,
}

/// The files below a folder by relative path.
type Files = BTreeMap<String, String>;

#[test]
fn every_case_gives_what_it_expects() {
    let folder = support::path("tests/cases/run");
    let mut failures = Vec::new();
    let names = case_names(&folder);
    assert!(names.len() > 10 || std::env::var_os("CASE").is_some(), "the cases are missing");
    for name in names {
        if let Err(difference) = run_case(&folder.join(&name)) {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
}

fn case_names(folder: &Path) -> BTreeSet<String> {
    let only = std::env::var("CASE").unwrap_or_default();
    let entries = fs::read_dir(folder).expect("the cases are in the repository");
    entries
        .map(|entry| entry.expect("the folder can be listed").file_name().into_string().expect("case names are UTF-8"))
        .filter(|name| name.contains(&only) && folder.join(name).join("pipeline.yaml").exists())
        .collect()
}

fn run_case(source: &Path) -> Result<(), String> {
    let text = fs::read_to_string(source.join("case.json")).unwrap_or_else(|_| "{}".into());
    let case: Case = serde_json::from_str(&text).map_err(|error| format!("case.json: {error}"))?;
    assert!(case.note.len() < 400, "a note is a line or two");
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    copy_inputs(source, place.path());
    for folder in &case.mkdirs {
        fs::create_dir_all(place.path().join(folder)).expect("a folder can be made");
    }
    let before = read_all(place.path());
    let args = case.args.clone().unwrap_or_else(|| vec!["run".into(), "pipeline.yaml".into()]);
    let output = Command::new(env!("CARGO_BIN_EXE_clinker"))
        .args(&args)
        .current_dir(place.path())
        .env_remove("RUST_BACKTRACE")
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs");
    let mut found = read_all(place.path());
    found.retain(|name, text| before.get(name) != Some(text));
    for name in &case.dead_letters {
        if let Some(text) = found.get_mut(name) {
            *text = support::settled(text);
        }
    }
    for (name, bytes) in [("stdout.txt", &output.stdout), ("stderr.txt", &output.stderr)] {
        let text = normalise_output(&String::from_utf8_lossy(bytes));
        if !text.is_empty() {
            found.insert(name.into(), text);
        }
    }
    let expect = source.join("expect");
    if std::env::var_os("CASES_UPDATE").is_some() {
        write_all(&expect, &found);
    }
    let code = output.status.code();
    if code != Some(case.exit) {
        return Err(format!("exit {code:?}, expected {}: {}", case.exit, String::from_utf8_lossy(&output.stderr)));
    }
    compare(&read_all(&expect), &found)
}

fn copy_inputs(from: &Path, to: &Path) {
    for (name, path) in list(from) {
        if name != "case.json" && !name.starts_with("expect/") {
            let target = to.join(&name);
            fs::create_dir_all(target.parent().expect("a file lies in a folder")).expect("a folder can be made");
            fs::copy(path, target).expect("a file can be copied");
        }
    }
}

/// The files below a folder, which may be missing, by relative path.
fn list(folder: &Path) -> BTreeMap<String, PathBuf> {
    let files = if folder.exists() { support::files_below(folder) } else { Vec::new() };
    let name = |path: &Path| path.strip_prefix(folder).expect("it lies below").to_string_lossy().replace('\\', "/");
    files.into_iter().map(|path| (name(&path), path)).collect()
}

fn read_all(folder: &Path) -> Files {
    let read = |path| String::from_utf8_lossy(&fs::read(path).expect("a file can be read")).into_owned();
    list(folder).into_iter().map(|(name, path)| (name, read(path))).collect()
}

fn write_all(folder: &Path, files: &Files) {
    let _ = fs::remove_dir_all(folder);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }
}

fn compare(expected: &Files, found: &Files) -> Result<(), String> {
    for (name, text) in expected {
        match found.get(name) {
            None => return Err(format!("`{name}` was not written")),
            Some(other) if other != text => return Err(format!("`{name}` differs: {}", first_difference(text, other))),
            Some(_) => {}
        }
    }
    match found.keys().find(|name| !expected.contains_key(*name)) {
        Some(name) => Err(format!("`{name}` was written and is not expected:\n{}", found[name])),
        None => Ok(()),
    }
}

fn first_difference(expected: &str, found: &str) -> String {
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((number, (a, b))) => format!("line {}:\n  expected {a:?}\n  found    {b:?}", number + 1),
        None => format!("{} lines expected, {} found", expected.lines().count(), found.lines().count()),
    }
}

/// Replaces what changes from run to run: durations, sizes of memory, rates.
fn normalise_output(text: &str) -> String {
    let figures = [
        (r"\d+(\.\d+)? ?(ms|µs|s)\b", "<time>"),
        (r"peak memory \d+(\.\d+)?[BKMG]\b", "peak memory <size>"),
        (r", \d+(\.\d+)?[BKMG] reserved", ", <size> reserved"),
        (r"own size of \d+(\.\d+)?[BKMG]\b", "own size of <size>"),
        (r"  in .*, no cap", "  in <folder>, no cap"),
        (r"/tmp/[^\s:]+", "<folder>"),
    ];
    figures.iter().fold(text.to_owned(), |text, (pattern, with)| {
        Regex::new(pattern).expect("a valid pattern").replace_all(&text, *with).into_owned()
    })
}
