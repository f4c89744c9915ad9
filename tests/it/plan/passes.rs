//! What each pass makes of a pipeline: the plan behind every step, which is the plan in front of the next.

use clinker::analysis::hir::Pipeline;
use clinker::diagnostics::Diagnostics;
use clinker::plan::logical::LogicalPlan;
use clinker::plan::passes::{self, Watch};
use clinker::plan::physical::{OperatorKind, PhysicalPlan, Stage};

use super::pipelines;
use crate::support;

#[derive(Default)]
struct Steps(Vec<(String, String)>);

impl Watch for Steps {
    fn logical(&mut self, step: &'static str, plan: &LogicalPlan) {
        self.0.push((format!("logical {step}"), plan.to_string()));
    }

    fn physical(&mut self, step: &'static str, plan: &PhysicalPlan) {
        self.0.push((format!("physical {step}"), plan.to_string()));
    }
}

pub fn plan(pipeline: &Pipeline) -> PhysicalPlan {
    clinker::plan::plan(pipeline, &mut Diagnostics::new()).expect("the pipeline can be planned")
}

#[test]
fn every_pass_of_a_pipeline() {
    every_pass("plan/passes", &pipelines::orders().0);
    every_pass("plan/passes/groups", &pipelines::groups().0);
    every_pass("plan/passes/meetings", &pipelines::meetings().0);
    every_pass("plan/passes/turns", &pipelines::turns().0);
    every_pass("plan/passes/summaries", &pipelines::summaries().0);
    every_pass("plan/passes/firsts", &pipelines::firsts().0);
}

fn every_pass(folder: &str, pipeline: &Pipeline) {
    let mut steps = Steps::default();
    passes::run(pipeline, &mut Diagnostics::new(), &mut steps);
    let mut before = String::new();
    for (position, (step, after)) in steps.0.iter().enumerate() {
        let text = format!("{}behind {step}:\n\n{after}", front(&before));
        support::assert_snapshot(&format!("{folder}/{:02}_{}", position + 1, step.replace(' ', "_")), &text);
        before = after.clone();
    }
}

fn front(before: &str) -> String {
    if before.is_empty() { String::new() } else { format!("in front:\n\n{before}\n") }
}

#[test]
fn unread_ports_are_warned_of() {
    let (pipeline, sources) = pipelines::orders();
    let mut diagnostics = Diagnostics::new();
    clinker::plan::plan(&pipeline, &mut diagnostics);
    let shown = diagnostics.iter().map(|finding| {
        let place = finding.labels.first().map(|label| (sources.slice(label.span), label.text.as_str()));
        let (at, label) = place.expect("a warning has its place");
        let help = finding.help.as_deref().unwrap_or_default();
        format!("{}: {}\n  at {at}: {label}\n  help: {help}\n", finding.code, finding.message)
    });
    support::assert_snapshot("plan/unread_ports", &shown.collect::<String>());
}

/// The columns of the route's input that are stored, under three settings of the dead letters.
#[test]
fn only_dead_letters_with_source_rows_keep_computed_columns() {
    let stored = |change: fn(&mut Pipeline)| {
        let (mut pipeline, _) = pipelines::orders();
        change(&mut pipeline);
        let plan = plan(&pipeline);
        let (_, clean) = plan.operators().find(|(_, operator)| operator.name == "clean.2").expect("it is there");
        let OperatorKind::Transform(clean) = &clean.kind else { panic!("it is a part of a transform") };
        clean.stored.iter().map(|position| clean.output.columns[position].name.clone()).collect::<Vec<_>>()
    };
    let without = ["id", "amount", "placed", "gross"];
    let all = ["id", "customer", "amount", "placed", "note", "gross", "label"];
    assert_eq!(stored(|_| {}), all, "all are shown when `shares` fails, and no text is at hand behind the distinct");
    assert_eq!(stored(|pipeline| pipeline.error_handling.include_source_row = false), without);
    assert_eq!(stored(|pipeline| pipeline.error_handling.continue_on_error = false), without);
    assert_eq!(stored(|pipeline| pipeline.error_handling.dlq_path = None), without);
}

