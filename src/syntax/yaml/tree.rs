//! Builds the tree from the parser's events.

use std::collections::HashMap;

use granit_parser as granit;

use super::{Entry, Node, Scalar, Value, errors, scalar, syntax_errors};
use crate::diagnostics::{Diagnostics, FileId, Span};

/// How deep lists and mappings may be nested.
pub(super) const DEPTH_LIMIT: usize = 128;

/// How much aliases may copy in one file, so that a few lines can't fill the memory: bytes of text and 64 a value.
const ALIAS_BUDGET: usize = 16 << 20;

/// Reads the document of `text`.
pub(super) fn build(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let mut builder = Builder::new(file, text, diagnostics);
    for event in granit::Parser::new_from_str_with_options(text, options()) {
        let result = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                builder.syntax_error(&error);
                Err(Stop)
            }
        };
        if result.is_err() {
            return None;
        }
    }
    builder.root
}

fn options() -> granit::Options {
    let mut options = granit::options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEPTH_LIMIT + 1,
        block_nesting_limit: DEPTH_LIMIT + 1,
    };
    options.set_emit_comments(false);
    options
}

/// Reading can't go on; what stops it is reported.
struct Stop;

/// A list or mapping that is still open.
struct Frame {
    anchor: usize,
    start: usize,
    flow: bool,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, seen: HashMap<String, Span>, key: Key },
}

/// The key whose value comes next.
enum Key {
    /// The next value is a key.
    Wanted,
    /// A key to keep.
    Read(Scalar),
    /// A key that was refused, so its value is dropped.
    Refused,
}

struct Anchored {
    node: Node,
    weight: usize,
    height: usize,
}

struct Builder<'a> {
    file: FileId,
    text: &'a str,
    diagnostics: &'a mut Diagnostics,
    stack: Vec<Frame>,
    root: Option<Node>,
    documents: usize,
    anchors: HashMap<usize, Anchored>,
    alias_budget: usize,
    /// Where the last scalar or alias ends.
    scalar_end: usize,
    /// Where the last finished value ends, without what only separates it from the next.
    value_end: usize,
}

impl<'a> Builder<'a> {
    fn new(file: FileId, text: &'a str, diagnostics: &'a mut Diagnostics) -> Self {
        Self {
            file,
            text,
            diagnostics,
            stack: Vec::new(),
            root: None,
            documents: 0,
            anchors: HashMap::new(),
            alias_budget: ALIAS_BUDGET,
            scalar_end: 0,
            value_end: 0,
        }
    }

