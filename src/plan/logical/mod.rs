//! The logical plan: what to do, as a DAG of nodes joined by ports.
