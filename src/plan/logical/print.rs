//! The logical plan as compact text, for people who debug passes.

use std::fmt::{self, Display};

use super::{Edge, LogicalPlan, Port, PortRef};
use crate::plan::physical::print::{columns_text, schema_text, shown_text};

impl Display for LogicalPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "logical plan {}", self.name)?;
        for name in self.order() {
            let node = self.node(&name);
            writeln!(f, "{} {name}", node.kind.name())?;
            for (_, edge) in self.inputs(&name) {
                writeln!(f, "  reads {edge}")?;
            }
            for port in &node.ports {
                writeln!(f, "  offers {port}")?;
            }
        }
        Ok(())
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.port {
            PortRef::Written(reference) => write!(f, "`{reference}`")?,
            PortRef::Position(position) => write!(f, "port {position}")?,
        }
        write!(f, ": {}", columns_text(&self.schema, &self.columns, self.carries))?;
        f.write_str(&shown_text(&self.schema, &self.shown))
    }
}

impl Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reference, schema_text(&self.schema))
    }
}
