//! The document as sections for people. A section without content is left out.

use super::layout::{blocks, count, list, percent, rough, rough_most, size, table};
use super::model::{
    Arbitration, AtRest, BufferEdge, Columns, Consumer, DeadLetterFile, Document, EstimatedSpill, Key, Memory, Node,
    Output, OverLimit, Program, Properties, Rate, RowIdentity, Segment, SourcePolicy, SpillCompression, SpillingStage,
    Stage, Statistic, Step, StorageSummary,
};

/// Prints the document.
pub fn text(document: &Document) -> String {
    let sections = [
        ("Outputs", table(document.outputs.iter().map(output_row))),
        ("Plan", table(document.nodes.iter().map(node_row))),
        ("Physical Properties", properties(&document.node_properties.0)),
        ("Buffer Edges", table(document.buffer_edges.iter().map(buffer_edge_row))),
        ("Estimated Spill Volume", spill(&document.storage_summary.estimated_spill, &document.memory)),
        ("Spill compression", compression(&document.storage_summary)),
        ("Dead-Letter Output", dead_letters(document)),
        ("Statistics", table(document.statistics.iter().map(statistic_row))),
        ("Expressions", blocks(document.expressions.iter().map(program))),
        ("Memory", memory(&document.memory)),
        ("Stages", blocks(document.stages.iter().enumerate().map(|(position, stage)| self::stage(position, stage)))),
    ];
    let mut text = heading(document);
    for (title, lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n=== {title} ===\n{}\n", lines.join("\n")));
    }
    text
}

fn heading(document: &Document) -> String {
    let nodes = count(document.nodes.len(), "operator", "operators");
    let inserted = match document.nodes.iter().filter(|node| node.inserted).count() {
        0 => String::new(),
        inserted => format!(" ({inserted} inserted)"),
    };
    format!("PLAN {}: {nodes}{inserted}, {}\n", document.name, count(document.stages.len(), "stage", "stages"))
}

fn output_row(output: &Output) -> Vec<String> {
    let exists = match output.if_exists {
        "error" => "the run is refused if the file exists",
        "unique_suffix" => "takes a new name if the file exists",
        _ => "replaces the file if it exists",
    };
    let columns = count(output.columns.len(), "column", "columns");
    let undeclared = output.undeclared_fields.then_some("the undeclared fields");
    let keys = (!output.key_columns.is_empty()).then_some("the correlation key");
    let parts: Vec<&str> = [columns.as_str()].into_iter().chain(undeclared).chain(keys).collect();
    let written = match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => columns.clone(),
    };
    vec![output.sink.clone(), output.path.clone(), format!("{} of {written}; {exists}", output.format)]
}

fn node_row(node: &Node) -> Vec<String> {
    let reads = if node.depends_on.is_empty() { String::new() } else { format!("<- {}", node.depends_on.join(", ")) };
    let about = node.about.as_ref().map_or_else(String::new, |about| format!("; {about}"));
    vec![
        format!(
            "{:>2} {} {} ({}line {})",
            node.id,
            node.kind,
            node.name,
            if node.inserted { "for " } else { "" },
            node.line
        ),
        reads,
        format!("{}{about}", node.strategy),
    ]
}

fn properties(properties: &[(String, Properties)]) -> Vec<String> {
    blocks(properties.iter().map(|(label, properties)| {
        let mut lines = vec![format!("{label}:")];
        lines.extend(properties.columns.as_ref().map(columns).unwrap_or_default());
        lines.extend(properties.ordering.as_ref().map(|order| format!("  order: {order}")));
        lines.extend(properties.key.as_ref().map(key));
        lines.extend(properties.at_rest.as_ref().map(at_rest));
        lines.extend(properties.row_identity.as_ref().and_then(row_identity));
        lines.extend(arbitration(&properties.arbitration));
        lines.push(format!("  why: {}", properties.why));
        lines.push(format!("  buffer: {}", properties.buffer));
        lines
    }))
}

