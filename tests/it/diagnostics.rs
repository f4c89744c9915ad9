//! How findings are shown, and that every code is documented.

use std::path::Path;

use clinker::diagnostics::render::{json, rich, short};
use clinker::diagnostics::{Code, Diagnostic, FileId, SourceMap, Span};
use proptest::prelude::*;

use crate::support::{assert_snapshot, files_below, path};

/// The span of the `nth` (from 0) appearance of `needle` in a file.
fn find(sources: &SourceMap, file: FileId, needle: &str, nth: usize) -> Span {
    let (start, _) = sources.text(file).match_indices(needle).nth(nth).expect("the needle is there");
    Span::new(file, start as u32, (start + needle.len()) as u32)
}

/// Made-up findings of every shape over made-up texts.
fn findings() -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let orders = sources.add(
        "orders.yaml",
        "nodes:\n  - type: transform\n    name: clean\n    input: orders\n    config:\n      cxl: |\n        \
         emit total = price * quantity + order_idd\n\t\tlet größe = \"søt\" # 長い\tfeld + nmae\n  - type: sink\n    \
         name: clean\n    input: clean\n",
    );
    let other = sources.add("shared/columns.yaml", "columns:\n  - { name: price, type: string }\n");
    let empty = sources.add("empty.yaml", "");
    let end = sources.text(orders).len() as u32;
    let at = |needle: &str, nth| find(&sources, orders, needle, nth);
    let diagnostics = vec![
        Diagnostic::error(Code::E203, "transform `clean` reads `order_idd`, which is not a column of `orders`")
            .label(at("order_idd", 0), "not known here")
            .note("`orders` has the columns `order_id`, `price` and `quantity`")
            .help("did you mean `order_id`?")
            .fix(at("order_idd", 0), "order_id"),
        Diagnostic::error(Code::E200, "`price` is text; `*` needs a number")
            .label(at("price", 0), "this is text")
            .label(at("quantity", 0), "this is an int")
            .label(at("cxl: |", 0), "in this program")
            .label(find(&sources, other, "string", 0), "declared as text here")
            .help("declare `price` as a decimal, or\nconvert it with `price.to_decimal()`"),
        Diagnostic::error(Code::E203, "`nmae` is not known").label(at("nmae", 0), "").fix(at("nmae", 0), "name"),
        Diagnostic::error(Code::E001, "two nodes are called `clean`")
            .label(at("clean", 2), "second one")
            .label(at("clean", 0), "first one"),
        Diagnostic::error(Code::E000, "the list ends too early")
            .label(Span::new(orders, end, end), "something is missing here"),
        Diagnostic::error(Code::E000, "the file is empty")
            .label(Span::new(empty, 0, 0), "")
            .help("begin with `pipeline:` and `nodes:`"),
        Diagnostic::warning(Code::W201, "nothing reads this node")
            .label(at("- type: transform\n    name: clean\n    input: orders", 0), "its rows are dropped"),
        Diagnostic::warning(Code::W318, "dead letters are counted but not written")
            .note("`error_handling` has no `dlq.path`"),
        Diagnostic::error(Code::E395, "`a\tb\n\u{1b}[31m.csv` can't be read: no such file"),
        Diagnostic::error(Code::E202, "a comma is missing")
            .label(Span::new(orders, 10, 10), "here")
            .fix(Span::new(orders, 10, 10), ","),
        Diagnostic::error(Code::E000, "a blank is missing")
            .label(Span::new(orders, 10, 10), "here")
            .fix(Span::new(orders, 10, 10), " "),
    ];
    (sources, diagnostics)
}

#[test]
fn rich_form() {
    let (sources, diagnostics) = findings();
    assert_snapshot("diagnostics/rich", &rich(&sources, &diagnostics, false));
}

