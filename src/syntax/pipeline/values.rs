//! Values of one kind: text, numbers, choices, lists, CXL.

use super::fields::{Given, Reader, in_quotes, listed};
use super::swallowed;
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span, Spanned};
use crate::syntax::cxl;
use crate::syntax::yaml::{Entry, Node, Scalar, ScalarStyle, Value};

impl<'d> Reader<'d> {
    /// Reports a value of a wrong kind.
    pub(super) fn wrong(&mut self, given: &Given<'_>, wanted: &str) {
        let finding = self.wrong_kind(given, wanted);
        self.report(finding);
    }

    /// What to say about a value of a wrong kind.
    pub(super) fn wrong_kind(&self, given: &Given<'_>, wanted: &str) -> Diagnostic {
        let found = found(given.node);
        let span = if given.is_null() { given.key } else { self.first_line(given.node.span) };
        let finding = Diagnostic::error(Code::E000, format!("{} must be {wanted}, not {found}", given.what))
            .label(span, format!("expected {wanted}"));
        match missing_space(given.node) {
            Some((key, value)) if wanted.starts_with("a mapping") => {
                finding.help(format!("write a space behind the colon: `{key}: {value}`"))
            }
            _ => finding,
        }
    }

    /// A scalar, whatever it looks like. Nothing at all is reported.
    pub(super) fn scalar<'n>(&mut self, given: &Given<'n>, wanted: &str) -> Option<&'n Scalar> {
        match &given.node.value {
            Value::Scalar(scalar) if scalar.is_null() => self.no_value(given),
            Value::Scalar(scalar) => return Some(scalar),
            Value::Error => {}
            _ => self.wrong(given, wanted),
        }
        None
    }

    /// Text. A number, a boolean and the like must be quoted to be text; one that isn't is reported and given all the
    /// same, for it says what is meant.
    pub(super) fn string(&mut self, given: &Given<'_>) -> Option<Spanned<String>> {
        let scalar = self.scalar(given, "text")?;
        if !given.is_number_or_bool() {
            return Some(Spanned::new(scalar.text.clone(), scalar.span));
        }
        let quoted = format!("\"{}\"", scalar.text);
        let finding = self.wrong_kind(given, "text");
        self.report(finding.help(format!("put it in quotes: `{quoted}`")).fix(scalar.span, quoted));
        Some(Spanned::new(scalar.text.clone(), scalar.span))
    }

    /// A name: text that is not blank.
    pub(super) fn name(&mut self, given: &Given<'_>) -> Option<Spanned<String>> {
        let name = self.string(given)?;
        if name.value.trim().is_empty() {
            self.no_value(given);
            return None;
        }
        Some(name)
    }

    /// `true` or `false`
    pub(super) fn boolean(&mut self, given: &Given<'_>) -> Option<bool> {
        let scalar = self.scalar(given, "`true` or `false`")?;
        let lower = scalar.text.to_ascii_lowercase();
        if scalar.style == ScalarStyle::Plain && is_bool(&scalar.text) {
            return Some(lower == "true");
        }
        let meant = match lower.as_str() {
            "true" | "yes" | "y" | "on" => Some("true"),
            "false" | "no" | "n" | "off" => Some("false"),
            _ => None,
        };
        let mut finding = self.wrong_kind(given, "`true` or `false`");
        if let Some(meant) = meant {
            finding = finding.help(format!("write `{meant}`")).fix(scalar.span, meant);
        }
        self.report(finding);
        meant.map(|meant| meant == "true")
    }

    /// A whole number from `min` to `max`.
    pub(super) fn whole(&mut self, given: &Given<'_>, min: u64, max: u64) -> Option<Spanned<u64>> {
        let wanted = match max {
            u64::MAX if min == 0 => "a whole number".to_owned(),
            u64::MAX => format!("a whole number of at least {min}"),
            _ => format!("a whole number from {min} to {max}"),
        };
        let scalar = self.scalar(given, &wanted)?;
        let digits = scalar.text.bytes().all(|byte| byte.is_ascii_digit());
        let value = scalar.text.parse().ok().filter(|value| digits && (min..=max).contains(value));
        match value {
            Some(value) if scalar.style == ScalarStyle::Plain => Some(Spanned::new(value, scalar.span)),
            _ => {
                self.wrong(given, &wanted);
                None
            }
        }
    }

    /// A whole number of either sign that fits 64 bits.
    pub(super) fn integer(&mut self, given: &Given<'_>) -> Option<Spanned<i64>> {
        let wanted = "a whole number";
        let scalar = self.scalar(given, wanted)?;
        let unsigned = scalar.text.strip_prefix(['+', '-']).unwrap_or(&scalar.text);
        let digits = unsigned.bytes().all(|byte| byte.is_ascii_digit());
        match scalar.text.parse().ok().filter(|_| digits && scalar.style == ScalarStyle::Plain) {
            Some(value) => Some(Spanned::new(value, scalar.span)),
            None => {
                self.wrong(given, wanted);
                None
            }
        }
    }

    /// A whole number from `min` to `max` that fits a byte.
    pub(super) fn small(&mut self, given: &Given<'_>, min: u8, max: u8) -> Option<Spanned<u8>> {
        let value = self.whole(given, min.into(), max.into())?;
        Some(Spanned::new(u8::try_from(value.value).ok()?, value.span))
    }

    /// A number. `wanted` says which ones; the caller checks the range.
    pub(super) fn number(&mut self, given: &Given<'_>, wanted: &str) -> Option<Spanned<f64>> {
        let scalar = self.scalar(given, wanted)?;
        let value = scalar.text.parse::<f64>().ok().filter(|value| value.is_finite());
        match value {
            Some(value) if scalar.style == ScalarStyle::Plain && is_number(&scalar.text) => {
                Some(Spanned::new(value, scalar.span))
            }
            _ => {
                self.wrong(given, wanted);
                None
            }
        }
    }

    /// One of a few words, and what it stands for.
    pub(super) fn choice<T: Copy>(&mut self, given: &Given<'_>, choices: &[(&str, T)]) -> Option<Spanned<T>> {
        let names = || choices.iter().map(|(name, _)| *name);
        let wanted = listed(names()).replace(" and ", " or ");
        let scalar = self.scalar(given, &wanted)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == scalar.text) {
            return Some(Spanned::new(*value, scalar.span));
        }
        let mut finding = self.wrong_kind(given, &wanted);
        let meant = closest(&scalar.text, names());
        if let Some(meant) = meant {
            finding = finding.help(format!("did you mean `{meant}`?")).fix(scalar.span, meant);
        }
        self.report(finding);
        let (_, value) = choices.iter().find(|(name, _)| Some(*name) == meant)?;
        Some(Spanned::new(*value, scalar.span))
    }

    /// The entries of a mapping.
    pub(super) fn mapping<'n>(&mut self, given: &Given<'n>) -> Option<&'n [Entry]> {
        match &given.node.value {
            Value::Mapping(entries) => Some(entries),
            Value::Error => None,
            _ => {
                self.wrong(given, "a mapping");
                None
            }
        }
    }

    /// The values of a list.
    pub(super) fn list<'n>(&mut self, given: &Given<'n>) -> Option<Vec<Given<'n>>> {
        let Value::Sequence(items) = &given.node.value else {
            if given.node.value != Value::Error {
                self.wrong(given, "a list");
            }
            return None;
        };
        let item = |node: &'n Node| {
            let key = if node.span.start < node.span.end { node.span } else { given.key };
            Given { what: format!("an entry of {}", given.what).into(), node, key }
        };
        Some(items.iter().map(item).collect())
    }

    /// A list of texts. `None`, reported, if one of them can't be read.
    pub(super) fn strings(&mut self, given: &Given<'_>) -> Option<Vec<Spanned<String>>> {
        if let Value::Scalar(scalar) = &given.node.value {
            return Some(self.not_in_brackets(given, scalar));
        }
        let items = self.list(given)?;
        let texts: Vec<_> = items.iter().map(|item| self.string(item)).collect();
        texts.into_iter().collect()
    }

    /// The columns that groups are made by. The list's place is its value, or the key where that runs over several
    /// lines.
    pub(super) fn column_list(&mut self, given: &Given<'_>) -> Option<Spanned<Vec<Spanned<String>>>> {
        let columns = match &given.node.value {
            Value::Sequence(items) => match items.iter().position(is_position) {
                Some(first) => return self.positions(given, &items[first]),
                None => self.strings(given)?,
            },
            _ => self.strings(given)?,
        };
        let one_line = self.first_line(given.node.span) == given.node.span;
        Some(Spanned::new(columns, if one_line { given.node.span } else { given.key }))
    }

    /// Reports the first number in a list of columns, and what else is wrong with the list.
    fn positions<T>(&mut self, given: &Given<'_>, first: &Node) -> Option<T> {
        let written = self.written(first.span);
        let help = format!("write the column's name; one that is called `{written}` is put in quotes: `\"{written}\"`");
        let message = format!("{} lists columns by name, not by position", given.what);
        self.report(Diagnostic::error(Code::E000, message).label(first.span, "a number").help(help));
        for item in self.list(given)?.iter().filter(|item| !is_position(item.node)) {
            self.string(item);
        }
        None
    }

    /// Reports a text where a list of texts is wanted, which it most likely is one entry of, or several with commas.
    pub(super) fn not_in_brackets(&mut self, given: &Given<'_>, scalar: &Scalar) -> Vec<Spanned<String>> {
        let finding = self.wrong_kind(given, "a list");
        let written = self.written(scalar.span).to_owned();
        let quoted = matches!(scalar.style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        let several = split_at_commas(scalar, &written);
        // Brackets and commas mean something else inside of brackets.
        let plain = scalar.style == ScalarStyle::Plain && !written.contains(['[', ']', '{', '}', ',', '\n']);
        let safe = quoted || plain || several.is_some();
        self.report(match safe {
            true => finding.help(format!("write `[{written}]`")).fix(scalar.span, format!("[{written}]")),
            false => finding,
        });
        several.unwrap_or_else(|| vec![Spanned::new(scalar.text.clone(), scalar.span)])
    }

    /// CXL, as `parse` reads it. What is no scalar is reported.
    pub(super) fn cxl<T>(
        &mut self,
        given: &Given<'_>,
        wanted: &str,
        parse: impl FnOnce(&cxl::Source, &mut Diagnostics) -> T,
    ) -> Option<T> {
        let scalar = self.scalar(given, wanted)?;
        Some(self.parsed(scalar, parse))
    }

    /// The CXL of a scalar, as `parse` reads it.
    pub(super) fn parsed<T>(&mut self, scalar: &Scalar, parse: impl FnOnce(&cxl::Source, &mut Diagnostics) -> T) -> T {
        let folds = scalar.style == ScalarStyle::Folded && self.written(scalar.span).starts_with('>');
        let source = cxl::Source { text: scalar.text.clone(), map: scalar.map.clone(), span: scalar.span, folds };
        let mut found = Diagnostics::new();
        let parsed = parse(&source, &mut found);
        if !found.has_errors() {
            swallowed::line(self, scalar, &source);
        }
        let cut_off = self.cut_off(scalar);
        for finding in found.iter().cloned() {
            let help = cut_off.clone().filter(|_| finding.help.is_none());
            self.report(finding.help_opt(help));
        }
        parsed
    }

    /// What to do about a text of which YAML takes the end for a comment.
    fn cut_off(&self, scalar: &Scalar) -> Option<String> {
        let comment = self.comment_behind(scalar.span).filter(|_| scalar.style == ScalarStyle::Plain)?;
        Some(in_quotes(&format!("{} {comment}", scalar.text)))
    }

    /// An expression. What is no scalar is reported and stands as an error.
    pub(super) fn expression(&mut self, given: &Given<'_>) -> cxl::ast::Expr {
        let parsed = self.cxl(given, "a CXL expression", cxl::parse_expression);
        parsed.unwrap_or(cxl::ast::Expr { kind: cxl::ast::ExprKind::Error, span: given.node.span })
    }
}

