//! Looks into every file before the first row is read: binds headers to schemas and gathers the undeclared names.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;

use crate::analysis::hir::{self, Encoding, OnUnmapped};
use crate::diagnostics::{Code, Diagnostic, suggest};
use crate::exec::{Failure, system_limit};
use crate::formats::csv::{Binding, BindingError, Cutter, ReadError, bind};
use crate::plan::explain::layout::count;

use super::stamp::Stamp;
use super::{Source, SourceFile};

/// The names of undeclared fields, interned for the run.
#[derive(Default, Debug)]
pub(crate) struct CarriedNames {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl CarriedNames {
    /// The id of a name.
    pub fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_string());
        self.ids.insert(name.to_string(), id);
        id
    }

    /// The name of an id.
    pub fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }
}

/// A source whose files have been looked into.
pub(crate) struct OpenSource<'p> {
    /// The source.
    pub source: Source<'p>,
    /// What each of its files binds to.
    pub files: Vec<BoundFile>,
    /// The undeclared fields of all its files, in file and header order.
    pub carried: Vec<u32>,
}

/// What a file's header binds to.
pub(crate) struct BoundFile {
    /// Its header, if it has one.
    pub header: Option<Vec<String>>,
    /// The fields of each column.
    pub binding: Binding,
    /// The ids of the extra fields, in the order of the binding; empty unless they are carried.
    pub carried: Vec<u32>,
    /// What the file looked like when its order was proven, where its rows are read on the strength of that.
    pub proven: Option<Stamp>,
    /// The opened file, for a pipe: it can't be opened a second time.
    pub opened: Option<Cutter>,
}

/// Looks into all files of all sources.
pub(crate) fn open_all<'p>(
    sources: Vec<Source<'p>>,
    names: &mut CarriedNames,
    block_size: usize,
) -> Result<Vec<OpenSource<'p>>, Failure> {
    sources.into_iter().map(|source| open_source(source, names, block_size)).collect()
}

fn open_source<'p>(source: Source<'p>, names: &mut CarriedNames, block_size: usize) -> Result<OpenSource<'p>, Failure> {
    let mut files = Vec::with_capacity(source.files.len());
    let mut carried = Vec::new();
    for file in &source.files {
        let bound = open_file(&source, file, names, block_size)?;
        carried.extend(bound.carried.iter().copied());
        files.push(bound);
    }
    let mut seen = std::collections::HashSet::new();
    carried.retain(|id| seen.insert(*id));
    Ok(OpenSource { source, files, carried })
}

fn open_file(
    source: &Source<'_>,
    file: &SourceFile,
    names: &mut CarriedNames,
    block_size: usize,
) -> Result<BoundFile, Failure> {
    let spec = &source.spec.source;
    let pipe = file.bytes == 0 && std::fs::metadata(&file.path).is_ok_and(|meta| !meta.is_file());
    // Only the first bytes matter here; a pipe goes on from this very cutter.
    let (cutter, header) = cutter(source, file, if pipe { block_size } else { 4096 })?;
    let declared = spec.columns.len();
    let width = cutter.width().unwrap_or(declared);
    let bound = bind(&spec.columns, header.as_deref(), width, source.spec.carries);
    let binding = bound.map_err(|error| binding_failure(source, file, header.as_deref(), &error))?;
    if spec.on_unmapped == OnUnmapped::Reject && !binding.extra.is_empty() {
        return Err(rejected_fields(source, file, &binding));
    }
    let carried = match source.spec.carries {
        true => binding.extra.iter().map(|(_, name)| names.id(name)).collect(),
        false => Vec::new(),
    };
    Ok(BoundFile { header, binding, carried, proven: None, opened: pipe.then_some(cutter) })
}

/// Opens a file again, to read its rows. What it binds to must still hold: in the meantime another program may have
/// written another file in its place.
pub(super) fn reopen(
    source: &Source<'_>,
    file: &SourceFile,
    bound: &BoundFile,
    block_size: usize,
) -> Result<(Cutter, WatchedFile), Failure> {
    let opened = open(source, file)?;
    let watched = WatchedFile::new(source, file, &opened, bound.proven.clone())?;
    let (cutter, header) = cut(source, file, opened, block_size)?;
    if header == bound.header && cutter.width().is_none_or(|width| width == bound.binding.width) {
        return Ok((cutter, watched));
    }
    Err(changed(source, file, "it has other columns than when the run began"))
}

/// A file that nobody may change while it is read: rows might be missing, or halves of rows be taken for rows.
pub(super) struct WatchedFile {
    file: File,
    stamp: Stamp,
    /// What to say if it was changed.
    how: &'static str,
}

impl WatchedFile {
    /// An open file. If its order was `proven` by an earlier look at it, it must be what it was then.
    fn new(source: &Source<'_>, file: &SourceFile, opened: &File, proven: Option<Stamp>) -> Result<Self, Failure> {
        let failed = |error| read_failure(source, file, &ReadError::Io(error));
        let handle = opened.try_clone().map_err(failed)?;
        let watched = match proven {
            Some(stamp) => Self { file: handle, stamp, how: "its order was checked before that" },
            None => {
                let stamp = Stamp::of_file(&handle).map_err(failed)?;
                Self { file: handle, stamp, how: "it was written to while it was read" }
            }
        };
        watched.check(source, file)?;
        Ok(watched)
    }

