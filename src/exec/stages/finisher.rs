//! Writes what blocks came to, in block order, and keeps the counts of a stage.

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::dlq::LetterFile;
use crate::exec::operators::{BlockResult, Counts, Tree, WARNING_SAMPLES, Warned, warning_total};
use crate::exec::publish::Output;
use crate::exec::sources::Source;
use crate::exec::{Failure, Observer};

/// Writes the blocks of one stage.
pub(crate) struct Finisher<'a, 'p> {
    tree: &'a Tree<'p>,
    source: &'a Source<'p>,
    outputs: Vec<&'a mut Output>,
    letters: Option<&'a mut LetterFile>,
    observer: &'a dyn Observer,
    before: Progress,
    warned: Vec<(usize, usize, u64)>,
    totals: StageTotals,
    failure: Option<Failure>,
}

/// How far the run is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    /// Rows read.
    pub rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes to read in all.
    pub expected: u64,
}

/// What a stage did.
#[derive(Default)]
pub(crate) struct StageTotals {
    /// Records read.
    pub records: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Records written to at least one sink.
    pub ok: u64,
    /// Records that could not be typed.
    pub untyped: u64,
    /// Dead letters, written or not.
    pub letters: u64,
    /// For each operator of the stage.
    pub counts: Vec<Counts>,
    /// What is known only at the end.
    pub warnings: Vec<Diagnostic>,
}

impl<'a, 'p> Finisher<'a, 'p> {
    /// Writes to `outputs`, one for each sink of the tree, and to `letters`. `before` is how far earlier stages came.
    pub fn new(
        tree: &'a Tree<'p>,
        source: &'a Source<'p>,
        outputs: Vec<&'a mut Output>,
        letters: Option<&'a mut LetterFile>,
        observer: &'a dyn Observer,
        before: Progress,
    ) -> Self {
        let totals = StageTotals { counts: vec![Counts::default(); tree.nodes.len()], ..StageTotals::default() };
        Self { tree, source, outputs, letters, observer, before, warned: Vec::new(), totals, failure: None }
    }

    /// Writes a block. After a failure nothing more is written.
    pub fn finish(&mut self, result: &mut BlockResult) -> Result<(), Failure> {
        if self.failure.is_some() {
            return Ok(());
        }
        if let Some(failure) = result.failure.take() {
            return Err(failure);
        }
        if let Some((position, failure)) = self.too_many_untyped(&result.untyped, result.source_row) {
            self.write_letters(result, position)?;
            return Err(failure);
        }
        self.write_letters(result, u32::MAX)?;
        for (output, bytes) in self.outputs.iter_mut().zip(&result.sinks) {
            output.write(bytes)?;
        }
        self.count(result);
        Ok(())
    }

    /// Keeps the failure that ends the stage, unless an earlier block brought one.
    pub fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Whether the stage is over early.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// What the stage did, or why it stopped.
    pub fn complete(mut self) -> Result<StageTotals, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.warned.sort_unstable();
        let nodes = &self.tree.nodes;
        let warnings =
            self.warned.iter().map(|(node, validation, count)| warning_total(&nodes[*node], *validation, *count));
        self.totals.warnings = warnings.collect();
        Ok(self.totals)
    }

    fn write_letters(&mut self, result: &BlockResult, last: u32) -> Result<(), Failure> {
        self.totals.letters += result.letters.up_to(last).count() as u64;
        match &mut self.letters {
            Some(file) => file.append(result.letters.up_to(last)),
            None => Ok(()),
        }
    }

    /// Where the share of untyped records passes the threshold, counted row by row, and what to say.
    fn too_many_untyped(&mut self, untyped: &[u32], source_row: u64) -> Option<(u32, Failure)> {
        for &position in untyped {
            self.totals.untyped += 1;
            let threshold = self.tree.plan.dead_letters.type_error_threshold?;
            let rows = source_row + u64::from(position);
            let share = self.totals.untyped as f64 / rows as f64;
            if share > threshold {
                return Some((position, self.untyped_failure(rows, share, threshold)));
            }
        }
        None
    }

    fn untyped_failure(&self, rows: u64, share: f64, threshold: f64) -> Failure {
        let (name, untyped) = (&self.source.operator.name, self.totals.untyped);
        let message = format!(
            "source `{name}`: {untyped} of the first {rows} rows do not fit their types, a share of {share:.4} above \
             `type_error_threshold: {threshold}`"
        );
        Failure::new(Diagnostic::error(Code::E368, message).label(self.source.operator.span, "read here"), 3)
    }

    fn count(&mut self, result: &mut BlockResult) {
        let totals = &mut self.totals;
        totals.records += u64::from(result.records);
        totals.bytes += result.bytes;
        totals.ok += result.ok;
        totals.counts.iter_mut().zip(&result.counts).for_each(|(all, block)| all.add(block));
        for warned in result.warned.drain(..) {
            self.warn(warned);
        }
        let Progress { rows, bytes, expected } = self.before;
        self.observer.progress(rows + self.totals.records, bytes + self.totals.bytes, expected);
    }

    /// The first few are spelled out; all are counted.
    fn warn(&mut self, warned: Warned) {
        let Warned { node, validation, count, samples } = warned;
        let known = self.warned.iter().position(|(n, v, _)| (*n, *v) == (node, validation));
        let entry = known.unwrap_or_else(|| {
            self.warned.push((node, validation, 0));
            self.warned.len() - 1
        });
        let before = &mut self.warned[entry].2;
        let shown = WARNING_SAMPLES.saturating_sub(*before as usize);
        *before += count;
        samples.iter().take(shown).for_each(|sample| self.observer.warning(sample));
    }
}
