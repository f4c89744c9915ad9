//! Mappings with strict keys: what every reader stands on.
//!
//! A reader lists its [`Keys`] and takes [`Given`] values out of [`Fields`]. What is wrong with a key or its kind of
//! value is reported here in one voice; a reader goes on with what is left.

use std::borrow::Cow;

use super::habits;
use super::values::{is_bool, is_number};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::syntax::yaml::{Entry, Node, ScalarStyle, Value};

/// The keys of one kind of mapping.
pub(super) struct Keys {
    /// Keys that are read.
    pub(super) read: &'static [&'static str],
    /// Those of them that must be there.
    pub(super) required: &'static [&'static str],
    /// Those of them of which one must be there.
    pub(super) one_of: &'static [&'static str],
    /// Keys that are known but not accepted.
    pub(super) refused: &'static [Refused],
}

impl Keys {
    /// No keys at all.
    pub(super) const NONE: Keys = Keys { read: &[], required: &[], one_of: &[], refused: &[] };

    /// The keys for people, but for those that only hold remarks.
    fn known(&self) -> impl Iterator<Item = &'static str> {
        self.read.iter().copied().filter(|key| !key.starts_with('_'))
    }
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

impl Refused {
    /// Whether the help says what to do about a missing key, given in backticks.
    fn speaks_of(&self, missing: &str) -> bool {
        let missing = missing.trim_end_matches('`');
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        self.help.match_indices(missing).any(|(at, _)| !goes_on(&self.help[at + missing.len()..]))
    }
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

    /// Whether a key that is missing may be given in a way that can't be read, which is reported.
    pub(super) fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// What is required and not given, for people.
    fn missing(&self, keys: &Keys) -> Vec<String> {
        let absent = |key: &&&str| !self.has(key);
        let mut missing: Vec<String> = keys.required.iter().filter(absent).map(|key| format!("`{key}`")).collect();
        if !keys.one_of.is_empty() && keys.one_of.iter().all(|key| !self.has(key)) {
            missing.push(format!("one of {}", listed(keys.one_of.iter().copied())));
        }
        missing
    }

    /// Where to report what is missing.
    pub(super) fn place(&self) -> Span {
        self.place
    }
}

impl<'n> Given<'n> {
    /// Whether YAML reads it as a number or a boolean.
    pub(super) fn is_number_or_bool(&self) -> bool {
        let typed = |text: &str| is_number(text) || is_bool(text);
        matches!(&self.node.value, Value::Scalar(scalar) if scalar.style == ScalarStyle::Plain && typed(&scalar.text))
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&'n str> {
        match &self.node.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

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
        let text = self.written(span);
        let length = text.find(['\r', '\n']).map_or(text.len(), |end| text[..end].trim_end().len());
        Span::new(span.file, span.start, span.start + length as u32)
    }

    /// What stands at a place.
    pub(super) fn written(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The place of a mapping of one entry that another one in braces can stand in.
    pub(super) fn with_braces(&self, mapping: &Node, entry: &Entry) -> Span {
        let flow = self.written(mapping.span).starts_with('{');
        if flow { mapping.span } else { entry.key.span.to(entry.value.span) }
    }

    /// The entries of a mapping, keys checked. `None`, reported, if the value is no mapping.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, what: String, place: Span, keys: &Keys) -> Option<Fields<'n>> {
        let given = Given { what: what.clone().into(), node, key: self.first_line(node.span) };
        let entries = self.mapping(&given)?;
        let mut fields = Fields { what, place, entries: Vec::new(), refused: Vec::new(), incomplete: false };
        let mut misplaced = Vec::new();
        let mut unknown = Vec::new();
        for entry in entries {
            let key = entry.key.text.as_str();
            if keys.read.contains(&key) {
                fields.entries.push((key, entry));
            } else if key == "<<" {
                fields.incomplete = true;
            } else if let Some(refused) = keys.refused.iter().find(|refused| refused.key == key) {
                fields.refused.push(refused.key);
                match refused.code {
                    Code::E000 => misplaced.push((entry.key.span, refused)),
                    _ => self.refuse(entry.key.span, refused),
                }
            } else if let Some(meant) = self.slip(entry, entries, keys, &fields.what) {
                fields.entries.push((meant, entry));
            } else {
                unknown.push(entry);
            }
        }
        self.strangers(&mut fields, keys, &misplaced, &unknown);
        Some(fields)
    }

    /// Reports keys that stand for nothing. Where required keys are missing, these are what is missing: then the one
    /// report is about both, and no other follows.
    fn strangers(&mut self, fields: &mut Fields<'_>, keys: &Keys, misplaced: &[(Span, &Refused)], unknown: &[&Entry]) {
        let missing = if fields.incomplete { Vec::new() } else { fields.missing(keys) };
        for (index, (span, refused)) in misplaced.iter().enumerate() {
            let first = index == 0 && unknown.is_empty();
            let untold: Vec<String> = missing.iter().filter(|key| first && !refused.speaks_of(key)).cloned().collect();
            let finding = misplaced_key(*span, refused, &fields.what);
            self.report(if untold.is_empty() { finding } else { finding.note(missing_here(&untold)) });
        }
        match unknown {
            [] => {}
            unknown if !missing.is_empty() => self.report(in_the_place_of(unknown, &missing, keys, &fields.what)),
            unknown => {
                for entry in unknown {
                    self.report(self.given_already(entry, keys, unknown_key(&[entry], keys, &fields.what)));
                }
            }
        }
        fields.incomplete |= !unknown.is_empty() || !misplaced.is_empty() && !missing.is_empty();
    }