fn columns(columns: &Columns) -> Vec<String> {
    let total = columns.kept.len() + columns.left_out.len();
    let more = if columns.undeclared_fields { ", and the undeclared fields" } else { "" };
    let mut lines = vec![format!("  columns: {} of {total} {}{more}", columns.kept.len(), columns.verb)];
    if !columns.for_dead_letters.is_empty() {
        lines.extend(list("  only for dead letters: ", &columns.for_dead_letters));
    }
    // What is read was stored above, so only what is not stored or held is news.
    if columns.verb != "read" && !columns.left_out.is_empty() {
        lines.extend(list(&format!("  not {}: ", columns.verb), &columns.left_out));
    }
    lines
}

fn key(key: &Key) -> String {
    let fields = |fields: &[String]| if fields.is_empty() { "none".to_string() } else { fields.join(", ") };
    match (&key.input, &key.out) {
        (input, out) if input == out => format!("  key: {}", fields(input)),
        (input, out) => format!("  key: {} in, {} out", fields(input), fields(out)),
    }
}

fn at_rest(at_rest: &AtRest) -> String {
    let form = match &at_rest.sink {
        Some(sink) => format!("as {sink} writes them"),
        None => "as columns".to_string(),
    };
    let identity = if at_rest.keeps_row_identity { ", with row identity" } else { "; row identity is not kept" };
    format!("  rows at rest: {form}{identity}")
}

fn buffer_edge_row(edge: &BufferEdge) -> Vec<String> {
    let port = edge.port.as_ref().map_or_else(String::new, |port| format!(" ({port})"));
    vec![
        edge.slot.clone(),
        format!("{}{port} -> {}, input {}", edge.from, edge.to, edge.input),
        format!("priority {}, holds {}: {}", edge.priority, known(edge.predicted_bytes), edge.why),
    ]
}

fn row_identity(identity: &RowIdentity) -> Option<String> {
    let uses = identity.used_for.join(", ");
    (!uses.is_empty()).then(|| format!("  row identity: by {}, for {uses}", identity.by))
}

/// How a buffer gives way. What is held by others is the same for all: next to nothing.
fn arbitration(arbitration: &Arbitration) -> Option<String> {
    let yes = |flag| if flag { "yes" } else { "no" };
    let holds = bounded(arbitration.predicted_held_bytes, arbitration.at_most);
    let included = match arbitration.includes.join(" and ") {
        none if none.is_empty() => none,
        others => format!(", {others} included"),
    };
    Some(format!(
        "  arbitration: priority {} | pause {} | spill {} | holds {holds}{included} | peak {} | frees {} | reclaim {}",
        arbitration.priority?,
        yes(arbitration.can_pause),
        yes(arbitration.spills),
        bounded(arbitration.predicted_peak_bytes, arbitration.at_most),
        known(arbitration.predicted_freed_bytes),
        known(arbitration.predicted_reclaim_bytes),
    ))
}

/// A figure that may be less.
fn bounded(bytes: Option<u64>, at_most: bool) -> String {
    let at_most = at_most && bytes.is_some_and(|bytes| bytes > 0);
    format!("{}{}", if at_most { "at most " } else { "" }, known(bytes))
}

fn known(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_string(), size)
}

fn spill(spill: &EstimatedSpill, memory: &Memory) -> Vec<String> {
    if spill.per_stage.is_empty() {
        return Vec::new();
    }
    let row = |stage: &SpillingStage| vec![stage.name.clone(), up_to(stage.usual_bytes, stage.bytes), held(stage)];
    let limit = format!("under a limit of {}, before compression", size(memory.limit_bytes));
    let total = vec!["total".to_string(), up_to(spill.usual_total, spill.total), limit];
    table(spill.per_stage.iter().map(row).chain([total]))
}

