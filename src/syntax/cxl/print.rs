//! Trees back into text.
