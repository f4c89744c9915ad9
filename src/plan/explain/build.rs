//! From the physical plan to the document.

use std::collections::BTreeSet;

use super::estimate::{self, Flows};
use super::footprint;
use super::guess::Guess;
use super::model::{
    Arbitration, AtRest, BufferEdge, Columns, Consumer, DeadLetterFile, Document, Edge, ErrorHandling, EstimatedSpill,
    Key, Memory, Node, Ordered, Output, OverLimit, Properties, Rate, RowIdentity, SCHEMA_VERSION, Segment,
    SourcePolicy, SpillCompression, SpillingStage, Stage, StorageSummary,
};
use super::predict::{self, Predicted};
use super::{Facts, order, steps, tree};
use crate::analysis::hir::{self, Backpressure, Format, IfExists, Matcher, Schema};
use crate::diagnostics::SourceMap;
use crate::plan::physical::{
    self, ColumnSet, IdentityUse, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan, RestForm,
    RowIdentity as Identity, SinkOperator, SortPurpose,
};

/// Says everything about a plan that is printed.
pub fn document(plan: &PhysicalPlan, sources: &SourceMap, facts: &Facts) -> Document {
    let flows = Flows::of(plan, facts);
    let predicted = predict::predict(plan, &flows);
    Document {
        schema_version: SCHEMA_VERSION,
        name: plan.name.clone(),
        outputs: plan.operators().filter_map(|(_, operator)| output(operator)).collect(),
        nodes: plan.operators().map(|(id, operator)| node(plan, sources, id, operator)).collect(),
        edges: plan.operators().flat_map(|(id, _)| edges(plan, &predicted, id)).collect(),
        node_properties: node_properties(plan, &predicted),
        buffer_edges: plan
            .operators()
            .filter_map(|(id, operator)| buffer_edge(plan, &predicted, id, operator))
            .collect(),
        stages: plan.stages.iter().map(|stage| self::stage(plan, stage)).collect(),
        storage_summary: storage_summary(plan, &predicted, facts),
        error_handling: error_handling(plan),
        dead_letter: (0..plan.dead_letters.files.len()).map(|file| dead_letter_file(plan, file)).collect(),
        statistics: estimate::statistics(plan, &flows, facts),
        expressions: plan.operators().filter_map(|(_, operator)| steps::program(operator, sources)).collect(),
        memory: memory(plan, &flows, &predicted),
    }
}

fn output(operator: &Operator) -> Option<Output> {
    let OperatorKind::Sink(SinkOperator { sink, carried_sources, .. }) = &operator.kind else { return None };
    Some(Output {
        sink: operator.name.clone(),
        path: sink.path.0.clone(),
        format: format_name(sink.format),
        if_exists: match sink.if_exists {
            IfExists::Overwrite => "overwrite",
            IfExists::Error => "error",
            IfExists::UniqueSuffix => "unique_suffix",
        },
        columns: sink.columns.iter().map(|column| column.name.clone()).collect(),
        undeclared_fields: sink.append_carried && !carried_sources.is_empty(),
        key_columns: sink.key_columns.iter().map(|column| column.name.clone()).collect(),
    })
}

fn node(plan: &PhysicalPlan, sources: &SourceMap, id: OperatorId, operator: &Operator) -> Node {
    Node {
        id: id.0 as usize + 1,
        kind: operator.kind.name(),
        name: operator.name.clone(),
        label: operator.label(),
        line: sources.line_column(operator.span.file, operator.span.start).line,
        inserted: matches!(operator.kind, OperatorKind::Sort(_) | OperatorKind::Park(_)),
        strategy: operator.strategy.clone(),
        about: about(operator),
        depends_on: plan.inputs(id).into_iter().map(|(producer, edge)| reference(plan, producer, edge)).collect(),
    }
}

/// How a pipeline file would refer to the port of an edge.
fn reference(plan: &PhysicalPlan, producer: OperatorId, edge: &physical::Edge) -> String {
    let producer = plan.operator(producer);
    match &edge.port_name {
        Some(port) => format!("{}.{port}", producer.name),
        // A distinct has the name of its transform.
        None if matches!(producer.kind, OperatorKind::Distinct(_)) => producer.label(),
        None => producer.name.clone(),
    }
}

