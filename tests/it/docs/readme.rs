//! What the README shows of its example is what the program says.

use std::fs;
use std::path::Path;

use super::{clinker, table};
use crate::support;

/// Where the example lies.
const FOLDER: &str = "examples/flights";

/// The README's first fenced block of a language behind a heading.
fn shown(heading: &str, language: &str) -> String {
    let readme = fs::read_to_string(support::path("README.md")).expect("there is a README");
    let (_, section) = readme.split_once(&format!("\n## {heading}\n")).expect("the README has this section");
    let (_, block) = section.split_once(&format!("\n```{language}\n")).expect("the section has such a block");
    block.split_once("\n```").expect("a block ends").0.to_owned()
}

/// A folder with a copy of the example in it.
fn copy() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = place.path().join(FOLDER);
    fs::create_dir_all(folder.join("out")).expect("a folder can be made");
    for name in ["flights.yaml", "flights.csv"] {
        fs::copy(support::path(FOLDER).join(name), folder.join(name)).expect("a file can be copied");
    }
    place
}

fn run(place: &Path, args: &[&str]) -> (i32, String) {
    let pipeline = format!("{FOLDER}/flights.yaml");
    clinker(place, &[&["run", &pipeline], args].concat())
}

#[test]
fn the_run_ends_as_the_readme_says() {
    let place = copy();
    let (code, output) = run(place.path(), &[]);
    assert_eq!(code, 2, "{output}");
    let shown = shown("Run it", "text");
    let (figures, timing) = shown.rsplit_once("\n\n").expect("the time stands last");
    assert!(output.starts_with(&format!("{figures}\n\n")), "the README's summary is not that of the run:\n{output}");
    assert!(timing.starts_with("2.4M read in "), "{timing}");
}

/// The README shows some columns of one dead letter, one a line.
#[test]
fn the_dead_letter_is_in_the_file() {
    let place = copy();
    run(place.path(), &["--quiet"]);
    let letters = fs::read(place.path().join(FOLDER).join("out/rejected.csv")).expect("the run wrote it");
    let (header, rows) = table(&letters);
    let readme = fs::read_to_string(support::path("README.md")).expect("there is a README");
    let cell = |line: &str| {
        let (name, value) = line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("` | `")?;
        name.starts_with("_cxl_dlq").then(|| (name.to_owned(), value.to_owned()))
    };
    let shown: Vec<(String, String)> = readme.lines().filter_map(cell).collect();
    assert!(shown.len() >= 5, "the README shows a dead letter");
    let place = |name: &String| header.iter().position(|other| other == name);
    let is_shown =
        |row: &&Vec<String>| shown.iter().all(|(name, value)| place(name).is_some_and(|at| row[at] == *value));
    assert_eq!(rows.iter().filter(is_shown).count(), 1, "no dead letter holds {shown:?}");
}

#[test]
fn the_plan_is_the_one_in_the_readme() {
    let place = copy();
    let (code, plan) = run(place.path(), &["--explain"]);
    assert_eq!(code, 0, "{plan}");
    for part in shown("See the plan", "text").split("\n\n") {
        let part = part.trim_end_matches("\n…");
        assert!(plan.contains(&format!("{part}\n")), "{part}\n\nis no part of\n\n{plan}");
    }
}

#[test]
fn mistakes_are_reported_as_the_readme_shows() {
    let place = copy();
    let folder = place.path().join(FOLDER);
    let pipeline = fs::read_to_string(folder.join("flights.yaml")).expect("the example is there");
    let broken = pipeline
        .replace("filter distance >= 150\n", "filter distance >= \"150\"\n")
        .replace("emit aircraft = tailnum\n", "emit aircraft = tailnumber\n");
    fs::write(folder.join("broken.yaml"), broken).expect("a file can be written");
    let (code, output) = clinker(&folder, &["check", "broken.yaml"]);
    assert_eq!(code, 1, "{output}");
    assert_eq!(format!("$ clinker check broken.yaml\n{}", output.trim_end()), shown("Break it", "console"));
}
