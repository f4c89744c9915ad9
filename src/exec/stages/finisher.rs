//! Writes what blocks came to, in block order, and keeps the counts of a stage.

use std::collections::BTreeMap;

use super::written::{self, WrittenRows};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::exec::clock::Clock;
use crate::exec::dlq::{LetterFile, Spool};
use crate::exec::memory::Arbitrator;
use crate::exec::operators::{
    BlockResult, Counts, Filling, Reached, Tree, WARNING_SAMPLES, Warned, WarnedRows, make_room,
};
use crate::exec::publish::Output;
use crate::exec::sources::Source;
use crate::exec::stages::contained;
use crate::exec::{Failure, Observer};
use crate::plan::physical::OperatorId;

/// Writes the blocks of one stage. Those of each segment come in order.
pub(crate) struct Finisher<'a, 'p> {
    segments: Vec<Segment<'a, 'p>>,
    ends: Ends<'a, 'p>,
    observer: &'a dyn Observer,
    /// How far the run is.
    progress: Progress,
    /// The first segment that failed.
    failure: Option<(usize, Failure)>,
}

/// A segment, and what it did so far.
struct Segment<'a, 'p> {
    tree: &'a Tree<'p>,
    /// Its head, if that is a source.
    source: Option<&'a Source<'p>>,
    totals: SegmentTotals,
    /// What there is to say about rows, where it has to wait until those of the segments in front are through.
    warnings: Vec<Diagnostic>,
}

/// Where rows go at the end of a stage.
pub(crate) struct Ends<'a, 'p> {
    /// The files of the stage's sinks.
    pub outputs: BTreeMap<OperatorId, &'a mut Output>,
    /// Where dead letters go.
    pub letters: LetterBox<'a, 'p>,
    /// The buffers that are being filled.
    pub fillings: &'a mut BTreeMap<OperatorId, Filling<'p>>,
    /// Owns the memory limit.
    pub arbitrator: &'a Arbitrator,
    /// The rows that sinks got, where that can't be told segment by segment.
    pub written: Option<&'a mut WrittenRows<'p>>,
    /// `warn` validations that did not hold, over all stages.
    pub warned: &'a mut Warnings,
}

/// Where dead letters go.
pub(crate) struct LetterBox<'a, 'p> {
    /// The files.
    pub files: &'a mut [LetterFile],
    /// Takes them until the end of the run, where later stages may have some that belong in front.
    pub spool: Option<&'a mut Spool<'p>>,
}

/// How often each `warn` validation did not hold: by operator and its position there.
pub(crate) type Warnings = BTreeMap<(OperatorId, usize), WarnedRows>;

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

/// What a segment did.
#[derive(Default)]
pub(crate) struct SegmentTotals {
    /// Records read.
    pub records: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Rows written to at least one sink, but for those that are noted one by one.
    pub reached: Reached,
    /// Records that could not be typed.
    pub untyped: u64,
    /// Dead letters, written or not, by what made the rows.
    pub letters: Vec<u64>,
    /// For each operator of the segment.
    pub counts: Vec<Counts>,
}

impl<'a, 'p> Finisher<'a, 'p> {
    /// Writes what comes of the segments of a stage: each a tree, and the source at its head if there is one. `before`
    /// is how far earlier stages came.
    pub fn new(
        segments: impl IntoIterator<Item = (&'a Tree<'p>, Option<&'a Source<'p>>)>,
        ends: Ends<'a, 'p>,
        observer: &'a dyn Observer,
        before: Progress,
    ) -> Self {
        let segment = |(tree, source): (&'a Tree<'p>, _)| {
            let counts = vec![Counts::default(); tree.nodes.len()];
            let totals = SegmentTotals { counts, ..SegmentTotals::default() };
            Segment { tree, source, totals, warnings: Vec::new() }
        };
        let segments = segments.into_iter().map(segment).collect();
        Self { segments, ends, observer, progress: before, failure: None }
    }

    /// Writes a block of a segment. After a failure nothing more is written of it and those behind it.
    pub fn finish(&mut self, segment: usize, result: &mut BlockResult) -> Result<(), Failure> {
        let finished = contained(|| self.write(segment, result));
        let reserved = result.take_reserved();
        reserved.iter().for_each(|reserved| self.ends.arbitrator.release(reserved.consumer, reserved.bytes));
        finished
    }