/// What is usual, and the most.
fn up_to(usual: Option<u64>, most: Option<u64>) -> String {
    match (usual, most) {
        (Some(usual), Some(most)) if usual < most => format!("{}, at most {}", size(usual), size(most)),
        (_, most) => known(most),
    }
}

fn held(stage: &SpillingStage) -> String {
    match (stage.only_if, stage.held_bytes) {
        (Some(condition), _) => format!("holds nothing unless {condition}"),
        (_, None) => "the size of an input is not known".to_string(),
        (_, held) => format!("holds {}", about(stage.usual_held_bytes, held, stage.at_most)),
    }
}

/// What is expected, or as much as usual data come to.
fn about(usual: Option<u64>, shown: Option<u64>, at_most: bool) -> String {
    if at_most { up_to(usual, shown) } else { format!("about {}", known(shown)) }
}

fn compression(storage: &StorageSummary) -> Vec<String> {
    let SpillCompression { mode, per_stage } = &storage.spill_compression;
    if per_stage.0.is_empty() {
        return Vec::new();
    }
    let stages: Vec<String> = per_stage.0.iter().map(|(name, codec)| format!("{name} {codec}")).collect();
    let root = storage.spill_root.as_deref().unwrap_or("the system's folder for temporary files");
    let mut lines = list(&format!("  {mode}: "), &stages);
    lines.push(format!("  in {root}, no cap"));
    lines
}

fn dead_letters(document: &Document) -> Vec<String> {
    let policy = &document.error_handling;
    if policy.strategy != "continue" {
        return Vec::new();
    }
    let mut lines: Vec<String> = document.dead_letter.iter().flat_map(dead_letter_file).collect();
    let unwritten: Vec<_> = policy.per_source.iter().filter(|source| source.path.is_none()).collect();
    if !unwritten.is_empty() {
        let names: Vec<_> = unwritten.iter().map(|source| source.source.clone()).collect();
        lines.extend(list("  counted, but not written <- ", &names));
    }
    lines.extend(policy.max_rate.as_ref().map(|rate| format!("  {}", rate_text("the run", rate))));
    lines.extend(policy.per_source.iter().filter_map(source_rate));
    lines.extend(policy.type_error_threshold.map(|share| {
        format!("  the run fails if more than {} of a source's rows do not fit their types", percent(share))
    }));
    lines
}

fn dead_letter_file(file: &DeadLetterFile) -> Vec<String> {
    let sources = if file.sources.is_empty() { "no source".to_string() } else { file.sources.join(", ") };
    let mut lines = vec![format!("  {} <- {sources}", file.path)];
    lines.extend(list("    ", &file.header));
    lines
}

fn source_rate(source: &SourcePolicy) -> Option<String> {
    let rate = source.max_rate.as_ref()?;
    Some(format!("  {}", rate_text(&source.source, rate)))
}

fn rate_text(of: &str, rate: &Rate) -> String {
    let rows = if of == "the run" { "rows read" } else { "rows" };
    let whose = if of == "the run" { String::new() } else { format!(" of {of}") };
    format!(
        "the run fails if {} or more of the {rows}{whose} are dead letters, from {} rows on",
        percent(rate.max_rate),
        rate.min_records
    )
}

fn statistic_row(statistic: &Statistic) -> Vec<String> {
    let noun = if statistic.estimated_rows == Some(1) { "row" } else { "rows" };
    let rows = match (statistic.estimated_rows, statistic.most_rows) {
        (Some(rows), _) if statistic.at_most => format!("at most {} {noun}", rough_most(rows)),
        (Some(rows), Some(most)) if most > rows => {
            format!("about {} {noun}, at most {}", rough(rows), rough_most(most))
        }
        (Some(rows), _) => format!("about {} {noun}", rough(rows)),
        (None, _) => "rows unknown".to_string(),
    };
    vec![statistic.node.clone(), rows, statistic.origin.clone()]
}

