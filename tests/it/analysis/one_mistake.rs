//! One mistake in a file that is right but for it gives one finding, with its place and what to do.

use std::ops::Range;

use clinker::diagnostics::{Code, Diagnostic, Diagnostics, Severity, SourceMap, Span};
use clinker::driver::{self, Options};
use clinker::syntax::yaml::{self, Node, Value};

use crate::support::assert_snapshot;

/// A pipeline without a mistake that has something of everything.
const RIGHT: &str = "\
pipeline:
  name: p
  vars: { k: { type: int, default: 5 } }
  date_formats: [\"%Y-%m-%d\"]
nodes:
  - type: source
    name: s
    config:
      type: csv
      path: s.csv
      schema: [{ name: id, type: int }, { name: start, type: date }, { name: cost, type: decimal, scale: 2 }]
      options: { delimiter: \",\" }
      sort_order: [id]
      on_unsorted: error
  - type: transform
    name: t
    input: s
    config:
      validations: [{ check: not_empty, field: start }]
      cxl: |
        emit r = $vars.k
        emit q = cost
  - type: cull
    name: c
    input: t
    config:
      partition_by: [id]
      order_by: [start]
      removed_to: gone
      rules:
        - { name: many, drop_group_when: \"count(*) > 3\" }
  - type: reshape
    name: h
    input: c
    config:
      partition_by: [id]
      order_by: [{ field: start, order: desc }]
      rules:
        - { name: late, when: \"r > 1\", synthesize: { copy_from: trigger } }
  - type: route
    name: w
    input: h
    config: { conditions: { large: \"cost > '9'.to_decimal()\" }, default: small }
  - type: merge
    name: m
    inputs: [w.large, w.small]
  - type: aggregate
    name: a
    input: m
    config: { group_by: [id], cxl: \"emit n = count(*)\" }
  - type: sink
    name: o
    input: a
    config: { type: csv, path: o.csv, sort_order: [n], mapping: [id, n] }
  - type: sink
    name: g
    input: c.gone
    config: { type: csv, path: g.csv }
error_handling:
  strategy: continue
  dlq: { path: rejects.csv }
";

/// What is put in the place of what.
type Mistake = (&'static str, &'static str);

/// What is no text, or no name, where a name is wanted.
const NAMES: &[Mistake] = &[
    ("      sort_order: [id]\n", "      sort_order: [id]\n      correlation_key: 5\n"),
    ("      sort_order: [id]\n", "      sort_order: [id]\n      correlation_key: [5]\n"),
    ("sort_order: [id]", "sort_order: [5]"),
    ("sort_order: [id]", "sort_order: [{ field: 5 }]"),
    ("sort_order: [id]", "sort_order: begin"),
    ("sort_order: [n]", "sort_order: [5]"),
    ("sort_order: [n]", "sort_order:"),
    ("sort_order: [id]", "sort_order:"),
    ("order_by: [start]", "order_by:"),
    ("input: s\n", "input: 5\n"),
    ("inputs: [w.large, w.small]", "inputs: [w.large, w.small, 5]"),
    ("inputs: [w.large, w.small]", "inputs: [w.large, w.small, ~]"),
    ("group_by: [id]", "group_by: [id, 5]"),
    ("group_by: [id]", "group_by: [~]"),
    ("group_by: [id]", "group_by: id"),
    ("order_by: [start]", "order_by: begin"),
    ("partition_by: [id]\n      order_by: [start]", "partition_by: [1]\n      order_by: [start]"),
    ("partition_by: [id]\n      order_by: [{", "partition_by: [1]\n      order_by: [{"),
    ("order_by: [start]", "order_by: [{ field: 1 }]"),
    ("field: start, order: desc", "field: 1, order: desc"),
    ("check: not_empty, field: start", "check: not_empty, field: 5"),
    ("check: not_empty, field: start", "check: \"id > 0\", field: 5"),
    ("mapping: [id, n]", "mapping: [id, 5]"),
    ("sort_order: [n], mapping: [id, n]", "mapping: [{ key: id }, ~], sort_order: [key]"),
    ("path: o.csv,", "path: o.csv, exclude: [[id]],"),
    ("path: o.csv,", "path: o.csv, schema: [{ name: 5, scale: 2 }],"),
    ("      path: s.csv\n", "      path: s.csv\n      name: 5\n"),
    ("name: start, type: date }", "name: start, type: date, format: 5 }"),
    ("date_formats: [\"%Y-%m-%d\"]", "date_formats: \"%Y\""),
    ("removed_to: gone", "removed_to: \"\""),
    ("removed_to: gone", "removed_to: \" \""),
    ("removed_to: gone", "removed_to: a.b"),
    ("removed_to: gone", "removed_to: c"),
    ("removed_to: gone", "removed_to: 5"),
    ("conditions: { large: ", "conditions: { \"\": "),
    ("default: small", "default: \"\""),
    ("default: small", "default: 5"),
    ("name: many", "name: \"\""),
    ("name: late", "name: \" \""),
    ("name: late", "name: \"late,later\""),
    ("name: late", "name: late+later"),
];

/// Keys that are called something else.
const KEYS: &[Mistake] = &[
    ("    input: s\n    config:", "    input: s\n    cfg:"),
    ("    input: a\n    config:", "    input: a\n    setup:"),
    (
        "    input: a\n    config: { type: csv, path: o.csv, sort_order: [n], mapping: [id, n] }\n",
        "    input: a\n    path: o.csv\n",
    ),
    ("drop_group_when:", "when:"),
    ("drop_group_when:", "drop_when:"),
    ("drop_group_when:", "drop:"),
    ("drop_group_when:", "predicate:"),
    ("name: many, drop_group_when:", "id: many, drop_group_when:"),
    ("name: many, drop_group_when:", "called: many, predicate:"),
    ("name: late", "id: late"),
    ("removed_to: gone", "side_output: gone"),
    ("removed_to: gone", "elsewhere: gone"),
    ("copy_from: trigger", "from: trigger"),
    ("copy_from: trigger", "based_upon: trigger"),
    ("[{ field: start, order: desc }]", "[{ start: desc }]"),
    ("[{ field: start, order: desc }]", "[{ \"start\": ASC }]"),
    ("[{ field: start, order: desc }]", "\n        - start: desc"),
    ("sort_order: [n]", "sort_order: [{ n: descending }]"),
    ("sort_order: [n]", "sort_order: [{ by_column: n }]"),
    ("      path: s.csv\n", "      where_it_is: s.csv\n"),
    ("      path: s.csv\n", "      file_path: s.csv\n"),
    ("  vars: {", "  constants: {"),
    ("  vars: { k: { type: int, default: 5 } }", "  vars: 5"),
    ("k: { type: int, default: 5 }", "k: 5"),
    ("k: { type: int, default: 5 }", "k: int"),
    ("k: { type: int, default: 5 }", "k: { default: 5 }"),
    ("  name: p\n", "  title: p\n"),
    ("pipeline:\n  name: p", "setup:\n  name: p"),
    ("strategy: continue", "strategy: best_effort"),
    ("strategy: continue", "strategy: contine"),
    ("dlq: { path: rejects.csv }", "dlq_path: rejects.csv"),
    ("dlq: { path: rejects.csv }", "correlation_key: id"),
    ("dlq: { path: rejects.csv }", "dlq: { include_reason: \"yes\" }"),
    ("dlq: { path: rejects.csv }", "dlq: true"),
    ("dlq: { path: rejects.csv }", "dlq: rejects.csv"),
    ("dlq: { path: rejects.csv }", "dlq: { per_source: { t: { max_rate: 0.5 } } }"),
    ("error_handling:", "error_handlng:"),
    ("  strategy: continue\n  dlq: { path: rejects.csv }\n", "  strategy: continue\nletters: { path: rejects.csv }\n"),
];

/// Values that are not what the file seems to say.
const VALUES: &[Mistake] = &[
    ("type: decimal, scale: 2", "type: decimal(10,2)"),
    ("type: decimal, scale: 2", "type: decimal(10, 2)"),
    ("type: decimal, scale: 2", "type: nullable(decimal(10,2))"),
    ("type: int, default: 5", "type: decimal(10,2)"),
    ("drop_group_when: \"count(*) > 3\"", "drop_group_when: sum(if id > 1 then 1 else 0) > max(1, id)"),
    ("conditions: { large: \"cost > '9'.to_decimal()\" }", "conditions: { large: (id > 1, id) }"),
    ("type: decimal, scale: 2", "type: null"),
    ("delimiter: \",\"", "delimiter: \"\\n\""),
    ("delimiter: \",\"", "delimiter: \"\""),
    ("delimiter: \",\"", "delimiter: \"\\u001b[31m\""),
    ("    config:\n      validations", "    config:\n      phase: init\n      validations"),
    ("check: not_empty,", "check: not_emtpy,"),
    ("cxl: |\n        emit r = $vars.k\n        emit q = cost", "cxl: 5"),
    ("cxl: |\n        emit r = $vars.k\n        emit q = cost", "cxl: true"),
    ("cxl: |\n        emit r", "cxl: >\n        let x = 1\n        let y = 2\n        emit r"),
    (
        "cxl: |\n        emit r",
        "cxl: >-\n        let x = 1 # one\n        let y = 2\n\n        let z = 3\n        emit r",
    ),
    ("cxl: |\n        emit r", "cxl:\n        let x = 1\n        let y = 2\n        emit r"),
    ("drop_group_when: \"count(*) > 3\" }", "drop_group_when: \"count(*) > 3 # many\n            and sum(id) > 3\" }"),
    (
        "        - { name: many, drop_group_when: \"count(*) > 3\" }",
        "        - name: many\n          drop_group_when: >\n            count(*) > 3  # many\n            and sum(id) > 3",
    ),
    (
        "when: \"r > 1\", synthesize: { copy_from: trigger }",
        "when: \"r > 1\", mutate: { set: { cost: \"cost #1\n            * id\" } }",
    ),
    ("      sort_order: [id]\n", ""),
    ("      sort_order: [id]\n", "      sort_order: []\n"),
];

/// Keys, node types and values as people know them from other tools.
const WORDS: &[Mistake] = &[
    ("  vars: {", "  memory: 32M\n  vars: {"),
    ("  vars: {", "  memory_limit: 32M\n  vars: {"),
    ("  vars: {", "  concurrency: 4\n  vars: {"),
    ("  vars: {", "  threads: 4\n  vars: {"),
    ("  vars: {", "  error_handling: { strategy: continue }\n  vars: {"),
    ("error_handling:\n", "concurrency: { threads: 2 }\nerror_handling:\n"),
    ("path: s.csv", "path: [s.csv, r.csv]"),
    ("path: s.csv", "path: s.csv\n      delimiter: ;"),
    ("path: s.csv", "path: s.csv\n      header: false"),
    ("path: s.csv", "path: s.csv\n      encoding: latin1"),
    ("path: o.csv, sort_order: [n]", "path: o.csv, delimiter: ;"),
    ("sort_order: [n], mapping: [id, n]", "sort_order: [n], columns: [id, n]"),
    ("sort_order: [n], mapping: [id, n]", "sort_order: [n], fields: [id, n]"),
    ("path: o.csv, sort_order: [n], mapping: [id, n]", "path: o.csv, sort_order: [n], drop: [id]"),
    ("path: o.csv, sort_order: [n]", "path: o.csv, order_by: [n]"),
    ("path: o.csv, sort_order: [n]", "path: o.csv, sort: [n]"),
    ("sort_order: [n]", "sort_order: [n desc]"),
    ("sort_order: [n]", "sort_order: [\"n:DESC\"]"),
    ("sort_order: [n]", "sort_order: [-n]"),
    ("sort_order: [n]", "sort_order: [{ field: n, direction: desc }]"),
    ("sort_order: [n]", "sort_order: [{ field: n, descending: true }]"),
    ("sort_order: [n]", "sort_order: [{ field: n, nulls: first }]"),
    ("order_by: [start]", "order_by: [start desc]"),
    ("order_by: [start]", "order_by: [{ field: start, desc: true }]"),
    ("group_by: [id], cxl: \"emit n", "group_by: [id, start.month()], cxl: \"emit n"),
    ("partition_by: [id]\n      order_by: [start]", "partition_by: [id + r]\n      order_by: [start]"),
    ("drop_group_when: \"count(*) > 3\"", "keep_group_when: \"count(*) <= 3\""),
    ("drop_group_when: \"count(*) > 3\"", "having: \"count(*) <= 3\""),
    ("drop_group_when: \"count(*) > 3\"", "drop_group_when: \"HAVING count(*) > 3\""),
    ("when: \"r > 1\"", "when: \"where r > 1\""),
    ("cxl: \"emit n = count(*)\"", "cxl: \"GROUP BY id\\nemit n = count(*)\""),
    ("cxl: \"emit n = count(*)\"", "cxl: \"emit n = count(*)\\nHAVING count(*) > 5\""),
    ("cxl: \"emit n = count(*)\"", "cxl: \"emit n = count(distinct id)\""),
    ("mapping: [id, n]", "mapping: [id, q]"),
    ("sort_order: [n]", "sort_order: [q]"),
    ("type: aggregate\n", "type: groupby\n"),
    ("type: merge\n", "type: union\n"),
    ("type: merge\n", "type: join\n"),
    ("type: transform\n", "type: MAP\n"),
    ("type: transform\n", "type: sort\n"),
    ("type: transform\n", "type: filter\n"),
    ("type: transform\n", "type: dedupe\n"),
    ("type: transform\n", "type: limit\n"),
    ("type: transform\n", "type: rename\n"),
    ("type: source\n", "type: csv\n"),
];

/// Values that CXL reads in another way than they are meant.
const DATES: &[Mistake] = &[
    ("when: \"r > 1\", synthesize: { copy_from: trigger }", "when: \"r > 1\", mutate: { set: { start: 2024-01-31 } }"),
    ("synthesize: { copy_from: trigger }", "synthesize: { copy_from: trigger, overrides: { start: \"2024-01-31\" } }"),
    ("when: \"r > 1\"", "when: start > 2024-01-31"),
    ("sort_order: [n]", "sort_order: n desc"),
];

/// What YAML reads in another way than it is meant.
const YAML: &[Mistake] = &[
    (
        "when: \"r > 1\", synthesize: { copy_from: trigger }",
        "when: \"r > 1\", mutate: { set: { start: #2024-01-31# } }",
    ),
    (
        "- { name: late, when: \"r > 1\", synthesize: { copy_from: trigger } }",
        "- name: late\n          when: r > 1\n          mutate:\n            set:\n              start: #2024-01-31#",
    ),
    (
        "- { name: late, when: \"r > 1\", synthesize: { copy_from: trigger } }",
        "- name: late\n          when: start > #2024-01-31#\n          synthesize: { copy_from: trigger }",
    ),
    ("default: small }", "default: small # others }"),
    ("  - type: source\n    name: s\n", "  s:\n    type: source\n"),
    ("  - type: route\n", "  type: route\n"),
];

#[test]
fn without_a_mistake_nothing_is_found() {
    assert_eq!(found(RIGHT).1, Vec::new());
}

#[test]
fn one_mistake_gives_one_finding() {
    for (name, mistakes) in
        [("names", NAMES), ("keys", KEYS), ("values", VALUES), ("words", WORDS), ("dates", DATES), ("yaml", YAML)]
    {
        let mut shown = String::new();
        let mut wrong: Vec<(&str, Vec<String>)> = Vec::new();
        for mistake in mistakes {
            let text = with(mistake);
            let (sources, found) = found(&text);
            match found.as_slice() {
                [finding] => shown += &show(mistake, &sources, finding),
                found => wrong.push((mistake.1, messages(found))),
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_snapshot(&format!("analysis/one_mistake/{name}"), &shown);
    }
}

/// A fix leaves nothing to say, or something that the mistake hid.
#[test]
fn fixes_mend_the_mistake() {
    let mut fixes = 0;
    for mistake in NAMES.iter().chain(KEYS).chain(VALUES).chain(WORDS).chain(DATES).chain(YAML) {
        let (_, before) = found(&with(mistake));
        for finding in &before {
            let Some(fix) = &finding.fix else { continue };
            fixes += 1;
            let mut text = with(mistake);
            let range = fix.span.start as usize..fix.span.end as usize;
            let replaced = text[range.clone()].to_owned();
            text.replace_range(range, &fix.replacement);
            let (_, after) = found(&text);
            assert!(!messages(&after).contains(&message(finding)), "{mistake:?}: {after:#?}");
            // What is spelt as a name now may still be that of nothing.
            let written = |text: &str| text.trim_matches(['"', '[', ']']).to_owned();
            if written(&fix.replacement) != written(&replaced) {
                let new = after.iter().find(|after| after.severity == Severity::Error && !before.contains(after));
                assert_eq!(new, None, "{mistake:?} with {fix:?}");
            }
        }
    }
    assert!(fixes > 20, "only {fixes} findings offer a fix");
}

#[test]
fn comments_of_a_folded_text_that_take_in_nothing_are_fine() {
    for lines in [
        "count(*) > 3  # many",
        "count(*) > 3\n            # many\n            # or more",
        "count(*) > 3  # many\n\n            and sum(id) > 3",
        "count(*) > 3  # many\n              and sum(id) > 3",
    ] {
        let rule = format!("- name: many\n          drop_group_when: >\n            {lines}");
        let text = RIGHT.replace("- { name: many, drop_group_when: \"count(*) > 3\" }", &rule);
        assert_eq!(found(&text).1, Vec::new(), "{lines}");
    }
}

/// Any key that is not one, and any value of a kind that none can have, is one finding about the file's shape.
#[test]
fn what_can_not_be_read_has_no_followers() {
    let chosen_freely = ["k", "large"];
    for Place { is_key, range } in places() {
        let block = RIGHT[range.clone()].contains('\n');
        let wrong = match (is_key, block) {
            (true, _) if chosen_freely.contains(&&RIGHT[range.clone()]) => continue,
            (true, _) => "zzz",
            (false, false) => "[[zz]]",
            (false, true) => "[[zz]]\n",
        };
        let mut text = RIGHT.to_owned();
        text.replace_range(range.clone(), wrong);
        let (_, found) = found(&text);
        let shape = found.iter().all(|finding| matches!(finding.code, Code::E000 | Code::E364));
        assert!(found.len() == 1 && shape, "{}: {:#?}", &RIGHT[range], messages(&found));
    }
}

/// A number or a boolean in the place of any value is at most one finding.
#[test]
fn values_of_another_type_have_no_followers() {
    for Place { is_key, range } in places() {
        for wrong in ["5", "true", "~", "\"\""] {
            let mut text = RIGHT.to_owned();
            let line_end = if RIGHT[range.clone()].contains('\n') { "\n" } else { "" };
            text.replace_range(range.clone(), &format!("{wrong}{line_end}"));
            let (_, found) = found(&text);
            // Without its emit an aggregate is right, and what reads its columns is not.
            let emits = RIGHT[range.clone()].contains("emit n");
            assert!(is_key || emits || found.len() <= 1, "{} {wrong}: {:#?}", &RIGHT[range], messages(&found));
        }
    }
}

/// A key or a value of the pipeline.
struct Place {
    is_key: bool,
    range: Range<usize>,
}

/// Every key and every value but the whole.
fn places() -> Vec<Place> {
    fn collect(node: &Node, places: &mut Vec<Place>) {
        let place = |is_key, span: Span| Place { is_key, range: span.start as usize..span.end as usize };
        match &node.value {
            Value::Sequence(items) => {
                for item in items {
                    places.push(place(false, item.span));
                    collect(item, places);
                }
            }
            Value::Mapping(entries) => {
                for entry in entries {
                    places.extend([place(true, entry.key.span), place(false, entry.value.span)]);
                    collect(&entry.value, places);
                }
            }
            Value::Scalar(_) | Value::Error => {}
        }
    }
    let file = SourceMap::new().add("p.yaml", RIGHT);
    let root = yaml::parse(file, RIGHT, &mut Diagnostics::new()).expect("it is YAML");
    let mut places = Vec::new();
    collect(&root, &mut places);
    places
}

/// The pipeline with the mistake.
fn with((right, wrong): &Mistake) -> String {
    assert!(RIGHT.contains(right), "{right}");
    RIGHT.replacen(right, wrong, 1)
}

fn found(text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let compilation = driver::compile("p.yaml", text, &Options::default());
    (compilation.sources, compilation.diagnostics.sorted())
}

fn messages(findings: &[Diagnostic]) -> Vec<String> {
    findings.iter().map(message).collect()
}

fn message(finding: &Diagnostic) -> String {
    format!("{} {}", finding.code, finding.message)
}

fn show((_, wrong): &Mistake, sources: &SourceMap, finding: &Diagnostic) -> String {
    let mut shown = format!("{}\n  {}: {}\n", wrong.trim(), finding.code, finding.message);
    for label in &finding.labels {
        shown += &format!("    {:?} {}\n", sources.slice(label.span), label.text);
    }
    for note in &finding.notes {
        shown += &format!("    note: {note}\n");
    }
    if let Some(help) = &finding.help {
        shown += &format!("    help: {help}\n");
    }
    if let Some(fix) = &finding.fix {
        shown += &format!("    fix: {:?} -> {:?}\n", sources.slice(fix.span), fix.replacement);
    }
    shown + "\n"
}
