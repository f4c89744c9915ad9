//! What memory consumers take for what reaches them: bytes in memory, and what goes to disk if it does not stay there.
//!
//! The figures follow what the operators hold; `docs/src/memory.md` tells them to users. They decide nothing in a run.

use super::amount::{Amount, groups};
use super::guess::Guess;
use super::states::{encoded_states, finishing, kept, lists, states, transient};
use crate::analysis::hir::{ExprKind, Schema, SinkColumnSource, SortKey};
use crate::analysis::types::Kind;
use crate::plan::physical::{
    AggregateOperator, CullOperator, DistinctOperator, OperatorKind, PhysicalPlan, ReshapeOperator, Rest, RestForm,
    SinkOperator, SortOperator,
};

/// What one consumer takes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Footprint {
    /// Bytes that it holds when it is full, in memory or on disk.
    pub holds: Guess,
    /// Bytes that it has in memory at once while it fills and is put in order, if nothing goes to disk.
    pub peak: Guess,
    /// Bytes that are written to disk if it does not stay in memory, before they are compressed.
    pub spills: Guess,
}

/// The memory limit and the rows of a batch, on which some figures depend.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The limit, in bytes.
    pub limit: u64,
    /// Most rows of a batch.
    pub batch: u64,
}

/// The length in front of a resting row.
const ROW_HEAD: u64 = 4;
/// Where a row came from.
const ROW_IDENTITY: u64 = 24;
/// The lengths in front of a record on disk.
const RECORD_HEAD: u64 = 8;
/// A row's place in memory.
const PLACE: u64 = 8;
/// A row that is sorted: the first bytes of its key, and its place.
const SORT_ENTRY: u64 = PREFIX + PLACE;
/// The first bytes of a key that are held for each row, long or short.
const PREFIX: u64 = 16;
/// Entries of a list of them that grows no further; another one begins.
const SORT_RUN: u64 = 1 << 20;
/// The number of a row's group.
const GROUP_NUMBER: u64 = 4;
/// What is known of the size of a group of rows.
const GROUP_SIZES: u64 = 16;
/// What stands around a value of a group's first row that rules read.
const FIRST_VALUE: Guess = Guess { usual: 5, most: 22 };
/// What stands around the key of a group: its number, its length, and what fills up to eight bytes.
const KEY_HEAD: Guess = Guess { usual: 9, most: 12 };
/// Slots of the table for each group: there is room for more. While they move, the old ones are held, too.
const SLOTS: Guess = Guess { usual: 14, most: 27 };
/// Bytes that lists take at once when they grow.
pub const PIECE: u64 = 1 << 20;
/// Items of a list that are made room for at once.
pub const PIECE_ITEMS: u64 = 1 << 14;
/// How many runs are merged at once; where there are more, some are written again.
const MERGED_AT_ONCE: u64 = 128;
/// How many parts the groups of an aggregate are divided into on disk.
const PARTS: u64 = 64;

/// What the rows, or the groups, of a buffer take, given what reaches it.
pub fn of_buffer(plan: &PhysicalPlan, kind: &OperatorKind, read: &Amount, room: Room) -> Footprint {
    match kind {
        // A file that keeps its order needs no sort.
        OperatorKind::Sort(sort) if sort.purpose.is_repair() => Footprint::default(),
        OperatorKind::Sort(sort) => sorted(plan, sort, read, room),
        OperatorKind::Cull(cull) => culled(plan, cull, read, room),
        OperatorKind::Reshape(reshape) => reshaped(plan, reshape, read, room),
        OperatorKind::Distinct(distinct) => distinct_rows(plan, distinct, read, room),
        OperatorKind::Aggregate(aggregate) => aggregated(aggregate, read, room),
        OperatorKind::Park(park) => {
            let rest = resting(plan, &park.rest, &park.schema, read);
            Footprint { holds: rest, peak: rest, spills: records(rest, read.rows, 0) }
        }
        _ => Footprint::default(),
    }
}