/// What a reshape's and a cull's rows are turned into: a transform behind them, which has only its emits, says what is
/// read of them, and dead letters may show them whole.
#[test]
fn only_what_is_read_rests() {
    let rests = |name: &str, change: fn(&mut Pipeline)| {
        let (mut pipeline, _) = pipelines::summaries();
        change(&mut pipeline);
        let plan = plan(&pipeline);
        let (_, operator) = plan.operators().find(|(_, operator)| operator.name == name).expect("it is there");
        let (rest, schema) = (operator.rest().expect("it is a buffer"), operator.output().expect("it has a port"));
        let names = rest.columns.iter().map(|position| schema.columns[position].name.clone());
        (names.collect::<Vec<_>>(), rest.identity)
    };
    let all = ["bus", "day", "km", "fare", "note"].map(str::to_string).to_vec();
    assert_eq!(rests("legs", |_| {}), (all.clone(), true));
    assert_eq!(rests("checked", |_| {}), (all, true));
    let stop: fn(&mut Pipeline) = |pipeline| pipeline.error_handling.continue_on_error = false;
    let some = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(rests("legs", stop), (some(&["bus", "km", "fare"]), true), "what the cull decides on, too");
    assert_eq!(rests("checked", stop), (some(&["bus", "km"]), true), "an added row counts as the one that it is for");
    let count_only: fn(&mut Pipeline) = |pipeline| pipeline.error_handling.include_source_row = false;
    assert_eq!(rests("checked", count_only), (some(&["bus", "km"]), true), "dead letters without rows show none");
}

/// How an aggregate works, by what its rows come through and how it is asked.
#[test]
fn aggregates_stream_where_an_order_is_proven() {
    let transform = |cxl: &str| format!("- {{ type: transform, name: m, input: s, config: {{ cxl: \"{cxl}\" }} }}\n");
    let cull = "- { type: cull, name: m, input: s, config: { partition_by: [bus], removed_to: gone, \
                rules: [{ name: r, drop_group_when: 'count(*) > 3' }] } }\n";
    let reshape = "- { type: reshape, name: m, input: s, config: { partition_by: [bus], \
                   rules: [{ name: r, when: 'km > 3', mutate: { set: { km: '3' } } }] } }\n";
    let route = "- { type: route, name: r, input: s, config: { conditions: { a: km > 3 }, default: b } }\n\
                 - { type: merge, name: m, inputs: [r.a] }\n";
    let merge = "- { type: merge, name: m, inputs: [s, s] }\n";
    let fewer =
        "- { type: aggregate, name: m, input: s, config: { group_by: [bus, day], cxl: 'emit km = sum(km)' } }\n";
    let plain = "path: s.csv, sort_order: [bus, { field: day, order: desc }]";
    let mut shown = String::new();
    for (source, between, asked) in [
        (plain, "", "group_by: [bus]"),
        (plain, "", "group_by: [day, bus]"),
        (plain, "", "group_by: [day]"),
        (plain, "", "group_by: [bus], strategy: hash"),
        (plain, "", "group_by: []"),
        (plain, "", "group_by: [], strategy: streaming"),
        (plain, &transform("filter km > 3\\nemit day = day"), "group_by: [bus], strategy: streaming"),
        (plain, &transform("emit bus = bus.upper()"), "group_by: [bus]"),
        (plain, &transform("let k = km\\ndistinct by k\\nemit z = k"), "group_by: [bus]"),
        (plain, &transform("emit bus = bus\\nemit line = bus"), "group_by: [bus, day]"),
        (plain, &transform("emit line = bus\\nemit bus = 'x'"), "group_by: [line], strategy: streaming"),
        (
            plain,
            &transform("let d = day\\nemit line = bus\\ndistinct by km\\nemit bus = 'x'\\nemit when = d"),
            "group_by: [when, line], strategy: streaming",
        ),
        (plain, cull, "group_by: [bus]"),
        (plain, reshape, "group_by: [bus]"),
        (plain, reshape, "group_by: [bus, day]"),
        ("path: s.csv", cull, "group_by: [bus]"),
        ("path: s.csv", cull, "group_by: [bus], strategy: streaming"),
        ("path: s.csv", reshape, "group_by: [bus], strategy: streaming"),
        (plain, route, "group_by: [bus]"),
        (plain, merge, "group_by: [bus]"),
        (plain, merge, "group_by: []"),
        (plain, fewer, "group_by: [bus]"),
        ("glob: '*.csv', sort_order: [bus]", "", "group_by: [bus]"),
        ("glob: '*.csv', sort_order: [bus]", "", "group_by: [bus], strategy: streaming"),
        ("glob: '*.csv', sort_order: [bus], correlation_key: day", "", "group_by: [bus]"),
        ("path: s.csv", "", "group_by: [bus]"),
        ("path: s.csv, correlation_key: bus", "", "group_by: [bus]"),
        ("path: s.csv, correlation_key: bus", "", "group_by: [bus], strategy: streaming"),
    ] {
        let input = if between.is_empty() { "s" } else { "m" };
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n- {{ type: source, name: s, config: {{ type: csv, {source}, schema: [\
             {{ name: bus, type: string }}, {{ name: day, type: int }}, {{ name: km, type: int }}] }} }}\n{between}\
             - {{ type: aggregate, name: a, input: {input}, config: {{ {asked}, cxl: 'emit n = count(*)' }} }}\n\
             - {{ type: sink, name: o, input: a, config: {{ type: csv, path: o.csv }} }}\n"
        );
        let plan = plan(&pipelines::check("p.yaml", &text).0);
        let (_, aggregate) = plan.operators().find(|(_, operator)| operator.name == "a").expect("it is there");
        let between = between.replace('\n', " ");
        shown.push_str(&format!("{source} | {between}| {asked}\n  {}, {}\n", aggregate.strategy, aggregate.buffer));
    }
    support::assert_snapshot("plan/aggregate_strategies", &shown);
}

