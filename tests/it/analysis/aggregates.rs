//! Aggregates: what their programs become, which mistakes silence which, and where an order is proven.

use super::{Analysed, TAIL, analyse, around_group};
use clinker::analysis::hir::{self, Aggregation, ExprKind, NodeKind, OutputColumn, Statement};
use clinker::analysis::orders;
use clinker::analysis::print;
use proptest::prelude::*;

/// The pipeline of a source with columns of every type, with an aggregate by `id` and `name` that runs this program.
fn around(program: &str) -> String {
    with(&format!("group_by: [id, name]\n      cxl: |\n        {}", program.replace('\n', "\n        ")))
}

/// The same with this config.
fn with(config: &str) -> String {
    let head = around_group(&["true"]);
    let head = head.split("  - type: cull").next().expect("the cull is the second node");
    format!("{head}  - type: aggregate\n    name: t\n    input: rows\n    config:\n      {config}\n{TAIL}")
}

fn aggregation(analysed: &Analysed) -> &Aggregation {
    let found: Vec<_> = analysed.diagnostics.iter().map(|finding| &finding.message).collect();
    let pipeline = analysed.pipeline.as_ref().unwrap_or_else(|| panic!("{found:?}"));
    let kind = pipeline.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Aggregate(aggregation) => Some(aggregation),
        _ => None,
    });
    kind.expect("there is an aggregate")
}

/// What is found, as `E200 message`.
fn found(text: &str) -> Vec<String> {
    analyse(text).diagnostics.sorted().iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

/// What holds of every aggregate that analysis lets pass, and what the planner and the run rely on.
fn holds_together(pipeline: &hir::Pipeline) {
    for node in &pipeline.nodes {
        let NodeKind::Aggregate(Aggregation { rows, grouped, key, aggregates, results, groups, .. }) = &node.kind
        else {
            continue;
        };
        let input = &pipeline.node(node.inputs[0].node).ports[node.inputs[0].port].schema;
        assert_eq!(rows.output.len(), grouped.columns.len());
        for (position, (origin, column)) in rows.output.iter().zip(&grouped.columns).enumerate() {
            let ty = match origin {
                OutputColumn::Input(origin) => &input.columns[*origin].ty,
                OutputColumn::Emit(slot) => &rows.emits[*slot].ty,
            };
            assert_eq!(*ty, column.ty);
            assert_eq!(matches!(origin, OutputColumn::Input(_)), position < *key);
        }
        let behind_lets = rows.statements.iter().skip_while(|statement| !matches!(statement, Statement::Emit { .. }));
        assert!(behind_lets.clone().all(|statement| matches!(statement, Statement::Emit { .. })));
        assert_eq!(behind_lets.count(), rows.emits.len());
        let args = aggregates.iter().flat_map(|aggregate| &aggregate.args);
        args.for_each(|arg| match arg.kind {
            ExprKind::Column(column) => assert!(column >= *key && grouped.columns[column].ty == arg.ty),
            _ => panic!("an argument is a column"),
        });
        assert_eq!(groups.columns.len(), key + aggregates.len());
        assert_eq!(groups.columns[..*key], grouped.columns[..*key]);
        assert!(groups.columns[*key..].iter().zip(aggregates).all(|(column, aggregate)| column.ty == aggregate.ty));
        let only = |statement: &Statement| matches!(statement, Statement::Emit { .. } | Statement::Let { .. });
        assert!(results.statements.iter().all(only));
        let mut lets = 0;
        for statement in &results.statements {
            statement.exprs().into_iter().for_each(|expr| reads(expr, groups, lets));
            lets += usize::from(matches!(statement, Statement::Let { slot, .. } if *slot == lets));
        }
        assert_eq!(lets, results.lets.len());
        let output = &node.ports[0].schema;
        assert_eq!(results.output.len(), output.columns.len());
        for (origin, column) in results.output.iter().zip(&output.columns) {
            match origin {
                OutputColumn::Input(origin) => assert_eq!(groups.columns[*origin], *column),
                OutputColumn::Emit(slot) => assert_eq!(results.emits[*slot].ty, column.ty),
            }
        }
    }
}

/// An expression over groups reads only columns of a group, lets above it, and nothing of a row.
fn reads(expr: &hir::Expr, groups: &hir::Schema, lets: usize) {
    match expr.kind {
        ExprKind::Column(column) => assert_eq!(groups.columns[column].ty, expr.ty),
        ExprKind::Let(slot) => assert!(slot < lets),
        ExprKind::Variable(variable) => assert!(!matches!(
            variable,
            hir::Variable::SourceFile | hir::Variable::SourceName | hir::Variable::SourceRow
        )),
        _ => {}
    }
    expr.children().into_iter().for_each(|child| reads(child, groups, lets));
}

#[test]
fn arguments_that_say_the_same_are_one() {
    let program = "let net = price * qty\nemit a = sum(net) + avg( net )\nemit b = max(price*qty)\nemit c = min(net) \
                   ?? sum(qty).to_decimal()\nemit d = weighted_avg(ratio, qty)\nemit e = weighted_avg(ratio, temp)";
    let analysed = analyse(&around(program));
    let aggregation = aggregation(&analysed);
    let names = |columns: &[hir::Column]| columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&aggregation.grouped.columns),
        ["id", "name", "net", "price * qty", "qty", "ratio", "qty", "temp"]
    );
    // A row whose argument fails names the emit that the argument stands in first.
    let emits: Vec<&str> = aggregation.rows.emits.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(emits, ["a", "b", "c", "d", "d", "e"]);
    assert_eq!(
        names(&aggregation.groups.columns),
        [
            "id",
            "name",
            "sum(net)",
            "avg(net)",
            "max(price * qty)",
            "min(net)",
            "sum(qty)",
            "weighted_avg(ratio, qty)",
            "weighted_avg(ratio, temp)"
        ]
    );
    holds_together(analysed.pipeline.as_ref().expect("nothing is wrong"));
}

