//! Reshapes: what they do to the types of columns, and what follows from a mistake.

use super::analyse;
use clinker::analysis::print;
use proptest::prelude::*;

/// A source, a transform, a reshape by `id` with these rules, and what stands below it, which a sink reads as `below`.
fn around(program: &str, rules: &str, below: &str) -> String {
    format!(
        "\
pipeline: {{ name: p }}
nodes:
  - type: source
    name: rows
    config:
      type: csv
      path: rows.csv
      schema:
        - {{ name: id, type: int }}
        - {{ name: qty, type: int }}
        - {{ name: price, type: decimal, scale: 2 }}
        - {{ name: share, type: float }}
        - {{ name: name, type: string }}
  - {{ type: transform, name: before, input: rows, config: {{ cxl: \"{program}\" }} }}
  - type: reshape
    name: change
    input: before
    config:
      partition_by: [id]
      rules:
{rules}
{below}
  - {{ type: sink, name: out, input: below, config: {{ type: csv, path: out.csv }} }}
"
    )
}

/// A rule that sets these columns, and a transform below.
fn setting(program: &str, set: &str) -> String {
    around(program, &rule("a", "true", set), &transform("emit seen = 1"))
}

fn rule(name: &str, when: &str, set: &str) -> String {
    format!("        - {{ name: {name}, when: \"{when}\", mutate: {{ set: {{ {set} }} }} }}\n")
}

fn transform(program: &str) -> String {
    format!("  - {{ type: transform, name: below, input: change, config: {{ cxl: \"{program}\" }} }}")
}

fn codes(text: &str) -> Vec<String> {
    analyse(text).diagnostics.sorted().iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

/// The type that a column has below the reshape.
fn type_below(text: &str, name: &str) -> String {
    let analysed = analyse(text);
    let found: Vec<_> = analysed.diagnostics.iter().map(|finding| &finding.message).collect();
    let pipeline = analysed.pipeline.unwrap_or_else(|| panic!("{found:?}"));
    let schema = &pipeline.nodes[2].ports[0].schema;
    print::ty(&schema.columns[schema.position(name).expect("the column is there")].ty)
}

#[test]
fn columns_are_as_wide_as_what_is_written_into_them() {
    let cases = [
        ("", "qty: \"qty + 1\"", "qty", "int"),
        ("", "qty: null", "qty", "nullable(int)"),
        ("", "qty: \"if qty > 1 then 1\"", "qty", "nullable(int)"),
        ("", "share: qty", "share", "float"),
        ("", "price: price", "price", "decimal(2)"),
        ("", "price: \"price + price\"", "price", "decimal(2)"),
        ("", "price: \"price * price\"", "price", "decimal"),
        ("", "price: qty", "price", "decimal"),
        ("emit none = null", "none: \"1\"", "none", "nullable(int)"),
        ("emit none = null", "none: null", "none", "null"),
        ("emit any = if qty > 1 then 1 else name", "any: \"'x'\"", "any", "any"),
        ("emit parts = name.split(',')", "parts: \"name.split(' ')\"", "parts", "array of string"),
    ];
    for (program, set, column, ty) in cases {
        assert_eq!(type_below(&setting(program, set), column), ty, "{set}");
    }
}

/// What is written into a column of nothing but nulls has one kind.
#[test]
fn rules_agree_on_the_kind_of_a_column_of_nulls() {
    let rules = rule("a", "qty > 1", "none: \"1\"") + &rule("b", "qty < 1", "none: \"'x'\"");
    let found = codes(&around("emit none = null", &rules, &transform("emit more = none")));
    assert_eq!(found, ["E200 column `none` is an int, and `set` of rule `b` gives it a string"]);
}

#[test]
fn conditions_are_compared_by_what_they_say() {
    let both = |first: &str, second: &str| {
        let rules = rule("a", first, "qty: \"1\"") + &rule("b", second, "name: \"'x'\", qty: \"2\"");
        codes(&around("filter true", &rules, &transform("filter true")))
    };
    let always = "E200 rules `a` and `b` of reshape `change` both set `qty` in the same rows";
    assert_eq!(both("qty > 1 and name == 'x'", "qty>1 and  name == 'x'"), [always]);
    assert_eq!(both("true", "true"), [always]);
    assert_eq!(both("qty > 1", "qty > 2"), [""; 0]);
    assert_eq!(both("qty > 1", "1 < qty"), [""; 0], "it is no prover");
    // Conditions that failed are not the same one.
    assert_eq!(both("qtty > 1", "qtty > 1"), ["E203 unknown name `qtty` in reshape \"change\""]);
    let rules = rule("a", "true", "qty: \"1\"") + &rule("b", "true", "name: \"'x'\"");
    assert_eq!(
        codes(&around("filter true", &rules, &transform("filter true"))),
        [""; 0],
        "they write into different columns"
    );
}

/// Each column that rules with one condition set is a finding, and only one, however many rules set it.
#[test]
fn every_column_that_rules_contest_is_one_finding() {
    let found = |rules: &[(&str, &str, &str)]| {
        let rules: String = rules.iter().map(|(name, when, set)| rule(name, when, set)).collect();
        codes(&around("filter true", &rules, &transform("filter true")))
    };
    let two = [("a", "true", "qty: \"1\", name: \"'x'\""), ("b", "true", "name: \"'y'\", qty: \"2\"")];
    let finding =
        |rules: &str, column: &str| format!("E200 rules {rules} of reshape `change` {column} in the same rows");
    let mut columns = found(&two);
    columns.sort();
    assert_eq!(columns, [finding("`a` and `b`", "both set `name`"), finding("`a` and `b`", "both set `qty`")]);
    let three = [("a", "true", "qty: \"1\""), ("b", "true", "qty: \"2\""), ("c", "true", "qty: \"3\"")];
    assert_eq!(found(&three), [finding("`a`, `b` and `c`", "all set `qty`")]);
    let (one, other) = ("qty > 1", "qty < 1");
    let pairs =
        [("a", one, "qty: \"1\""), ("b", other, "qty: \"2\""), ("c", one, "qty: \"3\""), ("d", other, "qty: \"4\"")];
    assert_eq!(found(&pairs), [finding("`a` and `c`", "both set `qty`"), finding("`b` and `d`", "both set `qty`")]);
}

#[test]
fn one_mistake_is_one_finding() {
    let one = |text: &str, code: &str| {
        let found = codes(text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert!(found[0].starts_with(code), "{found:#?}");
    };
    let rules = rule("a", "true", "qty: \"1\"");
    let narrow = "emit id = id\\nemit missing = nowhere";
    one(&around(narrow, &rules, &transform("emit x = missing.upper() + 1")), "E203");
    // Below a node that failed nothing is said of columns, nor of stamps.
    let added = "        - { name: a, when: \"$meta.synthetic and what\", synthesize: { copy_from: none, overrides: { x: \"y\" } } }";
    let text = around("filter true", added, &transform("emit x = $meta.synthetic\\nemit z = other"));
    one(&text.replace("input: rows", "input: row"), "E004");
    // A value of the wrong type, and the column that it was for.
    one(&around("filter true", &rule("a", "true", "qty: name"), &transform("emit x = qty + 1")), "E200");
    // A name that is known neither as a column nor as a value.
    one(&around("filter true", &rule("a", "true", "qty: other, name: other"), &transform("filter true")), "E203");
    // A partition that a new row is to leave, by a value that failed anyway.
    let leaves = "        - { name: a, when: \"true\", synthesize: { copy_from: trigger, overrides: { id: name } } }";
    one(&around("filter true", leaves, &transform("filter true")), "E200");
    // Rules of which one can't be read.
    let broken = rules.clone() + "        - { name: b, when: \"true\", mutate: { qty: \"1\" } }\n";
    one(&around("filter true", &broken, &transform("emit x = qty")), "E000");
    let only = "        - { name: b, when: \"true\", synthesize: { copy_from: parent } }";
    one(&around("filter true", only, &transform("emit x = other")), "E000");
}

#[test]
fn stamps_are_read_below_a_reshape_only() {
    let rules = rule("a", "true", "qty: \"1\"");
    let read = "emit made = $meta.synthetic\\nemit source = $meta.synthesized_by + $meta.mutated_by";
    assert_eq!(codes(&around("filter true", &rules, &transform(read))), [""; 0]);
    let above = codes(&around(read, &rules, &transform("filter true")));
    assert_eq!(above.len(), 3, "{above:#?}");
    assert_eq!(above[0], "E203 the rows of transform \"before\" have no `$meta.synthetic`");
    let unknown =
        codes(&around("filter true", &rules, &transform("emit x = $meta.synthesised_by\\nemit y = meta.synthetic")));
    assert_eq!(
        unknown,
        ["E203 `$meta` has no member `synthesised_by`", "E203 unknown name `meta` in transform \"below\""]
    );
    // A stamp belongs to a row: around aggregates there is none.
    let cull = "  - { type: cull, name: below, input: change, config: { partition_by: [id], removed_to: gone, rules: [{ name: r, drop_group_when: \"$meta.synthetic\" }] } }";
    assert_eq!(
        codes(&around("filter true", &rules, cull)),
        ["E200 `$meta.synthetic` belongs to a row, and a group has many"]
    );
}

/// The rows of an aggregate are new ones: its filter and its arguments read stamps, nothing behind them does.
#[test]
fn stamps_end_at_an_aggregate() {
    let rules = rule("a", "true", "qty: \"1\"");
    let read = |program: &str| {
        let aggregate = format!(
            "  - {{ type: aggregate, name: sums, input: change, config: {{ group_by: [id], cxl: \"{program}\" }} }}\n"
        );
        let above = "filter $meta.synthetic\\nlet made = $meta.synthetic\\nemit n = sum(if made then qty else 0)";
        let aggregate = aggregate.replace("ABOVE", above);
        codes(&around(
            "filter true",
            &rules,
            &(aggregate + &transform("emit x = 1").replace("input: change", "input: sums")),
        ))
    };
    assert_eq!(read("ABOVE\\nemit made = count($meta.mutated_by)"), [""; 0]);
    assert_eq!(
        read("ABOVE\\nemit made = $meta.synthetic"),
        ["E200 `$meta.synthetic` belongs to a row, and a group has many"]
    );
    let below =
        "  - { type: aggregate, name: sums, input: change, config: { group_by: [id], cxl: \"emit n = count(*)\" } }\n"
            .to_owned()
            + &transform("emit x = $meta.mutated_by").replace("input: change", "input: sums");
    assert_eq!(
        codes(&around("filter true", &rules, &below)),
        ["E203 the rows of transform \"below\" have no `$meta.mutated_by`"]
    );
}

/// Pieces of values and conditions, most of them wrong.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "id",
        "qty",
        "price",
        "share",
        "name",
        "none",
        "missing",
        "null",
        "true",
        "1",
        "2.5",
        "'a'",
        "#2024-01-31#",
        "$meta.synthetic",
        "$meta.mutated_by",
        "$doc.x",
        "$source.row",
        "sum(qty)",
        "name.split(',')",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 2, |inner| {
        let op = prop::sample::select(vec!["+", "*", "==", "<", "and", "??"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(test, then, other)| format!("(if {test} then {then} else {other})")),
        ]
    })
}

proptest! {
    #[test]
    fn no_rule_panics(
        whens in prop::collection::vec(value(), 1..3),
        values in prop::collection::vec(value(), 5),
        copies in prop::sample::select(vec!["trigger", "none"]),
    ) {
        let columns = ["id", "qty", "price", "share", "none"];
        let pairs = columns.iter().zip(&values).map(|(column, value)| format!("{column}: \"{value}\""));
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        let rules = whens.iter().enumerate().map(|(index, when)| {
            format!("        - {{ name: r{index}, when: \"{when}\", mutate: {{ set: {{ {pairs} }} }}, synthesize: {{ copy_from: {copies}, overrides: {{ {pairs} }} }} }}\n")
        });
        let text = around("emit none = null", &rules.collect::<String>(), &transform("emit all = none"));
        if let Some(pipeline) = analyse(&text).pipeline {
            print::pipeline(&pipeline);
        }
    }
}
