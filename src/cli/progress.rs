//! What a run shows while it goes on: a line with rows, bytes and rate on a terminal, and the warnings of rows.

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use super::signals::Stop;
use crate::diagnostics::render::{Format, render};
use crate::diagnostics::{Diagnostic, SourceMap};
use crate::exec::Observer;

/// Warnings of rows that are printed; the summary counts them all.
const MOST_WARNINGS: u64 = 20;

/// Follows a run for a person at a terminal.
pub(super) struct Watcher<'a> {
    sources: &'a SourceMap,
    stop: Stop,
    bar: ProgressBar,
    warnings: Option<AtomicU64>,
}

impl<'a> Watcher<'a> {
    /// A watcher that reports `stop`, draws progress if `progress`, and prints warnings if `warnings`.
    pub(super) fn new(sources: &'a SourceMap, stop: Stop, progress: bool, warnings: bool) -> Self {
        let target = if progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {msg} rows  {bytes}  {bytes_per_sec}"));
        bar.set_message("0");
        Self { sources, stop, bar, warnings: warnings.then(AtomicU64::default) }
    }

    /// Takes the progress line away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| output::errors(text));
    }
}

impl Observer for Watcher<'_> {
    fn progress(&self, rows: u64, bytes: u64, expected_bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        if expected_bytes > 0 && self.bar.length().is_none() {
            self.bar.set_style(style("[{wide_bar}] {msg} rows  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left"));
            self.bar.set_length(expected_bytes);
        }
        self.bar.set_message(rows.to_string());
        self.bar.set_position(bytes);
    }

    fn interrupted(&self) -> bool {
        self.stop.is_asked()
    }

    fn warning(&self, diagnostic: &Diagnostic) {
        let Some(seen) = &self.warnings else { return };
        match seen.fetch_add(1, Ordering::Relaxed) {
            count if count < MOST_WARNINGS => {
                self.print(&render(Format::Short, self.sources, std::slice::from_ref(diagnostic)));
            }
            MOST_WARNINGS => self.print("further warnings of rows are only counted\n"),
            _ => {}
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are well-formed").progress_chars("━╸ ")
}
