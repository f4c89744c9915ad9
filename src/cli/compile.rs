//! Reads the pipeline file and compiles it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::args::PipelineArgs;
use super::output;
use crate::analysis;
use crate::diagnostics::render::{Format, render};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, SourceMap, Span};
use crate::driver::{self, Compilation, Options};

/// A pipeline file larger than this is not one.
const LARGEST_FILE: u64 = 64 << 20;

/// Compiles the pipeline that the arguments name. A file that can't be read is a finding like any other.
pub(super) fn compile(args: &PipelineArgs, memory_limit: Option<u64>) -> Compilation {
    let name = args.pipeline.display().to_string();
    let bytes = match read(&args.pipeline) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(&name, &error),
    };
    match String::from_utf8(bytes) {
        Ok(text) => {
            let analysis = analysis::Options { allow_absolute_paths: args.allow_absolute_paths };
            driver::compile(&name, &text, &Options { analysis, memory_limit })
        }
        Err(error) => not_text(&name, error.utf8_error().valid_up_to(), error.as_bytes()),
    }
}

/// The folder that relative paths start from: as given, else the pipeline file's.
pub(super) fn base_dir(args: &PipelineArgs) -> PathBuf {
    let own = || args.pipeline.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    args.base_dir.clone().unwrap_or_else(|| own().to_owned())
}

/// Why the folders that the arguments name can't be used, if so.
pub(super) fn missing_folder(flag: &str, folder: Option<&Path>) -> Option<String> {
    let folder = folder.filter(|folder| !folder.is_dir())?;
    Some(format!("error: `{flag} {}` is not a folder", folder.display()))
}

/// Prints findings on standard error in the rich form, warnings only if wanted.
pub(super) fn show(sources: &SourceMap, diagnostics: &[Diagnostic], warnings: bool) {
    let shown: Vec<_> = diagnostics.iter().filter(|d| warnings || d.severity == Severity::Error).cloned().collect();
    if !shown.is_empty() {
        output::errors(&render(Format::Rich { colour: output::coloured() }, sources, &shown));
    }
}

/// How many errors and warnings there are, in words.
pub(super) fn counts(diagnostics: &Diagnostics) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}", plural(diagnostics.error_count(), "error"), plural(diagnostics.warning_count(), "warning"))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other("it is larger than 64 MB, which no pipeline is"));
    }
    Ok(bytes)
}

fn unreadable(name: &str, error: &io::Error) -> Compilation {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "reading it is not permitted".to_owned(),
        _ => error.to_string(),
    };
    let diagnostic = Diagnostic::error(Code::E000, format!("the pipeline file `{name}` can't be read: {reason}"));
    failed(SourceMap::new(), diagnostic)
}

fn not_text(name: &str, valid: usize, bytes: &[u8]) -> Compilation {
    let mut sources = SourceMap::new();
    let file = sources.add(name, String::from_utf8_lossy(bytes));
    let diagnostic = Diagnostic::error(Code::E000, "the pipeline file is not UTF-8 text")
        .label(Span::new(file, valid as u32, valid as u32), "the first byte that is not")
        .help("save the file with the encoding UTF-8");
    failed(sources, diagnostic)
}

fn failed(sources: SourceMap, diagnostic: Diagnostic) -> Compilation {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    Compilation { sources, diagnostics, plan: None }
}
