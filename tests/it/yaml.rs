//! Tests of yaml.
