//! The pipeline file as a typed tree.
//!
//! `ast` holds the tree; the readers turn YAML nodes into it, one file a node kind. Readers collect errors: keys are
//! strict, and an unknown one is E000 with its place, the allowed keys and the closest match.

pub mod ast;
pub mod size;

mod aggregate;
mod csv;
mod cull;
mod error_handling;
mod fields;
mod habits;
mod merge;
mod node;
mod path;
mod reshape;
mod route;
mod rules;
mod schema;
mod settings;
mod sink;
mod sort;
mod source;
mod swallowed;
mod torn;
mod transform;
mod types;
mod values;

pub(crate) use self::reshape::own_quotes;

use self::ast::{ErrorHandling, Node, Pipeline, Settings};
use self::fields::{Fields, Given, Keys, Reader, elsewhere};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, FileId, Span, Spanned};
use crate::syntax::yaml::{self, Entry, Value};

const KEYS: Keys = Keys {
    read: &["pipeline", "nodes", "error_handling", "_notes"],
    required: &["pipeline", "nodes"],
    refused: &[
        elsewhere("name", IN_PIPELINE),
        elsewhere("vars", IN_PIPELINE),
        elsewhere("memory", IN_PIPELINE),
        elsewhere("concurrency", IN_PIPELINE),
        elsewhere("date_formats", IN_PIPELINE),
    ],
    ..Keys::NONE
};

const IN_PIPELINE: &str = "move it into `pipeline`";

/// Reads a pipeline file.
///
/// Reports everything that can be told from the file's shape alone: E000 for keys and value kinds, E202 for CXL,
/// E199 for parts of the language that this version doesn't run. `None` if there is no `nodes` list to go on with.
pub fn read(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<Pipeline> {
    let errors = diagnostics.error_count();
    let root = yaml::parse(file, text, diagnostics);
    if root.is_none() && diagnostics.error_count() == errors {
        diagnostics.push(nothing(file));
    }
    let mut root = root?;
    let mut reader = Reader { text, diagnostics };
    torn::mend(&mut reader, &mut root);
    let errors = reader.diagnostics.error_count();
    let start = reader.first_line(root.span);
    let fields = reader.fields(&root, "a pipeline file".to_owned(), start, &KEYS)?;
    let keys_are_known = reader.diagnostics.error_count() == errors;
    let (name, settings) = pipeline(&mut reader, &fields);
    let nodes = reader.require(&fields, "nodes");
    let nodes = nodes.and_then(|given| self::nodes(&mut reader, &given));
    let mut error_handling = match fields.group("error_handling") {
        Some(given) => error_handling::read(&mut reader, &given),
        None => ErrorHandling::default(),
    };
    if !keys_are_known {
        error_handling.strategy_span = None;
    }
    let (nodes, nodes_complete) = nodes?;
    Some(Pipeline { file, name, settings, nodes, nodes_complete, error_handling })
}

fn nothing(file: FileId) -> Diagnostic {
    Diagnostic::error(Code::E000, "the file holds no pipeline")
        .label(Span::new(file, 0, 0), "nothing here")
        .help("a pipeline file has a mapping `pipeline` with a `name`, and a list `nodes`")
}

/// Name and settings. A missing name, which is reported, reads as empty.
fn pipeline(reader: &mut Reader<'_>, fields: &Fields<'_>) -> (Spanned<String>, Settings) {
    let unnamed = Spanned::new(String::new(), fields.place());
    let Some(given) = reader.require(fields, "pipeline") else { return (unnamed, Settings::default()) };
    let (name, settings) = settings::read(reader, &given);
    (name.unwrap_or(unnamed), settings)
}

/// Reports nodes that are keys of a mapping, or one node without the `- ` of a list entry.
fn not_a_list(reader: &mut Reader<'_>, given: &Given<'_>, entries: &[Entry]) {
    let finding = reader.wrong_kind(given, "a list");
    let name = entries.first().map_or("…", |entry| entry.key.text.as_str());
    reader.report(match entries.iter().any(|entry| entry.key.text == "type") {
        true => finding.help("begin each node with `- `, and align its other keys behind that"),
        false => finding.help(format!("make each node an entry, with its name inside: `- name: {name}`")),
    });
}

/// The nodes, and whether every entry was read.
fn nodes(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<(Vec<Node>, bool)> {
    if let Value::Mapping(entries) = &given.node.value {
        not_a_list(reader, given, entries);
        return None;
    }
    let entries = reader.list(given)?;
    let mut complete = true;
    let mut nodes = Vec::with_capacity(entries.len());
    for entry in &entries {
        match node::read(reader, entry) {
            Some(node) => {
                // A reference may mean the node by another name than the one that is wrong.
                complete &= !reader.diagnostics.reports(node.name.span);
                nodes.push(node);
            }
            None => complete = false,
        }
    }
    Some((nodes, complete))
}