/// A let that grows twofold with each step is still computed once a step.
#[test]
fn lets_over_the_key_are_computed_once_a_group() {
    let mut program = String::from("let a0 = id\n");
    for step in 1..60 {
        program += &format!("let a{step} = a{} + a{}\n", step - 1, step - 1);
    }
    let analysed = analyse(&around(&format!("{program}emit x = a59\nemit y = a3")));
    let aggregation = aggregation(&analysed);
    assert_eq!(aggregation.results.lets.len(), 60);
    assert_eq!(aggregation.results.statements.len(), 62);
    holds_together(analysed.pipeline.as_ref().expect("nothing is wrong"));
}

#[test]
fn only_lets_that_an_emit_needs_are_computed_for_groups() {
    let program =
        "let a = id\nlet b = name\nlet c = qty\nlet a = a + 1\nemit x = a\nlet b = b + \"!\"\nemit n = sum(c)";
    let analysed = analyse(&around(program));
    let lets: Vec<&str> = aggregation(&analysed).results.lets.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(lets, ["a", "a"]);
    assert_eq!(aggregation(&analysed).rows.lets.len(), 5);
}

/// A null is compared as in a transform; only a cull's predicates know nothing of it.
#[test]
fn null_equals_null() {
    let analysed = analyse(&around("emit none = max(qty) == null\nemit other = max(qty) != 3"));
    let types: Vec<String> = aggregation(&analysed).results.emits.iter().map(|slot| print::ty(&slot.ty)).collect();
    assert_eq!(types, ["bool", "bool"]);
}

