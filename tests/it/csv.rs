//! Tests of csv.
