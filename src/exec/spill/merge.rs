//! Reads several runs as one sequence.

use std::cmp::Ordering;

use super::Record;
use super::disk::Disk;
use super::run::{Run, RunReader};
use super::sorter::Held;
use crate::exec::Failure;
use crate::exec::memory::Charge;

/// Reads runs in the order of the keys of their records; equal keys in the order of the runs.
pub struct Merge<'p> {
    disk: &'p Disk<'p>,
    readers: Vec<RunReader>,
    /// A heap of the readers that have a record: the one with the first record on top.
    heap: Vec<Head>,
    /// Whether the record on top was given already.
    given: bool,
    stored: Vec<u8>,
    /// Records that were never on disk, in place of readers.
    held: Option<Held>,
    _charge: Option<Charge<'p>>,
}

/// A reader in the heap.
#[derive(Clone, Copy)]
struct Head {
    /// The first bytes of its key as a number, which decides most comparisons.
    prefix: u128,
    /// The reader; earlier ones have earlier runs.
    reader: u32,
}

impl<'p> Merge<'p> {
    /// In front of the first record. What the readers hold is charged already, to `charge` if it is the merge's own.
    pub(super) fn new(disk: &'p Disk<'p>, runs: Vec<Run>, charge: Option<Charge<'p>>) -> Result<Self, Failure> {
        let readers: Vec<RunReader> = runs.into_iter().map(RunReader::new).collect();
        let (heap, stored) = (Vec::with_capacity(readers.len()), Vec::new());
        let mut merge = Self { disk, readers, heap, given: false, stored, held: None, _charge: charge };
        for reader in 0..merge.readers.len() {
            if merge.advance(reader)? {
                let head = merge.head(reader);
                merge.heap.push(head);
            }
        }
        for root in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(root);
        }
        Ok(merge)
    }

    /// Records that are in memory, in order.
    pub(super) fn of_held(disk: &'p Disk<'p>, held: Held, charge: Charge<'p>) -> Self {
        let (readers, heap, stored) = (Vec::new(), Vec::new(), Vec::new());
        Self { disk, readers, heap, given: false, stored, held: Some(held), _charge: Some(charge) }
    }

    /// The next record: key and payload. `None` behind the last one.
    #[expect(clippy::should_implement_trait, reason = "a record is lent: an iterator can't do that")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Failure> {
        if self.held.is_some() {
            return Ok(self.held.as_mut().and_then(Held::next));
        }
        if std::mem::take(&mut self.given) {
            let reader = self.heap[0].reader as usize;
            if self.advance(reader)? {
                self.heap[0] = self.head(reader);
            } else {
                self.heap.swap_remove(0);
            }
            self.sift_down(0);
        }
        let Some(first) = self.heap.first() else { return Ok(None) };
        self.given = true;
        Ok(Some(self.readers[first.reader as usize].record()))
    }

    fn advance(&mut self, reader: usize) -> Result<bool, Failure> {
        self.readers[reader].advance(self.disk, &mut self.stored)
    }

    fn head(&self, reader: usize) -> Head {
        Head { prefix: super::prefix(self.readers[reader].key()), reader: reader as u32 }
    }

    fn is_less(&self, left: Head, right: Head) -> bool {
        let by_key = || self.readers[left.reader as usize].key().cmp(self.readers[right.reader as usize].key());
        let order = left.prefix.cmp(&right.prefix).then_with(by_key).then(left.reader.cmp(&right.reader));
        order == Ordering::Less
    }

    fn sift_down(&mut self, mut root: usize) {
        loop {
            let left = 2 * root + 1;
            let Some(mut child) = (left < self.heap.len()).then_some(left) else { return };
            if left + 1 < self.heap.len() && self.is_less(self.heap[left + 1], self.heap[left]) {
                child = left + 1;
            }
            if !self.is_less(self.heap[child], self.heap[root]) {
                return;
            }
            self.heap.swap(child, root);
            root = child;
        }
    }
}
