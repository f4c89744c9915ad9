//! `min(e)` and `max(e)`: numbers by value, false before true, texts by their bytes, dates and times by time. NaN stands
//! behind all other numbers, as where rows are sorted. Of equal values the first is kept.

use std::cmp::Ordering;

use super::slots::{Results, Slots, for_each_valid, text_bytes};
use super::{Finished, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::value::compare_decimals;

/// Which end of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// `min`
    Least,
    /// `max`
    Greatest,
}

/// The state for arguments of `kind`.
pub fn state(kind: &Kind, side: Side) -> Box<dyn State> {
    match kind {
        Kind::Bool => Box::new(Extremes::<bool>::new(side)),
        Kind::Int => Box::new(Extremes::<i64>::new(side)),
        Kind::Float => Box::new(Extremes::<f64>::new(side)),
        Kind::Decimal { .. } => Box::new(Extremes::<(i128, u8)>::new(side)),
        Kind::Date => Box::new(Extremes::<i32>::new(side)),
        Kind::DateTime => Box::new(Extremes::<i128>::new(side)),
        Kind::String => Box::new(Texts { side, slots: Slots::default() }),
        _ => unreachable!("only values with an order have a first and a last"),
    }
}

impl Side {
    /// Whether a value takes the place of one that compares to it like this.
    fn takes(self, order: Ordering) -> bool {
        match self {
            Side::Least => order.is_lt(),
            Side::Greatest => order.is_gt(),
        }
    }
}

/// The extreme of each group.
struct Extremes<T> {
    side: Side,
    slots: Slots<Option<T>>,
}

/// A value of fixed width.
trait Cell: Copy + Default + Send {
    /// Which comes first.
    fn order(&self, other: &Self) -> Ordering;

    /// Calls `visit` with each row of a column that has a value of this type.
    fn visit(column: &Column, visit: impl FnMut(usize, Self));

    /// The column of the results.
    fn column(results: Results<Self>) -> Finished;
}

impl<T> Extremes<T> {
    fn new(side: Side) -> Self {
        Self { side, slots: Slots::default() }
    }
}

impl<T: Cell> State for Extremes<T> {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.slots.grow(count);
        let side = self.side;
        T::visit(&args[0], |row, value| {
            let best = self.slots.of(groups[row]);
            if best.as_ref().is_none_or(|best| side.takes(value.order(best))) {
                *best = Some(value);
            }
        });
    }

    fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.slots.bound(count)
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        T::column(Results::of(self.slots.finish(order.groups), Ok))
    }
}

macro_rules! cell {
    ($type:ty, $column:ident, $order:expr, $make:expr) => {
        impl Cell for $type {
            fn order(&self, other: &Self) -> Ordering {
                $order(self, other)
            }

            fn visit(column: &Column, mut visit: impl FnMut(usize, Self)) {
                let Column::$column(a) = column else { return };
                for_each_valid(column, |row| visit(row, a.value(row)));
            }

            fn column(results: Results<Self>) -> Finished {
                results.column($make)
            }
        }
    };
}

cell!(bool, Bool, Ord::cmp, |values: Vec<bool>, validity| Column::bools(Bitmap::from(values), validity));
cell!(i64, Int, Ord::cmp, Column::ints);
cell!(f64, Float, order_floats, Column::floats);
cell!(i32, Date, Ord::cmp, Column::dates);
cell!(i128, DateTime, Ord::cmp, Column::date_times);

impl Cell for (i128, u8) {
    fn order(&self, other: &Self) -> Ordering {
        compare_decimals(*self, *other)
    }

    fn visit(column: &Column, mut visit: impl FnMut(usize, Self)) {
        let Column::Decimal(a) = column else { return };
        for_each_valid(column, |row| visit(row, (a.mantissas.value(row), a.scales.at(row))));
    }

    fn column(results: Results<Self>) -> Finished {
        results.decimals()
    }
}

fn order_floats(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The first or last text of each group.
struct Texts {
    side: Side,
    slots: Slots<Option<Box<str>>>,
}

impl State for Texts {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.slots.grow(count);
        let Column::String(a) = &args[0] else { return };
        let (side, mut grown) = (self.side, 0);
        for_each_valid(&args[0], |row| {
            let (best, text) = (self.slots.of(groups[row]), a.value(row));
            let known = best.as_deref();
            if known.is_none_or(|known| side.takes(text.as_bytes().cmp(known.as_bytes()))) {
                grown += text.len() as i64 - known.map_or(0, str::len) as i64;
                *best = Some(text.into());
            }
        });
        self.slots.heap = self.slots.heap.saturating_add_signed(grown);
    }

    fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.slots.bound(count) + text_bytes(&args[0])
    }

    fn finish(self: Box<Self>, order: RowOrder<'_>) -> Finished {
        Finished::of(Column::strings(self.slots.finish(order.groups)))
    }
}
