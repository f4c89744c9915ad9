//! Finds the files that a source's matcher names.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::analysis::hir::Matcher;
use crate::diagnostics::{Code, Diagnostic, Span, suggest};
use crate::exec::{Mode, publish};

use super::{Source, SourceFile};

/// Fills in the files of a source. A file that is not there is an error (E216) before a run and a warning (W216) in a
/// check, which may happen where there is no data.
pub(crate) fn resolve(source: &mut Source<'_>, base: &Path, mode: Mode) -> Vec<Diagnostic> {
    let name = &source.operator.name;
    let found = match &source.spec.source.matcher {
        Matcher::Paths(paths) => Ok(listed(name, paths, base, mode)),
        Matcher::Glob(pattern, span) => glob_files(pattern, *span, base).map(|files| matched(name, files, *span, mode)),
        Matcher::Regex(pattern, span) => {
            regex_files(pattern, *span, base).map(|files| matched(name, files, *span, mode))
        }
    };
    match found {
        Ok((files, findings)) => {
            source.files = files;
            findings
        }
        Err(diagnostic) => vec![*diagnostic],
    }
}

type Found = (Vec<SourceFile>, Vec<Diagnostic>);

fn listed(name: &str, paths: &[(String, Span)], base: &Path, mode: Mode) -> Found {
    let (mut files, mut findings) = (Vec::new(), Vec::new());
    for (display, span) in paths {
        let path = base.join(display);
        match std::fs::metadata(&path) {
            Ok(meta) if !meta.is_dir() => files.push(file(path, display.clone(), *span, &meta)),
            Ok(_) => findings.push(
                absent(mode, format!("source `{name}`: {display} is a folder, not a file"))
                    .label(*span, "names a folder")
                    .help("name a file, or use `glob` to read the files of a folder"),
            ),
            Err(error) => findings.push(
                absent(mode, format!("source `{name}`: {display} {}", why_absent(&error)))
                    .label(*span, "no such input")
                    .note(format!("looked for {}", std::path::absolute(&path).unwrap_or(path.clone()).display()))
                    .help_opt(meant_instead(display, &path)),
            ),
        }
    }
    (files, findings)
}

fn matched(name: &str, mut files: Vec<SourceFile>, span: Span, mode: Mode) -> Found {
    files.sort_by(|a, b| a.display.as_bytes().cmp(b.display.as_bytes()));
    files.dedup_by(|a, b| a.display == b.display);
    if !files.is_empty() {
        return (files, Vec::new());
    }
    let finding = absent(mode, format!("source `{name}`: no file matches")).label(span, "matches no file");
    (files, vec![finding.help("matches are looked for below the base directory; only files count, not folders")])
}

fn absent(mode: Mode, message: String) -> Diagnostic {
    match mode {
        Mode::Check => Diagnostic::warning(Code::W216, message),
        Mode::Run => Diagnostic::error(Code::E216, message),
    }
}

fn why_absent(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "is not there".to_string(),
        _ => format!("can't be looked at: {error}"),
    }
}

/// `glob` for a pattern, or a file in the same folder whose name is close.
fn meant_instead(display: &str, path: &Path) -> Option<String> {
    if display.contains(['*', '?']) {
        return Some(format!("`path` names one file; write `glob: \"{display}\"` for all that match"));
    }
    let wanted = path.file_name()?.to_str()?;
    let mut names: Vec<String> = std::fs::read_dir(path.parent()?)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let close = suggest::closest(wanted, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}{close}`?", display.strip_suffix(wanted).unwrap_or_default()))
}

fn file(path: PathBuf, display: String, span: Span, meta: &Metadata) -> SourceFile {
    SourceFile { path, display, span, bytes: if meta.is_file() { meta.len() } else { 0 } }
}

/// A matched path, if it is a file and none of a run's own temporary ones. Paths are shown with `/` between folders,
/// below the base directory where they are.
fn candidate(path: PathBuf, base: &Path, span: Span) -> Option<SourceFile> {
    let meta = std::fs::metadata(&path).ok().filter(Metadata::is_file)?;
    if publish::is_own_file(path.file_name()?.to_str().unwrap_or_default()) {
        return None;
    }
    let shown = path.strip_prefix(base).unwrap_or(&path);
    let display = shown.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    let display = if shown.is_absolute() { shown.to_string_lossy().into_owned() } else { display };
    Some(file(path, display, span, &meta))
}

fn glob_files(pattern: &str, span: Span, base: &Path) -> Result<Vec<SourceFile>, Box<Diagnostic>> {
    let whole = match Path::new(pattern).is_absolute() {
        true => pattern.to_string(),
        false => {
            let inside = pattern.trim_start_matches("./");
            Path::new(&glob::Pattern::escape(&base.to_string_lossy())).join(inside).to_string_lossy().into_owned()
        }
    };
    let options =
        glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let paths = glob::glob_with(&whole, options).map_err(|error| {
        Box::new(Diagnostic::error(Code::E212, format!("the glob pattern is not valid: {}", error.msg)).label(span, ""))
    })?;
    Ok(paths.filter_map(Result::ok).filter_map(|path| candidate(path, base, span)).collect())
}

fn regex_files(pattern: &str, span: Span, base: &Path) -> Result<Vec<SourceFile>, Box<Diagnostic>> {
    let regex = regex::Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
        Box::new(Diagnostic::error(Code::E213, format!("the file regex is not valid: {error}")).label(span, ""))
    })?;
    let mut found = Vec::new();
    let mut folders = vec![base.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            // A link to a folder is not followed: it could lead back up.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => found.extend(candidate(entry.path(), base, span).filter(|file| regex.is_match(&file.display))),
            }
        }
    }
    Ok(found)
}
