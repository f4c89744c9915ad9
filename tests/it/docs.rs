//! Every YAML and CXL example of the manual and the README is run.
//!
//! The word behind the language of a fenced block says how:
//!
//! | block | what is done |
//! | --- | --- |
//! | `yaml` | a whole pipeline: `clinker check` finds no error |
//! | `yaml,check=E203` | a whole pipeline: `clinker check` reports this code |
//! | `yaml,fragment` | a part of a pipeline: it is valid YAML |
//! | `cxl` | a program over the columns of the manual's example source: it checks |
//! | `cxl,check=E203` | such a program: checking reports this code |
//! | `cxl,fragment` | a part of a program that can't stand alone: it parses |
//! | `cxl,eval` | lines `expression => cell`: what a CSV sink writes; `=> error: message` for a row that fails |

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clinker::analysis::functions::Function;
use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::text_map::TextMap;
use clinker::syntax::{cxl, yaml};

use crate::support;

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
    let mut examples = Vec::new();
    let mut pages = vec![support::path("README.md")];
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    pages.extend(support::files_below(&support::path("docs/src")).into_iter().filter(is_page));
    for page in &pages {
        examples.extend(examples_of(page));
    }
    assert!(examples.len() > 30, "the manual's examples were not found");
    let failures: Vec<String> = examples
        .iter()
        .filter_map(|example| check(example).err().map(|why| format!("{}: {why}\n{}", example.place, example.text)))
        .collect();
    assert!(failures.is_empty(), "{} examples do not hold:\n\n{}", failures.len(), failures.join("\n\n"));
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
        if matches!(language, "yaml" | "cxl") {
            found.push(Example {
                place: format!("{}:{}", page.strip_prefix(support::root()).unwrap_or(page).display(), number + 1),
                language: language.into(),
                mode: mode.into(),
                text: body.join("\n") + "\n",
            });
        }
    }
    found
}

fn check(example: &Example) -> Result<(), String> {
    match (example.language.as_str(), example.mode.as_str()) {
        ("yaml", "fragment") => parses_as_yaml(&example.text),
        ("yaml", mode) => check_pipeline(&example.text, mode),
        ("cxl", "fragment") => parses_as_cxl(&example.text),
        ("cxl", "eval") => example.text.lines().filter(|line| line.contains("=>")).try_for_each(evaluates),
        ("cxl", mode) => check_pipeline(&program_pipeline(&example.text, true), mode),
        _ => Ok(()),
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
    cxl::parse_program(&cxl::Source { text: text.into(), map, span }, &mut diagnostics);
    nothing_wrong(&diagnostics)
}

fn nothing_wrong(diagnostics: &Diagnostics) -> Result<(), String> {
    match diagnostics.iter().next() {
        Some(first) => Err(format!("{}: {}", first.code, first.message)),
        None => Ok(()),
    }
}

fn check_pipeline(text: &str, mode: &str) -> Result<(), String> {
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(place.path().join("out")).expect("a folder can be made");
    fs::write(place.path().join("pipeline.yaml"), text).expect("a file can be written");
    let (code, output) = clinker(place.path(), &["check", "pipeline.yaml", "--format", "short"]);
    match mode.strip_prefix("check=") {
        None if code == 0 => Ok(()),
        None => Err(output),
        Some(wanted) if output.contains(&format!("[{wanted}]")) => Ok(()),
        Some(wanted) => Err(format!("{wanted} was not reported:\n{output}")),
    }
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
    fs::write(place.path().join("pipeline.yaml"), pipeline).expect("a file can be written");
    let (_, output) = clinker(place.path(), &["run", "pipeline.yaml"]);
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

/// The page of methods is made from what the checker knows of them. `DOCS_UPDATE=1 cargo test docs` writes it.
#[test]
fn the_page_of_methods_is_current() {
    let page = support::path("docs/src/cxl/methods.md");
    let text = methods_page();
    if std::env::var_os("DOCS_UPDATE").is_some() {
        fs::write(&page, &text).expect("the manual can be written");
    }
    assert!(fs::read_to_string(&page).unwrap_or_default() == text, "run with DOCS_UPDATE=1 to write the page anew");
}

/// The first method of each part of the page.
const PARTS: &[(Function, &str)] = &[
    (Function::Upper, "Texts"),
    (Function::Abs, "Numbers"),
    (Function::Year, "Dates and times"),
    (Function::ToInt, "Conversion"),
    (Function::TypeOf, "Any value"),
    (Function::FileName, "Paths"),
];

fn methods_page() -> String {
    let mut text = String::from(
        "# Methods\n\nA method on null gives null, except `is_null`, `is_empty`, `type_of` and `catch`; so does a null \
         argument, unless its method\nsays otherwise. Texts are counted in characters. Where a whole number is wanted a \
         float is cut to one.\n\nThe strict conversions (`to_int`, …) reject the row when a value can't be converted; \
         those that begin with `try_`\ngive null. Patterns are regular expressions of Rust's `regex` crate, formats are \
         those of `strftime`.\n",
    );
    for function in Function::ALL {
        if let Some((_, title)) = PARTS.iter().find(|(first, _)| first == function) {
            text += &format!("\n## {title}\n");
        }
        let signature = function.signature();
        text += &format!("\n### `{}({})`\n\n{}\n", function.name(), signature.usage(), signature.doc);
        text += &format!("\n```text\n{}\n```\n", signature.examples.join("\n"));
    }
    text
}
