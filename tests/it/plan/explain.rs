//! What `--explain` prints.

use clinker::diagnostics::SourceMap;
use clinker::plan::explain::{Facts, Format, estimates, render};
use clinker::plan::physical::PhysicalPlan;

use super::passes::plan;
use super::pipelines;
use crate::support;

fn facts() -> Facts {
    let input_bytes = ["orders", "trips", "calls", "texts", "lines", "late"].map(|name| (name.to_string(), 3_200_000));
    Facts { input_bytes: input_bytes.into(), spill_root: Some("/var/spill".to_string()) }
}

#[test]
fn text() {
    let (pipeline, sources) = pipelines::chain();
    support::assert_snapshot(
        "plan/explain/chain",
        &render(&plan(&pipeline), &sources, Format::Text, &Facts::default()),
    );
    let (pipeline, sources) = pipelines::orders();
    support::assert_snapshot("plan/explain/orders", &render(&plan(&pipeline), &sources, Format::Text, &facts()));
}

#[test]
fn buffers_and_orders() {
    let pipelines = [
        ("groups", pipelines::groups()),
        ("meetings", pipelines::meetings()),
        ("turns", pipelines::turns()),
        ("summaries", pipelines::summaries()),
        ("firsts", pipelines::firsts()),
    ];
    for (name, (pipeline, sources)) in pipelines {
        let plan = plan(&pipeline);
        let show = |format| render(&plan, &sources, format, &facts());
        support::assert_snapshot(&format!("plan/explain/{name}"), &show(Format::Text));
        support::assert_snapshot(&format!("plan/explain/{name}_dot"), &show(Format::Dot));
        support::assert_snapshot(&format!("plan/explain/{name}_json"), &show(Format::Json));
    }
}

/// What goes to disk under several limits: what is cheapest first, each as a whole; half of the memory is for what is
/// filled while another buffer is emptied.
#[test]
fn spill_volumes() {
    let mut shown = String::new();
    let half_known = Facts { input_bytes: [("texts".to_string(), 3_200_000)].into(), ..facts() };
    let cases = [
        (pipelines::summaries(), [64 << 20, 20 << 20, 8 << 20, 64 << 10].as_slice(), facts()),
        (pipelines::firsts(), [64 << 20, 32 << 20].as_slice(), facts()),
        (pipelines::meetings(), [16 << 20].as_slice(), half_known),
    ];
    for ((mut pipeline, sources), limits, facts) in cases {
        for limit in limits {
            pipeline.settings.memory_limit = *limit;
            let text = render(&plan(&pipeline), &sources, Format::Text, &facts);
            let from = text.find("=== Estimated Spill Volume").expect("there are buffers");
            let section = text[from..].split("\n\n").next().expect("a section has lines");
            shown.push_str(&format!("{} {section}\n\n", pipeline.name));
        }
    }
    support::assert_snapshot("plan/explain/spill_volumes", &shown);
}

#[test]
fn json_and_yaml_are_one_document() {
    let (pipeline, sources) = pipelines::orders();
    let plan = plan(&pipeline);
    let json = render(&plan, &sources, Format::Json, &facts());
    let yaml = render(&plan, &sources, Format::Yaml, &facts());
    support::assert_snapshot("plan/explain/orders_json", &json);
    support::assert_snapshot("plan/explain/orders_yaml", &yaml);
    let document: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(document["schema_version"], 1);
    assert_eq!(yaml, serde_saphyr::to_string(&document).expect("plain data"), "the same document");
}

/// The plan of nodes below a source `s` of so many bytes.
fn of_bytes(nodes: &str, bytes: u64) -> (PhysicalPlan, SourceMap, Facts) {
    let source = "pipeline: { name: p }\nnodes:\n  - { type: source, name: s, config: { type: csv, path: s.csv, schema: \
                  [{ name: n, type: int }] } }\n";
    let (pipeline, sources) = pipelines::check("p.yaml", &format!("{source}{nodes}"));
    let facts = Facts { input_bytes: [("s".to_string(), bytes)].into(), spill_root: None };
    (plan(&pipeline), sources, facts)
}

