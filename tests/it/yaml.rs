//! Tests of the YAML reader: its tree, its spans and its messages.

use std::fmt::Write;

use clinker::diagnostics::{Diagnostic, Diagnostics, SourceMap, Span};
use clinker::syntax::yaml::{self, Node, Scalar, ScalarStyle, Value};
use proptest::prelude::*;

use crate::support::assert_snapshot;

/// A text with its tree and what was said about it.
struct Read {
    map: SourceMap,
    node: Option<Node>,
    diagnostics: Diagnostics,
}

fn read(text: &str) -> Read {
    let mut map = SourceMap::new();
    let file = map.add("p.yaml", text);
    let mut diagnostics = Diagnostics::new();
    let node = yaml::parse(file, text, &mut diagnostics);
    Read { map, node, diagnostics }
}

/// `line:column-line:column`
pub fn place(map: &SourceMap, span: Span) -> String {
    let (start, end) = (map.line_column(span.file, span.start), map.line_column(span.file, span.end));
    match start.line == end.line {
        true => format!("{}:{}-{}", start.line, start.column, end.column),
        false => format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column),
    }
}

/// A diagnostic with the text under each of its labels.
pub fn show_diagnostic(map: &SourceMap, diagnostic: &Diagnostic, out: &mut String) {
    writeln!(out, "{}: {}", diagnostic.code, diagnostic.message).unwrap();
    for label in &diagnostic.labels {
        writeln!(out, "  {} {:?} {}", place(map, label.span), map.slice(label.span), label.text).unwrap();
    }
    for note in &diagnostic.notes {
        writeln!(out, "  note: {note}").unwrap();
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "  help: {help}").unwrap();
    }
    if let Some(fix) = &diagnostic.fix {
        writeln!(out, "  fix: {} {:?} -> {:?}", place(map, fix.span), map.slice(fix.span), fix.replacement).unwrap();
    }
}

/// The text, then what is said about it.
pub fn show_findings(map: &SourceMap, text: &str, diagnostics: &Diagnostics, out: &mut String) {
    for line in text.lines() {
        writeln!(out, "| {}", line.replace('\t', "→")).unwrap();
    }
    for diagnostic in diagnostics.sorted() {
        show_diagnostic(map, &diagnostic, out);
    }
    out.push('\n');
}

fn show_tree(map: &SourceMap, node: &Node, indent: usize, out: &mut String) {
    let at = place(map, node.span);
    match &node.value {
        Value::Scalar(scalar) => writeln!(out, "{:?} {:?} {at}", scalar.style, scalar.text).unwrap(),
        Value::Sequence(items) => {
            writeln!(out, "sequence {at}").unwrap();
            for item in items {
                write!(out, "{:indent$}- ", "").unwrap();
                show_tree(map, item, indent + 2, out);
            }
        }
        Value::Mapping(entries) => {
            writeln!(out, "mapping {at}").unwrap();
            for entry in entries {
                write!(out, "{:indent$}{} {}: ", "", entry.key.text, place(map, entry.key.span)).unwrap();
                show_tree(map, &entry.value, indent + 2, out);
            }
        }
        Value::Error => writeln!(out, "error {at}").unwrap(),
    }
}

