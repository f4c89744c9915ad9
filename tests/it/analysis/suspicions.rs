//! What checks and runs, but can hardly be meant: each is one warning, and what looks like it but is meant is none.

use super::types::finding_text;
use super::{Analysed, analyse, around, around_group};
use crate::support::assert_snapshot;
use clinker::diagnostics::Severity;

/// Programs with one thing each that can hardly be meant.
const SUSPICIOUS: &[&str] = &[
    // Texts in the place of columns.
    "filter \"name\" == \"N\"",
    "filter \"N\" != \"name\"",
    "filter \"N\" == \"S\"",
    "emit x = \"name\".trim()",
    "emit x = \"name\".left(2)",
    "emit x = match \"name\" { \"N\" => 1, _ => 2 }",
    "emit x = if \"name\" == 'N' then 1 else 2",
    // Formats that write nothing.
    "emit x = day.format_date(\"YYYY-MM\")",
    "emit x = at.format_date(\"DD.MM.YYYY hh:mi\")",
    "emit x = day.format_date(\"month\")",
    // Questions about null.
    "filter name != null",
    "filter null == name",
    "emit x = name ?? \"none\"",
    "emit x = (if ok then name else null) ?? name ?? \"none\"",
    "emit x = note ?? \"none\"",
    "filter note != null and qty != null",
    "emit x = name.is_null()",
    "filter not name.is_null()",
    "emit x = name.catch(\"none\")",
    "emit x = match name { null => 1, _ => 2 }",
    // Columns behind an emit of their name.
    "emit qty = qty ?? 0\nemit x = qty + 1",
    "emit qty = qty ?? 0\nfilter qty > 0\nemit x = qty * id",
    "emit name = name.trim()\nemit name = name.upper()",
    "emit name = name.trim()\ndistinct by name",
    "emit qty = qty ?? 0\nlet double = qty * 2\nemit x = double",
];

/// Programs in which the same forms are meant.
const MEANT: &[&str] = &[
    "filter name == \"name\" and \"name\" > note",
    "emit x = \"name\"",
    "emit x = \"name\".concat(\": \", name)",
    "emit x = \"name\".contains(name)",
    "emit x = \"a b\".split(\" \").length()",
    "emit x = \"name\" + \": \" + name",
    "emit x = match name { \"name\" => 1, _ => 2 }",
    "emit x = day.format_date(\"%Y-%m\")",
    "emit x = name.to_date(\"%d.%m.%Y\").format_date(\"%d\")",
    "filter qty != null and temp != null",
    "emit x = (if ok then name else null) ?? \"none\"",
    "filter name != \"\" and not name.is_empty()",
    "let name = if name == \"\" then null else name\nemit x = name ?? \"none\"",
    "emit x = qty + 1\nemit qty = qty ?? 0",
    "let qty = qty ?? 0\nemit qty = qty\nemit x = qty + 1",
    "emit id = qty\nemit qty = id",
    "emit name = \"fixed\"\nemit x = name",
    "emit name = name\nemit x = name.left(1)",
    "emit name = name.trim()\nemit x = name.trim().left(1)",
    "emit qty = qty ?? 0\nfilter (qty ?? 0) > 5\nlet x = id * (qty ?? 0)\nemit y = x",
    "emit x = qty ?? 0\nemit y = x + qty",
];

/// Programs with an error that is explained by what is read.
const EXPLAINED: &[&str] = &[
    "emit name = name.replace(\",\", \".\").to_decimal()\nemit x = name * qty",
    "emit name = name.to_int()\nfilter name > 5",
    "emit name = name.to_int()\nemit x = name.abs()",
    "emit name = 1\nemit x = name + 1",
    "emit x = \"qty\" * 2",
    "emit x = \"id\" > 5",
    "filter \"ok\"",
    "emit x = \"day\".month()",
    "emit x = id.max(\"qty\")",
];

fn shown(program: &str, analysed: &Analysed) -> String {
    let found = analysed.diagnostics.sorted();
    let findings: Vec<String> = found.iter().map(|finding| finding_text(finding, &analysed.sources)).collect();
    format!("{program}\n{}\n", findings.join("\n"))
}

#[test]
fn what_can_hardly_be_meant_is_one_warning() {
    let mut text = String::new();
    for program in SUSPICIOUS {
        let analysed = analyse(&around(program));
        let found = analysed.diagnostics.sorted();
        assert!(analysed.pipeline.is_some(), "{program}: {found:#?}");
        assert!(found.iter().all(|finding| finding.severity == Severity::Warning));
        text += &shown(program, &analysed);
        assert_eq!(found.len(), 1, "{program}: {found:#?}");
    }
    assert_snapshot("analysis/suspicions", &text);
}

#[test]
fn what_is_meant_is_no_warning() {
    for program in MEANT {
        let found = analyse(&around(program)).diagnostics.sorted();
        assert!(found.is_empty(), "{program}: {found:#?}");
    }
}

