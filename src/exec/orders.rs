//! Declared orders: proven before the first stage runs, so that nothing is computed from a claim.

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan, Segment, SortOperator, SortPurpose, Stage};

use super::Failure;
use super::keys::Late;
use super::operators::preview;
use super::sources::Source;
use super::value::Value;

/// The sorts behind sources that declare an order, each with the source above it: the order is to be proven.
pub(super) fn claims(plan: &PhysicalPlan) -> impl Iterator<Item = (OperatorId, &SortOperator, OperatorId)> {
    plan.operators().filter_map(|(id, operator)| match &operator.kind {
        OperatorKind::Sort(spec) if spec.purpose != SortPurpose::Sink => {
            let source = plan.inputs(id).first()?.0;
            let OperatorKind::Source(declared) = &plan.operator(source).kind else { return None };
            (!declared.source.sort_order.is_empty()).then_some((id, spec, source))
        }
        _ => None,
    })
}

/// What to say about a file that breaks its order: W307, or E366 where that ends the run.
pub(super) fn broken(source: &Source<'_>, file: usize, late: &Late) -> Result<Diagnostic, Failure> {
    if source.spec.source.unsorted_is_error {
        let diagnostic = Diagnostic::error(Code::E366, too_late(source, file, late))
            .label(declared(source, late), "declared here")
            .help("sort the file, correct `sort_order`, or let it be sorted with `on_unsorted: warn`");
        return Err(Failure::new(diagnostic, 3));
    }
    Ok(sorted_first(source, file, late))
}

/// W307 for a file that breaks its order.
pub(super) fn sorted_first(source: &Source<'_>, file: usize, late: &Late) -> Diagnostic {
    Diagnostic::warning(Code::W307, format!("{}; the file is sorted first", too_late(source, file, late)))
        .label(declared(source, late), "declared here")
        .help("sort the file or correct `sort_order`; `on_unsorted: error` stops the run instead")
}

fn too_late(source: &Source<'_>, file: usize, late: &Late) -> String {
    let (name, file, spec) = (&source.operator.name, &source.files[file].display, &source.spec.source);
    let key = late.column();
    let column = &spec.columns[spec.sort_order[key].column].name;
    let (before, value) = (shown(&late.before.values[key]), shown(&late.row.values[key]));
    let line = late.row.line.map(|line| format!(", line {line}")).unwrap_or_default();
    format!(
        "{file}, row {}{line}: source `{name}` is not in the order that it declares: `{column}` is {value}, below a row \
         with {before}",
        late.row.number
    )
}

/// Where the key is declared that is not in order.
fn declared(source: &Source<'_>, late: &Late) -> Span {
    let spec = &source.spec.source;
    spec.sort_spans.get(late.column()).copied().unwrap_or(spec.sort_order_span)
}

/// A value for a message.
fn shown(value: &Value) -> String {
    if value.is_null() { "null".to_owned() } else { format!("'{}'", preview(&value.to_string())) }
}

/// Whether files that are each in their declared order come out of their source in the order of the sort.
pub(super) fn is_proven(sort: &SortOperator, files: usize) -> bool {
    match sort.purpose {
        SortPurpose::Repair | SortPurpose::RepairFiles => true,
        SortPurpose::MergeFiles => files == 1,
        SortPurpose::CorrelationKey | SortPurpose::Sink => false,
    }
}

/// The stages without a sort whose order is proven: the source above it heads its segment. `None` where more
/// than the sort reads the source.
pub(super) fn without_sort(stages: &[Stage], sort: OperatorId, source: OperatorId) -> Option<Vec<Stage>> {
    let fills = |segment: &Segment| segment.head == source && segment.operators == [source, sort];
    let filling = stages.iter().position(|stage| matches!(stage.segments.as_slice(), [only] if fills(only)))?;
    let mut stages = stages.to_vec();
    stages.remove(filling);
    let segments = stages.iter_mut().flat_map(|stage| &mut stage.segments);
    let headed = segments.into_iter().find(|segment| segment.head == sort)?;
    headed.head = source;
    headed.operators.insert(0, source);
    Some(stages)
}