/// What is kept for the groups of a cull, a reshape, or an aggregate that streams. It can't go to disk.
pub fn of_groups(kind: &OperatorKind, read: &Amount, room: Room) -> Footprint {
    let in_memory = |holds: Guess, peak: Guess| Footprint { holds, peak: holds + peak, spills: Guess::default() };
    match kind {
        OperatorKind::Cull(spec) => {
            let cull = &spec.cull;
            let key = Key { schema: &spec.schema, columns: &cull.partition_by, read };
            let count = key.count();
            // Each group gets a port in the end.
            let start = if spec.group_can_fail { ROW_IDENTITY } else { 0 };
            let kept = count * (GROUP_SIZES + 1 + start) + first_values(spec, count, read);
            let own = key.table() + kept + states(&cull.aggregates, count, read);
            let lists = lists(&cull.aggregates, read);
            let asked = finishing(&cull.aggregates, cull.partition_by.is_empty(), read);
            in_memory(own + lists, transient(&cull.aggregates, read.rows, room.batch) + asked)
        }
        OperatorKind::Reshape(spec) => {
            let key = Key { schema: &spec.input, columns: &spec.reshape.partition_by, read };
            in_memory(key.table() + key.count() * (GROUP_SIZES + 1), Guess::default())
        }
        // One group is in hand; it may be all there is.
        OperatorKind::Aggregate(spec) => {
            let aggregates = &spec.aggregation.aggregates;
            let own = states(aggregates, Guess::exactly(1), read) + lists(aggregates, read);
            let made = finishing(aggregates, spec.aggregation.key == 0, read);
            in_memory(own, own + transient(aggregates, read.rows, room.batch) + made)
        }
        _ => Footprint::default(),
    }
}

/// The bytes by which the rows of one group are measured where all of them have to fit at once: those of a cull or a
/// reshape without a partition. `None` for others.
pub fn of_whole_group(plan: &PhysicalPlan, kind: &OperatorKind, read: &Amount) -> Option<Guess> {
    let (rest, schema, amount) = match kind {
        OperatorKind::Cull(spec) if spec.cull.partition_by.is_empty() && spec.cull.hidden_keys.is_empty() => {
            (&spec.rest, &spec.schema, read.clone())
        }
        OperatorKind::Reshape(spec) if spec.reshape.partition_by.is_empty() && spec.reshape.hidden_keys.is_empty() => {
            (&spec.rest, &spec.output, made_by(spec, read))
        }
        _ => return None,
    };
    Some(resting(plan, rest, schema, &amount) + amount.rows * (GROUP_NUMBER + PLACE))
}

/// What the rules of a cull read of the partition, by group.
fn first_values(spec: &CullOperator, count: Guess, read: &Amount) -> Guess {
    let reads = |position: &usize| {
        let mut parts = spec.cull.rules.iter().flat_map(|rule| rule.predicate.parts());
        parts.any(|part| matches!(&part.kind, ExprKind::Column(column) if column == position))
    };
    let of_column = |position: usize| {
        let ty = &spec.schema.columns[spec.cull.partition_by[position]].ty;
        let values = kept(count, ty, read) + count.times(FIRST_VALUE);
        values + Guess::new(0, (PIECE / 4).min(2 * values.most) + 1024)
    };
    (0..spec.cull.partition_by.len()).filter(reads).map(of_column).sum()
}

fn sorted(plan: &PhysicalPlan, sort: &SortOperator, read: &Amount, room: Room) -> Footprint {
    let (rest, rows) = (resting(plan, &sort.rest, &sort.schema, read), read.rows);
    let keys = order_keys(&sort.keys, &sort.schema, read);
    let tails = keys.map(|bytes| bytes.saturating_sub(PREFIX.saturating_mul(rows.usual)));
    let tail_ends = if tails.most > 0 { rows * 8 } else { Guess::default() };
    let holds = rest + rows * SORT_ENTRY + tails + tail_ends;
    // Lists of entries grow to twice their size, and what moves is there twice for a moment.
    let growing = Guess::new(rows.usual / 2, rows.most.saturating_mul(2).min(SORT_RUN)) * SORT_ENTRY;
    let spills = records(rest, rows, PREFIX) + tails;
    Footprint { holds, peak: holds + growing + rows * PLACE, spills: merged(spills, room.limit / 2, room.limit / 8) }
}

fn culled(plan: &PhysicalPlan, spec: &CullOperator, read: &Amount, room: Room) -> Footprint {
    let rest = resting(plan, &spec.rest, &spec.schema, read);
    let keys = order_keys(&spec.cull.order_by, &spec.schema, read);
    grouped(rest, read.rows, keys, !spec.cull.order_by.is_empty(), room)
}

fn reshaped(plan: &PhysicalPlan, spec: &ReshapeOperator, read: &Amount, room: Room) -> Footprint {
    let made = made_by(spec, read);
    let marks = made.rows * u64::from(spec.shows_groups);
    let rest = resting(plan, &spec.rest, &spec.output, &made) + marks;
    let has_kinds = spec.reshape.adds_rows() || spec.shows_groups;
    let kinds = if has_kinds { made.rows * 3 } else { Guess::default() };
    let keys = order_keys(&spec.reshape.order_by, &spec.output, &made) + kinds;
    grouped(rest, made.rows, keys, has_kinds || !spec.reshape.order_by.is_empty(), room)
}

