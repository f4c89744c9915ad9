//! The passes over the plans, in the order they run.
