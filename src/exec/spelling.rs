//! What may be meant by a path that leads nowhere.

use std::path::Path;

use crate::diagnostics::suggest;

/// What to say about a path that is written as a shell would take it: with `~`, or with a variable.
pub(super) fn for_a_shell(path: &str) -> Option<String> {
    let variable = |(_, rest): (&str, &str)| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_{".contains(c));
    let what = if path == "~" || path.starts_with("~/") {
        "`~` is"
    } else if path.split_once('$').is_some_and(variable) {
        "variables of the environment are"
    } else {
        return None;
    };
    Some(format!("{what} not replaced in paths: write the path out, or choose its folder with `--base-dir`"))
}

/// A file in the same folder whose name is close to that of `path`, but none of those that are `named` already.
pub(super) fn near_file(display: &str, path: &Path, named: &[&Path]) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && !named.contains(&folder.join(name).as_path()))
        .collect();
    names.sort();
    let close = suggest::closest_file(wanted, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}{close}`?", display.strip_suffix(wanted).unwrap_or_default()))
}
