//! The physical plan for people and machines: `text`, `json`, `yaml`.