#[test]
fn rich_form_in_colour() {
    let (sources, diagnostics) = findings();
    let coloured = rich(&sources, &diagnostics, true);
    assert_snapshot("diagnostics/colour", &rich(&sources, &diagnostics[..2], true).replace('\u{1b}', "␛"));
    assert_eq!(without_colour(&coloured), rich(&sources, &diagnostics, false));
}

/// The text without escape sequences, and without the blanks that end a line then.
fn without_colour(text: &str) -> String {
    let mut plain = String::new();
    for (index, piece) in text.split('\u{1b}').enumerate() {
        let kept = if index == 0 { piece } else { piece.split_once('m').expect("a colour sequence").1 };
        plain.push_str(kept);
    }
    plain.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

#[test]
fn short_form() {
    let (sources, diagnostics) = findings();
    let text = short(&sources, &diagnostics);
    assert_eq!(text.lines().count(), diagnostics.len(), "one line each");
    assert_snapshot("diagnostics/short", &text);
}

#[test]
fn json_form() {
    let (sources, diagnostics) = findings();
    let text = json(&sources, &diagnostics);
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(parsed.as_array().map(Vec::len), Some(diagnostics.len()));
    assert_snapshot("diagnostics/json", &text);
    assert_eq!(json(&sources, &[]), "[]\n");
}

/// A pipeline on one line of a megabyte is shown as far as it matters, and the column is that in the whole line.
#[test]
fn long_lines_and_messages_are_cut() {
    let mut sources = SourceMap::new();
    let text =
        format!("first\n{} [nmae] {} [there] {}\nlast\n", "é".repeat(5000), "b".repeat(900), "c".repeat(1 << 20));
    let file = sources.add("long.yaml", text);
    let diagnostics = [
        Diagnostic::error(Code::E203, "`nmae` is not known")
            .label(find(&sources, file, "nmae", 0), "not known here")
            .label(find(&sources, file, "there", 0), "declared here"),
        Diagnostic::error(Code::E202, format!("`{}` is too long", "n".repeat(1 << 20)))
            .label(find(&sources, file, &"c".repeat(1 << 20), 0), "this"),
        Diagnostic::error(Code::E203, "the neighbours").label(find(&sources, file, "last", 0), "a short line"),
    ];
    let text = rich(&sources, &diagnostics, false);
    assert!(text.contains("[ long.yaml:2:5003 ]"), "{text}");
    assert_snapshot("diagnostics/long_lines", &text);
    assert_eq!(without_colour(&rich(&sources, &diagnostics, true)), text);
    assert!(short(&sources, &diagnostics).len() < 10_000);
}

proptest! {
    /// Any span over any text can be drawn, and the first line is there.
    #[test]
    fn rendering_never_panics(
        text in "(\\PC|[\t\n\r]|\r\n|[\u{85}\u{2028}\u{b}]|é|長|👩‍👩‍👧){0,40}",
        times in prop_oneof![Just(1), 1usize..50],
        spans in prop::collection::vec((0u32..80, 0u32..80, "[a-z\n]{0,3}"), 0..5),
        fix in prop::option::of((0u32..80, 0u32..80, "\\PC{0,3}\n?")),
        colour: bool,
    ) {
        let mut sources = SourceMap::new();
        let files = [sources.add("a.yaml", text.repeat(times)), sources.add("b.yaml", "")];
        let mut diagnostic = Diagnostic::error(Code::E000, "first line").help("some help").note("a\nb");
        for (index, (start, length, label)) in spans.iter().enumerate() {
            let file = if index % 4 == 3 { files[1] } else { files[0] };
            let start = start * times as u32;
            diagnostic = diagnostic.label(Span::new(file, start, start + length), label.as_str());
        }
        if let Some((start, length, replacement)) = fix {
            diagnostic = diagnostic.fix(Span::new(files[0], start, start + length), replacement);
        }
        let all = [diagnostic];
        prop_assert!(rich(&sources, &all, colour).contains("first line"));
        prop_assert!(short(&sources, &all).ends_with("error[E000]: first line\n"));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json(&sources, &all)).is_ok());
    }

    /// Every form says the same line and column.
    #[test]
    fn forms_agree_on_the_place(
        text in "(\\PC|[\t\n]|\r\n|é|長){0,40}",
        times in prop_oneof![Just(1), 1usize..50],
        start in 0u32..60,
    ) {
        let (text, start) = (text.repeat(times), start * times as u32);
        let mut sources = SourceMap::new();
        let file = sources.add("a.yaml", text.as_str());
        let all = [Diagnostic::error(Code::E000, "m").label(Span::new(file, start, start), "l")];
        let line = short(&sources, &all);
        let place = line.strip_suffix(": error[E000]: m\n").expect("the short form");
        prop_assert!(rich(&sources, &all, false).contains(&format!("[ {place} ]")), "{place}");
        let parsed: serde_json::Value = serde_json::from_str(&json(&sources, &all)).expect("it is JSON");
        prop_assert_eq!(format!("a.yaml:{}:{}", parsed[0]["line"], parsed[0]["column"]), place);
    }
}