#[test]
fn what_follows_from_a_mistake_is_silent() {
    let one = |text: &str, code: &str| {
        let found = found(text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert!(found[0].starts_with(code), "{found:#?}");
    };
    // A group column that doesn't exist, used under either name, in lets and below.
    one(
        &with("group_by: [idd, name]\n      cxl: \"let a = id\\nemit x = id + idd\\nemit y = a\\nemit z = name\""),
        "E200",
    );
    one(&with("group_by: [id, id]\n      cxl: \"emit x = id\""), "E200");
    // What failed, used further down in either zone.
    one(&around("let a = id + name\nemit x = a\nemit y = sum(a)\nemit z = max(a) + a"), "E200");
    one(&around("let a = sum(qty)\nemit x = a + 1\nfilter a > 3\nemit y = max(a)"), "E381");
    one(&around("emit x = sum(note)\nemit y = x + 1\nemit z = x.upper()"), "E200");
    one(&around("emit x = qty\nemit y = qty + 1\nlet a = 1\nemit z = qty"), "E200");
    one(&around("let a = qty\nlet b = a\nemit x = b\nemit y = b + 1"), "E200");
    one(&around("emit x = missing\nemit y = sum(missing)\nlet a = missing"), "E203");
    one(&around("let a = = 1\nemit b = a + 1\nemit c = sum(a) + a"), "E202");
    // A failed aggregate silences what is below it.
    let below = "  - { type: aggregate, name: u, input: t, config: { group_by: [x], cxl: \"emit y = sum(x) + x\" } }\n";
    let above = |config: &str| with(config).replace("  - type: sink", &format!("{below}  - type: sink"));
    one(&above("group_by: [id]\n      cxl: \"emit x = sum(note)\""), "E200");
    one(&above("group_by: [x]\n      cxl: \"emit n = count(*)\""), "E200");
    one(&above("group_by: []\n      cxl: \"filter qty > 1\""), "E200");
    one(&above("group_by: [id]\n      cxl: \"emit each x in note.split(',') { emit x = x }\""), "E381");
    // The order is no second mistake.
    one(&with("group_by: [id]\n      strategy: streaming\n      cxl: \"emit x = sum(note)\""), "E200");
}

/// A source in the order of `region`, then `day`, these nodes, and an aggregate that reads `last` and groups by these
/// columns.
fn ordered(source: &str, nodes: &str, group_by: &str) -> String {
    format!(
        "pipeline: {{ name: p }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      type: csv\n      path: \
         rows.csv\n      schema: [{{ name: day, type: date }}, {{ name: region, type: string }}, {{ name: qty, type: int \
         }}, {{ name: note, type: string }}]\n      {source}\n{nodes}\n  - {{ type: aggregate, name: a, input: last, config: {{ group_by: {group_by}, cxl: \
         \"emit n = count(*)\" }} }}\n  - {{ type: sink, name: o, input: a, config: {{ type: csv, path: o.csv }} }}\n"
    )
}

/// Whether the rows of the aggregate's groups are proven to stand side by side, so that it can stream;
/// `strategy: streaming` is refused exactly if not.
fn streams(source: &str, nodes: &str, group_by: &str) -> bool {
    let text = ordered(source, nodes, group_by);
    let analysed = analyse(&text);
    let aggregation = aggregation(&analysed);
    let pipeline = analysed.pipeline.as_ref().expect("it has an aggregate");
    let node = pipeline.nodes.iter().find(|node| node.name == "a").expect("it is there");
    let NodeKind::Aggregate(last) = &node.kind else { unreachable!("it is an aggregate: {aggregation:?}") };
    let (rows, columns) = (orders::arrangement(pipeline, &node.inputs[0]), orders::group_by(last));
    let proven = rows.is_ordered_by(&columns) || rows.is_grouped_by(&columns);
    let refused = found(&text.replace("input: last, config: {", "input: last, config: { strategy: streaming,"));
    assert_eq!(refused.is_empty(), proven, "{text}: {refused:#?}");
    assert!(refused.iter().all(|finding| finding.starts_with("E151")), "{refused:#?}");
    proven
}

const ORDER: &str = "sort_order: [region, { field: day, order: desc, null_order: first }]";

/// A transform called `last` with this program.
fn transform(input: &str, program: &str) -> String {
    format!("  - {{ type: transform, name: last, input: {input}, config: {{ cxl: \"{program}\" }} }}")
}

/// A reshape called `last`.
fn reshape(config: &str) -> String {
    format!(
        "  - {{ type: reshape, name: last, input: rows, config: {{ {config}, rules: [{{ name: r, when: \"qty > 1\", synthesize: {{ copy_from: trigger, overrides: {{ note: \"'new'\" }} }} }}] }} }}"
    )
}

/// A reshape called `last` that adds no rows.
fn mutating(config: &str, set: &str) -> String {
    format!(
        "  - {{ type: reshape, name: last, input: rows, config: {{ {config}, rules: [{{ name: r, when: \"qty > 1\", mutate: {{ set: {{ {set} }} }} }}] }} }}"
    )
}

/// A cull whose removed groups are `last`.
fn cull(config: &str) -> String {
    format!(
        "  - {{ type: cull, name: c, input: rows, config: {{ {config}, removed_to: gone, rules: [{{ name: r, drop_group_when: \"count(*) > 1\" }}] }} }}\n{}",
        transform("c.gone", "filter qty > 1")
    )
}

#[test]
fn an_order_covers_the_columns_that_it_begins_with() {
    let nothing = transform("rows", "emit more = qty");
    assert!(streams(ORDER, &nothing, "[region]"));
    assert!(streams(ORDER, &nothing, "[region, day]"));
    assert!(streams(ORDER, &nothing, "[day, region]"));
    assert!(streams(ORDER, &nothing, "[]"));
    assert!(!streams(ORDER, &nothing, "[day]"));
    assert!(!streams(ORDER, &nothing, "[region, qty]"));
    assert!(!streams(ORDER, &nothing, "[region, day, qty]"));
    assert!(!streams("", &nothing, "[region]"));
    assert!(streams("", &nothing, "[]"));
}

#[test]
fn a_correlation_key_gives_an_order() {
    let nothing = transform("rows", "emit more = qty");
    assert!(streams("correlation_key: qty", &nothing, "[qty]"));
    assert!(streams("correlation_key: [qty, day]", &nothing, "[day, qty]"));
    // The key comes first, then the rest of what is declared.
    let source = format!("correlation_key: [day]\n      {ORDER}");
    assert!(streams(&source, &nothing, "[day]"));
    assert!(streams(&source, &nothing, "[day, region]"));
    // A declared order that begins with the key stands.
    let source = format!("correlation_key: [region]\n      {ORDER}");
    assert!(streams(&source, &nothing, "[region, day]"));
    assert!(!streams(&source, &nothing, "[region, qty]"));
    // A key's column that was written is not the one that rows are sorted by.
    assert!(!streams("correlation_key: [qty]", &transform("rows", "emit qty = qty + 1"), "[qty]"));
}

#[test]
fn an_order_ends_where_it_can_be_broken() {
    for kept in [
        transform("rows", "filter qty > 0\\ndistinct\\nemit qty = 1"),
        format!(
            "  - {{ type: route, name: r, input: rows, config: {{ conditions: {{ big: \"qty > 3\" }}, default: rest }} }}\n{}",
            transform("r.rest", "filter true")
        ),
        format!("  - {{ type: merge, name: m, inputs: [rows] }}\n{}", transform("m", "filter true")),
        cull("partition_by: [day, region]"),
        cull("partition_by: [region]"),
        cull("partition_by: []"),
        cull("partition_by: [region, day], order_by: [qty]"),
        transform("rows", "emit day = day"),
        transform("rows", "let d = day\\nfilter qty > 0\\ndistinct by region\\nemit day = d\\nemit region = region"),
        reshape("partition_by: [day, region]"),
        mutating("partition_by: [region]", "qty: \"1\""),
        mutating("partition_by: []", "qty: \"1\""),
        "  - { type: aggregate, name: last, input: rows, config: { group_by: [region, day], cxl: \"emit n = count(*)\\nemit day = day\" } }".to_owned(),
        "  - { type: aggregate, name: last, input: rows, config: { group_by: [qty, day, region], cxl: \"emit n = count(*)\" } }".to_owned(),
        "  - { type: aggregate, name: last, input: rows, config: { group_by: [day, region], strategy: hash, cxl: \"emit n = count(*)\" } }".to_owned(),
    ] {
        assert!(streams(ORDER, &kept, "[region, day]"), "{kept}");
    }
    for broken in [
        transform("rows", "emit day = day ?? #2024-01-01#"),
        transform("rows", "emit day = (if qty > 0 then day else day)"),
        format!("  - {{ type: merge, name: m, inputs: [rows, rows] }}\n{}", transform("m", "filter true")),
        format!(
            "  - {{ type: merge, name: m, inputs: [rows, rows], config: {{ mode: interleave }} }}\n{}",
            transform("m", "filter true")
        ),
        cull("partition_by: [region], order_by: [day]"),
        cull("partition_by: [day]"),
        cull("partition_by: [qty]"),
        "  - { type: aggregate, name: last, input: rows, config: { group_by: [day, region], cxl: \"emit day = max(day)\" } }".to_owned(),
        reshape("partition_by: [region]"),
        reshape("partition_by: [qty]"),
        mutating("partition_by: [region]", "day: \"day\""),
        mutating("partition_by: [region], order_by: [day]", "qty: \"1\""),
        mutating("partition_by: [qty]", "note: \"'x'\""),
    ] {
        assert!(!streams(ORDER, &broken, "[region, day]"), "{broken}");
    }
    // What is written behind the columns that count does no harm.
    assert!(streams(ORDER, &transform("rows", "emit day = 1"), "[region]"));
}

/// Statements that meet in every possible way, most of them wrong.
fn statement() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "id",
        "name",
        "qty",
        "note",
        "x",
        "y",
        "z",
        "missing",
        "null",
        "1",
        "\"a\"",
        "now",
        "$source.row",
        "count(*)",
        "sum()",
        "price",
        "$vars.limit",
        "$pipeline.name",
        "true",
    ]);
    let expr = leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let op = prop::sample::select(vec!["+", "/", "==", "<", "and", "??"]);
        let call = prop::sample::select(vec!["sum", "count", "min", "max", "avg", "collect", "mean", "any"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            (call, inner.clone()).prop_map(|(name, part)| format!("{name}({part})")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("weighted_avg({left}, {right})")),
            inner.clone().prop_map(|part| format!("({part}).to_string()")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("(if {a} == {b} then {b} else {c})")),
        ]
    });
    let start = prop::sample::select(vec![
        "emit x = ",
        "emit y = ",
        "emit id = ",
        "emit qty = ",
        "let x = ",
        "let z = ",
        "let id = ",
        "filter ",
        "",
    ]);
    prop_oneof![
        20 => (start, expr).prop_map(|(start, expr)| format!("{start}{expr}")),
        1 => prop::sample::select(vec!["distinct", "distinct by x", "emit $pipeline.x = 1", "trace \"x\""])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn no_program_panics(statements in prop::collection::vec(statement(), 0..6)) {
        let analysed = analyse(&around(&statements.join("\n")));
        if let Some(pipeline) = analysed.pipeline {
            holds_together(&pipeline);
            print::pipeline(&pipeline);
        }
    }
}

