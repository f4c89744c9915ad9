//! Analysis: names, types, rows, and what it says about mistakes.

mod aggregates;
mod echoes;
mod functions;
mod groups;
mod hir;
mod mistakes;
mod one_mistake;
mod reshapes;
mod suspicions;
mod types;

use clinker::analysis::{self, Options};
use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::pipeline;

/// What reading and analysis make of a pipeline file.
pub struct Analysed {
    /// The HIR, if nothing failed.
    pub pipeline: Option<analysis::hir::Pipeline>,
    /// What was found.
    pub diagnostics: Diagnostics,
    /// The file.
    pub sources: SourceMap,
}

/// Reads and analyses a pipeline file, shown as `p.yaml`.
pub fn analyse(text: &str) -> Analysed {
    let mut sources = SourceMap::new();
    let file = sources.add("p.yaml", text);
    let mut diagnostics = Diagnostics::new();
    let pipeline = pipeline::read(file, text, &mut diagnostics)
        .and_then(|ast| analysis::analyse(&ast, &Options::default(), &mut diagnostics));
    assert_eq!(pipeline.is_none(), diagnostics.has_errors(), "a pipeline has an HIR exactly if it has no errors");
    Analysed { pipeline, diagnostics, sources }
}

/// A pipeline of a source with columns of every type, a transform with this program, and a sink.
pub fn around(program: &str) -> String {
    let program = program.replace('\n', "\n        ");
    format!(
        "{HEAD}  - type: transform\n    name: t\n    input: rows\n    config:\n      cxl: |\n        {program}\n{TAIL}"
    )
}

/// A pipeline of the same source, and a cull by `id` and `name` with these predicates, both ports written.
pub fn around_group(predicates: &[&str]) -> String {
    let rule = |(index, predicate): (usize, &&str)| {
        format!("        - name: rule{index}\n          drop_group_when: |\n            {predicate}\n")
    };
    let rules: String = predicates.iter().enumerate().map(rule).collect();
    format!("{HEAD}{GROUPS}{rules}{}{}", TAIL, TAIL.replace("all", "gone").replace("input: t", "input: t.gone"))
}

const GROUPS: &str = "  - type: cull
    name: t
    input: rows
    config:
      partition_by: [id, name]
      removed_to: gone
      rules:
";

const HEAD: &str = "\
pipeline:
  name: test
  vars: { limit: { type: float, default: 0.5 }, region: { type: string } }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      path: rows.csv
      schema:
        - { name: id, type: int }
        - { name: qty, type: nullable(int) }
        - { name: ratio, type: float }
        - { name: temp, type: { nullable: float } }
        - { name: price, type: decimal, scale: 2 }
        - { name: rate, type: decimal, scale: 4 }
        - { name: amount, type: nullable(decimal) }
        - { name: name, type: string }
        - { name: note, type: nullable(string) }
        - { name: ok, type: bool }
        - { name: seen, type: nullable(bool) }
        - { name: day, type: date }
        - { name: due, type: nullable(date) }
        - { name: at, type: date_time }
";

const TAIL: &str = "  - type: sink
    name: all
    input: t
    config: { type: csv, path: all.csv }
";