/// The rows expected of each operator, by its label.
fn rows(nodes: &str, bytes: u64) -> Vec<(String, Option<u64>)> {
    let (plan, _, facts) = of_bytes(nodes, bytes);
    let labels = plan.operators().map(|(_, operator)| operator.label());
    labels.zip(estimates(&plan, &facts).into_iter().map(|estimate| estimate.rows)).collect()
}

/// The one row of a whole input is certain; a file of about one row is not.
#[test]
fn only_a_total_is_one_row() {
    let nodes = r#"
  - { type: sink, name: all, input: s, config: { type: csv, path: all.csv } }
  - { type: aggregate, name: sum, input: s, config: { group_by: [], cxl: "emit n = sum(n)" } }
  - { type: sink, name: total, input: sum, config: { type: csv, path: total.csv } }
"#;
    let (plan, sources, facts) = of_bytes(nodes, 5);
    let text = render(&plan, &sources, Format::Text, &facts);
    let said = |label: &str| {
        let section = text.split("=== Statistics ===").nth(1).expect("there are statistics");
        let line = section.lines().find(|line| line.trim().starts_with(label)).expect("every sink is there");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(said("output.all"), "at most about 1 row no more than source.s reads");
    assert_eq!(said("output.total"), "about 1 row one for the whole input");
}

/// A file that holds more than its header has a row at least.
#[test]
fn no_row_is_expected_only_where_none_can_be() {
    let sink = "  - { type: sink, name: o, input: s, config: { type: csv, path: o.csv } }\n";
    // A header of two bytes, and five a usual row.
    for (bytes, expected) in [(0, 0), (2, 0), (3, 1), (9, 1), (10, 2), (5000, 1000)] {
        let rows = rows(sink, bytes);
        assert_eq!(rows, [("source.s".to_owned(), Some(expected)), ("output.o".to_owned(), Some(expected))], "{bytes}");
    }
}

/// A row can go to every branch of an inclusive route, but to each of them once.
#[test]
fn an_inclusive_route_can_multiply_rows() {
    let nodes = |mode: &str| {
        format!(
            r#"
  - type: route
    name: split
    input: s
    config: {{ mode: {mode}, conditions: {{ a: n > 1, b: n > 2, c: n > 3 }}, default: d }}
  - {{ type: sink, name: a, input: split.a, config: {{ type: csv, path: a.csv }} }}
  - {{ type: merge, name: both, inputs: [split.b, split.c] }}
  - {{ type: sink, name: two, input: both, config: {{ type: csv, path: both.csv, sort_order: [n] }} }}
  - {{ type: sink, name: d, input: split.d, config: {{ type: csv, path: d.csv }} }}
"#
        )
    };
    for (mode, routed) in [("exclusive", 1000), ("inclusive", 3000)] {
        let expected = [
            ("source.s", 1000),
            ("route.split", routed),
            ("output.a", 1000),
            ("park.both.2", 1000),
            ("merge.both", 2000),
            ("sort.__sink_two", 2000),
            ("output.two", 2000),
            ("output.d", 1000),
        ];
        let mut found = rows(&nodes(mode), 5000);
        let mut expected = expected.map(|(label, rows)| (label.to_owned(), Some(rows))).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{mode}");
    }
}

#[test]
fn sizes_have_few_digits() {
    let mut shown = String::new();
    for bytes in [0, 97, 1000, 1023, 1024, 1536, 104_857, 1 << 20, 3_200_000, 512 << 20, 5 << 30, 1 << 40] {
        let (mut pipeline, sources) = pipelines::chain();
        pipeline.settings.memory_limit = bytes;
        let text = render(&plan(&pipeline), &sources, Format::Text, &Facts::default());
        let line = text.lines().find(|line| line.starts_with("  limit ")).expect("the limit is shown");
        shown.push_str(&format!("{bytes}: {}\n", line.trim()));
    }
    support::assert_snapshot("plan/explain/sizes", &shown);
}
