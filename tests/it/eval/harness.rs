//! From CXL text to results: the text goes through the whole front end.

use std::sync::Arc;

use clinker::analysis::hir::{self, NodeKind};
use clinker::analysis::types::Kind;
use clinker::analysis::{self, Options};
use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::exec::batch::{Batch, Carried, Column, FileNumbers, Origin, Positions};
use clinker::exec::eval::{Constants, Transform, Transformed};
use clinker::exec::fault::Fault;
use clinker::exec::value::Value;
use clinker::plan::physical::ColumnSet;
use clinker::syntax::pipeline;

/// The node under test, checked, with its text.
pub struct Checked {
    pub hir: hir::Pipeline,
    pub sources: SourceMap,
}

/// A pipeline of a source with these columns (a name and a schema type each) and one node, written as YAML.
pub fn check(columns: &[(&str, &str)], node: &str) -> Result<Checked, String> {
    let mut text = "pipeline:\n  name: sums\n  vars: { rate: { type: float, default: 0.5 } }\nnodes:\n".to_string();
    text += "- { type: source, name: rows, config: { name: rows, type: csv, path: rows.csv, schema: [\n";
    for (name, ty) in columns {
        text += &format!("    {{ name: {name}, type: {ty} }},\n");
    }
    text += &format!("  ] }} }}\n{node}\n");
    let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let file = sources.add("sums.yaml", &*text);
    let hir = pipeline::read(file, &text, &mut diagnostics)
        .and_then(|ast| analysis::analyse(&ast, &Options::default(), &mut diagnostics));
    match hir {
        Some(hir) if !diagnostics.has_errors() => Ok(Checked { hir, sources }),
        _ => {
            let errors = diagnostics.sorted();
            Err(errors.iter().map(|d| format!("{}: {}", d.code.as_str(), d.message)).collect::<Vec<_>>().join("; "))
        }
    }
}

/// A transform with this program, and whatever else its config has.
pub fn transform(columns: &[(&str, &str)], program: &str, config: &str) -> Result<Checked, String> {
    let indented = program.lines().map(|line| format!("      {line}\n")).collect::<String>();
    check(
        columns,
        &format!(
            "- type: transform\n  name: t\n  input: rows\n  config:\n    cxl: |\n{indented}{config}\
             \n- {{ type: sink, name: out, input: t, config: {{ name: out, type: csv, path: out.csv }} }}"
        ),
    )
}

impl Checked {
    pub fn transform(&self) -> &hir::Transform {
        let found = self.hir.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Transform(transform) => Some(transform),
            _ => None,
        });
        found.expect("the pipeline has a transform")
    }

    pub fn route(&self) -> &hir::Route {
        let found = self.hir.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Route(route) => Some(route),
            _ => None,
        });
        found.expect("the pipeline has a route")
    }

    pub fn constants(&self) -> Arc<Constants> {
        Arc::new(Constants {
            pipeline_name: self.hir.name.clone(),
            execution_id: "0193-e".into(),
            batch_id: "0193-b".into(),
            start_time: 1_710_498_030_250_000_000,
            vars: self.hir.vars.iter().map(|var| var.value.clone()).collect(),
            source_names: vec!["rows".into()],
            source_files: vec![vec!["data/rows.csv".into()]],
            file_numbers: FileNumbers::new([1]),
        })
    }

    /// Compiles the transform with all output columns stored.
    pub fn compiled(&self) -> Transform {
        let transform = self.transform();
        Transform::new(transform, &ColumnSet::all(transform.output.len()), self.constants())
    }

    pub fn run(&self, batch: &Batch) -> Transformed {
        self.compiled().run(batch)
    }

    /// A fault for people: its row, field, kind, message, value, and the text it points at.
    pub fn shown_fault(&self, fault: &Fault) -> String {
        let value = fault.value.as_ref().map(|value| format!(" (value '{value}')")).unwrap_or_default();
        let (row, field) = (fault.row, fault.field.as_deref().unwrap_or("-"));
        let text = self.sources.slice(fault.span).trim();
        format!("row {row}, {field}: {} {}{value} in `{text}`", fault.kind.category(), fault.message)
    }
}

/// A batch from its first record on.
pub fn batch(rows: usize, columns: Vec<Column>) -> Batch {
    let origin =
        Origin { source: 0, file: 0, block_row: 11, block_source_row: 101, positions: Positions::From(0), kept: None };
    Batch { rows, columns: columns.into_iter().map(Some).collect(), carried: Carried::default(), origin }
}

/// The value of an expression, or the message of its failure.
pub fn evaluate(expr: &str) -> Result<(Value, String), String> {
    let checked = transform(&[("unused", "int")], &format!("emit v = {expr}"), "")?;
    let slot = &checked.transform().emits[0];
    let input = batch(1, vec![Column::ints(vec![0], None)]);
    let done = checked.run(&input);
    match done.faults.first() {
        Some(fault) => Err(fault.message.clone()),
        None => Ok((done.batch.columns[1].as_ref().expect("every column is stored").value(0), slot.ty.to_string())),
    }
}

/// A value as JSON, but for floats that JSON can't say.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Float(f) => format!("{f:?}"),
        Value::Bool(_) | Value::Int(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Map(_) => panic!("no expression gives a map yet"),
        text => serde_json::to_string(&text.to_string()).expect("a text is JSON"),
    }
}

/// The kind that a schema type names, for building columns.
pub fn kind(ty: &str) -> Kind {
    let plain = ty.trim_start_matches("{ nullable: ").trim_end_matches(" }");
    match plain {
        "int" => Kind::Int,
        "float" => Kind::Float,
        "decimal" => Kind::Decimal { scale: None },
        "string" => Kind::String,
        "bool" => Kind::Bool,
        "date" => Kind::Date,
        "date_time" => Kind::DateTime,
        other => panic!("no such type: {other}"),
    }
}
