//! What is said about text that is not YAML.
//!
//! The scanner knows where it got stuck and why in its own terms. Here its findings become sentences about what was
//! written: the place moves to the cause where the text around it shows one, and the usual slips (tabs, a missing
//! space behind a colon, brackets and quotes that stay open, wrong indentation) are named with the way to mend them.

use granit_parser::{ErrorKind, ScanError};

use super::{errors, escape};
use crate::diagnostics::{Code, Diagnostic, FileId, Span};

/// What the tree's builder knows at the error.
pub(super) struct Context<'a> {
    pub(super) file: FileId,
    pub(super) text: &'a str,
    /// The `[` and `{` that are still open.
    pub(super) open_brackets: Vec<usize>,
    /// Where the last value that was read ends.
    pub(super) value_end: usize,
    /// Where the last scalar that was read ends.
    pub(super) scalar_end: usize,
}

/// The message for a finding of the scanner.
pub(super) fn diagnostic(error: &ScanError, context: &Context<'_>) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(0);
    let at = Place { context, at: floor(context.text, at), open_bracket: open_bracket(context, at) };
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => errors::too_deep(at.character()),
        kind => at.open_bracket(kind).or_else(|| at.structure(kind)).unwrap_or_else(|| at.token(kind)),
    }
}

/// The innermost bracket that is open in front of `at`: of those the builder knows and those behind them.
///
/// The scanner runs ahead of the tree to the end of what may be a key, so the tree may not know the bracket yet.
fn open_bracket(context: &Context<'_>, at: usize) -> Option<usize> {
    let known = context.open_brackets.iter().copied().filter(|start| *start < context.value_end);
    let mut open: Vec<usize> = known.collect();
    let mut quote = None;
    let mut comment = false;
    let (mut last, mut before) = (b'\n', b'\n');
    for (index, byte) in context.text.bytes().enumerate().take(at).skip(context.value_end) {
        let begins = matches!(last, b'\n' | b'-' | b'?' | b':' | b',' | b'[' | b'{');
        comment = byte != b'\n' && (comment || quote.is_none() && byte == b'#' && before.is_ascii_whitespace());
        before = byte;
        match byte {
            _ if comment => continue,
            _ if quote.is_some() => quote = quote.filter(|quote| *quote != byte),
            b'\'' | b'"' if begins => quote = Some(byte),
            b'[' | b'{' if begins || !open.is_empty() => open.push(index),
            b']' | b'}' => drop(open.pop()),
            _ => {}
        }
        if !matches!(byte, b' ' | b'\t' | b'\r') && (byte != b'\n' || open.is_empty()) {
            last = byte;
        }
    }
    open.last().copied()
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::E000, message)
}

/// A place in the text, with what can be read off its surroundings.
struct Place<'a> {
    context: &'a Context<'a>,
    at: usize,
    /// The innermost bracket that is open in front of it.
    open_bracket: Option<usize>,
}