/// The rows that a reshape holds: those that it gives, and where a group can fail, those that others were made of.
fn made_by(spec: &ReshapeOperator, read: &Amount) -> Amount {
    let made = read.extended(&spec.reshape, &spec.output);
    let rewrites = spec.reshape.rules.iter().any(|rule| !rule.set.is_empty());
    if spec.shows_groups && rewrites { made.with_at_most(read) } else { made }
}

/// Rows by group. `keys` is what they are ordered by there.
fn grouped(rest: Guess, rows: Guess, keys: Guess, has_keys: bool, room: Room) -> Footprint {
    let ordered = |bytes: u64| if has_keys { rows * bytes } else { Guess::default() };
    let holds = rest + rows * GROUP_NUMBER + keys + ordered(4);
    // In the end they are put in order: a place for each, and where keys order them, what is sorted.
    let peak = holds + rows * PLACE + ordered(PLACE + 20);
    Footprint { holds, peak, spills: merged(records(rest, rows, GROUP_NUMBER) + keys, room.limit / 8, room.limit / 32) }
}

fn distinct_rows(plan: &PhysicalPlan, spec: &DistinctOperator, read: &Amount, room: Room) -> Footprint {
    let key = Key { schema: &spec.schema, columns: &spec.key, read };
    let rest = resting(plan, &spec.rest, &spec.schema, read);
    let keys = key.table();
    let holds = rest + keys;
    // A key on disk has a checksum in front of it, and behind it the number of its row; keys that come again are
    // listed.
    let written = read.rows * (RECORD_HEAD + 12) + key.bytes();
    let again = Guess::new(0, read.rows.most.saturating_mul(RECORD_HEAD + 8));
    let keys_go = Guess::new(u64::from(keys.usual > room.limit / 5 * 4), 1);
    let written = merged(written, room.limit / 2, room.limit / 8) + again;
    Footprint { holds, peak: holds, spills: records(rest, read.rows, 0) + written.times(keys_go) }
}

fn aggregated(spec: &AggregateOperator, read: &Amount, room: Room) -> Footprint {
    let aggregation = &spec.aggregation;
    let grouped = read.through(&aggregation.rows);
    let columns: Vec<usize> = (0..aggregation.key).collect();
    let key = Key { schema: &aggregation.grouped, columns: &columns, read: &grouped };
    let count = key.count();
    let aggregates = &aggregation.aggregates;
    // Where a row has to be told apart, that of a group is known by its first one.
    let first_rows = count.times(Guess::new(0, 28));
    let lists = lists(aggregates, read);
    let holds = key.table() + states(aggregates, count, read) + first_rows + lists;
    let record = Guess::new(RECORD_HEAD + 5, RECORD_HEAD + 18);
    // They are put on disk whenever memory is tight, so one may be there several times; and once more, in order.
    let all = count.times(record) + encoded_states(aggregates, count, read) + key.bytes() + lists;
    let dividing = |bytes: u64| 2 + bytes / (room.limit / 4 * 3).saturating_mul(PARTS).max(1);
    let passes = Guess::new(dividing(holds.usual), dividing(holds.most));
    Footprint {
        holds,
        peak: holds + transient(aggregates, read.rows, room.batch) + finishing(aggregates, aggregation.key == 0, read),
        spills: all.times(passes) + count * 8,
    }
}

/// The rows of a buffer at rest.
fn resting(plan: &PhysicalPlan, rest: &Rest, schema: &Schema, amount: &Amount) -> Guess {
    let head = ROW_HEAD + if rest.identity { ROW_IDENTITY } else { 0 };
    let values = match &rest.form {
        RestForm::Row => {
            let kept = rest.columns.iter().count().div_ceil(8) as u64;
            let kind = |position: &usize| &schema.columns[*position].ty.kind;
            let (fixed, texts): (Vec<usize>, Vec<usize>) =
                rest.columns.iter().partition(|at| fixed(kind(at)).is_some());
            let fixed: u64 = fixed.iter().filter_map(|position| self::fixed(kind(position))).sum();
            let lengths = texts.len() as u64;
            let texts = match rest.carries {
                true => amount.texts_and_undeclared(texts.into_iter()),
                false => amount.texts(texts.into_iter()),
            };
            texts + amount.rows * (kept + fixed + lengths)
        }
        RestForm::SinkBytes { sink } => match &plan.operator(*sink).kind {
            OperatorKind::Sink(sink) => written(sink, rest, amount),
            _ => Guess::default(),
        },
    };
    values + amount.rows * head
}

