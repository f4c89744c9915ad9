//! Writes what blocks came to, in block order, and keeps the counts of a stage.

use std::collections::BTreeMap;

use crate::diagnostics::{Code, Diagnostic};
use crate::exec::dlq::{LetterFile, Spool};
use crate::exec::memory::Arbitrator;
use crate::exec::operators::{BlockResult, Counts, Filling, Tree, WARNING_SAMPLES, Warned, make_room};
use crate::exec::publish::Output;
use crate::exec::sources::Source;
use crate::exec::{Failure, Observer};
use crate::plan::physical::OperatorId;

/// Writes the blocks of one stage.
pub(crate) struct Finisher<'a, 'p> {
    tree: &'a Tree<'p>,
    /// What drives the stage, if it is a source.
    source: Option<&'a Source<'p>>,
    ends: Ends<'a, 'p>,
    observer: &'a dyn Observer,
    before: Progress,
    totals: StageTotals,
    failure: Option<Failure>,
}

/// Where rows go at the end of a stage.
pub(crate) struct Ends<'a, 'p> {
    /// The files of the tree's sinks, in order.
    pub outputs: Vec<&'a mut Output>,
    /// Where dead letters go.
    pub letters: LetterBox<'a>,
    /// The buffers that are being filled.
    pub fillings: &'a mut BTreeMap<OperatorId, Filling<'p>>,
    /// Owns the memory limit.
    pub arbitrator: &'a Arbitrator,
    /// The rows that sinks got, where rows are known beyond their stage.
    pub written: Option<&'a mut WrittenRows>,
    /// `warn` validations that did not hold, over all stages.
    pub warned: &'a mut Warnings,
}

/// Where dead letters go.
pub(crate) struct LetterBox<'a> {
    /// The files.
    pub files: &'a mut [LetterFile],
    /// Takes them until the end of the run, where later stages may have some that belong in front.
    pub spool: Option<&'a mut Spool>,
}

/// How often each `warn` validation did not hold: by operator and its position there.
pub(crate) type Warnings = BTreeMap<(OperatorId, usize), u64>;

/// Which rows of each source reached a sink: one bit a row.
#[derive(Default)]
pub(crate) struct WrittenRows {
    sources: Vec<Vec<u64>>,
}

impl WrittenRows {
    fn add(&mut self, source: u32, source_row: u64) {
        let (source, word) = (source as usize, (source_row / 64) as usize);
        if self.sources.len() <= source {
            self.sources.resize(source + 1, Vec::new());
        }
        let words = &mut self.sources[source];
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << (source_row % 64);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.sources.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }
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
    /// Rows written to at least one sink, but for those that are known beyond their stage.
    pub ok: u64,
    /// Records that could not be typed.
    pub untyped: u64,
    /// Dead letters, written or not, by source.
    pub letters: Vec<u64>,
    /// Dead letters of rows without a single source, written or not.
    pub merged_letters: u64,
    /// For each operator of the stage.
    pub counts: Vec<Counts>,
}

impl<'a, 'p> Finisher<'a, 'p> {
    /// Writes what comes of `tree`, which `source` drives if a source does. `before` is how far earlier stages came.
    pub fn new(
        tree: &'a Tree<'p>,
        source: Option<&'a Source<'p>>,
        ends: Ends<'a, 'p>,
        observer: &'a dyn Observer,
        before: Progress,
    ) -> Self {
        let totals = StageTotals { counts: vec![Counts::default(); tree.nodes.len()], ..StageTotals::default() };
        Self { tree, source, ends, observer, before, totals, failure: None }
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
        for (output, bytes) in self.ends.outputs.iter_mut().zip(&result.sinks) {
            output.write(bytes)?;
        }
        self.fill(result)?;
        self.mark_written(result);
        self.count(result);
        Ok(())
    }