impl<'a> Place<'a> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.context.file, start as u32, end as u32)
    }

    fn text(&self) -> &'a str {
        self.context.text
    }

    /// The one character at the place; nothing at the end of the file.
    fn character(&self) -> Span {
        let length = self.text()[self.at..].chars().next().filter(|c| !matches!(c, '\r' | '\n'));
        self.span(self.at, self.at + length.map_or(0, char::len_utf8))
    }

    /// From the place to the end of its line.
    fn rest(&self) -> Span {
        let rest = line_at(&self.text()[self.at..]).trim_end();
        self.span(self.at, self.at + rest.len())
    }

    fn line_start(&self) -> usize {
        self.text()[..self.at].rfind(['\r', '\n']).map_or(0, |before| before + 1)
    }

    /// What stands in front of the place on its line.
    fn before(&self) -> &'a str {
        &self.text()[self.line_start()..self.at]
    }

    /// The line of the place without its indentation, and where it begins.
    fn line(&self) -> (usize, &'a str) {
        let line = line_at(&self.text()[self.line_start()..]);
        let trimmed = line.trim_start();
        (self.line_start() + line.len() - trimmed.len(), trimmed.trim_end())
    }

    /// The last line above that isn't empty.
    fn line_above(&self) -> Option<(usize, &'a str)> {
        let above = self.text()[..self.line_start()].trim_end();
        let at = above.len();
        (at > 0).then(|| Place { context: self.context, at, open_bracket: None }.line())
    }

    /// The first line of the mapping whose keys are indented as this line is, and where it begins.
    fn first_key(&self) -> Option<(usize, &'a str)> {
        let indent = self.line().0 - self.line_start();
        let mut first = None;
        let mut above = self.line_above();
        while let Some((start, line)) = above {
            let place = Place { context: self.context, at: start, open_bracket: None };
            match place.before().len() {
                own if own < indent => break,
                own if own == indent && !line.starts_with(['#', '-']) => first = Some((start, line)),
                _ => {}
            }
            above = place.line_above();
        }
        first
    }

    /// A bracket that is still open, where the line of the place can't belong between the two.
    fn open_bracket(&self, kind: &ErrorKind) -> Option<Diagnostic> {
        if let ErrorKind::UnclosedFlowCollection { open } = kind {
            return Some(never_closed(self.character(), *open));
        }
        let start = self.open_bracket?;
        let open = self.text()[start..].chars().next()?;
        let stuck = matches!(
            kind,
            ErrorKind::InvalidColonPlacement
                | ErrorKind::ExpectedFlowMappingSeparator
                | ErrorKind::ExpectedFlowSequenceSeparator
                | ErrorKind::BlockEntryInFlowCollection
                | ErrorKind::PlainScalarStartsWithDashFlowIndicator
                | ErrorKind::MappingValueNotAllowed
        );
        if !stuck {
            return None;
        }
        if start < self.line_start() {
            let close = if open == '[' { ']' } else { '}' };
            let found = never_closed(self.span(start, start + 1), open)
                .label(self.rest(), format!("this can't stand in front of its `{close}`"));
            let closed = self.comment_with(start, close);
            return Some(match closed {
                Some(comment) => found
                    .label(comment, format!("a comment, so its `{close}` closes nothing"))
                    .help("put the value in quotes if the `#` belongs to it"),
                None => found,
            });
        }
        Some(comma(self.character(), open))
    }

    /// The comment behind `start` on its line, if it holds `close`.
    fn comment_with(&self, start: usize, close: char) -> Option<Span> {
        let line = line_at(&self.text()[start..]).trim_end();
        let comment = line.find(" #")? + 1;
        line[comment..].contains(close).then(|| self.span(start + comment, start + line.len()))
    }

    /// Errors of lines: keys, entries and their indentation.
    fn structure(&self, kind: &ErrorKind) -> Option<Diagnostic> {
        match kind {
            _ if self.before().trim().is_empty() && self.before().contains('\t') => Some(self.tab()),
            ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabNotAllowed
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar => Some(self.tab()),
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Some(self.no_colon()),
            ErrorKind::MappingValueNotAllowed => Some(self.second_colon()),
            ErrorKind::ExpectedBlockMappingKey => Some(self.no_key()),
            ErrorKind::ExpectedBlockSequenceEntry => Some(self.no_entry()),
            ErrorKind::BlockSequenceEntryNotAllowed => Some(
                error("a list can't begin on the line of its key")
                    .label(self.character(), "begins here")
                    .help("begin the list on the next line, or write it in brackets: `[a, b]`"),
            ),
            ErrorKind::CommentInterceptedScalar => Some(
                error("a comment stands inside a text that goes on below it")
                    .label(self.rest(), "comment")
                    .help("move the comment above the text, or put the text in quotes if the `#` belongs to it"),
            ),
            ErrorKind::InvalidBlockScalarIndent | ErrorKind::InvalidIndentation => Some(
                error("this line is indented less than the text it belongs to")
                    .label(self.rest(), "too far left")
                    .help("indent all lines of the text alike"),
            ),
            _ => None,
        }
    }

    fn tab(&self) -> Diagnostic {
        let span = self.tab_span().unwrap_or_else(|| self.character());
        error("a tab can't be used to indent").label(span, "holds a tab").help("indent with spaces")
    }

    /// The indentation with a tab in this line or the next one that has some.
    fn tab_span(&self) -> Option<Span> {
        let mut start = self.line_start();
        for line in self.text()[start..].split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if line[..indent].contains('\t') {
                return Some(self.span(start, start + indent));
            }
            start += line.len();
        }
        None
    }

    /// A line that ought to be a key with its value.
    fn no_colon(&self) -> Diagnostic {
        let (start, line) = self.line();
        if let Some(found) = self.missing_space(start, line) {
            return found;
        }
        error(format!("`{}` is not followed by `:` and a value", shorten(line)))
            .label(self.span(start, start + line.len()), "expected `key: value`")
            .help("write `: ` behind the key, or indent the line if it continues the text above")
    }

    /// `key:value`, which reads as one piece of text.
    fn missing_space(&self, start: usize, line: &str) -> Option<Diagnostic> {
        let colon = missing_space(line)?;
        let key = line[..colon].trim_start_matches("- ");
        let place = self.span(start + colon + 1, start + colon + 1);
        Some(
            error(format!("a space is missing behind `{key}:`"))
                .label(self.span(start + colon - key.len(), start + colon + 1), "needs a space behind it")
                .help(format!("write `{key}: {}`", shorten(&line[colon + 1..])))
                .fix(place, " "),
        )
    }

    /// A colon where no key can stand.
    fn second_colon(&self) -> Diagnostic {
        let (start, line) = self.line();
        if let Some((key, _)) = self.before().trim_start().trim_start_matches("- ").split_once(": ") {
            let value = start + self.text()[start..self.at].find(": ").map_or(0, |found| found + 2);
            let finding = error(format!("the value of `{key}` holds `: `, which begins another key"))
                .label(self.character(), "a colon and a space, outside quotes");
            let value = line_at(&self.text()[value..]).trim();
            let is_entry = self.before().trim_start().starts_with("- ");
            let quoted = format!("`{key}: '{}'`", shorten(&value.replace('\'', "''")));
            let help = mapping_in_a_line(key, value, is_entry, &quoted);
            return finding.help(help.unwrap_or_else(|| format!("put the value in quotes: {quoted}")));
        }
        if let Some(found) = self.line_above().and_then(|(start, line)| self.missing_space(start, line)) {
            return found;
        }
        let key = self.text()[start..self.at].trim();
        error(format!("the key `{}` is indented deeper than the keys above it", shorten(key)))
            .label(self.span(start, start + line.len()), "too far right")
            .help("align it with the keys it belongs to")
    }

    /// Something else than a key, or a key at a wrong indentation.
    fn no_key(&self) -> Diagnostic {
        if let Some(close) = self.before().trim_end().chars().next_back().filter(|c| matches!(c, ']' | '}')) {
            return error(format!("text stands behind the closing `{close}`"))
                .label(self.rest(), "belongs to no value")
                .help("put the whole value in quotes if the brackets belong to its text");
        }
        let (start, line) = self.line();
        if line.starts_with("- ") {
            let entry = self.span(start, start + line.len());
            let message = "a list entry stands where a key is expected";
            return match self.first_key() {
                Some((start, line)) => error(message)
                    .label(self.span(start, start + line.len()), "a key, which begins a mapping")
                    .label(entry, "list entry")
                    .help("begin the key's line with `- ` if it belongs to the list, or align the entry with its list"),
                None => error(message).label(entry, "list entry").help("align it with the other entries of its list"),
            };
        }
        error("the indentation of this line fits none of the lines above")
            .label(self.rest(), "wrong indentation")
            .help("align it with the keys it belongs to")
    }

    fn no_entry(&self) -> Diagnostic {
        error("expected a list entry, which begins with `- `")
            .label(self.rest(), "no list entry")
            .help("begin the line with `- `, or indent it as far as the text of the entry it belongs to")
    }

    /// Errors inside one token.
    fn token(&self, kind: &ErrorKind) -> Diagnostic {
        match kind {
            ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
                error("a quote is never closed").label(self.character(), "opened here").help("close it")
            }
            ErrorKind::InvalidTrailingSingleQuotedScalar => self.behind_quote('\''),
            ErrorKind::InvalidTrailingDoubleQuotedScalar => self.behind_quote('"'),
            ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate
            | ErrorKind::InvalidUnicodeEscape => self.escape(),
            ErrorKind::UnexpectedCharacter { character } => self.character_error(*character),
            ErrorKind::MisplacedFlowCollectionEnd => {
                let close = self.text()[self.at..].chars().next().unwrap_or(']');
                error(format!("`{close}` closes nothing"))
                    .label(self.character(), "no bracket is open here")
                    .help("remove it, or put the value in quotes")
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => self.mismatch(*open, *close),
            ErrorKind::InvalidBlockScalarHeader => error("text can't begin on the line of `|` or `>`")
                .label(self.rest(), "block text")
                .help("begin the text on the next line, indented; or put it in quotes"),
            ErrorKind::CommentNotSeparated => error("a space is missing in front of `#`")
                .label(self.character(), "begins a comment")
                .help("put a space in front of it, or put the value in quotes if the `#` belongs to it"),
            ErrorKind::MissingAnchorOrAliasName => error("`&` and `*` need a name behind them at the start of a value")
                .label(self.character(), "no name")
                .help("put the value in quotes if it is text"),
            _ if self.text()[self.at..].starts_with(',') => self.character_error(','),
            kind => error(format!("this is not valid YAML: {kind}")).label(self.character(), "got stuck here"),
        }
    }

    /// Text behind a closing quote, or a quote that the next one closed by mistake.
    fn behind_quote(&self, quote: char) -> Diagnostic {
        let help = match quote {
            '"' => "inside double quotes, write `\\\"` for a quote",
            _ => "inside single quotes, write `''` for a quote",
        };
        let start = super::scalar::find_indicator(self.text(), self.context.scalar_end, self.at, &[quote]);
        match start.filter(|start| *start < self.line_start()) {
            Some(start) => error("a quote is not closed where its text ends")
                .label(self.span(start, start + 1), "opened here")
                .label(self.rest(), "its text went on up to here")
                .help(format!("close the quote on its own line; {help}")),
            None => error("text stands behind the closing quote")
                .label(self.rest(), "behind the quote")
                .help(format!("put the whole value between the quotes; {help}")),
        }
    }

    /// The escape that isn't one, in the quoted text that begins at the place.
    fn escape(&self) -> Diagnostic {
        let text = self.text();
        let mut at = self.at + 1;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
            let backslash = at + found;
            match escape::read(text, backslash) {
                Some((_, next)) => at = next,
                None if text[backslash + 1..].starts_with(['\r', '\n']) => at = backslash + 2,
                None => return self.bad_escape(backslash),
            }
        }
        self.bad_escape(self.at)
    }

    fn bad_escape(&self, at: usize) -> Diagnostic {
        let rest = &self.text()[at..];
        let digits = |rest: &str| rest[2..].chars().take_while(char::is_ascii_hexdigit).take(8).count();
        let length = match rest.as_bytes().get(1) {
            Some(b'x' | b'u' | b'U') => 2 + digits(rest),
            Some(_) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            None => rest.len(),
        };
        error(format!("`{}` is not an escape of double-quoted text", &rest[..length]))
            .label(self.span(at, at + length), "unknown escape")
            .help("write `\\\\` for a backslash, or use single quotes, where a backslash is an ordinary character")
    }

    fn character_error(&self, character: char) -> Diagnostic {
        let at = self.text()[self.at..].find(character).map_or(self.at, |found| self.at + found);
        let span = self.span(at, at + character.len_utf8());
        if character.is_control() || character.is_whitespace() || character as u32 > 0x7e {
            return error(format!("the character U+{:04X} can't stand in YAML", character as u32))
                .label(span, "not allowed")
                .help("remove it, or write it as an escape in double quotes");
        }
        let name = if character == '`' { "a backtick".to_owned() } else { format!("`{character}`") };
        error(format!("a value can't begin with {name}"))
            .label(span, "reserved in YAML")
            .help("put the value in quotes")
    }

    fn mismatch(&self, open: char, close: char) -> Diagnostic {
        let end = self.text()[self.at..].find(close).map_or(self.at, |found| self.at + found);
        error(format!("`{open}` is closed by `{close}`"))
            .label(self.span(end, end + 1), "closes another kind of bracket")
            .label(self.character(), "opened here")
    }
}