#[test]
fn a_column_that_is_emitted_as_it_is_keeps_its_order() {
    let renamed = transform("rows", "emit place = region\\nemit again = region\\nemit when = day");
    for group_by in ["[place]", "[region]", "[again, place, region]", "[when, place]", "[day, region]", "[again, day]"]
    {
        assert!(streams(ORDER, &renamed, group_by), "{group_by}");
    }
    assert!(!streams(ORDER, &renamed, "[when]"));
    assert!(!streams(ORDER, &renamed, "[place, qty]"));
    // Another column takes the name, the first one goes on under another.
    let swapped = transform("rows", "emit day = day\\nemit region = qty.to_string()\\nemit place = region");
    assert!(streams(ORDER, &swapped, "[place, day]"));
    assert!(!streams(ORDER, &swapped, "[region]"));
    let lost = transform("rows", "emit region = qty.to_string()");
    assert!(!streams(ORDER, &lost, "[day]"));
    // The name of an aggregate's key.
    let grouped = "  - { type: aggregate, name: last, input: rows, config: { group_by: [region, day], cxl: \"emit place = region\\nemit qty = max(qty)\" } }";
    assert!(streams(ORDER, grouped, "[place]"));
    assert!(streams(ORDER, grouped, "[day, place]"));
    assert!(!streams(ORDER, grouped, "[region, qty]"));
}

