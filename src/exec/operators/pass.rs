//! One block's way through the operators of its segment.

mod groups;
mod large_rows;

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::types::Kind;
use crate::exec::batch::{Batch, Carried, Column, Origin, Positions};
use crate::exec::clock::Clock;
use crate::exec::dlq::{Bond, LetterRow, LetterWriter};
use crate::exec::eval::{self, Warning};
use crate::exec::fault::Fault;
use crate::exec::rest::Place;
use crate::exec::sources::{Source, Ticket};
use crate::exec::{Failure, NamedRow};
use crate::formats::csv::{Block, EncodeError, Encoder, Index, RecordFault};
use crate::plan::physical::OperatorKind;

use super::aggregate::{BlockRoom, GroupsOf, Stretch};
use super::buffer::{BufferContext, CollectError, Collector};
use super::cull;
use super::fault_text::{self, FaultText, RecordText};
use super::joining::Joining;
use super::merge::ColumnMap;
use super::{Action, BlockResult, Lost, Mixed, Resting, Tree, Unit, WARNING_SAMPLES, Warned, WarnedRows};

/// A block on its way.
pub(crate) struct Pass<'a, 'p> {
    tree: &'a Tree<'p>,
    sources: &'a [Source<'p>],
    unit: Unit<'a, 'p>,
    result: &'a mut BlockResult,
    letters: LetterWriter,
    /// Batches on their way, the next one last: a list and not calls within calls, since a pipeline may be as long as
    /// its author likes.
    waiting: Vec<Waiting<'a>>,
    /// For each streaming aggregate, its groups in the block so far.
    stretches: Vec<Option<Stretch>>,
    /// The first failure so far that stops the run, with its place: row, then operator.
    first: Option<(u32, usize, Failure)>,
    room: BlockRoom<'a>,
    /// Whether there are large rows, for which memory was reserved.
    has_large: bool,
    /// For each buffer, then for each input of an interleaving merge, the small batches that wait for more.
    joining: Vec<Joining>,
    /// Bytes of the texts that a transform made of the batch, the most of all transforms.
    made: usize,
    clock: Clock,
}

/// A batch, and who is still to take it: at least one.
struct Waiting<'a> {
    consumers: &'a [(usize, usize)],
    batch: Batch,
}

