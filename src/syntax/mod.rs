//! Texts into trees: the pipeline's YAML and the CXL inside it.
//!
//! `yaml` reads text into a tree in which every value has its byte span and scalar style; `cxl` parses programs and
//! expressions; `pipeline` reads the tree into the pipeline's typed AST. Nothing here does IO or knows what a name
//! refers to.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod cxl;
pub mod pipeline;
pub mod text_map;
pub mod yaml;
