//! One block's way through the operators of its stage.

use std::ops::Range;

use crate::exec::Failure;
use crate::exec::batch::{Batch, Carried, Column, Origin, Positions};
use crate::exec::dlq::LetterWriter;
use crate::exec::eval;
use crate::exec::fault::Fault;
use crate::exec::sources::{Source, Ticket};
use crate::formats::csv::{Block, EncodeError, Encoder, Index, RecordFault};

use super::distinct::Gate;
use super::fault_text::{self, FaultText, RecordText};
use super::{Action, BlockResult, Tree, TreeNode, WARNING_SAMPLES, Warned};

/// A block on its way.
pub(crate) struct Pass<'a, 'p> {
    tree: &'a Tree<'p>,
    source: &'a Source<'p>,
    ticket: &'a Ticket,
    block: &'a Block,
    index: &'a Index,
    result: &'a mut BlockResult,
    letters: LetterWriter,
    /// Batches on their way, the next one last: a list and not calls within calls, since a pipeline may be as long as
    /// its author likes.
    waiting: Vec<Waiting<'a>>,
    /// The first failure so far that stops the run, with its place: record, then operator.
    first: Option<(u32, usize, Failure)>,
    /// Whether this is the block's last batch.
    last: bool,
}

/// A batch, and who is still to take it: at least one.
struct Waiting<'a> {
    consumers: &'a [usize],
    batch: Batch,
}

impl<'a, 'p> Pass<'a, 'p> {
    /// Sends all rows of a block through the tree. What they come to is in `result`.
    pub fn run(
        tree: &'a Tree<'p>,
        source: &'a Source<'p>,
        ticket: &'a Ticket,
        block: &'a Block,
        index: &'a mut Index,
        result: &'a mut BlockResult,
    ) {
        result.clear(tree, ticket, block);
        ticket.decoder.decoder.index(block, index);
        let letters = LetterWriter::default();
        let waiting = Vec::new();
        let mut pass = Self { tree, source, ticket, block, index, result, letters, waiting, first: None, last: false };
        let mut start = 0;
        while start < block.records && pass.first.is_none() {
            let end = block.records.min(start.saturating_add(tree.batch_size));
            pass.last = end == block.records;
            pass.decode(start..end);
            start = end;
        }
        pass.finish();
    }

    fn finish(self) {
        let Self { result, letters, first, .. } = self;
        if !result.written.is_empty() {
            result.ok = result.written.iter().map(|word| u64::from(word.count_ones())).sum();
        }
        result.letters.complete(letters);
        result.failure = first.map(|(_, _, failure)| failure);
    }

    fn decode(&mut self, range: Range<u32>) {
        let decoded = self.ticket.decoder.decoder.decode(self.block, self.index, range.clone());
        let origin = Origin {
            source: self.source.position,
            file: self.ticket.file,
            block_row: self.block.first_row,
            block_source_row: self.ticket.source_row,
            positions: Positions::From(range.start),
            kept: None,
        };
        let rows = range.len();
        let mut batch = Batch { rows, columns: decoded.columns, carried: self.carried(decoded.extra), origin };
        if !decoded.faults.is_empty() {
            batch = batch.take(&good_rows(&range, &decoded.faults));
            decoded.faults.iter().for_each(|fault| self.untyped(fault));
        }
        let counts = &mut self.result.counts[0];
        counts.rows_in += rows as u64;
        counts.rows_out += batch.rows as u64;
        self.give(0, 0, batch);
        while let Some((consumer, batch)) = self.next() {
            self.take(consumer, batch);
        }
    }

    /// The next operator to run and what it takes. All that comes of a batch is done before its next consumer.
    fn next(&mut self) -> Option<(usize, Batch)> {
        let Waiting { consumers, batch } = self.waiting.pop()?;
        let (first, others) = consumers.split_first()?;
        if !others.is_empty() {
            self.waiting.push(Waiting { consumers: others, batch: batch.clone() });
        }
        Some((*first, batch))
    }

    fn carried(&self, extra: Vec<Column>) -> Carried {
        let named = self.ticket.decoder.carried.iter().zip(extra);
        let fields = named.filter_map(|(id, column)| match column {
            Column::String(values) => Some((*id, values)),
            _ => None,
        });
        Carried { fields: fields.collect() }
    }

    /// Hands a batch to whatever reads a port.
    fn give(&mut self, node: usize, port: usize, batch: Batch) {
        let tree = self.tree;
        let consumers = tree.nodes[node].consumers.get(port).map(Vec::as_slice).unwrap_or_default();
        if batch.rows > 0 && !consumers.is_empty() {
            self.waiting.push(Waiting { consumers, batch });
        }
    }

    fn take(&mut self, at: usize, batch: Batch) {
        self.result.counts[at].rows_in += batch.rows as u64;
        let tree = self.tree;
        match &tree.nodes[at].action {
            Action::Transform(program, turnstile) => self.transform(at, program, *turnstile, &batch),
            Action::Route(route) => self.route(at, route, &batch),
            Action::Sink(encoder, sink) => self.encode(at, encoder, *sink, &batch),
            Action::Source | Action::Discard => {}
        }
    }

