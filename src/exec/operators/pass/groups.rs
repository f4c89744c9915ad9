//! Makes rows of groups: of those that a buffer holds, and of those that end as rows go by.

use std::ops::Range;
use std::sync::Arc;

use crate::exec::batch::{Batch, KeptOrigins, Origin};

use super::super::aggregate::{Ended, Finish, FinishedGroups, GroupsOf, Stream};
use super::super::{Action, Slice, Unit};
use super::Pass;

impl<'p> Pass<'_, 'p> {
    /// Makes rows of the groups of the buffer at the head.
    pub(super) fn make(&mut self, groups: GroupsOf<'_, 'p>, slice: &Slice) {
        let tree = self.tree;
        let Action::Groups(finish) = &tree.nodes[0].action else { unreachable!("only an aggregate has groups") };
        let count = (slice.range.end - slice.range.start) as usize;
        let kept = finish.has_origins().then(|| Arc::new(finish.origins(groups, slice.range.start, count)));
        self.result.origins = kept.clone().filter(|_| finish.keeps_identity());
        self.make_rows(finish, groups, count as u32, kept);
    }

    /// Makes rows of groups of the buffer at the head, one at a time where a row is large.
    fn make_rows(&mut self, finish: &Finish<'p>, groups: GroupsOf<'_, 'p>, rows: u32, kept: Option<Arc<KeptOrigins>>) {
        let mut start = 0;
        while start < rows && self.first.is_none() {
            let most = rows.min(start.saturating_add(self.tree.batch_rows.most()));
            let (end, large) = match finish.may_be_large() {
                true => self.portion(finish, groups, start..most),
                false => (most, None),
            };
            let key = finish.key(groups, start as usize);
            let reserved = match large.map(|cost| (self.reserve_row(key, cost), cost.record)) {
                Some((Err(failure), _)) => return self.stop(start, 0, || failure),
                Some((Ok(charge), record)) => Some((charge, self.result.bytes_made(), record)),
                None => None,
            };
            let origin = Origin { kept: kept.clone(), ..Origin::unknown(start) };
            self.make_batch(0, finish, groups, start..end, origin);
            self.lap(0);
            self.work_off();
            if let Some((charge, before, record)) = reserved {
                self.settle((start, 0, key), charge, before, record);
            }
            start = end;
        }
    }

    /// Makes rows of some groups and hands them on.
    fn make_batch(
        &mut self,
        at: usize,
        finish: &Finish<'p>,
        groups: GroupsOf<'_, 'p>,
        range: Range<u32>,
        origin: Origin,
    ) {
        let range = range.start as usize..range.end as usize;
        let FinishedGroups { mut groups, faults } = finish.finish(groups, range, origin);
        if !faults.is_empty() {
            self.reject(at, &groups, &faults);
            let mut failed = faults.iter().map(|fault| fault.row).peekable();
            let good = (0..groups.rows).filter(|row| failed.next_if_eq(row).is_none());
            groups = groups.take(&good.map(|row| row as u32).collect::<Vec<_>>());
        }
        let done = finish.results(&groups);
        self.result.counts[at].rows_out += done.batch.rows as u64;
        self.reject(at, &groups, &done.faults);
        self.give(at, 0, done.batch);
    }

    /// Adds rows to the groups that a streaming aggregate has of the block.
    pub(super) fn group(&mut self, at: usize, stream: &Stream<'p>, number: usize, batch: &Batch) {
        let admitted = stream.add(batch, &mut self.stretches[number]);
        self.result.counts[at].filtered += admitted.filtered as u64;
        self.reject(at, batch, &admitted.faults);
    }

    /// Makes rows of the groups that have ended in the block, one streaming aggregate after the other: each stands in
    /// front of those that it has rows for.
    pub(super) fn end_groups(&mut self) {
        let tree = self.tree;
        for (number, &at) in tree.streams.iter().enumerate() {
            let Action::Stream(stream, _) = &tree.nodes[at].action else { unreachable!("it is a streaming aggregate") };
            let own = self.stretches[number].take();
            let is_end = matches!(self.unit, Unit::End { .. });
            let ended = stream.end(self.unit.index(), own, is_end, self.room).and_then(|(ended, last)| {
                ended.into_iter().for_each(|ended| self.make_ended(at, stream, ended));
                // Behind the last block groups end one behind the other, as their aggregates do.
                last.map_or(Ok(Vec::new()), |last| stream.end_last(last, number as u32, self.room))
            });
            match ended {
                Ok(last) => last.into_iter().for_each(|last| self.make_ended(at, stream, last)),
                Err(failure) => self.stop(u32::MAX, at, || failure),
            }
            self.lap(at);
        }
    }

    fn make_ended(&mut self, at: usize, stream: &Stream<'p>, ended: Ended<'p>) {
        let Ended { groups, range, origins, charge, unmade } = ended;
        let (count, position) = (range.len() as u32, origins.ends[0]);
        // What an open group held before is charged still.
        let is_large = charge.as_ref().is_some_and(|charge| charge.held() > self.tree.most_of_a_row);
        self.has_large |= is_large;
        let large = is_large.then(|| (self.result.bytes_made(), groups.key(range.start).to_vec()));
        let of = GroupsOf::Stretch(&groups, range.start);
        let mut start = 0;
        while start < count {
            let end = count.min(start.saturating_add(self.tree.batch_rows.most()));
            let origin = Origin { kept: Some(Arc::clone(&origins)), ..Origin::unknown(start) };
            self.make_batch(at, stream.finish(), of, start..end, origin);
            self.lap(at);
            self.work_off();
            start = end;
        }
        drop(groups);
        if let (Some(charge), Some((before, key))) = (charge, large) {
            self.settle((position, at, &key), charge, before, 0);
        }
        // Whoever waits for the group wants what its charge gave back.
        drop(unmade);
    }
}