const TREE: &str = "\u{feff}# comment
name: é\tü # plain
'it''s': \"a\\tb\\u00e9\"
empty:
tilde: ~
nested: {a: [1, 'two', \"three\"], b: {c: }}
list:
- plain text
  over two lines
-
- - key: value
    other: &anchor [x, y]
copy: *anchor
literal: |  # the header
    first

      second

folded: >-

  one
  two
last: |+
  kept

";

#[test]
fn a_tree_has_the_place_of_each_value() {
    let read = read(TREE);
    assert!(read.diagnostics.sorted().is_empty());
    let mut out = String::new();
    show_tree(&read.map, &read.node.expect("a tree"), 0, &mut out);
    assert_snapshot("yaml/tree", &out);
}

#[test]
fn nothing_is_no_tree_and_no_error() {
    for text in ["", "\n", "# only a comment\n"] {
        let read = read(text);
        assert_eq!((read.node, read.diagnostics.sorted()), (None, Vec::new()), "{text:?}");
    }
}

const MISTAKES: &[&str] = &[
    // Indentation.
    "nodes:\n\t- a: 1",
    "a: 1\n\tb: 2",
    "k: |\n\ttext",
    "k: |\n  text\n \tmore",
    "nodes:\n- type: x\n  config:\n    a: 1\n   b: 2",
    "key: value\n  more: 1",
    "a: 1\n- b",
    "a:\n  - x\n - y",
    "a:\n  - x\n  y: 1",
    "- a: 1\n b: 2",
    "a: - b",
    // Colons.
    "- type: x\n  name:y\n  input: z",
    "a: 1\nb\nc: 2",
    "message: warning: ü",
    "config: type: csv, path: small.csv",
    "memory: limit: 1G",
    "conditions: large: total > 10",
    "pipeline: name: t, memory: 1G",
    "schema:\n  - name: price, type: decimal, scale: 2\n  - name: id, type: int",
    "type: csv, path: small.csv",
    "mapping: id: k, nn: n",
    "mapping: id: k",
    "sort_order: field: id, order: desc",
    "message: it failed, reason: unknown",
    "message: a, b: c d, e",
    "cxl: emit a = 'x: y' + \"z\"",
    // Quotes.
    "a: \"never closed\nb: 2",
    "a: \"not closed\nb: \"2\"",
    "a: 'it's'",
    "a: \"b\" c",
    "re: \"ü\\d+\"",
    "u: \"\\u12\"",
    "s: \"\\ud800\"",
    // Brackets.
    "a: [1, 2\nb: 3",
    "- { name: x, type: { nullable: int }\n- { name: y, type: int }",
    "a: {name: id type: int}",
    "a: [1, 2]]",
    "a: [1, 2}",
    "path: {source}/x",
    "a: [",
    // Characters with a meaning.
    "glob: *.csv",
    "at: @home",
    "tick: `x`",
    "a: ,",
    "a: x#y\nb: 'x'#y",
    "a: b # comment\n  c",
    "bell: \"\u{7}\"",
    "k: |text\n  more",
    // What is YAML but not for pipelines.
    "a: 1\n---\nb: 2",
    "a: !custom b",
    "? [a, b]\n: c",
    "<<: {a: 1}",
    "a: 1\nb: {c: 1, c: 2}\na: 2",
    "a: &x [*x]",
];

#[test]
fn mistakes_are_reported_at_their_place() {
    let mut out = String::new();
    for text in MISTAKES {
        let read = read(text);
        assert!(read.diagnostics.has_errors(), "{text:?}");
        show_findings(&read.map, text, &read.diagnostics, &mut out);
    }
    assert_snapshot("yaml/mistakes", &out);
}

#[test]
fn nesting_and_copies_are_bounded() {
    let brackets = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let messages = |text: &str| read(text).diagnostics.sorted().into_iter().map(|d| d.message).collect::<Vec<_>>();
    assert_eq!(messages(&brackets(128)), Vec::<String>::new());
    let too_deep = ["values are nested deeper than 128 levels"];
    assert_eq!(messages(&brackets(129)), too_deep);
    assert_eq!(messages(&brackets(100_000)), too_deep);
    assert_eq!(messages(&"- ".repeat(129)), too_deep);
    assert_eq!(messages(&format!("a: &a {}\nb: [[[*a]]]", brackets(126))), too_deep);
    let mut bomb = String::from("a0: &a0 [x]\n");
    for n in 1..30 {
        writeln!(bomb, "a{n}: &a{n} [*a{m}, *a{m}, *a{m}]", m = n - 1).unwrap();
    }
    assert_eq!(messages(&bomb), ["the repeated values of this file are too large"]);
}

/// Every scalar of a tree, keys too.
fn scalars<'a>(node: &'a Node, out: &mut Vec<&'a Scalar>) {
    match &node.value {
        Value::Scalar(scalar) => out.push(scalar),
        Value::Sequence(items) => items.iter().for_each(|item| scalars(item, out)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| {
            out.push(&entry.key);
            scalars(&entry.value, out);
        }),
        Value::Error => {}
    }
}

/// Each character with the part of the file it stands for.
fn sources<'a>(map: &'a SourceMap, scalar: &'a Scalar) -> impl Iterator<Item = (char, &'a str)> {
    scalar.text.char_indices().map(|(at, character)| {
        let span = scalar.map.span(at as u32, (at + character.len_utf8()) as u32);
        (character, map.slice(span))
    })
}

const STYLES: &[&str] = &[
    "é\t: plain é\n  two\n\n  three\n",
    "\"é\": ['é''s' , 'a\n\n   b\n c ']\n",
    "é: 'é''s\n  b'\n",
    "é: {k: \"é\\té\\x41\\u00e9\\U0001F600\\ud83d\\ude00\\\"\\/\\N\\  \\\n   x\n   y\"}\n",
    "é: \"é\\té \\\n\n   x\n\n\n   y\"\n",
    "é:\t|\n\n    é\ttab\n      more\n\n    last\n\n",
    "- é: |2-\n      é\n     x\n",
    "- >+\n  é\n  folded\n\n  new\n    more\n\n    deep\n  back\n\n\n",
    "- >\n  at the end",
    "é: 'crlf\r\n  é'\r\nl: |\r\n  é\r\n  b\r\n",
];

