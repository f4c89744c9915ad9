//! What `--explain` prints.

use clinker::diagnostics::SourceMap;
use clinker::plan::explain::{Facts, Format, Input, estimates, render};
use clinker::plan::physical::PhysicalPlan;

use super::passes::plan;
use super::pipelines;
use crate::support;

/// An input of which only the size is known.
fn sized(bytes: u64) -> Input {
    Input { bytes, sample: None }
}

fn facts() -> Facts {
    let inputs =
        ["orders", "trips", "calls", "texts", "lines", "late"].map(|name| (name.to_string(), sized(3_200_000)));
    Facts { inputs: inputs.into(), spill_root: Some("/var/spill".to_string()) }
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

#[test]
fn what_ends_an_order_is_said() {
    let order = |config: &str| {
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      type: csv\n      \
             path: rows.csv\n      schema: [{{ name: id, type: int }}, {{ name: day, type: date }}]\n      \
             sort_order: [id, day]\n  - {{ type: transform, name: t, input: rows, config: {{ {config} }} }}\n  \
             - {{ type: sink, name: out, input: t, config: {{ type: csv, path: out.csv }} }}\n"
        );
        let (pipeline, sources) = pipelines::check("p.yaml", &text);
        let shown = render(&plan(&pipeline), &sources, Format::Text, &Facts::default());
        shown.lines().find_map(|line| line.split_once("; no longer by ")).map(|(_, end)| end.to_owned())
    };
    assert_eq!(order("cxl: \"emit day = null\"").as_deref(), Some("day, which is written here"));
    let dropped = order("include_unmapped: false, cxl: \"emit id = id\"");
    assert_eq!(dropped.as_deref(), Some("day, which is dropped here"));
    // Under another name it is still there.
    assert_eq!(order("include_unmapped: false, cxl: \"emit id = id\\nemit start = day\""), None);
}

/// What goes to disk under several limits: what is cheapest first, each as a whole; half of the memory is for what is
/// filled while another buffer is emptied.
#[test]
fn spill_volumes() {
    let mut shown = String::new();
    let half_known = Facts { inputs: [("texts".to_string(), sized(3_200_000))].into(), ..facts() };
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
    assert_eq!(document["schema_version"], 2);
    assert_eq!(yaml, serde_saphyr::to_string(&document).expect("plain data"), "the same document");
}