    fn write(&mut self, segment: usize, result: &mut BlockResult) -> Result<(), Failure> {
        if !self.goes_on(segment) {
            return Ok(());
        }
        if let Some(failure) = result.failure.take() {
            return Err(failure);
        }
        if let Some((position, failure)) = self.segments[segment].too_many_untyped(&result.untyped, result.source_row) {
            self.write_letters(segment, result, position)?;
            return Err(failure);
        }
        self.write_letters(segment, result, u32::MAX)?;
        self.write_rows(segment, result)?;
        self.fill(segment, result)?;
        self.note_written(segment, result)?;
        self.count(segment, result);
        Ok(())
    }

    /// Keeps the failure that ends a segment, unless one in front of it failed.
    pub fn fail(&mut self, segment: usize, failure: Failure) {
        if self.goes_on(segment) {
            self.failure = Some((segment, failure));
        }
    }

    /// Whether neither a segment nor one in front of it has failed.
    pub fn goes_on(&self, segment: usize) -> bool {
        self.failure.as_ref().is_none_or(|(failed, _)| segment < *failed)
    }

    /// What each segment did, or why the stage stopped.
    pub fn complete(self) -> Result<Vec<SegmentTotals>, Failure> {
        let Self { segments, observer, failure, mut ends, .. } = self;
        let through = failure.as_ref().map_or(segments.len(), |(failed, _)| failed + 1);
        segments[..through].iter().flat_map(|segment| &segment.warnings).for_each(|w| observer.warning(w));
        match failure {
            Some((failed, failure)) => {
                // How far the segments behind it came is a matter of chance.
                ends.letters.spool.iter_mut().for_each(|spool| spool.forget_behind(failed));
                Err(failure)
            }
            None => Ok(segments.into_iter().map(|segment| segment.totals).collect()),
        }
    }

    fn write_rows(&mut self, segment: usize, result: &mut BlockResult) -> Result<(), Failure> {
        let tree = self.segments[segment].tree;
        let mut clock = Clock::new(tree.measures);
        for (node, bytes) in tree.sinks.iter().zip(&result.sinks) {
            let output = self.ends.outputs.get_mut(&tree.nodes[*node].id).expect("every sink of the stage has a file");
            output.write(bytes)?;
            result.counts[*node].bytes += bytes.len() as u64;
            result.counts[*node].busy += clock.lap();
        }
        Ok(())
    }

    /// Gives the buffers what the block has for them.
    fn fill(&mut self, segment: usize, result: &mut BlockResult) -> Result<(), Failure> {
        let mut clock = Clock::new(self.segments[segment].tree.measures);
        for (slot, collected) in self.segments[segment].tree.slots.iter().zip(&mut result.collected) {
            if !collected.is_empty() {
                let Ends { fillings, arbitrator, .. } = &mut self.ends;
                let headroom = fillings[&slot.operator].buffer.headroom(collected.chunk.offsets.len());
                let wanted = collected.packed.len() as u64 + headroom;
                let plan = self.segments[segment].tree.plan;
                make_room(plan, fillings, arbitrator, wanted)?;
                let mut filling = fillings.remove(&slot.operator).expect("a buffer of the stage is being filled");
                let mut others = || make_room(plan, fillings, arbitrator, arbitrator.limit()).map(|_| ());
                let taken = filling.buffer.take(collected, &mut others);
                fillings.insert(slot.operator, filling);
                taken?;
                result.counts[slot.node].busy += clock.lap();
            }
        }
        Ok(())
    }

    /// Lets buffers put rows on disk, so that `wanted` more bytes have room, as far as that goes. Tells whether asking for
    /// them again is of use.
    pub fn make_room(&mut self, wanted: u64) -> Result<bool, Failure> {
        let Ends { fillings, arbitrator, .. } = &mut self.ends;
        make_room(self.segments[0].tree.plan, fillings, arbitrator, wanted)
    }

    /// Notes the rows that sinks got, of those makers whose rows are counted one by one.
    fn note_written(&mut self, segment: usize, result: &BlockResult) -> Result<(), Failure> {
        let tree = self.segments[segment].tree;
        let Ends { written: Some(written), fillings, arbitrator, .. } = &mut self.ends else { return Ok(()) };
        while let Err(exceeded) = written.add(result.counted_rows(tree)) {
            if !make_room(tree.plan, fillings, arbitrator, exceeded.wanted)? {
                return Err(written::does_not_fit(tree.plan, &exceeded));
            }
        }
        Ok(())
    }

