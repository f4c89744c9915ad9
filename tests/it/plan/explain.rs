//! What `--explain` prints.

use clinker::plan::explain::{Facts, Format, render};

use super::passes::plan;
use super::pipelines;
use crate::support;

fn facts() -> Facts {
    Facts { input_bytes: [("orders".to_string(), 3_200_000)].into() }
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
    for (name, (pipeline, sources)) in [("groups", pipelines::groups()), ("meetings", pipelines::meetings())] {
        let plan = plan(&pipeline);
        let show = |format| render(&plan, &sources, format, &Facts::default());
        support::assert_snapshot(&format!("plan/explain/{name}"), &show(Format::Text));
        support::assert_snapshot(&format!("plan/explain/{name}_dot"), &show(Format::Dot));
        support::assert_snapshot(&format!("plan/explain/{name}_json"), &show(Format::Json));
    }
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
