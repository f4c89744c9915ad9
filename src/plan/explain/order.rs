//! Which order the rows of each operator have: what they are sorted by, since where, and what ended that.

use crate::analysis::hir::{Cull, MergeMode, OutputColumn, Schema, SortKey};
use crate::plan::passes::key_list;
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan};

/// What rows are sorted by.
#[derive(Clone, Default)]
struct Sorted {
    keys: Vec<SortKey>,
    since: String,
}

impl Sorted {
    /// `sorted by id, day desc (since sort.__repair_trips)`; `None` if there are no keys.
    fn text(&self, schema: &Schema) -> Option<String> {
        let keys = key_list(&self.keys, schema);
        (!keys.is_empty()).then(|| format!("sorted by {keys} (since {})", self.since))
    }
}

/// The order of each operator's rows as a phrase, in plan order; `None` for what only counts rows.
pub fn orders(plan: &PhysicalPlan) -> Vec<Option<String>> {
    let mut sorted: Vec<Sorted> = Vec::new();
    let mut phrases = Vec::new();
    for (id, _) in plan.operators() {
        let inputs = plan.inputs(id);
        let above: Vec<&Sorted> = inputs.iter().map(|(OperatorId(producer), _)| &sorted[*producer as usize]).collect();
        let (phrase, own) = order(plan, id, &above);
        phrases.push(phrase);
        sorted.push(own);
    }
    phrases
}

fn order(plan: &PhysicalPlan, id: OperatorId, above: &[&Sorted]) -> (Option<String>, Sorted) {
    let operator = plan.operator(id);
    let first = above.first().map(|sorted| (*sorted).clone()).unwrap_or_default();
    let kept = |schema: &Schema| first.text(schema).unwrap_or_else(|| "input order".to_string());
    match &operator.kind {
        OperatorKind::Aggregate(_) | OperatorKind::Reshape(_) | OperatorKind::Distinct(_) => todo!(),
        OperatorKind::Source(source) => {
            let keys = key_list(&source.source.sort_order, &source.schema);
            let claim = if keys.is_empty() { String::new() } else { format!("; each file claims {keys}") };
            (Some(format!("file order{claim}")), Sorted::default())
        }
        OperatorKind::Sort(sort) if sort.keys.is_empty() => (Some(kept(&sort.schema)), first),
        OperatorKind::Sort(sort) => {
            let keys = key_list(&sort.keys, &sort.schema);
            (Some(format!("sorted by {keys}")), Sorted { keys: sort.keys.clone(), since: operator.label() })
        }
        OperatorKind::Transform(transform) => {
            let found = |key: &SortKey| {
                let same = |column: &OutputColumn| *column == OutputColumn::Input(key.column);
                transform.transform.output.iter().position(same).map(|column| SortKey { column, ..*key })
            };
            let keys: Vec<SortKey> = first.keys.iter().map_while(found).collect();
            let lost = first.keys.get(keys.len());
            let lost = lost.map(|key| {
                format!("; no longer by {}, which is written here", transform.input.columns[key.column].name)
            });
            let own = Sorted { keys, since: first.since.clone() };
            let text = own.text(&transform.output).unwrap_or_else(|| "input order".to_string());
            (Some(format!("{text}{}", lost.unwrap_or_default())), own)
        }
        OperatorKind::Merge(merge) => merge_order(merge.merge.mode, above, &merge.inputs[0]),
        OperatorKind::Cull(cull) if keeps_order(&cull.cull, &first.keys) => (Some(kept(&cull.schema)), first),
        OperatorKind::Cull(cull) => {
            let within = match key_list(&cull.cull.order_by, &cull.schema).as_str() {
                "" => "input order".to_string(),
                keys => keys.to_string(),
            };
            let lost = lost(&[&first], &cull.schema, "groups move together");
            (Some(format!("groups by their first row, {within} within a group{lost}")), Sorted::default())
        }
        OperatorKind::Route(route) => (Some(kept(&route.schema)), first),
        OperatorKind::Park(park) => (Some(kept(&park.schema)), first),
        OperatorKind::Sink(sink) => (Some(kept(&sink.schema)), first),
        OperatorKind::Discard(_) => (None, first),
    }
}

fn merge_order(mode: MergeMode, above: &[&Sorted], schema: &Schema) -> (Option<String>, Sorted) {
    let text = match (mode, above) {
        // The columns of a merge are those of its first input, in order.
        (_, [only]) => return (only.text(schema).or_else(|| Some("input order".to_string())), (*only).clone()),
        (MergeMode::Concat, _) => "one input behind the other",
        (MergeMode::Interleave, _) => "one row of each input in turn",
        (MergeMode::Seeded(_), _) => "a row of some input in turn",
    };
    (Some(format!("{text}{}", lost(above, schema, "several inputs meet here"))), Sorted::default())
}

/// What ended an order, if there was one.
fn lost(above: &[&Sorted], schema: &Schema, why: &str) -> String {
    let keys = above.iter().map(|sorted| key_list(&sorted.keys, schema)).find(|keys| !keys.is_empty());
    keys.map_or_else(String::new, |keys| format!("; no longer sorted by {keys}: {why}"))
}

/// Whether the rows of a group stand side by side already, so that a cull moves none.
fn keeps_order(cull: &Cull, keys: &[SortKey]) -> bool {
    let leading: Vec<usize> = keys.iter().take(cull.partition_by.len()).map(|key| key.column).collect();
    let covered = leading.len() == cull.partition_by.len() && cull.partition_by.iter().all(|key| leading.contains(key));
    covered && !keys.is_empty() && cull.order_by.is_empty()
}