/// The plan of nodes below a source `s` of so many bytes.
fn of_bytes(nodes: &str, bytes: u64) -> (PhysicalPlan, SourceMap, Facts) {
    let source = "pipeline: { name: p }\nnodes:\n  - { type: source, name: s, config: { type: csv, path: s.csv, schema: \
                  [{ name: n, type: int }] } }\n";
    let (pipeline, sources) = pipelines::check("p.yaml", &format!("{source}{nodes}"));
    let facts = Facts { inputs: [("s".to_string(), sized(bytes))].into(), spill_root: None };
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
    assert_eq!(said("output.all"), "at most 1 row no more than source.s reads");
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
    // Behind a route there may be fewer rows, so it is the most that count: short rows of three bytes.
    for (mode, routed) in [("exclusive", 2000), ("inclusive", 6000)] {
        let expected = [
            ("source.s", 1200),
            ("route.split", routed),
            ("output.a", 2000),
            ("park.both.2", 2000),
            ("merge.both", 4000),
            ("sort.__sink_two", 4000),
            ("output.two", 4000),
            ("output.d", 2000),
        ];
        let mut found = rows(&nodes(mode), 6000);
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

/// Nodes below `s` that hold all rows as one group, or as many.
fn holding(partition: &str) -> String {
    format!(
        r#"
  - {{ type: cull, name: gate, input: s, config: {{ partition_by: [{partition}], removed_to: gone, rules: [{{ name: r, drop_group_when: "count(*) > 3" }}] }} }}
  - {{ type: sink, name: gone, input: gate.gone, config: {{ type: csv, path: gone.csv }} }}
  - {{ type: transform, name: some, input: gate, config: {{ cxl: "filter n > 3\nemit m = n" }} }}
  - {{ type: reshape, name: shape, input: some, config: {{ partition_by: [{partition}], rules: [{{ name: r, when: "n > 3", mutate: {{ set: {{ m: "3" }} }} }}] }} }}
  - {{ type: sink, name: out, input: shape, config: {{ type: csv, path: out.csv }} }}
"#
    )
}

/// A whole input that is one group has to fit; that it will not is said before a run, where it can be told.
#[test]
fn one_group_that_will_not_fit_is_named() {
    let said = |partition: &str, limit: u64| {
        let (mut plan, sources, facts) = of_bytes(&holding(partition), 60 << 20);
        plan.settings.memory_limit = limit;
        let text = render(&plan, &sources, Format::Text, &facts);
        let memory = text.split("=== Memory ===").nth(1).expect("something is held");
        let lines: Vec<String> = memory
            .lines()
            .filter(|line| line.contains("will not fit"))
            .map(|line| format!("{}\n", line.trim()))
            .collect();
        let json: serde_json::Value =
            serde_json::from_str(&render(&plan, &sources, Format::Json, &facts)).expect("it is JSON");
        assert_eq!(json["memory"]["over_limit"].as_array().map(Vec::len), Some(lines.len()));
        lines.concat()
    };
    support::assert_snapshot("plan/explain/one_group", &said("", 16 << 20));
    assert_eq!(said("", 4 << 30), "", "it fits");
    assert_eq!(said("n", 16 << 20), "", "each group is small");
}

/// What programs read of a plan.
#[test]
fn json_says_what_is_held_where() {
    let (pipeline, sources) = pipelines::meetings();
    let json = render(&plan(&pipeline), &sources, Format::Json, &facts());
    let document: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let edges = document["edges"].as_array().expect("a list");
    let waiting: Vec<_> = edges.iter().filter(|edge| edge["buffer"] == "materialized").collect();
    assert!(!waiting.is_empty() && waiting.len() < edges.len());
    for edge in waiting {
        assert_eq!(edge["slot"], edge["to"], "a park");
        assert!(edge["predicted_bytes"].as_u64() > Some(1_000_000), "{edge}");
    }
    assert!(edges.iter().filter(|edge| edge["buffer"] == "streaming").all(|edge| edge["slot"].is_null()));
    let properties = document["node_properties"].as_object().expect("by label");
    for (label, node) in properties {
        for field in ["ordering", "ck_set", "buffer", "priority"] {
            assert!(node.get(field).is_some(), "{label}: {field}");
        }
        for figure in ["held", "peak", "freed", "reclaim"] {
            assert!(node[format!("predicted_{figure}_bytes")].is_u64(), "{label}: {figure}");
        }
    }
    let storage = &document["storage_summary"];
    assert_eq!(
        (&storage["spill_compression"]["mode"], &storage["estimated_spill"]["total"]),
        (&"auto".into(), &0.into())
    );
    assert_eq!(storage["spill_compression"]["per_stage"]["dead_letters"], "lz4");
}

/// Dead letters have to wait where a later stage may have some that belong in front of them, and only there.
#[test]
fn dead_letters_that_wait_are_a_consumer() {
    let sink = "  - { type: sink, name: o, input: s, config: { type: csv, path: o.csv } }\n";
    let sorted = "  - { type: sink, name: o, input: s, config: { type: csv, path: o.csv, sort_order: [n] } }\n";
    let written = "error_handling: { strategy: continue, dlq: { path: dlq.csv } }\n";
    for (nodes, errors, waits) in [(sink, written, false), (sorted, written, true), (sorted, "", false)] {
        let (plan, sources, facts) = of_bytes(&format!("{nodes}{errors}"), 6000);
        assert_eq!(plan.dead_letters.consumer.is_some(), waits, "{nodes}{errors}");
        let text = render(&plan, &sources, Format::Text, &facts);
        for section in ["Estimated Spill Volume", "Spill compression", "Memory"] {
            let shown = text.split(&format!("=== {section} ===")).nth(1).unwrap_or_default();
            let shown = shown.split("\n\n").next().unwrap_or_default();
            assert_eq!(shown.contains("dead_letters"), waits, "{section}: {text}");
        }
    }
}
