//! The physical plan as compact text, for people who debug passes.

use std::fmt::{self, Display};

use super::{
    ColumnSet, DeadLetters, Edge, IdentityUse, MemoryConsumer, Operator, OperatorId, PhysicalPlan, Rest, RestForm,
    RowIdentity, Stage,
};
use crate::analysis::hir::Schema;

/// The columns of a schema with their types: `id int, name string, undeclared fields`.
pub(in crate::plan) fn schema_text(schema: &Schema) -> String {
    let columns = schema.columns.iter().map(|column| format!("{} {}", column.name, column.ty));
    list(columns, schema.carries)
}

/// The columns of a set: `id, name, undeclared fields`.
pub(in crate::plan) fn columns_text(schema: &Schema, columns: &ColumnSet, carries: bool) -> String {
    list(columns.iter().map(|position| schema.columns[position].name.clone()), carries)
}

/// The columns that only dead letters show, if there are any.
pub(in crate::plan) fn shown_text(schema: &Schema, shown: &ColumnSet) -> String {
    if shown.iter().next().is_none() {
        return String::new();
    }
    format!("; only for dead letters: {}", columns_text(schema, shown, false))
}

fn list(columns: impl Iterator<Item = String>, carries: bool) -> String {
    let parts: Vec<String> = columns.chain(carries.then(|| "undeclared fields".to_string())).collect();
    if parts.is_empty() { "no columns".to_string() } else { parts.join(", ") }
}

impl Display for PhysicalPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "physical plan {}", self.name)?;
        for (id, operator) in self.operators() {
            write_operator(f, self, id, operator)?;
        }
        for (position, stage) in self.stages.iter().enumerate() {
            write_stage(f, self, position, stage)?;
        }
        for (position, consumer) in self.consumers.iter().enumerate() {
            writeln!(f, "consumer {position}: {consumer}")?;
        }
        self.dead_letters.fmt(f)
    }
}

fn write_operator(f: &mut fmt::Formatter<'_>, plan: &PhysicalPlan, id: OperatorId, operator: &Operator) -> fmt::Result {
    writeln!(f, "{id} {}", operator.label())?;
    for (producer, edge) in plan.inputs(id) {
        writeln!(f, "  reads {producer} {edge}")?;
    }
    if let (Some(rest), Some(schema)) = (operator.rest(), operator.output()) {
        writeln!(f, "  rests {}", rest_text(rest, schema))?;
    }
    if !operator.strategy.is_empty() {
        writeln!(f, "  strategy: {}", operator.strategy)?;
    }
    if !operator.buffer_reason.is_empty() {
        writeln!(f, "  buffer: {} ({})", operator.buffer, operator.buffer_reason)?;
    }
    Ok(())
}

fn write_stage(f: &mut fmt::Formatter<'_>, plan: &PhysicalPlan, position: usize, stage: &Stage) -> fmt::Result {
    for (number, segment) in stage.segments.iter().enumerate() {
        let operators: Vec<_> = segment.operators.iter().map(OperatorId::to_string).collect();
        let verb = if plan.operator(segment.head).is_driver() { "driven by" } else { "taken in turn by" };
        let behind: Vec<_> = segment.behind.iter().map(|before| stage.segments[*before].head.to_string()).collect();
        let behind = if behind.is_empty() { String::new() } else { format!(", behind {}", behind.join(" ")) };
        match number {
            0 => write!(f, "stage {position}: ")?,
            _ => f.write_str("  with it: ")?,
        }
        writeln!(f, "{verb} {}{behind}: {}", segment.head, operators.join(" "))?;
    }
    Ok(())
}

fn rest_text(rest: &Rest, schema: &Schema) -> String {
    let form = match &rest.form {
        RestForm::SinkBytes { sink } => format!("as {sink} writes it"),
        RestForm::Row => "as columns".to_string(),
    };
    let identity = if rest.identity { "with" } else { "without" };
    format!("{form}, {identity} row identity: {}", columns_text(schema, &rest.columns, rest.carries))
}

impl Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.input > 0 {
            write!(f, "as input {}: ", self.input)?;
        }
        write!(f, "port {}", self.port)?;
        if let Some(name) = &self.port_name {
            write!(f, " ({name})")?;
        }
        write!(f, ": {}", columns_text(&self.schema, &self.columns, self.carries))?;
        f.write_str(&shown_text(&self.schema, &self.shown))?;
        if !self.provenance.origins.is_empty() {
            let computed = self.computed();
            write!(f, "; computed: {}", if computed.is_empty() { "none".to_string() } else { computed.join(", ") })?;
        }
        if !self.provenance.uses.is_empty() {
            let uses: Vec<_> = self.provenance.uses.iter().map(IdentityUse::to_string).collect();
            let by = if self.provenance.identity == RowIdentity::Kept { "kept " } else { "" };
            write!(f, "; {by}row identity for {}", uses.join(", "))?;
        }
        Ok(())
    }
}

impl Display for IdentityUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IdentityUse::Failures => "failures",
            IdentityUse::Variables => "$source variables",
            IdentityUse::Summary => "the summary",
        })
    }
}

impl Display for MemoryConsumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spills = if self.spills { "spills" } else { "does not spill" };
        let of = self.operator.map_or_else(String::new, |operator| format!(" of {operator}"));
        write!(f, "{}{of}, priority {}, {spills}: {}", self.name, self.priority, self.reason)
    }
}

impl Display for DeadLetters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", if self.continue_on_error { "bad rows: dead-lettered" } else { "bad rows: stop the run" })?;
        for (position, file) in self.files.iter().enumerate() {
            let routed = self.routes.iter().filter(|(_, route)| *route == Some(position));
            let routed: Vec<_> = routed.map(|(source, _)| source.to_string()).collect();
            writeln!(f, "dead letters of {} to {}: {}", routed.join(" "), file.path.0, file.columns.join(", "))?;
        }
        Ok(())
    }
}
