//! Turns diagnostics into text: the rich form for people, the short form for editors and logs, JSON for programs.
//!
//! All three take the same findings in the order they shall appear ([`super::Diagnostics::sorted`]) and give a
//! string; nothing here prints. Any span is drawable: one that lies outside its text, or inside a character, is moved
//! to the nearest place that exists.

mod excerpt;
mod json;
mod rich;
mod short;
mod text;

pub use json::json;
pub use rich::rich;
pub use short::short;

use super::{Diagnostic, SourceMap};

/// A way to show diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Source lines with the places underlined, in colour or not.
    Rich {
        /// Whether to use terminal colours.
        colour: bool,
    },
    /// One line each.
    Short,
    /// One array of objects.
    Json,
}

/// Renders findings in the given form.
pub fn render(format: Format, sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    match format {
        Format::Rich { colour } => rich(sources, diagnostics, colour),
        Format::Short => short(sources, diagnostics),
        Format::Json => json(sources, diagnostics),
    }
}