    fn write_letters(&mut self, segment: usize, result: &BlockResult, last: u32) -> Result<(), Failure> {
        let Segment { tree, source, totals, .. } = &mut self.segments[segment];
        for letter in result.letters.up_to(last) {
            let source = letter.row.source as usize;
            totals.letters.resize(totals.letters.len().max(source + 1), 0);
            totals.letters[source] += 1;
        }
        let Ends { letters: LetterBox { files, spool }, fillings, arbitrator, .. } = &mut self.ends;
        let Some(spool) = spool else {
            // A stage of one segment that a source heads has letters of that source alone.
            let source = source.map(|source| source.position as usize).unwrap_or_default();
            let file = tree.nodes[0].letters.get(source).and_then(|shape| shape.file);
            return match file {
                Some(file) => files[file].append(result.letters.up_to(last).map(|letter| letter.text)),
                None => Ok(()),
            };
        };
        let wanted: usize = result.letters.up_to(last).map(|letter| letter.text.len()).sum();
        if wanted > 0 {
            make_room(tree.plan, fillings, arbitrator, wanted as u64)?;
        }
        for letter in result.letters.up_to(last) {
            let node = &tree.nodes[letter.node];
            let file = node.letters[letter.row.source as usize].file;
            spool.add(segment, file, node.id, &letter)?;
        }
        Ok(())
    }

    fn count(&mut self, segment: usize, result: &mut BlockResult) {
        self.segments[segment].totals.add(result);
        self.warn(segment, result);
        self.progress.rows += u64::from(result.records);
        self.progress.bytes += result.bytes;
        let Progress { rows, bytes, expected } = self.progress;
        self.observer.progress(rows, bytes, expected);
    }

    /// The first few of each validation are spelled out, in the order of their rows; all are counted.
    fn warn(&mut self, segment: usize, result: &mut BlockResult) {
        let is_alone = self.segments.len() == 1;
        let Segment { tree, warnings, .. } = &mut self.segments[segment];
        let mut shown = Vec::new();
        for Warned { node, validation, count, samples } in result.warned.drain(..) {
            let before = self.ends.warned.entry((tree.nodes[node].id, validation)).or_default();
            let left = WARNING_SAMPLES.saturating_sub(before.all as usize);
            shown.extend(samples.into_iter().take(left).map(|(row, sample)| ((row, node, validation), sample)));
            *before += count;
        }
        shown.sort_by_key(|(place, _)| *place);
        let shown = shown.into_iter().map(|(_, sample)| sample);
        match is_alone {
            true => shown.for_each(|sample| self.observer.warning(&sample)),
            // Which segment comes to it first is a matter of chance.
            false => warnings.extend(shown),
        }
    }
}

impl SegmentTotals {
    fn add(&mut self, result: &BlockResult) {
        self.records += u64::from(result.records);
        self.bytes += result.bytes;
        self.reached += result.reached;
        self.counts.iter_mut().zip(&result.counts).for_each(|(all, block)| all.add(block));
    }
}

impl Segment<'_, '_> {
    /// Where the share of untyped records passes the threshold, counted row by row, and what to say.
    fn too_many_untyped(&mut self, untyped: &[u32], source_row: u64) -> Option<(u32, Failure)> {
        for &position in untyped {
            self.totals.untyped += 1;
            let threshold = self.tree.plan.dead_letters.type_error_threshold.as_ref()?;
            let source = self.source?;
            let rows = source_row + u64::from(position);
            let share = self.totals.untyped as f64 / rows as f64;
            if share > threshold.value {
                return Some((position, self.untyped_failure(source, rows, share, threshold)));
            }
        }
        None
    }

    fn untyped_failure(&self, source: &Source<'_>, rows: u64, share: f64, threshold: &Spanned<f64>) -> Failure {
        let (name, untyped) = (&source.operator.name, self.totals.untyped);
        let counted = match (untyped, rows) {
            (_, 1) => "the first row does not fit its types".to_owned(),
            (1, _) => format!("1 of the first {rows} rows does not fit its types"),
            _ => format!("{untyped} of the first {rows} rows do not fit their types"),
        };
        let message = format!(
            "source `{name}`: {counted}, a share of {share:.4} above `type_error_threshold: {}`",
            threshold.value
        );
        let diagnostic = Diagnostic::error(Code::E368, message)
            .label(threshold.span, "the ceiling")
            .label(source.operator.span, "read here")
            .help("the share is counted row by row; `dlq.max_rate` with `min_records` is one of the whole input");
        Failure::new(diagnostic, 3)
    }
}
