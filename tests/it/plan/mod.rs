//! Plans: what each pass makes of a pipeline, what is printed, and what never holds.

mod draft;
mod explain;
mod invariants;
mod passes;
mod pipelines;