    /// Adds that the key looks like one that is given already.
    fn given_already(&self, entry: &Entry, keys: &Keys, finding: Diagnostic) -> Diagnostic {
        let close = closest(&entry.key.text, keys.known());
        finding.help_opt(close.map(|close| format!("remove it; `{close}` is given already")))
    }

    /// Reports a key of the language that is not run yet, or that can't be set.
    fn refuse(&mut self, span: Span, refused: &Refused) {
        let key = refused.key;
        let (message, label) = match refused.code {
            Code::E199 => (format!("`{key}` is not run by this version yet"), "not run yet"),
            _ => (format!("`{key}` is reserved and can't be set"), "reserved"),
        };
        self.report(Diagnostic::error(refused.code, message).label(span, label).help(refused.help));
    }

    /// Reports an unknown key that is a slip for one that is not given, which is what it is read as.
    fn slip(&mut self, entry: &Entry, all: &[Entry], keys: &Keys, what: &str) -> Option<&'static str> {
        let key = &entry.key;
        let free = |known: &&str| !all.iter().any(|other| other.key.text == **known);
        let habit = habits::meant(&key.text, |meant| keys.known().any(|known| known == meant && free(&known)));
        let close = || closest(&key.text, keys.known().filter(free)).filter(|_| habits::elsewhere(&key.text).is_none());
        let meant = habit.or_else(close)?;
        let finding = unknown_key(&[entry], keys, what);
        self.report(finding.help(format!("did you mean `{meant}`?")).fix(key.span, meant));
        Some(meant)
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
        let finding = Diagnostic::error(Code::E000, message).label(given.key, "needs a value");
        let is_value = |comment: &&str| comment[1..].starts_with(|c: char| !c.is_whitespace());
        let quoted = self.comment_behind(given.key).filter(is_value).map(in_quotes);
        self.report(finding.help_opt(quoted));
    }

    /// The comment on the line of a place, if nothing but a colon stands between.
    pub(super) fn comment_behind(&self, place: Span) -> Option<&str> {
        let line = self.text.get(place.end as usize..)?.lines().next()?;
        let rest = line.trim_start().trim_start_matches(':').trim();
        rest.starts_with('#').then_some(rest)
    }
}

/// What to do about a value of which YAML takes a part for a comment.
pub(super) fn in_quotes(value: &str) -> String {
    const LONGEST: usize = 60;
    let help = "a `#` begins a comment: put the whole value in quotes";
    match value.chars().count() <= LONGEST && !value.contains(['"', '\\']) {
        true => format!("{help}, as in `\"{value}\"`"),
        false => help.to_owned(),
    }
}

/// A key that belongs to another mapping.
fn misplaced_key(span: Span, refused: &Refused, what: &str) -> Diagnostic {
    Diagnostic::error(Code::E000, format!("`{}` is not a key of {what}", refused.key))
        .label(span, "does not belong here")
        .help(refused.help)
}

/// Keys that nothing is known of.
fn unknown_key(entries: &[&Entry], keys: &Keys, what: &str) -> Diagnostic {
    let names = listed(entries.iter().map(|entry| entry.key.text.as_str()));
    let message = match entries.len() {
        1 => format!("{names} is not a key of {what}"),
        _ => format!("{names} are not keys of {what}"),
    };
    let allowed = match keys.known().count() {
        1 => format!("the key allowed here is {}", listed(keys.known())),
        _ => format!("the keys allowed here are {}", listed(keys.known())),
    };
    let labelled = |finding: Diagnostic, entry: &&Entry| finding.label(entry.key.span, "unknown key");
    let help = entries.iter().find_map(|entry| habits::elsewhere(&entry.key.text));
    let finding = entries.iter().fold(Diagnostic::error(Code::E000, message), labelled).note(allowed);
    finding.help_opt(help.map(str::to_owned))
}

/// Unknown keys where others are missing.
fn in_the_place_of(unknown: &[&Entry], missing: &[String], keys: &Keys, what: &str) -> Diagnostic {
    let help = match (unknown, missing) {
        ([one], missing) if let Some(help) = habits::elsewhere(&one.key.text) => {
            format!("{help}; {}", missing_here(missing))
        }
        ([one], [missing]) => format!("{missing} is missing: rename `{}` if that is what it is", one.key.text),
        (_, [missing]) => format!("{missing} is missing"),
        (_, missing) => missing_here(missing),
    };
    unknown_key(unknown, keys, what).help(help)
}

fn missing_here(missing: &[String]) -> String {
    format!("missing here: {}", joined(missing))
}

/// Names as a list in backticks.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    joined(&names)
}

/// Phrases as a list.
fn joined(phrases: &[String]) -> String {
    match phrases {
        [first, last] => format!("{first} and {last}"),
        [rest @ .., last] if rest.len() > 1 => format!("{} and {last}", rest.join(", ")),
        phrases => phrases.concat(),
    }
}
