//! Every YAML and CXL example of the manual and the README is run.
//!
//! The word behind the language of a fenced block says how:
//!
//! | block | what is done |
//! | --- | --- |
//! | `yaml` | a whole pipeline: `clinker check` finds no error |
//! | `yaml,check=E203` | a whole pipeline: `clinker check` reports this code |
//! | `text,reported` | what `clinker check` prints about the last pipeline of the page; `text,reported=short` in that form |
//! | `csv,file=in.csv` | a file for the pipelines of the page that are run |
//! | `yaml,run` | a whole pipeline: it runs, and rejects nothing; `yaml,run=2` ends with this exit code |
//! | `csv,written=out.csv` | these columns have these values in a file that the page's pipelines wrote |
//! | `yaml,fragment` | a part of a pipeline: it is valid YAML |
//! | `cxl` | a program over the columns of the manual's example source: it checks |
//! | `cxl,check=E203` | such a program: checking reports this code |
//! | `cxl,fragment` | a part of a program that can't stand alone: it parses |
//! | `cxl,eval` | lines `expression => cell`: what a CSV sink writes; `=> error: message` for a row that fails |

mod keys;
mod links;
mod methods;
mod readme;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::text_map::TextMap;
use clinker::syntax::{cxl, yaml};

use crate::support;

/// What the pipeline of an example is called.
const PIPELINE: &str = "pipeline.yaml";

/// The columns that the manual's CXL examples use, with one row of values.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("id", "int", "7"),
    ("name", "string", "Ada Lovelace"),
    ("code", "string", "007"),
    ("quantity", "int", "3"),
    ("price", "{ type: decimal, scale: 2 }", "19.90"),
    ("weight", "float", "2.5"),
    ("placed", "date", "2024-03-15"),
    ("seen", "date_time", "2024-03-15T10:20:30"),
    ("active", "bool", "true"),
    ("score", "nullable(int)", ""),
    ("note", "nullable(string)", "fragile"),
    ("status", "string", "open"),
    ("country", "string", "NO"),
];

struct Example {
    place: String,
    language: String,
    mode: String,
    text: String,
}

#[test]
fn every_example_of_the_manual_holds() {
    let mut failures = Vec::new();
    let mut count = 0;
    for page in pages() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("out")).expect("a folder can be made");
        for example in examples_of(&page) {
            count += 1;
            if let Err(why) = check(&example, folder.path()) {
                failures.push(format!("{}: {why}\n{}", example.place, example.text));
            }
        }
    }
    assert!(count > 200, "the manual's examples were not found");
    assert!(failures.is_empty(), "{} examples do not hold:\n\n{}", failures.len(), failures.join("\n\n"));
}

/// The README and the pages of the manual.
fn pages() -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let manual = support::files_below(&support::path("docs/src")).into_iter().filter(is_page);
    std::iter::once(support::path("README.md")).chain(manual).collect()
}

fn examples_of(page: &Path) -> Vec<Example> {
    let text = fs::read_to_string(page).expect("a page is text");
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let indent = line.len() - line.trim_start().len();
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| line.trim() != "```")
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect();
        let (language, mode) = info.split_once(',').unwrap_or((info, ""));
        found.push(Example {
            place: format!("{}:{}", page.strip_prefix(support::root()).unwrap_or(page).display(), number + 1),
            language: language.into(),
            mode: mode.into(),
            text: body.join("\n") + "\n",
        });
    }
    found
}

/// Does with an example what its mode says; `folder` is that of its page.
fn check(example: &Example, folder: &Path) -> Result<(), String> {
    let (mode, value) = example.mode.split_once('=').unwrap_or((&example.mode, ""));
    let text = &example.text;
    match (example.language.as_str(), mode) {
        ("yaml", "fragment") => parses_as_yaml(text),
        ("yaml", "run") => run_pipeline(text, if value.is_empty() { "0" } else { value }, folder),
        ("yaml", "" | "check") => check_pipeline(text, value, folder),
        ("text", "reported") => is_reported(text, if value.is_empty() { "rich" } else { value }, folder),
        ("csv", "file") => fs::write(folder.join(value), text).map_err(|error| error.to_string()),
        ("csv", "written") => is_written(text, &folder.join(value)),
        ("cxl", "fragment") => parses_as_cxl(text),
        ("cxl", "eval") => text.lines().filter(|line| line.contains("=>")).try_for_each(evaluates),
        ("cxl", "" | "check") => check_pipeline(&program_pipeline(text, true), value, folder),
        (_, "") => Ok(()),
        (language, mode) => Err(format!("nobody knows what `{language},{mode}` means")),
    }
}

fn parses_as_yaml(text: &str) -> Result<(), String> {
    let mut diagnostics = Diagnostics::new();
    let file = SourceMap::new().add("example", text);
    yaml::parse(file, text, &mut diagnostics);
    nothing_wrong(&diagnostics)
}