fn program(program: &Program) -> Vec<String> {
    let rows = program.steps.iter().map(step_row);
    [format!("  {}", program.node)].into_iter().chain(table(rows).into_iter().map(|row| format!("  {row}"))).collect()
}

fn step_row(step: &Step) -> Vec<String> {
    let target = match (&step.target, &step.ty) {
        (Some(target), Some(ty)) => format!("{target}: {ty}"),
        (Some(target), None) => target.clone(),
        (None, ty) => ty.clone().unwrap_or_default(),
    };
    vec![step.kind.to_string(), target, step.text.clone()]
}

fn memory(memory: &Memory) -> Vec<String> {
    let threads = memory.threads.map_or_else(|| "one for each processor".to_string(), |threads| threads.to_string());
    let mut lines = vec![
        format!("  limit {}, under pressure above {} (80 %)", size(memory.limit_bytes), size(memory.spill_above_bytes)),
        format!(
            "  backpressure {}, batches of at most {} rows, workers: {threads}",
            memory.backpressure, memory.batch_rows
        ),
    ];
    if memory.consumers.is_empty() {
        lines.push("  nothing in this plan grows with the input".to_string());
    }
    lines.extend(table(memory.consumers.iter().map(|consumer| {
        let spills = if consumer.spills { "spills" } else { "can't spill" };
        vec![
            consumer.name.clone(),
            format!("priority {}, {}, {spills}: {}", priority(consumer.priority), held_by(consumer), consumer.why),
        ]
    })));
    lines.extend(memory.over_limit.iter().map(|over| over_limit(over, memory.limit_bytes)));
    lines
}

/// What a consumer holds, and how much of it stays in memory.
fn held_by(consumer: &Consumer) -> String {
    let held = || about(consumer.usual_held_bytes, consumer.predicted_held_bytes, consumer.at_most);
    match (consumer.only_if, consumer.predicted_held_bytes, consumer.predicted_peak_bytes) {
        (Some(condition), ..) => format!("holds nothing unless {condition}"),
        (_, Some(all), Some(peak)) if peak < all => {
            format!("holds {}; in memory {}", held(), bounded(Some(peak), consumer.at_most))
        }
        (_, Some(_), _) => format!("holds {}", held()),
        (_, None, _) => "holds unknown".to_string(),
    }
}

/// What is sure to stop a run, if the estimate is right.
fn over_limit(over: &OverLimit, limit: u64) -> String {
    let (needed, limit) = (size(over.needed_bytes), size(limit));
    let if_all = if over.at_most { " if all these rows come" } else { "" };
    format!(
        "  {} will not fit{if_all}: its rows are one group (`partition_by: []`), which takes about {needed} at once where \
         the limit is {limit}; a run stops there (E310)",
        over.node
    )
}

/// The last of all is asked for nothing.
fn priority(priority: u8) -> String {
    if priority == u8::MAX { "last".to_string() } else { priority.to_string() }
}

fn stage(position: usize, stage: &Stage) -> Vec<String> {
    let number = position + 1;
    let drawn = |segment: &Segment| segment.tree.iter().map(|line| format!("      {line}")).collect::<Vec<_>>();
    if let [segment] = stage.segments.as_slice() {
        let first = format!("  {number} each worker takes {} of {} at a time through", block(segment), segment.head);
        return [first].into_iter().chain(drawn(segment)).collect();
    }
    let first = format!("  {number} all at once, so that rows can be taken in turn: each worker takes");
    let each = stage.segments.iter().flat_map(|segment| {
        let behind = match segment.behind.join(" and ") {
            before if before.is_empty() => String::new(),
            before => format!(", once {before} is through,"),
        };
        let line = format!("    {} of {} at a time{behind} through", block(segment), segment.head);
        [line].into_iter().chain(drawn(segment))
    });
    [first].into_iter().chain(each).collect()
}

fn block(segment: &Segment) -> &'static str {
    if segment.head.starts_with("source.") { "a block" } else { "a part of the rows" }
}