fn never_closed(span: Span, open: char) -> Diagnostic {
    let close = if open == '[' { ']' } else { '}' };
    error(format!("`{open}` is never closed")).label(span, "opened here").help(format!("close it with `{close}`"))
}

fn comma(span: Span, open: char) -> Diagnostic {
    let (what, close) = if open == '[' { ("list", ']') } else { ("mapping", '}') };
    error(format!("a comma or `{close}` is missing in this {what}"))
        .label(span, "got stuck here")
        .help("put a comma between entries; put texts with `:`, `,`, brackets or braces in quotes")
}

/// Keys of a pipeline file whose value is a mapping.
const OF_KEYS: &[&str] = &[
    "pipeline",
    "config",
    "options",
    "memory",
    "concurrency",
    "vars",
    "conditions",
    "error_handling",
    "dlq",
    "on_unmapped",
    "mutate",
    "synthesize",
];

/// Keys whose value is a list of mappings.
const LISTS: &[&str] = &["schema", "rules", "validations", "sort_order", "order_by"];

/// Keys of a mapping as they are written behind `key`, whose value may be a list.
fn in_braces(key: &str, value: &str) -> String {
    if key == "mapping" {
        let entries: Vec<String> = value.split(", ").map(|entry| format!("{{ {} }}", entry.trim())).collect();
        return format!("write a list, with each name in braces: `{key}: [{}]`", shorten(&entries.join(", ")));
    }
    let value = shorten(value);
    match LISTS.contains(&key) {
        true => format!("put the keys in braces, in a list: `{key}: [{{ {value} }}]`"),
        false => format!("put the keys in braces: `{key}: {{ {value} }}`"),
    }
}

