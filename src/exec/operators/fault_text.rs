//! What to say about rows that failed: in dead letters, and in the message that stops a run.

use crate::analysis::hir::{Encoding, Reshape, ReshapeRule, SourceColumn};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::batch::Batch;
use crate::exec::dlq::Trigger;
use crate::exec::eval::{MERGED, Warning};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::sources::{Source, Ticket};
use crate::exec::value::Value;
use crate::exec::{Failure, NamedRow};
use crate::formats::csv::{Block, EncodeError, RawRecord, RecordFault, RecordFaultKind};
use crate::plan::physical::{Operator, OperatorId, OperatorKind, PhysicalPlan, RestForm};

use super::group_name::group_name;
use super::{Lost, TreeNode, WarnedRows, operands, value_help};

/// A record that could not be typed, and what its source says about it.
pub(super) struct RecordText<'a> {
    source: &'a Source<'a>,
    ticket: &'a Ticket,
    fault: &'a RecordFault,
    row: u64,
    /// The record as it stands in the file.
    pub record: RawRecord,
}

impl<'a> RecordText<'a> {
    /// What there is to say about `fault`.
    pub fn new(
        source: &'a Source<'a>,
        ticket: &'a Ticket,
        block: &Block,
        fault: &'a RecordFault,
        record: RawRecord,
    ) -> Self {
        let row = block.first_row + u64::from(fault.position);
        Self { source, ticket, fault, row, record }
    }

    /// The cells of its dead letter that say what happened.
    pub fn trigger(&self) -> Trigger<'_> {
        Trigger {
            file: self.file(),
            source: &self.source.operator.name,
            row: self.row,
            field: self.column().map(|(column, _)| column.name.as_str()).unwrap_or_default(),
            value: self.column().map(|(_, value)| value).unwrap_or_default(),
            category: FaultKind::TypeError.category(),
            detail: self.detail(),
            raw: &self.record.text,
            stage: None,
        }
    }

    /// The failure that stops the run.
    pub fn failure(&self) -> Failure {
        let place = format!("{}, row {}, line {}", self.file(), self.row, self.record.line);
        let diagnostic = match self.column() {
            Some((column, value)) => {
                let (name, reason, preview) = (&column.name, self.reason(), preview(value));
                Diagnostic::error(Code::E126, format!("{place}: field '{name}' can't take '{preview}': {reason}"))
                    .label(column.span, format!("declared as {}", column.ty))
            }
            None => Diagnostic::error(Code::E391, format!("{place}: {}", self.reason()))
                .label(self.source.files[self.ticket.file as usize].span, "read here"),
        };
        let mut diagnostic = diagnostic.note(format!("read by source `{}`", self.source.operator.name));
        if self.column().is_some() {
            diagnostic = diagnostic.note(format!("the row is {}", preview(&self.record.text)));
        }
        let encoding = match &self.fault.kind {
            RecordFaultKind::Encoding { .. } => " (or say how the file is encoded with `options.encoding`)",
            _ => "",
        };
        let declare = self.column().and_then(|(column, value)| value_help::declare(column, value));
        let declare = declare.map(|declare| format!("{declare}; or ")).unwrap_or_default();
        let help =
            format!("{declare}mend the row{encoding}, or set `strategy: continue` to make such rows dead letters");
        Failure::new(diagnostic.help(help), 4)
    }

    fn file(&self) -> &str {
        &self.source.files[self.ticket.file as usize].display
    }

    /// The declared column that a value does not fit, and the value.
    fn column(&self) -> Option<(&SourceColumn, &str)> {
        let RecordFaultKind::Value { column, .. } = &self.fault.kind else { return None };
        let field = self.ticket.decoder.binding.declared[*column];
        let value = self.record.fields.get(field).map(String::as_str).unwrap_or_default();
        Some((&self.source.spec.source.columns[*column], value))
    }

    fn reason(&self) -> String {
        match &self.fault.kind {
            RecordFaultKind::Width { expected, found: 1 } => format!("1 field instead of {expected}"),
            RecordFaultKind::Width { expected, found } => format!("{found} fields instead of {expected}"),
            RecordFaultKind::Encoding { field } => {
                let encoding = match self.source.spec.source.csv.encoding {
                    Encoding::Utf8 => "UTF-8",
                    Encoding::Latin1 => "ISO 8859-1",
                };
                format!("field {} is not valid {encoding}", field + 1)
            }
            RecordFaultKind::Value { reason, .. } => reason.clone(),
        }
    }

    fn detail(&self) -> String {
        let (source, file, row, line) = (&self.source.operator.name, self.file(), self.row, self.record.line);
        let place = format!("source '{source}', file '{file}', row {row}, line {line}");
        let reason = self.reason();
        let Some((column, value)) = self.column() else { return format!("[E391] {place}: {reason}") };
        let (name, ty, bytes) = (&column.name, &column.ty, value.len());
        let number = match &self.fault.kind {
            RecordFaultKind::Value { column, .. } => self.ticket.decoder.binding.declared[*column] + 1,
            _ => 0,
        };
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        let value = preview(value);
        format!("[E126] {place}, column {number}, field '{name}', type {ty}: '{value}' ({bytes} {unit}): {reason}")
    }
}