#[test]
fn codes_are_unique_and_parse_back() {
    let mut seen = std::collections::BTreeSet::new();
    for code in Code::ALL {
        assert!(seen.insert(code.as_str()), "{code} is registered twice");
        assert_eq!(code.as_str().parse(), Ok(*code));
    }
}

/// Every code is reported somewhere in the program, and some case or snapshot shows it as a user would see it.
#[test]
fn every_code_is_used_and_shown() {
    let registry = path("src/diagnostics/codes.rs");
    let is_source = |path: &Path| path.extension().is_some_and(|end| end == "rs") && path != registry;
    let program = texts(&path("src"), &is_source);
    // Left out is what shows codes that nothing reported: made-up findings, and the pages themselves.
    let made_up = ["snapshots/diagnostics", "snapshots/cli/explain-list.snap", "snapshots/cli/explain-code.snap"];
    let shows = |file: &Path| !made_up.iter().any(|made_up| file.starts_with(path(made_up)));
    let shown = texts(&path("tests/cases/run"), &shows) + &texts(&path("snapshots"), &shows);
    for code in Code::ALL {
        let is_used = program.match_indices(&format!("Code::{code:?}")).any(|(at, name)| {
            program[at + name.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_')
        });
        assert!(is_used, "nothing reports {code}");
        let is_shown = shown.contains(&format!("[{code}]: ")) || shown.contains(&format!("\n{code}: "));
        assert!(is_shown, "no case and no snapshot shows {code}");
    }
}

/// The texts of all files below a folder that are wanted, one behind the other.
fn texts(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> String {
    let mut all = String::new();
    for file in files_below(folder).iter().filter(|file| wanted(file)) {
        all += &String::from_utf8_lossy(&std::fs::read(file).expect("a file can be read"));
    }
    all
}

/// Every code has a page whose title names it, long enough to say something, and stands in the table of all codes.
#[test]
fn every_code_has_a_page() {
    let table = std::fs::read_to_string(path("docs/src/diagnostics/README.md")).expect("the table is there");
    for code in Code::ALL {
        let (title, body) = code.page().split_once('\n').unwrap_or((code.page(), ""));
        assert_eq!(title, format!("# {code}: {}", code.title()), "title of docs/src/diagnostics/{code}.md");
        assert!(body.lines().count() >= 12, "docs/src/diagnostics/{code}.md says next to nothing");
        assert!(body.contains("\n## How to correct it\n"), "docs/src/diagnostics/{code}.md does not say what to do");
        let row = format!("| [{code}]({code}.md) | {} |\n", code.title());
        assert!(table.contains(&row), "docs/src/diagnostics/README.md lacks the row {row}");
    }
    assert_eq!(table.matches(".md) |").count(), Code::ALL.len(), "the table lists a code that does not exist");
    let pages = std::fs::read_dir(path("docs/src/diagnostics")).expect("the folder is there");
    assert_eq!(pages.count(), Code::ALL.len() + 1, "a page without a code");
}
