//! The texts that spans point into.
//!
//! The map hands out [`FileId`]s and turns byte offsets into lines and columns. It does no IO: whoever reads a
//! file adds its text.

use codespan_reporting::files::{Files, SimpleFiles};

use super::Span;

/// Names one text of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A place for people: both numbers count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in Unicode scalar values, from 1.
    pub column: usize,
}

/// All source texts of a compilation.
#[derive(Clone, Debug)]
pub struct SourceMap {
    files: SimpleFiles<String, String>,
    count: u32,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self { files: SimpleFiles::new(), count: 0 }
    }
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that messages show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.add(name.into(), text.into());
        self.count += 1;
        FileId(self.count - 1)
    }

    /// Whether `file` names a text of this map.
    pub fn contains(&self, file: FileId) -> bool {
        file.0 < self.count
    }

    /// The whole text of a file.
    pub fn text(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map(|f| f.source().as_str()).unwrap_or_default()
    }

    /// The name of a file, as messages show it.
    pub fn name(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map(|f| f.name().as_str()).unwrap_or_default()
    }

    /// The text that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Line and column of a byte offset.
    pub fn line_column(&self, file: FileId, offset: u32) -> LineColumn {
        match self.files.location(file.0 as usize, offset as usize) {
            Ok(location) => LineColumn { line: location.line_number, column: location.column_number },
            Err(_) => LineColumn { line: 1, column: 1 },
        }
    }

    pub(super) fn files(&self) -> &SimpleFiles<String, String> {
        &self.files
    }
}
