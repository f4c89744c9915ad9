//! Finds the files that a source's matcher names.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::analysis::hir::Matcher;
use crate::diagnostics::{Code, Diagnostic, Severity, Span};
use crate::exec::{Mode, publish, spelling};

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
            let files = candidates(listing, base, *span).collect();
            matched(name, files, unlisted, *span, unmatched_help(pattern), mode)
        }),
        Matcher::Regex(pattern, span) => file_regex(pattern, *span).map(|regex| {
            let listing = listing::everything(base);
            // A regex doesn't say which folders are meant, so this is only worth a warning.
            let unlisted = unlisted(name, &listing, *span, |message| Diagnostic::warning(Code::W216, message));
            let files = candidates(listing, base, *span).filter(|file| regex.is_match(&file.display));
            matched(name, files.collect(), unlisted, *span, UNMATCHED.to_owned(), mode)
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
    let all: Vec<PathBuf> = paths.iter().map(|(display, _)| base.join(display)).collect();
    let named: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
    for ((display, span), path) in paths.iter().zip(&all) {
        match std::fs::metadata(path) {
            Ok(meta) if !meta.is_dir() => files.push(file(path.clone(), display.clone(), *span, &meta)),
            Ok(_) => findings.push(
                absent(mode, format!("source `{name}`: {display} is a folder, not a file"))
                    .label(*span, "names a folder")
                    .help("name a file, or use `glob` to read the files of a folder"),
            ),
            Err(error) => findings.push(
                absent(mode, format!("source `{name}`: {display} {}", why_absent(&error)))
                    .label(*span, "no such input")
                    .note(format!("looked for {}", std::path::absolute(path).unwrap_or(path.clone()).display()))
                    .help_opt(meant_instead(display, path, &named)),
            ),
        }
    }
    (files, findings)
}

/// What to say about a pattern that matches nothing, as a rule.
const UNMATCHED: &str = "matches are looked for below the base directory; only files count, not folders or pipes";

/// Files that were found, in name order, with what is to be said about them.
fn matched(
    name: &str,
    mut files: Vec<SourceFile>,
    unlisted: Vec<Diagnostic>,
    span: Span,
    help: String,
    mode: Mode,
) -> Found {
    // Names that aren't text may look the same.
    files.sort_by(|a, b| (a.display.as_bytes(), &a.path).cmp(&(b.display.as_bytes(), &b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    let mut findings = unlisted;
    if files.is_empty() && findings.iter().all(|finding| finding.severity == Severity::Warning) {
        let finding = absent(mode, format!("source `{name}`: no file matches")).label(span, "matches no file");
        findings.push(finding.help(help));
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

/// `glob` for a pattern, what a shell would make of the path, or a file in the same folder whose name is close.
fn meant_instead(display: &str, path: &Path, named: &[&Path]) -> Option<String> {
    if display.contains(['*', '?']) {
        return Some(format!("`path` names one file; write `glob: \"{display}\"` for all that match"));
    }
    spelling::for_a_shell(display).or_else(|| spelling::near_file(display, path, named))
}

/// What to say about a pattern that matches nothing.
fn unmatched_help(pattern: &str) -> String {
    let alternatives = pattern.split_once('{').is_some_and(|(_, rest)| rest.contains('}'));
    match spelling::for_a_shell(pattern) {
        Some(help) => help,
        None if alternatives => "a glob has no alternatives such as `{a,b}`: list the files with `paths`, or choose \
                                 them with `regex`"
            .to_owned(),
        None => UNMATCHED.to_owned(),
    }
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