fn about(operator: &Operator) -> Option<String> {
    match &operator.kind {
        OperatorKind::Source(source) => Some(format!("reads {}", matcher(&source.source.matcher))),
        OperatorKind::Sink(sink) => Some(format!("writes {}", sink.sink.path.0)),
        OperatorKind::Sort(sort) => Some(match sort.purpose {
            SortPurpose::CorrelationKey => "puts the rows of a correlation key side by side".to_string(),
            SortPurpose::MergeFiles => "brings the files into one order".to_string(),
            SortPurpose::Repair => "proves the order that the source claims".to_string(),
            SortPurpose::RepairFiles => "proves the order that the source claims of each file".to_string(),
            SortPurpose::Sink => "the order that the output asks for".to_string(),
        }),
        OperatorKind::Park(park) => Some(park.reason.clone()),
        OperatorKind::Transform(transform) => {
            let is_rest = operator.name != transform.node;
            is_rest.then(|| format!("what `{}` does behind a distinct", transform.node))
        }
        OperatorKind::Route(_)
        | OperatorKind::Merge(_)
        | OperatorKind::Cull(_)
        | OperatorKind::Aggregate(_)
        | OperatorKind::Reshape(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Discard(_) => None,
    }
}

/// The files of a source, as a phrase.
pub fn matcher(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Paths(paths) => paths.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", "),
        Matcher::Glob(pattern, _) => format!("files like {pattern}"),
        Matcher::Regex(pattern, _) => format!("files matching {pattern}"),
    }
}

fn edges(plan: &PhysicalPlan, predicted: &[Predicted], id: OperatorId) -> Vec<Edge> {
    let park = match &plan.operator(id).kind {
        OperatorKind::Park(park) => Some(predicted[park.rest.consumer]),
        _ => None,
    };
    let describe = |(producer, edge): (OperatorId, &physical::Edge)| Edge {
        from: plan.operator(producer).label(),
        to: plan.operator(id).label(),
        port: edge.port_name.clone(),
        columns: names(&edge.schema, &edge.columns),
        undeclared_fields: edge.carries,
        computed: edge.computed().into_iter().map(str::to_string).collect(),
        buffer: if park.is_some() { "materialized" } else { "streaming" },
        slot: park.map(|_| plan.operator(id).label()),
        predicted_bytes: park.and_then(|park| shown(park.holds, park.at_most)),
    };
    plan.inputs(id).into_iter().map(describe).collect()
}

fn row_identity(edge: &physical::Edge) -> RowIdentity {
    RowIdentity {
        by: match edge.provenance.identity {
            Identity::Position => "position",
            Identity::Kept => "columns that were kept above",
            Identity::Group => "the number of its group",
        },
        used_for: edge.provenance.uses.iter().map(IdentityUse::to_string).collect(),
    }
}

fn buffer_edge(
    plan: &PhysicalPlan,
    predicted: &[Predicted],
    id: OperatorId,
    operator: &Operator,
) -> Option<BufferEdge> {
    let OperatorKind::Park(park) = &operator.kind else { return None };
    let (producer, inner) = plan.inputs(id).into_iter().next()?;
    let (consumer, outer) = plan.outputs(id).into_iter().next()?;
    Some(BufferEdge {
        slot: operator.label(),
        from: plan.operator(producer).label(),
        port: inner.port_name.clone(),
        to: plan.operator(consumer).label(),
        input: outer.input + 1,
        priority: plan.consumers[park.rest.consumer].priority,
        predicted_bytes: shown(predicted[park.rest.consumer].holds, predicted[park.rest.consumer].at_most),
        why: park.reason.clone(),
    })
}

fn node_properties(plan: &PhysicalPlan, predicted: &[Predicted]) -> Ordered<Properties> {
    let reclaim = reclaim(plan, predicted);
    let operators = plan.operators().zip(order::phrases(plan));
    let properties = operators.map(|((id, operator), order)| {
        let key = key(plan, id, operator);
        let properties = Properties {
            buffer: operator.buffer.to_string(),
            why: operator.buffer_reason.clone(),
            columns: columns(plan, id, operator),
            ordering: order,
            ck_set: ck_set(&key, operator),
            key,
            at_rest: at_rest(plan, operator),
            row_identity: plan.inputs(id).first().map(|(_, edge)| row_identity(edge)),
            arbitration: arbitration(plan, predicted, id, reclaim[id.0 as usize]),
        };
        (operator.label(), properties)
    });
    Ordered(properties.collect())
}

