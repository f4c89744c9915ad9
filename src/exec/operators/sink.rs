//! The columns of a sink's file, complete once the headers of all files are known.

use crate::analysis::hir::{SinkColumn, SinkColumnSource};
use crate::diagnostics::suggest::{closest, column_as_name};
use crate::diagnostics::{Code, Diagnostic};
use crate::exec::Failure;
use crate::exec::sources::{CarriedNames, OpenSource};
use crate::formats::csv::{EncodeColumn, EncodeSource, Encoder};
use crate::plan::physical::{Operator, SinkOperator};

/// What a sink writes.
pub(crate) struct SinkColumns {
    /// Every column, in order.
    pub encoded: Vec<EncodeColumn>,
    /// The header line; empty where the sink writes none.
    pub header: Vec<u8>,
    /// Excluded and mapped columns that no file has (W364, W365), and carried columns that a mapped name displaces
    /// (W366).
    pub warnings: Vec<Diagnostic>,
}

impl SinkColumns {
    /// The declared and mapped columns, then the carried ones, then the key columns. Fails if there are none, which
    /// analysis can't tell where undeclared fields may be carried.
    pub fn new(
        operator: &Operator,
        spec: &SinkOperator,
        sources: &[OpenSource<'_>],
        names: &mut CarriedNames,
    ) -> Result<Self, Failure> {
        let carried = reaching(spec, sources);
        let mut columns = Self { encoded: Vec::new(), header: Vec::new(), warnings: Vec::new() };
        columns.encoded.extend(spec.sink.columns.iter().map(|column| encoded(column, names)));
        columns.warn_of_missing(spec, &carried, names);
        columns.warn_of_not_excluded(spec, &carried, names);
        if spec.sink.append_carried {
            columns.append(spec, &carried, names);
        }
        columns.encoded.extend(spec.sink.key_columns.iter().map(|column| encoded(column, names)));
        if columns.encoded.is_empty() {
            return Err(nothing_to_write(operator));
        }
        if spec.sink.include_header {
            Encoder::new(columns.encoded.clone(), spec.sink.delimiter).header(&mut columns.header);
        }
        Ok(columns)
    }

    fn append(&mut self, spec: &SinkOperator, carried: &[u32], names: &CarriedNames) {
        for &id in carried {
            let name = names.name(id);
            let mapped = self.encoded.iter().any(|column| column.source == EncodeSource::Carried(id));
            if mapped || spec.sink.exclude.iter().any(|excluded| excluded.value == name) {
                continue;
            }
            match spec.sink.columns.iter().chain(&spec.sink.key_columns).find(|column| column.name == name) {
                None => {
                    let (name, source) = (name.to_string(), EncodeSource::Carried(id));
                    self.encoded.push(EncodeColumn { name, source, scale: None });
                }
                Some(column) if is_renamed(spec, &column.source, name) => self.warnings.push(
                    Diagnostic::warning(
                        Code::W366,
                        format!("sink `{}`: the mapped column `{name}` takes the place of an undeclared column of that name", spec.sink.label),
                    )
                    .label(column.span, "this one is written")
                    .help("map it to another name, or list the undeclared column in `exclude`"),
                ),
                Some(_) => {}
            }
        }
    }

    fn warn_of_missing(&mut self, spec: &SinkOperator, carried: &[u32], names: &mut CarriedNames) {
        for column in &spec.sink.columns {
            let SinkColumnSource::Carried(name) = &column.source else { continue };
            if carried.contains(&names.id(name)) {
                continue;
            }
            let message =
                format!("sink `{}`: no input has a column `{name}`, so `{}` is empty", spec.sink.label, column.name);
            let diagnostic = Diagnostic::warning(Code::W365, message).label(column.span, "on no record");
            let help = close_to(name, spec, carried, names).or_else(|| name_first(name, spec));
            self.warnings.push(diagnostic.help_opt(help));
        }
    }

    /// Warns where undeclared fields are written. Where they are not, which there are doesn't matter, and what is wrong
    /// with a name is said by analysis.
    fn warn_of_not_excluded(&mut self, spec: &SinkOperator, carried: &[u32], names: &mut CarriedNames) {
        if !spec.sink.append_carried {
            return;
        }
        let is_key = |name: &str| spec.sink.key_columns.iter().any(|key| key.name == name);
        for excluded in &spec.sink.exclude {
            let name = excluded.value.as_str();
            if spec.schema.position(name).is_some() || is_key(name) || carried.contains(&names.id(name)) {
                continue;
            }
            let message = format!("sink `{}`: no input has a column `{name}` to exclude", spec.sink.label);
            let diagnostic = Diagnostic::warning(Code::W364, message).label(excluded.span, "on no record");
            self.warnings.push(diagnostic.help_opt(close_to(name, spec, carried, names)));
        }
    }
}

/// What to say about a name that no column has: the declared or carried one that is close to it.
fn close_to(name: &str, spec: &SinkOperator, carried: &[u32], names: &CarriedNames) -> Option<String> {
    let declared = spec.schema.visible().iter().map(|column| column.name.as_str());
    let known = declared.chain(carried.iter().map(|id| names.name(*id)));
    closest(name, known).map(|close| format!("did you mean `{close}`?"))
}

/// What to say about an entry such as `id as ID`.
fn name_first(entry: &str, spec: &SinkOperator) -> Option<String> {
    let (column, output) = column_as_name(entry).filter(|(column, _)| spec.schema.position(column).is_some())?;
    Some(format!("the name in the file comes first: `{{ {output}: {column} }}`"))
}

/// A sink that excludes all columns, those that no schema declares too.
fn nothing_to_write(sink: &Operator) -> Failure {
    let diagnostic = Diagnostic::error(Code::E200, format!("sink `{}` has no column to write", sink.name))
        .label(sink.span, "would write empty lines")
        .help("take a name out of `exclude`");
    Failure::new(diagnostic, 1)
}

fn encoded(column: &SinkColumn, names: &mut CarriedNames) -> EncodeColumn {
    let source = match &column.source {
        SinkColumnSource::Column(position) => EncodeSource::Column(*position),
        SinkColumnSource::Carried(name) => EncodeSource::Carried(names.id(name)),
    };
    EncodeColumn { name: column.name.clone(), source, scale: column.scale }
}

/// The undeclared fields that reach a sink: in order of sources, files and headers.
fn reaching(spec: &SinkOperator, sources: &[OpenSource<'_>]) -> Vec<u32> {
    let mut ids = Vec::new();
    for id in &spec.carried_sources {
        let source = sources.iter().find(|source| source.source.id == *id);
        for name in source.map(|source| source.carried.as_slice()).unwrap_or_default() {
            if !ids.contains(name) {
                ids.push(*name);
            }
        }
    }
    ids
}

/// Whether a sink's column shows something that has another name.
fn is_renamed(spec: &SinkOperator, source: &SinkColumnSource, name: &str) -> bool {
    match source {
        SinkColumnSource::Column(position) => spec.schema.columns.get(*position).is_none_or(|c| c.name != name),
        SinkColumnSource::Carried(other) => other != name,
    }
}
