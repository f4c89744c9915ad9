//! Finds the files that a source's matcher names.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::analysis::hir::Matcher;
use crate::diagnostics::{Code, Diagnostic, Severity, Span, suggest};
use crate::exec::{Mode, publish};

use super::listing::{self, Listing};
use super::{Source, SourceFile};

/// Fills in the files of a source. A file that is not there is an error (E216) before a run and a warning (W216) in a
/// check, which may happen where there is no data.
pub(crate) fn resolve(source: &mut Source<'_>, base: &Path, mode: Mode) -> Vec<Diagnostic> {
    let name = &source.operator.name;
    let found = match &source.spec.source.matcher {
        Matcher::Paths(paths) => Ok(listed(name, paths, base, mode)),
        Matcher::Glob(pattern, span) => glob_listing(pattern, *span, base).map(|listing| {
            let unlisted = unlisted(name, &listing, *span, |message| absent(mode, message));
            matched(name, candidates(listing, base, *span).collect(), unlisted, *span, mode)
        }),
        Matcher::Regex(pattern, span) => file_regex(pattern, *span).map(|regex| {
            let listing = listing::everything(base);
            // A regex doesn't say which folders are meant, so this is only worth a warning.
            let unlisted = unlisted(name, &listing, *span, |message| Diagnostic::warning(Code::W216, message));
            let files = candidates(listing, base, *span).filter(|file| regex.is_match(&file.display));
            matched(name, files.collect(), unlisted, *span, mode)
        }),
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

/// Files that were found, in name order, with what is to be said about them.
fn matched(name: &str, mut files: Vec<SourceFile>, unlisted: Vec<Diagnostic>, span: Span, mode: Mode) -> Found {
    // Names that aren't text may look the same.
    files.sort_by(|a, b| (a.display.as_bytes(), &a.path).cmp(&(b.display.as_bytes(), &b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    let mut findings = unlisted;
    if files.is_empty() && findings.iter().all(|finding| finding.severity == Severity::Warning) {
        let finding = absent(mode, format!("source `{name}`: no file matches")).label(span, "matches no file");
        findings.push(finding.help("matches are looked for below the base directory; only files count, not folders"));
    }
    (files, findings)
}

/// What to say about the folders that could not be listed.
fn unlisted(name: &str, listing: &Listing, span: Span, finding: impl Fn(String) -> Diagnostic) -> Vec<Diagnostic> {
    let say = |(folder, error): &(PathBuf, std::io::Error)| {
        finding(format!("source `{name}`: the folder {} can't be listed: {error}", folder.display()))
            .label(span, "files in it may be meant")
            .help("permit the folder to be listed, or write a pattern that does not lead into it")
    };
    listing.unlisted.iter().map(say).collect()
}

fn candidates(listing: Listing, base: &Path, span: Span) -> impl Iterator<Item = SourceFile> {
    listing.paths.into_iter().filter_map(move |path| candidate(path, base, span))
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

fn glob_listing(pattern: &str, span: Span, base: &Path) -> Result<Listing, Box<Diagnostic>> {
    glob::Pattern::new(pattern).map(|_| listing::glob(pattern, base)).map_err(|error| {
        Box::new(Diagnostic::error(Code::E212, format!("the glob pattern is not valid: {}", error.msg)).label(span, ""))
    })
}

fn file_regex(pattern: &str, span: Span) -> Result<Regex, Box<Diagnostic>> {
    Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
        Box::new(Diagnostic::error(Code::E213, format!("the file regex is not valid: {error}")).label(span, ""))
    })
}
