//! What the compiler and the interpreter say to a person.
//!
//! The central type is [`Diagnostic`]: a stable [`Code`], a severity, a first line that stands alone, labelled
//! [`Span`]s, notes, help, and a [`Fix`] where one is certain. Stages push diagnostics into a [`Diagnostics`]
//! collector and go on; nothing here prints. Rendering (`render`) and the code registry (`codes`) live beside it.
//! The types of `ariadne` and `codespan-reporting` never leave this module.

pub mod codes;
pub mod render;
pub mod source_map;
pub mod suggest;

pub use codes::Code;
pub use source_map::{FileId, SourceMap};

/// A half-open range of byte offsets in one source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Span {
    /// The file the offsets count in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte; equal to `start` for a place between two bytes.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to `end` in `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end: end.max(start) }
    }

    /// The smallest span that covers both; `other` must lie in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span::new(self.file, self.start.min(other.start), self.end.max(other.end))
    }
}

/// A value with the place it was written at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place, with the value changed by `f`.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }
}

/// How grave a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The pipeline can't run, or the run stopped.
    Error,
    /// The pipeline runs; something looks wrong.
    Warning,
}

/// A remark at a place in a source file. The first label of a diagnostic is its primary one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A short phrase, shown beside the underlined place; may be empty.
    pub text: String,
}

/// A replacement that is certain to mend what a diagnostic reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What to replace.
    pub span: Span,
    /// With what.
    pub replacement: String,
}

/// One finding, ready to be rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The stable code; its page is printed by `clinker explain --code`.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a final full stop that stands alone in a terse terminal.
    pub message: String,
    /// Places, the cause first. Empty for findings that have no place in a source file.
    pub labels: Vec<Label>,
    /// Further facts, each a sentence.
    pub notes: Vec<String>,
    /// What to do about it, one sentence.
    pub help: Option<String>,
    /// A replacement, where one is certain.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// An error with the given code and first line.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A warning with the given code and first line.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self { code, severity, message, labels: Vec::new(), notes: Vec::new(), help: None, fix: None }
    }

    /// Adds a labelled place; the first one added is the primary place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a further fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, where there is something to say.
    pub fn help_opt(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds a certain replacement.
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into() });
        self
    }

    /// The primary place, if it has one.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

/// Collects the findings of a compilation, so that independent errors are reported together.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one finding; one that remarks the same on the same places as an earlier one is dropped. What an anchor
    /// marks is read again for each of its aliases, but a mistake in it is one, whichever node it is told of.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_told = |earlier: &Diagnostic| {
            let same_places = !earlier.labels.is_empty() && earlier.labels == diagnostic.labels;
            *earlier == diagnostic || earlier.code == diagnostic.code && same_places
        };
        if !self.items.iter().any(is_told) {
            self.items.push(diagnostic);
        }
    }

    /// Adds findings about files. Several files may give the same remark on the place that names them, so only an exact
    /// repetition of an earlier one is dropped.
    pub fn push_of_files(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in found {
            if !self.items.contains(&diagnostic) {
                self.items.push(diagnostic);
            }
        }
    }

    /// Whether an error points at exactly this place: what stands there is wrong in a way that is told already, and
    /// what else may be wrong with it is only a guess.
    pub fn reports(&self, span: Span) -> bool {
        self.items.iter().any(|finding| finding.severity == Severity::Error && finding.span() == Some(span))
    }

    /// Whether any finding so far is an error.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// The number of errors so far.
    pub fn error_count(&self) -> usize {
        self.items.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// The number of warnings so far.
    pub fn warning_count(&self) -> usize {
        self.items.len() - self.error_count()
    }

    /// All findings, sorted by file and place; findings without a place come last, in the order they were made.
    pub fn sorted(&self) -> Vec<Diagnostic> {
        let mut items = self.items.clone();
        items.sort_by_key(|d| match d.span() {
            Some(span) => (0, span.file.0, span.start, span.end),
            None => (1, 0, 0, 0),
        });
        items
    }

    /// All findings in the order they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter()
    }
}