fn arbitration(plan: &PhysicalPlan, predicted: &[Predicted], id: OperatorId, reclaim: Option<u64>) -> Arbitration {
    let rows = plan.operator(id).rest().map(|rest| &plan.consumers[rest.consumer]);
    let own = predict::of_operator(plan, predicted, id);
    let peak = shown(own.peak, own.at_most);
    let consumers = plan.consumers.iter().filter(|consumer| consumer.operator == Some(id));
    let others = consumers.filter(|consumer| rows.is_some_and(|rows| rows.name != consumer.name));
    Arbitration {
        priority: rows.map(|consumer| consumer.priority),
        spills: rows.is_some_and(|consumer| consumer.spills),
        can_pause: false,
        predicted_held_bytes: shown(own.holds, own.at_most),
        predicted_peak_bytes: peak,
        at_most: own.at_most,
        includes: others.map(|consumer| consumer.name.clone()).collect(),
        predicted_freed_bytes: peak,
        predicted_reclaim_bytes: reclaim,
    }
}

/// The figure to show, if it is known.
fn shown(guess: Option<Guess>, at_most: bool) -> Option<u64> {
    guess.map(|guess| guess.shown(at_most))
}

/// The fields of the correlation keys that are there.
fn ck_set(key: &Option<Key>, operator: &Operator) -> Vec<String> {
    let there = |key: &Key| match &operator.kind {
        OperatorKind::Sink(_) => key.input.clone(),
        _ => key.out.clone(),
    };
    key.as_ref().map(there).unwrap_or_default()
}

/// For each operator, the most that one buffer there or further down could put on disk; `None` if one's size is not
/// known.
fn reclaim(plan: &PhysicalPlan, predicted: &[Predicted]) -> Vec<Option<u64>> {
    let own = |(id, _): (OperatorId, &Operator)| {
        let spilling = plan.consumers.iter().zip(predicted).filter(|(consumer, _)| consumer.spills);
        let own = spilling.filter(|(consumer, _)| consumer.operator == Some(id));
        let mut own = own.map(|(_, predicted)| shown(predicted.holds, predicted.at_most));
        own.try_fold(0, |most: u64, holds| holds.map(|holds| most.max(holds)))
    };
    let mut found: Vec<Option<u64>> = plan.operators().map(own).collect();
    for id in (0..found.len()).rev() {
        for (below, _) in plan.outputs(OperatorId(id as u32)) {
            found[id] = found[id].zip(found[below.0 as usize]).map(|(own, below)| own.max(below));
        }
    }
    found
}

fn at_rest(plan: &PhysicalPlan, operator: &Operator) -> Option<AtRest> {
    // An aggregate holds groups, not rows.
    let rest = operator.rest().filter(|_| !matches!(operator.kind, OperatorKind::Aggregate(_)))?;
    let (form, sink) = match rest.form {
        RestForm::Row => ("row", None),
        RestForm::SinkBytes { sink } => ("sink_bytes", Some(plan.operator(sink).label())),
    };
    Some(AtRest { form, sink, keeps_row_identity: rest.identity })
}

/// The correlation keys on the way in and out; `None` if there are none.
fn key(plan: &PhysicalPlan, id: OperatorId, operator: &Operator) -> Option<Key> {
    let mut input: Vec<String> = Vec::new();
    for field in plan.inputs(id).iter().flat_map(|(_, edge)| key_fields(&edge.schema)) {
        if !input.contains(&field) {
            input.push(field);
        }
    }
    let out = match &operator.kind {
        OperatorKind::Sink(sink) => written_keys(sink),
        _ => operator.output().map(|schema| key_fields(schema)).unwrap_or_default(),
    };
    (!input.is_empty() || !out.is_empty()).then_some(Key { input, out })
}

/// The key columns that a sink writes.
fn written_keys(sink: &SinkOperator) -> Vec<String> {
    sink.sink.key_columns.iter().filter_map(|column| key_field(&column.name)).collect()
}

