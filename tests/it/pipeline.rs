//! Tests of pipeline.
