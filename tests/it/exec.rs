//! Tests of exec.