/// What to do about an expression that failed with this message.
pub(super) fn guard(message: &str) -> String {
    const WAYS: [(&str, &str, &str); 6] = [
        ("Int", "try_int", "an int"),
        ("Float", "try_float", "a float"),
        ("Decimal", "try_decimal", "a decimal"),
        ("Bool", "try_bool", "a bool"),
        ("Date", "try_date", "a date"),
        ("DateTime", "try_datetime", "a date_time"),
    ];
    let target = message.strip_prefix("conversion failed").and_then(|rest| Some(rest.rsplit_once(" to ")?.1));
    match WAYS.iter().find(|(name, ..)| Some(*name) == target) {
        Some((_, method, what)) => format!("write `{method}()`, which gives null for what is not {what}"),
        None => "guard the expression".to_owned(),
    }
}

/// A row that failed at an operator.
pub(super) struct FaultText<'a, 'p> {
    /// The sources of the plan.
    pub sources: &'a [Source<'a>],
    /// The operator.
    pub node: &'a TreeNode<'p>,
    /// What the operator was given.
    pub batch: &'a Batch,
    /// What failed.
    pub fault: &'a Fault,
}

impl FaultText<'_, '_> {
    /// The cells of its dead letter that say what happened.
    pub fn trigger(&self) -> Trigger<'_> {
        Trigger {
            file: file_of(self.sources, self.batch, self.fault.row),
            source: source_of(self.sources, self.batch, self.fault.row),
            row: self.row(),
            field: self.fault.field.as_deref().unwrap_or_default(),
            value: self.fault.value.as_deref().unwrap_or_default(),
            category: self.fault.kind.category(),
            detail: self.detail(),
            raw: "",
            stage: None,
        }
    }

    /// The failure that stops the run; the row begins in physical line `line`, if that is known still.
    pub fn failure(&self, line: Option<u64>) -> Failure {
        if matches!(self.node.operator.kind, OperatorKind::Aggregate(_)) && self.fault.kind == FaultKind::GroupFailed {
            return self.group_failure();
        }
        let code = match self.fault.kind {
            FaultKind::TypeError | FaultKind::GroupFailed => Code::E392,
            FaultKind::ValidationFailed => Code::E393,
            FaultKind::NoKey => Code::E396,
            FaultKind::Conflict => Code::E397,
        };
        let mut diagnostic = self.labelled(Diagnostic::error(code, self.detail()), self.place());
        if let Some(group) = self.reshaped_group() {
            diagnostic = diagnostic.note(format!("in group [{group}]"));
        }
        let operands = operands::of(self.node.operator, self.batch, self.fault);
        if !operands.is_empty() {
            diagnostic = diagnostic.note(format!("with {operands}"));
        }
        let row = self.batch.origin.row_id(self.fault.row);
        Failure::new(diagnostic.help(self.help()), 3).about(NamedRow { row, begins_group: false, line })
    }

    /// In which node it failed.
    fn place(&self) -> String {
        let name = self.node.operator.node();
        match &self.node.operator.kind {
            OperatorKind::Route(_) => match self.branch() {
                Some(branch) => format!("the condition of branch `{branch}` of route `{name}`"),
                None => format!("in a condition of route `{name}`"),
            },
            OperatorKind::Cull(_) => format!("in cull `{name}`"),
            OperatorKind::Reshape(_) => format!("in a rule of reshape `{name}`"),
            OperatorKind::Aggregate(_) => format!("in aggregate `{name}`"),
            _ => format!("in transform `{name}`"),
        }
    }

    /// What to do about it.
    fn help(&self) -> String {
        let help = match self.fault.kind {
            FaultKind::TypeError | FaultKind::GroupFailed => {
                let lost = if self.reshape().is_some() { "groups" } else { "rows" };
                let guard = guard(&self.fault.message);
                return format!("{guard}, or set `strategy: continue` to make such {lost} dead letters");
            }
            FaultKind::NoKey => {
                "give such rows a key, or filter them, in a transform before it, or set `strategy: continue` to make \
                 them dead letters"
            }
            FaultKind::ValidationFailed => {
                "let the validation only warn, or set `strategy: continue` to make such rows dead letters"
            }
            FaultKind::Conflict => {
                "let one rule set the column, or their conditions exclude each other; or set `strategy: continue` to \
                 make such groups dead letters"
            }
        };
        help.to_owned()
    }

    /// The group of a row that failed in a reshape.
    fn reshaped_group(&self) -> Option<String> {
        let OperatorKind::Reshape(spec) = &self.node.operator.kind else { return None };
        let columns = spec.reshape.partition_by.iter().map(|column| self.batch.columns[*column].as_ref());
        let values = columns.map(|column| column.map_or(Value::Null, |column| column.value(self.fault.row)));
        Some(group_name(spec.partition_names.iter().map(String::as_str), values))
    }

    /// The diagnostic with the places of what failed: of a conflict, where each of the rules sets the column.
    fn labelled(&self, diagnostic: Diagnostic, place: String) -> Diagnostic {
        let set_by = |span: Span| {
            let sets = |rule: &&ReshapeRule| rule.set.iter().any(|assignment| assignment.span == span);
            let rule = self.reshape().and_then(|reshape| reshape.rules.iter().find(sets));
            rule.map_or_else(String::new, |rule| format!("set by rule `{}`", rule.name))
        };
        match self.fault.other {
            Some(other) => {
                let node = self.node.operator.node();
                let later = format!("{} of reshape `{node}`, too", set_by(self.fault.span));
                diagnostic.label(self.fault.span, later).label(other, set_by(other))
            }
            None => diagnostic.label(self.fault.span, place),
        }
    }

    fn reshape(&self) -> Option<&Reshape> {
        match &self.node.operator.kind {
            OperatorKind::Reshape(spec) => Some(&spec.reshape),
            _ => None,
        }
    }

    /// The failure that a group of an aggregate stops the run with: what it was given is one row a group, the key first.
    fn group_failure(&self) -> Failure {
        let Self { node, batch, fault, .. } = self;
        let place = format!("computed for each group of aggregate `{}`", node.operator.node());
        let mut diagnostic = Diagnostic::error(Code::E392, self.detail()).label(fault.span, place);
        let operands = operands::of(node.operator, batch, fault);
        let guard = match operands.is_empty() {
            false => guard(&fault.message),
            // It is the aggregate itself.
            true => "let it add smaller numbers, or floats (`to_float()`), which reach further".to_owned(),
        };
        if !operands.is_empty() {
            diagnostic = diagnostic.note(format!("with {operands}"));
        }
        let help = format!("{guard}, or set `strategy: continue` to make such groups dead letters");
        let row = batch.origin.row_id(fault.row);
        Failure::new(diagnostic.help(help), 3).about(NamedRow { row, begins_group: true, line: None })
    }

    fn detail(&self) -> String {
        match &self.fault.field {
            Some(field) => format!("row {}: field '{field}': {}", self.row(), self.message()),
            None => format!("row {}: {}", self.row(), self.message()),
        }
    }

    /// What went wrong, and in which group or branch.
    fn message(&self) -> String {
        let Self { node, batch, fault, .. } = self;
        match &node.operator.kind {
            OperatorKind::Aggregate(spec) if fault.kind == FaultKind::GroupFailed => {
                let key = 0..spec.aggregation.key;
                let names = spec.aggregation.groups.columns[key.clone()].iter().map(|column| column.name.as_str());
                let values = batch.columns[key].iter().flatten().map(|column| column.value(fault.row));
                format!("group [{}]: {}", group_name(names, values), fault.message)
            }
            OperatorKind::Route(_) => match self.branch() {
                Some(branch) => format!("{}, in the condition of branch `{branch}`", fault.message),
                None => fault.message.clone(),
            },
            _ => fault.message.clone(),
        }
    }

    /// The branch of a route whose condition failed.
    fn branch(&self) -> Option<&str> {
        let OperatorKind::Route(spec) = &self.node.operator.kind else { return None };
        let failed = self.fault.span;
        let holds = |span: Span| span.file == failed.file && span.start <= failed.start && failed.end <= span.end;
        let branch = spec.route.conditions.iter().position(|condition| holds(condition.span))?;
        spec.branches.get(branch).map(String::as_str)
    }

    fn row(&self) -> u64 {
        self.batch.origin.file_row(self.fault.row)
    }
}