    fn event(&mut self, event: granit::Event<'_>, span: granit::Span) -> Result<(), Stop> {
        let (start, end) = self.range(span);
        match event {
            granit::Event::DocumentStart(..) => self.document(start, end),
            granit::Event::Scalar(value, style, anchor, tag) => {
                self.tag(tag.is_some(), span);
                self.scalar(&value, style, anchor, (start, end));
                Ok(())
            }
            granit::Event::SequenceStart(style, anchor, tag) => {
                self.tag(tag.is_some(), span);
                self.open(anchor, (start, end), style, Content::Sequence(Vec::new()))
            }
            granit::Event::MappingStart(style, anchor, tag) => {
                self.tag(tag.is_some(), span);
                let content = Content::Mapping { entries: Vec::new(), seen: HashMap::new(), key: Key::Wanted };
                self.open(anchor, (start, end), style, content)
            }
            granit::Event::SequenceEnd | granit::Event::MappingEnd => {
                self.close(end);
                Ok(())
            }
            granit::Event::Alias(id) => self.alias(id, (start, end)),
            granit::Event::UnresolvedAlias(name) => {
                let span = self.span(start, end);
                self.diagnostics.push(errors::unknown_anchor(span, &name));
                (self.scalar_end, self.value_end) = (end, end);
                self.place(Node { value: Value::Error, span }, 0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn syntax_error(&mut self, error: &granit::ScanError) {
        let context = syntax_errors::Context {
            file: self.file,
            text: self.text,
            open_brackets: self.stack.iter().filter(|frame| frame.flow).map(|frame| frame.start).collect(),
            value_end: self.value_end,
            scalar_end: self.scalar_end,
        };
        self.diagnostics.push(syntax_errors::diagnostic(error, &context));
    }

    fn range(&self, span: granit::Span) -> (usize, usize) {
        let range = span.byte_range().unwrap_or(0..0);
        (range.start.min(self.text.len()), range.end.min(self.text.len()).max(range.start))
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn document(&mut self, start: usize, end: usize) -> Result<(), Stop> {
        self.documents += 1;
        if self.documents > 1 {
            self.diagnostics.push(errors::second_document(self.span(start, end)));
            return Err(Stop);
        }
        Ok(())
    }

    /// Refuses a tag; the value is read as if it had none.
    fn tag(&mut self, given: bool, span: granit::Span) {
        if !given {
            return;
        }
        let (start, end) = self.range(span.tag_span().unwrap_or(span));
        self.diagnostics.push(errors::tag(self.span(start, end), &self.text[start..end]));
    }

    fn scalar(&mut self, value: &str, style: granit::ScalarStyle, anchor: usize, (start, end): (usize, usize)) {
        let scalar = scalar::read(self.file, self.text, style, value, (self.scalar_end, start, end));
        self.scalar_end = self.scalar_end.max(end);
        let span = scalar.span;
        self.value_end = self.value_end.max(span.end as usize);
        self.place(Node { value: Value::Scalar(scalar), span }, anchor);
    }

    fn open(
        &mut self,
        anchor: usize,
        (start, end): (usize, usize),
        style: granit::StructureStyle,
        content: Content,
    ) -> Result<(), Stop> {
        if self.stack.len() >= DEPTH_LIMIT {
            self.diagnostics.push(errors::too_deep(self.span(start, end)));
            return Err(Stop);
        }
        self.stack.push(Frame { anchor, start, flow: style == granit::StructureStyle::Flow, content });
        Ok(())
    }

    fn close(&mut self, end: usize) {
        let frame = self.stack.pop().expect("the parser closes only what it opened");
        let value = match frame.content {
            Content::Sequence(items) => Value::Sequence(items),
            Content::Mapping { entries, .. } => Value::Mapping(entries),
        };
        // A block ends where its last value ends; the parser only notices at the next line with less indentation.
        if frame.flow {
            self.value_end = end;
        }
        let span = self.span(frame.start, self.value_end.max(frame.start));
        self.place(Node { value, span }, frame.anchor);
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored::new(&node));
        }
        match self.stack.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(node),
            Some(Content::Sequence(items)) => items.push(node),
            Some(Content::Mapping { entries, seen, key }) => match std::mem::replace(key, Key::Wanted) {
                Key::Wanted => *key = read_key(node, seen, self.diagnostics),
                Key::Read(key) => entries.push(Entry { key, value: node }),
                Key::Refused => {}
            },
        }
    }

    fn alias(&mut self, id: usize, (start, end): (usize, usize)) -> Result<(), Stop> {
        let span = self.span(start, end);
        (self.scalar_end, self.value_end) = (end, end);
        let Some(anchored) = self.anchors.get(&id) else {
            self.diagnostics.push(errors::anchor_in_itself(span));
            self.place(Node { value: Value::Error, span }, 0);
            return Ok(());
        };
        if self.stack.len() + anchored.height > DEPTH_LIMIT {
            self.diagnostics.push(errors::too_deep(span));
            return Err(Stop);
        }
        let Some(budget) = self.alias_budget.checked_sub(anchored.weight) else {
            self.diagnostics.push(errors::too_much_copied(span));
            return Err(Stop);
        };
        self.alias_budget = budget;
        let node = anchored.node.clone();
        self.place(node, 0);
        Ok(())
    }
}

impl Anchored {
    fn new(node: &Node) -> Self {
        let (weight, height) = measure(node);
        Self { node: node.clone(), weight, height }
    }
}

/// How much a copy of the value takes, and how many lists and mappings are nested in it.
fn measure(node: &Node) -> (usize, usize) {
    let inner = |nodes: &mut dyn Iterator<Item = &Node>| {
        nodes.map(measure).fold((0, 0), |(weight, height), (more, other)| (weight + more, height.max(other)))
    };
    match &node.value {
        Value::Scalar(scalar) => (64 + scalar.text.len(), 0),
        Value::Sequence(items) => {
            let (weight, height) = inner(&mut items.iter());
            (64 + weight, 1 + height)
        }
        Value::Mapping(entries) => {
            let (weight, height) = inner(&mut entries.iter().map(|entry| &entry.value));
            let keys: usize = entries.iter().map(|entry| 64 + entry.key.text.len()).sum();
            (64 + weight + keys, 1 + height)
        }
        Value::Error => (64, 0),
    }
}

fn read_key(node: Node, seen: &mut HashMap<String, Span>, diagnostics: &mut Diagnostics) -> Key {
    let Value::Scalar(scalar) = node.value else {
        if node.value != Value::Error {
            diagnostics.push(errors::key_not_scalar(node.span));
        }
        return Key::Refused;
    };
    if scalar.text == "<<" && scalar.style == super::ScalarStyle::Plain {
        diagnostics.push(errors::merge_key(scalar.span));
    }
    if let Some(first) = seen.get(&scalar.text) {
        diagnostics.push(errors::duplicate_key(&scalar.text, scalar.span, *first));
        return Key::Refused;
    }
    seen.insert(scalar.text.clone(), scalar.span);
    Key::Read(scalar)
}