    fn transform(&mut self, at: usize, program: &eval::Transform, turnstile: usize, batch: &Batch) {
        let turnstiles = &self.tree.turnstiles[turnstile..];
        let mut gate = Gate { turnstiles, block: self.ticket.index, last: self.last };
        let done = match program.run(batch, &mut gate) {
            Ok(done) => done,
            Err(failure) => return self.stop(u32::MAX, at, || failure),
        };
        let counts = &mut self.result.counts[at];
        counts.rows_out += done.batch.rows as u64;
        counts.filtered += done.filtered as u64;
        counts.duplicates += done.duplicates as u64;
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
        self.mark_written(batch);
    }

    fn mark_written(&mut self, batch: &Batch) {
        if self.result.written.is_empty() {
            self.result.ok += batch.rows as u64;
            return;
        }
        for row in 0..batch.rows {
            let position = batch.origin.positions.at(row);
            self.result.written[(position / 64) as usize] |= 1 << (position % 64);
        }
    }

    /// A record that could not be typed.
    fn untyped(&mut self, fault: &RecordFault) {
        self.result.untyped.push(fault.position);
        self.result.counts[0].rejected += 1;
        let (tree, ticket, block, index) = (self.tree, self.ticket, self.block, self.index);
        let text = || {
            RecordText::new(self.source, ticket, block, fault, ticket.decoder.decoder.raw(block, index, fault.position))
        };
        if !tree.plan.dead_letters.continue_on_error {
            let text = text();
            return self.stop(fault.position, 0, || text.failure());
        }
        let shape = &tree.nodes[0].letter;
        if !shape.is_written() {
            return self.result.letters.count(fault.position, 0);
        }
        let text = text();
        let cells = shape.raw_cells(&text.record.fields, &ticket.decoder.binding);
        let end = self.letters.write(shape, &text.trigger(), &cells);
        self.result.letters.add(fault.position, 0, end);
    }

    /// Rows that failed at an operator.
    fn reject(&mut self, at: usize, batch: &Batch, faults: &[Fault]) {
        self.result.counts[at].rejected += faults.len() as u64;
        let tree = self.tree;
        let node = &tree.nodes[at];
        for fault in faults {
            let position = batch.origin.positions.at(fault.row);
            let text = FaultText { source: self.source, node, batch, fault };
            if !tree.plan.dead_letters.continue_on_error {
                let line = || self.ticket.decoder.decoder.raw(self.block, self.index, position).line;
                let failure = self.is_first(position, at).then(|| text.failure(line()));
                failure.into_iter().for_each(|failure| self.first = Some((position, at, failure)));
            } else if node.letter.is_written() {
                let cells = self.cells(node, batch, fault.row);
                let end = self.letters.write(&node.letter, &text.trigger(), &cells);
                self.result.letters.add(position, at, end);
            } else {
                self.result.letters.count(position, at);
            }
        }
    }

    /// The record columns of a row as it entered a node. A source column that was not kept is decoded again.
    fn cells(&self, node: &TreeNode<'_>, batch: &Batch, row: usize) -> Vec<String> {
        node.letter.row_cells(batch, row, || {
            let position = batch.origin.positions.at(row);
            let full = self.ticket.decoder.full(self.source.spec);
            full.decode(self.block, self.index, position..position + 1).columns
        })
    }

    /// `warn` validations that did not hold: counted, and the first few spelled out.
    fn warn(&mut self, at: usize, batch: &Batch, warned: &[(usize, usize)]) {
        self.result.counts[at].warned += warned.len() as u64;
        for &(row, validation) in warned {
            let known = self.result.warned.iter().position(|w| (w.node, w.validation) == (at, validation));
            let entry = known.unwrap_or_else(|| {
                self.result.warned.push(Warned { node: at, validation, count: 0, samples: Vec::new() });
                self.result.warned.len() - 1
            });
            let entry = &mut self.result.warned[entry];
            entry.count += 1;
            if entry.samples.len() < WARNING_SAMPLES {
                entry.samples.push(fault_text::warning(self.source, &self.tree.nodes[at], batch, row, validation));
            }
        }
    }

    fn unwritable(&mut self, at: usize, batch: &Batch, error: &EncodeError) {
        let position = batch.origin.positions.at(error.row);
        let columns = &self.tree.sinks.iter().find(|(node, _)| *node == at).expect("a sink encodes").1;
        let name = columns.encoded.get(error.column).map(|column| column.name.as_str()).unwrap_or_default();
        let (source, node) = (self.source, &self.tree.nodes[at]);
        self.stop(position, at, || fault_text::unwritable(source, node, batch, error, name));
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

/// The records of a range that did not fail, as positions in it.
fn good_rows(range: &Range<u32>, faults: &[RecordFault]) -> Vec<u32> {
    let mut faults = faults.iter().map(|fault| fault.position).peekable();
    let good = range.clone().filter(|position| faults.next_if_eq(position).is_none());
    good.map(|position| position - range.start).collect()
}
