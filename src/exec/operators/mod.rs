//! What the operators of a plan do to batches.