    /// Fails if the file isn't what it was.
    pub fn check(&self, source: &Source<'_>, file: &SourceFile) -> Result<(), Failure> {
        let now = Stamp::of_file(&self.file).map_err(|error| read_failure(source, file, &ReadError::Io(error)))?;
        if now == self.stamp { Ok(()) } else { Err(changed(source, file, self.how)) }
    }
}

fn changed(source: &Source<'_>, file: &SourceFile, how: &str) -> Failure {
    let message = format!("{} was changed during the run: {how}", file.display);
    failure(
        Diagnostic::error(Code::E395, message)
            .label(file.span, format!("read by source `{}`", source.operator.name))
            .help("run again when nothing else writes the file"),
    )
}

/// Opens a file for reading and skips its header.
pub(super) fn cutter(
    source: &Source<'_>,
    file: &SourceFile,
    block_size: usize,
) -> Result<(Cutter, Option<Vec<String>>), Failure> {
    cut(source, file, open(source, file)?, block_size)
}

fn open(source: &Source<'_>, file: &SourceFile) -> Result<File, Failure> {
    File::open(&file.path).map_err(|error| read_failure(source, file, &ReadError::Io(error)))
}

fn cut(
    source: &Source<'_>,
    file: &SourceFile,
    opened: File,
    block_size: usize,
) -> Result<(Cutter, Option<Vec<String>>), Failure> {
    let reader = Box::new(opened) as Box<dyn Read + Send>;
    let cutter = Cutter::open(reader, &source.spec.source.csv, block_size);
    cutter.map_err(|error| read_failure(source, file, &error))
}

/// What to say when a file can't be read on.
pub(super) fn read_failure(source: &Source<'_>, file: &SourceFile, error: &ReadError) -> Failure {
    let name = &file.display;
    let csv = |message: String| Diagnostic::error(Code::E391, message);
    let diagnostic = match error {
        ReadError::Io(error) => {
            Diagnostic::error(Code::E395, format!("{name} can't be read: {error}")).help_opt(system_limit::help(error))
        }
        ReadError::OpenQuote { line } => csv(format!("{name}, line {line}: the quote opened here is never closed"))
            .help("close the quote, or double it where it is part of the text"),
        ReadError::Empty => csv(format!("{name} is empty, but its first line should be a header"))
            .help("a file without a header needs `options: { has_header: false }`"),
        ReadError::Compressed { kind: "zip" } => csv(format!("{name} is no CSV, but a zip archive"))
            .help("unpack it, or save a spreadsheet as CSV: this version reads no compressed files"),
        ReadError::Compressed { kind } => csv(format!("{name} is compressed with {kind}"))
            .help("unpack it first: this version reads no compressed files"),
        ReadError::Utf16 => csv(format!("{name} is UTF-16: so its byte order mark says"))
            .help("save it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`"),
        ReadError::HeaderEncoding { line } => {
            let encoding = match source.spec.source.csv.encoding {
                Encoding::Utf8 => "UTF-8",
                Encoding::Latin1 => "ISO 8859-1",
            };
            csv(format!("{name}, line {line}: the header is not valid {encoding}"))
                .help("`options.encoding` says how the file is encoded, such as `latin-1`")
        }
        ReadError::RecordTooLarge { line, bound } => {
            csv(format!("{name}, line {line}: a single record is larger than {bound} bytes"))
                .help("look for a quote that is opened in this line and closed far below, or never")
        }
    };
    failure(diagnostic.label(file.span, format!("read by source `{}`", source.operator.name)))
}

fn binding_failure(source: &Source<'_>, file: &SourceFile, header: Option<&[String]>, error: &BindingError) -> Failure {
    let (name, file_name) = (&source.operator.name, &file.display);
    let column = |position: usize| &source.spec.source.columns[position];
    let error_at = |message: String| Diagnostic::error(Code::E391, message);
    let diagnostic = match error {
        BindingError::Missing { columns } => {
            let columns: Vec<_> = columns.iter().map(|position| column(*position)).collect();
            missing_columns(source, file, header.unwrap_or_default(), &columns)
        }
        BindingError::Duplicate { column: position, positions: (first, second) } => {
            let wanted = &column(*position).header;
            error_at(format!("{file_name} has {}", two_columns(wanted, *first, *second)))
                .label(column(*position).span, "can't tell which one is meant")
                .help("rename one of them in the file's header")
        }
        BindingError::TooNarrow { found } => {
            let fields = count(*found, "field", "fields");
            let declared = count(source.spec.source.columns.len(), "column", "columns");
            error_at(format!("{file_name} has rows of {fields}, but source `{name}` declares {declared}"))
                .label(file.span, "read without a header, by position")
        }
        BindingError::DuplicateExtra { name: extra, positions: (first, second) } => {
            let rename = if extra.is_empty() { "name them" } else { "rename one of them" };
            let columns = two_columns(extra, *first, *second);
            error_at(format!("{file_name} has {columns}, and both would be carried along"))
                .label(file.span, format!("read by source `{name}`"))
                .help(format!(
                    "{rename} in the file's header, or leave undeclared columns out with \
                     `on_unmapped: {{ mode: drop }}`"
                ))
        }
    };
    failure(diagnostic)
}

