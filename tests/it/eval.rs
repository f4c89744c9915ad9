//! Tests of eval.
