//! Tests of cxl.