/// Wide plans are made in a moment: as many branches as a route may have, all of them merged, twice.
#[test]
fn wide_merges() {
    let branches = |line: fn(usize) -> String| (0..255).map(line).collect::<Vec<_>>().join(", ");
    let text = format!(
        "pipeline: {{ name: wide }}\nnodes:\n\
         - {{ type: source, name: s, config: {{ type: csv, path: s.csv, schema: [{{ name: n, type: int }}] }} }}\n\
         - {{ type: route, name: r, input: s, config: {{ conditions: {{ {} }}, default: rest }} }}\n\
         - {{ type: merge, name: a, inputs: [{}] }}\n\
         - {{ type: merge, name: b, inputs: [{}, r.rest] }}\n\
         - {{ type: sink, name: x, input: a, config: {{ type: csv, path: x.csv }} }}\n\
         - {{ type: sink, name: y, input: b, config: {{ type: csv, path: y.csv }} }}\n",
        branches(|branch| format!("b{branch}: n == {branch}")),
        branches(|branch| format!("r.b{branch}")),
        branches(|branch| format!("r.b{}", 254 - branch)),
    );
    let (pipeline, _) = pipelines::check("wide.yaml", &text);
    let plan = plan(&pipeline);
    let parks = plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Park(_))).count();
    assert_eq!((parks, plan.stages.len()), (254 + 255, 1 + 254 + 255), "all inputs but the first wait");
}

/// Each merge puts a source in front of, or behind, all that the merges above it bring: nothing has to be parked.
#[test]
fn a_long_chain_of_merges_needs_no_park() {
    const MERGES: usize = 100;
    let source = |number: usize| {
        format!(
            "  - {{ type: source, name: s{number}, config: {{ type: csv, path: s{number}.csv, \
             schema: [{{ name: id, type: int }}] }} }}\n"
        )
    };
    let stages = |mode: &str, in_front: bool| {
        let mut text = format!("pipeline: {{ name: p }}\nnodes:\n{}", source(0));
        for number in 1..=MERGES {
            let above = if number == 1 { "s0".to_owned() } else { format!("m{}", number - 1) };
            let inputs = if in_front { format!("s{number}, {above}") } else { format!("{above}, s{number}") };
            text += &source(number);
            text +=
                &format!("  - {{ type: merge, name: m{number}, inputs: [{inputs}], config: {{ mode: {mode} }} }}\n");
        }
        text += &format!("  - {{ type: sink, name: out, input: m{MERGES}, config: {{ type: csv, path: out.csv }} }}\n");
        let plan = plan(&pipelines::check("p.yaml", &text).0);
        assert!(!plan.operators().any(|(_, operator)| matches!(operator.kind, OperatorKind::Park(_))), "{mode}");
        let heads = |stage: &Stage| stage.heads().map(|head| plan.operator(head).name.clone()).collect::<Vec<_>>();
        plan.stages.iter().map(heads).collect::<Vec<_>>()
    };
    let sources = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<Vec<String>> {
        numbers.map(|number| vec![format!("s{number}")]).collect()
    };
    assert_eq!(stages("concat", false), sources(&mut (0..=MERGES)));
    assert_eq!(stages("concat", true), sources(&mut (0..=MERGES).rev()));
    let together = stages("interleave", false);
    assert_eq!(together.len(), 1);
    assert_eq!(together[0].len(), 2 * MERGES + 1);
}