/// What the dead letter of a row of a failed group says: what happened to it, or to the row that it is lost with.
pub(super) fn lost<'a>(sources: &'a [Source<'_>], batch: &Batch, row: usize, lost: &'a Lost) -> Trigger<'a> {
    let Lost { cause, is_trigger, .. } = lost;
    let own = |text: &'a Option<String>| text.as_deref().filter(|_| *is_trigger).unwrap_or_default();
    Trigger {
        file: file_of(sources, batch, row),
        source: source_of(sources, batch, row),
        row: batch.origin.file_row(row),
        field: own(&cause.field),
        value: own(&cause.value),
        category: if *is_trigger { cause.kind.category() } else { "correlated" },
        detail: if *is_trigger { cause.detail() } else { cause.correlated() },
        raw: "",
        stage: Some(if *is_trigger { &cause.stage } else { "correlation_commit" }),
    }
}

/// The file of a row.
fn file_of<'a>(sources: &'a [Source<'_>], batch: &Batch, row: usize) -> &'a str {
    let (source, file) = (batch.origin.source_of(row), batch.origin.file_of(row));
    sources.get(source as usize).map_or(MERGED, |source| &source.files[file as usize].display)
}

/// The source of a row.
fn source_of<'a>(sources: &'a [Source<'_>], batch: &Batch, row: usize) -> &'a str {
    sources.get(batch.origin.source_of(row) as usize).map_or(MERGED, |source| &source.operator.name)
}

/// Which row of which file a row is, if that is known; of a group's row, where the group begins.
fn place_of(sources: &[Source<'_>], batch: &Batch, row: usize) -> Option<String> {
    let number = batch.origin.is_known().then(|| batch.origin.file_row(row))?;
    Some(match file_of(sources, batch, row) {
        MERGED => format!("a group that begins with row {number}"),
        file => format!("row {number} of {file}"),
    })
}

/// A row for which a `warn` validation did not hold.
pub(super) fn warning(sources: &[Source<'_>], node: &TreeNode<'_>, batch: &Batch, warning: &Warning) -> Diagnostic {
    let (operator, validation) = (node.operator, warning.validation);
    let place = format!("{}, row {}", file_of(sources, batch, warning.row), batch.origin.file_row(warning.row));
    let Some(fault) = &warning.failure else {
        let message = format!("{place}: {}", validation_text(operator, validation));
        return with_validation(Diagnostic::warning(Code::W393, message), operator, validation, "does not hold");
    };
    let what = match &operator.kind {
        OperatorKind::Transform(spec) => spec.transform.validations[validation].name.as_deref(),
        _ => None,
    };
    let what = what.map_or_else(|| "a validation".to_string(), |name| format!("validation `{name}`"));
    let diagnostic =
        Diagnostic::warning(Code::W393, format!("{place}: {what} could not be computed: {}", fault.message))
            .label(fault.span, format!("in transform `{}`", operator.node()));
    let operands = operands::of(operator, batch, fault);
    if operands.is_empty() { diagnostic } else { diagnostic.note(format!("with {operands}")) }
}

/// How often a `warn` validation did not hold in all.
pub(crate) fn warning_total(operator: &Operator, validation: usize, count: WarnedRows) -> Diagnostic {
    let rows = |count: u64| if count == 1 { "1 row".to_string() } else { format!("{count} rows") };
    let (warned, text) = (count.all - count.failed, validation_text(operator, validation));
    let label = if warned == 0 { "could not be computed" } else { "does not hold" };
    let said = match (warned, count.failed) {
        (warned, 0) => format!("{} warned of: {text}", rows(warned)),
        (0, failed) => format!("{} could not be checked by a validation", rows(failed)),
        (warned, failed) => format!("{} warned of: {text}; {} could not be checked", rows(warned), rows(failed)),
    };
    let message = format!("transform `{}`: {said}", operator.node());
    with_validation(Diagnostic::warning(Code::W393, message), operator, validation, label)
}

fn validation_text(operator: &Operator, validation: usize) -> String {
    let OperatorKind::Transform(spec) = &operator.kind else { return String::new() };
    let validation = &spec.transform.validations[validation];
    match &validation.name {
        Some(name) => format!("{name}: {}", validation.message),
        None => validation.message.clone(),
    }
}

fn with_validation(diagnostic: Diagnostic, operator: &Operator, validation: usize, label: &str) -> Diagnostic {
    match &operator.kind {
        OperatorKind::Transform(spec) => diagnostic.label(spec.transform.validations[validation].span, label),
        _ => diagnostic,
    }
}

/// The sink that can't write a row: the operator itself, or the one whose bytes its rows become.
pub(super) fn writing_sink(plan: &PhysicalPlan, operator: OperatorId) -> &Operator {
    match plan.operator(operator).rest().map(|rest| &rest.form) {
        Some(RestForm::SinkBytes { sink }) => plan.operator(*sink),
        _ => plan.operator(operator),
    }
}

/// A row that a sink's format can't show.
pub(super) fn unwritable(sources: &[Source<'_>], sink: &Operator, batch: &Batch, error: &EncodeError) -> Failure {
    let OperatorKind::Sink(spec) = &sink.kind else { unreachable!("only sinks write") };
    // Undeclared fields are texts, and any text can be written; so the column is one of the first.
    let columns = spec.sink.columns.iter().chain(&spec.sink.key_columns);
    let column = columns.map(|column| column.name.as_str()).nth(error.column).unwrap_or_default();
    let row = place_of(sources, batch, error.row).map(|place| format!(" of {place}")).unwrap_or_default();
    let message = format!("sink `{}` can't write column '{column}'{row}: {}", sink.name, error.reason);
    Failure::new(Diagnostic::error(Code::E394, message).label(sink.span, "written here"), 4)
}

/// At most this many bytes of a value are shown.
const PREVIEW: usize = 128;

/// The beginning of a text on one line.
pub(crate) fn preview(text: &str) -> String {
    let mut end = text.len().min(PREVIEW);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut shown = String::with_capacity(end);
    for c in text[..end].chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown + if end < text.len() { "…" } else { "" }
}
