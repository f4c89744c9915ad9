//! Expressions over groups: what a cull's predicate becomes, or what is said about it.

use super::types::finding_text;
use super::{analyse, around_group};
use crate::support::{assert_snapshot, path};
use clinker::analysis::print;
use proptest::prelude::*;

/// `tests/cases/analysis/*.cxl` hold one predicate a line over groups by `id` and `name`, with comments between.
fn table(name: &str, well_typed: bool) {
    let text = std::fs::read_to_string(path(&format!("tests/cases/analysis/{name}.cxl"))).expect("the table is there");
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        comment if comment.starts_with("# ") => comment.to_owned(),
        predicate => {
            let analysed = analyse(&around_group(&[predicate]));
            assert_eq!(analysed.pipeline.is_some(), well_typed, "{predicate}");
            let said = match &analysed.pipeline {
                Some(pipeline) => {
                    let printed = print::node(pipeline, &pipeline.nodes[1]);
                    let about = |line: &&str| ["  computes", "  rule"].iter().any(|start| line.starts_with(start));
                    printed.lines().filter(about).map(|line| format!("  {line}")).collect::<Vec<_>>()
                }
                None => {
                    let found = analysed.diagnostics.sorted();
                    found.iter().map(|finding| finding_text(finding, &analysed.sources)).collect()
                }
            };
            format!("{predicate}\n{}", said.join("\n"))
        }
    });
    assert_snapshot(&format!("analysis/{name}"), &lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn predicates_see_groups() {
    table("predicates", true);
}

#[test]
fn what_has_no_value_for_a_group_is_an_error() {
    table("predicate_errors", false);
}

#[test]
fn equal_aggregates_are_computed_once() {
    let analysed = analyse(&around_group(&[
        "sum(qty) > 1 and sum( qty ) < 9",
        "sum(qty) == sum(qty ?? 0)",
        "sum(if qty > 0 then 1 else 0) > 0 or sum(if qty > 0 then 1 else 0) < -5",
        "max(match note { \"a\" => 1, _ => 2 }) == max(match note { \"a\" => 1, _ => 3 })",
        "count(*) > 1 or count() > 2 or count(qty) > 3",
        "max(note.left(2)) > \"a\" and max(note.left(2)) < \"b\" and max(note.left(3)) > \"c\"",
    ]));
    let pipeline = analysed.pipeline.expect("nothing is wrong");
    let printed = print::node(&pipeline, &pipeline.nodes[1]);
    let computed: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("  computes ")).collect();
    assert_eq!(
        computed,
        [
            "sum(qty): nullable(int)",
            "sum((qty ?? 0)): nullable(int)",
            "sum((if (qty > 0) then 1 else 0)): nullable(int)",
            "max(match note { (subject == \"a\") => 1, _ => 2 }): nullable(int)",
            "max(match note { (subject == \"a\") => 1, _ => 3 }): nullable(int)",
            "count(*): int",
            "count(qty): int",
            "max(note.left(2)): nullable(string)",
            "max(note.left(3)): nullable(string)",
        ]
    );
}

/// One mistake of a cull is one finding, whatever follows from it.
#[test]
fn what_follows_from_a_mistake_is_silent() {
    let one = |from: &str, to: &str, predicates: &[&str], code: &str| {
        let text = around_group(predicates);
        assert!(text.contains(from), "{from}");
        let analysed = analyse(&text.replace(from, to));
        let found: Vec<_> =
            analysed.diagnostics.iter().map(|finding| (finding.code.as_str(), &finding.message)).collect();
        assert_eq!(found.len(), 1, "{to}: {found:#?}");
        assert_eq!(found[0].0, code, "{found:#?}");
    };
    // A group column that doesn't exist, used in predicates under either name.
    one("[id, name]", "[idd, name]", &["idd > 1", "id > 1"], "E200");
    one("[id, name]", "[id]", &["name == \"a\"", "name.upper() == \"A\" or name < \"b\""], "E200");
    // A failed aggregate inside larger expressions.
    one("", "", &["sum(note) + 1 > 2 and not (sum(id) == 3)"], "E200");
    one("", "", &["count(*) + name > 2"], "E200");
    one("", "", &["nowhere == 1", "max(nowhere) > 2"], "E203");
    // A key that is not declared is not one that must be covered.
    one("path: rows.csv", "path: rows.csv\n      correlation_key: lot", &["count(*) > 1"], "E153");
    // A failed source: nothing is said of columns below.
    one("{ name: id, type: int }", "{ name: id, type: itn }", &["sum(id) > max(id)", "max(id) > \"a\""], "E200");
}