#[test]
fn culls_and_reshapes_put_their_groups_side_by_side() {
    assert!(streams("", &cull("partition_by: [region]"), "[region]"));
    assert!(streams("", &cull("partition_by: [region, qty], order_by: [day]"), "[qty, region]"));
    assert!(streams("", &reshape("partition_by: [region]"), "[region]"));
    assert!(streams("", &reshape("partition_by: [qty, day], order_by: [region]"), "[day, qty]"));
    // Rows of a larger group, or of a smaller one, need not stand side by side.
    assert!(!streams("", &cull("partition_by: [region, qty]"), "[region]"));
    assert!(!streams("", &cull("partition_by: [region]"), "[region, qty]"));
    assert!(!streams("", &cull("partition_by: []"), "[region]"));
    // They stay there under another name, until the column is overwritten.
    let below = |program: &str| {
        let reshape = reshape("partition_by: [region]").replace("name: last", "name: r");
        format!("{reshape}\n{}", transform("r", program))
    };
    assert!(streams("", &below("filter qty > 1\\nemit place = region"), "[place]"));
    assert!(!streams("", &below("emit region = region.upper()"), "[region]"));
    assert!(streams("", &below("emit place = region\\nemit region = region.upper()"), "[place]"));
    let twice = |second: &str| {
        let reshape = reshape("partition_by: [region]").replace("name: last", "name: r");
        format!("{reshape}\n{}", second.replace("input: rows", "input: r"))
    };
    assert!(!streams("", &twice(&cull("partition_by: [qty]")), "[region]"));
    assert!(streams("", &twice(&reshape("partition_by: [qty]")), "[qty]"));
    // A second name of the column may be overwritten, in rows that are there or in new ones.
    let renamed = transform("rows", "emit place = region\\nemit note = region").replace("name: last", "name: t");
    let second = |rule: &str| {
        format!(
            "{renamed}\n  - {{ type: reshape, name: last, input: t, config: {{ partition_by: [region], rules: [{{ name: r, when: \"qty > 1\", {rule} }}] }} }}"
        )
    };
    let (set, added) =
        ("mutate: { set: { note: \"'x'\" } }", "synthesize: { copy_from: trigger, overrides: { note: \"'x'\" } }");
    for rule in [set, added] {
        assert!(streams(ORDER, &second(rule), "[place]"));
        assert!(!streams(ORDER, &second(rule), "[note]"));
    }
    let merged = format!(
        "{}\n  - {{ type: merge, name: last, inputs: [r, r] }}",
        reshape("partition_by: [region]").replace("name: last", "name: r")
    );
    assert!(!streams("", &merged, "[region]"));
}

