//! YAML text as a tree in which every value has its byte span and scalar style.

mod block;
mod decoded;
mod errors;
mod escape;
mod flow;
mod scalar;
mod syntax_errors;
mod tree;

use crate::diagnostics::{Diagnostics, FileId, Span};
use crate::syntax::text_map::TextMap;

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// In single quotes.
    SingleQuoted,
    /// In double quotes.
    DoubleQuoted,
    /// A block that keeps its line ends (`|`).
    Literal,
    /// A block that folds its line ends (`>`).
    Folded,
}

/// A scalar with its decoded text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// The decoded text.
    pub text: String,
    /// How it is written.
    pub style: ScalarStyle,
    /// The whole scalar, quotes or block header included.
    pub span: Span,
    /// Where each decoded byte stands.
    pub map: TextMap,
}

/// A value of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A scalar, including an empty (null) one.
    Scalar(Scalar),
    /// A sequence.
    Sequence(Vec<Node>),
    /// A mapping, in file order, without duplicate keys.
    Mapping(Vec<Entry>),
    /// What could not be read; already reported.
    Error,
}

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The key.
    pub key: Scalar,
    /// The value.
    pub value: Node,
}

impl Scalar {
    /// Whether it stands for no value: nothing at all, `~` or `null`, without quotes.
    pub fn is_null(&self) -> bool {
        self.style == ScalarStyle::Plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// Reads one YAML document.
///
/// Reports E000 for text that is not YAML, duplicate keys, tags, unknown anchors, merge keys, keys that are no
/// scalars, a second document and nesting deeper than the bound. Goes on behind what is wrong in the tree; gives
/// `None` for text that is not YAML, and, without a report, for text that holds nothing.
pub fn parse(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    if u32::try_from(text.len()).is_err() {
        diagnostics.push(errors::too_large(file));
        return None;
    }
    tree::build(file, text, diagnostics)
}