impl<'a, 'p> Pass<'a, 'p> {
    /// Sends all rows of a block through the tree. What they come to is in `result`. `room` gives memory, and
    /// `clock` began when the block was there.
    pub fn run(
        tree: &'a Tree<'p>,
        sources: &'a [Source<'p>],
        unit: Unit<'a, 'p>,
        result: &'a mut BlockResult,
        room: BlockRoom<'a>,
        (places, clock): (&mut Vec<Place>, Clock),
    ) {
        result.clear(tree, &unit);
        let letters = LetterWriter::default();
        let (waiting, stretches) = (Vec::new(), tree.streams.iter().map(|_| None).collect());
        let joining = (0..tree.slots.len() + tree.joins.len()).map(|_| Joining::default()).collect();
        let (first, has_large, made) = (None, false, 0);
        let mut pass = Self {
            tree,
            sources,
            unit,
            result,
            letters,
            waiting,
            stretches,
            first,
            room,
            has_large,
            joining,
            made,
            clock,
        };
        match unit {
            Unit::Text { source, ticket, block, index } => {
                pass.each_batch(block.records, |pass, range| pass.decode(source, ticket, block, index, range));
            }
            Unit::Resting { rows: Resting::Drain(drain), slice, .. } => {
                places.clear();
                drain.places(slice.port, slice.range.clone(), places);
                let rows: Vec<&[u8]> = places.iter().map(|place| drain.row(*place)).collect();
                match pass.is_failed(slice.port) {
                    true => pass.lose(&rows, &drain.lost(slice.range.clone())),
                    false => pass.revive(&rows, slice.port),
                }
            }
            Unit::Resting { rows: Resting::Groups(held), slice, .. } => {
                pass.make(GroupsOf::Held(held, slice.range.start as u32), slice);
            }
            Unit::Resting { rows: Resting::Read(chunk, lost), slice, .. } => {
                let rows: Vec<&[u8]> = chunk.rows().collect();
                match tree.nodes[0].action {
                    Action::Groups(_) => pass.make(GroupsOf::Records(&rows), slice),
                    _ if pass.is_failed(slice.port) => pass.lose(&rows, lost),
                    _ => pass.revive(&rows, slice.port),
                }
            }
            Unit::Mixed(mixed) => pass.gather(mixed),
            Unit::End { .. } => {}
        }
        pass.end_groups();
        pass.finish();
    }

    /// Goes through the rows of the block, a batch at a time, until one stops the run.
    fn each_batch(&mut self, rows: u32, mut step: impl FnMut(&mut Self, Range<u32>)) {
        let mut start = 0;
        while start < rows && self.first.is_none() {
            let end = rows.min(start.saturating_add(self.tree.batch_rows.now()));
            self.made = 0;
            step(self, start..end);
            self.lap(0);
            self.work_off();
            self.tree.batch_rows.note(end - start, self.made as u64);
            start = end;
        }
    }

    /// Takes the batches that are on their way, and all that comes of them, to their ends.
    fn work_off(&mut self) {
        while let Some((consumer, batch)) = self.next() {
            self.take(consumer, batch);
            self.lap(consumer.0);
        }
    }

    /// Notes the time since the last lap as an operator's.
    fn lap(&mut self, at: usize) {
        self.result.counts[at].busy += self.clock.lap();
    }

    fn finish(mut self) {
        self.end_joining();
        self.lap(0);
        let Self { tree, result, letters, first, mut clock, .. } = self;
        for (slot, collected) in tree.slots.iter().zip(&mut result.collected) {
            collected.pack();
            let counts = &mut result.counts[slot.node];
            counts.bytes += collected.packed.len() as u64;
            counts.busy += clock.lap();
        }
        result.letters.complete(letters);
        result.count_marked(tree);
        result.failure = first.map(|(_, _, failure)| failure);
    }

    fn decode(&mut self, source: &Source<'p>, ticket: &Ticket, block: &Block, index: &Index, range: Range<u32>) {
        let decoded = ticket.decoder.decode(source.spec, block, index, range.clone());
        let origin = Origin {
            source: source.position,
            file: ticket.file,
            block_row: block.first_row,
            block_source_row: ticket.source_row,
            positions: Positions::From(range.start),
            kept: None,
        };
        let rows = range.len();
        let carried = carried(ticket, decoded.extra);
        let mut batch = Batch { rows, columns: decoded.columns, carried, origin };
        if !decoded.faults.is_empty() {
            batch = batch.take(&good_rows(&range, &decoded.faults));
            decoded.faults.iter().for_each(|fault| self.untyped(fault));
        }
        let counts = &mut self.result.counts[0];
        counts.rows_in += rows as u64;
        counts.rows_out += batch.rows as u64;
        self.give(0, 0, batch);
    }

    /// The next operator to run and what it takes. All that comes of a batch is done before its next consumer.
    fn next(&mut self) -> Option<((usize, usize), Batch)> {
        let Waiting { consumers, batch } = self.waiting.pop()?;
        let (first, others) = consumers.split_first()?;
        if !others.is_empty() {
            self.waiting.push(Waiting { consumers: others, batch: batch.clone() });
        }
        Some((*first, batch))
    }

    /// Turns rows of a buffer back and hands them on, or writes them as they are if they are what a sink writes.
    fn revive(&mut self, rows: &[&[u8]], port: usize) {
        let Unit::Resting { codec, .. } = self.unit else { return };
        self.result.origins = codec.origins(rows);
        let counts = &mut self.result.counts[0];
        counts.rows_out += rows.len() as u64;
        let is_removed = matches!(self.tree.nodes[0].operator.kind, OperatorKind::Cull(_)) && port == cull::REMOVED;
        counts.removed += if is_removed { rows.len() as u64 } else { 0 };
        if codec.is_bytes() {
            return self.copy(rows, port);
        }
        self.each_batch(rows.len() as u32, |pass, range| {
            let mut batch = codec.decode(&rows[range.start as usize..range.end as usize]);
            batch.origin = Origin { kept: pass.result.origins.clone(), ..Origin::unknown(range.start) };
            pass.give(0, port, batch);
        });
    }

    /// Whether a port of the buffer is that of failed groups: it is behind those of the plan.
    fn is_failed(&self, port: usize) -> bool {
        port >= self.tree.nodes[0].operator.ports()
    }

    /// Makes dead letters of rows whose groups failed.
    fn lose(&mut self, rows: &[&[u8]], lost: &[Lost]) {
        let Unit::Resting { codec, .. } = self.unit else { return };
        self.result.origins = codec.origins(rows);
        self.result.counts[0].rejected += rows.len() as u64;
        self.each_batch(rows.len() as u32, |pass, range| {
            let range = range.start as usize..range.end as usize;
            let mut batch = codec.decode(&rows[range.clone()]);
            batch.origin = Origin { kept: pass.result.origins.clone(), ..Origin::unknown(range.start as u32) };
            for (row, lost) in lost[range].iter().enumerate() {
                pass.lost_letter(&batch, row, lost);
            }
        });
    }

    /// The dead letter of a row of a failed group.
    fn lost_letter(&mut self, batch: &Batch, row: usize, lost: &Lost) {
        let origin = &batch.origin;
        let position = origin.positions.at(row);
        let letter_row = LetterRow { source: origin.source_of(row), source_row: origin.source_row(row) };
        let bond = if lost.is_trigger { Bond::Trigger(lost.group) } else { Bond::Correlated(lost.group) };
        let shape = &self.tree.nodes[0].letters[letter_row.source as usize];
        if shape.file.is_none() {
            return self.result.letters.count_bound(position, 0, letter_row, bond);
        }
        let cells = shape.row_cells(batch, row, Vec::new);
        let trigger = fault_text::lost(self.sources, batch, row, lost);
        let end = self.letters.write_bound(shape, &trigger, bond, &cells);
        self.result.letters.add_bound(position, 0, letter_row, bond, end);
    }

    /// Writes rows that are what the sinks below write.
    fn copy(&mut self, rows: &[&[u8]], port: usize) {
        let (tree, Unit::Resting { codec, .. }) = (self.tree, self.unit) else { return };
        let readers = tree.nodes[0].consumers.get(port).map(Vec::as_slice).unwrap_or_default();
        let mut is_written = false;
        for (reader, _) in readers {
            let counts = &mut self.result.counts[*reader];
            counts.rows_in += rows.len() as u64;
            if let Action::Sink(_, sink) = tree.nodes[*reader].action {
                counts.rows_out += rows.len() as u64;
                let out = &mut self.result.sinks[sink];
                out.reserve(rows.iter().map(|row| row.len()).sum());
                rows.iter().for_each(|row| out.extend_from_slice(codec.bytes(row)));
                is_written = true;
            }
        }
        if is_written {
            let origin = Origin { kept: self.result.origins.clone(), ..Origin::unknown(0) };
            self.mark_written(&origin, rows.len());
        }
    }

    /// Puts rows that were taken in turn together and hands them on.
    fn gather(&mut self, mixed: &Mixed) {
        let head = self.tree.nodes[0].operator;
        let OperatorKind::Merge(spec) = &head.kind else { unreachable!("only a merge takes rows in turn") };
        let kinds: Vec<&Kind> = spec.output.columns.iter().map(|column| &column.ty.kind).collect();
        self.result.origins = spec.identity.then(|| Arc::new(mixed.origins()));
        self.result.counts[0].rows_out += mixed.picks.len() as u64;
        self.each_batch(mixed.picks.len() as u32, |pass, range| {
            let rows = range.len();
            let picks = &mixed.picks[range.start as usize..range.end as usize];
            let (columns, carried) = Batch::gather(&mixed.batches, picks, &kinds);
            let origin = Origin { kept: pass.result.origins.clone(), ..Origin::unknown(range.start) };
            pass.give(0, 0, Batch { rows, columns, carried, origin });
        });
    }

    /// Hands a batch to whatever reads a port.
    fn give(&mut self, node: usize, port: usize, batch: Batch) {
        let tree = self.tree;
        let consumers = tree.nodes[node].consumers.get(port).map(Vec::as_slice).unwrap_or_default();
        if batch.rows > 0 && !consumers.is_empty() {
            self.waiting.push(Waiting { consumers, batch });
        }
    }

    fn take(&mut self, (at, input): (usize, usize), batch: Batch) {
        self.result.counts[at].rows_in += batch.rows as u64;
        let tree = self.tree;
        match &tree.nodes[at].action {
            Action::Transform(program) => self.transform(at, program, &batch),
            Action::Route(route) => self.route(at, route, &batch),
            Action::Merge(maps) => self.merge(at, &maps[input], batch),
            Action::Join(map, join) => self.hand(*join, map.apply(batch)),
            Action::Stream(stream, number) => self.group(at, stream, *number, &batch),
            Action::Through => self.pass_on(at, batch),
            Action::Buffer(collector, slot) => self.join(at, collector.as_ref(), *slot, batch),
            Action::Sink(encoder, sink) => self.encode(at, encoder, *sink, &batch),
            Action::Head | Action::Groups(_) | Action::Discard => {}
        }
    }

    /// Hands rows to an interleaving merge, small batches together.
    fn hand(&mut self, join: usize, batch: Batch) {
        let kinds = &self.tree.joins[join].kinds;
        let joined = self.joining[self.tree.slots.len() + join].add(batch, kinds);
        self.result.handed[join].extend(joined);
    }

    /// Gives rows to a buffer, small batches together; large rows aren't copied for that.
    fn join(&mut self, at: usize, collector: &dyn Collector, slot: usize, batch: Batch) {
        if self.has_large {
            self.end_joining();
            return self.collect(at, collector, slot, &batch);
        }
        let joined: Vec<Batch> = self.joining[slot].add(batch, &self.tree.slots[slot].kinds).collect();
        joined.iter().for_each(|batch| self.collect(at, collector, slot, batch));
    }

    /// Hands on what waits for more.
    fn end_joining(&mut self) {
        let tree = self.tree;
        for (number, slot) in tree.slots.iter().enumerate() {
            if let (Some(batch), Action::Buffer(collector, _)) =
                (self.joining[number].take(&slot.kinds), &tree.nodes[slot.node].action)
            {
                self.collect(slot.node, collector.as_ref(), number, &batch);
                self.lap(slot.node);
            }
        }
        for (number, join) in tree.joins.iter().enumerate() {
            let rest = self.joining[tree.slots.len() + number].take(&join.kinds);
            self.result.handed[number].extend(rest);
        }
    }

    fn merge(&mut self, at: usize, map: &ColumnMap, batch: Batch) {
        self.pass_on(at, map.apply(batch));
    }

    fn pass_on(&mut self, at: usize, batch: Batch) {
        self.result.counts[at].rows_out += batch.rows as u64;
        self.give(at, 0, batch);
    }

    fn collect(&mut self, at: usize, collector: &dyn Collector, slot: usize, batch: &Batch) {
        match collector.collect(batch, &mut self.result.collected[slot]) {
            Ok(admitted) => {
                self.result.counts[at].filtered += admitted.filtered as u64;
                self.reject(at, batch, &admitted.faults);
                let (tree, bytes) = (self.tree, self.result.collected[slot].chunk.bytes.len());
                // Said at once: the block might go on to make more than the machine can hold.
                if let Some(failure) =
                    BufferContext::block_does_not_fit(tree.nodes[at].operator, bytes, tree.arbitrator.limit())
                {
                    self.stop(batch.origin.position(batch.rows - 1), at, || failure);
                }
            }
            Err(CollectError::Unwritable(error)) => self.unwritable(at, batch, &error),
            Err(CollectError::Data(row, failure)) => {
                let (origin, position) = (&batch.origin, batch.origin.position(row));
                let line = self.line(origin, position);
                let named = NamedRow { row: origin.row_id(row), begins_group: false, line };
                self.stop(position, at, || failure.about(named));
            }
        }
    }

    fn transform(&mut self, at: usize, program: &eval::Transform, batch: &Batch) {
        let done = program.run(batch);
        self.made = self.made.max(done.batch.text_bytes());
        let counts = &mut self.result.counts[at];
        counts.rows_out += done.batch.rows as u64;
        counts.filtered += done.filtered as u64;
        self.warn(at, batch, &done.warned);
        self.reject(at, batch, &done.faults);
        self.give(at, 0, done.batch);
    }

    fn route(&mut self, at: usize, route: &eval::Route, batch: &Batch) {
        let routed = route.run(batch);
        self.reject(at, batch, &routed.faults);
        // The first branch is to be the next.
        for (port, branch) in routed.branches.into_iter().enumerate().rev() {
            let Some(branch) = branch else { continue };
            self.result.counts[at].rows_out += branch.rows as u64;
            self.give(at, port, branch);
        }
    }

    fn encode(&mut self, at: usize, encoder: &Encoder, sink: usize, batch: &Batch) {
        if let Err(error) = encoder.encode(batch, &mut self.result.sinks[sink]) {
            return self.unwritable(at, batch, &error);
        }
        self.result.counts[at].rows_out += batch.rows as u64;
        self.mark_written(&batch.origin, batch.rows);
    }

    fn mark_written(&mut self, origin: &Origin, rows: usize) {
        if !self.tree.marks_rows {
            return self.count_written(origin, rows);
        }
        if origin.is_made() {
            self.result.made.extend((0..rows).map(|row| (origin.source_of(row), origin.source_row(row))));
            return;
        }
        for row in 0..rows {
            let position = origin.positions.at(row);
            self.result.written[(position / 64) as usize] |= 1 << (position % 64);
        }
    }

    /// Counts rows that a sink got, where each is written once.
    fn count_written(&mut self, origin: &Origin, rows: usize) {
        let (tree, reached) = (self.tree, &mut self.result.reached);
        if !origin.is_made() && origin.kept.is_none() {
            return reached.add(rows as u64, tree.is_made);
        }
        let made = (0..rows).filter(|row| origin.source_of(*row) >= tree.sources).count() as u64;
        reached.add(made, true);
        reached.add(rows as u64 - made, false);
    }

    /// A record that could not be typed.
    fn untyped(&mut self, fault: &RecordFault) {
        let Unit::Text { source, ticket, block, index } = self.unit else { return };
        self.result.untyped.push(fault.position);
        self.result.counts[0].rejected += 1;
        let tree = self.tree;
        let text =
            || RecordText::new(source, ticket, block, fault, ticket.decoder.decoder.raw(block, index, fault.position));
        if !tree.plan.dead_letters.continue_on_error {
            let text = text();
            return self.stop(fault.position, 0, || text.failure());
        }
        let row = LetterRow { source: source.position, source_row: ticket.source_row + u64::from(fault.position) };
        let shape = &tree.nodes[0].letters[source.position as usize];
        if shape.file.is_none() {
            return self.result.letters.count(fault.position, 0, row);
        }
        let text = text();
        let cells = shape.raw_cells(&text.record.fields, &ticket.decoder.binding);
        let end = self.letters.write(shape, &text.trigger(), &cells);
        self.result.letters.add(fault.position, 0, row, end);
    }

    /// Rows that failed at an operator.
    fn reject(&mut self, at: usize, batch: &Batch, faults: &[Fault]) {
        self.result.counts[at].rejected += faults.len() as u64;
        let (tree, sources) = (self.tree, self.sources);
        let node = &tree.nodes[at];
        for fault in faults {
            let position = batch.origin.position(fault.row);
            let text = FaultText { sources, node, batch, fault };
            if !tree.plan.dead_letters.continue_on_error {
                let failure = self.is_first(position, at).then(|| text.failure(self.line(&batch.origin, position)));
                failure.into_iter().for_each(|failure| self.first = Some((position, at, failure)));
            } else {
                self.dead_letter(at, batch, &text);
            }
        }
    }

    fn dead_letter(&mut self, at: usize, batch: &Batch, text: &FaultText<'_, '_>) {
        let (origin, row) = (&batch.origin, text.fault.row);
        let position = origin.position(row);
        let letter_row = LetterRow { source: origin.source_of(row), source_row: origin.source_row(row) };
        let node = &self.tree.nodes[at];
        let shape = &node.letters[letter_row.source as usize];
        if shape.file.is_none() {
            return self.result.letters.count(position, at, letter_row);
        }
        let cells = shape.row_cells(batch, row, || self.decode_again(origin, position));
        let end = self.letters.write(shape, &text.trigger(), &cells);
        self.result.letters.add(position, at, letter_row, end);
    }

    /// The source columns of a record that is still at hand as text: those that were not kept, too.
    fn decode_again(&self, origin: &Origin, position: u32) -> Vec<Option<Column>> {
        match self.unit {
            Unit::Text { source, ticket, block, index } if !origin.is_made() => {
                ticket.decoder.decode_all(source.spec, block, index, position..position + 1)
            }
            _ => Vec::new(),
        }
    }

    /// The line that a record begins in, while its text is at hand.
    fn line(&self, origin: &Origin, position: u32) -> Option<u64> {
        match self.unit {
            Unit::Text { ticket, block, index, .. } if !origin.is_made() => {
                Some(ticket.decoder.decoder.line(block, index, position))
            }
            _ => None,
        }
    }

    /// `warn` validations that did not hold: counted, and the first few spelled out.
    fn warn(&mut self, at: usize, batch: &Batch, warned: &[Warning]) {
        self.result.counts[at].warned += warned.len() as u64;
        for warning in warned {
            let validation = warning.validation;
            let known = self.result.warned.iter().position(|w| (w.node, w.validation) == (at, validation));
            let entry = known.unwrap_or_else(|| {
                self.result.warned.push(Warned {
                    node: at,
                    validation,
                    count: WarnedRows::default(),
                    samples: Vec::new(),
                });
                self.result.warned.len() - 1
            });
            let entry = &mut self.result.warned[entry];
            entry.count.add(warning);
            if entry.samples.len() < WARNING_SAMPLES {
                let sample = fault_text::warning(self.sources, &self.tree.nodes[at], batch, warning);
                entry.samples.push((batch.origin.position(warning.row), sample));
            }
        }
    }

    fn unwritable(&mut self, at: usize, batch: &Batch, error: &EncodeError) {
        let position = batch.origin.position(error.row);
        let (sources, node) = (self.sources, &self.tree.nodes[at]);
        let sink = fault_text::writing_sink(self.tree.plan, node.id);
        self.stop(position, at, || fault_text::unwritable(sources, sink, batch, error));
    }

    /// Keeps a failure that stops the run, if it is the first by record and operator.
    fn stop(&mut self, position: u32, at: usize, failure: impl FnOnce() -> Failure) {
        if self.is_first(position, at) {
            self.first = Some((position, at, failure()));
        }
    }

    fn is_first(&self, position: u32, at: usize) -> bool {
        self.first.as_ref().is_none_or(|(first, node, _)| (position, at) < (*first, *node))
    }
}

fn carried(ticket: &Ticket, extra: Vec<Column>) -> Carried {
    let named = ticket.decoder.carried.iter().zip(extra);
    let fields = named.filter_map(|(id, column)| match column {
        Column::String(values) => Some((*id, values)),
        _ => None,
    });
    Carried { fields: fields.collect() }
}

/// The records of a range that did not fail, as positions in it.
fn good_rows(range: &Range<u32>, faults: &[RecordFault]) -> Vec<u32> {
    let mut faults = faults.iter().map(|fault| fault.position).peekable();
    let good = range.clone().filter(|position| faults.next_if_eq(position).is_none());
    good.map(|position| position - range.start).collect()
}