/// What a value is, for messages.
fn found(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) if scalar.is_null() => "nothing".to_owned(),
        Value::Scalar(scalar) if scalar.text.is_empty() => "an empty text".to_owned(),
        Value::Scalar(scalar) if scalar.style != ScalarStyle::Plain => format!("the text `{}`", shorten(&scalar.text)),
        Value::Scalar(scalar) if is_number(&scalar.text) => format!("the number `{}`", shorten(&scalar.text)),
        Value::Scalar(scalar) => format!("`{}`", shorten(&scalar.text)),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
        Value::Error => "what stands here".to_owned(),
    }
}

/// Whether it is a plain whole number.
fn is_position(item: &Node) -> bool {
    let Value::Scalar(scalar) = &item.value else { return false };
    scalar.style == ScalarStyle::Plain && !scalar.text.is_empty() && scalar.text.bytes().all(|b| b.is_ascii_digit())
}

/// The names of a text such as `carrier, month`, as it is written; `None` if there is but one, or if they are no names.
fn split_at_commas(scalar: &Scalar, written: &str) -> Option<Vec<Spanned<String>>> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if scalar.style != ScalarStyle::Plain || !written.contains(',') {
        return None;
    }
    let mut names = Vec::new();
    let mut start = scalar.span.start;
    for part in written.split(',') {
        let name = part.trim();
        if !is_name(name) {
            return None;
        }
        let at = start + (part.len() - part.trim_start().len()) as u32;
        names.push(Spanned::new(name.to_owned(), Span::new(scalar.span.file, at, at + name.len() as u32)));
        start += part.len() as u32 + 1;
    }
    Some(names)
}

