//! Turns diagnostics into text: the rich form, the short form and JSON.