/// Sources `a`, `b` and `c` with keys of their own, these nodes, and a sink that reads `last`.
fn between(nodes: &str) -> String {
    let source = |name: &str, columns: &str, key: &str| {
        format!(
            "  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv, schema: [{columns}], correlation_key: {key} }} }}\n"
        )
    };
    let columns = "{ name: id, type: int }, { name: lot, type: int }";
    format!(
        "pipeline: {{ name: p }}\nnodes:\n{}{}{}{nodes}  - {{ type: sink, name: out, input: last, config: {{ type: csv, path: out.csv, sort_order: [lot] }} }}\n",
        source("a", columns, "id"),
        source("b", columns, "[lot, id]"),
        source("c", "{ name: id, type: int }, { name: lots, type: int }", "id"),
    )
}

#[test]
fn what_is_below_a_merge_or_cull_that_failed_is_silent() {
    let cull = |partition: &str, predicate: &str| {
        format!(
            "  - {{ type: cull, name: last, input: m, config: {{ partition_by: {partition}, removed_to: gone, rules: [{{ name: r, drop_group_when: \"{predicate}\" }}] }} }}\n"
        )
    };
    let merge = |inputs: &str| format!("  - {{ type: merge, name: m, inputs: {inputs} }}\n");
    let below = "  - { type: transform, name: last, input: m, config: { cxl: \"emit x = what.upper()\" } }\n";
    for nodes in [
        merge("[a, missing]") + below,
        merge("[missing, a]") + &cull("[id, what]", "what > 1 and max(other) > 3"),
        merge("[a, c]") + &cull("[id, lots]", "lots > 1"),
        merge("[b, a]") + &cull("[id]", "count(*) > 1"),
        merge("[a, m]") + below,
        "  - { type: cull, name: m, input: a, config: { partition_by: [id], removed_to: m, rules: [{ name: r, drop_group_when: \"true\" }] } }\n".to_owned()
            + &below.replace("what.upper()", "lot"),
        "  - { type: cull, name: m, input: a, config: { partition_by: [id], rules: [{ name: r, drop_group_when: \"true\" }] } }\n".to_owned()
            + &below.replace("input: m", "input: m.any"),
    ] {
        let found: Vec<_> = analyse(&between(&nodes)).diagnostics.iter().map(|finding| finding.message.clone()).collect();
        assert_eq!(found.len(), 1, "{nodes}: {found:#?}");
    }
}

/// Pieces of predicates that meet in every possible way, most of them wrong.
fn predicate() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "id",
        "name",
        "qty",
        "note",
        "ok",
        "missing",
        "null",
        "true",
        "1",
        "2.5",
        "\"a\"",
        "#2024-01-31#",
        "now",
        "$vars.limit",
        "$source.row",
        "$pipeline.name",
        "count(*)",
        "sum(*)",
        "sum()",
        "price",
        "ratio",
        "day",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let op = prop::sample::select(vec!["+", "/", "==", "<", "and", "or", "??"]);
        let aggregate =
            prop::sample::select(vec!["sum", "count", "min", "max", "avg", "collect", "weighted_avg", "any", "median"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            inner.clone().prop_map(|part| format!("(not {part})")),
            (aggregate.clone(), inner.clone()).prop_map(|(name, part)| format!("{name}({part})")),
            (aggregate, inner.clone(), inner.clone())
                .prop_map(|(name, part, other)| format!("{name}({part}, {other})")),
            inner.clone().prop_map(|part| format!("({part}).length()")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, then, other)| format!("(if {test} then {then} else {other})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(subject, pattern, body)| format!("match ({subject}) {{ {pattern} => {body}, _ => true }}")),
        ]
    })
}

proptest! {
    #[test]
    fn no_predicate_panics(predicates in prop::collection::vec(predicate(), 1..4)) {
        let predicates: Vec<&str> = predicates.iter().map(String::as_str).collect();
        if let Some(pipeline) = analyse(&around_group(&predicates)).pipeline {
            print::pipeline(&pipeline);
        }
    }
}
