//! One mistake, one report: what failed silences its followers. And no input panics.

use super::{analyse, around};
use proptest::prelude::*;

/// The codes and messages of a pipeline.
fn found(text: &str) -> Vec<String> {
    analyse(text).diagnostics.sorted().iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

#[test]
fn uses_of_what_failed_are_silent() {
    let programs = [
        // A failed let, used in every way.
        "let a = id + name\nemit b = a + 1\nemit c = a.upper()\nfilter a\ndistinct by a\nemit d = a > day",
        // A failed emit, read by a later one.
        "emit a = id + name\nemit b = a.upper() + 1\nemit c = if a then a else 1",
        // Inside larger expressions.
        "emit a = ((id + name) * 2).upper() ?? 1",
        "emit a = match (id + name) { 1 => \"x\", \"y\" => 2, _ => day }",
        "emit a = name.left(id + name).upper()",
        // A failed column that replaces one of the input.
        "emit day = id + name\nemit b = 1",
    ];
    for program in programs {
        let found = found(&around(program));
        assert_eq!(found.len(), 1, "{program}: {found:#?}");
    }
}

/// What an anchor marks is read for each of its aliases.
#[test]
fn a_mistake_behind_an_anchor_is_reported_once() {
    let marked = |value: &str| {
        let transform = |name: &str, config: &str| {
            format!("  - {{ type: transform, name: {name}, input: rows, config: {config} }}\n")
        };
        let sink = |name| {
            format!(
                "  - {{ type: sink, name: {name}_out, input: {name}, config: {{ type: csv, path: {name}.csv }} }}\n"
            )
        };
        let nodes = transform("u", &format!("&shared {value}")) + &transform("v", "*shared");
        found(&(around("emit x = 1") + &nodes + &sink("u") + &sink("v")))
    };
    let cases = [
        ("{ cxl: \"emit y = idx + 1\" }", "E203"),
        ("{ cxl: \"emit y = id + name\" }", "E200"),
        ("{ cxl: \"emit y = 1\", validations: [{ check: not_empty, field: nam }] }", "E203"),
        ("{ cxl: \"let y = 1\" }", "W204"),
    ];
    for (value, code) in cases {
        let found = marked(value);
        assert!(found.len() == 1 && found[0].starts_with(code), "{value}: {found:#?}");
    }
    // Two mistakes at one place are two.
    let found = marked("{ cxl: \"emit y = idx + nam\" }");
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn an_unknown_name_is_reported_once_a_node() {
    let found = found(&around("let a = colour\nfilter colour > 1\nemit b = colour + a"));
    assert_eq!(found, ["E203 unknown name `colour` in transform \"t\""]);
}

#[test]
fn columns_that_failed_are_silent_below() {
    let below = "  - { type: transform, name: u, input: t, config: { cxl: \"emit y = x.upper() + 1\" } }\n";
    let text = around("emit x = id + name").replace("  - type: sink", &format!("{below}  - type: sink"));
    assert_eq!(found(&text).len(), 1);
}

#[test]
fn independent_mistakes_are_all_reported() {
    let program = "emit a = id + name\nemit b = name > 5\nemit c = id.upper()\nemit d = colour\nfilter id";
    assert_eq!(found(&around(program)).len(), 5);
}

#[test]
fn a_statement_that_does_not_parse_silences_names() {
    assert_eq!(found(&around("let a = = 1\nemit b = a + 1")).len(), 1);
    assert_eq!(found(&around("let a = = 1\nlet b = a + 1")).len(), 1);
    let below = "  - { type: transform, name: u, input: t, config: { cxl: \"emit y = z + 1\" } }\n";
    let text = around("emit z = = 1").replace("  - type: sink", &format!("{below}  - type: sink"));
    assert_eq!(found(&text).len(), 1);
}

/// What a statement was to bind has the error type, in the program and below it; other mistakes there are still told.
#[test]
fn names_whose_values_do_not_parse_are_silent() {
    let below =
        "  - { type: transform, name: u, input: t, config: { cxl: \"emit y = id + '!'\\nemit z = nowhere\" } }\n";
    for broken in ["emit id = id.to_string() +", "emit id = id.to_string(", "emit id = if id > 1 then 'a' els 'b'"] {
        let text = around(&format!("{broken}\nlet a = id +\nemit b = a.upper() + 1\nemit c = a ?? somewhere"));
        let found = found(&text.replace("  - type: sink", &format!("{below}  - type: sink")));
        let codes: Vec<&str> = found.iter().map(|finding| &finding[..4]).collect();
        assert_eq!(codes, ["E202", "E202", "E203", "E203"], "{broken}: {found:#?}");
    }
}

#[test]
fn what_is_below_a_node_that_failed_is_silent() {
    let nodes = |broken: &str| {
        format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, path: s.csv, schema: [ {{ name: id, type: int }} ] }} }}\n  - {broken}\n  - {{ type: transform, name: t, input: b, config: {{ cxl: \"emit x = total.upper() + 1\" }} }}\n  - {{ type: sink, name: o, input: t, config: {{ type: csv, path: o.csv, mapping: [ what ], include_unmapped: false }} }}\n"
        )
    };
    for broken in [
        "{ type: combine, name: b, input: { s: s }, config: { where: \"true\", cxl: \"emit total = s.id\" } }",
        "{ type: transform, name: b, input: missing, config: { cxl: \"emit total = id\" } }",
        "{ type: transform, name: b, input: s, config: { include_unmapped: true } }",
        "{ type: transform, name: b, input: s, config: { cxl: \"emit each x in id { emit total = x }\" } }",
    ] {
        let found = found(&nodes(broken));
        assert_eq!(found.len(), 1, "{broken}: {found:#?}");
    }
}

#[test]
fn long_chains_of_nodes_and_operators_are_no_danger() {
    let mut text = around("emit x = 1");
    text = text.replace("    input: t\n", "    input: n4999\n");
    for index in 0..5000 {
        let input = if index == 0 { "t".to_owned() } else { format!("n{}", index - 1) };
        text.push_str(&format!(
            "  - {{ type: transform, name: n{index}, input: {input}, config: {{ cxl: \"filter true\" }} }}\n"
        ));
    }
    assert_eq!(found(&text), Vec::<String>::new());
    let sum = vec!["1"; 450].join(" + ");
    assert_eq!(found(&around(&format!("emit x = {sum}"))), Vec::<String>::new());
}

/// Pieces of CXL that meet in every possible way, most of them wrong.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "id",
        "qty",
        "ratio",
        "price",
        "name",
        "note",
        "ok",
        "day",
        "at",
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
        "$pipeline.nope",
        "_",
        "it",
        "name.upper",
        "rows.id",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let op = prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "<", ">=", "and", "or", "??"]);
        let methods = clinker::analysis::functions::Function::ALL;
        let method = prop::sample::select(methods.iter().map(|method| method.name()).collect::<Vec<_>>());
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            inner.clone().prop_map(|part| format!("(not {part})")),
            inner.clone().prop_map(|part| format!("(-{part})")),
            (inner.clone(), method.clone()).prop_map(|(part, method)| format!("({part}).{method}()")),
            (inner.clone(), method, inner.clone())
                .prop_map(|(part, method, arg)| format!("({part}).{method}({arg}, {arg})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, then, other)| format!("(if {test} then {then} else {other})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(subject, pattern, body)| format!("match ({subject}) {{ {pattern} => {body}, _ => 1 }}")),
            (inner.clone(), inner).prop_map(|(guard, body)| format!("match {{ {guard} => {body}, _ => null }}")),
        ]
    })
}

proptest! {
    #[test]
    fn no_program_panics(parts in prop::collection::vec(expression(), 1..4)) {
        let [first, rest @ ..] = parts.as_slice() else { unreachable!("at least one part") };
        let mut program = format!("let a = {first}\nemit b = a\nfilter {first}\ndistinct by a");
        for part in rest {
            program.push_str(&format!("\nemit b = {part}\n{part} ?? b"));
        }
        analyse(&around(&program));
    }
}
