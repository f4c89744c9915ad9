//! Mappings with strict keys: what every reader stands on.
//!
//! A reader lists its [`Keys`] and takes [`Given`] values out of [`Fields`]. What is wrong with a key or its kind of
//! value is reported here in one voice; a reader goes on with what is left.

use std::borrow::Cow;

use super::habits;
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::syntax::yaml::{Entry, Node, Value};

/// The keys of one kind of mapping.
pub(super) struct Keys {
    /// Keys that are read.
    pub(super) read: &'static [&'static str],
    /// Keys that are known but not accepted.
    pub(super) refused: &'static [Refused],
}

/// A key that is known but not accepted.
pub(super) struct Refused {
    /// The key.
    pub(super) key: &'static str,
    /// E199 for what this version doesn't run yet, E000 for what belongs elsewhere, or a code of its own.
    pub(super) code: Code,
    /// What to do instead.
    pub(super) help: &'static str,
}

/// A key of the language that this version doesn't run yet.
pub(super) const fn later(key: &'static str, help: &'static str) -> Refused {
    Refused { key, code: Code::E199, help }
}

/// A key that belongs to another mapping.
pub(super) const fn elsewhere(key: &'static str, help: &'static str) -> Refused {
    Refused { key, code: Code::E000, help }
}

/// A value with what messages call it.
#[derive(Clone)]
pub(super) struct Given<'n> {
    /// What it is, as a phrase: "`path`", "an entry of `exclude`".
    pub(super) what: Cow<'static, str>,
    /// The value.
    pub(super) node: &'n Node,
    /// Its key, or the value itself where it has none.
    pub(super) key: Span,
}

/// The entries of a mapping under the names of the keys they were taken for.
pub(super) struct Fields<'n> {
    /// What the mapping is, as a phrase: "sink `out`".
    what: String,
    /// Where a missing key is reported.
    place: Span,
    entries: Vec<(&'n str, &'n Entry)>,
    /// Keys that were refused.
    refused: Vec<&'static str>,
    /// Whether keys may be missing because of something reported already.
    incomplete: bool,
}

impl<'n> Fields<'n> {
    /// The value of a key, if it is given.
    pub(super) fn get(&self, key: &str) -> Option<Given<'n>> {
        let (_, entry) = self.entries.iter().find(|(name, _)| *name == key)?;
        Some(Given { what: format!("`{key}`").into(), node: &entry.value, key: entry.key.span })
    }

    /// The value of a key that groups others; a group without a value is as good as absent.
    pub(super) fn group(&self, key: &str) -> Option<Given<'n>> {
        self.get(key).filter(|given| !given.is_null())
    }

    /// Whether the key was given, under its name or a close one.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| *name == key)
    }

    /// Whether one of these keys was given and refused.
    pub(super) fn refused(&self, keys: &[&str]) -> bool {
        self.refused.iter().any(|key| keys.contains(key))
    }

    /// Whether a missing key needs no report of its own.
    pub(super) fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// Where to report what is missing.
    pub(super) fn place(&self) -> Span {
        self.place
    }
}

impl Given<'_> {
    /// Whether there is nothing behind the key.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.node.value, Value::Scalar(scalar) if scalar.is_null())
    }
}

/// Reads values and reports what is wrong with them.
pub(super) struct Reader<'d> {
    /// The text of the file.
    pub(super) text: &'d str,
    /// Where findings go.
    pub(super) diagnostics: &'d mut Diagnostics,
}

impl Reader<'_> {
    /// Adds a finding.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The part of a span on its first line, which is what a message about a whole list or mapping points at.
    pub(super) fn first_line(&self, span: Span) -> Span {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let length = text.find(['\r', '\n']).map_or(text.len(), |end| text[..end].trim_end().len());
        Span::new(span.file, span.start, span.start + length as u32)
    }

    /// The entries of a mapping, keys checked. `None`, reported, if the value is no mapping.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, what: String, place: Span, keys: &Keys) -> Option<Fields<'n>> {
        let given = Given { what: what.clone().into(), node, key: self.first_line(node.span) };
        let entries = self.mapping(&given)?;
        let mut fields = Fields { what, place, entries: Vec::new(), refused: Vec::new(), incomplete: false };
        for entry in entries {
            let key = entry.key.text.as_str();
            if keys.read.contains(&key) {
                fields.entries.push((key, entry));
            } else if key == "<<" {
                fields.incomplete = true;
            } else if let Some(refused) = keys.refused.iter().find(|refused| refused.key == key) {
                self.refuse(entry.key.span, refused, &fields.what);
                fields.refused.push(refused.key);
            } else if let Some(meant) = self.unknown(entry, entries, keys, &fields.what) {
                fields.entries.push((meant, entry));
            }
        }
        Some(fields)
    }

    fn refuse(&mut self, span: Span, refused: &Refused, what: &str) {
        let key = refused.key;
        let (message, label) = match refused.code {
            Code::E199 => (format!("`{key}` is not run by this version yet"), "not run yet"),
            Code::E000 => (format!("`{key}` is not a key of {what}"), "does not belong here"),
            _ => (format!("`{key}` is reserved and can't be set"), "reserved"),
        };
        self.report(Diagnostic::error(refused.code, message).label(span, label).help(refused.help));
    }

    /// Reports an unknown key. If it is a slip for a key that is not given, that key is what it is read as.
    fn unknown(&mut self, entry: &Entry, all: &[Entry], keys: &Keys, what: &str) -> Option<&'static str> {
        let key = &entry.key;
        let known = || keys.read.iter().copied().filter(|key| !key.starts_with('_'));
        let given = |known: &&str| all.iter().any(|other| other.key.text == **known);
        let allowed = match known().count() {
            1 => format!("the key allowed here is {}", listed(known())),
            _ => format!("the keys allowed here are {}", listed(known())),
        };
        let mut finding = Diagnostic::error(Code::E000, format!("`{}` is not a key of {what}", key.text))
            .label(key.span, "unknown key")
            .note(allowed);
        let habit = habits::meant(&key.text, |meant| known().any(|known| known == meant && !given(&known)));
        let meant = habit.or_else(|| closest(&key.text, known().filter(|known| !given(known))));
        if let Some(meant) = meant {
            finding = finding.help(format!("did you mean `{meant}`?")).fix(key.span, meant);
        } else if let Some(meant) = closest(&key.text, known()) {
            finding = finding.help(format!("remove it; `{meant}` is given already"));
        }
        self.report(finding);
        meant
    }

    /// The value of a key that must be there; reported if it isn't, or if nothing stands behind it.
    pub(super) fn require<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Option<Given<'n>> {
        let given = fields.get(key);
        match &given {
            None if !fields.incomplete => {
                self.report(
                    Diagnostic::error(Code::E000, format!("`{key}` is missing in {}", fields.what))
                        .label(fields.place, format!("needs `{key}`")),
                );
            }
            Some(given) if given.is_null() => {
                self.no_value(given);
                return None;
            }
            _ => {}
        }
        given
    }

    /// Reports a key with nothing behind it.
    pub(super) fn no_value(&mut self, given: &Given<'_>) {
        let message = format!("{} has no value", given.what);
        self.report(Diagnostic::error(Code::E000, message).label(given.key, "needs a value"));
    }
}

/// Names as a list in backticks.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [first, .., last] if names.len() > 1 => match names.len() {
            2 => format!("{first} and {last}"),
            _ => format!("{} and {last}", names[..names.len() - 1].join(", ")),
        },
        _ => names.concat(),
    }
}