fn key_fields(schema: &Schema) -> Vec<String> {
    schema.keys().filter_map(|(_, column)| column.key_field()).map(str::to_string).collect()
}

fn key_field(column: &str) -> Option<String> {
    column.strip_prefix(hir::Column::KEY_PREFIX).map(str::to_string)
}

fn columns(plan: &PhysicalPlan, id: OperatorId, operator: &Operator) -> Option<Columns> {
    let (verb, schema, kept, edges) = match &operator.kind {
        OperatorKind::Aggregate(aggregate) => ("stored", &aggregate.output, &aggregate.stored, plan.outputs(id)),
        OperatorKind::Source(source) => ("stored", &source.schema, &source.stored, plan.outputs(id)),
        OperatorKind::Transform(transform) => ("stored", &transform.output, &transform.stored, plan.outputs(id)),
        OperatorKind::Route(_) | OperatorKind::Sink(_) => {
            let (_, edge) = plan.inputs(id).into_iter().next()?;
            ("read", &edge.schema, &edge.columns, plan.inputs(id))
        }
        OperatorKind::Merge(merge) => ("stored", &merge.output, &merge.stored, plan.outputs(id)),
        OperatorKind::Sort(_)
        | OperatorKind::Cull(_)
        | OperatorKind::Reshape(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Park(_) => ("held", operator.output()?, &operator.rest()?.columns, plan.outputs(id)),
        OperatorKind::Discard(_) => return None,
    };
    let (mut left_out, mut for_dead_letters) = (ColumnSet::all(kept.width()), kept.clone());
    left_out.subtract(kept);
    for (_, edge) in &edges {
        let mut read = edge.columns.clone();
        read.subtract(&edge.shown);
        for_dead_letters.subtract(&read);
    }
    Some(Columns {
        verb,
        kept: names(schema, kept),
        for_dead_letters: names(schema, &for_dead_letters),
        left_out: names(schema, &left_out),
        undeclared_fields: edges.iter().any(|(_, edge)| edge.carries),
    })
}

fn names(schema: &Schema, columns: &ColumnSet) -> Vec<String> {
    columns.iter().map(|position| schema.columns[position].name.clone()).collect()
}

fn stage(plan: &PhysicalPlan, stage: &physical::Stage) -> Stage {
    let label = |id: &OperatorId| plan.operator(*id).label();
    let segment = |segment: &physical::Segment| Segment {
        head: label(&segment.head),
        operators: segment.operators.iter().map(label).collect(),
        behind: segment.behind.iter().map(|before| label(&stage.segments[*before].head)).collect(),
        tree: tree::draw(plan, segment.head),
    };
    let operators: BTreeSet<OperatorId> = stage.operators().collect();
    let heads: BTreeSet<OperatorId> = stage.heads().collect();
    let fills = operators.iter().filter(|id| plan.operator(**id).is_driver() && !heads.contains(id));
    Stage {
        driver: heads.first().map(label).unwrap_or_default(),
        fills: fills.map(label).collect(),
        operators: operators.iter().map(label).collect(),
        segments: stage.segments.iter().map(segment).collect(),
    }
}

fn storage_summary(plan: &PhysicalPlan, predicted: &[Predicted], facts: &Facts) -> StorageSummary {
    let spilling = || plan.consumers.iter().zip(predicted).filter(|(consumer, _)| consumer.spills);
    let per_stage = spilling().map(|(consumer, predicted)| SpillingStage {
        name: consumer.name.clone(),
        bytes: shown(predicted.spills, predicted.at_most),
        held_bytes: shown(predicted.holds, predicted.at_most),
        at_most: predicted.at_most,
        usual_bytes: shown(predicted.spills, false),
        usual_held_bytes: shown(predicted.holds, false),
        only_if: only_if(plan, consumer),
    });
    let per_stage: Vec<_> = per_stage.collect();
    let total: Option<u64> = per_stage.iter().map(|stage| stage.bytes).sum();
    let usual_total: Option<u64> = per_stage.iter().map(|stage| stage.usual_bytes).sum();
    StorageSummary {
        spill_root: facts.spill_root.clone(),
        disk_cap_bytes: None,
        spill_compression: SpillCompression {
            mode: "auto",
            per_stage: Ordered(spilling().map(|(consumer, _)| (consumer.name.clone(), "lz4")).collect()),
        },
        estimated_spill: EstimatedSpill { any_unknown: total.is_none(), total, usual_total, per_stage },
    }
}

/// What has to happen for a consumer to hold anything, where that is not the rule.
fn only_if(plan: &PhysicalPlan, consumer: &MemoryConsumer) -> Option<&'static str> {
    let Some(id) = consumer.operator else { return Some("rows fail") };
    match &plan.operator(id).kind {
        OperatorKind::Sort(sort) if sort.purpose.is_repair() => Some("a file breaks its order"),
        _ => None,
    }
}

