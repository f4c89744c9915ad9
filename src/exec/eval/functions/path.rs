//! Parts of paths whose separator is `/`. A part that isn't there is null.

use crate::analysis::functions::Function;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::operands::Strings;
use crate::exec::eval::rows::Rows;

/// `receiver.function()`
pub fn call(function: Function, receiver: &Datum, rows: &mut Rows<'_>) -> Datum {
    let text = Strings::of(receiver);
    let part = match function {
        Function::FileName => file_name,
        Function::FileStem => file_stem,
        Function::Extension => extension,
        Function::Parent => parent,
        _ => parent_name,
    };
    Datum::Column(rows.texts(|row, out| {
        let Some(part) = text.get(row).and_then(part) else { return Ok(false) };
        out.push_str(part);
        Ok(true)
    }))
}

fn file_name(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then_some(name)
}

/// Where the extension's dot stands; a leading dot begins no extension.
fn dot(name: &str) -> Option<usize> {
    name.rfind('.').filter(|at| *at > 0)
}

fn file_stem(path: &str) -> Option<&str> {
    file_name(path).map(|name| dot(name).map_or(name, |at| &name[..at]))
}

fn extension(path: &str) -> Option<&str> {
    file_name(path).and_then(|name| dot(name).map(|at| &name[at + 1..]))
}

fn parent(path: &str) -> Option<&str> {
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return None;
    }
    let Some(at) = path.rfind('/') else { return Some("") };
    let parent = path[..at].trim_end_matches('/');
    Some(if parent.is_empty() { "/" } else { parent })
}

fn parent_name(path: &str) -> Option<&str> {
    parent(path).and_then(file_name)
}
