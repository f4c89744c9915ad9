//! What the states of aggregates take, in memory and on disk.

use super::amount::Amount;
use super::footprint::{PIECE, PIECE_ITEMS, fixed};
use super::guess::{Guess, TextWidth};
use crate::analysis::hir::{Aggregate, AggregateFunction};
use crate::analysis::types::{Kind, Type};

/// The states of so many groups.
pub fn states(aggregates: &[Aggregate], count: Guess, read: &Amount) -> Guess {
    let state = |aggregate: &Aggregate| {
        let kind = aggregate.args.first().map_or(&Kind::Null, |arg| &arg.ty.kind);
        match aggregate.function {
            AggregateFunction::CountRows | AggregateFunction::Count => Guess::exactly(4),
            AggregateFunction::Sum | AggregateFunction::Avg => match kind {
                Kind::Int => Guess::new(12, 20),
                Kind::Float => Guess::new(32, 40),
                _ => Guess::new(48, 56),
            },
            AggregateFunction::Min | AggregateFunction::Max => match fixed(kind) {
                Some(width) => Guess::new(1 + width, 1 + 2 * width.max(8)),
                None => Guess::exactly(16),
            },
            AggregateFunction::WeightedAvg if *kind == Kind::Int || *kind == Kind::Float => Guess::new(64, 80),
            AggregateFunction::WeightedAvg => Guess::new(160, 240),
            AggregateFunction::Collect => Guess::exactly(16),
        }
    };
    let width: Guess = aggregates.iter().map(state).sum();
    // Lists grow piece by piece, small ones to twice their size.
    let spare = if count.most < PIECE_ITEMS { 2 * count.most } else { PIECE_ITEMS };
    let spare = spare.saturating_mul(width.most).saturating_add(1024 * aggregates.len() as u64);
    count.times(width) + least_and_greatest_texts(aggregates, count, read) + Guess::new(0, spare)
}

/// The texts that groups keep as their least or greatest one.
fn least_and_greatest_texts(aggregates: &[Aggregate], count: Guess, read: &Amount) -> Guess {
    let extremes = aggregates
        .iter()
        .filter(|aggregate| matches!(aggregate.function, AggregateFunction::Min | AggregateFunction::Max));
    let types = extremes.filter_map(|aggregate| aggregate.args.first()).map(|arg| &arg.ty);
    types.filter(|ty| fixed(&ty.kind).is_none()).map(|ty| kept(count, ty, read)).sum()
}

/// Values of so many rows or groups that are kept: texts that were read are no more than all that was.
pub fn kept(count: Guess, ty: &Type, read: &Amount) -> Guess {
    let text = TextWidth::of(ty);
    match fixed(&ty.kind) {
        Some(width) => count * width,
        None => {
            let texts = count.times(Guess::new(text.usual, text.long));
            texts.capped(read.read.max(texts.usual))
        }
    }
}

/// The states of groups as they are put on disk.
pub fn encoded_states(aggregates: &[Aggregate], count: Guess, read: &Amount) -> Guess {
    let state = |aggregate: &Aggregate| match aggregate.function {
        AggregateFunction::CountRows | AggregateFunction::Count => Guess::new(2, 5),
        AggregateFunction::Sum | AggregateFunction::Avg => Guess::new(10, 24),
        AggregateFunction::Min | AggregateFunction::Max => Guess::new(8, 20),
        AggregateFunction::WeightedAvg => Guess::new(40, 80),
        AggregateFunction::Collect => Guess::new(14, 18),
    };
    count.times(aggregates.iter().map(state).sum()) + least_and_greatest_texts(aggregates, count, read)
}

/// What aggregates keep of each row: the value, where it ends, and which is the next of its group.
pub fn lists(aggregates: &[Aggregate], read: &Amount) -> Guess {
    collected(aggregates).map(|ty| kept(read.rows, ty, read) + read.rows.times(Guess::new(10, 18))).sum()
}

/// What is reserved while the row of the largest group is made of its lists, or a cull's rules read them: they may have
/// all rows there are, and `is_one_group` tells that they do.
pub fn finishing(aggregates: &[Aggregate], is_one_group: bool, read: &Amount) -> Guess {
    // A value as it is found, and its place in the list.
    let each = |ty: &Type| if matches!(ty.kind, Kind::Array(_)) { 82 } else { 34 };
    // Twice as much may be written of it as a text, with quotes and a comma.
    let list = |ty: &Type| {
        let bytes = kept(read.rows, ty, read) + read.rows.times(Guess::new(3, 6));
        read.rows * each(ty) + bytes + Guess::new(0, 2 * (bytes + read.rows * 8).most)
    };
    let all: Guess = collected(aggregates).map(list).sum();
    if is_one_group { all } else { Guess::new(0, all.most) }
}

/// What is reserved for a batch of so many rows at most, beside what its rows come to.
pub fn transient(aggregates: &[Aggregate], rows: Guess, most_rows: u64) -> Guess {
    let row = |aggregate: &Aggregate| match (aggregate.function, aggregate.args.first().map(|arg| &arg.ty.kind)) {
        (AggregateFunction::Sum | AggregateFunction::Avg, Some(Kind::Float)) => 400,
        (AggregateFunction::Sum | AggregateFunction::Avg, Some(Kind::Int)) => 16,
        (AggregateFunction::Sum | AggregateFunction::Avg, _) => 48,
        (AggregateFunction::WeightedAvg, _) => 1200,
        (AggregateFunction::Collect, _) => 200,
        _ => 60,
    };
    let batch = most_rows.min(rows.most);
    let most = batch.saturating_mul(aggregates.iter().map(row).sum());
    Guess::new(most / 4, most.saturating_add((PIECE / 4).min(64 * batch)))
}

/// The types of what aggregates keep of each row.
fn collected(aggregates: &[Aggregate]) -> impl Iterator<Item = &Type> {
    let lists = aggregates.iter().filter(|aggregate| aggregate.function == AggregateFunction::Collect);
    lists.flat_map(|aggregate| &aggregate.args).map(|arg| &arg.ty)
}