fn error_handling(plan: &PhysicalPlan) -> ErrorHandling {
    let letters = &plan.dead_letters;
    let source_rate = |id: &OperatorId| letters.source_rates.iter().find(|(source, _)| source == id);
    let is_source = |(id, _): &&(OperatorId, _)| matches!(plan.operator(*id).kind, OperatorKind::Source(_));
    let per_source = letters.routes.iter().filter(is_source).map(|(source, file)| SourcePolicy {
        source: plan.operator(*source).name.clone(),
        path: file.map(|file| letters.files[file].path.0.clone()),
        max_rate: source_rate(source).map(|(_, rate)| self::rate(rate)),
    });
    ErrorHandling {
        strategy: if letters.continue_on_error { "continue" } else { "fail_fast" },
        max_rate: letters.rate.as_ref().map(rate),
        type_error_threshold: letters.type_error_threshold.as_ref().map(|threshold| threshold.value),
        per_source: per_source.collect(),
    }
}

fn rate(rate: &hir::Rate) -> Rate {
    Rate { max_rate: rate.max_rate, min_records: rate.min_records }
}

fn dead_letter_file(plan: &PhysicalPlan, position: usize) -> DeadLetterFile {
    let letters = &plan.dead_letters;
    let routed = letters.routes.iter().filter(|(_, file)| *file == Some(position));
    DeadLetterFile {
        path: letters.files[position].path.0.clone(),
        sources: routed.map(|(source, _)| plan.operator(*source).name.clone()).collect(),
        merged: letters.merged == Some(position),
        header: letters.files[position].header(),
    }
}

fn memory(plan: &PhysicalPlan, flows: &Flows, predicted: &[Predicted]) -> Memory {
    let limit = plan.settings.memory_limit;
    let mut consumers: Vec<_> = plan.consumers.iter().zip(predicted).collect();
    consumers.sort_by_key(|(consumer, _)| consumer.priority);
    let consumers = consumers.into_iter().map(|(consumer, predicted)| Consumer {
        name: consumer.name.clone(),
        node: consumer.operator.map(|id| plan.operator(id).label()),
        priority: consumer.priority,
        spills: consumer.spills,
        predicted_held_bytes: shown(predicted.holds, predicted.at_most),
        predicted_peak_bytes: shown(predicted.peak, predicted.at_most),
        at_most: predicted.at_most,
        usual_held_bytes: shown(predicted.holds, false),
        only_if: only_if(plan, consumer),
        why: consumer.reason.clone(),
    });
    Memory {
        limit_bytes: limit,
        backpressure: match plan.settings.backpressure {
            Backpressure::Pause => "pause",
            Backpressure::Spill => "spill",
            Backpressure::Both => "both",
        },
        spill_above_bytes: predict::soft_limit(limit),
        batch_rows: plan.settings.batch_size,
        threads: plan.settings.threads,
        consumers: consumers.collect(),
        over_limit: plan.operators().filter_map(|(id, _)| over_limit(plan, flows, id)).collect(),
    }
}

/// A group that has to fit and takes more than the limit, if a usual row is what it is taken for.
fn over_limit(plan: &PhysicalPlan, flows: &Flows, id: OperatorId) -> Option<OverLimit> {
    let (operator, read) = (plan.operator(id), flows.read(plan, id));
    let needed = footprint::of_whole_group(plan, &operator.kind, read.amount.as_ref()?)?.usual;
    (needed > plan.settings.memory_limit).then(|| OverLimit {
        node: operator.label(),
        needed_bytes: needed,
        at_most: read.at_most,
    })
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Csv => "csv",
    }
}