/// What to call two columns with one name, which stand at these positions.
fn two_columns(name: &str, first: usize, second: usize) -> String {
    let called = if name.is_empty() { "without a name".to_owned() } else { format!("`{name}`") };
    format!("two columns {called}, as number {} and number {}", first + 1, second + 1)
}

/// What to say of a header that lacks declared columns.
fn missing_columns(
    source: &Source<'_>,
    file: &SourceFile,
    names: &[String],
    columns: &[&hir::SourceColumn],
) -> Diagnostic {
    let (name, file_name) = (&source.operator.name, &file.display);
    let wanted: Vec<String> = columns.iter().map(|column| column.header.clone()).collect();
    let message = match wanted.as_slice() {
        [one] => format!("{file_name} has no column `{}`, which source `{name}` declares", one.escape_debug()),
        all => format!("{file_name} has no columns {}, which source `{name}` declares", quoted_list(all)),
    };
    let labelled = columns.iter().take(NAMES_SHOWN).fold(Diagnostic::error(Code::E391, message), |finding, column| {
        finding.label(column.header_span, "declared here")
    });
    labelled.note(format!("its header holds {}", quoted_list(names))).help(missing_help(
        &wanted,
        names,
        &source.spec.source,
    ))
}

/// What is likely wrong where a header lacks declared columns.
fn missing_help(wanted: &[String], names: &[String], source: &hir::Source) -> String {
    let is_wanted = |part: &str| wanted.iter().any(|wanted| wanted == part);
    let separates = |separator: &str| {
        let parts = |name: &String| name.split(separator).any(|part| is_wanted(part.trim_matches('"')));
        names.iter().any(parts)
    };
    let is_other = |separator: &&str| separator.as_bytes() != [source.csv.delimiter];
    let mut separators = ["\t", ";", "|", ","].into_iter().filter(is_other);
    if let Some(separator) = separators.find(|separator| separates(separator)) {
        let shown = separator.escape_debug();
        return format!("its fields are separated by `{shown}`: set `options: {{ delimiter: \"{shown}\" }}`");
    }
    let padded = |name: &&String| name.trim() != name.as_str() && is_wanted(name.trim());
    if let Some(padded) = names.iter().find(padded) {
        let (shown, name) = (padded.escape_debug(), padded.trim());
        return format!(
            "the header has blanks beside the names: take them out, or read `{name}` with `source_name: \"{shown}\"`"
        );
    }
    if let Some(help) = close_names(wanted, names) {
        return help;
    }
    let known = |name: &String| source.columns.iter().any(|column| column.header == *name);
    match names.iter().any(known) {
        true => "`source_name` beside `name` says which header a column is read from".to_owned(),
        false => "if the first line is a row of data, set `options: { has_header: false }`; \
                  otherwise `source_name` says which header a column is read from"
            .to_owned(),
    }
}

/// What names may be meant that the header does have.
fn close_names(wanted: &[String], names: &[String]) -> Option<String> {
    let close = |wanted: &String| Some((wanted.clone(), suggest::closest(wanted, names.iter().map(String::as_str))?));
    let pairs: Vec<_> = wanted.iter().take(NAMES_SHOWN).filter_map(close).collect();
    let meant = match pairs.as_slice() {
        [] => return None,
        [(_, close)] if wanted.len() == 1 => format!("`{close}`"),
        pairs => {
            let pairs: Vec<_> = pairs.iter().map(|(wanted, close)| format!("`{close}` for `{wanted}`")).collect();
            pairs.join(", ")
        }
    };
    Some(format!("did you mean {meant}? `source_name` reads another header"))
}

fn rejected_fields(source: &Source<'_>, file: &SourceFile, binding: &Binding) -> Failure {
    let names: Vec<String> = binding.extra.iter().map(|(_, name)| name.clone()).collect();
    let subject = if names.len() == 1 { "a column" } else { "columns" };
    let message = format!(
        "{} has {subject} that source `{}` does not declare: {}",
        file.display,
        source.operator.name,
        quoted_list(&names)
    );
    failure(
        Diagnostic::error(Code::E391, message)
            .label(file.span, "undeclared columns are refused here")
            .help("declare them in `schema`, or let them pass with `on_unmapped: { mode: auto_widen }`"),
    )
}

/// How many names a message shows.
const NAMES_SHOWN: usize = 12;

/// Names for a message: the first dozen.
fn quoted_list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_string();
    }
    let quoted = |name: &String| match name.as_str() {
        "" => "one without a name".to_owned(),
        name => format!("`{}`", name.escape_debug()),
    };
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(quoted).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn failure(diagnostic: Diagnostic) -> Failure {
    Failure::new(diagnostic, 4)
}