#[test]
fn each_decoded_character_stands_at_its_source() {
    let mut out = String::new();
    for text in STYLES {
        let read = read(text);
        let node = read.node.expect("a tree");
        let mut all = Vec::new();
        scalars(&node, &mut all);
        writeln!(out, "{text:?}").unwrap();
        for scalar in all {
            write!(out, "  {:?} {:?}:", scalar.style, scalar.text).unwrap();
            for (character, source) in sources(&read.map, scalar) {
                match source.chars().eq([character]) {
                    true => write!(out, " {source:?}").unwrap(),
                    false => write!(out, " {source:?}={character:?}").unwrap(),
                }
            }
            out.push('\n');
        }
    }
    assert_snapshot("yaml/text_map", &out);
}

/// Whether `source` is how `character` is written in a scalar of that style.
fn stands_for(style: ScalarStyle, source: &str, character: char) -> bool {
    if source.chars().eq([character]) || source == "\r\n" && character == '\n' {
        return true;
    }
    let folds = !matches!(style, ScalarStyle::Literal) && character == ' ';
    match style {
        _ if folds && matches!(source, "\n" | "\r\n" | "\r") => true,
        ScalarStyle::SingleQuoted => source == "''" && character == '\'',
        ScalarStyle::DoubleQuoted if source.starts_with('\\') => {
            let alone = read(&format!("\"{source}\"")).node;
            matches!(alone, Some(Node { value: Value::Scalar(scalar), .. }) if scalar.text.chars().eq([character]))
        }
        // The line end that a file without one at its end lacks.
        ScalarStyle::Literal | ScalarStyle::Folded => character == '\n' && source.is_empty(),
        _ => false,
    }
}

/// The body of a scalar, from parts that mean something in some style.
fn body() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "a",
        "b c",
        "é",
        "𝄞",
        " ",
        "  ",
        "\t",
        "\n",
        "\n",
        "\n\n",
        "\n  ",
        "\n   x",
        "''",
        "'",
        "\"",
        "\\\\",
        "\\n",
        "\\\"",
        "\\x41",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\U0001F600",
        "\\ ",
        "\\\t",
        "\\\n",
        "\\N",
        ":",
        "#",
        "-",
        ",",
        "\n\t",
    ];
    prop::collection::vec(prop::sample::select(PARTS), 0..14).prop_map(|parts| parts.concat())
}

/// A file with the body in one style and context.
fn document(body: &str, style: usize, context: usize, crlf: bool, indicator: &str) -> String {
    let indented = |by: usize| body.replace('\n', &format!("\n{:by$}", ""));
    let scalar = match style {
        0 => indented(3).trim().to_owned(),
        1 => format!("'{}'", indented(3)),
        2 => format!("\"{}\"", indented(3)),
        3 => format!("|{indicator}\n   {}", indented(3)),
        _ => format!(">{indicator}\n   {}", indented(3)),
    };
    let text = match context {
        0 => format!("ü\t: {scalar}"),
        1 => format!("- x\n-\t{scalar}\n- y\n"),
        2 if style < 3 => format!("ü: [é,\t{scalar} , x]\n"),
        3 if style < 3 => format!("ü: {{é: x,\n  k:\t{scalar} }}\n"),
        _ => format!("ü:\n  k: # note | >\n   &a {scalar}\nb: 1\n"),
    };
    if crlf { text.replace('\n', "\r\n") } else { text }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_style_maps_each_character_to_its_source(
        body in body(), style in 0..5usize, context in 0..5usize, crlf in any::<bool>(),
        indicator in prop::sample::select(&["", "-", "+", "1", "2-", "+1", "3"][..]),
    ) {
        let text = document(&body, style, context, crlf, indicator);
        let read = read(&text);
        let mut all = Vec::new();
        if let Some(node) = &read.node {
            scalars(node, &mut all);
        }
        for scalar in all {
            for (character, source) in sources(&read.map, scalar) {
                prop_assert!(
                    stands_for(scalar.style, source, character),
                    "{:?} stands for {:?} of {:?} in {:?}", source, character, scalar.text, text
                );
            }
        }
    }

    #[test]
    fn no_text_panics_and_spans_stay_inside(text in "[a-c:\\-#\\[\\]{},&*!|>'\"%@` \t\r\n\\\\\u{feff}é\u{0}?.~<=]{0,40}") {
        let read = read(&text);
        for diagnostic in read.diagnostics.sorted() {
            for label in &diagnostic.labels {
                prop_assert!(text.get(label.span.start as usize..label.span.end as usize).is_some(), "{:?}", diagnostic);
            }
        }
        let mut all = Vec::new();
        if let Some(node) = &read.node {
            scalars(node, &mut all);
        }
        for scalar in all {
            prop_assert!(text.get(scalar.span.start as usize..scalar.span.end as usize).is_some(), "{:?}", scalar);
        }
    }
}