/// The first line of a text, at most 40 characters of it, without control characters. A text of blanks is shown whole.
fn shorten(text: &str) -> String {
    let blank = text.trim().is_empty();
    let line = if blank { text } else { text.lines().next().unwrap_or_default() };
    let shown: String = line.chars().take(40).map(escaped).collect();
    let cut = line.chars().nth(40).is_some() || !blank && line.len() < text.trim_end().len();
    if cut { shown + "…" } else { shown }
}

/// A character as it can be shown.
fn escaped(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}

/// Whether YAML reads the plain text as a boolean.
pub(super) fn is_bool(text: &str) -> bool {
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
}

/// Whether YAML reads the plain text as a number.
pub(super) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let radix = |prefix, radix| {
        text.strip_prefix(prefix).is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)))
    };
    let decimal = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok();
    decimal || radix("0x", 16) || radix("0o", 8) || matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan")
}

/// Key and value of a text such as `key:value`, which lacks a space to be a mapping.
fn missing_space(node: &Node) -> Option<(&str, &str)> {
    let Value::Scalar(scalar) = &node.value else { return None };
    let (key, value) = scalar.text.lines().next()?.split_once(':')?;
    let name = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    (name && !value.is_empty() && scalar.style == ScalarStyle::Plain).then_some((key, value))
}
