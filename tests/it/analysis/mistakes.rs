//! What analysis says about mistakes: one pipeline a topic, all of its findings in one report.

use super::analyse;
use crate::support::{assert_snapshot, path};
use clinker::diagnostics::render::{Format, render};

/// Each file of `tests/cases/analysis/mistakes` begins with the codes that it gets, in order of place.
#[test]
fn every_mistake_is_reported_once() {
    let folder = path("tests/cases/analysis/mistakes");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() > 10, "the folder has lost its files");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.file_stem().expect("a name").to_string_lossy();
        let analysed = analyse(&text);
        let found = analysed.diagnostics.sorted();
        let report = render(Format::Rich { colour: false }, &analysed.sources, &found);
        assert_snapshot(&format!("analysis/mistakes/{name}"), &report);
        let expected = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a first line with codes");
        let codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes.join(" "), expected, "{name}:\n{report}");
    }
}