/// What to do about keys with commas between them that lack the braces of a mapping: `config: type: csv, path: a.csv`,
/// or `- name: id, type: int`, where the first of them is `key`. `quoted` is the line as a text.
fn mapping_in_a_line(key: &str, value: &str, is_entry: bool, quoted: &str) -> Option<String> {
    let is_pair = |part: &str| {
        let (name, value) = part.trim().split_once(": ")?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && !value.trim().is_empty()).then_some(())
    };
    let mut parts = value.split(", ");
    let first = parts.next()?;
    let others = parts.clone().count();
    parts.map(is_pair).collect::<Option<Vec<_>>>()?;
    match is_pair(first) {
        // A text of its own may hold one colon.
        Some(()) if others > 0 || OF_KEYS.contains(&key) || LISTS.contains(&key) || key == "mapping" => {
            Some(in_braces(key, value))
        }
        None if others > 0 && is_entry => Some(format!("put the keys in braces: `- {{ {key}: {} }}`", shorten(value))),
        None if others > 0 => Some(format!("write each key on a line of its own; a text is put in quotes: {quoted}")),
        _ => None,
    }
}

fn line_at(text: &str) -> &str {
    text.split(['\r', '\n']).next().unwrap_or_default()
}

/// The colon of a line such as `key:value`, with a name for a key.
fn missing_space(line: &str) -> Option<usize> {
    let entry = line.trim_start_matches("- ");
    let length = entry.find(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|length| *length > 0)?;
    let follows = entry[length..].strip_prefix(':')?.chars().next()?;
    (!follows.is_whitespace() && !matches!(follows, ':' | '/')).then_some(line.len() - entry.len() + length)
}

/// At most 40 characters of a text.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