    /// Gives the buffers what the block has for them.
    fn fill(&mut self, result: &mut BlockResult) -> Result<(), Failure> {
        for (slot, collected) in self.tree.slots.iter().zip(&mut result.collected) {
            if !collected.packed.is_empty() {
                let Ends { fillings, arbitrator, .. } = &mut self.ends;
                make_room(self.tree.plan, fillings, arbitrator, collected.packed.len() as u64)?;
                let filling = fillings.get_mut(&slot.buffer).expect("a buffer of the stage is being filled");
                filling.buffer.take(slot.input, collected)?;
            }
        }
        Ok(())
    }

    /// Notes which rows the sinks got.
    fn mark_written(&mut self, result: &mut BlockResult) {
        let origins = result.origins.take();
        let Some(written) = &mut self.ends.written else {
            result.ok += result.written.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            return;
        };
        let positions = result.written.iter().enumerate().flat_map(|(word, bits)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        });
        match (origins, self.source) {
            (Some(kept), _) => positions.for_each(|at| written.add(kept.sources[at], kept.source_rows[at])),
            (None, Some(source)) => {
                positions.for_each(|at| written.add(source.position, result.source_row + at as u64));
            }
            // A buffer that doesn't keep them holds rows that nothing else writes.
            (None, None) => result.ok += positions.count() as u64,
        }
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
    pub fn complete(self) -> Result<StageTotals, Failure> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.totals),
        }
    }

    fn write_letters(&mut self, result: &BlockResult, last: u32) -> Result<(), Failure> {
        for letter in result.letters.up_to(last) {
            let Some(source) = letter.row.source() else {
                self.totals.merged_letters += 1;
                continue;
            };
            self.totals.letters.resize(self.totals.letters.len().max(source + 1), 0);
            self.totals.letters[source] += 1;
        }
        let LetterBox { files, spool } = &mut self.ends.letters;
        let Some(spool) = spool else {
            // A stage that a source drives has letters of that source alone.
            let source = self.source.map(|source| source.position as usize).unwrap_or_default();
            let file = self.tree.nodes[0].letters.get(source).and_then(|shape| shape.file);
            return match file {
                Some(file) => files[file].append(result.letters.up_to(last).map(|letter| letter.text)),
                None => Ok(()),
            };
        };
        for letter in result.letters.up_to(last) {
            let node = &self.tree.nodes[letter.node];
            let file = match letter.row.source() {
                Some(source) => node.letters[source].file,
                None => self.tree.plan.dead_letters.merged,
            };
            spool.add(file, node.id, &letter)?;
        }
        Ok(())
    }

    /// Where the share of untyped records passes the threshold, counted row by row, and what to say.
    fn too_many_untyped(&mut self, untyped: &[u32], source_row: u64) -> Option<(u32, Failure)> {
        for &position in untyped {
            self.totals.untyped += 1;
            let threshold = self.tree.plan.dead_letters.type_error_threshold?;
            let source = self.source?;
            let rows = source_row + u64::from(position);
            let share = self.totals.untyped as f64 / rows as f64;
            if share > threshold {
                return Some((position, self.untyped_failure(source, rows, share, threshold)));
            }
        }
        None
    }

    fn untyped_failure(&self, source: &Source<'_>, rows: u64, share: f64, threshold: f64) -> Failure {
        let (name, untyped) = (&source.operator.name, self.totals.untyped);
        let message = format!(
            "source `{name}`: {untyped} of the first {rows} rows do not fit their types, a share of {share:.4} above \
             `type_error_threshold: {threshold}`"
        );
        Failure::new(Diagnostic::error(Code::E368, message).label(source.operator.span, "read here"), 3)
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
        let before = self.ends.warned.entry((self.tree.nodes[node].id, validation)).or_default();
        let shown = WARNING_SAMPLES.saturating_sub(*before as usize);
        *before += count;
        samples.iter().take(shown).for_each(|sample| self.observer.warning(sample));
    }
}
