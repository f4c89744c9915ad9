//! A span inside CXL is the exact place in the YAML file, whatever the style of the scalar.

use clinker::diagnostics::{Diagnostics, FileId, SourceMap};
use clinker::syntax::cxl::lexer::{Lexed, lex};
use clinker::syntax::cxl::token::Tok;
use clinker::syntax::cxl::{self, Source};
use clinker::syntax::yaml::{self, Node, Scalar, ScalarStyle, Value};
use proptest::prelude::*;
use proptest::sample::select;

use super::properties::check_program;
use super::random;

/// A scalar as it is written into a file.
#[derive(Clone, Copy, Debug)]
struct Style {
    style: ScalarStyle,
    /// Inside `{ … }` on a line of its own text.
    flow: bool,
    /// Whether every third space becomes a line end, where the style folds it back.
    folds: bool,
    /// How deep the scalar's lines are indented.
    indent: usize,
}

fn style() -> impl Strategy<Value = Style> {
    use ScalarStyle::*;
    let styles = select(&[Plain, SingleQuoted, DoubleQuoted, Literal, Folded][..]);
    (styles, any::<bool>(), any::<bool>(), 4..8_usize).prop_map(|(style, flow, folds, indent)| Style {
        style,
        flow: flow && !matches!(style, Literal | Folded),
        folds,
        indent,
    })
}

impl Style {
    /// The file, and the text that the scalar has in it.
    fn file(self, text: &str) -> String {
        let scalar = self.scalar(text);
        match self.flow {
            true => format!("# tab\t, ö\nnodes: {{ ö\t: 'ß',\t\"cxl\" : {scalar}, z: 1 }}\n"),
            false => format!("# tab\t, ö\nnodes:\n  - ö: ß\t\n    cxl:\t{scalar}\n    z: 1\n"),
        }
    }

    fn scalar(self, text: &str) -> String {
        let indent = " ".repeat(self.indent + 1);
        match self.style {
            ScalarStyle::Plain => self.fold(text),
            ScalarStyle::SingleQuoted => {
                let lines = text.lines().map(|line| self.fold(&self.written(line))).collect::<Vec<_>>();
                format!("'{}'", lines.join(&format!("\n\n{indent}")))
            }
            ScalarStyle::DoubleQuoted => format!("\"{}\"", self.fold(&self.written(text))),
            ScalarStyle::Literal => {
                let lines = text.lines().map(|line| format!("\n{indent}{line}")).collect::<String>();
                format!("|-{lines}")
            }
            ScalarStyle::Folded => {
                let lines = text.lines().map(|line| format!("\n{indent}{}", self.fold(line)));
                format!(">-{}", lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    /// A part of the text as the style writes it, lines not folded.
    fn written(self, text: &str) -> String {
        match self.style {
            ScalarStyle::SingleQuoted => text.replace('\'', "''"),
            ScalarStyle::DoubleQuoted => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                escaped.replace('ü', "\\u00fc").replace('\t', "\\t")
            }
            _ => text.to_owned(),
        }
    }

    /// Makes line ends of some spaces, each between two characters that are none.
    fn fold(self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let mut spaces = 0;
        let mut out = String::new();
        for (index, c) in chars.iter().enumerate() {
            let around = [index.checked_sub(1).map(|before| chars[before]), chars.get(index + 1).copied()];
            let single = around.iter().all(|c| c.is_some_and(|c| !c.is_whitespace() && !matches!(c, '#' | '\\')));
            spaces += usize::from(*c == ' ');
            if *c == ' ' && single && self.folds && spaces % 3 == 1 {
                out += &format!("\n{}", " ".repeat(self.indent + 1));
            } else {
                out.push(*c);
            }
        }
        out
    }
}

/// A text that YAML can hold in every style: one line a statement, printable characters.
fn yaml_text(text: &str) -> String {
    let printable = |c: char| match c {
        '\n' | ' '..='~' => c,
        _ => 'ü',
    };
    text.lines().map(|line| line.trim().chars().map(printable).collect::<String>()).collect::<Vec<_>>().join("\n")
}

fn find(node: &Node) -> Option<&Scalar> {
    match &node.value {
        Value::Sequence(items) => items.iter().find_map(find),
        Value::Mapping(entries) => entries.iter().find_map(|entry| match &entry.value.value {
            Value::Scalar(scalar) if entry.key.text == "cxl" => Some(scalar),
            _ => find(&entry.value),
        }),
        _ => None,
    }
}

/// Reads the file and checks every token of the scalar. `None` if the style can't hold the text.
fn check(style: Style, text: &str) -> Option<()> {
    let file_text = style.file(text);
    let mut map = SourceMap::new();
    let file = map.add("p.yaml", file_text.clone());
    let scalar = read(file, &file_text)?;
    let source = Source { text: scalar.text.clone(), map: scalar.map.clone(), span: scalar.span, folds: false };
    let mut diagnostics = Diagnostics::new();
    let in_file = lex(&source, &mut diagnostics);
    let (_, alone) = super::source(text);
    let expected = lex(&alone, &mut diagnostics);
    assert_eq!(kinds(&in_file), kinds(&expected), "{file_text}");
    for token in in_file.tokens.iter().filter(|token| token.tok != Tok::Newline) {
        let slice = map.slice(token.span);
        let unfolded = slice.split('\n').map(|line| line.trim_start_matches(' ')).collect::<Vec<_>>().join(" ");
        let slice = if slice.contains('\n') { unfolded } else { slice.to_owned() };
        assert_eq!(slice, style.written(token.text), "{style:?}\n{file_text}");
    }
    check_program(&map, &cxl::parse_program(&source, &mut diagnostics));
    Some(())
}

fn read(file: FileId, text: &str) -> Option<Scalar> {
    find(&yaml::parse(file, text, &mut Diagnostics::new())?).cloned()
}

fn kinds(lexed: &Lexed<'_>) -> Vec<String> {
    lexed.tokens.iter().map(|token| format!("{:?}", token.tok)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_are_exact_in_every_style(tree in random::program(), style in style()) {
        let text = yaml_text(&tree.to_string());
        let text = if style.style == ScalarStyle::Plain { text.lines().next().unwrap_or_default() } else { &text };
        prop_assume!(!text.is_empty());
        let held = read(FileId(0), &style.file(text)).is_some_and(|scalar| scalar.text == text);
        // Only a plain scalar can't hold every text.
        prop_assert!(held || style.style == ScalarStyle::Plain, "{style:?} {text}\n{}", style.file(text));
        if held {
            check(style, text).expect("the scalar was read before");
        }
    }
}

#[test]
fn a_plain_scalar_holds_a_common_expression() {
    for flow in [false, true] {
        let style = Style { style: ScalarStyle::Plain, flow, folds: true, indent: 5 };
        let text = "if o.amount >= 10 and größe != \"x'y\" then price.round(2) else -1 ?? 'ü'";
        check(style, text).expect("the scalar is there");
        assert_eq!(read(FileId(0), &style.file(text)).map(|scalar| scalar.text).as_deref(), Some(text));
    }
}