/// An empty cell is an empty text even where null is allowed, up to where something else may be written.
#[test]
fn texts_of_a_file_are_never_null() {
    let codes = |middle: &str, reads: &str| {
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      type: csv\n      \
             path: rows.csv\n      schema: [{{ name: id, type: int }}, {{ name: note, type: nullable(string) }}, \
             {{ name: n, type: nullable(int) }}]\n{middle}  - {{ type: transform, name: t, input: {reads}, \
             config: {{ cxl: \"emit a = note ?? 'none'\\nemit b = n ?? 0\" }} }}\n  \
             - {{ type: sink, name: out, input: t, config: {{ type: csv, path: out.csv }} }}\n"
        );
        let found = analyse(&text).diagnostics.sorted();
        found.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect::<Vec<_>>()
    };
    let warned = ["W207 `note` is never null here, so `??` changes nothing"];
    assert_eq!(codes("", "rows"), warned);
    let keeps = "  - { type: transform, name: u, input: rows, config: { cxl: \"emit x = 1\" } }\n";
    assert_eq!(codes(keeps, "u"), warned);
    let writes = "  - { type: transform, name: u, input: rows, config: { cxl: \"emit note = if id > 1 then null else note\" } }\n";
    assert_eq!(codes(writes, "u"), [""; 0]);
    let reshapes = "  - { type: reshape, name: u, input: rows, config: { partition_by: [id], rules: \
                    [{ name: r, when: \"n == 1\", mutate: { set: { note: \"null\" } } }] } }\n";
    assert_eq!(codes(reshapes, "u"), [""; 0]);
}

/// What a group has in the place of a column of texts may be null: a column that makes it, or an aggregate's result.
#[test]
fn values_of_groups_may_be_null() {
    let codes = |node: &str| {
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      type: csv\n      \
             path: rows.csv\n      schema: [{{ name: k, type: string }}, {{ name: s, type: string }}, \
             {{ name: n, type: int }}]\n  - {{ type: transform, name: t, input: rows, \
             config: {{ cxl: \"emit label = if n > 1 then k else null\" }} }}\n  - {{ {node}, name: g, input: t }}\n  \
             - {{ type: sink, name: out, input: g, config: {{ type: csv, path: out.csv }} }}\n"
        );
        let found = analyse(&text).diagnostics.sorted();
        found.iter().map(|finding| finding.code.to_string()).collect::<Vec<_>>().join(" ")
    };
    let aggregate = |by: &str, value: &str| {
        codes(&format!("type: aggregate, config: {{ group_by: [{by}], cxl: 'emit y = {value}' }}"))
    };
    let cull = |by: &str, condition: &str| {
        codes(&format!(
            "type: cull, config: {{ partition_by: [{by}], removed_to: gone, \
             rules: [{{ name: r, drop_group_when: '{condition}' }}] }}"
        ))
    };
    assert_eq!(aggregate("label", "label ?? \"none\""), "");
    assert_eq!(aggregate("label", "if label.is_null() then 1 else 2"), "");
    assert_eq!(aggregate("k", "max(if n > 1 then s) ?? \"none\""), "");
    assert_eq!(aggregate("n, k", "k ?? \"none\""), "W207");
    assert_eq!(aggregate("label", "max(s ?? \"none\")"), "W207");
    assert_eq!(cull("label", "label.is_null()"), "");
    assert_eq!(cull("k", "max(if n > 1 then s).is_null()"), "");
    assert_eq!(cull("n, k", "k.is_null() or count(*) > 1"), "W207");
}

#[test]
fn errors_say_what_is_read() {
    let mut text = String::new();
    for program in EXPLAINED {
        let analysed = analyse(&around(program));
        assert_eq!(analysed.diagnostics.sorted().len(), 1, "{}", shown(program, &analysed));
        text += &shown(program, &analysed);
    }
    assert_snapshot("analysis/explained", &text);
}

#[test]
fn groups_are_asked_the_same_questions() {
    let aggregate = |program: &str| {
        let node = format!(
            "type: aggregate\n    name: t\n    input: rows\n    config:\n      group_by: [name]\n      \
             cxl: |\n        {program}\n"
        );
        let text = around("emit x = 1");
        let (head, tail) = text.split_once("type: transform").expect("a transform");
        let (_, tail) = tail.split_once("emit x = 1\n").expect("its program");
        let analysed = analyse(&format!("{head}{node}{tail}"));
        analysed.diagnostics.sorted().iter().map(|finding| finding.code.to_string()).collect::<Vec<_>>().join(" ")
    };
    let cases = [
        ("emit n = count(\"note\")", "W206"),
        ("emit n = max(\"note\")", "W206"),
        ("emit n = collect(\"none\")", ""),
        ("emit n = sum(\"id\")", "E200"),
        ("emit name = name.upper()\n        emit x = name + \"!\"", "W208"),
        ("emit id = max(id)\n        emit x = sum(id)", ""),
        ("filter name != null\n        emit n = count(*)", "W207"),
        ("emit n = max(name) ?? \"none\"", ""),
        ("emit n = count(id > 1)", "W209"),
        ("emit n = count(not ok)", "W209"),
        ("emit n = count(id > 1 and ok)", "W209"),
        ("emit n = count(name.contains(\"a\"))", "W209"),
        ("emit n = count(ok)", ""),
        ("emit n = count(name.to_bool())", ""),
        ("emit n = count(name.try_bool())", ""),
        ("emit n = count(seen ?? ok)", ""),
        ("emit n = count(seen.is_null())", "W209"),
        ("emit n = count(id == 1)", "W209"),
        ("emit n = count(if id > 1 then true)", ""),
        ("emit n = count(name.upper())", ""),
        ("emit n = sum(if id > 1 then 1 else 0)", ""),
    ];
    for (program, codes) in cases {
        assert_eq!(aggregate(program), codes, "{program}");
    }
    // What a cull is told of null is that it knows nothing of it.
    let found = analyse(&around_group(&["name == null"])).diagnostics.sorted();
    assert_eq!(found.iter().map(|finding| finding.code.to_string()).collect::<Vec<_>>(), ["W205"]);
}
