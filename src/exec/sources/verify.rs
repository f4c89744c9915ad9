//! Whether files are in the order that their source claims: a first pass over the key columns, before any stage runs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::analysis::hir::SortKey;
use crate::diagnostics::{Code, Diagnostic};
use crate::exec::keys::{CheckedRow, Late, OrderKeys, Section, Sequence};
use crate::exec::value::Value;
use crate::exec::workers::on_all;
use crate::exec::{Failure, Observer, Options, lock};
use crate::formats::csv::{Block, Cutter, Decoded, Index};
use crate::plan::physical::ColumnSet;

use super::feed::FileDecoder;
use super::open::{BoundFile, cutter};
use super::stamp::Stamp;
use super::{Source, SourceFile};

/// What the first pass found out about the files of a source.
pub(crate) enum Verdict {
    /// All are in order, if they still look like this when they are read again.
    InOrder(Vec<Stamp>),
    /// Some are not: for each, its position among the source's files and the first record that should have come
    /// earlier.
    Broken(Vec<(usize, Late)>),
    /// It can't be told: a file can be read only once, or not to its end. Whoever reads it next says why.
    Unknown,
}

/// Reads the key columns of all files of a source. Records that can't be typed don't count: no reader gets them.
pub(crate) fn verify(
    source: &Source<'_>,
    files: &[BoundFile],
    keys: &[SortKey],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Verdict, Failure> {
    let (mut broken, mut stamps) = (Vec::new(), Vec::new());
    for (position, (file, bound)) in source.files.iter().zip(files).enumerate() {
        if bound.opened.is_some() {
            if source.spec.source.unsorted_is_error {
                return Err(unprovable(source, file));
            }
            return Ok(Verdict::Unknown);
        }
        let Ok(stamp) = Stamp::of_path(&file.path) else { return Ok(Verdict::Unknown) };
        stamps.push(stamp);
        let Ok(order) = file_order(source, file, bound, keys, options, observer)? else { return Ok(Verdict::Unknown) };
        broken.extend(order.map(|late| (position, late)));
    }
    Ok(if broken.is_empty() { Verdict::InOrder(stamps) } else { Verdict::Broken(broken) })
}

/// A pipe whose order is asked to be proven: that can't be done before its rows are used.
fn unprovable(source: &Source<'_>, file: &SourceFile) -> Failure {
    let message =
        format!("{} can be read only once, so its order can't be checked before its rows are used", file.display);
    let diagnostic = Diagnostic::error(Code::E366, message)
        .label(source.spec.source.sort_order_span, "declared here, with `on_unsorted: error`")
        .help("write it into a file first, or let its rows be sorted with `on_unsorted: warn`");
    Failure::new(diagnostic, 3)
}

/// A file that can't be read to its end.
struct Unreadable;

/// The first record of a file that should have come earlier, if there is one.
fn file_order(
    source: &Source<'_>,
    file: &SourceFile,
    bound: &BoundFile,
    keys: &[SortKey],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Result<Option<Late>, Unreadable>, Failure> {
    let Ok((cutter, _)) = cutter(source, file, options.block_size) else { return Ok(Err(Unreadable)) };
    let mut stored = ColumnSet::none(source.spec.schema.columns.len());
    keys.iter().for_each(|key| stored.insert(key.column));
    let decoder = FileDecoder::new(source.spec, &stored, bound.binding.clone(), Vec::new());
    let check = Check { decoder: &decoder, keys, state: Mutex::new(State::new(cutter)), observer };
    on_all(options.threads, |_| check.work());
    let state = check.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match state {
        State { interrupted: true, .. } => Err(Failure::interrupted()),
        State { unreadable: true, .. } => Ok(Err(Unreadable)),
        State { seen, .. } => Ok(Ok(seen.into_late())),
    }
}

/// A file on its way through the check.
struct Check<'a> {
    decoder: &'a FileDecoder,
    keys: &'a [SortKey],
    state: Mutex<State>,
    observer: &'a dyn Observer,
}

struct State {
    cutter: Cutter,
    /// The number of the next block to read.
    next: u64,
    /// What the blocks came to that wait for one in front of them, by number; `None` for one without rows.
    waiting: BTreeMap<u64, Option<Section>>,
    /// What all blocks in front of number `next_seen` came to.
    seen: Sequence,
    next_seen: u64,
    /// Whether no more is to be read: at the end, or because more would not change what is known.
    over: bool,
    unreadable: bool,
    interrupted: bool,
}

impl State {
    fn new(cutter: Cutter) -> Self {
        Self {
            cutter,
            next: 0,
            waiting: BTreeMap::new(),
            seen: Sequence::default(),
            next_seen: 0,
            over: false,
            unreadable: false,
            interrupted: false,
        }
    }

    /// Adds what a block came to, so that only blocks behind one that is on its way are kept.
    fn add(&mut self, number: u64, section: Option<Section>) {
        // Blocks before a broken one are on their way; those behind it can't have the first such record.
        self.over |= section.as_ref().is_some_and(Section::is_broken);
        self.waiting.insert(number, section);
        while let Some(section) = self.waiting.remove(&self.next_seen) {
            self.next_seen += 1;
            section.into_iter().for_each(|section| self.seen.add(section));
        }
    }

    /// Reads the next block and gives its number.
    fn take(&mut self, block: &mut Block) -> Option<u64> {
        if self.over {
            return None;
        }
        match self.cutter.next_block(block) {
            Ok(true) => {
                self.next += 1;
                return Some(self.next - 1);
            }
            Ok(false) => {}
            Err(_) => self.unreadable = true,
        }
        self.over = true;
        None
    }
}

impl Check<'_> {
    fn work(&self) {
        let (mut block, mut index) = (Block::default(), Index::default());
        loop {
            if self.observer.interrupted() {
                let mut state = lock(&self.state);
                (state.interrupted, state.over) = (true, true);
            }
            let Some(number) = lock(&self.state).take(&mut block) else { return };
            let section = self.section(&block, &mut index);
            lock(&self.state).add(number, section);
        }
    }

    /// `None` if no record of the block can be typed.
    fn section(&self, block: &Block, index: &mut Index) -> Option<Section> {
        self.decoder.decoder.index(block, index);
        let decoded = self.decoder.decoder.decode(block, index, 0..block.records);
        let rows = block.records as usize;
        let keys = OrderKeys::encode(self.keys, &decoded.columns, rows);
        let mut faults = decoded.faults.iter().map(|fault| fault.position as usize).peekable();
        let good = (0..rows).filter(|row| faults.next_if_eq(row).is_none());
        Section::of(&keys, good, |row| self.checked(block, index, &decoded, row))
    }

    fn checked(&self, block: &Block, index: &Index, decoded: &Decoded, row: usize) -> CheckedRow {
        let value = |key: &SortKey| decoded.columns[key.column].as_ref().map_or(Value::Null, |c| c.value(row));
        CheckedRow {
            number: block.first_row + row as u64,
            line: Some(self.decoder.decoder.line(block, index, row as u32)),
            values: self.keys.iter().map(value).collect(),
        }
    }
}