/// Rows as a sink writes them.
fn written(sink: &SinkOperator, rest: &Rest, amount: &Amount) -> Guess {
    let columns = || sink.sink.named_columns().map(|column| &column.source);
    let positions = columns().filter_map(|source| match source {
        SinkColumnSource::Column(position) => Some(*position),
        SinkColumnSource::Carried(_) => None,
    });
    let texts = match rest.carries {
        true => amount.texts_and_undeclared(positions),
        false => amount.texts(positions),
    };
    texts + amount.rows * columns().count() as u64
}

/// The bytes of a value that rests as a column, if all values of its kind take as many.
pub fn fixed(kind: &Kind) -> Option<u64> {
    match kind {
        Kind::Null => Some(0),
        Kind::Bool => Some(1),
        Kind::Date => Some(4),
        Kind::Int | Kind::Float => Some(8),
        Kind::DateTime => Some(12),
        Kind::Decimal { .. } => Some(14),
        Kind::String | Kind::Any | Kind::Array(_) | Kind::Map | Kind::Error => None,
    }
}

/// Resting rows as records on disk, each with so many bytes in front of it beside the lengths.
fn records(rest: Guess, rows: Guess, key: u64) -> Guess {
    rest + rows * (RECORD_HEAD - ROW_HEAD + key)
}

/// What is written of runs of so many bytes, usually and at least, that are merged in the end: where there are too many
/// to be read at once, some are written again.
fn merged(bytes: Guess, usual_run: u64, least_run: u64) -> Guess {
    let again = |bytes: u64, run: u64| {
        let runs = bytes / run.max(1);
        let whole = bytes.saturating_mul(u64::from(runs.max(1).ilog(MERGED_AT_ONCE).saturating_sub(1)));
        whole + (u128::from(bytes) * u128::from(runs.saturating_sub(MERGED_AT_ONCE)) / u128::from(runs.max(1))) as u64
    };
    bytes + Guess::new(again(bytes.usual, usual_run), again(bytes.most, least_run))
}

/// The keys that order rows.
fn order_keys(keys: &[SortKey], schema: &Schema, amount: &Amount) -> Guess {
    let width = |key: &SortKey| match &schema.columns[key.column].ty.kind {
        Kind::Null => 1,
        Kind::Bool => 2,
        Kind::Date => 5,
        Kind::Int | Kind::Float => 9,
        Kind::DateTime => 11,
        Kind::Decimal { .. } => 15,
        // What tells that it ends; its bytes are counted apart.
        _ => 2,
    };
    let is_text = |key: &&SortKey| fixed(&schema.columns[key.column].ty.kind).is_none();
    let texts = keys.iter().filter(is_text).map(|key| key.column);
    amount.rows * keys.iter().map(width).sum::<u64>() + amount.texts(texts)
}

/// The columns that tell groups apart, of rows of which so many come.
struct Key<'a> {
    schema: &'a Schema,
    columns: &'a [usize],
    read: &'a Amount,
}

impl Key<'_> {
    /// How many groups there are: as many as rows, or as there are values.
    fn count(&self) -> Guess {
        groups(self.read.rows, self.columns.iter().map(|column| &self.schema.columns[*column].ty.kind))
    }

    /// The keys of all groups.
    fn bytes(&self) -> Guess {
        let kind = |column: &usize| &self.schema.columns[*column].ty.kind;
        let width = |column: &usize| match kind(column) {
            Kind::Null | Kind::Error => Guess::exactly(1),
            Kind::Bool => Guess::exactly(2),
            Kind::Date => Guess::exactly(5),
            Kind::Int | Kind::Float => Guess::exactly(11),
            Kind::DateTime => Guess::exactly(17),
            Kind::Decimal { .. } => Guess::new(11, 18),
            _ => Guess::exactly(5),
        };
        let texts = self.columns.iter().copied().filter(|column| fixed(kind(column)).is_none());
        self.count().times(self.columns.iter().map(width).sum()) + self.read.texts(texts)
    }

    /// A table of the groups with their keys.
    fn table(&self) -> Guess {
        let keys = self.bytes() + self.count().times(KEY_HEAD);
        keys + self.count().times(SLOTS) + Guess::new(0, PIECE.min(keys.most) + 1024)
    }
}