/// A reshape takes null and an empty text for one group, in which an aggregate finds two, mixed; a cull doesn't.
#[test]
fn groups_of_a_reshape_that_hold_several_values_are_no_groups() {
    let with = |ty: &str, nodes: &str| {
        let text =
            ordered("", nodes, "[region]").replace("name: region, type: string", &format!("name: region, type: {ty}"));
        let refused = found(&text.replace("input: last, config: {", "input: last, config: { strategy: streaming,"));
        assert!(refused.iter().all(|finding| finding.starts_with("E151")), "{refused:#?}");
        refused.is_empty()
    };
    let reshape = reshape("partition_by: [region]");
    for ty in [
        "string",
        "nullable(int)",
        "float",
        "nullable(float)",
        "nullable(decimal)",
        "bool",
        "nullable(date)",
        "nullable(date_time)",
    ] {
        assert!(with(ty, &reshape), "{ty}");
    }
    assert!(!with("nullable(string)", &reshape));
    for ty in ["nullable(string)", "nullable(int)"] {
        assert!(with(ty, &cull("partition_by: [region]")), "{ty}");
    }
}

#[test]
fn a_stamp_that_a_reshape_adds_has_no_order() {
    let shaped = mutating("partition_by: [region]", "note: \"'new'\"").replace("name: last", "name: shaped");
    let nodes = format!("{shaped}\n{}", transform("shaped", "emit stamp = $meta.mutated_by"));
    assert!(!streams(ORDER, &nodes, "[region, stamp]"));
    assert!(streams(ORDER, &nodes, "[region]"));
}

#[test]
fn lets_that_read_each_other_twice_have_each_branch_once() {
    let mut program = vec!["let a0 = if qty > 1 then qty else note".to_owned()];
    program.extend((1..64).map(|at| format!("let a{at} = if qty > {at} then a{} else a{}", at - 1, at - 1)));
    program.push("emit mixed = a63".to_owned());
    let refused = found(&ordered("", &transform("rows", &program.join("\\n")), "[region]"));
    assert!(refused.iter().all(|finding| !finding.starts_with('E')), "{refused:#?}");
}

#[test]
fn rows_of_an_aggregate_lose_no_undeclared_fields_in_a_merge() {
    let text = |node: &str| {
        format!(
            "pipeline: {{ name: p }}\n_notes: {{ todo: check (a, b), by: me }}\nnodes:\n  - {{ type: source, name: may, config: {{ type: csv, path: m.csv, on_unmapped: {{ mode: drop }}, schema: [{{ name: id, type: int }}] }} }}\n  - {{ type: source, name: june, config: {{ type: csv, path: j.csv, schema: [{{ name: id, type: int }}] }} }}\n  - {{ name: last, input: may, {node} }}\n  - {{ type: merge, name: all, inputs: [last, june] }}\n  - {{ type: sink, name: out, input: all, config: {{ type: csv, path: o.csv }} }}\n"
        )
    };
    for fine in [
        "type: aggregate, config: { group_by: [id], cxl: \"\" }",
        "type: transform, config: { include_unmapped: false, cxl: \"emit id = id\" }",
    ] {
        assert!(!found(&text(fine)).iter().any(|finding| finding.starts_with('E')), "{:#?}", found(&text(fine)));
    }
    let keeps = found(&text("type: transform, config: { cxl: \"emit id = id + 1\" }"));
    assert!(keeps.iter().any(|finding| finding.starts_with("E380")), "{keeps:#?}");
}