fn parses_as_cxl(text: &str) -> Result<(), String> {
    let mut diagnostics = Diagnostics::new();
    let file = SourceMap::new().add("example", text);
    let map = TextMap::identity(file, 0, text.len() as u32);
    let span = map.span(0, text.len() as u32);
    cxl::parse_program(&cxl::Source { text: text.into(), map, span, folds: false }, &mut diagnostics);
    nothing_wrong(&diagnostics)
}

fn nothing_wrong(diagnostics: &Diagnostics) -> Result<(), String> {
    match diagnostics.iter().next() {
        Some(first) => Err(format!("{}: {}", first.code, first.message)),
        None => Ok(()),
    }
}

/// Checks a pipeline; `code` is one that has to be reported, or nothing.
fn check_pipeline(text: &str, code: &str, folder: &Path) -> Result<(), String> {
    fs::write(folder.join(PIPELINE), text).expect("a file can be written");
    let (exit, output) = clinker(folder, &["check", PIPELINE, "--format", "short"]);
    match code {
        "" if exit == 0 => Ok(()),
        "" => Err(output),
        code if output.contains(&format!("[{code}]")) => Ok(()),
        code => Err(format!("{code} was not reported:\n{output}")),
    }
}

fn run_pipeline(text: &str, exit: &str, folder: &Path) -> Result<(), String> {
    fs::write(folder.join(PIPELINE), text).expect("a file can be written");
    let (code, output) = clinker(folder, &["run", PIPELINE]);
    if code.to_string() == exit { Ok(()) } else { Err(format!("exit code {code}:\n{output}")) }
}

/// Whether the last pipeline of the page is reported on like this.
fn is_reported(text: &str, form: &str, folder: &Path) -> Result<(), String> {
    let (_, output) = clinker(folder, &["check", PIPELINE, "--format", form]);
    if output.contains(text) { Ok(()) } else { Err(format!("it is reported as\n{output}")) }
}

/// Whether a file holds these rows, as far as the columns go that are shown.
fn is_written(shown: &str, file: &Path) -> Result<(), String> {
    let written = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (shown_header, shown_rows) = table(shown.as_bytes());
    let (header, rows) = table(&written);
    let place = |name: &String| header.iter().position(|other| other == name).ok_or(format!("no column {name}"));
    let places = shown_header.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect();
    if rows == shown_rows { Ok(()) } else { Err(format!("it holds {rows:?}")) }
}

/// The header of a CSV file, and its rows.
fn table(text: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text);
    let record =
        |record: csv::Result<csv::StringRecord>| record.expect("it is CSV").iter().map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> = reader.records().map(record).collect();
    let header = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
    (header, rows)
}

fn clinker(folder: &Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clinker"));
    let output = command.args(args).current_dir(folder).output().expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// A pipeline around a program; with `passes` the columns of the source go on to the sink.
fn program_pipeline(program: &str, passes: bool) -> String {
    let columns: String = COLUMNS
        .iter()
        .map(|(name, ty, _)| match ty.strip_prefix("{ ") {
            Some(rest) => format!("        - {{ name: {name}, {rest}\n"),
            None => format!("        - {{ name: {name}, type: {ty} }}\n"),
        })
        .collect();
    let program: String = program.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "pipeline: {{ name: example }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      type: csv\n      \
         path: in.csv\n      schema:\n{columns}  - type: transform\n    name: t\n    input: rows\n    config:\n      \
         include_unmapped: {passes}\n      cxl: |\n{program}  - {{ type: sink, name: out, input: t, config: {{ type: csv, \
         path: out.csv }} }}\n"
    )
}

fn evaluates(line: &str) -> Result<(), String> {
    let (expression, expected) = line.rsplit_once("=>").ok_or("a line is `expression => cell`")?;
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    let header: Vec<&str> = COLUMNS.iter().map(|(name, _, _)| *name).collect();
    let row: Vec<&str> = COLUMNS.iter().map(|(_, _, value)| *value).collect();
    fs::write(place.path().join("in.csv"), format!("{}\n{}\n", header.join(","), row.join(","))).expect("writable");
    let pipeline = program_pipeline(&format!("emit value = {}", expression.trim()), false);
    fs::write(place.path().join(PIPELINE), pipeline).expect("a file can be written");
    let (_, output) = clinker(place.path(), &["run", PIPELINE]);
    match expected.trim().strip_prefix("error: ") {
        Some(message) if output.contains(message) => Ok(()),
        Some(message) => Err(format!("`{line}`: no error {message:?}:\n{output}")),
        None => {
            let written = fs::read(place.path().join("out.csv")).map_err(|_| format!("`{line}`: {output}"))?;
            let mut reader = csv::Reader::from_reader(written.as_slice());
            let cell = reader.records().next().and_then(Result::ok).map(|record| record[0].to_owned());
            match cell {
                Some(cell) if cell == unquoted(expected.trim()) => Ok(()),
                cell => Err(format!("`{line}`: the cell is {cell:?}")),
            }
        }
    }
}

/// A cell as an example writes it: `null` and `""` for an empty one, quotes around text with blanks at its ends.
fn unquoted(expected: &str) -> &str {
    match expected {
        "null" => "",
        text => text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text),
    }
}
