//! The run's files: none may be written twice, or written and read.

use super::paths::normal;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Spanned};
use crate::syntax::pipeline::ast::{Matcher, NodeKind, Pipeline};

/// A file that the run reads or writes.
struct File<'a> {
    path: &'a Spanned<String>,
    role: Role,
    /// Who reads or writes it, for messages.
    owner: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Input,
    Output,
    DeadLetters,
}

/// Reports E318 for two dead-letter files that are one, E322 for any other two destinations, or a destination and an
/// input, that are one. Inputs that are found by a pattern are compared when they are known.
pub(super) fn check(pipeline: &Pipeline, diagnostics: &mut Diagnostics) {
    let files = files(pipeline);
    for (index, file) in files.iter().enumerate() {
        let same = |other: &&File| {
            normal(&other.path.value) == normal(&file.path.value)
                && (file.role, other.role) != (Role::Input, Role::Input)
        };
        if let Some(other) = files[..index].iter().find(same) {
            diagnostics.push(clash(other, file));
        }
    }
}

fn clash(first: &File, second: &File) -> Diagnostic {
    let path = &second.path.value;
    let (code, message) = match (first.role, second.role) {
        (Role::DeadLetters, Role::DeadLetters) => (Code::E318, format!("two dead-letter files are one: `{path}`")),
        (Role::Input, _) => (Code::E322, format!("`{path}` is read and written in one run")),
        _ => (Code::E322, format!("`{path}` is written twice in one run")),
    };
    Diagnostic::error(code, message)
        .label(second.path.span, &*second.owner)
        .label(first.path.span, &*first.owner)
        .help("give one of them another path")
}

/// Every literal path, inputs first.
fn files(pipeline: &Pipeline) -> Vec<File<'_>> {
    let mut files = Vec::new();
    for node in &pipeline.nodes {
        let NodeKind::Source(source) = &node.kind else { continue };
        let paths = match &source.matcher {
            Some(Matcher::Path(path)) => std::slice::from_ref(path),
            Some(Matcher::Paths(paths)) => paths.as_slice(),
            _ => &[],
        };
        let owner = format!("read by source `{}`", node.name.value);
        files.extend(paths.iter().map(|path| File { path, role: Role::Input, owner: owner.clone() }));
    }
    for node in &pipeline.nodes {
        let NodeKind::Sink(sink) = &node.kind else { continue };
        let owner = format!("written by sink `{}`", node.name.value);
        files.push(File { path: &sink.path, role: Role::Output, owner });
    }
    let dead_letters = pipeline.error_handling.dlq.iter();
    let owned = dead_letters.flat_map(|dlq| {
        let general = dlq.path.iter().map(|path| (path, "the dead letters".to_owned()));
        let own = dlq.per_source.iter().filter_map(|(source, own)| {
            own.path.as_ref().map(|path| (path, format!("the dead letters of `{}`", source.value)))
        });
        general.chain(own)
    });
    files.extend(owned.map(|(path, owner)| File { path, role: Role::DeadLetters, owner }));
    files
}
